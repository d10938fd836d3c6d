# SPDX-License-Identifier: Apache-2.0
"""Of collectors' pauses: which operations are such, why, where a JVM says so, and the file."""
from .mutant import Mutant

BOOK = "bpf/sample/phases/gc.h"
DATA = "userspace/jvm/perf/perf_data.c"
PERF = "userspace/jvm/perf/jvm_perf.c"
REASON = "userspace/session/compilations/gc_reason.c"
READS = "userspace/symbolize/compilation.c"
SHOWN = "userspace/symbolize/shown.c"
CHECK = "userspace/capture/rings/sample_check.c"
PHASES = "userspace/session/probes/jvm_phases.c"
SESSION = "userspace/capture/bpf_session.c"
WRITE = "userspace/recording/samples/write_jvm.c"

TIMES = ["test_gc"]
COUNTERS = ["test_jvm_perf"]
NAMES = ["test_gc_reason"]
FILE = ["test_recording_phases"]

MUTANTS = [
    Mutant("gc: any operation is one", BOOK, "return book->collects ? length_ns : 0;", "return length_ns;", TIMES),
    Mutant("gc: an end of nothing", BOOK, "\tif (!book->begin_ns)\n\t\treturn 0;\n", "", TIMES),
    Mutant("gc: one end after another", BOOK, "\tbook->begin_ns = 0;\n", "", TIMES),
    Mutant("gc: the cause of the one before", BOOK, "\t__builtin_memset(book, 0, sizeof(*book));\n", "", TIMES),
    Mutant("gc: none is a cause", BOOK, "!book->cause[0] || (", "!book->cause[0] || (0 && ", TIMES),
    Mutant("gc: time runs back", BOOK, "now_ns > book->begin_ns ? now_ns - book->begin_ns : 1", "now_ns - book->begin_ns", TIMES),
    Mutant("counters: any memory has them", DATA, "memcmp(bytes, MAGIC, 4) != 0 ||", "0 ||", COUNTERS),
    Mutant("counters: of any version", DATA, "bytes[MAJOR_AT] != MAJOR", "0", COUNTERS),
    Mutant("counters: behind the memory", DATA, "if (at > len || len - at < sizeof(entry))", "if (len - at < sizeof(entry))", COUNTERS),
    Mutant("counters: an entry without end", DATA, "entry.length < sizeof(entry) ||", "0 ||", COUNTERS),
    Mutant("counters: an entry longer than all", DATA, "entry.length > len - at", "0", COUNTERS),
    Mutant("counters: a name that begins likewise", DATA, "strlen(name) + 1", "strlen(name)", COUNTERS),
    Mutant("counters: numbers are strings", DATA, "entry.type != TYPE_BYTE ||", "0 ||", COUNTERS),
    Mutant("counters: data behind its entry", DATA, "entry.data >= entry.length", "0", COUNTERS),
    Mutant("counters: of another file", PERF, "memmem(ret_line->path, ret_line->path_len, DIRECTORY, strlen(DIRECTORY)) &&", "", COUNTERS),
    Mutant("counters: of the file's middle", PERF, "!ret_line->pgoff &&", "", COUNTERS),
    Mutant("counters: what is not there yet will never be", PERF, "r == -ENODATA ? -EAGAIN : r", "r", COUNTERS),
    Mutant("counters: at their offset", PERF, "*ret_address = line.start + offset;", "*ret_address = offset;", COUNTERS),
    Mutant("gc: no cause is unknown", REASON, "!gc_pause_read(sample, &pause) || !pause.cause[0]", "!gc_pause_read(sample, &pause)", NAMES),
    Mutant("gc: none is a cause's name", REASON, "strcmp(pause.cause, WIRE_GC_NO_CAUSE) ? pause.cause :", "1 ? pause.cause :", NAMES),
    Mutant("gc: any byte is a cause's", READS, "!isprint((unsigned char)name[i]) || name[i] == ';'", "0", NAMES),
    Mutant("gc: a name without end", READS, "strnlen(name, WIRE_GC_NAME_BYTES - 1)", "strnlen(name, WIRE_GC_NAME_BYTES)", NAMES),
    Mutant("gc: another one's stack", SHOWN, "\tchar name[WIRE_GC_NAME_BYTES + 2];\n\n\t/* Likewise. */\n\tbuild->cacheable = false;\n", "\tchar name[WIRE_GC_NAME_BYTES + 2];\n\n", ["test_symbolize_code"]),
    Mutant("gc: of any length", CHECK, "|| sample->name_bytes != sizeof(pause)", "", ["test_sample_check"]),
    Mutant("gc: what is known already is not told", PHASES, "if (r != -EOPNOTSUPP)", "if (r == 0)", ["test_jvm_phases"]),
    Mutant("gc: what was not read in time is not there", "userspace/jvm/jvm_outside.c", "return r == -ENODATA || r == -EBADMSG ? 0 : r;", "return r == -EAGAIN ? r : 0;", ["test_jvm_causes"]),
    Mutant("gc: nobody asks for causes", PHASES, "phases->wanted & 1U << JVM_PHASE_GC, &known", "false, &known", ["test_jvm_phases"]),
    Mutant("gc: all lengths", SESSION, "gc_least_ns = event->least_ns", "gc_least_ns = 0", ["test_bpf_session", "test_bpf_events"]),
    Mutant("gc: the time of the end", WRITE, " ||\n\t       type == JFR_GC_PAUSE;", ";", FILE),
]
