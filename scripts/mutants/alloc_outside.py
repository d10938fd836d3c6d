# SPDX-License-Identifier: Apache-2.0
"""Of allocations seen from outside: what a call of AllocTracer stands for, where it is, the class's name."""
from .mutant import Mutant

TLAB = "bpf/sample/tlab.h"
THIN = "bpf/sample/thin.h"
TRACER = "userspace/jvm/layout/alloc_tracer.c"
KLASS = "userspace/jvm/names/klass_names.c"

OUTSIDE = "userspace/session/pipeline_outside.c"

IN_TLAB = ["test_tlab"]
IN_TRACER = ["test_alloc_tracer"]
IN_KLASS = ["test_klass_names"]
IN_JVMS = ["test_pipeline_jvms"]

MUTANTS = [
    Mutant("each allocation stands for itself", TLAB, "!now->emptied && size <= book->room", "0", IN_TLAB),
    Mutant("the first object of a TLAB crosses", TLAB, "!now->emptied && size <= book->room", "size <= book->room", IN_TLAB),
    Mutant("a large object crosses", TLAB, "!now->emptied && size <= book->room", "!now->emptied", IN_TLAB),
    Mutant("what reaches beyond is the object's own", TLAB, "book->beyond >> TLAB_BEYOND_SHIFT", "book->beyond", IN_TLAB),
    Mutant("bytes before a collection are nobody's", TLAB, "book->waiting[tlab_pot(book->room)] += unseen;", ";", IN_TLAB),
    Mutant("bytes that wait go to any object", TLAB, "if (size > least || (", "if ((", IN_TLAB),
    Mutant("bytes that wait go to any room", TLAB, "(least > book->room && !book->full)", "0", IN_TLAB),
    Mutant("bytes that wait are given twice", TLAB, "book->waiting[i] = 0;", ";", IN_TLAB),
    Mutant("the room is that of a whole TLAB", TLAB, "book->room = now->room;", "book->room = now->desired;", IN_TLAB),
    Mutant("counts that go back are believed", TLAB, "book->known && unseen < TLAB_MAX_STEP", "book->known", IN_TLAB),
    Mutant("a thread that ran before has no past", TLAB, "if (!book->known && !now->emptied && size < now->desired)", "if (0)", IN_TLAB),
    Mutant("twice as many are kept", THIN, "random * of < share << 32", "random * of < share << 33", IN_TLAB),
    Mutant("what is kept stands for itself", THIN, "? interval : 0;", "? weight : 0;", IN_TLAB),
    Mutant("the interval never doubles", THIN, "jvm->doubled++;", ";", IN_TLAB),
    Mutant("the interval stays doubled", THIN, "jvm->doubled--;", ";", IN_TLAB),
    Mutant("a probe on endbr64", TRACER, "0 : sizeof(endbr64)", "0 : 0", IN_TRACER),
    Mutant("a probe behind any four bytes", TRACER, "memcmp(bytes, endbr64, sizeof(bytes)) ? 0", "0 ? 0", IN_TRACER),
    Mutant("an old JDK 8 is probed", TRACER, "if (search.old) {", "if (0) {", IN_TRACER),
    Mutant("a class that was unloaded keeps its Klass", KLASS, "!entry || entry->identity != symbol.identity", "!entry", IN_KLASS),
    Mutant("a JVM that starts is given up", OUTSIDE, "if (r == -EAGAIN)", "if (0)", IN_JVMS),
    Mutant("nobody hears of a libjvm without symbols", OUTSIDE, "pipeline->unseen(process->pid, why);", ";", IN_JVMS),
    Mutant("what cannot be seen is a source", OUTSIDE, "	else\n		pipeline->alloc_sources++;", "	pipeline->alloc_sources++;", IN_JVMS),
    Mutant("an agent and AllocTracer both", OUTSIDE, "pipeline->samples_allocations && !agents_has_failed(pipeline->agents, process)", "0", IN_JVMS),
    Mutant("probes are opened twice", OUTSIDE, "pipeline->outside_interval && !find(pipeline, process);", "pipeline->outside_interval != 0;", IN_JVMS),
    Mutant("a JVM has an agent's probe beside AllocTracer's", "userspace/session/pipeline.c",
           "!pipeline->samples_allocations || pipeline_outside_sees(pipeline, process)", "!pipeline->samples_allocations", IN_JVMS),
    Mutant("a JVM that is moved into the cgroup is never seen", OUTSIDE, "vec_push(&pipeline->strangers, process);", ";", IN_JVMS),
    Mutant("JVMs of other cgroups are asked about in each turn", OUTSIDE, "now_ns - pipeline->strangers_ns < STRANGERS_NS", "0", IN_JVMS),
    Mutant("a JVM that has gone is asked about", OUTSIDE, "	forget_stranger(pipeline, process);\n	if (!target)", "	if (!target)", IN_JVMS),
    Mutant("an unwanted JVM stays unwanted", "userspace/jvm/attach/agents.c", "agent->wanted |= wanted;", "(void)agent;", ["test_agents"]),
]
