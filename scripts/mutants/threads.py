# SPDX-License-Identifier: Apache-2.0
"""Of the names of Java's threads, read from the heap."""
from .mutant import Mutant

THREADS = "userspace/jvm/heap/java_threads.c"
FIELDS = "userspace/jvm/heap/java_fields.c"
NAME = "userspace/jvm/java_name.c"

READ = ["test_java_threads"]

MUTANTS = [
    Mutant("threads: what moved is taken as it was", THREADS, "if (!is_same(&way, &after))", "if (0)", READ),
    Mutant("threads: a collection ends it", THREADS, "while (may_come(h, read_name(h, address, &thread.name)))\n\t\t;", "read_name(h, address, &thread.name);", READ),
    Mutant("threads: the object of another one", THREADS, "if (!r && eetop != thread)", "if (0)", READ),
    Mutant("threads: any object is a string", THREADS, "return (word & h->of_string.mask) == h->of_string.value ? 0 : -ESTALE;", "return 0;", READ),
    Mutant("threads: collectors that run beside Java are read", THREADS,
           "if (flags.use_z == 1 || flags.use_shenandoah == 1)\n\t\treturn -EOPNOTSUPP;", "", READ),
    Mutant("threads: all have Shenandoah", THREADS, "flags.use_shenandoah == 1", "flags.use_shenandoah != -1", READ),
    Mutant("threads: a length is believed", THREADS, "if (length > MAX_STRING_CHARS)\n\t\treturn -ESTALE;", "", READ),
    Mutant("threads: so many as it says", THREADS, "if (count > MAX_THREADS)\n\t\treturn -EBADMSG;", "", READ),
    Mutant("threads: all names are Latin-1", THREADS, "h->has_coder && !way.coder ? 1 : 2", "h->has_coder ? 1 : 2", READ),
    Mutant("threads: bytes are counted as chars", THREADS, "length /= (uint32_t)width;", ";", READ),
    Mutant("threads: a field of another type", FIELDS, "is_symbol(s, name, s->name) && is_symbol(s, signature, s->signature)",
           "is_symbol(s, name, s->name)", READ),
    Mutant("threads: fields with values have no more numbers", FIELDS, "if (flags & more[k] &&", "if (0 &&", READ),
    Mutant("threads: half of a pair", NAME, "if (low >= 0xdc00 && low < 0xe000) {", "if (1) {", ["test_java_name"]),
    Mutant("threads: names that steer a terminal", NAME, "if (c < 0x20 || c == 0x7f ||", "if (", ["test_java_name"]),
]
