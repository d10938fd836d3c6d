# SPDX-License-Identifier: Apache-2.0
"""Of what is inlined, read from outside: where scopes lie, what they say, whose they are, and their names."""
from .mutant import Mutant

SCOPES = "userspace/jvm/names/code_scopes.c"
CHAIN = "userspace/jvm/names/chain_names.c"
NAMES = "userspace/jvm/names/code_names.c"
METHOD = "userspace/jvm/names/method_chain.c"
FOLLOW = "userspace/jvm/names/method_name.c"

MUTANTS = [
    Mutant("scopes: a place counts for the code behind it", "userspace/jvm/code_chain.h", "if (pcs[mid].offset < offset)",
           "if (pcs[mid].offset <= offset)", ["test_code_scopes"]),
    Mutant("scopes: the last place is that of all behind it", "userspace/jvm/code_chain.h",
           "return low < count ? pcs[low].node : CODE_NO_NODE;", "return pcs[low < count ? low : count - 1].node;",
           ["test_code_scopes"]),
    Mutant("scopes: a bytecode index is as it is written", SCOPES, "(int32_t)(scope->bci - 1)", "(int32_t)(scope->bci)",
           ["test_code_scopes"]),
    Mutant("scopes: a place without a scope has the one before", SCOPES, "r = scope == NO_SCOPE ? 0 :",
           "if (scope == NO_SCOPE)\n\t\t\tcontinue;\n\t\tr =", ["test_code_scopes"]),
    Mutant("scopes: circles", SCOPES, "chain[count].scope.sender >= at)", "0)", ["test_code_scopes"]),
    Mutant("scopes: chains without end", SCOPES, "if (count + levels_of(d, node) > MAX_LEVELS)", "if (0)", ["test_code_scopes"]),
    Mutant("scopes: any item is a method", SCOPES, "if (item < 1 || item > MAX_METHODS)", "if (item < 1)",
           ["test_code_scopes"]),
    Mutant("scopes: any bytecode index", SCOPES, "|| node.bci < -1 || node.bci > UINT16_MAX)", ")", ["test_code_scopes"]),
    Mutant("scopes: places in any order", SCOPES, "if (offset <= last || scope < 0)", "if (scope < 0)", ["test_code_scopes"]),
    Mutant("scopes: pcs beyond the blob", SCOPES, " || (uint64_t)f->pcs_end > bytes)", ")", ["test_code_scopes"]),
    Mutant("scopes: of any size", SCOPES,
           "if (p.pc_bytes > MAX_PC_BYTES || p.scope_bytes > MAX_SCOPE_BYTES)\n\t\treturn -E2BIG;", "", ["test_code_scopes"]),
    Mutant("scopes: no bias", SCOPES, "layout->unsigned5_bias };\n\tr = decode", "0 };\n\tr = decode", ["test_code_scopes"]),
    Mutant("scopes: methods are the first ones", SCOPES, "methods[i] = table[d->items.items[i] - 1];",
           "methods[i] = table[i];", ["test_code_scopes"]),
    Mutant("chains: of another method", CHAIN, "if (scopes && !is_of(scopes, method)) {", "if (0) {", ["test_chain_names"]),
    Mutant("chains: none is inlined", CHAIN, ".inlined = name->caller != CODE_NO_NODE,", ".inlined = false,",
           ["test_chain_names"]),
    Mutant("chains: of eight at most", CHAIN, "while (!r && (wanted.count || node != CODE_NO_NODE)) {",
           "for (int once = 1; once; once = 0) {", ["test_chain_names"]),
    Mutant("chains: names are read again", CHAIN, "if (find_name(wanted->chain, node))\n\t\treturn;", "",
           ["test_chain_names"]),
    Mutant("chains: nothing is left of code that is gone", NAMES,
           "return chain_names_own(&entry->chain, answer->frames);", "return 0;", ["test_chain_names"]),
    Mutant("chains: names of code that is gone", NAMES,
           "chain_names_drop(&entry->chain, kept, &names->texts);\n\t\tr = -ESTALE;", "r = -ESTALE;", ["test_chain_names"]),
    Mutant("chains: what they grow by counts for nothing", NAMES,
           "lru_resize(&names->entries, nmethod_key(entry->compile_id), entry_bytes(entry));", "", ["test_chain_names"]),
    Mutant("chains: one that cannot be read costs all names", NAMES, "if (!entry->chain.count) {", "if (r < 0) {",
           ["test_chain_names"]),
    Mutant("chains: one that cannot be read takes the others along", METHOD,
           "if (gather_read(&g, memory) < 0) {", "if (gather_read(&g, memory) < 0) {\n\t\twalkers[0].error = -EBADMSG;",
           ["test_chain_names"]),
    Mutant("chains: no second look", METHOD, "if (!is_same(layout, c, &look))", "if (0)", ["test_method_name"]),
    Mutant("chains: a line beyond the code", FOLLOW, "fill_frame(entry, bci < entry->code_size ? bci : -1, &frame);",
           "fill_frame(entry, bci, &frame);", ["test_chain_names"]),
]
