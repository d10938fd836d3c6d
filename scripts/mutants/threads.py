# SPDX-License-Identifier: Apache-2.0
"""Of the names of Java's threads, read from the heap."""
from .mutant import Mutant

LAYOUT = "userspace/jvm/heap/java_thread_layout.c"
LIST = "userspace/jvm/heap/java_thread_list.c"
READER = "userspace/jvm/heap/java_thread_read.c"
PAUSE = "userspace/jvm/heap/heap_pause.c"
TIMES = "userspace/jvm/heap/thread_names.c"
FIELDS = "userspace/jvm/heap/java_fields.c"
NAME = "userspace/jvm/java_name.c"
JVM = "userspace/jvm/jvm_threads.c"
BOOKS = "userspace/session/pipeline_books.c"
MEMORY = "userspace/jvm/layout/vm_memory.c"

READ = ["test_java_threads"]
ONE = ["test_java_thread_read"]
KNOWN = ["test_thread_names", "test_thread_names_due"]
OF_JVM = ["test_jvm_thread_names"]

TRAIL = "userspace/jvm/heap/java_thread_trail.c"
TRAILS = ["test_java_thread_trail"]

MUTANTS = [
    Mutant("threads: what led to a name may be anything now", TRAIL, "!memcmp(batch->data + at, trail->data, trail->bytes)", "true", TRAILS),
    Mutant("threads: a collection is no matter to what is confirmed", TRAIL, "pause->collections[0] == pause->collections[1]", "true", TRAILS),
    Mutant("threads: one that begins meanwhile neither", TRAIL, "!pause->active[1] &&", "", TRAILS),
    Mutant("threads: one that is under way neither", TRAIL, "!pause->active[0] &&", "", TRAILS),
    Mutant("threads: a way that is too long is as good", TRAIL, "trail->spans = TOO_LONG;", ";", TRAILS),
    Mutant("threads: each way is the first one's", TRAIL, "at += trail->bytes;", "", TRAILS),
    Mutant("threads: half of a way is laid", READER, "g->spans + j->first, j->end - j->first);", "g->spans + j->first, j->end > j->first);", TRAILS),
    Mutant("threads: the way to a list is believed where some of it is missing", LIST, "list->has_trail &= !count;", "", ONE),
    Mutant("threads: the way to a list that is too long is laid in part", LIST, "list->has_trail = list->spans.len < JAVA_TRAIL_MOST_SPANS &&", "if (list->spans.len >= JAVA_TRAIL_MOST_SPANS)\n\t\t\treturn;\n\t\tlist->has_trail =", ONE),
    Mutant("threads: for each thread that is none of Java's the list is read anew", JVM, "	if (list_is_same(t))", "	if (0 && list_is_same(t))", OF_JVM),
    Mutant("threads: the list is always as it was", JVM, "	if (list_is_same(t))", "	if (list_is_same(t) || t->list.items.len)", OF_JVM),
    Mutant("threads: lists are never confirmed", JVM, "add_look(c, jvm, java_thread_list_trail(&t->list));", "add_look(c, jvm, java_thread_trail_whole(NULL));", OF_JVM),
    Mutant("threads: who has come into the list is not looked for", JVM, "} else if (find_thread(&t->list, jvm_ns_tid(jvm, it.tid), &at)) {", "} else if (0 && find_thread(&t->list, jvm_ns_tid(jvm, it.tid), &at)) {", OF_JVM),
    Mutant("threads: those that are due soon are not read with others", JVM, "	join_due(jvms, count, begin_ns);\n", "	(void)join_due;\n", OF_JVM),
    Mutant("threads: whoever had a sample at some time is due", TIMES, "thread->due_ns <= now_ns &&\n\t       now_ns - thread->sampled_ns < LATELY_NS;", "thread->due_ns <= now_ns;", KNOWN),
    Mutant("threads: who is not due is", TIMES, "newest->name && thread->due_ns <= now_ns &&", "newest->name &&", KNOWN),
    Mutant("threads: who is read with others is due twice", TIMES, "\t\tthread->due_ns = UINT64_MAX;\n\t\tret_tids", "\t\tret_tids", KNOWN),
    Mutant("threads: any number is looked at", TIMES, "names->by_tid.len > MOST_JOINED", "0", KNOWN),
    Mutant("threads: names are never confirmed", JVM, "if (!c->looks.items[it->look].same)", "if (1)", OF_JVM),
    Mutant("threads: all names are confirmed", JVM, "if (!c->looks.items[it->look].same)", "if (0)", OF_JVM),
    Mutant("threads: who is not confirmed is forgotten", JVM, "\t\t\tvec_push(&t->again, it->tid);\n", "", OF_JVM),
    Mutant("threads: another JVM's collection", TRAIL, "parts += looks[i].layout != layout;", "parts = 1;", TRAILS),
    Mutant("threads: one part for all JVMs", TRAIL, "if (looks[n].layout != layout) {", "if (!layout) {", TRAILS),
    Mutant("threads: a call has room for any number of JVMs", TRAIL, "batch->part_count + begins <= VM_MEMORY_MAX_PARTS &&", "", TRAILS),
    Mutant("threads: a call brings any number of bytes", TRAIL, "trail->bytes <= sizeof(batch->data) - batch->bytes;", "true;", TRAILS),
    Mutant("parts: what is missing of one is missing of none", MEMORY, "return (size_t)n == bytes ? 0 : -EFAULT;", "return 0;", ["test_vm_memory"]),
    Mutant("parts: the second one's bytes are the first one's", MEMORY, "\t\tdata += bytes;\n\t\tpieces += asked[i].count;\n", "\t\tpieces += asked[i].count;\n", ["test_vm_memory"]),
    Mutant("parts: spans of all are the first one's", MEMORY, "first_span += parts[i].count;", "", ["test_vm_memory"]),
    Mutant("parts: neighbours of two processes are one piece", MEMORY, "if (sweep->count == first ||", "if (!sweep->count ||", ["test_vm_memory"]),
    Mutant("parts: any number in one call", MEMORY, "count <= WALL_MAX_PARTS &&\n\t    spans <= VM_MEMORY_MAX_SPANS", "true", ["test_vm_memory"]),
    Mutant("threads: what moved is taken as it was", READER, "return !r && before != after ? -EAGAIN : r;", "return r;", READ),
    Mutant("threads: while objects move they are read", PAUSE, "if (active)\n\t\treturn -EAGAIN;", "", READ),
    Mutant("threads: there is always a heap", PAUSE, "if (!heap)\n\t\treturn -EAGAIN;", "", READ),
    Mutant("threads: a collection ends it", "userspace/jvm/heap/java_threads.c", "read.result == -EAGAIN && *pauses < MAX_PAUSES", "0", READ),
    Mutant("threads: the object of another one", READER, "if (j->eetop != j->read->at.address)\n\t\treturn -EAGAIN;", "", READ),
    Mutant("threads: it may be another one by the end", READER, "{ add_tid_again, take_object },", "{ add_tid_again, NULL },", ONE),
    Mutant("threads: one's memory is all of theirs", READER, "if (read_batch(l, jobs, reads + i, 1) == -EFAULT)", "if (1)", ONE),
    Mutant("threads: any object is a string", READER,
           "if ((j->klass_word & l->of_string.mask) != l->of_string.value)\n\t\treturn -EAGAIN;", "", READ),
    Mutant("threads: collectors that run beside Java are read", LAYOUT,
           "if (flags.use_z == 1 || flags.use_shenandoah == 1)\n\t\treturn -EOPNOTSUPP;", "", READ),
    Mutant("threads: all have Shenandoah", LAYOUT, "flags.use_shenandoah == 1", "flags.use_shenandoah != -1", READ),
    Mutant("threads: a length is believed", READER, "if (j->len > MAX_STRING_CHARS)\n\t\treturn -EAGAIN;", "", READ),
    Mutant("threads: so many as it says", LIST, "if (count > MAX_THREADS)\n\t\treturn -EBADMSG;", "", READ),
    Mutant("threads: a chain has an end", LIST, "thread && addresses.len < MAX_THREADS && clock_now_ns() < deadline_ns", "thread", ONE),
    Mutant("threads: all names are Latin-1", READER, "l->has_coder && !j->coder ? 1 : 2", "l->has_coder ? 1 : 2", READ),
    Mutant("threads: bytes are counted as chars", READER, "j->len /= j->width;", ";", READ),
    Mutant("names: a renamed thread has its old name", TIMES, "if (until && facts[until - 1].kind == FACT_NAME)", "if (until && facts[0].kind == FACT_NAME && !begins) return &facts[0];\n\tif (0)", KNOWN),
    Mutant("names: a newer name is the one before, too", TIMES, "if (facts[i].kind == FACT_BEGINS || !begins)", "if (0)", KNOWN),
    Mutant("names: what starts has no name yet", TIMES, "begins = until && facts[until - 1].kind == FACT_BEGINS;", "begins = false;", KNOWN),
    Mutant("names: a rename that is told late is nothing", TIMES, "\tsplit(names, thread, time_ns);\n", "", KNOWN),
    Mutant("names: read at the very moment", TIMES, "if (fact->first_end_ns >= time_ns)", "if (0)", KNOWN),
    Mutant("names: what was dropped never was", TIMES, "thread->since_ns = thread->facts.items[0].time_ns;", "", KNOWN),
    Mutant("names: a loss is nothing", TIMES, "\t\tclear(names, thread);\n\t\tthread->since_ns = time_ns;\n", "", KNOWN),
    Mutant("names: a mark does not make it due", TIMES, "\tthread->due_ns = 0;\n\tthread->failures = thread->nameless = 0;\n", "", KNOWN),
    Mutant("names: who has none is read as often", TIMES, "1ULL << MIN(thread->nameless, most)", "1", KNOWN),
    Mutant("names: who attaches itself waits for his", TIMES, "if (runs_java && !thread->runs_java && thread->nameless)", "if (0)", KNOWN),
    Mutant("names: who runs Java code is read ever less often", TIMES, "thread->runs_java ? MAX_NAMELESS_JAVA : MAX_NAMELESS", "MAX_NAMELESS", KNOWN),
    Mutant("names: nobody runs Java code for long", TIMES, "thread->runs_java |= runs_java;", "thread->runs_java = runs_java;", KNOWN),
    Mutant("names: each at a time of its own", TIMES, "return (reading->end_ns / period + turns) * period;", "return reading->end_ns + turns * period;", KNOWN),
    Mutant("names: one that stands is read as often", TIMES, "return steady ? 2 * THREAD_NAMES_AGAIN_NS : THREAD_NAMES_AGAIN_NS;", "return THREAD_NAMES_AGAIN_NS;", KNOWN),
    Mutant("names: each stands", TIMES, "fact->last_ns - fact->time_ns >= STEADY_NS;", "true;", KNOWN),
    Mutant("names: room without an end", TIMES, "if (names->bytes > MAX_BYTES)", "if (0)", KNOWN),
    Mutant("names: each is read again and again", JVM, "case THREAD_KNOWN: break;", "case THREAD_KNOWN: try_names(jvm, &tid, 1, time_ns); break;", OF_JVM),
    Mutant("names: what is due is not read", JVM, "try_names(jvms[i], t->again.items, t->again.len, clock_now_ns());", ";", OF_JVM),
    Mutant("names: a new thread is not looked for", JVM, "if (t->listed_ns >= since_ns)\n\t\treturn false;", "if (t->listed_ns)\n\t\treturn false;", OF_JVM),
    Mutant("names: an old list is no reason to look", JVM, "if (t->listed_ns >= since_ns)\n\t\treturn false;", "", OF_JVM),
    Mutant("names: they take all the time", JVM, "name_time_is_left_of(&jvm->threads.time, &allowance, now_ns) &&", "", OF_JVM),
    Mutant("names: an agent knows of renames", JVM, "if (name || !jvm->store ||", "if (!jvm->store ||", OF_JVM),
    Mutant("names: an agent's word on who was renamed since", JVM, "|| thread_names_was_renamed(&jvm->threads.names, tid, time_ns)", "", OF_JVM),
    Mutant("names: who starts was renamed", TIMES, "== FACT_COMM && !starts)", "== FACT_COMM)", OF_JVM),
    Mutant("names: one that was not read again holds for ever", TIMES, "time_ns > fact->last_end_ns + HOLDS_PERIODS * period_ns(fact) ||\n\t    ", "", KNOWN),
    Mutant("names: one holds for all time before", TIMES, "||\n\t    time_ns + HOLDS_PERIODS * THREAD_NAMES_AGAIN_NS < fact->time_ns", "", KNOWN),
    Mutant("names: read a moment too early", TIMES, "return is_ahead(thread, i) ? NULL : &facts[i];", "return &facts[i];", KNOWN),
    Mutant("names: set again, and none before", TIMES, "fact[1].time_ns - fact->time_ns < MOMENT_NS &&", "", KNOWN),
    Mutant("names: who refuses is asked again", JVM, "if (r == -EOPNOTSUPP)\n\t\tt->refused = r;", "", OF_JVM),
    Mutant("names: nobody tells of renames", BOOKS, "[SIDE_COMM] = jvm_thread_renames,", "", ["test_pipeline_jvms"]),
    Mutant("names: nobody tells of losses", BOOKS, "[SIDE_LOST] = jvm_threads_lose", "", ["test_pipeline_jvms"]),
    Mutant("threads: a field of another type", FIELDS, "is_symbol(s, name, s->name) && is_symbol(s, signature, s->signature)",
           "is_symbol(s, name, s->name)", READ),
    Mutant("threads: fields with values have no more numbers", FIELDS, "if (flags & stream->more[k] &&", "if (0 &&", READ),
    Mutant("threads: half of a pair", NAME, "if (low >= 0xdc00 && low < 0xe000) {", "if (1) {", ["test_java_name"]),
    Mutant("threads: names that steer a terminal", NAME, "if (c < 0x20 || c == 0x7f ||", "if (", ["test_java_name"]),
]
