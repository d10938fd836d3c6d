# SPDX-License-Identifier: Apache-2.0
"""Of waits: their states and reasons, the chance that a stack is walked, and what joins it with its length."""
from .mutant import Mutant

STEP = "bpf/sample/offcpu.h"
WIRE = "bpf/wire_offcpu.h"
CALLS = "bpf/wire_waits.def"
WAIT = "userspace/symbolize/waits/wait.c"
SPANS = "userspace/session/offcpu/spans.c"
KEY = "userspace/session/offcpu/span_key.h"
CHECK = "userspace/capture/rings/sample_check.c"
EVENT = "userspace/capture/event.c"
EVENT_KIND = "userspace/capture/event_kind.c"
LOADED = "userspace/capture/bpf_session.c"
WRITE = "userspace/recording/write_events.c"
READ = "userspace/recording/read_stacks.c"

STEPS = ["test_offcpu"]
NAMES = ["test_wait"]
JOIN = ["test_spans"]
FILE = ["test_recording_waits"]

MUTANTS = [
    Mutant("waits: each cpu walks as many as one does alone", LOADED, "MAX(host / MAX(online_cpus, 1U), least)", "MAX(host, least)", ["test_bpf_events"]),
    Mutant("waits: cpus of a large host walk none", LOADED, "MIN(MAX(host / MAX(online_cpus, 1U), least), most)", "MIN(host / MAX(online_cpus, 1U), most)", ["test_bpf_events"]),
    Mutant("waits: who was preempted sleeps", STEP, "if (preempted || !task_state)", "if (!task_state)", STEPS),
    Mutant("waits: who was stopped is blocked", STEP, "if (task_state & (OFFCPU_TASK_STOPPED |", "if (task_state & (0 & OFFCPU_TASK_STOPPED |", STEPS),
    Mutant("waits: a page fault is a system call", STEP, "if (number < 0)\n\t\treturn WIRE_CAUSE_PAGE_FAULT;", "", STEPS),
    Mutant("waits: a number beyond the table", STEP, "if (number >= (wire_s64)(sizeof(offcpu_calls) / sizeof(offcpu_calls[0])))", "if (number >= 400)", STEPS),
    Mutant("waits: futex is a sleep", CALLS, "WIRE_CALL(202, FUTEX)", "WIRE_CALL(202, SLEEP)", STEPS),
    Mutant("waits: write() reads", STEP, "return writes ? WIRE_CAUSE_PIPE_WRITE : WIRE_CAUSE_PIPE_READ;", "return WIRE_CAUSE_PIPE_READ;", STEPS),
    Mutant("waits: none was queued that was woken", WIRE, "return length_ns - asleep_ns;", "return 0;", STEPS),
    Mutant("waits: who came back before he left", STEP, "return back_ns > out_ns ? back_ns - out_ns : 0;", "return back_ns - out_ns;", STEPS),
    Mutant("waits: one place for all calls", STEP, " ^ (wire_u64)call->number << 52)", ")", STEPS),
    Mutant("waits: one place for all stacks", STEP, "call->pc ^ call->sp << 20", "call->pc", STEPS),
    Mutant("waits: a new place is as the old one was", STEP, "thread->sites[at].square = offcpu_square(step_ns, step_ns);", "", STEPS),
    Mutant("waits: the newest place goes", STEP, "thread->next++ % WIRE_OFFCPU_SITES", "thread->next % WIRE_OFFCPU_SITES", STEPS),
    Mutant("waits: nothing is learnt of short ones", STEP, "site->square -= (site->square - square) >> shift;", ";", STEPS),
    Mutant("waits: nothing is learnt of long ones", STEP, "site->square += (square - site->square) >> shift;", ";", STEPS),
    Mutant("waits: one long wait is remembered forever", STEP, "if (length_ns > step_ns * OFFCPU_MOST_STEPS)", "if (0)", STEPS),
    Mutant("waits: a chance is half of what it says", "bpf/sample/draw.h", "return !(random & ((1U << (halved & 31)) - 1));", "return !(random & ((2U << (halved & 31)) - 1));", STEPS),
    Mutant("waits: some are left out of an idle cpu", STEP, "if (i <= doubled && square", "if (square", STEPS),
    Mutant("waits: how long they are on the average is learnt", STEP, "return parts * parts << OFFCPU_SQUARE_SHIFT;", "return parts << 2 * OFFCPU_PART_SHIFT >> 6 << OFFCPU_SQUARE_SHIFT;", STEPS),
    Mutant("waits: the first ones say no more than others", STEP, "shift += count >> i != 0;", "shift += 1;", STEPS),
    Mutant("waits: only the last few are remembered", STEP, "for (wire_u32 i = 0; i < OFFCPU_LEARN_SHIFT; i++)", "for (wire_u32 i = 0; i < 3; i++)", STEPS),
    Mutant("waits: all are walked where long ones are wanted", LOADED, "skel->rodata->offcpu_doubled = WIRE_OFFCPU_STEP_DOUBLED;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("waits: the chance of short ones is 1", STEP, "square < part * part << OFFCPU_SQUARE_SHIFT)", "0)", STEPS),
    Mutant("waits: a busy cpu leaves out long ones, too", STEP, "square < part * part << OFFCPU_SQUARE_SHIFT)", "square < part * part << doubled << OFFCPU_SQUARE_SHIFT)", STEPS),
    Mutant("waits: a busy cpu walks them all", STEP, "if (rate->doubled < WIRE_OFFCPU_MOST_HALVED)", "if (0)", STEPS),
    Mutant("waits: a cpu that was busy stays so", STEP, "rate->doubled = windows >= rate->doubled ? 0 : rate->doubled - (wire_u32)windows;", "", STEPS),
    Mutant("waits: frames tell of waits that are none of theirs", WAIT, "rows[i].of != of || ", "", NAMES),
    Mutant("waits: any lock of the JVM's is its own", WAIT, "case WIRE_CAUSE_JVM: return 2;", "case WIRE_CAUSE_JVM: return WEIGHT_MOST;", NAMES),
    Mutant("waits: what is built upon a lock says nothing", WAIT, "case WIRE_CAUSE_JOIN: return 1;", "case WIRE_CAUSE_JOIN: return WEIGHT_MOST;", NAMES),
    Mutant("waits: the farthest lock counts", WAIT, "weight_of(found) > weight", "weight_of(found) >= weight && found", NAMES),
    Mutant("waits: a class whose name only begins so", WAIT, "name[len] == '.' &&", "", NAMES),
    Mutant("waits: a function whose name only begins so", WAIT, "&& (text[len] == '\\0' || text[len] == '(')", "", NAMES),
    Mutant("waits: the whole stack is searched", WAIT, "if (++user == LOOKED_AT_USER || java == LOOKED_AT_JAVA)", "if (0)", NAMES),
    Mutant("waits: blocked is sleeping", WAIT, "case WIRE_STATE_BLOCKED: return STATE_BLOCKED;", "case WIRE_STATE_BLOCKED: return STATE_SLEEPING;", NAMES),
    Mutant("waits: any thread's length", KEY, "return time_ns ^ (uint64_t)tid << 42;", "return time_ns;", JOIN),
    Mutant("waits: any wait's length", KEY, "return time_ns ^ (uint64_t)tid << 42;", "return tid;", JOIN),
    Mutant("waits: what comes alone is as old as the last such", SPANS, " || wait->since_ns < spans->lonely_since_ns", "", ["test_spans"]),
    Mutant("waits: when the others came is forgotten", SPANS, "spans->lonely_since_ns = oldest_ns;", "spans->lonely_since_ns = UINT64_MAX;", ["test_spans"]),
    Mutant("waits: a length that comes first is dropped", SPANS, "put(spans, key, wait);\n\treturn NULL;\n}\n\nstruct span_wait *spans_take_open", "span_wait_free(wait);\n\treturn NULL;\n}\n\nstruct span_wait *spans_take_open", JOIN),
    Mutant("waits: nobody knows of lengths without samples", SPANS, "!spans->lonely++ ||", "!spans->lonely ||", JOIN),
    Mutant("waits: lengths without samples stay", SPANS, "if (wait->since_ns < before_ns)", "if (0 && before_ns)", JOIN),
    Mutant("waits: samples grow old", SPANS, "\t\tif (wait->sample)\n\t\t\tcontinue;\n", "", JOIN),
    Mutant("waits: no limit on those that are held", SPANS, "if (spans->bytes + bytes_of(wait) > spans->limit_bytes)", "if (0)", JOIN),
    Mutant("waits: any chance is believed", CHECK, "|| span->halved > WIRE_OFFCPU_MOST_HALVED", "", ["test_span_check"]),
    Mutant("waits: more of it queued than there is", CHECK, "if (span->length_ns && span->queued_ns > span->length_ns)", "if (0)", ["test_span_check"]),
    Mutant("waits: nobody notes who is woken", EVENT_KIND, "trigger <= WIRE_TRIGGER_OFFCPU_WAKER", "trigger <= WIRE_TRIGGER_OFFCPU", ["test_event"]),
    Mutant("waits: all are wanted", LOADED, "skel->rodata->offcpu_least_ns = event->least_ns;", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("waits: no room for threads", LOADED, "bpf_map__set_max_entries(skel->maps.offcpu_threads, session_offcpu_threads(options));", "", ["test_bpf_session", "test_bpf_events"]),
    Mutant("waits: room for those that there are", LOADED, "(uint64_t)options->threads * WIRE_OFFCPU_TIMES_THREADS", "(uint64_t)options->threads", ["test_bpf_events"]),
    Mutant("waits: a host of few threads stays one", LOADED, "MAX(wanted, (uint64_t)WIRE_OFFCPU_LEAST_THREADS)", "wanted", ["test_bpf_events"]),
    Mutant("waits: books without end", LOADED, "(uint64_t)WIRE_OFFCPU_MOST_THREADS);", "UINT64_MAX);", ["test_bpf_events"]),
    Mutant("waits: the length of a recording is its weight", WRITE, "at = jfr_varint(at, s->weight / chance);\n\tat = put_fields", "at = jfr_varint(at, s->weight);\n\tat = put_fields", ["test_recording_wakers"]),
    Mutant("waits: more of it queued than it weighs", "userspace/session/pipeline_apply.c", "MIN(wait->queued_ns << wait->halved, sample->weight)", "wait->queued_ns << wait->halved", ["test_pipeline_show"]),
    Mutant("waits: what was queued is lost in a recording", WRITE, "at = jfr_varint(at, s->queued / chance);", "at = jfr_varint(at, 0);", FILE),
    Mutant("waits: what was queued counts twice", READ, "part.weight = s->weight - queued;", "part.weight = s->weight;", FILE),
    Mutant("waits: what was queued is not apart", READ, "uint64_t queued = MIN(s->queued, s->weight);", "uint64_t queued = 0;", FILE),
    Mutant("offcpu: what is told of again is its other half", SPANS, "if (wait && (wait->sample != NULL) != wants_sample)", "if (0)", ["test_spans"]),
]
