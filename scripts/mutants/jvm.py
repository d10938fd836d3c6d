# SPDX-License-Identifier: Apache-2.0
"""Of Java from outside and of the agent's reader: which method a pc was in, then, and in which line."""
from .mutant import Mutant

JVM = "userspace/jvm/jvm.c"
TABLE = "userspace/jvm/jvm_table.c"
STORE = "userspace/jvm/codemap/codemap_store.c"
ENTRY = "userspace/jvm/codemap/code_entry.c"
THREADS = "userspace/jvm/codemap/code_threads.c"
METHODS = "userspace/jvm/codemap/code_methods.c"
READER = "userspace/jvm/codemap/codemap_reader.c"
RECORD = "userspace/jvm/codemap/codemap_record.c"
NAMES = "userspace/jvm/names/code_names.c"
BLOB = "userspace/jvm/names/code_blob.c"
METHOD = "userspace/jvm/names/method_name.c"
POOL = "userspace/base/cache/text_pool.c"
CHAIN = "userspace/jvm/names/method_chain.c"
LINES = "userspace/jvm/names/line_table.c"
CHUNKS = "userspace/jvm/continuation/jvm_chunks.c"
CLASSES = "userspace/jvm/continuation/jvm_classes.c"

BOTH = ["test_agent_jvm"]
STORED = ["test_codemap_store"]
LOOKUP = ["test_code_lookup"]

AGENTS = "userspace/jvm/attach/agents.c"
LOOKED_FOR = ["test_agents"]

FIELDS = "userspace/jvm/heap/java_fields.c"
OBJECTS = "userspace/jvm/heap/java_objects.c"
IN_CHUNKS = ["test_jvm_chunks"]

AGENTS_USED = [
    Mutant("jvm: one that was busy is given up", "userspace/jvm/jvm.c", "ret != -EAGAIN && !vm_error_passes(ret) &&", "ret != -EAGAIN &&", ["test_jvm"]),
    Mutant("store: code that ends is no change", STORE, "if (e->kind < CODEMAP_THREAD)", "if (e->kind < CODEMAP_UNLOAD)", STORED),
    Mutant("store: settled at all times", STORE, "time_ns > s->changed_ns && !s->gap", "!s->gap", STORED),
    Mutant("store: settled though records were lost", STORE, "time_ns > s->changed_ns && !s->gap &&", "time_ns > s->changed_ns &&", STORED),
    Mutant("chunks: the room is another field", CHUNKS, "#define ADDED_MAX_THAWING 3", "#define ADDED_MAX_THAWING 2", IN_CHUNKS),
    Mutant("chunks: the room lies anywhere", CHUNKS, "				      &offset) == 0 &&\n	    fits(chunks, (uint16_t)offset, 4))", "				      &offset) == 0)", IN_CHUNKS),
    Mutant("fields: those that are added come first", FIELDS, "i <= stream.count + index; i++", "i <= index; i++", IN_CHUNKS),
    Mutant("ZGC's chunks are read", CHUNKS, "if (!ret && flags.use_z == 1)", "if (0)", IN_CHUNKS),
    Mutant("chunks: fields anywhere", CHUNKS, "return offset + bytes <= chunks->stack && offset % bytes == 0;",
           "return true;", IN_CHUNKS),
    Mutant("chunks: a field with more numbers", FIELDS, "if (flags && !stream->more[0])", "if (0)", IN_CHUNKS),
    Mutant("chunks: fields of the JVM's own taken for Java's", FIELDS, "i < stream.count; i++) {",
           "i < stream.count + stream.injected; i++) {", IN_CHUNKS),
    Mutant("chunks: classes that are not loaded yet are none", CLASSES, "return -EAGAIN;", "return -EOPNOTSUPP;",
           IN_CHUNKS),
    Mutant("objects: a class beside a compact header's mark", OBJECTS, "narrow << objects->header_shift, 0 };",
           "narrow << objects->header_shift, KLASS_AT };", IN_CHUNKS),
    Mutant("objects: a class that none could be of", OBJECTS, "if (klass < objects->klass_base || narrow > UINT32_MAX)", "if (0)", IN_CHUNKS),
    Mutant("objects: any shift", OBJECTS, "if (shift < 0 || shift > MAX_SHIFT)", "if (0)", IN_CHUNKS),
    Mutant("why an attach failed is forgotten", AGENTS, "agent->attach == ATTACH_DONE && !agent->is_ours && agent->failure[0];", "false;", ["test_agents"]),
    Mutant("a detached agent is never looked for again", AGENTS, "if (agent->map_open && !jvm_reads_code_map(jvm)) {",
           "if (0) {", LOOKED_FOR),
    Mutant("an agent that went is looked for much later", AGENTS,
           "agent->map_open = false;\n\t\tagent->map_retry_ns = 0;",
           "agent->map_open = false;\n\t\tagent->map_retry_ns = MAP_MAX_RETRY_NS;", LOOKED_FOR),
    Mutant("who becomes a JVM is asked for no agent", AGENTS, "	return !agent->is_jvm && agent->wanted &&", "	return 0 && !agent->is_jvm && agent->wanted &&", LOOKED_FOR),
    Mutant("who becomes one without a sample", AGENTS, "	look_for_jvms(agents, now_ns);", "	(void)look_for_jvms;", LOOKED_FOR),
    Mutant("a JVM that has gone is asked for", AGENTS, "		if (agents->jvms_seen.items[i] == agent)", "		if (0)", LOOKED_FOR),
    Mutant("agents of all JVMs are used", AGENTS, "agent->wanted = wanted;", "agent->wanted = true;", LOOKED_FOR),
    Mutant("a sampled JVM is no target", AGENTS, "agent->wanted = true;\n", "", LOOKED_FOR),
    Mutant("an agent is looked for once", AGENTS, "|| !map_is_due(agent, now_ns))", "|| !map_is_due(agent, now_ns) || agent->map_tried_ns)", LOOKED_FOR),
    Mutant("a JVM that maps something is calm", AGENTS, "		  agent->map_tried_serial == agent->process->mappings_serial;", "		  true;", LOOKED_FOR),
    Mutant("no JVM is ever calm", AGENTS, "since_ns >= MAP_CALM_RETRY_NS;", "since_ns >= MAP_MAX_RETRY_NS;", LOOKED_FOR),
    Mutant("whose map is held is calm", AGENTS, "agent->map_missing = r == -ENODATA;", "agent->map_missing = true;", LOOKED_FOR),
    Mutant("ever longer pauses without an end", AGENTS,
           "MIN(MAX(2 * agent->map_retry_ns, MAP_RETRY_NS), MAP_MAX_RETRY_NS)",
           "MAX(2 * agent->map_retry_ns, MAP_RETRY_NS)", LOOKED_FOR),
    Mutant("a fork of a JVM is attached to", AGENTS, "return process->exec_count > 0 || process->begin_ns == 0;",
           "return process;", LOOKED_FOR),
    Mutant("an agent of a process that has ended is used", AGENTS, "if (agent->process->exited)\n\t\treturn;", "",
           LOOKED_FOR),
    Mutant("an attach reports to an agent that is gone", AGENTS, "agent->job->agent = NULL;", ";", LOOKED_FOR),
    Mutant("an agent is loaded again and again", AGENTS, "-EAGAIN ? ATTACH_NONE : ATTACH_DONE;", "-EAGAIN ? ATTACH_NONE : ATTACH_NONE;",
           LOOKED_FOR),
    Mutant("a JVM that is never ready is waited for without end", AGENTS, "agent->not_ready >= MOST_NOT_READY", "0", LOOKED_FOR),
    Mutant("a JVM without a handler of SIGQUIT will never have one", "userspace/jvm/attach/attach_check.c",
           "return err_set(err, -EAGAIN,", "return err_set(err, -EOPNOTSUPP,", ["test_attach_check"]),
    Mutant("samples do not wait for a loaded agent", AGENTS,
           "agents->attaching++;\n\tif (!agents->busy_since_ns)", "agents->attaching++;\n\tif (0)", LOOKED_FOR),
    Mutant("samples do not wait for a replay", AGENTS,
           "note_opened(agents, agent, jvm);\n\t\tif (!agents->busy_since_ns)",
           "note_opened(agents, agent, jvm);\n\t\tif (0)", LOOKED_FOR),
    Mutant("samples wait for a replay for ever", AGENTS,
           "return agents->busy_since_ns && clock_now_ns() - agents->busy_since_ns < BUSY_LIMIT_NS;",
           "return agents->busy_since_ns;", LOOKED_FOR),
    Mutant("a JVM's failure is not told", AGENTS, "if (attach->err.code)", "if (0)", LOOKED_FOR),
    Mutant("JVMs that ended are not counted", AGENTS, "agents->past_jvms += agent->sampled;", "",
           ["test_agents_past"]),
]

MUTANTS = [
    Mutant("who has ended is said to run", "userspace/jvm/layout/libjvm.c", "if (stat.state != 'Z' && stat.state != 'X')", "if (1)", ["test_libjvm"]),
    Mutant("a first thread's end is the process's", "userspace/jvm/layout/libjvm.c", "status.threads > 1)", "0)", ["test_libjvm"]),
    Mutant("jvm: lost records are not asked for again", JVM, "} else if (now_ns - jvm->replay_asked_ns > jvm->replay_pause_ns) {",
           "} else if (0) {", BOTH),
    Mutant("jvm: events that the agent turned off are no gap", JVM, "if (codemap_reader_events_off(&jvm->reader))", "if (0)", BOTH),
    Mutant("jvm: a gap begins when it is noticed", JVM, "codemap_store_note_gap(jvm->store, jvm->polled_ns);",
           "codemap_store_note_gap(jvm->store, now_ns);", BOTH),
    Mutant("jvm: an agent that left is believed for ever", JVM, "codemap_store_set_known_until(jvm->store, jvm->polled_ns);", ";",
           BOTH),
    Mutant("jvm: a detached agent is never reopened", JVM, "if (jvm->reader.leased)\n\t\treturn 0;\n\tret",
           "if (jvm->store)\n\t\treturn 0;\n\tret", BOTH),
    Mutant("jvm: what an earlier agent told is kept", JVM, "codemap_store_free(jvm->store);\n\tjvm->store = codemap_store_new();",
           "if (!jvm->store)\n\t\tjvm->store = codemap_store_new();", BOTH),
    Mutant("jvm: another's lease is read on", JVM, "if (jvm->reader.leased && began_ns < until_ns)",
           "if (began_ns < until_ns)", BOTH),
    Mutant("jvm: a replay is never over", JVM, "codemap_store_replays(jvm->store) != jvm->replays_before ||", "", BOTH),
    Mutant("jvm: tids of the host in the JVM's namespace", "userspace/jvm/jvm_threads.c", "? 0 : status.ns_pid;", "? 0 : jvm->pid;", BOTH),
    Mutant("jvm: a lease is not renewed", READER, "if (r->leased)\n\t\t__atomic_store_n(&r->header->lease_until_ns,",
           "if (0)\n\t\t__atomic_store_n(&r->header->lease_until_ns,", BOTH),
    Mutant("jvm: a lease is not given back", READER, "__atomic_store_n(&r->header->lease_until_ns, 0, __ATOMIC_RELEASE);", ";", BOTH),
    Mutant("jvm: records in the JVM's clock", READER, "event.time_ns -= (uint64_t)r->clock_offset_ns;", ";", ["test_codemap_reader"]),
    Mutant("jvm: an unload is not heard", STORE, "case CODEMAP_UNLOAD: unload(s, e); break;", "case CODEMAP_UNLOAD: break;", STORED),
    Mutant("jvm: a gap is not heard", STORE, "case CODEMAP_GAP: codemap_store_note_gap(s, e->time_ns); break;",
           "case CODEMAP_GAP: break;", STORED),
    Mutant("jvm: what was replaced lives on", STORE, "\tend_overlapped(s, entry);\n", "", STORED),
    Mutant("jvm: code before a loss is believed", STORE, "return !s->replaying || h->replay != s->replay;", "return false;", STORED),
    Mutant("jvm: what a replay leaves out lives on", STORE, "if (entry->replay != s->replay)", "if (0)", STORED),
    Mutant("jvm: code at its end is not doubted", STORE, "return h->end_ns - time_ns <= (in_one_go ? CODE_QUEUE_NS : CODE_LAG_NS);",
           "return false;", STORED),
    Mutant("jvm: the youngest code for any moment", STORE, "if (entry->begin_ns > time_ns) {", "if (0) {", STORED),
    Mutant("jvm: an outer stub before the one in it", STORE, "return entry->code_bytes < than->code_bytes;",
           "return entry->code_bytes > than->code_bytes;", LOOKUP),
    Mutant("jvm: the pc before in place of the one behind", "userspace/jvm/code_chain.h",
           "if (pcs[mid].offset < offset)", "if (pcs[mid].offset <= offset)", STORED),
    Mutant("jvm: the innermost frame is not inlined", ENTRY, "frames[n++].inlined = at->caller != CODE_NO_NODE;",
           "frames[n++].inlined = false;", STORED),
    Mutant("jvm: outer frames shared with any pc", ENTRY, "return a->method == b->method && a->bci == b->bci;",
           "return a->method == b->method;", LOOKUP),
    Mutant("jvm: a thread rename lost", THREADS, "if (e->kind == CODEMAP_THREAD)\n\t\tadd_thread(threads, e, newest);",
           "if (e->kind == CODEMAP_THREAD && !newest)\n\t\tadd_thread(threads, e, newest);", STORED),
    Mutant("jvm: a new name for the past", THREADS, "if (time_ns >= t->begin_ns ||", "if (1 ||", STORED),
    Mutant("jvm: a replayed name is never new", THREADS, "!memcmp(newest->name, e->thread.name.data, e->thread.name.len);", "1;", LOOKUP),
    Mutant("jvm: line table off by one", METHODS, "(uint32_t)MAX(bci, 0) + 1)", "(uint32_t)MAX(bci, 0))", LOOKUP),
    Mutant("jvm: hidden classes lose their number", "userspace/jvm/java_name.c", "if (suffix == len)\n\t\treturn;", "return;", ["test_java_name"]),
    Mutant("jvm: a name without its compile id", NAMES, "if (blob->compile_id != place->compile_id)\n\t\treturn -ESTALE;", "", ["test_code_names"]),
    Mutant("jvm: a name that changed while it was read", NAMES, "work->error = same ? chain->error : -ESTALE;", "work->error = chain->error; same = true;",
           ["test_code_names"]),
    Mutant("jvm: names of code are all forgotten at the limit", NAMES, "\t\tlru_drop_oldest(&names->entries);", "\t\tlru_clear(&names->entries);", ["test_code_names"]),
    Mutant("jvm: names of code without a limit", NAMES, "while (names->entries.len > 1 &&", "while (0 &&", ["test_code_names"]),
    Mutant("jvm: a lowered limit waits for the next name", NAMES, "MAX_CACHE_BYTES);\n\tmake_room(names);", "MAX_CACHE_BYTES);", ["test_code_names"]),
    Mutant("jvm: a known name for any address", NAMES, "address - entry->start >= entry->bytes", "0", ["test_code_names"]),
    Mutant("jvm: names of methods are all forgotten at the limit", METHOD, "\t\tlru_drop_oldest(&names->entries);", "\t\tlru_clear(&names->entries);", ["test_method_kept"]),
    Mutant("jvm: names of methods without a limit", METHOD, "while (names->entries.len > 1 &&", "while (0 &&", ["test_method_kept"]),
    Mutant("jvm: tids without a limit", JVM, "lru_init(&jvm->ns_tids, JVM_TIDS_BYTES, NULL, NULL);", "lru_init(&jvm->ns_tids, SIZE_MAX, NULL, NULL);", BOTH),
    Mutant("jvm: a shared text goes with the first of its owners", POOL, "if (--entry->refs)", "if (0)", ["test_text_pool"]),
    Mutant("jvm: a text that nobody refers to stays", POOL, "if (--entry->refs)", "if (1)", ["test_text_pool"]),
    Mutant("jvm: compilers' buffers are code", NAMES, "return is_never_run(blob) ? -ESTALE : 0;", "return 0;", ["test_code_names"]),
    Mutant("jvm: freed blocks are code", BLOB, "if (r < 0 || !used)", "if (r < 0)", ["test_code_blob"]),
    Mutant("jvm: the rest behind a blob is its code", BLOB, "if (address < blob.start || address >= blob.end)", "if (address < blob.start)",
           ["test_code_blob"]),
    Mutant("jvm: another class at the same Method", CHAIN, "if (!r && chain.identity != identity)", "if (0)", ["test_method_name"]),
    Mutant("jvm: another ConstMethod of the Method", CHAIN, "if (expected && c->const_method != expected)", "if (0)",
           ["test_method_name"]),
    Mutant("jvm: interpreted lines off by one", LINES, "if (entries[i].bci < bci && (!best || entries[i].bci >= best->bci))",
           "if (entries[i].bci > bci && (!best || entries[i].bci >= best->bci))", ["test_line_table"]),
    Mutant("jvm: signed steps without their sign", "userspace/jvm/names/unsigned5.h", "*ret_value = (int32_t)(value >> 1) ^ -(int32_t)(value & 1);",
           "*ret_value = (int32_t)(value >> 1);", ["test_line_table"]),
    Mutant("jvm: a JVM of a generation before", TABLE, "jvm->made_ns >= process->begin_ns ? jvm : NULL;", "1 ? jvm : NULL;",
           ["test_jvm_table"]),
    Mutant("jvm: no look at what was mapped later", TABLE, "seat->mappings_serial == process->mappings_serial)", "1)", ["test_jvm_table"]),
] + AGENTS_USED
