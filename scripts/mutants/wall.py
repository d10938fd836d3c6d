# SPDX-License-Identifier: Apache-2.0
"""Of what other processes can make wait: who is asked, who is left behind, what is opened."""
from .mutant import Mutant

LANE = "userspace/wall/lane.c"
SUSPECTS = "userspace/wall/suspects.c"
NURSERY = "userspace/wall/nursery.c"
FOREIGN = "userspace/wall/foreign_file.c"
BROKER = "userspace/wall/broker.c"
RIGHTS = "userspace/wall/rights.c"
WALL_C = "userspace/wall/wall.c"

CALLS = ["test_wall"]
FILES = ["test_foreign_file", "test_wall"]
WHOM = ["test_suspects"]

MUTANTS = [
    Mutant("wall: a broker is waited for without end", LANE, "if (is_late(lane, waited_ns))", "if (0)", CALLS),
    Mutant("wall: a dead broker is waited for", LANE, "&slice) == -ETIMEDOUT &&\n\t\t    is_dead(lane->socket))\n\t\t\treturn -ECHILD;\n\t}\n\treturn 0;\n}\n\n/* What was asked", "&slice) == -ETIMEDOUT && 0)\n\t\t\treturn -ECHILD;\n\t}\n\treturn 0;\n}\n\n/* What was asked", CALLS),
    Mutant("wall: what a dead broker was asked is lost", LANE, "if (r == -ECHILD && !trade->is_hostile && ask_another(lane) == 0)", "if (0)", CALLS),
    Mutant("wall: a nursery that was killed stays so", NURSERY, "if ((r == -EPIPE || r == -ECONNRESET) && revive(nursery) == 0)", "if (0)", CALLS),
    Mutant("wall: brokers hold our files", NURSERY, "close_range(SOCKET_FD + 1, ~0U, 0);", ";", CALLS),
    Mutant("wall: brokers have all rights", RIGHTS, "data[i].permitted &= part;", "(void)part;", CALLS),
    Mutant("wall: who does not answer is asked again at once", SUSPECTS, "(suspect && now_ns < suspect->until_ns) || ", "", CALLS),
    Mutant("wall: the pause does not grow", SUSPECTS, "suspect->pause_ns ? 2 * suspect->pause_ns", "suspect->pause_ns ? suspect->pause_ns",
           WHOM),
    Mutant("wall: a user takes all brokers", SUSPECTS, "lost_to(suspects, suspects_user(pid)) >= SUSPECTS_PER_USER", "0", WHOM),
    Mutant("wall: one user's brokers are everybody's", SUSPECTS, "lost_to(suspects, suspects_user(pid)) >= SUSPECTS_PER_USER", "1", WHOM),
    Mutant("wall: all brokers can be lost", SUSPECTS, "suspects->lost.len >= SUSPECTS_AT_ALL ||", "", WHOM),
    Mutant("wall: a broker that came back is lost", SUSPECTS, "if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR)))", "if (1)", WHOM),
    Mutant("wall: pieces that are not there are read", BROKER, "return n < 0 ? -errno : n;", "return n < 0 ? 0 : n;", CALLS),
    Mutant("wall: unknown file systems are opened", FOREIGN,
           "return is_one_of((unsigned long)fs.f_type, served, ARRAY_SIZE(served)) ? 0 : -EINVAL;", "return 0;", FILES),
    Mutant("wall: devices are opened", FOREIGN, "if (!S_ISREG(st.st_mode))", "if (0)", FILES),
    Mutant("wall: others' overlays are read in place", FOREIGN, "fs.f_type == OVERLAYFS_SUPER_MAGIC && pid && !same_user_namespace(pid)", "0",
           CALLS),
    Mutant("wall: copies can be changed", FOREIGN, "F_SEAL_WRITE | F_SEAL_SHRINK", "F_SEAL_SHRINK", CALLS),
    Mutant("wall: served files are held open", WALL_C, "if (file->kind == FOREIGN_LOCAL)", "if (1)", CALLS),
]
