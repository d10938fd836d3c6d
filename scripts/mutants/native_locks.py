# SPDX-License-Identifier: Apache-2.0
"""Of waits for native locks: what they stand for, which waits are none, and what goes with them."""
from .mutant import Mutant

STEP = "bpf/sample/offcpu.h"
WIRE = "bpf/wire_offcpu.h"
EVENT = "userspace/capture/event.c"
LOADED = "userspace/capture/bpf_session.c"
ARGS = "userspace/cmd/event_args.c"
WANT = "userspace/session/offcpu/native_locks.c"
APPLY = "userspace/session/pipeline_apply.c"
ARRIVE = "userspace/session/pipeline_arrive.c"
SHOW = "userspace/session/pipeline_show.c"
SPANS = "userspace/session/pipeline_spans.c"
WRITE = "userspace/recording/write_events.c"

SUMS = ["test_offcpu_typical"]
EVENTS = ["test_event_waits"]
PIPELINE = ["test_pipeline_waits"]
FILE = ["test_recording_locks"]

MUTANTS = [
    Mutant("native locks: who is walked stands for all by its own length", WIRE, "site->skips ? site->skipped >> WIRE_OFFCPU_SKIPPED_SHIFT : length_ns", "length_ns", SUMS),
    Mutant("native locks: it stands for one too many", WIRE, "other_ns * ((1ULL << (halved & 31)) - 1)", "other_ns * (1ULL << (halved & 31))", SUMS),
    Mutant("native locks: the last length is the average", STEP, "shift = offcpu_learn_shift(site->skips) & 15", "shift = 0", SUMS),
    Mutant("native locks: averages only grow", STEP, "site->skipped -= (site->skipped - length) >> shift;", ";", SUMS),
    Mutant("native locks: nobody counts", STEP, "site->skips++;", ";", SUMS),
    Mutant("native locks: a new place has the old one's average", STEP, "thread->sites[at].skips = 0;", "", SUMS),
    Mutant("native locks: the queue is as long as the wait", STEP, "return queued < length_ns ? queued : length_ns;", "return length_ns;", SUMS),
    Mutant("native locks: all waits are wanted", EVENT, "event->only_locks = kind->only_locks;", "", EVENTS),
    Mutant("native locks: other waits are walked", LOADED, "skel->rodata->offcpu_only_futexes = event->only_locks;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("native locks: beside others", ARGS, "return refuse_both(&events[i], &events[last], err);", "continue;", ["test_event_args"]),
    Mutant("native locks: the wrong one has all", ARGS, "locks == a ? b : a", "a", ["test_event_args"]),
    Mutant("native locks: conditions are locks", WANT, "cause == WIRE_CAUSE_MUTEX || cause == WIRE_CAUSE_RWLOCK", "cause", ["test_native_locks"]),
    Mutant("native locks: rwlocks are none", WANT, " || cause == WIRE_CAUSE_RWLOCK", "", ["test_native_locks"]),
    Mutant("native locks: what is left out is not counted", WANT, "\tlocks->others[cause]++;\n", "", ["test_native_locks"]),
    Mutant("native locks: any futex is one", APPLY, "!pipeline_is_native_lock(pipeline, item->sample) ||", "1 ||", PIPELINE),
    Mutant("native locks: nobody tells what was left out", SPANS, "native_locks_for_each(&pipeline->native_locks, tell_other, &teller);", "(void)teller;", PIPELINE),
    Mutant("native locks: shown before it is known", ARRIVE, "if (pipeline_is_native_lock(pipeline, sample))\n\t\treturn false;", "", ["test_pipeline_show"]),
    Mutant("native locks: a correction of nothing", SHOW, "!item->shown.is_shown && pipeline->sinks.hurry", "0", ["test_pipeline_show"]),
    Mutant("native locks: at the end by chance", SPANS, "if (capture_event_is_native_lock(event))\n\t\treturn", "if (0)\n\t\treturn", PIPELINE),
    Mutant("native locks: other events of a recording", WRITE, "{ JFR_NATIVE_LOCK_EVENT, JFR_NATIVE_LOCK },", "", FILE),
    Mutant("native locks: the address is a state", WRITE, "at = put_length(at, pools, s, chance);\n\t*at++ = 0;\n", "at = put_length(at, pools, s, chance);\n", FILE),
]
