# SPDX-License-Identifier: Apache-2.0
"""Of the leaf in the blobs that put interpreted frames in the place of a compiled one."""
from .mutant import Mutant

DEOPT = "bpf/hotspot/compiled_deopt.h"
LEAF = "bpf/hotspot/compiled_leaf.h"
STUBS = "userspace/jvm/layout/jvm_stubs.c"

TESTS = ["test_compiled_deopt"]
LAYOUT = ["test_jvm_stubs", "test_jvm_layout"]

MUTANTS = [
    Mutant("deopt: no such leaf", LEAF, "if (stop != COMPILED_NO_DEOPT)", "if (0)", TESTS),
    Mutant("deopt: not where an exception's address is", STUBS, '\t{ "JavaThread", "_exception_pc", SLOT(thread_exception_pc) },\n', "", LAYOUT),
    Mutant("deopt: an exception's address is noted at once", DEOPT, "if (compiled_has_exception(p) || compiled_is_push0(p) ||", "if (compiled_is_push0(p) ||", TESTS),
    Mutant("deopt: what %rdx has is old", DEOPT, "if (!compiled_has_exception(c->text + UNWIND_TEXT_BEHIND) &&\n\t    memory_read", "if (memory_read", TESTS),
    Mutant("deopt: push 0 is not there yet", DEOPT, "if (compiled_is_push0(p - COMPILED_PUSH0_BYTES))", "if (0)", TESTS),
    Mutant("deopt: push %rbp is not there yet", DEOPT, "return compiled_is_push0(p - COMPILED_PUSH0_BYTES - 1);", "return false;", TESTS),
    Mutant("deopt: any word is an exception's", DEOPT, "!cursor_load(c, memory, c->fp + 8, &word) && !word;", "!cursor_load(c, memory, c->fp + 8, &word);", TESTS),
    Mutant("deopt: frames of few words", DEOPT, "#define COMPILED_ALL_REGISTERS 32", "#define COMPILED_ALL_REGISTERS 31", TESTS),
    Mutant("deopt: any exception's address", DEOPT, "if (!blob_owns(c, pc) || (rule.fp_at", "if ((rule.fp_at", TESTS),
    Mutant("deopt: a thread that does not say", DEOPT, "if (c->jvm.thread_exception_pc == WIRE_JVM_ABSENT)\n\t\treturn COMPILED_NO_DEOPT;", "", TESTS),
    Mutant("deopt: the swap without its loop", DEOPT, "if (!push)\n\t\treturn false;", "", TESTS),
    Mutant("deopt: the frame does not go", DEOPT, "if (compiled_swap_mark(c, UNWIND_TEXT_BEHIND) == COMPILED_SWAP_TAKES)\n\t\treturn true;", "", TESTS),
    Mutant("deopt: %rbp is the caller's too early", DEOPT, "{ sp + 8, sp, sp - 8 };", "{ sp + 8, sp, 0 };", TESTS),
    Mutant("deopt: %rbp is saved too late", DEOPT, "*ret_rule = (struct unwind_rule){ sp + 8, sp, 0 }; break;", "*ret_rule = (struct unwind_rule){ sp + 8, sp, sp - 8 }; break;", TESTS),
    Mutant("deopt: the address stays", DEOPT, "*ret_rule = (struct unwind_rule){ sp, sp - 8, 0 }; break;", "*ret_rule = (struct unwind_rule){ sp + 8, sp, 0 }; break;", TESTS),
    Mutant("deopt: frames that come are guessed", DEOPT, "	case COMPILED_SWAP_GROWS:\n", "	case COMPILED_SWAP_GROWS: return false;\n	case COMPILED_SWAP_NONE:\n", TESTS),
    Mutant("deopt: the last one is guessed", DEOPT, "if (p[-2] != 0x75 && p[-5]", "if (p[-5]", TESTS),
    Mutant("deopt: the last one is pushed at once", DEOPT, "p[-2] == 0x75   ? 0", "p[-2] == 0x75   ? COMPILED_PUSHED_PC", TESTS),
    Mutant("deopt: the last one's frame pointer is pushed at once", DEOPT, "p[-5] == 0x75 ? COMPILED_PUSHED_PC", "p[-5] == 0x75 ? COMPILED_PUSHED_FP", TESTS),
    Mutant("deopt: a frame is where another one is told to go on", DEOPT, "UNWIND_TEXT_BEHIND - (int)push - 4", "UNWIND_TEXT_BEHIND - (int)push", TESTS),
    Mutant("deopt: the stack pointer is the sender's", DEOPT, "*rule = (struct unwind_rule){ .cfa = sender };", "*rule = (struct unwind_rule){ .cfa = c->sp };", TESTS),
    Mutant("deopt: %r8 is the sender's for good", DEOPT, "sender <= c->fp &&\n\t    cursor_load", "0 &&\n\t    cursor_load", TESTS),
    Mutant("deopt: the slot is the sender's from the first on", DEOPT, "sender <= c->fp &&\n\t    cursor_load", "cursor_load", TESTS),
    Mutant("deopt: it goes on anywhere", DEOPT, "c->leaf_regs[DWARF_RCX]) || !blob_owns(c, pc))", "c->leaf_regs[DWARF_RCX]))", TESTS),
    Mutant("deopt: frames come before the other one has gone", DEOPT, "*ret_gone = leaf_u24(p - 3) == 0xe10348;", "*ret_gone = true;", TESTS),
    Mutant("deopt: no frames come at first", DEOPT, "*ret_gone = leaf_u24(p - 3) == 0xe10348;", "*ret_gone = false;", TESTS),
    Mutant("deopt: no frames come later", DEOPT, "	*ret_gone = true;\n\treturn true;", "	return true;", TESTS),
    Mutant("deopt: nobody writes those that come", DEOPT, "	(void)unpacking_begin(c, memory);", "	;", TESTS),
    Mutant("deopt: a loop is never over", DEOPT, "return COMPILED_SWAP_PUSHED;", "return COMPILED_SWAP_GROWS;", TESTS),
    Mutant("deopt: code that says where its frame is complete", DEOPT, "if (blob_frame_complete(c) >= 0)\n\t\treturn COMPILED_NO_DEOPT;", "", TESTS),
]
