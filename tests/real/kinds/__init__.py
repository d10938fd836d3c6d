# SPDX-License-Identifier: Apache-2.0
"""The kinds of real programs that `make check-programs` records."""
from . import compilers, go, languages, servers, tools, without_cfi
from .kind import KINDS, PRELUDE, command_of

__all__ = ["KINDS", "PRELUDE", "command_of", "compilers", "go", "languages", "servers", "tools", "without_cfi"]
