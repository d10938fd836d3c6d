# SPDX-License-Identifier: Apache-2.0
"""Of rows that are inferred from machine code."""
from .mutant import Mutant

CODE = "userspace/elf/infer/infer_code.c"
STATE = "userspace/elf/infer/infer_state.c"
WALK = "userspace/elf/infer/infer_walk.c"
FLOW = "userspace/elf/infer/infer_flow.c"
FILE = "userspace/elf/infer/infer_file.c"
GAPS = "userspace/elf/infer/infer_gaps.c"
DIGEST = "userspace/elf/cfi_digest.c"

DECODED = ["test_infer_code"]
FLOWS = ["test_infer_flow", "test_infer_begins"]
EPILOGUE = "userspace/elf/infer/infer_epilogue.c"
RETURNS = ["test_infer_epilogue"]
ADDRESSES = "userspace/elf/infer/infer_addresses.c"
POINTERS = "userspace/elf/infer/infer_pointers.c"
CALLEE = "userspace/elf/infer/infer_callee.c"
CALLEES = ["test_infer_callee"]
END = "userspace/elf/infer/infer_end.c"
ENDS = ["test_infer_end"]
SYMBOLS = "userspace/elf/symbols.c"
POINTS = ["test_infer_pointers"]
FILES = ["test_infer_file"]

MUTANTS = [
    Mutant("infer: code as large as it says", FILE, "header->sh_size <= MAX_CODE_BYTES", "header->sh_size <= MAX_CODE_BYTES * 2", FILES),
    Mutant("infer: code at any address", FILE, "header->sh_addr < MAX_ADDRESS && ", "", FILES),
    Mutant("infer: main is one of many", "userspace/elf/infer/infer_file.c", "	if (main)\n\t\tvec_push(&infer->begins, main);\n", "	(void)main;\n", ["test_cfi_main"]),
    Mutant("infer: main is not told of", "userspace/elf/cfi/cfi_file.c", "	file->main = address;\n", "	file->main = 0;\n", ["test_cfi_main"]),
    Mutant("infer: memory by a segment is the stack", CODE, "op->mem.segment != ZYDIS_REGISTER_FS && op->mem.segment != ZYDIS_REGISTER_GS &&", "", DECODED),
    Mutant("infer: half a register is one", CODE, "op->size == 64 &&", "", DECODED),
    Mutant("infer: sub adds", CODE, "put_arithmetic(d, INFER_LEA, -1)", "put_arithmetic(d, INFER_LEA, 1)", DECODED),
    Mutant("infer: what is written stays", CODE, "d->ret->writes |= (uint16_t)(1U << reg);", ";", DECODED),
    Mutant("infer: a frame of frames is one", CODE, "if (kind == INFER_ENTER && d->ops[1].imm.value.u)", "if (0)", DECODED),
    Mutant("infer: a call leaves all registers", STATE, "forget_registers(state, insn->count ? insn->writes : ~kept_by_calls);", ";", FLOWS),
    Mutant("infer: a call leaves what is below the stack", STATE, "forget_below(state, state->reg[DWARF_RSP]);", ";", FLOWS),
    Mutant("infer: what was popped is there still", STATE, "if (now != before && is_place(now) &&", "if (0 && is_place(now) &&", FLOWS),
    Mutant("infer: a word that is overwritten is what it was", STATE, "at < first + count)", "at < first)", FLOWS),
    Mutant("infer: ways that differ agree", STATE, "state->reg[reg] = INFER_UNKNOWN;\n\t\tless = true;", "less = true;", FLOWS),
    Mutant("infer: any word is the return address", STATE, "state->reg[DWARF_RSP] == at &&\n\t       infer_what(get_slot(state, at)) == INFER_RETURN_ADDRESS;",
           "state->reg[DWARF_RSP] == at;", FLOWS),
    Mutant("infer: a thread's first frame has a caller", STATE, "if (has_popped(state) && state->reg[DWARF_RBP] == infer_make(INFER_NUMBER, 0))", "if (0)", FLOWS),
    Mutant("infer: nothing is marked", STATE, "rule.cfa_index |= WIRE_INFERRED;", ";", FLOWS),
    Mutant("infer: who returns elsewhere is believed", WALK, "it->bad |= !fits;", ";", FLOWS),
    Mutant("infer: everything is believed", FLOW, "return it->good && !it->bad;", "return !it->bad;", FLOWS),
    Mutant("infer: every call comes back", WALK, "case INFER_CALL: return insn->count || calls_next(insn) || !may_not_return(walk, at);", "case INFER_CALL: return true;", FLOWS),
    Mutant("infer: a callee that is known whole may not return", WALK, "return insn->count || calls_next(insn)", "return calls_next(insn)", FLOWS + CALLEES),
    Mutant("infer: tables of jumps lead nowhere", WALK, "if (insn->kind == INFER_JUMP && insn->value == INFER_ANYWHERE)", "if (0)", FLOWS),
    Mutant("infer: a loop over pages has no end", WALK, "leave_loop(&insn[-1], state);", ";", FLOWS),
    Mutant("infer: a handler's way back is a function", FLOW, "insn->value == CALL_SIGRETURN &&", "0 &&", FLOWS),
    Mutant("infer: sigreturn comes back", WALK, "case INFER_SYSCALL: return !ends_process(state);", "case INFER_SYSCALL: return true;", FLOWS),
    Mutant("infer: what is tried is right", FLOW, "if (trial->conflicts)\n\t\treturn false;", ";", FLOWS),
    Mutant("infer: symbols say nothing", FILE, "read_table(infer, &infer->tables[i]);", ";", FILES),
    Mutant("infer: short gaps are code", GAPS, ">= INFER_LEAST_GAP)", ">= 1)", FILES),
    Mutant("infer: it takes any time", FILE, "if (infer->spent_ns > MAX_SPENT_NS)", "if (0)", FILES),
    Mutant("infer: a digest without the code", DIGEST, "digest_bytes(gaps->digest, gaps->reader, offset, len);", ";", FILES),
    Mutant("infer: a digest without symbols", DIGEST, "digest_words(digest, infer->begins.items, infer->begins.len);", ";", FILES),
    Mutant("infer: a digest without pointers", DIGEST, "digest_words(digest, infer->pointers.v.items, infer->pointers.v.len);", ";", FILES),
    Mutant("infer: data points to nothing", FLOW, "flow->walk.flags[at] |= INFER_POINTED;", ";", FLOWS),
    Mutant("infer: functions begin anywhere", FLOW, "infer_walk_may_begin(&flow->walk, at) && saves_first(flow, at)", "saves_first(flow, at)", FLOWS),
    Mutant("infer: data points to any code", FLOW, "if (at >= 0 && saves_first(flow, (uint32_t)at))", "if (at >= 0)", FLOWS),
    Mutant("infer: a few gaps are worth the data", FILE, "return gaps > code / LARGE_GAPS;", "return true;", FILES),
    Mutant("infer: no gaps are worth the data", FILE, "return gaps > code / LARGE_GAPS;", "return false;", FILES),
    Mutant("infer: a large file is its first part", FILE, "		bytes += gap_bytes(infer, start, start + PART_BYTES);", "		bytes = i ? bytes : gap_bytes(infer, start, start + PART_BYTES);", FILES),
    Mutant("infer: pointers to anywhere", POINTERS, "word - search->code[i].address < search->code[i].size &&", "", POINTS),
    Mutant("infer: any number of pointers", POINTERS, "search->pointers->v.len < INFER_MAX_POINTERS)", "1)", POINTS),
    Mutant("infer: words anywhere", POINTERS, "uint64_t skipped = -section->address % sizeof(uint64_t);", "uint64_t skipped = 0;", POINTS),
    Mutant("infer: code has pointers", POINTERS, "!(header->sh_flags & SHF_EXECINSTR);", "true;", POINTS),
    Mutant("infer: all relocations are pointers", POINTERS, "if (ELF64_R_TYPE(relocation->r_info) == R_X86_64_RELATIVE)", "if (1)", POINTS),
    Mutant("infer: a pointer is there twice", POINTERS, "if (!kept || pointers->v.items[kept - 1] != pointers->v.items[i])", "if (1)", POINTS),
    Mutant("infer: pointers are in no order", POINTERS, "infer_addresses_sort(pointers->v.items, pointers->v.len);", ";", POINTS),
    Mutant("infer: all files are small", FLOW, "aligned < begins / 2;", "true;", FLOWS),
    Mutant("infer: no file is small", FLOW, "aligned < begins / 2;", "false;", FLOWS),
    Mutant("infer: one function tells of all", FLOW, "#define LEAST_BEGINS 16", "#define LEAST_BEGINS 15", FLOWS),
    Mutant("infer: any call takes registers", STATE, "insn->count ? insn->writes : ~kept_by_calls", "~kept_by_calls", CALLEES),
    Mutant("infer: what is called may call on", CALLEE, "	default: return false;\n", "	default: return true;\n", CALLEES),
    Mutant("infer: what is called writes nothing", CALLEE, "	case INFER_LOAD: *writes |= BIT(insn->reg); return true;", "	case INFER_LOAD: return true;", CALLEES),
    Mutant("infer: what is called has one end", CODE, "*reaches <= (int64_t)insn->at;", "*reaches >= 0;", CALLEES),
    Mutant("infer: what is called jumps anywhere", CALLEE, "return insn->value >= begin;", "return true;", CALLEES),
    Mutant("infer: what is called takes arguments", CALLEE, "return insn->value == 0;", "return true;", CALLEES),
    Mutant("infer: what is called moves the stack", CALLEE, "return at < end && !(*ret_writes & BIT(DWARF_RSP));", "return at < end;", CALLEES),
    Mutant("infer: what is called has no end", CALLEE, "return at < end && !", "return !", CALLEES),
    Mutant("infer: a function's first return is its end", CODE, "*reaches <= (int64_t)insn->at;", "*reaches >= 0;", ENDS),
    Mutant("infer: a jump is no end", CODE, "return (insn->kind == INFER_RETURN || insn->kind == INFER_JUMP)", "return (insn->kind == INFER_RETURN)", ENDS),
    Mutant("infer: no code is a function", END, "		if (insn->kind == INFER_STOP)\n\t\t\treturn 0;\n", "", ENDS),
    Mutant("symbols: all functions are known", SYMBOLS, "const bool partial = !elf_file_has_symtab(file);", "const bool partial = false;", ["test_symbols"]),
    Mutant("symbols: no functions are known", SYMBOLS, "const bool partial = !elf_file_has_symtab(file);", "const bool partial = true;", ["test_symbols"]),
    Mutant("symbols: code without an end has none", SYMBOLS, "return end ? address + end : limit;", "return address + end;", ["test_symbols"]),
    Mutant("infer: a function may begin by adding to the stack pointer", WALK, "			taken -= insn->value;\n", "			taken -= 0;\n", FLOWS),
    Mutant("infer: a function may begin by popping", WALK, "			taken -= 8;\n", "			taken -= 0;\n", FLOWS),
    Mutant("infer: a function may begin by leaving", WALK, "		if (insn->kind == INFER_LEAVE)\n			return true;\n", "", FLOWS),
    Mutant("infer: what was pushed may not be popped", WALK, "			taken += 8;\n", "			taken += 0;\n", FLOWS),
    Mutant("infer: zeros are instructions", CODE, "case INFER_JUMP: return true;", "case INFER_JUMP: return false;", DECODED),
    Mutant("infer: zeros behind a call are instructions", CODE, "return len > 1 && bytes[1] == 0;", "return false;", DECODED),
    Mutant("infer: one zero behind a call is none", CODE, "return len > 1 && bytes[1] == 0;", "return true;", DECODED),
    Mutant("infer: code is found by a line too far", CODE, "size_t line = (uint64_t)at / LINE_BYTES, i;", "size_t line = (uint64_t)at / LINE_BYTES + 1, i;", DECODED),
    Mutant("infer: addresses are sorted by their last digit", "userspace/base/sort/radix.h", "shift += RADIX_BITS) {", "shift += 64) {", POINTS),
    Mutant("infer: what is sorted is left where it was", ADDRESSES, "if (radix_sort(addresses, room, count) == room)", "if (radix_sort(addresses, room, count) != addresses && 0)", POINTS),
    Mutant("infer: any return is behind its frame", EPILOGUE, " && (code[at - 1] == LEAVE || code[at - 1] == POP_RBP)", "", RETURNS),
    Mutant("infer: %rbp is a frame pointer wherever it is", EPILOGUE, " && rule->cfa_offset == 16", "", RETURNS),
    Mutant("infer: a return that is known is told again", EPILOGUE, "rule->kind == WIRE_RULE_CFA && rule->cfa_reg == DWARF_RBP &&", "", RETURNS),
    Mutant("infer: returns that nobody looks for", FILE, "		infer_epilogues(rows, (uint32_t)(code.start - page), code.bytes,\n\t\t\t\tcode.end - code.start);\n", "", FILES),
    Mutant("infer: zeros are nowhere instructions", CODE, "	default: return false;\n\t}\n}\n\nstatic void put_insn(", "	default: return true;\n\t}\n}\n\nstatic void put_insn(", DECODED),
]
