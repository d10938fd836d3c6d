# SPDX-License-Identifier: Apache-2.0
"""Of what is said to be missing of a JVM."""
from .mutant import Mutant

LACKS = "userspace/jvm/jvm_lacks.c"
INFO = "userspace/jvm/jvm_info.c"
DOCTOR = "userspace/cmd/cmd_doctor.c"

TESTS = ["test_jvm_lacks"]

MUTANTS = [
    Mutant("lacks: nobody says that inlined methods are missing", LACKS, "if (scopes.place == SCOPES_UNKNOWN)", "if (0)", TESTS),
    Mutant("lacks: inlined methods are always missing", LACKS, "if (scopes.place == SCOPES_UNKNOWN)", "if (1)", TESTS),
    Mutant("lacks: lines of any JVM", LACKS, "if (layout.const_method_flags == JVM_LAYOUT_ABSENT)", "if (1)", TESTS),
    Mutant("lacks: source files by one of two fields", LACKS,
           "if (layout.pool_source_index == JVM_LAYOUT_ABSENT &&\n\t    layout.klass_source_index == JVM_LAYOUT_ABSENT)",
           "if (layout.klass_source_index == JVM_LAYOUT_ABSENT)", TESTS),
    Mutant("lacks: a JVM without tables has it all", INFO, "jvm_lacks_all(why, &info->lacks);", ";", ["test_jvm_info"]),
    Mutant("lacks: the doctor does not mind", DOCTOR, "if (attachable < count || lacking)", "if (attachable < count)", ["test_cmd_doctor"]),
]
