# SPDX-License-Identifier: Apache-2.0
"""Of waits for locks: what the agent measures and tells, what is believed of it, and the file."""
from .mutant import Mutant

LOCKS = "jvmagent/locks.c"
AGENT = "jvmagent/agent.c"
STEP = "bpf/sample/locks/lock.h"
EVENT = "userspace/capture/event.c"
APPLY = "userspace/session/pipeline_apply.c"
OUTSIDE = "userspace/session/pipeline_outside.c"
BEGINS = "userspace/recording/write_events.c"
WRITE = "userspace/recording/samples/write_jvm.c"
READ = "userspace/recording/samples/read_jvm.c"

OWNER = "bpf/hotspot/lock_owner.h"
FIND = "userspace/jvm/shown/lock_owner_find.c"
TABLE = "userspace/session/locks/lock_owners.c"
GLUE = "userspace/session/pipeline_locks.c"

TOLD = ["test_agent_locks"]
OWNED = ["test_lock_owner"]
FOUND = ["test_lock_owner_find"]
KEPT = ["test_lock_owners"]
JVM = "userspace/jvm/jvm_owners.c"
NUMBERED = ["test_jvm_owners"]
RUN = ["test_pipeline_waits"]
FILE = ["test_recording_waits"]

MUTANTS = [
    Mutant("locks: an end tells of any begin", LOCKS, "if ((stamp & 1) != (uint64_t)kind ||\n\t    begin_ns <", "if (begin_ns <", TOLD),
    Mutant("locks: a begin of an earlier run", LOCKS, " ||\n\t    begin_ns < __atomic_load_n(&a->locks.begun_ns, __ATOMIC_RELAXED))", ")", TOLD),
    Mutant("locks: a begin is taken twice", LOCKS, "(*a->jvmti)->SetThreadLocalStorage(a->jvmti, NULL, NULL);", "", TOLD),
    Mutant("locks: short ones are told", LOCKS, "if (wait.length_ns < __atomic_load_n(&a->locks.least_ns, __ATOMIC_RELAXED))\n\t\treturn;", "", TOLD),
    Mutant("locks: a replay ends waits", LOCKS, "if (a->events_on & CODEMAP_WANT_LOCKS)\n\t\treturn;", "", TOLD),
    Mutant("locks: all are told that are drawn from", LOCKS, "if (wait.chance > 1 && draw(now_ns, jni) % wait.chance)\n\t\treturn;", "", TOLD),
    Mutant("locks: none stands for others", LOCKS, "tell(a, jni, object, &wait);", "wait.chance = 1;\n\ttell(a, jni, object, &wait);", TOLD),
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
    Mutant("locks: as short as those of offcpu", EVENT, "WIRE_TRIGGER_LOCK_AGENT, CAPTURE_LOCK_LEAST_NS,", "WIRE_TRIGGER_LOCK_AGENT, CAPTURE_OFFCPU_LEAST_NS,", ["test_event"]),
    Mutant("locks: they are objects", APPLY, "else if (!is_lock && !is_safepoint && !is_compilation &&", "else if (", RUN),
    Mutant("locks: objects of a wait", "userspace/session/alloc/alloc_objects.c", " || sample->flags & WIRE_SAMPLE_LOCK", "", ["test_alloc_objects"]),
    Mutant("locks: their chance is lost", APPLY, "sample->flags & WIRE_SAMPLE_LOCK || sample->unmounted", "sample->unmounted", RUN),
    Mutant("locks: who they are is lost", APPLY, "row.identity = lock_identity(sample);", "", RUN),
    Mutant("locks: a JVM without them is said to tell", OUTSIDE, "\"lock.not-seen\", err.text, 1);\n\telse\n", "\"lock.not-seen\", err.text, 1);\n", ["test_pipeline_locks"]),
    Mutant("locks: a file has ends in the place of begins", BEGINS, "return s->time_ns - MIN(length_ns, s->time_ns);", "return s->time_ns;", FILE),
    Mutant("locks: a file has weights for lengths", WRITE, "at = jfr_varint(at, s->weight / chance);\n\tat = jfr_varint(at, jfr_thread_key(pools, s->thread));\n\tat = jfr_varint(at, jfr_key", "at = jfr_varint(at, s->weight);\n\tat = jfr_varint(at, jfr_thread_key(pools, s->thread));\n\tat = jfr_varint(at, jfr_key", FILE),
    Mutant("locks: waits are enters", WRITE, "return JFR_MONITOR_WAIT;", "return JFR_MONITOR_ENTER;", FILE),
    Mutant("locks: parks are enters", WRITE, "JFR_MONITOR_ENTER : JFR_THREAD_PARK;", "JFR_MONITOR_ENTER : JFR_MONITOR_ENTER;", FILE),
    Mutant("locks: a length is read as a weight", READ, "s.weight *= chance;", "", FILE),
    Mutant("owners: begins of waits are told, too", LOCKS, "if (kind == LOCKS_ENTER)\n\t\thostprof_lock_begin(now_ns);", "hostprof_lock_begin(now_ns);", TOLD),
    Mutant("owners: ends name no begin", LOCKS, "wait->kind,\n\t\t      wait->begin_ns);", "wait->kind,\n\t\t      0);", TOLD),
    Mutant("owners: any object is a thread", OWNER, " || first != own_first ||", " ||", OWNED),
    Mutant("owners: who has no tid yet is one", OWNER, "return tid ? WIRE_OWNER(TID, tid) : 0;", "return WIRE_OWNER(TID, tid);", OWNED),
    Mutant("owners: 1 is nobody that tells", OWNER, "o->is_anonymous && owner == WIRE_MONITOR_ANONYMOUS", "owner == WIRE_MONITOR_ANONYMOUS", OWNED),
    Mutant("owners: a number is an address", OWNER, "if (o->has_ids)\n\t\treturn WIRE_OWNER(NUMBER, owner);\n", "", OWNED),
    Mutant("owners: all that is parked for is a lock", OWNER, "\n\t       super == o->synchronizer;", "\n\t       (super | 1);", OWNED),
    Mutant("owners: a thread waits for itself", OWNER, "java_thread == blocker->thread\n\t\t\t       ? 0\n\t\t\t       : lock_owner", "lock_owner", OWNED),
    Mutant("owners: a virtual one is none", OWNER, "return number ? WIRE_OWNER(VIRTUAL, number) : 0;", "return 0 * number;", OWNED),
    Mutant("owners: a stack has no begin", FIND, "look->first - s->wanted - 1 < look->second", "look->first > s->wanted", FOUND),
    Mutant("owners: what lies above a lock stack counts", FIND, "i < LOCK_STACK_SLOTS && i < count;", "i < LOCK_STACK_SLOTS + 0 * count;", FOUND),
    Mutant("owners: who has given it back has it", FIND, "return owner == WIRE_MONITOR_ANONYMOUS && now == object ? 0 : -ESTALE;", "return now == object ? 0 : -ESTALE;", FOUND),
    Mutant("owners: a carrier has what its virtual thread has", FIND, "return current && current != read_handle(s, thread, \"_threadObj\");", "return !current;", FOUND),
    Mutant("owners: one that ended ends the search", FIND, "return r == -EFAULT ? 0 : r;", "return r;", FOUND),
    Mutant("owners: one answer for all waits", TABLE, "if (wait->begin_ns != begin_ns || wait->tid != tid)", "if (wait->tid != tid)", KEPT),
    Mutant("owners: one answer for all threads", TABLE, "if (wait->begin_ns != begin_ns || wait->tid != tid)", "if (wait->begin_ns != begin_ns)", KEPT),
    Mutant("owners: an answer twice", TABLE, "\t\twait->begin_ns = 0;\n", "", KEPT),
    Mutant("owners: one is known at a time", TABLE, "owners->waits[owners->next++ % LOCK_OWNERS_MOST]", "owners->waits[0 * owners->next++]", KEPT),
    Mutant("owners: what is not known takes a place", TABLE, "\tif (owner)\n", "", KEPT),
    Mutant("owners: nobody's name is one", GLUE, "if (!name || !*name)\n\t\treturn 0;\n", "name = name ? name : \"\";\n", ["test_pipeline_locks"]),
    Mutant("owners: names are not read", GLUE, "jvm_note_thread(jvm, tid_of(owner), true, sample->time_ns);", ";", ["test_pipeline_locks"]),
    Mutant("owners: those that do not tell are asked late", GLUE, "owner = lock_owners_take(&pipeline->owners, sample->tid,\n\t\t\t\t\t owner & WIRE_OWNER_VALUE_MASK);", "owner = 0;", ["test_pipeline_locks"]),
    Mutant("owners: lost in the file", WRITE, "return s->owner ? jfr_thread_key(pools, s->owner - 1) : 0;", "return 0 * jfr_thread_key(pools, s->thread);", FILE),
    Mutant("owners: always shown", READ, "if (s->owner && reader->options->lock_owners)", "if (s->owner)", FILE),
    Mutant("owners: keep samples apart", READ, "\ts->owner = 0;\n", "", FILE),
    Mutant("locks: a begin is read as a time", READ, "s.time_ns += s.weight;\n\ts.weight *= chance;", "", FILE),
    Mutant("locks: all threads are looked at for a number", JVM, " && clock_now_ns() < until_ns", "", NUMBERED),
    Mutant("locks: to look for a number takes none of the JVM's time", JVM, "\tthread = thread_of(jvm, found.tid, until_ns);\n\tname_time_take(&jvm->owner_time, clock_now_ns() - begin_ns);", "\tname_time_take(&jvm->owner_time, clock_now_ns() - begin_ns);\n\tthread = thread_of(jvm, found.tid, until_ns);", NUMBERED),
    Mutant("locks: a number of the namespace is the host's", JVM, "return jvm->same_tids ? ns_tid :", "return ns_tid ? ns_tid :", NUMBERED),
]
