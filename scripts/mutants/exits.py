# SPDX-License-Identifier: Apache-2.0
"""Code that was made while the program ran: how it returns, and what is believed of that."""
from .mutant import Mutant

STEP = "bpf/native/exits.h"
POINTER = "bpf/native/frame_pointer.h"
UNWIND = "bpf/unwind.h"
LOOK = "userspace/unwind/exits/code_exits.c"
PAGES = "userspace/unwind/exits/code_pages.c"
INSN = "userspace/unwind/exits/x86_insn.c"

STEPPED = ["test_exits"]
LOOKED = ["test_code_exits"]
PAGED = ["test_code_pages"]
READ = ["test_x86_insn"]

FIND = "bpf/unwind/find.h"
KEPT = ["test_chained"]

MUTANTS = [
    Mutant("chained: nothing is kept", POINTER, "	if (keep)\n", "	if (0)\n", KEPT),
    Mutant("chained: where it was interrupted", FIND, "if (hot && c->serial && !c->exact)", "if (hot && c->serial)", KEPT),
    Mutant("chained: whatever is kept of a place is that", FIND, "&rule) && rule.kind == WIRE_RULE_CHAINED;", "&rule);", KEPT),
    Mutant("chained: what is in front of it is read again", POINTER, "(find_is_chained(c, memory, ra) || leaf_has_called(c, memory, ra))", "leaf_has_called(c, memory, ra)", KEPT),
    Mutant("chained: code of a file was made", UNWIND, "	c->made = (wire_u8)rule->cfa_add;\n", "	c->made = 1;\n", KEPT),
    Mutant("exits: whatever is behind no call", STEP, "return leaf_has_called(c, memory, ra) && exits_is_code", "return exits_is_code", STEPPED),
    Mutant("exits: whatever is in no code", STEP, "&rule) != UNWIND_OUTSIDE;", "&rule) != UNWIND_OUTSIDE || true;", STEPPED),
    Mutant("exits: the first one is right", STEP, "walk.ways == 1 ?", "walk.ways ?", STEPPED),
    Mutant("exits: the same twice contradicts", STEP, "if (walk->ways && walk->found.ra_at == ra_at)", "if (0)", STEPPED),
    Mutant("exits: %rbx is lost", STEP, "	exits_take(c, memory, found->exit.rbx, &c->rbx);\n", "", STEPPED),
    Mutant("exits: %rbp is lost", STEP, "	exits_take(c, memory, found->exit.rbp, &fp);\n", "", STEPPED),
    Mutant("exits: %r13 is lost", STEP, "	exits_take(c, memory, found->exit.r13, &c->r13);\n", "", STEPPED),
    Mutant("exits: %r15 is lost", STEP, "	exits_take(c, memory, found->exit.r15, &c->r15);\n", "", STEPPED),
    Mutant("exits: a jump moves no stack", STEP, "	joined.sp += next->sp;\n", "", STEPPED),
    Mutant("exits: places behind a jump", STEP, "*to[i] = *from[i] + first->sp;", "*to[i] = *from[i];", STEPPED),
    Mutant("exits: no jump to a file", STEP, "if (find_elsewhere(c, memory, exit->jump, 1, &rule) != UNWIND_FOUND ||", "if (1 ||", STEPPED),
    Mutant("exits: a jump is no place of a frame's own", STEP, "	c->exact = 1;\n	c->regs_kept = 0;\n	return UNWIND_GO_ON;", "	c->regs_kept = 0;\n	return UNWIND_GO_ON;", STEPPED),
    Mutant("exits: a frame pointer is one", POINTER, "c->made && frame_pointer_is_none(c, memory)", "0", STEPPED),
    Mutant("exits: a frame pointer is no last hope", POINTER, "		if (!frame_pointer_is_last_hope(c, memory))\n", "", STEPPED),
    Mutant("exits: a frame pointer to anywhere", POINTER, " &&\n	       exits_is_code(c, memory, ra);", ";", STEPPED),
    Mutant("exits: code in files has them, too", UNWIND, "		c->made = 1;\n", "", STEPPED),
    Mutant("look: pushes are nothing", LOOK, "if (!move(way, -8))", "if (0)", LOOKED),
    Mutant("look: pops are nothing", LOOK, "if (!move(way, 8))", "if (0)", LOOKED),
    Mutant("look: sums are nothing", LOOK, "if (!move(way, insn->value))", "if (0)", LOOKED),
    Mutant("look: pops give no register", LOOK, "		load(way, insn->reg, way->exit.sp);\n", "", LOOKED),
    Mutant("look: places give no register", LOOK, "case X86_LOAD: load(way, insn->reg, way->exit.sp + insn->value); break;", "case X86_LOAD: break;", LOOKED),
    Mutant("look: a return to what was pushed", LOOK, "(way->exit.sp < 0 && !jump)", "0", LOOKED),
    Mutant("look: words are anywhere", LOOK, "way->exit.sp % 8 || ", "", LOOKED),
    Mutant("look: frames of any size", LOOK, "sp > (int64_t)MOST_FRAME_BYTES || ", "", LOOKED),
    Mutant("look: one way", LOOK, "case X86_BRANCH: put_branch(exits, way, next + (uint64_t)insn->value); break;", "case X86_BRANCH: break;", LOOKED),
    Mutant("look: no jumps", LOOK, "case X86_JUMP: return go_to(exits, way, next + (uint64_t)insn->value);", "case X86_JUMP: return false;", LOOKED),
    Mutant("look: the same exit twice", LOOK, "if (exits->exits[i].sp == way->exit.sp && exits->exits[i].jump == jump)", "if (0)", LOOKED),
    Mutant("look: far jumps are none", LOOK, "		put_exit(exits, way, address);\n", "", LOOKED),
    Mutant("look: nothing is kept", LOOK, "now_ns >= kept->until_ns", "1", LOOKED),
    Mutant("look: it is kept for ever", LOOK, "|| now_ns >= kept->until_ns", "", LOOKED),
    Mutant("look: it is kept for all", LOOK, " || kept->pid != source->pid", "", LOOKED),
    Mutant("look: one process has all time", LOOK, "!has_time(share, now_ns, SHARE_NS) || ", "", LOOKED),
    Mutant("look: all processes have all time", LOOK, " || !has_time(&exits->all, now_ns, SHARES_NS)", "", LOOKED),
    Mutant("look: time does not come back", LOOK, "if (now_ns - share->begin_ns >= NSEC_PER_SEC)", "if (0)", LOOKED),
    Mutant("look: what was refused is kept", LOOK, "		kept->pc = 0;\n		if (!look_in_time", "		kept->pc = pc, kept->pid = source->pid, kept->until_ns = now_ns + KEPT_NS;\n		if (!look_in_time", LOOKED),
    Mutant("look: what is not there yet never comes", LOOK, "if (!kept->count && code_pages_drop(", "if (0 && code_pages_drop(", LOOKED),
    Mutant("look: no jumps by register", LOOK, "return way->reg == insn->reg && go_to(exits, way, way->value);", "return false;", LOOKED),
    Mutant("look: jumps by any register", LOOK, "return way->reg == insn->reg && go_to(exits, way, way->value);", "return go_to(exits, way, way->value);", LOOKED),
    Mutant("look: registers are never written", LOOK, "default: way->reg = X86_NO_REG; break;", "default: break;", LOOKED),
    Mutant("look: sums of any register", LOOK, "if (way->reg == insn->reg)\n\t\t\tway->value +=", "way->value +=", LOOKED),
    Mutant("look: no sums of registers", LOOK, "way->value += (uint64_t)insn->value;", ";", LOOKED),
    Mutant("look: registers behind branches", LOOK, "	other.reg = X86_NO_REG;\n", "	other.reg = 11, other.value = way->value;\n", LOOKED),
    Mutant("pages: they end instructions", PAGES, "if (got == first && got < len)", "if (0)", PAGED),
    Mutant("pages: a gap goes on", PAGES, "if (got == first && got < len)", "if (got < len)", PAGED),
    Mutant("pages: nothing is kept", PAGES, " && now_ns < piece->until_ns)", " && 0)", PAGED),
    Mutant("pages: all is kept for ever", PAGES, " && now_ns < piece->until_ns)", ")", PAGED),
    Mutant("pages: all processes have the same", PAGES, " && piece->pid == source->pid", "", PAGED),
    Mutant("pages: a piece is whole or not there", PAGES, "			piece->readable |= 1U << i;\n", "			;\n", PAGED),
    Mutant("pages: all of a piece is there", PAGES, "	if (!(piece->readable & 1U << at / PAGE_BYTES))\n\t\treturn 0;\n", "", PAGED),
    Mutant("pages: everybody's are dropped", PAGES, "if (piece->pid == pid && piece->until_ns", "if (pid && piece->until_ns", PAGED),
    Mutant("pages: what was just read is dropped", PAGES, " && piece->until_ns < now_ns + KEPT_NS)", ")", PAGED),
    Mutant("insn: a prefix is an opcode", INSN, "is_prefix(byte) || (byte & 0xf0) == 0x40;", "(byte & 0xf0) == 0x40;", READ),
    Mutant("insn: the first REX counts", INSN, "d->rex = is_prefix(byte) ? 0 : byte & 0xf;", "d->rex |= byte & 0xf;", READ),
    Mutant("insn: numbers have four bytes", INSN, "d->wide_prefix && !(d->rex & REX_W) ? 2 : 4", "4", READ),
    Mutant("insn: numbers with REX.W have two", INSN, "d->wide_prefix && !(d->rex & REX_W) ? 2 : 4", "d->wide_prefix ? 2 : 4", READ),
    Mutant("insn: test has none", INSN, "(d->opcode & 0xfe) == 0xf6 && reg_of(d) < 2", "0", READ),
    Mutant("insn: no index", INSN, "	if (rm == 4) {", "	if (0) {", READ),
    Mutant("insn: AMD has none of its own", INSN, "return byte == 0x8f &&", "return 0 &&", READ),
    Mutant("insn: EVEX is VEX", INSN, "	if (first == 0x62)\n		next(d);\n", "", READ),
    Mutant("insn: numbers of mov are short", INSN, "d->wide = (int64_t)next_bytes(d, d->rex & REX_W ? 8 : z);", "d->wide = (int32_t)next_bytes(d, d->rex & REX_W ? 8 : z);", READ),
    Mutant("insn: half a register is one", INSN, "else if (!d->wide_prefix || (d->rex & REX_W))\n\t\tsay_reg(ret, X86_SET", "else\n\t\tsay_reg(ret, X86_SET", READ),
    Mutant("insn: lea of another register is a sum", INSN, " &&\n	       base == wide_reg(d);", ";", READ),
    Mutant("insn: jumps by memory are by registers", INSN, "wide_rm(d) == X86_NO_REG ? X86_STOP : X86_JUMP_TO", "X86_JUMP_TO", READ),
    Mutant("insn: lea moves no stack", INSN, "	case 0x8d: say_lea(d, ret); break;\n", "", READ),
    Mutant("insn: cmp moves the stack", INSN, " || reg_of(d) == 7)", ")", READ),
]
