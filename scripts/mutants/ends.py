# SPDX-License-Identifier: Apache-2.0
"""Of the ends of stacks: what can be a thread's start, and what only looks like one."""
from .mutant import Mutant

START = "bpf/native/start.h"
POINTER = "bpf/native/frame_pointer.h"
ROW = "bpf/native/row.h"
CURSOR = "bpf/unwind/cursor.h"
ANCHOR = "bpf/hotspot/anchor.h"
ROOTS = "userspace/elf/cfi/cfi_roots.c"
WALK = "userspace/unwind/walk.c"
UNWINDER = "userspace/unwind/unwinder.c"
CHECK = "userspace/capture/rings/miss_check.c"
NAMES = "userspace/profile/roots.c"

STARTS = ["test_start"]
CFI = ["test_cfi_file"]
SUMS = ["test_roots"]

MUTANTS = [
    Mutant("a frame pointer of 0 is an end", POINTER, "c->linked ? UNWIND_NO_START : UNWIND_FP_END",
           "c->linked ? UNWIND_DONE : UNWIND_FP_END", ["test_frame_pointer_chain"]),
    Mutant("a return address of 0 is an end", CURSOR, "if (pc == 0)\n\t\treturn cursor_stop(c, UNWIND_NO_START);",
           "if (pc == 0)\n\t\treturn cursor_stop(c, UNWIND_DONE);", ["test_cursor"]),
    Mutant("a return address of 0 is an end behind a guess", ROW, "return !c->guessed && !", "return !",
           ["test_row"]),
    Mutant("a return address of 0 is never an end", ROW, "row_is_first(c, rule) ? UNWIND_DONE : UNWIND_NO_START",
           "UNWIND_NO_START", ["test_row"]),
    Mutant("a return address of 0 is an end of code whose rows are inferred", ROW, "return !c->guessed && !(c->leaf && (rule->cfa_index & WIRE_INFERRED));",
           "return !c->guessed;", ["test_row"]),
    Mutant("a return address of 0 is never an end of inferred rows", ROW, "!(c->leaf && (rule->cfa_index & WIRE_INFERRED))",
           "!(rule->cfa_index & WIRE_INFERRED)", ["test_row"]),
    Mutant("a frame pointer is no guess", POINTER, "c->guessed = 1;", "", ["test_frame_pointer_chain"]),
    Mutant("a guess before a signal", CURSOR, "c->guessed = 0;", "", ["test_row"]),
    Mutant("a guess before the anchor", ANCHOR, "c->guessed = 0;", "", ["test_anchor"]),
    Mutant("the anchor does not help behind 0", ANCHOR, "case UNWIND_NO_START:\n", "", ["test_anchor"]),
    Mutant("no start by its place", START, "return c->stack_top && c->sp - low <", "return 0 && c->sp - low <", STARTS),
    Mutant("a top that is not known", START, "return c->stack_top && c->sp", "return c->sp", STARTS),
    Mutant("a return address below the top", START, "if (word >= START_SMALL && word < c->sp)\n\t\t\treturn false;", "", STARTS),
    Mutant("an address of the stack is one of code", START, "word >= START_SMALL && word < c->sp", "word >= START_SMALL", STARTS),
    Mutant("a number is an address", START, "word >= START_SMALL && word < c->sp", "word && word < c->sp", STARTS),
    Mutant("a word above the top", START, "if (at >= c->stack_top)\n\t\t\tbreak;", "", STARTS),
    Mutant("a reason is left behind", START, "c->reason = reason;", "", STARTS),
    Mutant("clone without its exit", START, "if (!call || !start_exits(p))", "if (!call)", STARTS),
    Mutant("clone without its call", START, "if (!call || !start_exits(p))", "if (!start_exits(p))", STARTS),
    Mutant("another system call is clone's end", START, "leaf_u32(p + 1) == 60", "1", STARTS),
    Mutant("musl's clone not known", START, "leaf_u32(p) == 0x3cb0c031", "0", STARTS),
    Mutant("clone in the midst of frame pointers", START, "(c->fp == 0 && c->linked)", "1", STARTS),
    Mutant("no coroutine", START, "return c->no_trampoline == c->pc &&", "return 0 &&", STARTS),
    Mutant("a coroutine by what was read before", START, "c->no_trampoline == c->pc && ", "", STARTS),
    Mutant("the entry goes on as far as it likes", ROOTS, "if (root.end - root.start <= MAX_ENTRY_BYTES)", "", CFI),
    Mutant("the entry goes on in the next symbol", ROOTS, "if (end > root->start)\n", "if (end > root->start && symbol->st_size && symbol->st_value == root->start)\n",
           CFI),
    Mutant("symbols without a type say nothing", ROOTS, " && type != STT_NOTYPE", "", CFI),
    Mutant("a guess is not handed on", WALK, "c->guessed = request->caller && request->guessed;", "", ["test_walk"]),
    Mutant("the top is not handed on", WALK, "c->stack_top = request->stack_top;", "", ["test_unwind"]),
    Mutant("a guess is not sent", UNWINDER, ".guessed = miss->guessed,", "", ["test_unwinder_request"]),
    Mutant("the top is not sent", UNWINDER, ".stack_top = miss->stack_top,", "", ["test_unwinder_request"]),
    Mutant("any number is a guess", CHECK, " || miss->guessed > 1", "", ["test_miss_check"]),
    Mutant("roots: any name", NAMES, "if (!strncmp(name, starts[i], len) &&", "if (", SUMS),
    Mutant("roots: what begins like one", NAMES, "(!name[len] || name[len] == '@' || !strcmp(name + len, \".abi0\"))", "1", SUMS),
    Mutant("roots: cut stacks have one", NAMES, "if (!is_start(name))\n\t\t\treturn ROOT_NONE;\n", "", SUMS),
    Mutant("roots: the kernel's count", NAMES, "case FRAME_KERNEL:\n", "", SUMS),
    Mutant("roots: samples that are added up count once", NAMES, "sum->stacks += s->count;", "sum->stacks++;", SUMS),
    Mutant("roots: of all events", NAMES, "(size_t)event * (roots->processes + 1) +", "", SUMS),
]
