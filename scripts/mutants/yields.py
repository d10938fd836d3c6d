# SPDX-License-Identifier: Apache-2.0
"""Of virtual threads that park: which one it is, what it parks for, and where the JVM's code for that is."""
from .mutant import Mutant

YIELDING = "bpf/hotspot/yielding.h"
VIRTUAL = "bpf/hotspot/virtual.h"
CODE = "userspace/jvm/continuation/jvm_yielding.c"
YIELDS = "userspace/session/locks/lock_yields.c"
PARKS = "userspace/session/locks/lock_parks.c"
OUTSIDE = "userspace/session/pipeline_outside.c"

WHO = ["test_yielding"]
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
    Mutant("yields: no figure says that there are none", OUTSIDE, '"lock.virtual-parks-not-seen", err->text, 1', '"lock.parks-not-seen", err->text, 1', ["test_pipeline_locks"]),
]
