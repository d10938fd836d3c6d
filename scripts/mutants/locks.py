# SPDX-License-Identifier: Apache-2.0
"""Of waits for locks: what the agent measures and tells, what is believed of it, and the file."""
from .mutant import Mutant

LOCKS = "jvmagent/locks.c"
AGENT = "jvmagent/agent.c"
STEP = "bpf/sample/lock.h"
EVENT = "userspace/capture/event.c"
APPLY = "userspace/session/pipeline_apply.c"
OUTSIDE = "userspace/session/pipeline_outside.c"
BEGINS = "userspace/recording/write_events.c"
WRITE = "userspace/recording/samples/write_jvm.c"
READ = "userspace/recording/samples/read_jvm.c"

TOLD = ["test_agent_locks"]
RUN = ["test_pipeline_waits"]
FILE = ["test_recording_waits"]

MUTANTS = [
    Mutant("locks: an end tells of any begin", LOCKS, "if ((stamp & 1) != (uint64_t)kind ||\n\t    begin_ns <", "if (begin_ns <", TOLD),
    Mutant("locks: a begin of an earlier run", LOCKS, " ||\n\t    begin_ns < __atomic_load_n(&a->locks.begun_ns, __ATOMIC_RELAXED))", ")", TOLD),
    Mutant("locks: a begin is taken twice", LOCKS, "(*a->jvmti)->SetThreadLocalStorage(a->jvmti, NULL, NULL);", "", TOLD),
    Mutant("locks: short ones are told", LOCKS, "if (length_ns < __atomic_load_n(&a->locks.least_ns, __ATOMIC_RELAXED))\n\t\treturn;", "", TOLD),
    Mutant("locks: a replay ends waits", LOCKS, "if (a->events_on & CODEMAP_WANT_LOCKS)\n\t\treturn;", "", TOLD),
    Mutant("locks: all are told that are drawn from", LOCKS, "if (chance > 1 && draw(now_ns, jni) % chance)\n\t\treturn;", "", TOLD),
    Mutant("locks: none stands for others", LOCKS, "tell(a, jni, object, length_ns, chance, kind);", "tell(a, jni, object, length_ns, 1, kind);", TOLD),
    Mutant("locks: no budget", LOCKS, "level_ns = level_ns ? 2 * level_ns : LOCKS_LEAST_LEVEL_NS;", ";", TOLD),
    Mutant("locks: the level never falls", LOCKS, "level_ns = level_ns / 2;", ";", TOLD),
    Mutant("locks: references to classes stay", LOCKS, "(*jni)->DeleteLocalRef(jni, class);", "", TOLD),
    Mutant("locks: the capability is kept", LOCKS, "if (!on)\n\t\tswitch_capability(a, false);", "", TOLD),
    Mutant("locks: events without the capability", LOCKS, "if (on && !switch_capability(a, true))\n\t\treturn false;", "", TOLD),
    Mutant("locks: they end with the classes of allocations", AGENT, "#define NAMES_CLASSES (CODEMAP_WANT_ALLOC | CODEMAP_WANT_LOCKS)",
           "#define NAMES_CLASSES CODEMAP_WANT_LOCKS", TOLD),
    Mutant("locks: any length is believed", STEP, "call->length_ns <= LOCK_MOST_NS &&", "1 &&", ["test_lock"]),
    Mutant("locks: a length of nothing is believed", STEP, "return call->length_ns && ", "return ", ["test_lock"]),
    Mutant("locks: any chance is believed", STEP, "call->chance <= LOCK_MOST_CHANCE &&", "1 &&", ["test_lock"]),
    Mutant("locks: an enter is a wait", STEP, "return WIRE_CAUSE_MONITOR_ENTER;", "return WIRE_CAUSE_OBJECT_WAIT;", ["test_lock"]),
    Mutant("locks: as short as those of offcpu", EVENT, "WIRE_TRIGGER_LOCK_AGENT, CAPTURE_LOCK_LEAST_NS }", "WIRE_TRIGGER_LOCK_AGENT, CAPTURE_OFFCPU_LEAST_NS }", ["test_event"]),
    Mutant("locks: they are objects", APPLY, "else if (!is_lock && !is_safepoint && !is_compilation)", "else", RUN),
    Mutant("locks: objects of a wait", "userspace/session/alloc/alloc_objects.c", " || sample->flags & WIRE_SAMPLE_LOCK", "", ["test_alloc_objects"]),
    Mutant("locks: their chance is lost", APPLY, "row.chance = (uint32_t)sample->alloc_interval;", "", RUN),
    Mutant("locks: who they are is lost", APPLY, "row.identity = lock_identity(sample);", "", RUN),
    Mutant("locks: a JVM without them is said to tell", OUTSIDE, "\"lock.not-seen\", err.text, 1);\n\telse\n", "\"lock.not-seen\", err.text, 1);\n", ["test_pipeline_locks"]),
    Mutant("locks: a file has ends in the place of begins", BEGINS, "return s->time_ns - MIN(length_ns, s->time_ns);", "return s->time_ns;", FILE),
    Mutant("locks: a file has weights for lengths", WRITE, "at = jfr_varint(at, s->weight / chance);\n\tat = jfr_varint(at, jfr_thread_key(pools, s->thread));\n\tat = jfr_varint(at, jfr_key", "at = jfr_varint(at, s->weight);\n\tat = jfr_varint(at, jfr_thread_key(pools, s->thread));\n\tat = jfr_varint(at, jfr_key", FILE),
    Mutant("locks: waits are enters", WRITE, "return JFR_MONITOR_WAIT;", "return JFR_MONITOR_ENTER;", FILE),
    Mutant("locks: parks are enters", WRITE, "JFR_MONITOR_ENTER : JFR_THREAD_PARK;", "JFR_MONITOR_ENTER : JFR_MONITOR_ENTER;", FILE),
    Mutant("locks: a length is read as a weight", READ, "s.weight *= chance;", "", FILE),
    Mutant("locks: a begin is read as a time", READ, "s.time_ns += s.weight;\n\ts.weight *= chance;", "", FILE),
]
