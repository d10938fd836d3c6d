# SPDX-License-Identifier: Apache-2.0
"""Of -e wall: its clock and waits, sums that follow a thread's clock, threads that were parked before, its recording."""
from .mutant import Mutant

STEP = "bpf/sample/offcpu.h"
EVENT = "userspace/capture/event.c"
EVENT_KIND = "userspace/capture/event_kind.c"
LOADED = "userspace/capture/bpf_session.c"
BOOKS = "userspace/capture/capture_books.c"
CHECK = "userspace/capture/rings/sample_check.c"
PARKED = "userspace/session/offcpu/parked.c"
PIPE = "userspace/session/pipeline_spans.c"
WRITE = "userspace/recording/write_events.c"
READ = "userspace/recording/read_events.c"

SUMS = ["test_offcpu"]
NAMES = ["test_event"]
SESSION = ["test_bpf_session", "test_bpf_events"]
LISTED = ["test_capture_parked"]
ONE = ["test_parked"]
RUN = ["test_pipeline_waits"]
FILE = ["test_recording_waits"]

MUTANTS = [
    Mutant("wall: what is owed to a thread is forgotten", STEP, "wire_s64 weight = plain + (*owed_ns >> OFFCPU_OWED_SHIFT);", "wire_s64 weight = plain;", SUMS),
    Mutant("wall: its own wait is owed, too", STEP, "wire_s64 weight = plain + (*owed_ns >> OFFCPU_OWED_SHIFT);",
           "wire_s64 weight = plain + ((*owed_ns + (wire_s64)length_ns - plain) >> OFFCPU_OWED_SHIFT);", SUMS),
    Mutant("wall: a long wait weighs by its chance", STEP, "by_chance > most ? most : by_chance);", "by_chance);", SUMS),
    Mutant("wall: what is owed at the end is not given", "bpf/wire_offcpu.h", "wire_s64 weight = (wire_s64)length_ns + owed_ns;", "wire_s64 weight = (wire_s64)length_ns;", SUMS),
    Mutant("wall: any place is the last one", "bpf/wire_offcpu.h", "thread->sites[thread->site % WIRE_OFFCPU_SITES].owed_ns;", "thread->sites[0].owed_ns;", SUMS),
    Mutant("wall: nobody looks at the end", PIPE, "pipeline_spans_begin(pipeline);\n\twhile", "while", RUN),
    Mutant("wall: what was given is owed still", STEP, "*owed_ns += (wire_s64)length_ns - weight;", "*owed_ns += (wire_s64)length_ns - plain;", SUMS),
    Mutant("wall: a sample may weigh nothing", STEP, "if (weight < plain >> OFFCPU_LEAST_SHIFT)", "if (0)", SUMS),
    Mutant("wall: what ran follows its clock slowly", "bpf/sample/tick.h", "in->is_wall ? TICK_OWED_WALL_SHIFT : TICK_OWED_SHIFT", "TICK_OWED_SHIFT", ["test_tick"]),
    Mutant("wall: its clock is as others are", LOADED, "skel->rodata->event_is_wall[i] = capture_event_is_wall(event);", "", SESSION),
    Mutant("wall: no waits", EVENT_KIND, "return event->is_wall || event->trigger == WIRE_TRIGGER_OFFCPU;", "return event->trigger == WIRE_TRIGGER_OFFCPU;", NAMES),
    Mutant("wall: nobody asks who is parked", EVENT_KIND, "if (trigger == WIRE_TRIGGER_OFFCPU_PARKED)\n\t\treturn event->is_wall;", "", NAMES),
    Mutant("wall: intervals of hours", EVENT, "event->period <= NSEC_PER_SEC && event->period >= NSEC_PER_SEC / CAPTURE_MAX_FREQ_HZ)", "1)", NAMES),
    Mutant("wall: all waits are walked", LOADED, "uint64_t step_ns = event->is_wall ? event->period : event->least_ns;", "uint64_t step_ns = event->least_ns;", SESSION),
    Mutant("wall: sums are left to chance", LOADED, "skel->rodata->offcpu_keeps_sums = event->is_wall;", "", SESSION),
    Mutant("wall: one read is all", BOOKS, "if (n > 0)\n\t\t\tout->len += (size_t)n;", "if (n > 0)\n\t\t\treturn out->len += (size_t)n, 0;", LISTED),
    Mutant("wall: what cannot be read is an end", BOOKS, "else if (errno != EAGAIN && errno != EINTR)\n\t\t\treturn -errno;", "else\n\t\t\treturn 0;", LISTED),
    Mutant("wall: any number of kernel frames", CHECK, "parked->kernel_frames > WIRE_MAX_KERNEL_FRAMES ||", "", ["test_span_check"]),
    Mutant("wall: a record that is longer than what there is", CHECK, "parked->size > len ||", "", ["test_span_check"]),
    Mutant("wall: any weight is believed", CHECK, "return span->weight_ns > INT64_MAX ? -EBADMSG : 0;", "return 0;", ["test_span_check"]),
    Mutant("wall: all pcs are exact", PARKED, "return memcmp(before, SYSCALL_BYTES, sizeof(before)) != 0;", "return true;", ONE),
    Mutant("wall: system calls that are done again", PARKED, "if ((int64_t)thread->regs[WIRE_PARKED_ORIG_AX] < 0 ||", "if (", ONE),
    Mutant("wall: programs of 32 bits are walked", PARKED, "return (cs & 0xffff) == USER32_CS ? UNWIND_TASK_32BIT : UNWIND_NO_ROWS;", "return UNWIND_NO_ROWS;", ONE),
    Mutant("wall: the red zone is not copied", PARKED, "miss->copy_at = thread->regs[WIRE_PARKED_SP] - WIRE_MISS_BELOW;", "miss->copy_at = thread->regs[WIRE_PARKED_SP];", ONE),
    Mutant("wall: who runs again is walked", PIPE, "if (miss && !is_parked_yet(pipeline, thread))", "if (0 && !is_parked_yet(pipeline, thread))", RUN),
    Mutant("wall: who was not looked at is lost", PIPE, "while (parked_is_left(&pipeline->parked))\n\t\topen_next(pipeline, true);", "", RUN),
    Mutant("wall: without the event threads are looked for", PIPE, "options->event_count, capture_event_is_wall);", "options->event_count, capture_event_is_wall);\n\n\tif (!wall)\n\t\twall = &options->events[0];", RUN),
    Mutant("wall: a wait to the end weighs nothing", PIPE, "return length_ns << halved;", "return 0;", RUN),
    Mutant("wall: what runs has a chance", READ, "if (jfr_symbol_string(reader, v->number[SAMPLE_REASON]))", "if (1)", FILE),
    Mutant("wall: weights are multiples of lengths", WRITE, "at = jfr_varint(at, s->weight);\n\tat = put_weight(at, pools, p, s);", "at = put_weight(at, pools, p, s);", FILE),
    Mutant("wall: that the end is told hides that the begin was not", PIPE, "if (!pipeline->parked.error)\n\t\tpipeline", "pipeline", RUN),
]
