# SPDX-License-Identifier: Apache-2.0
"""Of what is inlined, read from outside: where scopes lie, what they say, whose they are, and their names."""
from .mutant import Mutant

SCOPES = "userspace/jvm/names/code_scopes.c"
CHAIN = "userspace/jvm/names/chain_names.c"
NAMES = "userspace/jvm/names/code_names.c"
METHOD = "userspace/jvm/names/method_chain.c"
TEXT = "userspace/jvm/names/method_text.c"
FOLLOW = "userspace/jvm/names/method_name.c"
BLOB = "userspace/jvm/names/code_blob.c"
AHEAD = "userspace/jvm/layout/vm_ahead.c"
MEMORY = "userspace/jvm/layout/vm_memory.c"

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
    Mutant("chains: names are read again", CHAIN, "if (find_name(chain, node) || is_wanted(wants, &place))", "if (is_wanted(wants, &place))",
           ["test_chain_names"]),
    Mutant("chains: nothing is left of code that is gone", NAMES,
           "ret_answer->count = chain_names_own(&entry->chain, ret_answer->frames);", "return -ESTALE;", ["test_chain_names"]),
    Mutant("chains: names of code that is gone", NAMES, "chain_names_drop(chain, work->kept, &names->texts);", ";", ["test_chain_names"]),
    Mutant("chains: what they grow by counts for nothing", NAMES,
           "lru_resize(&names->entries, key, entry_bytes(work->entry));", ";", ["test_chain_names"]),
    Mutant("chains: one that cannot be read costs all names", CHAIN, "if (place->node == CODE_NO_NODE)\n\t\tchain->error = error;",
           "chain->error = chain->error ? chain->error : error;", ["test_chain_names"]),
    Mutant("chains: a place that was not met has its code's other frames", CHAIN, "return name != NULL;", "return true;", ["test_chain_names"]),
    Mutant("chains: one that cannot be read takes the others along", METHOD,
           "if (gather_read(&g, memory) < 0) {", "if (gather_read(&g, memory) < 0) {\n\t\twalkers[0].error = -EBADMSG;",
           ["test_chain_names"]),
    Mutant("chains: no second look", TEXT, "if (!is_same(layout, c, &rd->look))", "if (0)", ["test_method_name"]),
    Mutant("chains: a class is what the first one's is", METHOD, "walkers[k].c.pool == walkers[i].c.pool)", "true)", ["test_code_meet"]),
    Mutant("chains: who spoke for a class and failed is believed", METHOD, "\t\t\twalk_without_mate(memory, layout, &walkers[i]);\n", "", ["test_code_meet"]),
    Mutant("chains: a mate's own second look is not its class's", TEXT, "\trd->look.class_word = mate->look.class_word;\n", "", ["test_code_meet"]),
    Mutant("chains: a line beyond the code", FOLLOW, "fill_frame(entry, bci < entry->code_size ? bci : -1, &frame);",
           "fill_frame(entry, bci, &frame);", ["test_chain_names"]),
    Mutant("met: each is read alone", NAMES, "if (batch.count == CODE_NAMES_AT_ONCE) {", "if (batch.count) {", ["test_code_meet"]),
    Mutant("met: those that did not go along are left out", NAMES, "\tif (batch.count)\n\t\tread_batch(names, &batch);\n}", "}",
           ["test_code_meet"]),
    Mutant("met: one that cannot be read is the same", BLOB, "ret_same[i] = r == 0 && proofs[i].used &&", "ret_same[i] = r < 0 || proofs[i].used &&",
           ["test_code_blob"]),
    Mutant("met: what nmethods are called is read of each", NAMES, "names->known_texts[i].address = blob->name_address;", ";", ["test_code_meet"]),
    Mutant("met: a method's names are another's", FOLLOW, "if (group->of_place[i] != at)", "if (0)", ["test_code_meet"]),
    Mutant("ahead: what lies behind a piece", AHEAD, "at <= piece->len && span->len <= piece->len - at", "at <= piece->len", ["test_vm_ahead"]),
    Mutant("ahead: a read of two times", AHEAD, "if (!find(reader, &spans[i]))\n\t\t\treturn below->read(below, spans, count);",
           "if (!find(reader, &spans[i]) && below->read(below, spans, count))\n\t\t\treturn -1;", ["test_vm_ahead"]),
    Mutant("ahead: what could not be read", AHEAD, "\t\t\treader->pieces[kept++] = piece;", "\t\t\t;\n\t\treader->pieces[kept++] = piece;", ["test_vm_ahead"]),
    Mutant("neighbours: however far", MEMORY, "span->address > end + MAX_GAP_BYTES || piece->address > span_end + MAX_GAP_BYTES", "0", ["test_vm_memory"]),
    Mutant("neighbours: from the piece's beginning", MEMORY, "data + (spans[i].address - sweep->pieces[piece].address)", "data", ["test_vm_memory"]),
    Mutant("new code: it is never met", "bpf/hotspot/compiled.h", "\t*met = code;\n", "", ["test_compiled_steps"]),
    Mutant("new code: of any JVM", "bpf/hotspot/compiled.h", "(wire_u64)c->jvm.serial << 32 | c->compiled_seen.compile_id;", "c->compiled_seen.compile_id;",
           ["test_compiled_steps"]),
    Mutant("new code: stubs have ids", "bpf/hotspot/compiled.h", "c->compiled_seen.frame_size ? tables_met_code(memory, cursor_hash(code)) : NULL;",
           "tables_met_code(memory, cursor_hash(code));", ["test_compiled_steps"]),
]
