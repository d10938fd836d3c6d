# SPDX-License-Identifier: Apache-2.0
"""Of libffi's closures."""
from .mutant import Mutant

CLOSURE = "bpf/native/closure.h"
LEAF = "bpf/native/leaf.h"
TESTS = ["test_leaf"]

MUTANTS = [
    Mutant("closure: nobody looks", LEAF, "	if (closure)\n\t\tleaf.state = LEAF_JUMPS;", "", TESTS),
    Mutant("closure: where a jump has it", LEAF, "rule.ra_at = closure ? closure : c->sp;", "rule.ra_at = c->sp;", TESTS),
    Mutant("closure: the words are there at once", CLOSURE, "		p += 4;\n\telse if", "		return false;\n\telse if", TESTS),
    Mutant("closure: they stay", CLOSURE, "return leaf_u32(p - 4) == CLOSURE_GIVE && leaf_u24(p - 8) == 0x24548b;", "return false;", TESTS),
    Mutant("closure: sub alone", CLOSURE, "return leaf_u32(p) == CLOSURE_TAKE && leaf_u32(p + 4) == CLOSURE_SAVE;", "return false;", TESTS),
    Mutant("closure: not at the first word", CLOSURE, "case CLOSURE_SAVE: return leaf_u24(p + 4) == CLOSURE_LOAD;", "case CLOSURE_SAVE: return false;", TESTS),
    Mutant("closure: not at the second word", CLOSURE, "case CLOSURE_PUT: return leaf_u24(p + 5) == CLOSURE_LOAD;", "case CLOSURE_PUT: return false;", TESTS),
    Mutant("closure: not where they are taken off", CLOSURE, "case CLOSURE_GIVE: return p[4]", "case CLOSURE_GIVE: return 0 && p[4]", TESTS),
    Mutant("closure: not at the first load", CLOSURE, "return leaf_u32(p + 7) == CLOSURE_PUT ||", "return", TESTS),
    Mutant("closure: not at the second load", CLOSURE, "(leaf_u24(p + 7) == CLOSURE_JUMP &&", "(0 &&", TESTS),
    Mutant("closure: not at the jump", CLOSURE, "return leaf_u24(p - 7) == CLOSURE_LOAD;", "return false;", TESTS),
    Mutant("closure: not at the closure's beginning", CLOSURE, "leaf_u32(p) == LEAF_ENDBR64 ? p + 4 : p;", "p;", TESTS),
]
