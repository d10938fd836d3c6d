# SPDX-License-Identifier: Apache-2.0
"""What every list of mutants is made of."""
import collections

# file: below the root of the tree. old: there exactly once. tests: names of unit tests ("test_x"),
# or programs that judge by their exit code, by their path ("tests/tools/x.py").
Mutant = collections.namedtuple("Mutant", "name file old new tests")
