# SPDX-License-Identifier: Apache-2.0
"""Of the names of virtual threads, which are read with the sample."""
from .mutant import Mutant

READ = "bpf/hotspot/virtual.h"
LAYOUT = "userspace/jvm/continuation/jvm_virtual.c"
CLASSES = "userspace/jvm/continuation/jvm_classes.c"
CHECK = "userspace/capture/rings/sample_check.c"
WORDS = "userspace/symbolize/words/sample_words.c"
NAMES = "userspace/symbolize/symbolizer.c"

STEPS = ["test_virtual"]
TOLD = ["test_jvm_virtual"]
CHECKED = ["test_sample_check"]
NAMED = ["test_symbolize_virtual"]

MUTANTS = [
    Mutant("virtual: while objects move they are read", READ, "c->jvm.virtuals.pause_active) && !active &&", "c->jvm.virtuals.pause_active) &&", STEPS),
    Mutant("virtual: what moved is taken as it was", READ, "if (virtual_heap_rests(c, memory, &after) && after == before)\n\t\treturn;",
           "if (virtual_heap_rests(c, memory, &after))\n\t\treturn;", STEPS),
    Mutant("virtual: objects may begin to move", READ, "if (virtual_heap_rests(c, memory, &after) && after == before)\n\t\treturn;",
           "after = before;\n\tif (!memory_read(memory, &after, 4, c->jvm.virtuals.pause_count) && after == before)\n\t\treturn;", STEPS),
    Mutant("virtual: its number stays, its name goes", READ, "\tc->virtual_thread.id = 0;\n\tc->virtual_thread.name_bytes = 0;\n}\n\n/* Into", "\tc->virtual_thread.name_bytes = 0;\n}\n\n/* Into", STEPS),
    Mutant("virtual: another one's stack", READ, "base - c->leaf_sp < size;", "size;", STEPS),
    Mutant("virtual: without a continuation", READ, "thread + c->jvm.thread_cont_entry) && entry &&", "thread + c->jvm.thread_cont_entry) &&", STEPS),
    Mutant("virtual: carriers are virtual", READ, "return (word & c->jvm.chunks.klass_mask) == klass;", "return word | klass;", STEPS),
    Mutant("virtual: an object that was moved", READ, "(mark & VIRTUAL_MARK_MASK) == VIRTUAL_MARK_MOVED ||", "", STEPS),
    Mutant("virtual: one that is locked was moved", READ, "(mark & VIRTUAL_MARK_MASK) == VIRTUAL_MARK_MOVED", "(mark & VIRTUAL_MARK_MASK) != 1", STEPS),
    Mutant("virtual: whole references are narrow", READ, "c->jvm.chunks.oop_bytes == 4 ? 4 : 8", "4", STEPS),
    Mutant("virtual: any length is a String's", READ, "|| !len ||\n\t    len > VIRTUAL_MAX_STRING)", "|| !len)", STEPS),
    Mutant("virtual: all names are Latin-1", READ, "t->name_width = coder ? 2 : 1;", "t->name_width = 1;", STEPS),
    Mutant("virtual: long names are none", READ, "if (len > WIRE_NAME_BYTES)\n\t\tlen = WIRE_NAME_BYTES;", "if (len > WIRE_NAME_BYTES)\n\t\treturn;", STEPS),
    Mutant("virtual: what the JVM does not tell is read", READ, "!c->jvm.virtuals.id || !c->jvm.enter_return ||", "!c->jvm.enter_return ||", STEPS),
    Mutant("virtual: a class whose name is as long", CLASSES, "== 0 &&\n\t       !memcmp(text, name, len);", "== 0;", TOLD),
    Mutant("virtual: without chunks nobody knows how references are", LAYOUT, "if (!layout->wire.chunks.klass_mask)\n\t\treturn -EOPNOTSUPP;", "", TOLD),
    Mutant("virtual: what is not told lies at 0", "userspace/jvm/layout/vmstructs.c", "offset > JVM_LAYOUT_MAX_STRUCT)\n\t\treturn -EOPNOTSUPP;", "offset > JVM_LAYOUT_MAX_STRUCT)\n\t\toffset = 0;", TOLD),
    Mutant("virtual: it is read once, and too early", "userspace/jvm/layout/jvm_stubs.c", "!wire->return_barrier || !wire->enter_return || !layout->virtual_final;",
           "!wire->return_barrier || !wire->enter_return;", ["test_jvm_stubs"]),
    Mutant("virtual: the class that it loads is its name", NAMES, "if (sample->text == WIRE_TEXT_NAME)\n\t\tjava_name", "java_name", NAMED),
    Mutant("virtual: names of any length", CHECK, "sample->name_bytes > WIRE_NAME_BYTES ||", "", CHECKED),
    Mutant("virtual: half a char", CHECK, "|| sample->name_bytes % width ?", "?", CHECKED),
    Mutant("virtual: chars of four bytes", CHECK, "if (width != 1 && width != 2)\n\t\treturn -EBADMSG;", "if (!width)\n\t\treturn -EBADMSG;", CHECKED),
    Mutant("virtual: a name behind the record", WORDS, "&& frames * sizeof(uint64_t) + sample->name_bytes <= bytes)", ")", ["test_sample_words"]),
    Mutant("virtual: a walk that goes on leaves the name", "userspace/unwind/unwinder.c", "from->words + from->kernel_frames + from->user_words, name_bytes);",
           "from->words + from->kernel_frames + from->user_words, 0);", ["test_unwinder"]),
    Mutant("virtual: they have their carriers' names", NAMES, "if (ret->is_virtual)\n\t\tret->thread_name", "if (0)\n\t\tret->thread_name", NAMED),
    Mutant("virtual: who has no name has none", NAMES, "if (!name.len)\n\t\tstrbuf_addstr(&name, PROFILE_VIRTUAL_THREAD);", "", NAMED),
    Mutant("virtual: recordings have platform threads only", "userspace/recording/write_checkpoint.c", "jfr_put_byte(out, (uint8_t)t->is_virtual);", "jfr_put_byte(out, 0);",
           ["test_recording_times"]),
    Mutant("virtual: readers know platform threads only", "userspace/recording/read_pools.c", "v->number[5] != 0", "false", ["test_recording_times"]),
    Mutant("virtual: those of one name are one in streams", "userspace/sink/stream_sink.c", "sample->is_virtual ? sample->java_tid : 0", "0", ["test_stream_sink"]),
    Mutant("virtual: pprof has no number of them", "userspace/output/pprof/view_pprof.c", "if (t->is_virtual)", "if (0)", ["test_view_pprof"]),
    Mutant("virtual: titles have no number of them", "userspace/profile/title.c", "if (t->is_virtual)", "if (0)", ["test_title"]),
    Mutant("virtual: those of one name are one", "userspace/session/figures/ledger.c", "if (thread.is_virtual)\n\t\treturn", "if (0)\n\t\treturn", ["test_ledger"]),
    Mutant("virtual: their carriers' names are read", "userspace/session/pipeline_arrive.c", "if (jvm && !sample->virtual_id)", "if (jvm)", ["test_pipeline_jvms"]),
]
