# SPDX-License-Identifier: Apache-2.0
"""Of the interpreted frames that a deoptimisation puts in place, before their slots are written."""
from .mutant import Mutant

FRAMES = "bpf/hotspot/unpacking.h"
BLOB = "bpf/hotspot/blob.h"
INTERPRETED = "bpf/hotspot/interpreted.h"
UNWIND = "bpf/unwind.h"
LAYOUT = "userspace/jvm/layout/jvm_stubs.c"
STACK = "userspace/unwind/unwind_stack.c"
UNWINDER = "userspace/unwind/unwinder.c"
TESTS = ["test_unpacking"]
TOLD = ["test_jvm_unpacking"]
STACKS = ["test_unwind_stack_calls"]

MUTANTS = [
    Mutant("unpacking: any frame may be one", FRAMES, "if (!c->unpacks)\n\t\treturn UNPACKING_NONE;", "", TESTS),
    Mutant("unpacking: who called them is one of them", FRAMES, "		c->unpacks = 0;\n", "", TESTS),
    Mutant("unpacking: the register before the thread that is known", BLOB, "return thread ? thread : c->r15;", "return c->r15;", TESTS),
    Mutant("unpacking: no thread, no array", BLOB, "return thread ? thread : c->r15;", "return thread;", TESTS),
    Mutant("unpacking: a moment later it is the same", FRAMES, " || !c->unpacking_live ||", " ||", TESTS),
    Mutant("unpacking: no array, and it tells all the same", FRAMES, "if (!at->array || ", "if (", TESTS),
    Mutant("unpacking: frames stay empty", FRAMES, "return UNPACKING_FILLED;", "return UNPACKING_EMPTY;", TESTS),
    Mutant("unpacking: more frames than there are", FRAMES, "if (index >= array->frames || memory_read", "if (memory_read", TESTS),
    Mutant("unpacking: the same one again", FRAMES, "c->unpacks = (wire_u8)(index + 2);", "", TESTS),
    Mutant("unpacking: all have been pushed", FRAMES, "return frames - chain.count;", "return 0;", TESTS),
    Mutant("unpacking: a chain without an end", FRAMES, "#define UNPACKING_MAX_CHAIN 64", "#define UNPACKING_MAX_CHAIN 65", TESTS),
    Mutant("unpacking: any leaf is such a blob", FRAMES, "if (found == UNPACKING_EMPTY && c->unpacks == UNPACKING_FROM_LEAF)\n\t\treturn UNPACKING_NONE;", "", TESTS),
    Mutant("unpacking: too many are counted", FRAMES, "if (index >= UNPACKING_MAX_FRAMES)\n\t\treturn UNPACKING_EMPTY;", "", TESTS),
    Mutant("unpacking: in the blob none is there", FRAMES, "first = unpacking_first(c, memory, array.frames);\n\tif (first >=", ";\n\tif (first >=", ["test_compiled_deopt"]),
    Mutant("unpacking: too many come", FRAMES, "if (first >= UNPACKING_MAX_FRAMES)\n\t\treturn 0;", "", ["test_compiled_deopt"]),
    Mutant("unpacking: those that come are left out", UNWIND, "if (c->unpacking_next < c->unpacking_end)", "if (0)", TESTS),
    Mutant("unpacking: the walk begins with others to come", UNWIND, "	c->unpacking_next = c->unpacking_end = 0;\n", "", ["test_unwind_choose"]),
    Mutant("unpacking: not in the blob itself", UNWIND, "c->leaf ? UNPACKING_FROM_LEAF : c->native;", "c->native;", TESTS),
    Mutant("unpacking: below any frame", UNWIND, "c->leaf ? UNPACKING_FROM_LEAF : c->native;", "c->leaf ? UNPACKING_FROM_LEAF : 1;", TESTS),
    Mutant("unpacking: no bytecode has a place", INTERPRETED, "return bci < 0 ? 0 :", "return", TESTS),
    Mutant("unpacking: bytecodes begin with the method", INTERPRETED, "c->jvm.unpacking.bytecodes + (wire_u32)bci", "(wire_u32)bci", TESTS),
    Mutant("unpacking: any word is a method", INTERPRETED, "	if (!c->seen.identity)\n\t\treturn INTERPRETED_GONE;\n\tc->interpreted.method = frame->method;", "	c->interpreted.method = frame->method;", TESTS),
    Mutant("unpacking: where the caller is", INTERPRETED, "	c->pc = c->jvm.interpreter_start;\n", "", TESTS),
    Mutant("unpacking: the caller is lost", INTERPRETED, "	c->pc = pc;\n\treturn stop;", "	return stop;", TESTS),
    Mutant("unpacking: an array of any size", LAYOUT, "if (array > UINT16_MAX || element > array)", "if (element > array)", TOLD),
    Mutant("unpacking: elements longer than all", LAYOUT, "if (array > UINT16_MAX || element > array)", "if (array > UINT16_MAX)", TOLD),
    Mutant("unpacking: an offset of any size", LAYOUT, "bool told = r == 0 && offset < limit;", "bool told = r == 0;", TOLD),
    Mutant("unpacking: half of it is enough", LAYOUT, "		*unpacking = (struct wire_unpacking){ 0 };", "		;", TOLD),
    Mutant("unpacking: the thread's own word of now", STACK, "jvm->unpacking.array, miss->unpacking }", "0, miss->unpacking }", STACKS),
    Mutant("unpacking: a word that nobody knows", STACK, "miss->unpacking != WIRE_MISS_UNKNOWN && jvm->unpacking.array", "jvm->unpacking.array", STACKS),
    Mutant("unpacking: a JVM that has none", STACK, "miss->unpacking != WIRE_MISS_UNKNOWN && jvm->unpacking.array", "miss->unpacking != WIRE_MISS_UNKNOWN", STACKS),
    Mutant("unpacking: a later one is told of", UNWINDER, ".has_unpacking = miss->thread && miss->unpacking != WIRE_MISS_UNKNOWN,", ".has_unpacking = true,", ["test_unwinder_late"]),
    Mutant("unpacking: the array is the heap", UNWINDER, ".has_heap = miss->heap_count > has_array(miss),", ".has_heap = miss->heap_count != 0,", ["test_unwinder_late"]),
]
