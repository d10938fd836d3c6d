# SPDX-License-Identifier: Apache-2.0
"""Of classes that are loaded: how many one stands for, what their place tells, their names, the file."""
from .mutant import Mutant

CHANCE = "bpf/sample/phases/class_load.h"
FORM = "userspace/session/probes/class_form.c"
SHOWN = "userspace/symbolize/shown.c"
SYMBOLIZER = "userspace/symbolize/symbolizer.c"
READS = "userspace/symbolize/compilation.c"
CHECK = "userspace/capture/rings/sample_check.c"
PHASES = "userspace/session/probes/jvm_phases.c"
WRITE = "userspace/recording/samples/write_jvm.c"
READ = "userspace/recording/samples/read_jvm.c"

TOLD = ["test_class_load"]
CODE = ["test_symbolize_code"]
CHECKS = ["test_sample_check"]
FILE = ["test_recording_phases"]

MUTANTS = [
    Mutant("classes: each of any number", CHANCE, "if (!draw_is_taken(doubled, random))", "if (0)", TOLD),
    Mutant("classes: who is told stands for one", CHANCE, "return 1U << doubled;", "return 1;", TOLD),
    Mutant("classes: nobody counts", CHANCE, "\tthin_count(pace, now_ns);\n", "", TOLD),
    Mutant("classes: a name without its length", FORM, "name != USDT_NO_REG && bytes != USDT_NO_REG", "name != USDT_NO_REG", ["test_class_form"]),
    Mutant("classes: shared by any argument", FORM, "if (shared != USDT_NO_REG)", "if (1)", ["test_class_form"]),
    Mutant("classes: another one's stack", SHOWN, "\t/* As above. */\n\tbuild->cacheable = false;\n", "", CODE),
    Mutant("classes: names of no bytes", SHOWN, "class_load_read(sample, &name) && name.len", "class_load_read(sample, &name)", CODE),
    Mutant("classes: the JVM's own frames stay", SYMBOLIZER, "has_class(sample) || sample->text == WIRE_TEXT_CLASS_LOAD", "has_class(sample)", CODE),
    Mutant("classes: names that are not there", READS, "\tif (bytes != sizeof(head) + head.class_bytes)\n\t\treturn false;\n", "", CODE),
    Mutant("classes: a name longer than may be", CHECK, "head.class_bytes > WIRE_LOADED_CLASS_BYTES", "0", CHECKS),
    Mutant("classes: any length", CHECK, "sample->name_bytes == sizeof(head) + head.class_bytes ? 0", "1 ? 0", CHECKS),
    Mutant("classes: of another place", PHASES, "\"class__loaded\"", "\"class__unloaded\"", ["test_jvm_phases"]),
    Mutant("classes: a file has one of each", WRITE, "\t*at++ = 0;\n\tat = jfr_varint(at, s->weight);", "\t*at++ = 0;\n\tat = jfr_varint(at, 1);", FILE),
    Mutant("classes: read without their name", READ, "JFR_CLASSLOAD_EVENT, \"count\", &s))\n\t\treturn;\n\tjfr_put_class(reader, &s, jfr_sample_class(reader, v, found), false);", "JFR_CLASSLOAD_EVENT, \"count\", &s))\n\t\treturn;", FILE),
]
