# SPDX-License-Identifier: Apache-2.0
"""Of waits for the kernel's locks: which are one, of what kind, whose, and what is told of them."""
from .mutant import Mutant

BOOK = "bpf/kernel/contention.h"
CHECK = "userspace/capture/probes/contention.c"
EVENT = "userspace/capture/event.c"
KIND = "userspace/capture/event_kind.c"
LOADED = "userspace/capture/bpf_session.c"
NAME = "userspace/session/locks/kernel_lock.c"
APPLY = "userspace/session/pipeline_apply.c"
KALLSYMS = "userspace/symbolize/kernel.c"
FRAME = "userspace/symbolize/kernel_frame.c"
WAIT = "userspace/symbolize/waits/wait.c"
WRITE = "userspace/recording/write_events.c"
READ = "userspace/recording/read_events.c"

BOOKS = ["test_contention"]
EVENTS = ["test_event_waits"]
SHOWN = ["test_symbolize_kernel"]
PIPELINE = ["test_pipeline_waits"]
FILE = ["test_recording_locks"]

MUTANTS = [
    Mutant("kernel locks: a mutex spins like a spinlock", BOOK, "(flags & (CONTENTION_SPIN | CONTENTION_MUTEX)) == CONTENTION_SPIN", "flags & CONTENTION_SPIN", BOOKS),
    Mutant("kernel locks: a rwlock is a rwsem", BOOK, "flags & (CONTENTION_SPIN | CONTENTION_RT))", "0)", BOOKS),
    Mutant("kernel locks: readers write", BOOK, "flags & CONTENTION_READ ? read : write", "write", BOOKS),
    Mutant("kernel locks: another thread's wait is this one's", BOOK, " && book->waits[i].tid == tid)", ")", BOOKS),
    Mutant("kernel locks: a wait that is over goes on", BOOK, "i < book->depth && ", "", BOOKS),
    Mutant("kernel locks: a mutex is waited for from its last begin on", BOOK, "begin_ns = book->waits[at].begin_ns;", "", BOOKS),
    Mutant("kernel locks: a spinlock is waited for since its end was missed", BOOK, " && flags & CONTENTION_MUTEX)", ")", BOOKS),
    Mutant("kernel locks: what others left stays", BOOK, "if (book->depth && book->waits[0].tid != tid)", "if (0)", BOOKS),
    Mutant("kernel locks: the outer wait ends with the inner one", BOOK, "book->depth = at;", "book->depth = 0;", BOOKS),
    Mutant("kernel locks: an end without a begin", BOOK, "if (at >= CONTENTION_LEVELS)\n\t\treturn false;", "", BOOKS),
    Mutant("kernel locks: every kernel tells", CHECK, "!btf || btf__find_by_name_kind(btf, CALLBACK, BTF_KIND_TYPEDEF) > 0", "1", ["test_contention_check"]),
    Mutant("kernel locks: its types are kept", CHECK, "\tbtf__free(btf);\n", "", ["test_contention_check"]),
    Mutant("kernel locks: nobody asks the kernel", EVENT, "kind->trigger == WIRE_TRIGGER_KERNEL_LOCK ? contention_check(err) : 0", "0", EVENTS),
    Mutant("kernel locks: nobody tells of begins", KIND, "if (trigger == WIRE_TRIGGER_KERNEL_LOCK_BEGIN)\n\t\treturn capture_event_is_kernel_lock(event);", "", EVENTS),
    Mutant("kernel locks: all lengths are told", LOADED, "skel->rodata->contention_least_ns = event->least_ns;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("kernel locks: one thread has a book", LOADED, "bpf_map__set_max_entries(skel->maps.contention_threads, WIRE_CONTENTION_THREADS);", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("kernel locks: mmap_lock is any lock", NAME, 'case WIRE_CONTENTION_MMAP_LOCK: return "mmap_lock";', "case WIRE_CONTENTION_MMAP_LOCK: break;", ["test_kernel_lock"]),
    Mutant("kernel locks: none has a name", NAME, "if (name)", "if (0)", ["test_kernel_lock"]),
    Mutant("kernel locks: each stands for itself", APPLY, " ||\n\t    pipeline_is_kernel_lock(pipeline, sample))\n\t\treturn (uint32_t)", ")\n\t\treturn (uint32_t)", PIPELINE),
    Mutant("kernel locks: a lock is an object that is followed", APPLY, " &&\n\t\t !pipeline_is_kernel_lock(pipeline, sample))", ")", PIPELINE),
    Mutant("kernel locks: any place in a variable is its lock", KALLSYMS, "i == 0 || items[i - 1].address != address", "i == 0", ["test_kernel"]),
    Mutant("kernel locks: variables are read each time", FRAME, "if (!symbolizer->kernel_data_asked)", "if (1)", SHOWN),
    Mutant("kernel locks: frames of ours stay", WAIT, "\t\tif (!is_ours)\n\t\t\tbreak;", "\t\tbreak;", SHOWN),
    Mutant("kernel locks: who spins has left its cpu", WAIT, "return sample->state != WIRE_STATE_RUNNING ? SCHEDULE : NULL;", "return SCHEDULE;", SHOWN),
    Mutant("kernel locks: other events of a recording", WRITE, "{ JFR_KERNEL_LOCK_EVENT, JFR_KERNEL_LOCK },", "", FILE),
    Mutant("kernel locks: they begin when they end", WRITE, " || type == JFR_KERNEL_LOCK", "", FILE),
    Mutant("kernel locks: they end when they begin", READ, "s.time_ns += s.weight / MAX(v->number[SAMPLE_CHANCE], 1U);", "", FILE),
]
