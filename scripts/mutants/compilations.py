# SPDX-License-Identifier: Apache-2.0
"""Of compilations: their time, what their place tells, names, the file; and of JVMs that are asked until they tell."""
from .mutant import Mutant

BOOK = "bpf/sample/phases/compilation.h"
ARGS = "userspace/elf/probe/usdt_args.c"
FORM = "userspace/session/probes/jit_form.c"
ROW = "userspace/session/compilations/compilation_row.c"
SHOWN = "userspace/symbolize/shown.c"
READS = "userspace/symbolize/compilation.c"
CHECK = "userspace/capture/rings/sample_check.c"
APPLY = "userspace/session/pipeline_apply.c"
OUTSIDE = "userspace/session/pipeline_outside.c"
PHASE = "userspace/session/probes/jvm_phase.c"
PHASES = "userspace/session/probes/jvm_phases.c"
WATCH = "userspace/session/probes/jvm_watch.c"
TASK = "userspace/jvm/shown/jvm_compiling.c"
WRITE = "userspace/recording/samples/write_jvm.c"
READ = "userspace/recording/samples/read_jvm.c"
SESSION = "userspace/capture/bpf_session.c"
KIND = "userspace/capture/event_kind.c"

TIMES = ["test_compilation"]
ROWS = ["test_compilation_row"]
CODE = ["test_symbolize_code"]
FILE = ["test_recording_phases"]
CHECKS = ["test_sample_check"]
JVMS = ["test_jvm_phases"]

MUTANTS = [
    Mutant("compilations: what was before belongs to it", BOOK, "*book = (struct compilation_book){ .begin_ns = now_ns };", "book->begin_ns = now_ns;", TIMES),
    Mutant("compilations: time runs back", BOOK, "book->out_ns && now_ns > book->out_ns", "book->out_ns", TIMES),
    Mutant("compilations: an end that has no begin", BOOK, "\tif (!book->begin_ns)\n\t\treturn 0;\n", "", TIMES),
    Mutant("compilations: all of it is on a cpu", BOOK, "length_ns > book->off_ns ? length_ns - book->off_ns : 0", "length_ns", TIMES),
    Mutant("compilations: one end after another", BOOK, "\tbook->begin_ns = 0;\n\treturn length_ns;", "\treturn length_ns;", TIMES),
    Mutant("probes: behind the note", ARGS, "text + strnlen(text, len)", "text + strlen(text)", ["test_usdt_args"]),
    Mutant("probes: a displacement has no sign", ARGS, "negative ? -(int32_t)displacement :", "0 ? -(int32_t)displacement :", ["test_usdt_args"]),
    Mutant("probes: numbers without end", ARGS, " || displacement > INT32_MAX", "", ["test_usdt_args"]),
    Mutant("probes: any width", "userspace/elf/probe/usdt_args.h", "arg->where == USDT_IN_REG && arg->bytes == bytes", "arg->where == USDT_IN_REG", ["test_usdt_args"]),
    Mutant("compilations: names of which one is elsewhere", FORM, "\t\t\treturn 0;\n\t\tform |=", "\t\t\tcontinue;\n\t\tform |=", ["test_jit_form"]),
    Mutant("compilations: a success of any width", FORM, "\tif (arg->bytes != 1)\n\t\treturn 0;\n", "", ["test_jit_form"]),
    Mutant("compilations: a displacement that does not fit", FORM, "arg->displacement > WIRE_JIT_MOST_DISPLACEMENT", "0", ["test_jit_form"]),
    Mutant("compilations: in front of the task", FORM, "arg->displacement < 0 ||", "0 ||", ["test_jit_form"]),
    Mutant("compilations: C1 has C2's tier", ROW, 'strcmp(compiler, "C2") ? 0 : LEVEL_OF_C2', "LEVEL_OF_C2", ROWS),
    Mutant("compilations: who says nothing has failed", ROW, "c.head.success & WIRE_COMPILED_KNOWN &&", "1 &&", ROWS),
    Mutant("compilations: more on a cpu than there is", ROW, "MIN(c.head.run_ns, length_ns)", "c.head.run_ns", ROWS),
    Mutant("compilations: one stands for none", ROW, "MAX(c.head.chance, 1U)", "c.head.chance", ROWS),
    Mutant("compilations: any byte is a compiler's", READS, "isalnum((unsigned char)name[i]) ? name[i] : '?'", "name[i]", ROWS),
    Mutant("compilations: names that are not there", READS, "\tif (bytes != sizeof(*head) +", "\tif (0 && bytes != sizeof(*head) +", ROWS),
    Mutant("compilations: a name that is not there", CHECK, "sample->name_width != 1 || sample->name_bytes < bytes", "sample->name_bytes < bytes", CHECKS),
    Mutant("compilations: names longer than may be", CHECK, "head.method_bytes > WIRE_COMPILED_METHOD_BYTES", "0", CHECKS),
    Mutant("compilations: of no chance", CHECK, "head.signature_bytes > WIRE_COMPILED_SIGNATURE_BYTES || !head.chance)", "head.signature_bytes > WIRE_COMPILED_SIGNATURE_BYTES)", CHECKS),
    Mutant("texts: of any kind", CHECK, "sample->text >= WIRE_TEXT_COUNT", "0", CHECKS),
    Mutant("compilations: another one's stack", SHOWN, "\t/* Another one has the same words. */\n\tbuild->cacheable = false;\n", "", CODE),
    Mutant("compilations: classes with slashes", SHOWN, "string_of(build, java_name_add_class, &c.class_name)", "string_of(build, java_name_add_text, &c.class_name)", CODE),
    Mutant("compilations: no descriptor", SHOWN, "\t\tframe.descriptor = string_of(build, java_name_add_descriptor, &c.signature);\n", "", CODE),
    Mutant("compilations: no reason", APPLY, "return compilation_reason(profile, sample);", "return 0;", ["test_pipeline_waits"]),
    Mutant("compilations: an object is followed", APPLY, "!is_lock && !is_safepoint && !is_compilation", "!is_lock && !is_safepoint", ["test_pipeline_waits"]),
    Mutant("phases: nobody is asked again", OUTSIDE, "\tjvm_phases_poll(&pipeline->phases, clock_now_ns());\n", "", ["test_pipeline_locks"]),
    Mutant("phases: one that has ended is watched", OUTSIDE, "\tjvm_phases_forget(&pipeline->phases, process);\n", "", ["test_pipeline_locks"]),
    Mutant("phases: any event is one", PHASE, "wanted & ~(1U << JVM_PHASE_COUNT)", "wanted", JVMS),
    Mutant("phases: all are wanted", PHASES, "if (!(phases->wanted & 1U << i))", "if (0)", JVMS),
    Mutant("phases: probed again and again", PHASES, "\tif (jvm_watch_has(&phases->watch, process))\n\t\treturn;\n", "", JVMS),
    Mutant("phases: asked for nothing", PHASES, "if (phases->wanted & KNOW_MORE)", "if (1)", JVMS),
    Mutant("watch: asked as often as it may be", WATCH, "MIN(2 * of->wait_ns, watch->ops.most_wait_ns)", "WAIT_NS", ["test_lock_parks"]),
    Mutant("compilations: fields that are missing", TASK, "\tif (r == 0)\n\t\t*ret_task = task;\n\treturn r;", "\t*ret_task = task;\n\treturn 0;", ["test_jvm_shown"]),
    Mutant("compilations: all lengths", SESSION, "jit_least_ns = event->least_ns", "jit_least_ns = 0", ["test_bpf_session", "test_bpf_events"]),
    Mutant("compilations: switches are not seen", KIND, "\tif (trigger == WIRE_TRIGGER_JIT_SWITCH)\n\t\treturn capture_event_is_jit(event);\n", "", ["test_event_phases"]),
    Mutant("compilations: the time of the end", WRITE, " || type == JFR_COMPILATION ||", " ||", FILE),
    Mutant("compilations: read by their begin", READ, "\ts.time_ns += s.weight;\n\ts.weight *= MIN(", "\ts.weight *= MIN(", FILE),
    Mutant("compilations: off the cpu is the run queue", READ, "jfr_add_parts(reader, v, JFR_OFF_CPU, &s);", "jfr_add_parts(reader, v, JFR_RUN_QUEUE, &s);", FILE),
]
