# SPDX-License-Identifier: Apache-2.0
"""Of functions that go on at a handler (__builtin_eh_return())."""
from .mutant import Mutant

LANDING = "bpf/native/landing.h"
ROW = "bpf/native/row.h"
RULE = "userspace/elf/cfi/cfi_rule.c"
WALKS = ["test_landing"]
RULES = ["test_cfi_program"]

MUTANTS = [
    Mutant("landing: nobody is told to look", RULE, "rule.cfa_index |= WIRE_LANDS;", ";", RULES),
    Mutant("landing: one register is enough", RULE, "place_of(frame, RAX).kind == PLACE_SLOT &&", "", RULES),
    Mutant("landing: the other one is enough", RULE, " && place_of(frame, RDX).kind == PLACE_SLOT;", ";", RULES),
    Mutant("landing: who returns as ever lands", RULE, "(rule->cfa_reg == RBP) != (rule->rbp_slot == WIRE_SLOT_SAME)", "true", RULES),
    Mutant("landing: the end is none", RULE, "(rule->cfa_reg == RBP) != (rule->rbp_slot == WIRE_SLOT_SAME)", "rule->cfa_reg == RBP", RULES),
    Mutant("landing: in any function", LANDING, "return (rule->cfa_index & WIRE_LANDS) && rule->cfa_reg == DWARF_RBP;", "return rule->cfa_reg == DWARF_RBP;", WALKS),
    Mutant("landing: at the end, too", LANDING, "return (rule->cfa_index & WIRE_LANDS) && rule->cfa_reg == DWARF_RBP;", "return rule->cfa_index & WIRE_LANDS;", WALKS),
    Mutant("landing: whoever was called", LANDING, "return target && c->pc - target + LANDING_REACH > 2 * LANDING_REACH;", "return target;", WALKS),
    Mutant("landing: below alone is beside", LANDING, "c->pc - target + LANDING_REACH > 2 * LANDING_REACH", "c->pc - target > LANDING_REACH", WALKS),
    Mutant("landing: what is not known leads elsewhere", LANDING, "return target && c->pc", "return c->pc", WALKS),
    Mutant("landing: the word itself", LANDING, "	if (word == ra)\n\t\tat += 8;", "	if (word == ra)\n\t\tat += 0;", WALKS),
    Mutant("landing: from the second word on", LANDING, "wire_u64 at = *cfa, end", "wire_u64 at = *cfa + 8, end", WALKS),
    Mutant("landing: a word that is gone is not made up for", LANDING, "at = landing_by_register(c, *cfa);", "at = 0;", WALKS),
    Mutant("landing: a register of the leaf for a caller", LANDING, "if (!c->leaf || !c->regs_kept || (rcx & 7))", "if (rcx & 7)", WALKS),
    Mutant("landing: any number in the register", LANDING, " || (rcx & 7))", ")", WALKS),
    Mutant("landing: no distance in the register", LANDING, "	if (rcx < most)\n\t\treturn cfa + rcx;\n", "", WALKS),
    Mutant("landing: any address in the register", LANDING, "return rcx + 8 - cfa < most ? rcx + 8 : 0;", "return rcx + 8;", WALKS),
    Mutant("landing: the handler is a return address", ROW, "	c->exact = landing_is_at_end(rule);\n", "", WALKS),
    Mutant("landing: all are handlers", ROW, "c->exact = landing_is_at_end(rule);", "c->exact = 1;", WALKS),
    Mutant("landing: the frame stays where it was", ROW, "landing_may_be(rule) && landing_is_set(c, memory, pc) &&", "0 &&", WALKS),
]
