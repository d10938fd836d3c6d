# SPDX-License-Identifier: Apache-2.0
"""Of threads that park: how long and how often that is told, for what, and whose JVMs are seen."""
from .mutant import Mutant

PARK = "bpf/sample/locks/park.h"
BLOCKER = "bpf/hotspot/blocker.h"
OWN = "bpf/hotspot/own_thread.h"
PARKING = "userspace/jvm/shown/jvm_parking.c"
LAYOUT = "userspace/jvm/heap/java_thread_layout.c"
PARKS = "userspace/session/locks/lock_parks.c"
WATCH = "userspace/session/probes/jvm_watch.c"
OUTSIDE = "userspace/session/pipeline_outside.c"
CLASS = "userspace/symbolize/allocation.c"
WORDS = "userspace/symbolize/words/sample_words.c"
IDENTITY = "userspace/session/locks/lock_identity.h"

LENGTHS = ["test_park"]
OBJECTS = ["test_blocker"]
READ = ["test_jvm_shown"]
JVMS = ["test_lock_parks"]
PIPELINE = ["test_pipeline_locks"]
STACKS = ["test_symbolize_code"]

MUTANTS = [
    Mutant("parks: an end without a begin", PARK, "!begin_ns || ", "", LENGTHS),
    Mutant("parks: short ones are told", PARK, "length_ns < least_ns || ", "", LENGTHS),
    Mutant("parks: any length", PARK, " || length_ns > LOCK_MOST_NS", "", LENGTHS),
    Mutant("parks: time runs back", PARK, "now_ns > begin_ns ? now_ns - begin_ns : 1", "now_ns - begin_ns", LENGTHS),
    Mutant("parks: all are told", PARK, "return doubled ? step_ns << ((doubled - 1) & 31) : 0;", "return 0;", LENGTHS),
    Mutant("parks: they stand for any number", PARK, "chance < LOCK_MOST_CHANCE ? chance : LOCK_MOST_CHANCE", "chance", LENGTHS),
    Mutant("parks: a handle is an object", BLOCKER, "!(b->has_handle && memory_read(memory, &object, 8, object)) &&", "", OBJECTS),
    Mutant("parks: references are whole", BLOCKER, "b->oop_bytes == 4 ? 4 : 8", "8", OBJECTS),
    Mutant("parks: nothing is an object at the heap's base", BLOCKER, "if (bits && b->oop_bytes == 4)", "if (b->oop_bytes == 4)", OBJECTS),
    Mutant("parks: an object without a class counts", BLOCKER, "return ret->klass;", "return true;", OBJECTS),
    Mutant("parks: what is not known is read", BLOCKER, "if (!jvm->blocker.field ||\n\t    !blocker_read_object", "if (!blocker_read_object", OBJECTS),
    Mutant("parks: another thread's", OWN, " &&\n\t       ret->stack_end - sp < size", "", OBJECTS),
    Mutant("parks: a virtual thread's is its carrier's", PARKING, "\"_vthread\"", "\"_none\"", READ),
    Mutant("parks: a class that says nothing of it", LAYOUT, "if (!r && find(c, klass, \"parkBlocker\", \"Ljava/lang/Object;\", &l->blocker) < 0)\n\t\tl->blocker = 0;", "", READ),
    Mutant("parks: a JVM is probed twice", PARKS, "if (jvm_watch_has(&parks->watch, process))\n\t\treturn 1;", "", JVMS),
    Mutant("parks: the first ones are nobody's", PARKS, "r = capture_set_parking(parks->capture, process->pid, &nothing_known);", "r = 0 * (int)nothing_known.start_ns;", JVMS),
    Mutant("parks: what has no probes is not known", PARKS, "\t/* Who has its monitors", "\tif (r < 0)\n\t\treturn r;\n\t/* Who has its monitors", JVMS),
    Mutant("parks: a JVM that starts is not asked again", WATCH, "!at->is_known && !at->process->exited && now_ns >= at->retry_ns", "0", JVMS),
    Mutant("parks: one that has ended is asked", WATCH, "!at->process->exited && ", "", JVMS),
    Mutant("parks: asked in each turn", WATCH, " && now_ns >= at->retry_ns", "", JVMS),
    Mutant("parks: one that cannot tell is asked for ever", WATCH, "r == 0 || r == -EOPNOTSUPP", "r == 0", JVMS),
    Mutant("parks: an old JVM's end is its pid's next owner's", WATCH, "if (watch->ops.drop && !has_pid(watch, process->pid))", "if (watch->ops.drop)", JVMS),
    Mutant("parks: JVMs are not seen", OUTSIDE, "\tprobe_parks(pipeline, process);\n", "", PIPELINE),
    Mutant("parks: nobody says that there are none", OUTSIDE, '"lock.parks-not-seen", err.text, 1', '"lock.parks-seen", err.text, 1', PIPELINE),
    Mutant("parks: one without them tells when it is met again", OUTSIDE, "else if (r == 0)\n\t\tpipeline->sees_locks", "else\n\t\tpipeline->sees_locks", PIPELINE),
    Mutant("parks: nobody asks", OUTSIDE, "\tlock_parks_poll(&pipeline->parks, clock_now_ns());\n", "", PIPELINE),
    Mutant("parks: what has ended is known for ever", OUTSIDE, "\tlock_parks_forget(&pipeline->parks, process);\n", "", PIPELINE),
    Mutant("parks: nothing is a class", CLASS, "if (sample->alloc_class == WIRE_PARKED_FOR_NOTHING)\n\t\treturn NO_BLOCKER;", "", STACKS),
    Mutant("parks: JVMs have no budget together", PARK, "pace->doubled > all->doubled ? pace->doubled : all->doubled", "pace->doubled", LENGTHS),
    Mutant("parks: a JVM has no budget of its own among others", PARK, "pace->doubled > all->doubled ? pace->doubled : all->doubled", "all->doubled", LENGTHS),
    Mutant("parks: nobody counts those of all", PARK, "WIRE_PARK_JVM);\n\tthin_count_of(all, now_ns, most);\n", "WIRE_PARK_JVM);\n", LENGTHS),
    Mutant("parks: nobody counts one's own among all", PARK, "\tthin_count_of(pace, now_ns, WIRE_PARK_JVM);\n\tthin_count_of", "\tthin_count_of", LENGTHS),
    Mutant("parks: nobody counts those that an agent has chosen", PARK, "\tif (chance)\n\t\tthin_count_of(pace, now_ns, most);\n", "", LENGTHS),
    Mutant("parks: of what an agent has chosen all is told", PARK, "park_draw(length_ns, pace->doubled, random)", "1", LENGTHS),
    Mutant("parks: an agent's class is an address", CLASS, "if (!wire_sample_has_klass(sample))\n\t\treturn jvm_class_name(jvm, sample->alloc_class);", "", STACKS),
    Mutant("parks: one number is one class", WORDS, "rest ^= (uint64_t)wire_sample_has_klass(sample) << 59;", "", STACKS),
    Mutant("parks: where an object lies is lost", IDENTITY, "sample->alloc_object >> 3", "0", ["test_pipeline_waits"]),
]
