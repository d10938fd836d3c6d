# SPDX-License-Identifier: Apache-2.0
"""Of --waker: whose stack is walked as it wakes a thread, what an interrupt is, and how a wait gets what ended it."""
from .mutant import Mutant

WAKING = "bpf/sample/waking.h"
LOADED = "userspace/capture/bpf_session.c"
COUNT = "userspace/capture/kernel/preempt_count.c"
CHECK = "userspace/capture/rings/sample_check.c"
NAMES = "userspace/symbolize/waits/waker.c"
WAKERS = "userspace/session/offcpu/wakers.c"
SPANS = "userspace/session/pipeline_spans.c"
APPLY = "userspace/session/pipeline_apply.c"
ARRIVE = "userspace/session/pipeline_arrive.c"
PIPELINE = "userspace/session/pipeline.c"
METADATA = "userspace/recording/write_metadata.c"
READ = "userspace/recording/read_stacks.c"
ARGS = "userspace/cmd/record_args.c"

WHO = ["test_waking"]
JUDGE = ["test_waker"]
JOIN = ["test_wakers"]
RUN = ["test_pipeline_wakers"]
FILE = ["test_recording_wakers"]
BOOK = "bpf/sample/locks/lock_book.h"
BOOKS = ["test_lock_book"]

MUTANTS = [
    Mutant("wakers: of waits that are not walked, too", WAKING, "if (thread->fate != WIRE_OFFCPU_SENT && thread->fate != WIRE_OFFCPU_WALKED)\n\t\treturn false;", "", WHO),
    Mutant("wakers: not while the wait's stack is walked", WAKING, "&& thread->fate != WIRE_OFFCPU_WALKED", "", WHO),
    Mutant("wakers: of who lost its cpu", WAKING, "return thread->state != WIRE_STATE_QUEUED &&\n\t       offcpu_length", "return offcpu_length", WHO),
    Mutant("wakers: of short waits", WAKING, "offcpu_length(thread->out_ns, thread->woken_ns) >= least_ns", "1", WHO),
    Mutant("wakers: any number on one cpu", WAKING, "if (rate->taken >= most)", "if (0)", WHO),
    Mutant("wakers: a window without end", WAKING, "if (now_ns - rate->window_ns >= OFFCPU_WINDOW_NS) {", "if (!rate->window_ns) {", WHO),
    Mutant("wakers: interrupts are threads", WAKING, "if (is_idle || count & (WAKING_HARDIRQ | WAKING_NMI))", "if (is_idle)", WHO),
    Mutant("wakers: idle cpus are threads", WAKING, "if (is_idle || count &", "if (count &", WHO),
    Mutant("wakers: who is kept from softirqs is in one", WAKING, "#define WAKING_SOFTIRQ 0x00000100", "#define WAKING_SOFTIRQ 0x0000ff00", WHO),
    Mutant("wakers: two programs note who wakes", LOADED, "case WIRE_TRIGGER_OFFCPU_WAKING: return !options->tells_wakers;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("wakers: loaded when nobody asks", LOADED, "\tcase WIRE_TRIGGER_OFFCPU_WAKER:\n", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("wakers: where the count is nobody is told", LOADED, "skel->rodata->waker_count_at = options->waker_count_at;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("wakers: the count is where its cpu's variables begin", COUNT, "return (int64_t)places.count - places.runqueues;", "return (int64_t)places.count;", ["test_preempt_count"]),
    Mutant("wakers: the count is where its struct begins", COUNT, "return begin + inner;", "return inner;", ["test_preempt_count"]),
    Mutant("wakers: any kind is believed", CHECK, "sample->waker >= WIRE_WAKER_COUNT || ", "", ["test_sample_check"]),
    Mutant("wakers: an interrupt that ends is its thread's", NAMES, "if (part == PART_ENTRY || part == PART_OWN)\n\t\t\treturn part == PART_OWN;", "", JUDGE),
    Mutant("wakers: what arrives is always the sender's", NAMES, "return has_names && (is_local || !is_softirq);", "return has_names;", JUDGE),
    Mutant("wakers: nothing that arrives is the sender's", NAMES, "return has_names && (is_local || !is_softirq);", "return has_names && !is_softirq;", JUDGE),
    Mutant("wakers: a thread without names", NAMES, "return has_names && (is_local || !is_softirq);", "return is_local || !is_softirq;", JUDGE),
    Mutant("wakers: an interrupt has the frames that it came over", NAMES, "len = i + 1;", ";", JUDGE),
    Mutant("wakers: an interrupt has no entry", NAMES, "len = i + 1;", "len = i;", JUDGE),
    Mutant("wakers: they stay when their waits are lost", WAKERS, "if (entry_of(value)->time_ns < before_ns)", "if (0 && before_ns)", JOIN),
    Mutant("wakers: other tables have the same stacks", WAKERS, "waker->stack = profile_copy_stack(to, from, waker->stack);", "(void)to, (void)from;", JOIN),
    Mutant("wakers: other tables have the same threads", WAKERS, "waker->thread = profile_copy_thread(to, from, waker->thread);", ";", JOIN),
    Mutant("wakers: an interrupt is a thread in a profile", SPANS, "if (waker_is_thread(profile, waker.stack, sample->waker))", "if (1)", RUN),
    Mutant("wakers: of who was queued one is missing", SPANS, "MAX(pipeline->options->events[sample->event].least_ns, 1U)", "pipeline->options->events[sample->event].least_ns", RUN),
    Mutant("wakers: of waits that were too short one is missing", SPANS, "!waker && asleep_ns >= least_ns", "!waker && asleep_ns && least_ns", RUN),
    Mutant("wakers: who is not back was woken", SPANS, "wait->is_woken = known.woken_ns != 0;", "wait->is_woken = true;", RUN),
    Mutant("wakers: of waits that go on at the end none is known", SPANS, "wait->is_woken = known.woken_ns != 0;", "", RUN),
    Mutant("wakers: a host that has just begun forgets them", SPANS, "now_ns - MIN(now_ns, WAKER_NS)", "now_ns - WAKER_NS", RUN),
    Mutant("wakers: they stay when their waits are left out", APPLY, "\telse\n\t\twakers_drop(&pipeline->wakers, item->sample->tid, item->sample->time_ns);\n", "", ["test_pipeline_wakers"]),
    Mutant("wakers: they are samples, too", APPLY, "if (item->sample->waker)\n\t\tpipeline_spans_note_waker(pipeline, process, item->sample, &symbolized);\n\telse if", "if", RUN),
    Mutant("wakers: samples are numbered by them", ARRIVE, "if (sample->waker) {", "if (pipeline->samples++, sample->waker) {", RUN),
    Mutant("wakers: they are processes that were sampled", "userspace/session/figures/ledger.c", "*ret_thread = ledger_profile_thread(", "count_process(ledger, entry);\n\t*ret_thread = ledger_profile_thread(", RUN),
    Mutant("wakers: a new chunk forgets them", PIPELINE, "wakers_move(&pipeline->wakers, profile, &fresh);", "wakers_expire(&pipeline->wakers, UINT64_MAX);", RUN),
    Mutant("wakers: fields that nobody asked for", METADATA, "(tells_wakers || !(type->fields[n].flags & JFR_WAKER))", "(tells_wakers || 1)", FILE),
    Mutant("wakers: they are there where nobody wants them", READ, "!waker || reader->options->no_wakers", "!waker", FILE),
    Mutant("wakers: the root comes first", READ, "for (uint32_t i = frames.len; i > 0; i--)\n\t\tvec_push(&reader->frames, not_inlined(reader->profile, frames.frames[i - 1]));",
           "for (uint32_t i = 0; i < frames.len; i++)\n\t\tvec_push(&reader->frames, not_inlined(reader->profile, frames.frames[i]));", FILE),
    Mutant("wakers: what was inlined seems to be who was called", READ, "if (frame.kind == FRAME_JAVA_INLINED)", "if (1)\n\t\treturn id;\n\tif (frame.kind == FRAME_JAVA_INLINED)", FILE),
    Mutant("wakers: all of one wait have its first one", READ, "uint64_t key = WAKER_KEY | (uint64_t)id << 32 | stack, have;", "uint64_t key = WAKER_KEY | stack, have;", FILE),
    Mutant("wakers: no wait is needed", ARGS, "if (!rc && args.tells_wakers && !has_event(capture_event_has_waits) &&\n\t    !has_event(capture_event_is_lock))", "if (0)", ["test_record_args"]),
    Mutant("wakers of locks: they are told when nobody asks", LOADED, "\tcase WIRE_TRIGGER_LOCK_WAKER: return options->tells_wakers;", "\t\treturn options->tells_wakers;\n\tcase WIRE_TRIGGER_LOCK_WAKER: return true;", ["test_bpf_session", "test_bpf_events"]),
    Mutant("wakers of locks: nobody notes the waits", LOADED, "\tskel->rodata->lock_tells_wakers = options->tells_wakers;\n", "", ["test_bpf_events"]),
    Mutant("wakers of locks: of a wait that is over", BOOK, "\tbook->since_ns = 0;\n\treturn book->number;", "\treturn book->number;", BOOKS),
    Mutant("wakers of locks: of another wait's end", BOOK, "if (!since_ns || book->since_ns != since_ns)", "if (!book->since_ns)", BOOKS),
    Mutant("wakers of locks: of short waits", BOOK, "now_ns - book->since_ns < least_ns", "0 && least_ns", BOOKS),
    Mutant("wakers of locks: any number of them", BOOK, "book->wakers--;", ";", BOOKS),
    Mutant("wakers of locks: all waits are one", BOOK, "if (!++book->number)", "if (!book->number)", BOOKS),
    Mutant("wakers of locks: who woke in vain has let go", SPANS, "return sample->wait_number ? sample->wait_number : sample->alloc_object;", "return sample->alloc_object;", RUN),
    Mutant("wakers of locks: they are not in their waits", APPLY, "row.waker = is_lock ? pipeline_spans_lock_waker(pipeline, sample)", "row.waker = is_lock ? 0", RUN),
    Mutant("wakers of locks: views do not show them", "userspace/recording/samples/read_jvm.c", "\t\ts.stack = jfr_stack_with_waker(reader, s.stack, s.waker);\n", "", FILE),
]
