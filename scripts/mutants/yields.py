# SPDX-License-Identifier: Apache-2.0
"""Of virtual threads that park, or wait: which one it is, what for, where the JVM's code for that is, and what is told of it."""
from .mutant import Mutant

YIELDING = "bpf/hotspot/yielding.h"
VIRTUAL = "bpf/hotspot/virtual.h"
CODE = "userspace/jvm/continuation/jvm_yielding.c"
YIELDS = "userspace/session/probes/virtual_yields.c"
PARKS = "userspace/session/locks/lock_parks.c"
OUTSIDE = "userspace/session/pipeline_outside.c"

PARK = "bpf/sample/locks/park.h"
SUMS = "bpf/sample/offcpu.h"
CAUSE = "userspace/symbolize/waits/wait.c"
APPLY = "userspace/session/pipeline_apply.c"
BOOKS = "userspace/capture/capture_books.c"
LOADED = "userspace/capture/bpf_session.c"
KIND = "userspace/capture/event_kind.c"
OBJECTS = "userspace/session/alloc/alloc_objects.c"
STACK = "userspace/symbolize/symbolizer.c"
WORDS = "userspace/symbolize/words/sample_words.c"
SPANS = "userspace/session/pipeline_spans.c"

WHO = ["test_yielding"]
WAITS = ["test_pipeline_unmounted"]
NAMES = ["test_virtual"]
FOUND = ["test_jvm_yielding"]
JVMS = ["test_lock_parks"]

MUTANTS = [
    Mutant("yields: a late first one is seen when the JVM is twice as old", YIELDS, "yields, MOST_WAIT_NS }", "yields, JVM_WATCH_WAIT_NS }", JVMS),
    Mutant("yields: any object is a virtual thread", YIELDING, "object_klass(&jvm->object, memory, ret->object) == jvm->yielding.klass", "1", WHO),
    Mutant("yields: the first reference alone", YIELDING, "#define YIELDING_REFERENCES 2", "#define YIELDING_REFERENCES 1", WHO),
    Mutant("yields: references are whole", YIELDING, "at += jvm->blocker.oop_bytes;", "at += 8;", WHO),
    Mutant("yields: one without a number", YIELDING, " &&\n\t\t\t       ret->id;", ";", WHO),
    Mutant("yields: a lock without a class", YIELDING, "return ret->klass;", "return true;", WHO),
    Mutant("yields: what is not known is read", YIELDING, "!jvm->yielding.klass || ", "", WHO),
    Mutant("yields: what is known is not believed", VIRTUAL, "wire_u64 at = c->virtual_thread.object;", "wire_u64 at = 0;", NAMES),
    Mutant("yields: the thread has to run it", VIRTUAL, "!c->virtual_thread.object && (!thread", "(!thread", NAMES),
    Mutant("yields: any function is libjvm's", CODE, "target >= s->start && target < s->end", "target", FOUND),
    Mutant("yields: far calls are not known", CODE, "len < FAR_CALL_BYTES || ", "1 || ", FOUND),
    Mutant("yields: a call far behind its arguments", CODE, "#define CALL_WITHIN 48", "#define CALL_WITHIN 128", FOUND),
    Mutant("yields: blobs are walked for nothing", CODE, "if (!may_be_made(vs))\n\t\treturn -EAGAIN;", "", FOUND),
    Mutant("yields: any frame is doYield's", CODE, " || blob->frame_size != YIELD_WORDS", "", FOUND),
    Mutant("yields: JVMs without the code are not asked again", CODE, "if (!freeze.found)\n\t\treturn -EAGAIN;", "if (!freeze.found)\n\t\treturn -EOPNOTSUPP;", FOUND),
    Mutant("yields: a heap that is not read", YIELDS, "if (!r && !parking.yielding.klass)\n\t\tr = -EOPNOTSUPP;", "", JVMS),
    Mutant("yields: nobody says that there are none", YIELDS, "\t\tpid);\n\tyields->unseen.fn(&err, yields->unseen.data);\n", "\t\tpid);\n", JVMS),
    Mutant("yields: JVMs are not asked", PARKS, "\tjvm_watch_poll(&parks->yields.watch, now_ns);\n", "", JVMS),
    Mutant("yields: what has ended is known for ever", PARKS, "\tjvm_watch_forget(&parks->yields.watch, process);\n", "", JVMS),
    Mutant("yields: no figure says that there are none", OUTSIDE, '"lock.virtual-parks-not-seen", err->text', '"lock.parks-not-seen", err->text', ["test_pipeline_locks"]),
    Mutant("yields: what else is in libjvm's variable", CODE, "entry >= start && entry < end ? entry : 0", "entry", FOUND),
    Mutant("yields: monitors are not asked for", YIELDS, "code->preempt ? WIRE_YIELD_PREEMPT + 1 : WIRE_YIELD_PREEMPT", "WIRE_YIELD_PREEMPT", JVMS),
    Mutant("yields: without locks nothing is probed", YIELDS, "if (r >= 0 && yields->wanted.waits)", "if (r >= 0 && yields->wanted.waits && yields->wanted.locks)", JVMS),
    Mutant("yields: parks are probed for waits", PARKS, "\tif (parks->yields.wanted.locks)\n", "", JVMS),
    Mutant("yields: waits alone meet no JVM", OUTSIDE, "!pipeline->samples_locks && !pipeline->samples_waits", "!pipeline->samples_locks", ["test_pipeline_locks"]),
    Mutant("yields: waits are taken for locks", OUTSIDE, "pipeline->sees_locks |= pipeline->samples_locks;", "pipeline->sees_locks = true;", ["test_pipeline_locks"]),
    Mutant("yields: of waits no figure says that there are none", OUTSIDE, '"offcpu.virtual-not-seen", err->text', '"lock.virtual-parks-not-seen", err->text', ["test_pipeline_locks"]),
    Mutant("yields: a level counts from its second doubling", PARK, "return step_ns << (doubled & 31);", "return doubled ? step_ns << (doubled & 31) : 0;", ["test_park"]),
    Mutant("yields: what is owed is not settled", SUMS, "wire_s64 weight = plain + (*owed_ns >> OFFCPU_OWED_SHIFT);", "wire_s64 weight = plain;", ["test_offcpu"]),
    Mutant("yields: the first frame alone says why", CAUSE, "#define LOOKED_AT_UNMOUNTED 20", "#define LOOKED_AT_UNMOUNTED 1", ["test_wait"]),
    Mutant("yields: native frames say why", CAUSE, "looked_at < LOOKED_AT_UNMOUNTED", "i < LOOKED_AT_UNMOUNTED", ["test_wait"]),
    Mutant("yields: who parks waits for a monitor", CAUSE, "unmounted_rows[i].of == of &&\n\t\t    is_method", "is_method", ["test_wait"]),
    Mutant("yields: a wait is told as of its end", APPLY, "sample->unmounted ? MIN(sample->alloc_size, sample->time_ns) : 0", "0", WAITS),
    Mutant("yields: a wait stands for itself", APPLY, " || sample->unmounted ||", " ||", WAITS),
    Mutant("yields: a wait has objects", OBJECTS, " || sample->unmounted", "", WAITS),
    Mutant("yields: a wait has a class", STACK, "!(sample->flags & WIRE_SAMPLE_NATIVE) && !sample->unmounted", "!(sample->flags & WIRE_SAMPLE_NATIVE)", ["test_symbolize_code"]),
    Mutant("yields: the JVM's frames stay", STACK, "\tif (sample->unmounted)\n\t\tallocation_drop_jvm_frames(build, 0);\n", "", ["test_symbolize_code"]),
    Mutant("yields: another sample's frames", WORDS, "(uint64_t)sample->unmounted << 58", "0", ["test_sample_words"]),
    Mutant("yields: who waits for a lock has not come back", BOOKS, "key->use != WIRE_YIELD_OF_WAIT || ", "", ["test_capture_parked"]),
    Mutant("yields: who may be back has not come back", BOOKS, " || yield->was_back", "", ["test_capture_parked"]),
    Mutant("yields: the last ones are not counted", BOOKS, "(r == 0 || errno == ENOENT) && i < count", "r == 0 && i < count", ["test_capture_parked"]),
    Mutant("yields: nobody counts who has not come back", SPANS, '"offcpu.virtual-waiting", "",\n\t\t   u->all.threads - MIN(counted, u->all.threads)', '"offcpu.virtual-waiting", "", 0 * counted', WAITS),
    Mutant("yields: two events share one room", LOADED, "entries = followers * WIRE_YIELDS;", "entries = WIRE_YIELDS;", ["test_bpf_events"]),
    Mutant("yields: native locks follow virtual threads", KIND, "capture_event_has_waits(event) && !event->only_locks", "capture_event_has_waits(event)", ["test_event"]),
]
