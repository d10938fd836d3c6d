# SPDX-License-Identifier: Apache-2.0
"""Stacks of runtimes' own: what they are called in which a walk has ended."""
from .mutant import Mutant

OWN = "userspace/symbolize/own_stack.c"
TESTS = ["test_own_stack"]

MUTANTS = [
    Mutant("own stack: any name is Haskell's", OWN, "	return false;\n}\n\nstatic const char *path_of", "	return true;\n}\n\nstatic const char *path_of", TESTS),
    Mutant("own stack: any module", OWN, "		return false;\n	for (size_t", "		;\n	for (size_t", TESTS),
    Mutant("own stack: no file is told of", OWN, "	note_haskell(symbolizer, frame->mapping);\n", "", TESTS),
    Mutant("own stack: all files are told of", OWN, "		if (*known == mapping)\n", "", TESTS),
    Mutant("own stack: all is Erlang's", OWN, "return build->process->exe && !strcmp(file_name_of(build->process->exe), \"beam.smp\") &&", "return", TESTS),
    Mutant("own stack: the emulator is Erlang's", OWN, "(!*path || *path == '[' || !strncmp(path, \"/memfd:\", 7))", "1", TESTS),
    Mutant("own stack: what is in no file is told of", OWN, "mapping != PROFILE_NONE && ", "", TESTS),
    Mutant("own stack: not of the frame", "userspace/symbolize/symbolizer.c", "const char *own = is_lost(reason) ? own_stack_of(build) : NULL;", "const char *own = NULL;", ["test_symbolize_code"]),
    Mutant("own stack: whatever the reason", "userspace/symbolize/symbolizer.c", "const char *own = is_lost(reason) ? own_stack_of(build) : NULL;", "const char *own = own_stack_of(build);", ["test_symbolize_code"]),
]
