# SPDX-License-Identifier: Apache-2.0
"""Go's runtime on another stack than a goroutine's: where it stands there, and the way back."""
from .mutant import Mutant

SWITCH = "userspace/elf/go/go_switch.c"
CFI = "userspace/elf/cfi/cfi_gopcln.c"
STEP = "bpf/native/goroutine.h"
FRAME = "bpf/native/frame_pointer.h"
STACK = "userspace/unwind/unwind_stack.c"

LOOKED = ["test_go_switch", "test_cfi_gopcln"]
STEPPED = ["test_goroutine"]

MUTANTS = [
    Mutant("switch: mcall of Go 1.21 has none", SWITCH, "	s->make_frames |= makes_frame(code);\n", "", LOOKED),
    Mutant("switch: a new thread was called", SWITCH, "s->thread = (struct go_code){ code->start + child + 1, code->end };", "(void)s;", LOOKED),
    Mutant("goroutine: frames need no places", CFI, "if (has_goroutine || !s->make_frames)", "if (1)", LOOKED),
    Mutant("goroutine: systemstack's frame is where %rbp says", STEP, "		return goroutine_read_frame(c, memory);\n", "		return false;\n", STEPPED),
    Mutant("goroutine: mcall goes by frames", CFI, "has_goroutine ? &goroutine[mcall] : &callers", "&callers", LOOKED),
    Mutant("goroutine: the next one's time", STEP, "if (goroutine_is_left_for_good(rule) && found != GOROUTINE_UNKNOWN)",
           "if (goroutine_is_left_for_good(rule) && found == GOROUTINE_NONE)", STEPPED),
    Mutant("goroutine: mcall's frame is not its own", STEP, "rule->cfa_add >= WIRE_LEFT_BY_MCALL_FRAMED ? frame_pointer_follow(c, memory)", "0 ? frame_pointer_follow(c, memory)", STEPPED),
    Mutant("switch: a call before it", SWITCH, 'call = FIND(code, loaded, "\\xff\\xd7")', 'call = FIND(code, 0, "\\xff\\xd7")', LOOKED),
    Mutant("switch: a call in the next function", SWITCH, "MIN(code.end - code.start, sizeof(code.bytes))", "sizeof(code.bytes)", LOOKED),
    Mutant("switch: from the load on", SWITCH, "code->start + loaded, code->start + call + 2", "code->start, code->start + call + 2", LOOKED),
    Mutant("switch: curg is anywhere", SWITCH, "curg > 0 && curg < MAX_CURG && curg % 8 == 0", "curg", LOOKED),
    Mutant("switch: any number is g's place", SWITCH, "n < 0 && n % 8 == 0 && n / -8 <= UINT8_MAX ?", "n ?", LOOKED),
    Mutant("switch: %rbp is saved anywhere", SWITCH, " && p[3] < 0x80 &&\n\t\t    p[3] % 8 == 0)", ")", LOOKED),
    Mutant("switch: code for any address says nothing", SWITCH, "else if (FIND(code, 0, \"\\x48\\xc7\\xc1\") == 0 &&", "else if (0 &&", LOOKED),
    Mutant("switch: all of morestack is on the thread's stack", SWITCH, "	s->morestack.start += load + 4;\n", "", LOOKED),
    Mutant("goroutine: it is never found", CFI, "has_goroutine ? &goroutine[WIRE_LEFT_BY_MORESTACK] : &frame", "&frame", LOOKED),
    Mutant("goroutine: it is looked for without its places", CFI, "has_goroutine ? &goroutine[WIRE_LEFT_BY_MORESTACK] : &frame", "&goroutine[WIRE_LEFT_BY_MORESTACK]", LOOKED),
    Mutant("goroutine: one that has gone", STEP, "if (!c->context[GOROUTINE_G])", "if (0)", STEPPED),
    Mutant("goroutine: whoever wrote where it stands", STEP, "return goroutine_called(c, memory) ? GOROUTINE_FOUND : GOROUTINE_OTHER;", "return GOROUTINE_FOUND;", STEPPED),
    Mutant("goroutine: a call of anything near", STEP, "< 2 * GOROUTINE_NEAR;", "< 20 * GOROUTINE_NEAR;", STEPPED),
    Mutant("goroutine: words of now", STEP, "!memory_read_stack(memory, g, 8, c->tls", "!memory_read(memory, g, 8, c->tls", STEPPED),
    Mutant("goroutine: without one the stack is whole", STEP, "found == GOROUTINE_NONE ? UNWIND_DONE : UNWIND_NO_START", "UNWIND_DONE", STEPPED),
    Mutant("goroutine: who has gone is not there", STEP, "found == GOROUTINE_NONE ? UNWIND_DONE : UNWIND_NO_START", "UNWIND_NO_START", STEPPED),
    Mutant("goroutine: systemstack is its pc", STEP, "	words[GOROUTINE_SP] += 8;\n", "	return true;\n", STEPPED),
    Mutant("goroutine: all have their pc on the stack", STEP, "if (left != WIRE_LEFT_BY_SYSTEMSTACK)", "if (0)", STEPPED),
    Mutant("goroutine: the scheduler is somebody's", STEP, "if (goroutine_is_left_for_good(rule) && found != GOROUTINE_UNKNOWN)", "if (0)", STEPPED),
    Mutant("goroutine: nobody's, as it is not known", STEP, "if (goroutine_is_left_for_good(rule) && found != GOROUTINE_UNKNOWN)", "if (goroutine_is_left_for_good(rule))", STEPPED),
    Mutant("goroutine: systemstack needs one", STEP, "if (goroutine_is_left_for_good(rule) && found != GOROUTINE_UNKNOWN)", "if (found != GOROUTINE_UNKNOWN)", STEPPED),
    Mutant("goroutine: systemstack goes by frames", CFI, "has_goroutine ? &goroutine[systemstack] : &callers", "&callers", LOOKED),
    Mutant("switch: asmcgocall ends with its call", SWITCH, "load + 4, back + 3);", "load + 4, call + 2);", LOOKED),
    Mutant("switch: asmcgocall keeps nothing", SWITCH, "	look_at_nosave(s, code, back + 3);\n", "", LOOKED),
    Mutant("another stack: nobody says so", FRAME, "	c->elsewhere = 1;\n", "", ["test_frame_pointer_chain", "test_goroutine"]),
    Mutant("another stack: it is read on", STACK, " && !stack->cursor->elsewhere", "", ["test_unwind_stack"]),
]
