# SPDX-License-Identifier: Apache-2.0
"""Of what is shown beside code that runs: receivers of stubs, and what compiler threads compile."""
from .mutant import Mutant

RECEIVER = "bpf/hotspot/receiver.h"
COMPILING = "bpf/hotspot/compiling.h"
SELF = "userspace/jvm/shown/jvm_own_thread.c"
OWN = "bpf/hotspot/own_thread.h"
OBJECT = "bpf/hotspot/object.h"
OBJECTS = "userspace/jvm/heap/java_objects.c"
CLASSES = "userspace/jvm/names/klass_names.c"
SHOWN = "userspace/symbolize/shown.c"
SYMBOLIZER = "userspace/symbolize/symbolizer.c"
ARRIVAL = "userspace/symbolize/symbolizer_arrive.c"
NESTED = "userspace/session/malloc/malloc_nested.c"
ROOTS = "userspace/profile/roots.c"

ARGS = "userspace/cmd/record_args_options.c"

OF_STUB = ["test_receiver"]
OF_TASK = ["test_compiling"]
READ = ["test_jvm_shown"]
STACKS = ["test_symbolize_code"]

MUTANTS = [
    Mutant("shown: a receiver in any stub", RECEIVER, "&& word == RECEIVER_BLOB_NAME", "", OF_STUB),
    Mutant("shown: a receiver of any frame", RECEIVER, "c->leaf && c->frozen_at.live", "c->frozen_at.live", OF_STUB),
    Mutant("shown: the receiver of another time", RECEIVER, "c->leaf && c->frozen_at.live", "c->leaf", OF_STUB),
    Mutant("shown: a receiver in compiled code", RECEIVER, "!c->compiled_seen.frame_size && ", "", OF_STUB),
    Mutant("shown: the mark of a moved object has its class", OBJECT,
           "(mark & OBJECT_MARK_MOVED) == OBJECT_MARK_MOVED", "0", OF_STUB),
    Mutant("shown: a receiver is anywhere", OBJECT, "(address & 7) || ", "", OF_STUB),
    Mutant("shown: narrow classes are not shifted", OBJECT, "(narrow << (o->shift & 31))", "narrow", OF_STUB),
    Mutant("shown: compact headers have narrow classes", OBJECTS, "objects->compact	   ? WIRE_KLASS_COMPACT", "false ? WIRE_KLASS_COMPACT", READ),
    Mutant("shown: a class without a name", RECEIVER, "return word != 0;", "return true;", OF_STUB),
    Mutant("shown: the class that is there now", CLASSES, "if (!entry || entry->symbol.identity != identity)\n\t\treturn -ESTALE;",
           "if (!entry)\n\t\treturn -ESTALE;", ["test_klass_names"]),
    Mutant("shown: a class is read when its turn comes", ARRIVAL, "jvm_receiver_class(jvm, word.words);", "", STACKS),
    Mutant("shown: a ciEnv that is not on the stack", COMPILING, "env <= c->leaf_sp || env >= own.stack_end", "0", OF_TASK),
    Mutant("shown: a ciEnv below the stack pointer", COMPILING, "env <= c->leaf_sp || ", "", OF_TASK),
    Mutant("shown: another thread's ciEnv", OWN, " &&\n\t       ret->stack_end - sp < size", "", OF_TASK),
    Mutant("shown: a method without an identity", COMPILING, "!c->seen.identity ||\n\t    ", "", OF_TASK),
    Mutant("shown: the first bytecode is no OSR", COMPILING, "osr_bci < 0", "osr_bci <= 0", OF_TASK),
    Mutant("shown: one thread says where all have their address", SELF, "may[word] && words[word] == thread",
           "may[word] || words[word] == thread", READ),
    Mutant("shown: two threads are enough", SELF, "threads < LEAST_THREADS || ", "", READ),
    Mutant("shown: what is compiled is a frame among others", SYMBOLIZER, "if (word.kind != WIRE_FRAME_COMPILING)", "if (1)", STACKS),
    Mutant("shown: what is compiled is left out", SYMBOLIZER, "shown_push_compiling(build, *user);", "", STACKS),
    Mutant("shown: what is compiled is as what runs", "userspace/profile/frame_kind.c",
           "strbuf_addstr(sb, FRAME_COMPILING_PREFIX);", ";", ["test_frame_kind"]),
    Mutant("shown: one option shows both", ARGS, "(a->shows_compiling ? JVM_SHOWS_COMPILING : 0)",
           "(a->shows_receivers ? JVM_SHOWS_COMPILING : 0)", ["test_record_args"]),
    Mutant("shown: an unknown class has the last one's name", SHOWN, "name ? name : UNKNOWN_CLASS", 'name ? name : "a.Called"', STACKS),
    Mutant("shown: what is compiled asks for memory", NESTED, "while (word.kind == WIRE_FRAME_COMPILING)", "while (0)",
           ["test_malloc_files"]),
    Mutant("shown: a thread begins with what it compiles", ROOTS,
           "->kind == FRAME_COMPILING)\n\t\tframes.len--;", "->kind == FRAME_COMPILING)\n\t\tbreak;",
           ["test_roots"]),
]
