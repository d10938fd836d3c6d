# SPDX-License-Identifier: Apache-2.0
"""Of the look at a JVM's directories before anybody attaches to it."""
from .mutant import Mutant

CONNECT = "userspace/jvm/attach/attach_connect.c"
STAGE = "userspace/jvm/attach/attach_stage.c"
INFO = "userspace/jvm/jvm_info.c"

MUTANTS = [
    Mutant("attach: a file can be made anywhere", CONNECT, "dir_fd >= 0 && faccessat(dir_fd, \".\", W_OK | X_OK, 0) == 0", "dir_fd >= 0", ["test_attach_connect"]),
    Mutant("attach: only /tmp is looked at", CONNECT, "|| may_create_in(target->cwd_fd)", "", ["test_attach_connect"]),
    Mutant("attach: a copy that is there does not count", STAGE, "(copy_is_good(dir_fd, stage) || faccessat", "(faccessat", ["test_attach_stage"]),
    Mutant("attach: the host's own file does not count", STAGE, "if (sees_same_file(target, stage))\n\t\treturn 0;", ";", ["test_attach_stage"]),
    Mutant("attach: what a look finds is not said", INFO, "r = attach_reach_check(", "(void)attach_reach_check(", ["test_jvm_info"]),
]
