# SPDX-License-Identifier: Apache-2.0
"""Of safepoints: their parts, their names, where they are probed, and the file."""
from .mutant import Mutant

STEP = "bpf/sample/safepoint.h"
ARGS = "userspace/elf/probe/usdt_args.c"
FORM = "userspace/session/probes/first_form.c"
REASON = "userspace/session/safepoints/safepoint_reason.c"
PARTS_OF = "userspace/session/safepoints/safepoint_parts.c"
APPLY = "userspace/session/pipeline_apply.c"
OUTSIDE = "userspace/session/pipeline_outside.c"
WRITE = "userspace/recording/samples/write_jvm.c"
READ = "userspace/recording/samples/read_jvm.c"
SESSION = "userspace/capture/bpf_session.c"

PARTS = ["test_safepoint"]
NAMES = ["test_safepoint_reason"]
FILE = ["test_recording_waits"]

MUTANTS = [
    Mutant("safepoints: an operation outside them", STEP, "!book->begin_ns || book->end_ns[SAFEPOINT_REACHING]", "0", PARTS),
    Mutant("safepoints: the last operation is the reason", STEP, "!book->begin_ns || book->end_ns[SAFEPOINT_REACHING]", "!book->begin_ns", PARTS),
    Mutant("safepoints: an end of nothing", STEP, "\tif (book->end_ns[SAFEPOINT_REACHING])\n", "", PARTS),
    Mutant("safepoints: an end that has no begin", STEP, "\tif (!book->begin_ns)\n\t\treturn false;\n", "", PARTS),
    Mutant("safepoints: without an operation there is none", STEP, "\tif (!book->end_ns[SAFEPOINT_OPERATION])\n\t\tbook->end_ns[SAFEPOINT_OPERATION] = now_ns;\n", "", PARTS),
    Mutant("safepoints: parts overlap", STEP, "since_ns = book->end_ns[i] ? book->end_ns[i] : since_ns;", "(void)i;", PARTS),
    Mutant("safepoints: time runs back", STEP, "end_ns > since_ns ? end_ns - since_ns : 0", "end_ns - since_ns", PARTS),
    Mutant("safepoints: the name of the one before", STEP, "*book = (struct safepoint_book){ .begin_ns = now_ns };", "book->begin_ns = now_ns;", PARTS),
    Mutant("safepoints: four bytes in memory", FORM, "arg->bytes == 8 &&", "", ["test_first_form"]),
    Mutant("safepoints: a displacement that does not fit", FORM, "arg->displacement <= INT16_MAX", "1", ["test_first_form"]),
    Mutant("safepoints: a register where memory is meant", FORM, "arg->where == USDT_IN_MEMORY &&", "0 &&", ["test_first_form"]),
    Mutant("safepoints: half a register", ARGS, "widths[w].bytes == bytes && i < REGS", "i < REGS", ["test_usdt_args"]),
    Mutant("safepoints: a register that begins likewise", ARGS, "strlen(widths[w].names[i]) == len &&", "", ["test_usdt_args"]),
    Mutant("safepoints: any byte is a name's", REASON, "chars[i] > ' ' && chars[i] < 0x7f && chars[i] != ';' ? chars[i] : '?'", "chars[i]", NAMES),
    Mutant("safepoints: a name without end", REASON, " || count >= size", " || count > size", NAMES),
    Mutant("safepoints: all operations are collectors'", REASON, "safepoint_is_gc(name) ? SAFEPOINT_GC_PREFIX", "1 ? SAFEPOINT_GC_PREFIX", NAMES),
    Mutant("safepoints: no reason", APPLY, "return safepoint_reason(profile, sample);", "return 0;", ["test_pipeline_waits"]),
    Mutant("safepoints: parts are counted", PARTS_OF, "part.count = 0", "part.count = 1", ["test_safepoint_parts"]),
    Mutant("safepoints: parts are in the operation, too", PARTS_OF, "row.weight - reaching - leaving", "row.weight", ["test_safepoint_parts"]),
    Mutant("safepoints: more than there is", PARTS_OF, "MIN(sample->alloc_object, row.weight - reaching)", "sample->alloc_object", ["test_safepoint_parts"]),
    Mutant("safepoints: empty parts", PARTS_OF, "if (!weight)", "if (0)", ["test_safepoint_parts"]),
    Mutant("safepoints: JVMs are not probed", OUTSIDE, "\tjvm_phases_add(&pipeline->phases, process, tell_unseen_phase, pipeline);\n", "", ["test_pipeline_locks"]),
    Mutant("safepoints: nobody says that there are none", OUTSIDE, "jvm_phase_counter(phase), err->text, 1", '"safepoint.seen", err->text, 1', ["test_pipeline_locks"]),
    Mutant("safepoints: all lengths", SESSION, "safepoint_least_ns = event->least_ns", "safepoint_least_ns = 0", ["test_bpf_session", "test_bpf_events"]),
    Mutant("safepoints: the time of the end", WRITE, "is_lock(type) || is_safepoint(type) ||", "is_lock(type) ||", FILE),
    Mutant("safepoints: read by their begin", READ, "\ts.time_ns += s.weight;\n\tjfr_add_parts(reader, v, JFR_RUN_QUEUE, &s);", "\tjfr_add_parts(reader, v, JFR_RUN_QUEUE, &s);", FILE),
]
