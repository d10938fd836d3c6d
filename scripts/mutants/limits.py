# SPDX-License-Identifier: Apache-2.0
"""Of what one file, process or JVM may take of our memory and time."""
from .mutant import Mutant

INDEX = "userspace/jvm/codemap/code_index.c"
READER = "userspace/jvm/codemap/codemap_reader.c"
JVM = "userspace/jvm/jvm.c"
TABLE = "userspace/jvm/jvm_table.c"
STORE = "userspace/jvm/codemap/codemap_store.c"
METHODS = "userspace/jvm/codemap/code_methods.c"
INDEXED = ["test_code_index"]
TURN = ["test_jvm_turn"]

CODE_MAPS = [
    Mutant("limits: the index is no balanced tree", INDEX, "\treturn balance(top);\n", "\tsum_up(top);\n\treturn top;\n", INDEXED),
    Mutant("limits: an inner side is not turned first", INDEX,
           "if (height(entry->before->after) > height(entry->before->before))", "if (0)", INDEXED),
    Mutant("limits: what ended is taken for living", INDEX, "return live && entry->end != CODE_LIVE ? 0 : code_entry_stop(entry);",
           "return code_entry_stop(entry);", INDEXED),
    Mutant("limits: the index does not hear of an end", INDEX, "\tsum_up_to(index->root, entry);\n", "", INDEXED),
    Mutant("limits: a walk stops at its first turn", INDEX,
           "if (own_stop(top, live) > start || max_stop(top->before, live) > start)", "if (own_stop(top, live) > start)", INDEXED),
    Mutant("limits: what ended is looked at again and again", STORE,
           "code_index_note_end(&s->code, entry);", ";", ["test_codemap_store"]),
    Mutant("limits: a drain has all the time", READER, "d->late = clock_now_ns() >= d->until_ns;", ";", TURN),
    Mutant("limits: a drain has all bytes", READER, "left -= MIN(left, used);", ";", TURN),
    Mutant("limits: a turn takes less than a full ring", JVM, "#define JVM_POLL_BYTES ((uint64_t)CODEMAP_RING_BYTES)",
           "#define JVM_POLL_BYTES ((uint64_t)CODEMAP_RING_BYTES / 4)", TURN),
    Mutant("limits: an agent that left is not read to its end", JVM, "if (rest < 0 || (closed && !rest)) {",
           "if (rest < 0 || closed) {", TURN),
    Mutant("limits: each JVM has the time of a turn", TABLE, "now_ns, now_ns + TABLE_POLL_NS);", "now_ns, UINT64_MAX);", TURN),
    Mutant("limits: greedy JVMs come first", TABLE, "return (x > y) - (x < y);", "return (x < y) - (x > y);", TURN),
    Mutant("limits: lines stay in any order", METHODS, "if (ascending >= count) {", "if (1) {", ["test_code_methods"]),
    Mutant("limits: the last of equal lines", METHODS, "after = lower_bound(lines, count, l.bci);", "after--;", ["test_code_methods"]),
    Mutant("limits: all code maps have no limit", TABLE, "\tlimit_code_maps(table);\n", "", TURN),
    Mutant("limits: the smallest code map goes", TABLE,
           "if (store_bytes(*jvm) > (largest ? store_bytes(largest) : TABLE_SMALL_BYTES))",
           "if (store_bytes(*jvm) > TABLE_SMALL_BYTES)", TURN),
]

COUNTS = "userspace/elf/elf_counts.c"
FILE = "userspace/elf/elf_file.c"
PACKED = "userspace/elf/debug/debugdata.c"
PARSE = "userspace/elf/image_parse.c"
SYMBOLS = "userspace/elf/symbols.c"
IMAGE = "userspace/elf/image.c"
READ = ["test_elf_limits"]

FILES = [
    Mutant("limits: any number of sections", COUNTS, "if (sections > ELF_MAX_SECTIONS)", "if (0)", READ),
    Mutant("limits: any number of segments", COUNTS, "if (segments > ELF_MAX_SEGMENTS)", "if (0)", READ),
    Mutant("limits: sections are counted in the header only", COUNTS, "sections = take(first, layout->sh_size,",
           "segments = take(first, layout->sh_size,", READ),
    Mutant("limits: overlapping notes", FILE, "file->notes_left -= bytes;", ";", READ),
    Mutant("limits: any names of sections", FILE, "header.sh_size > ELF_MAX_SECTION_NAMES_BYTES ||", "0 ||", READ),
    Mutant("limits: sections are read without a limit", FILE, "if (bytes > MIN(file->read_left, ELF_MAX_SECTION_BYTES))",
           "if (bytes > ELF_MAX_SECTION_BYTES)", READ),
    Mutant("limits: any dictionary", PACKED, "MAX(MIN(limit_bytes, ELF_MAX_XZ_BYTES), ELF_XZ_BYTES)", "ELF_MAX_XZ_BYTES", READ),
    Mutant("limits: any decompressed bytes", PACKED, "if (out->len > MIN(limit_bytes, ELF_MAX_DEBUGDATA_BYTES))",
           "if (out->len > ELF_MAX_DEBUGDATA_BYTES)", READ),
    Mutant("limits: names of any bytes", PARSE, "parse->builder.limit_bytes += 2 * in_file + ELF_PLT_BYTES;", ";", READ),
    Mutant("limits: names that were left out are not told", SYMBOLS, "builder->full = true;", ";", READ),
    Mutant("limits: packed symbols that were left out are not told", PARSE, "if (r == -E2BIG)\n\t\tleave_out(", "if (0)\n\t\tleave_out(",
           READ),
    Mutant("limits: paths of images have no limit", IMAGE, "cache->path_bytes += strlen(path) + 1;", ";", ["test_image_limits"]),
    Mutant("limits: a file by its last name is not found again", "userspace/elf/image_index.c",
           "(image->path[0] == CUT_HEAD[0] &&\n\t\tsame_path(image->path, image_index_cut_path(path, cut)))", "0", ["test_image_limits"]),
]

BUDGET = "userspace/base/budget/budget.c"
MAPPINGS = "userspace/process/mappings.c"
TEXTS = "userspace/process/process_memory.c"
PERF_MAP = "userspace/symbolize/perf_map.c"
GIVEN = ["test_budget"]
MAPPED = ["test_mappings"]

STORES = [
    Mutant("limits: one may have all", BUDGET, "(limit - MIN(others, limit)) / 2", "(limit - MIN(others, limit))", GIVEN),
    Mutant("limits: one's own counts against him", BUDGET, "used - MIN(own_bytes, used)", "used", GIVEN),
    Mutant("limits: nothing is left for the next", BUDGET, "limit / LEAST_PART", "0", GIVEN),
    Mutant("limits: everybody gets his least part", BUDGET, "&& used + bytes <= 2 * limit", "", GIVEN),
    Mutant("limits: a list has no limit", MAPPINGS,
           "!budget_fits(process_budget(), process->share->own_bytes, sizeof(copy))", "0", MAPPED),
    Mutant("limits: a child's change is its parent's", MAPPINGS, "if (before && before->refs == 1)", "if (before)", MAPPED),
    Mutant("limits: a list that has gone still counts", MAPPINGS, "\tprocess->mappings.len = 0;\n\tcount_entries(process);\n",
           "\tprocess->mappings.len = 0;\n", MAPPED),
    Mutant("limits: the same mapping again is a change", MAPPINGS, "m->start >= m->end || has_equal(process, m, path)",
           "m->start >= m->end", MAPPED),
    Mutant("limits: who met a limit is not told", MAPPINGS, "stats.pid = process->pid;", ";", MAPPED),
    Mutant("limits: texts have no limit", TEXTS, "!budget_fits(&budget, *own_bytes, strlen(text))", "0", MAPPED),
    Mutant("limits: a text that has gone still counts", TEXTS,
           "\ttext_pool_unref(&texts, text);\n\tbudget_note(&budget, before, texts.bytes);",
           "\ttext_pool_unref(&texts, text);\n\tbudget_note(&budget, before, before);", MAPPED),
    Mutant("limits: perf maps have no limit", PERF_MAP,
           "budget_fits(&budget, map->counted, sizeof(struct perf_map_entry) + name_len + 1)", "1", ["test_perf_map_growth"]),
    Mutant("limits: names of code that was replaced stay", PERF_MAP, "\t\tdrop_names(map);\n", "\t\t;\n", ["test_perf_map_growth"]),
    Mutant("limits: a perf map that has gone still counts", PERF_MAP, "budget_note(&budget, map->counted, 0);", ";", ["test_perf_map_growth"]),
    Mutant("limits: tables in any number of pages", "userspace/jvm/layout/vm_memory.c", "if (pages->fetches++ >= MAX_FETCHES)", "if (0)",
           ["test_vm_memory"]),
    Mutant("limits: names take all the time", "userspace/jvm/names/name_time.c", "return time->taken_ns < allowance->most_ns;", "return true;", ["test_jvm_names"]),
    Mutant("limits: time for names never comes back", "userspace/jvm/names/name_time.c",
           "time->taken_ns -= MIN(time->taken_ns, (now_ns - time->at_ns) / allowance->share);", ";", ["test_jvm_names"]),
    Mutant("limits: who has no names for time is not told", JVM, "unnamed_pid = jvm->pid;", ";", ["test_jvm_names"]),
    Mutant("limits: a reply of any size", "userspace/jvm/attach/attach_exchange.c", "reply->len + (size_t)n > MAX_REPLY_BYTES",
           "0", ["test_attach_exchange"]),
]

SPACES = "userspace/unwind/unwind_spaces.c"
LATE = "userspace/unwind/unwinder.c"

TIMES = [
    Mutant("limits: mappings that take long are read ten times a second", SPACES,
           "is_long ? cost_ns * CREDIT_SHARE : READ_AGAIN_NS", "READ_AGAIN_NS", ["test_unwind_spaces_turn"]),
    Mutant("limits: thousands of mappings are read ten times a second", SPACES,
           "cost_ns > READ_LONG_NS || space->ranges > MANY_RANGES;", "cost_ns > READ_LONG_NS;", ["test_unwind_spaces_turn"]),
    Mutant("limits: late walks have all the time", LATE,
           "return process->mappings.len <= LATE_MANY || unwinder->late_credit_ns > 0;", "return true;", ["test_unwinder_late"]),
]

MUTANTS = CODE_MAPS + FILES + STORES + TIMES
