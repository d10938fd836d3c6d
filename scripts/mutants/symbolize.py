# SPDX-License-Identifier: Apache-2.0
"""Of names: kernel, native and Java addresses, perf maps, what is kept of them."""
from .mutant import Mutant

SYMBOLIZER = "userspace/symbolize/symbolizer.c"
ARRIVAL = "userspace/symbolize/symbolizer_arrive.c"
KERNEL = "userspace/symbolize/kernel.c"
KERNEL_FRAME = "userspace/symbolize/kernel_frame.c"
NATIVE = "userspace/symbolize/native.c"
JAVA = "userspace/symbolize/java.c"
PERF_MAP = "userspace/symbolize/perf_map.c"
PUSH = "userspace/symbolize/symbolizer_push.c"
SOURCES = "userspace/symbolize/sources.c"
LRU = "userspace/base/cache/lru.c"
WORDS = "userspace/symbolize/words/sample_words.c"
TAILS_C = "userspace/symbolize/words/stack_tails.c"
STACK_TAILS = ["test_stack_tails"]
SYMBOLIZE = ["test_symbolizer", "test_symbolize_java", "test_symbolize_parts", "test_symbolize_code"]

EARLY = ["test_symbolize_now"]
STACKS = ["test_symbolize_parts", "test_symbolize_code", "test_symbolizer", "test_pipeline_chunks"]
NAMES = ["test_kernel", "test_kernel_read"]
MAPS = ["test_perf_map", "test_perf_map_pid"]
JVMS = ["test_symbolize_code", "test_symbolize_java"]

ADDRESSES = [
    Mutant("kernel return addresses as they are", SYMBOLIZER, "at == kernel->at ? *at : *at - 1", "*at", STACKS),
    Mutant("the kernel's leaf is a call", SYMBOLIZER, "at == kernel->at ? *at : *at - 1", "*at - 1", STACKS),
    Mutant("user return addresses as they are", WORDS, "word & WIRE_FRAME_EXACT ? address : address - 1", "address", STACKS),
    Mutant("every user address is a call", WORDS, "word & WIRE_FRAME_EXACT ? address : address - 1", "address - 1", STACKS),
    Mutant("a pc and a return address are one", WORDS, "word & (WIRE_FRAME_ADDRESS_MASK | WIRE_FRAME_EXACT);",
           "word & WIRE_FRAME_ADDRESS_MASK;", STACKS),
    Mutant("addresses without a sign", WORDS, "(uint64_t)((int64_t)(word << 8) >> 8);", "word << 8 >> 8;", STACKS),
    Mutant("a mapping's file offset forgotten", NATIVE, "query->address - mapping->start + mapping->pgoff;",
           "query->address - mapping->start;", STACKS),
    Mutant("a file that is not ready gives its last name", NATIVE,
           "answer->of_moment = !is_final(query->image);", "", STACKS),
]

KEPT = [
    Mutant("equal words of other reasons are one stack", WORDS, "(uint64_t)sample->reason << 8 |", "", STACKS),
    Mutant("kernel and user words are alike", WORDS, "(uint64_t)sample->kernel_frames << 16 |", "", STACKS),
    Mutant("first and other threads are alike", WORDS, "(sample->tid == sample->tgid) |", "", STACKS),
    Mutant("names of the last mappings", SYMBOLIZER, "if (cache->mappings_serial != process->mappings_serial) {",
           "if (0) {", STACKS),
    Mutant("names of the last program", SYMBOLIZER,
           "book_detach(&symbolizer->processes, &process->attached, &cache->attachment);\n\tcache_free(cache);", "", STACKS),
    Mutant("stacks of the last chunk", SYMBOLIZER, "cache_clear(symbolizer, cache_of(*at));", "",
           STACKS),
    Mutant("files of the last chunk", SYMBOLIZER, "hmap_clear(&symbolizer->image_mappings);", "", STACKS),
    Mutant("kernel frames of the last chunk", SYMBOLIZER,
           "lru_clear(&symbolizer->kernel_frames);\n\tsymbolizer->jit", "symbolizer->jit", STACKS),
    Mutant("the JIT of the last chunk", SYMBOLIZER,
           "lru_clear(&symbolizer->kernel_frames);\n\tsymbolizer->jit_mapping = PROFILE_NONE;",
           "lru_clear(&symbolizer->kernel_frames);", STACKS),
    Mutant("stacks that time changes are kept", SYMBOLIZER, "if (!build->cacheable)\n\t\treturn NULL;", "", STACKS),
    Mutant("stacks of code that changes are kept", SYMBOLIZER, "return build->settled ? &build->cache->settled : NULL;", "return &build->cache->settled;", ["test_symbolize_settled"]),
    Mutant("stacks of before a change are kept", SYMBOLIZER, "\tlru_clear(&cache->settled);\n\tcache->tails_owner", "\tcache->tails_owner", ["test_symbolize_settled"]),
    Mutant("tails of before a change are kept", SYMBOLIZER, "cache->code_changes = changes;\n\tlru_clear(&cache->settled);\n\tcache->tails_owner = ++symbolizer->last_owner;",
           "cache->code_changes = changes;\n\tlru_clear(&cache->settled);", ["test_symbolize_settled"]),
    Mutant("stacks of before an agent are kept", SYMBOLIZER,
           "if (cache->has_code_map != has_code_map)\n\t\tcache_clear(symbolizer, cache);", "", JVMS),
]

KINDS = [
    Mutant("the end's reason left out", SYMBOLIZER, "} else if (!unwind_reasons[reason].whole) {", "} else if (0) {",
           STACKS),
    Mutant("a thread's start has no name", SYMBOLIZER, "} else if (reason == UNWIND_DONE && build->unnamed_tail && !build->is_raw) {",
           "} else if (0) {", STACKS),
    Mutant("thread and process start mixed up", SYMBOLIZER,
           'sample->tid == sample->tgid ? "[process start]" : "[thread start]"',
           'sample->tid == sample->tgid ? "[thread start]" : "[process start]"', STACKS),
    Mutant("user frames before the kernel's", SYMBOLIZER,
           "push_kernel_frames(build, kernel);\n\twait_drop_tracing(build, sample);\n\tpush_user_frames(build, user, sample->tid);",
           "push_user_frames(build, user, sample->tid);\n\tpush_kernel_frames(build, kernel);", STACKS),
    Mutant("marks left out", SYMBOLIZER, "stack_push_name(build, marks[mark], FRAME_MARK, PROFILE_NONE);", ";", STACKS),
    Mutant("marks mixed up", SYMBOLIZER, '[WIRE_MARK_FROZEN] = "[frozen frames]",\n\t[WIRE_MARK_ANCHOR] = "[native frames skipped]",',
           '[WIRE_MARK_ANCHOR] = "[frozen frames]",\n\t[WIRE_MARK_FROZEN] = "[native frames skipped]",', STACKS),
    Mutant("C++ is not told", NATIVE, "frame.kind = symbol.cpp ? FRAME_CPP : FRAME_NATIVE;", "", STACKS),
    Mutant("a deleted file is another", NATIVE, "len -= suffix;", "", STACKS),
    Mutant("kernel modules are the kernel", KERNEL_FRAME, 'snprintf(path, sizeof(path), "[%s]", module);',
           'snprintf(path, sizeof(path), "[kernel]");', STACKS),
    Mutant("a module has the kernel's build id", KERNEL_FRAME, 'if (kernel && strcmp(module, "kernel") == 0)',
           "if (kernel)", STACKS),
]

KALLSYMS = [
    Mutant("the next symbol's name", KERNEL, "if (items[middle].address <= address)", "if (items[middle].address < address)",
           NAMES),
    Mutant("data among the functions", KERNEL, '#define CODE_TYPES "tTwW"', '#define CODE_TYPES "tTwWdDbBrR"', NAMES),
    Mutant("weak functions left out", KERNEL, '#define CODE_TYPES "tTwW"', '#define CODE_TYPES "tT"', NAMES),
    Mutant("modules are not sorted in", KERNEL, "if (sorted + 1 < len)", "if (0)", NAMES),
    Mutant("modules stay behind the core", KERNEL, "from = upper_bound(items, MIN(sorted + 1, len), lowest);", "from = MIN(sorted + 1, len);", NAMES),
    Mutant("modules are sorted in from the first of them", KERNEL, "lowest = MIN(lowest, items[i].address);", "lowest = items[i].address;", NAMES),
    Mutant("the worse of two names", KERNEL, 'return strspn(name, "_") < strspn(than, "_");',
           'return strspn(name, "_") > strspn(than, "_");', NAMES),
    Mutant("a name torn between two reads", KERNEL, "memmove(buffer, buffer + taken, kept);", "", NAMES),
]

PERF_MAPS = [
    Mutant("perf map by the host's pid", PERF_MAP, "status.ns_pid ? status.ns_pid : pid", "pid", MAPS),
    Mutant("anybody's perf map", PERF_MAP, "(st.st_uid == uid || st.st_uid == 0)", "1", MAPS),
    Mutant("an end too far", PERF_MAP, "if (address < entry->end &&", "if (address <= entry->end &&", MAPS),
    Mutant("the older of two codes", PERF_MAP, "entry->sequence > best->sequence", "entry->sequence < best->sequence",
           MAPS),
    Mutant("of one start the first", PERF_MAP, "\t\t\tkept--;", "\t\t\tcontinue;", MAPS),
    Mutant("a map that grew is not read", PERF_MAP, "check_growth(map);\n\tbelow", "below", MAPS),
    Mutant("a perf map is looked for once", NATIVE, "now < cache->next_perf_map_ns)", "cache->next_perf_map_ns)",
           STACKS),
    Mutant("an early look for a perf map is the look of a second", NATIVE, "build->is_early || now", "now", EARLY),
    Mutant("addresses of the unknown are lost", NATIVE, "if (!build->is_raw)", "if (1)", EARLY),
    Mutant("the first raw address is called a start", SYMBOLIZER, "&& !build->is_raw", "", EARLY),
]

CODE = [
    Mutant("an inlined method is one of its own", JAVA, "java->frames[i].inlined ? FRAME_JAVA_INLINED : kind",
           "kind", JVMS),
    Mutant("the innermost inlined method only", JAVA, "for (unsigned int i = 0; i < java->count; i++)",
           "for (unsigned int i = 0; i < MIN(java->count, 1U); i++)", JVMS),
    Mutant("code of another time is kept", JAVA, "answer->of_moment = true;", "", ["test_sources"]),
    Mutant("evicted code is kept", PUSH, "build->cacheable = false;\n\tif (evicted)", "if (evicted)", JVMS),
    Mutant("the code map is asked in vain", SOURCES, '{ "code map", ASK_CODE | ASK_COMPILED, .find = java_find_code },',
           '{ "code map", ASK_CODE, .find = java_find_code },', JVMS),
    Mutant("evicted code has a place", PUSH, "(evicted && !source->proves)", "0", JVMS),
    Mutant("the first of several frames is kept", PUSH, "keep(build, kept, query->key, answer->count);",
           "keep(build, kept, query->key, 1);", ["test_symbolize_source"]),
    Mutant("lines are lost", JAVA, ".line = java->line,", "", JVMS),
    Mutant("evicted code is unknown", PUSH, 'stack_push_name(build, "[evicted]", FRAME_MARK, PROFILE_NONE);',
           ';', JVMS),
    Mutant("an interpreted method without identity is kept", JAVA, "!has_identity || query->words", "query->words", JVMS),
    Mutant("interpreted frames look compiled", JAVA, "take(build, query, found, FRAME_JAVA_INTERPRETED,",
           "take(build, query, found, FRAME_JAVA_JIT,", JVMS),
]

SURE = [
    Mutant("an agent's answer is any table's", JAVA, "take(build, query, found, FRAME_JAVA_JIT, ANSWER_TIMED, answer);",
           "take(build, query, found, FRAME_JAVA_JIT, ANSWER_RANGE, answer);", ["test_sources"]),
    Mutant("a compile id proves nothing", JAVA, "take(build, query, found, FRAME_JAVA_JIT, ANSWER_PROVEN, answer);",
           "take(build, query, found, FRAME_JAVA_JIT, ANSWER_RANGE, answer);", ["test_sources"]),
    Mutant("a method without identity is proven", JAVA, "has_identity ? ANSWER_PROVEN : ANSWER_RANGE", "ANSWER_PROVEN", ["test_sources"]),
    Mutant("a file without symbols has names", NATIVE, "answer->sure = ANSWER_RANGE;\n\t\tframe.name", "frame.name", ["test_sources"]),
    Mutant("a perf map is a place", NATIVE, "answer->sure = ANSWER_RANGE;\n\tanswer_add_name", "answer->sure = ANSWER_PLACE;\n\tanswer_add_name",
           ["test_sources"]),
    Mutant("kernel addresses without names are named", KERNEL_FRAME, "answer->sure = ANSWER_PLACE;", "answer->sure = ANSWER_RANGE;", ["test_sources"]),
    Mutant("more frames than there is room for", "userspace/symbolize/source.c", "if (answer->count < ANSWER_MAX_FRAMES)", "if (1)", ["test_sources"]),
]

CACHES = [
    Mutant("a file that is not parsed is not waited for", NATIVE, "if (!build->may_wait)\n\t\treturn false;", "if (1)\n\t\treturn false;", STACKS),
    Mutant("a file that nobody waits for is parsed", NATIVE, "if (!build->may_wait)\n\t\treturn false;", "", EARLY + STACKS),
    Mutant("who waits asks for nothing", NATIVE, "image_load(build->symbolizer->images, image);", ";", STACKS),
    Mutant("a stack with frames missing", SYMBOLIZER, "if (build->waits)\n\t\treturn false;", "", STACKS),
    Mutant("the rest of a stack that waits is not asked for", PUSH, "build->waits = true;\n\t\t\treturn;",
           "build->waits = true;\n\t\t\tquery->image = NULL;", STACKS),
    Mutant("known methods are read again when they arrive", ARRIVAL, "(known && lru_get(known, query.key, &value))", "0", JVMS),
    Mutant("methods are not read when they arrive", ARRIVAL, "read_names(jvm, *fresh, &cache->frames);", ";", JVMS),
    Mutant("code of files is a JVM's", "userspace/jvm/jvm.c",
           "if (jvm->has_layout &&\n\t    (address", "if (0 &&\n\t    (address", ["test_jvm"]),
    Mutant("without a layout all code is a JVM's", "userspace/jvm/jvm.c",
           "return found == JAVA_UNKNOWN && !jvm->has_layout ? JAVA_ELSEWHERE : found;", "return found;", ["test_jvm", "test_agent_jvm"]),
    Mutant("a full cache is emptied", LRU, "while (lru->len && lru->bytes + bytes > lru->limit_bytes)",
           "for (bool full = lru->bytes + bytes > lru->limit_bytes; full && lru->len;)", ["test_lru"]),
    Mutant("what is asked for goes first", LRU, "if (entry_at(lru, 0)->older != at) {", "if (0) {", ["test_lru"]),
    Mutant("what an entry owns is free", LRU, "bytes += LRU_ENTRY_BYTES;", "bytes = LRU_ENTRY_BYTES;", ["test_lru"]),
]

TAILS = [
    Mutant("tails: another one's stack", TAILS_C, "key->owner && tail->key.owner == key->owner && tail->key.tid == key->tid", "tail->key.owner", STACK_TAILS),
    Mutant("tails: another thread's", TAILS_C, " && tail->key.tid == key->tid", "", STACK_TAILS),
    Mutant("tails: nobody has one", TAILS_C, "if (!key->owner)", "if (0)", STACK_TAILS),
    Mutant("tails: in the midst of a frame", TAILS_C, "while (n && !tail->counts.items[n - 1])\n\t\tn--;", "", STACK_TAILS),
    Mutant("tails: older leaves stay", TAILS_C, "tail->words.len = tail->counts.len = common;", "", STACK_TAILS),
    Mutant("tails: ids of older leaves stay", TAILS_C, "tail->ids.len = common ? tail->counts.items[common - 1] - 1U : 0;", "", STACK_TAILS),
    Mutant("tails: any depth", TAILS_C, "mark->words > STACK_TAIL_WORDS || ", "", STACK_TAILS),
    Mutant("tails: any number of ids", TAILS_C, " || ids >= UINT16_MAX", "", STACK_TAILS),
    Mutant("tails: they outlive what frames depend on", SYMBOLIZER, "\tcache_empty(cache);\n\tcache->tails_owner = ++symbolizer->last_owner;", "\tcache_empty(cache);", ["test_symbolizer"]),
    Mutant("tails: the last frame is not looked at", SYMBOLIZER, "if (count)\n\t\tstack_push_known(build, ids[0]);", "if (count)\n\t\tvec_push(&build->symbolizer->frames, ids[0]);", ["test_symbolizer"]),
    Mutant("tails: what time changes is kept", SYMBOLIZER, "if (build->waits || !place_of(build))", "if (build->waits)", SYMBOLIZE),
]

MUTANTS = ADDRESSES + TAILS + KEPT + KINDS + KALLSYMS + PERF_MAPS + CODE + SURE + CACHES
