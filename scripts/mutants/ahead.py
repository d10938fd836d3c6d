# SPDX-License-Identifier: Apache-2.0
"""Of frames that the code ahead, a noted stack pointer, or a call that leads to a switch of stacks tells of."""
from .mutant import Mutant

AHEAD = "bpf/native/ahead.h"
CALL = "bpf/native/leaf_call.h"
LEAF = "bpf/native/leaf.h"
UNWIND = "bpf/unwind.h"
POINTER = "bpf/native/frame_pointer.h"
SCAN = "bpf/hotspot/stub_scan.h"
STUB = "bpf/hotspot/stub_leaf.h"
GO = "userspace/elf/cfi/cfi_gopcln.c"

TESTS = ["test_ahead"]
WALKS = ["test_leaf"]
SWITCHES = ["test_frame_pointer_chain"]
NOTES = ["test_stub_note"]
ROWS = ["test_cfi_gopcln"]

MUTANTS = [
    Mutant("ahead: pop %rbp is one of many", AHEAD, "if (p[0] == LEAF_POP_RBP)", "if (0)", TESTS),
    Mutant("ahead: pop %rsp", AHEAD, " && p[0] != 0x5c", "", TESTS),
    Mutant("ahead: no pop of %r8 and up", AHEAD, "p[0] == 0x41 && (p[1] & 0xf8) == 0x58", "0", TESTS),
    Mutant("ahead: imm8 has no sign", AHEAD, "p[1] == 0x83 && p[3] < 0x80", "p[1] == 0x83", TESTS),
    Mutant("ahead: any imm32", AHEAD, " && leaf_u32(p + 3) <= UNWIND_MAX_FRAME_BYTES", "", TESTS),
    Mutant("ahead: sub adds", AHEAD, "case AHEAD_TAKES: sp -= bytes; break;", "case AHEAD_TAKES: sp += bytes; break;", TESTS),
    Mutant("ahead: add to any register", AHEAD, "if (p[0] != 0x48 || (p[2] != 0xc4 && p[2] != 0xec))", "if (p[0] != 0x48)", TESTS),
    Mutant("ahead: moves to %rsp and %rbp", AHEAD, "modrm < 0xc0 || (modrm & 6) == 4 || (modrm >> 3 & 6) == 4", "modrm < 0xc0", TESTS),
    Mutant("ahead: moves from memory", AHEAD, "modrm < 0xc0 || (modrm & 6)", "(modrm & 6)", TESTS),
    Mutant("ahead: jmp *%reg is a call", AHEAD, "(p[prefix + 1] & 0xf8) == 0xd0", "1", TESTS),
    Mutant("ahead: a return address below the stack pointer", AHEAD, " || rule->ra_at < c->sp", "", TESTS),
    Mutant("ahead: no call is needed", CALL, " &&\n\t       leaf_is_behind_call(c->code + LEAF_CALL_BYTES);", ";", TESTS),
    Mutant("ahead: a reason is left behind", AHEAD, "c->reason = reason;", "", TESTS),
    Mutant("ahead: fewer instructions", AHEAD, "#define AHEAD_INSTRUCTIONS 8", "#define AHEAD_INSTRUCTIONS 7", TESTS),
    Mutant("ahead: more instructions", AHEAD, "#define AHEAD_INSTRUCTIONS 8", "#define AHEAD_INSTRUCTIONS 9", TESTS),
    Mutant("ahead: fewer bytes", AHEAD, "#define AHEAD_END (UNWIND_CODE_BYTES - 7)", "#define AHEAD_END (UNWIND_CODE_BYTES - 8)", TESTS),
    Mutant("ahead: not at the leaf", LEAF, "if (ahead_find(c, memory, &rule)) {", "if (0) {", WALKS),
    Mutant("ahead: only at the leaf", UNWIND, "if (!ahead_is_known(c, memory, &rule))", "if (1)", WALKS),
    Mutant("a call by a register is none", CALL, "(p[-2] == 0xff && (p[-1] & 0x38) == 0x10)", "0", ["test_stub_scan"]),
    Mutant("switch: the frame pointer's own word", POINTER, "if (!rule->cfa_add || !frame_pointer_leads(c))", "if (1)", SWITCHES),
    Mutant("switch: any call", POINTER, "target && c->pc - target < FRAME_POINTER_BYTES", "1", SWITCHES),
    Mutant("switch: no call", "bpf/native/leaf_call.h", " || c->code[0] != 0xe8)\n\t\treturn 0;", ")\n\t\treturn 0;", SWITCHES),
    Mutant("switch: fewer words", POINTER, "#define FRAME_POINTER_WORDS 64", "#define FRAME_POINTER_WORDS 63", SWITCHES),
    Mutant("switch: more words", POINTER, "#define FRAME_POINTER_WORDS 64", "#define FRAME_POINTER_WORDS 65", SWITCHES),
    Mutant("switch: any frame's", POINTER, "!frame_pointer_fits(c, below->memory, word, at))", "0)", SWITCHES),
    Mutant("switch: a frame that is not counted from %rsp", POINTER, " && rule.cfa_reg == DWARF_RSP", "", SWITCHES),
    Mutant("switch: without its rows there is none", POINTER, "return found == UNWIND_ABSENT;", "return false;", SWITCHES),
    Mutant("infer: a jump is no function", "userspace/elf/infer/infer_walk.c", "if (is_all_a_jump(walk, at) && !walk->base)", "if (0)", ["test_infer_flow"]),
    Mutant("infer: a jump by any register", "userspace/elf/infer/infer_walk.c", " &&\n\t       (insn->base <= DWARF_RCX", " ||\n\t       (insn->base <= DWARF_RCX", ["test_infer_flow"]),
    Mutant("infer: any jump is a function", "userspace/elf/infer/infer_walk.c", "(walk->flags[at] & INFER_BEGINS) &&\n\t       (insn", "(insn", ["test_infer_flow"]),
    Mutant("switch: the frame itself", POINTER, "if (at == c->fp)", "if (0)", SWITCHES),
    Mutant("note: beside a frame", SCAN, "if (frame_pointer_is_near(c))\n\t\treturn 0;\n\tfor", "for", NOTES),
    Mutant("note: one word fewer", SCAN, "#define STUB_NOTE_WORDS\t 72", "#define STUB_NOTE_WORDS\t 71", NOTES),
    Mutant("note: one word more", SCAN, "#define STUB_NOTE_WORDS\t 72", "#define STUB_NOTE_WORDS\t 73", NOTES),
    Mutant("note: farther up", SCAN, "#define STUB_NOTE_BYTES\t 96", "#define STUB_NOTE_BYTES\t 104", NOTES),
    Mutant("note: not so far up", SCAN, "#define STUB_NOTE_BYTES\t 96", "#define STUB_NOTE_BYTES\t 88", NOTES),
    Mutant("note: fewer pushed", SCAN, "#define STUB_NOTE_PUSHED 10", "#define STUB_NOTE_PUSHED 9", NOTES),
    Mutant("note: more pushed", SCAN, "#define STUB_NOTE_PUSHED 10", "#define STUB_NOTE_PUSHED 11", NOTES),
    Mutant("note: no multiple of a word", SCAN, "!(word & 7) && word > at", "word > at", NOTES),
    Mutant("note: the first alone", SCAN, "#define STUB_NOTES 4", "#define STUB_NOTES 1", NOTES),
    Mutant("note: of a stub that makes no frame", SCAN, "return start && stub_enters(c, memory, start) ?", "return start ?", NOTES),
    Mutant("note: no frame pointer", STUB, ".ra_at = at, .fp_at = at - 8 };", ".ra_at = at };", NOTES),
]
