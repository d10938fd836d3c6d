# SPDX-License-Identifier: Apache-2.0
"""Of allocations seen from outside: what a call of AllocTracer stands for, where it is, the class's name."""
from .mutant import Mutant

TLAB = "bpf/sample/tlab.h"
THIN = "bpf/sample/thin.h"
BETWEEN = "bpf/sample/between.h"
TRACER = "userspace/jvm/layout/alloc_tracer.c"
KLASS = "userspace/jvm/names/klass_names.c"

OUTSIDE = "userspace/session/pipeline_outside.c"

IN_TLAB = ["test_tlab"]
IN_BETWEEN = ["test_between"]
IN_TRACER = ["test_alloc_tracer"]
IN_KLASS = ["test_klass_names"]
OPENED = "userspace/session/alloc/alloc_outside.c"
IN_OPENED = ["test_alloc_outside"]
IN_JVMS = ["test_pipeline_jvms"]

MUTANTS = [
    Mutant("each allocation stands for itself", TLAB, "!now->emptied && size <= book->room", "0", IN_TLAB),
    Mutant("the first object of a TLAB crosses", TLAB, "!now->emptied && size <= book->room", "size <= book->room", IN_TLAB),
    Mutant("a large object crosses", TLAB, "!now->emptied && size <= book->room", "!now->emptied", IN_TLAB),
    Mutant("what reaches beyond is the object's own", TLAB, "book->beyond >> TLAB_BEYOND_SHIFT", "book->beyond", IN_TLAB),
    Mutant("bytes before a collection are nobody's", TLAB, "book->waiting[tlab_pot(book->room)] += unseen;", ";", IN_TLAB),
    Mutant("bytes that wait go to any object", TLAB, "if (size > least || (", "if ((", IN_TLAB),
    Mutant("bytes that wait go to any room", TLAB, "(least > book->room && !book->full)", "0", IN_TLAB),
    Mutant("bytes that wait are given twice", TLAB, "continue;\n\t\ttaken += book->waiting[i];\n\t\tbook->waiting[i] = 0;",
           "continue;\n\t\ttaken += book->waiting[i];", IN_TLAB),
    Mutant("a slow thread's bytes wait for ever", TLAB, "if (now->emptied)\n\t\t\t\tweight = tlab_first(book, size);", "", IN_TLAB),
    Mutant("nothing waits for a crossing", TLAB, "++book->collections <= TLAB_PATIENCE", "0", IN_TLAB),
    Mutant("a first object stands for all, whatever its size", TLAB, "book->firsts_bytes += size;", "book->firsts_bytes += 1000;", IN_TLAB),
    Mutant("objects between: the plain chance", BETWEEN, "if (passed >= reach ||", "if (1 ||", IN_BETWEEN),
    Mutant("objects between: the sampler is believed", BETWEEN, "book->bytes += passed < BETWEEN_MAX_STEP ? passed : weight;",
           "book->bytes += weight;", IN_BETWEEN),
    Mutant("objects between: a count that goes back is believed", BETWEEN, "passed < BETWEEN_MAX_STEP ? passed : weight", "passed", IN_BETWEEN),
    Mutant("objects between: they stand for what was told", BETWEEN, "book->told += size;", ";", IN_BETWEEN),
    Mutant("objects between: nothing waits beside an outside one", BETWEEN, "book->beside = fresh ? 0 : allocated;", "book->beside = 0;", IN_BETWEEN),
    Mutant("objects between: a new TLAB is beside an outside one", BETWEEN, "fresh ? 0 : allocated", "allocated", IN_BETWEEN),
    Mutant("objects between: what waits goes to any size", BETWEEN, "if (size > 1ULL << (TLAB_LEAST_POT_SHIFT + i))", "if (0)", IN_BETWEEN),
    Mutant("objects between: what waits is given twice", BETWEEN, "book->waiting[i] = 0;", ";", IN_BETWEEN),
    Mutant("objects between: nobody looks at the thread of an outside one", BETWEEN, "return !fresh || book->beside", "return book->beside", IN_BETWEEN),
    Mutant("objects between: nor after it", BETWEEN, "return !fresh || book->beside || reaches", "return !fresh || reaches", IN_BETWEEN),
    Mutant("objects between: nor in 11", BETWEEN, "book->beside || reaches;", "book->beside;", IN_BETWEEN),
    Mutant("objects between: told of twice", BETWEEN, "if (book->top != top)", "if (1)", IN_BETWEEN),
    Mutant("objects between: none is the agent's", BETWEEN, "if (book->top != top)", "if (0)", IN_BETWEEN),
    Mutant("the room is that of a whole TLAB", TLAB, "book->room = now->room;", "book->room = now->desired;", IN_TLAB),
    Mutant("counts that go back are believed", TLAB, "book->known && unseen < TLAB_MAX_STEP", "book->known", IN_TLAB),
    Mutant("a thread that ran before has no past", TLAB, "if (!book->known && !now->emptied && size < now->desired)", "if (0)", IN_TLAB),
    Mutant("twice as many are kept", THIN, "random * of < share << 32", "random * of < share << 33", IN_TLAB),
    Mutant("what is kept stands for itself", THIN, "? interval : 0;", "? weight : 0;", IN_TLAB),
    Mutant("the interval never doubles", THIN, "pace->doubled++;", ";", IN_TLAB),
    Mutant("the interval stays doubled", THIN, "pace->doubled--;", ";", IN_TLAB),
    Mutant("a probe on endbr64", TRACER, "0 : sizeof(endbr64)", "0 : 0", IN_TRACER),
    Mutant("a probe behind any four bytes", TRACER, "memcmp(bytes, endbr64, sizeof(bytes)) ? 0", "0 ? 0", IN_TRACER),
    Mutant("an old JDK 8 is probed", TRACER, "if (search.old) {", "if (0) {", IN_TRACER),
    Mutant("a class that was unloaded keeps its Klass", KLASS, "if (entry && is_yet(names, klass, entry)) {", "if (entry) {", IN_KLASS),
    Mutant("each of many samples reads its class", KLASS, "if (!entry || time_ns >= entry->read_ns + CONFIRM_NS)", "if (1)", IN_KLASS),
    Mutant("a class is never looked at again", KLASS, "if (!entry || time_ns >= entry->read_ns + CONFIRM_NS)", "if (!entry)", IN_KLASS),
    Mutant("another Symbol at the same place is the class", KLASS, "WIRE_CLASS_IDENTITY(address, word, l->symbol_mask) == entry->symbol.identity", "1 || l", IN_KLASS),
    Mutant("a JVM that starts is given up", OUTSIDE, "if (r == -EAGAIN)", "if (0)", IN_JVMS),
    Mutant("nobody hears of a libjvm without symbols", OUTSIDE, "pipeline->unseen(process->pid, why);", ";", IN_JVMS),
    Mutant("what cannot be seen is a source", OUTSIDE, "	else\n		pipeline->alloc_sources++;", "	pipeline->alloc_sources++;", IN_JVMS),
    Mutant("an agent and AllocTracer both", OUTSIDE, "pipeline->samples_allocations && !agents_has_failed(pipeline->agents, process)", "0", IN_JVMS),
    Mutant("11's sampler is as 17's", OPENED, "tlab.reaches = jvm_feature_release(jvm) < SAMPLES_ANEW;", "", IN_OPENED),
    Mutant("beside an agent as alone", OPENED, "tlab.agent = beside_agent;", "", IN_OPENED),
    Mutant("JDK 25's sampler is mended", OPENED, "feature && feature < SAMPLES_BY_COUNT", "feature != 0", IN_OPENED),
    Mutant("a JVM that is not known is mended", OPENED, "feature && feature < SAMPLES_BY_COUNT", "feature < SAMPLES_BY_COUNT", IN_OPENED),
    Mutant("the living are not all the agent's", OUTSIDE, "pipeline->live_mode != LIVE_OFF || ", "", IN_JVMS),
    Mutant("a sampler that is right is mended", OUTSIDE, " || !alloc_outside_mends(jvm))", ")", IN_JVMS),
    Mutant("an agent's JVM is seen from outside for ever", OUTSIDE, "target->seen || target->beside;", "target->seen;", IN_JVMS),
    Mutant("an old JVM's end is its pid's next owner's", OUTSIDE, "was_seen && !has_pid_seen(pipeline, process->pid)", "was_seen", IN_JVMS),
    Mutant("probes are opened twice", OUTSIDE, "pipeline->outside_interval && !find(pipeline, process);", "pipeline->outside_interval != 0;", IN_JVMS),
    Mutant("a JVM has an agent's probe beside AllocTracer's", OUTSIDE,
           "!pipeline->samples_allocations || pipeline_outside_sees(pipeline, process)", "!pipeline->samples_allocations", IN_JVMS),
    Mutant("a JVM that is moved into the cgroup is never seen", OUTSIDE, "vec_push(&pipeline->strangers, process);", ";", IN_JVMS),
    Mutant("JVMs of other cgroups are asked about in each turn", OUTSIDE, "now_ns - pipeline->strangers_ns < STRANGERS_NS", "0", IN_JVMS),
    Mutant("a JVM that has gone is asked about", OUTSIDE, "	forget_stranger(pipeline, process);\n	lock_parks_forget", "	lock_parks_forget", IN_JVMS),
    Mutant("an unwanted JVM stays unwanted", "userspace/jvm/attach/agents.c", "agent->wanted |= wanted;", "(void)agent;", ["test_agents"]),
]
