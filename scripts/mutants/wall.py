# SPDX-License-Identifier: Apache-2.0
"""Of what other processes can make wait: who is asked, who is left behind, what is opened."""
from .mutant import Mutant

LANE = "userspace/wall/lane.c"
SUSPECTS = "userspace/wall/suspects.c"
NURSERY = "userspace/wall/nursery.c"
FOREIGN = "userspace/wall/foreign_file.c"
BROKER = "userspace/wall/broker.c"
WALL_MEMORY = "userspace/wall/wall_memory.c"
RIGHTS = "userspace/base/rights.c"
TARGET = "userspace/jvm/attach/attach_target.c"
PROC = "userspace/process/proc.c"
PRIORITY = "userspace/cmd/drive/priority.c"
WALL_C = "userspace/wall/wall.c"
LOOK = "userspace/wall/broker_look.c"
MAPS = "userspace/wall/broker_maps.c"
FUTEX = "userspace/wall/futex.h"
TRADE = "userspace/wall/trade.c"

CALLS = ["test_wall", "test_wall_brokers"]
FILES = ["test_foreign_file", "test_wall"]
WHOM = ["test_suspects"]
LOOKS = ["test_looks"]

MUTANTS = [
    Mutant("wall: who is slow for a moment is late", WALL_C, "lane_wait_for_disk(*ret_lane, LOOP_DEADLINE_NS + patience_begin(", "lane_wait_for_disk(*ret_lane, LOOP_DEADLINE_NS + 0 * patience_begin(", ["test_wall_brokers"]),
    Mutant("wall: who is slow all the time is waited for", WALL_C, "patience_end(&wall.patience, clock_now_ns(), LOOP_DEADLINE_NS);", "(void)patience_end;", ["test_wall_brokers"]),
    Mutant("patience: it does not come back", "userspace/base/budget/patience.c", "patience->spent_ns -= MIN(patience->spent_ns, back_ns);", "(void)back_ns;", ["test_patience"]),
    Mutant("patience: it is saved without an end", "userspace/base/budget/patience.c", "MIN(patience->spent_ns, back_ns)", "back_ns", ["test_patience"]),
    Mutant("patience: more was taken than there is", "userspace/base/budget/patience.c", "MIN(more_ns, PATIENCE_STORE_NS - patience->spent_ns)", "more_ns", ["test_patience"]),
    Mutant("wall: a broker is waited for without end", LANE, "if (is_late(lane, waited_ns))", "if (0)", CALLS),
    Mutant("wall: a dead broker is waited for", LANE, "if (!wait_a_while(lane, answered))", "if (!wait_a_while(lane, answered) && 0)", CALLS),
    Mutant("wall: who sleeps is waited for awake, however busy the host is", LANE, "lane->in_vain = IN_VAIN;", ";", ["test_lane"]),
    Mutant("wall: who asks waits awake whatever he has asked", LANE, " || !lane->terms.trade->is_quick(call->op)", "", ["test_lane"]),
    Mutant("wall: for memory one goes to sleep", BROKER, "return !opens_file(op);", "return op > 0 && !opens_file(op);", ["test_lane"]),
    Mutant("wall: what a broker used before a pause is not known", TRADE, "\tnote_cpu(call);\n\tfutex_sleep", "\tfutex_sleep", ["test_lane"]),
    Mutant("wall: what a dead broker was asked is lost", LANE, "i < MOST_OTHERS && ", "0 && ", CALLS),
    Mutant("wall: a nursery that was killed stays so", NURSERY, "while (pid > 0 && WIFSIGNALED(status));", "while (0);", CALLS),
    Mutant("wall: who goes first waits for the nursery", NURSERY, "if (urgent)\n\t\tbe_urgent(true);", ";", CALLS),
    Mutant("wall: whom the nursery makes goes first", NURSERY, "\t\tbe_usual();\n", "\t\t;\n", CALLS),
    Mutant("wall: brokers hold our files", NURSERY, "close_range(SOCKET_FD + 1, ~0U, 0);", ";", CALLS),
    Mutant("wall: brokers have all rights", RIGHTS, "caps.data[i].permitted &= (uint32_t)(wanted >> (32 * i));", "", ["test_wall", "test_rights"]),
    Mutant("rights: programs may have more", RIGHTS, "prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);", ";", ["test_rights"]),
    Mutant("rights: the bounding set stays", RIGHTS, "	bound();\n", "", ["test_rights"]),
    Mutant("rights: admin stands for nothing", RIGHTS, "if (wanted & SPLIT_OFF_ADMIN & ~permitted(&caps))", "if (0)", ["test_rights"]),
    Mutant("rights: admin stays in any case", RIGHTS, "if (wanted & SPLIT_OFF_ADMIN & ~permitted(&caps))", "if (1)", ["test_rights"]),
    Mutant("wall: a nursery has all rights", NURSERY, "rights_keep(RIGHTS_OF_NURSERY |", "(void)(RIGHTS_OF_NURSERY |",
           ["test_wall_help"]),
    Mutant("wall: brokers make any call", BROKER, "	broker_calls_limit();\n", "", CALLS),
    Mutant("wall: what we may not read stays unread", WALL_C, "if (fd == -EACCES)", "if (!is_local)", CALLS),
    Mutant("wall: a helper is waited for beyond the end", WALL_C, "if (clock_now_ns() >= wall_until(deadline_ns))", "if (clock_now_ns() >= deadline_ns)",
           ["test_wall_help"]),
    Mutant("wall: whose helper is late is asked again", WALL_C, "	if (!wall_may_ask(pid))\n		return -EBUSY;\n	if (socketpair", "	if (socketpair",
           ["test_wall_help"]),
    Mutant("attach: another process has the pid", TARGET, "if (r < 0 || !has_ended(target))", "if (1)", ["test_attach_connect"]),
    Mutant("proc: hidden processes are not noted", PROC, "is_word(type, \"proc\") && hides(options))", "0)", ["test_proc"]),
    Mutant("proc: others' mounts hide ours", PROC, "is_word(place, \"/proc\") && ", "", ["test_proc"]),
    Mutant("priority: without the right nothing is restored", PRIORITY, "		(void)set_policy(raised.tid, SCHED_OTHER);\n	setrlimit", "		;\n	setrlimit",
           ["test_priority_calls"]),
    Mutant("wall: who does not answer is asked again at once", SUSPECTS, "(suspect && now_ns < suspect->until_ns) || ", "", CALLS),
    Mutant("wall: the pause does not grow", SUSPECTS, "suspect->pause_ns ? 2 * suspect->pause_ns", "suspect->pause_ns ? suspect->pause_ns",
           WHOM),
    Mutant("wall: who is asked about pays for a broker that was stopped", "userspace/wall/lane.c", "return end_stopped(lane) ? -ECHILD : -ETIMEDOUT;", "return -ETIMEDOUT;", ["test_wall_brokers"]),
    Mutant("wall: who does not answer is taken for stopped", "userspace/wall/lane.c", "if (state != 'T' && state != 't')\n\t\treturn false;", "", ["test_wall_brokers"]),
    Mutant("wall: who is late for a moment is left for a second", SUSPECTS, "\t\tforgive(suspects, suspects->lost.items[i].pid);\n", "", WHOM),
    Mutant("wall: forgiven for ever", SUSPECTS, " || suspect->forgiven >= SUSPECTS_FORGIVEN", "", WHOM),
    Mutant("wall: forgiven before it is back", SUSPECTS, "\treap(suspects);\n\tsuspect = hmap", "\tsuspect = hmap", WHOM),
    Mutant("wall: a user takes all brokers", SUSPECTS, "lost_to(suspects, suspects_user(pid)) >= SUSPECTS_PER_USER", "0", WHOM),
    Mutant("wall: one user's brokers are everybody's", SUSPECTS, "lost_to(suspects, suspects_user(pid)) >= SUSPECTS_PER_USER", "1", WHOM),
    Mutant("wall: all brokers can be lost", SUSPECTS, "suspects->lost.len >= SUSPECTS_AT_ALL ||", "", WHOM),
    Mutant("wall: a broker that came back is lost", SUSPECTS, "if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR)))", "if (1)", WHOM),
    Mutant("wall: pieces that are not there are read", BROKER, "remote, count, 0);\n	return n < 0 ? -errno : n;", "remote, count, 0);\n	return n < 0 ? 0 : n;", CALLS),
    Mutant("wall: unknown file systems are opened", FOREIGN,
           "return is_one_of((unsigned long)fs.f_type, served, ARRAY_SIZE(served)) ? 0 : -EINVAL;", "return 0;", FILES),
    Mutant("wall: devices are opened", FOREIGN, "if (!S_ISREG(st.st_mode))", "if (0)", FILES),
    Mutant("wall: others' overlays are read in place", FOREIGN, "fs.f_type == OVERLAYFS_SUPER_MAGIC && pid && !same_user_namespace(pid)", "0",
           CALLS),
    Mutant("wall: copies can be changed", FOREIGN, "F_SEAL_WRITE | F_SEAL_SHRINK", "F_SEAL_SHRINK", CALLS),
    Mutant("wall: whatever is mapped there is the file", LOOK, "return call->id.inode == call->key.inode ? 0 : -ESTALE;", "return 0;", LOOKS),
    Mutant("wall: any program is the file", LOOK, "return r == 0 && call->id.inode != call->key.inode ? -ENOENT : r;", "return r;", LOOKS),
    Mutant("wall: a path of ours with the number is the file", LOOK,
           "(call->id.major != call->key.major || call->id.minor != call->key.minor)", "0", LOOKS),
    Mutant("wall: all mapped files are looked at", MAPS, "call->count--;", ";", LOOKS),
    Mutant("wall: one call looks at all files", MAPS, "&& looks == (call->count > 0)", "", LOOKS),
    Mutant("wall: rows of calls are slept through", FUTEX, "if (waited_ns <= most_ns)", "if (0)", ["test_futex"]),
    Mutant("wall: who is called seldom waits awake", FUTEX, "return spin_ns / 2 > least_ns ? spin_ns / 2 : least_ns;", "return spin_ns;",
           ["test_futex"]),
    Mutant("wall: of several the first one is asked about", BROKER, "call->pid = part->pid;", "call->pid = call->parts[0].pid;", CALLS),
    Mutant("wall: who may not be asked is asked with others", WALL_MEMORY, "if (!wall_may_ask(parts[i].pid))", "if (0)", CALLS),
    Mutant("wall: bytes of who is not asked come", WALL_MEMORY, "from += was_asked ? bytes : 0;", "from += bytes;", CALLS),
    Mutant("wall: parts follow each other without a gap", WALL_MEMORY, "\t\tdata += bytes;\n", "\t\tdata += parts[i].result > 0 ? parts[i].result : 0;\n", CALLS),
    Mutant("wall: parts of a call follow each other without a gap", BROKER, "at += wall_pieces_bytes(pieces, part->count);", "at += part->result > 0 ? part->result : 0;", CALLS),
    Mutant("wall: any number of pieces in parts", WALL_MEMORY, "if (count > WALL_MAX_PARTS || sum > WALL_MAX_PIECES)", "if (count > WALL_MAX_PARTS)", CALLS),
    Mutant("wall: served files are held open", WALL_C, "bool is_local = file->kind == FOREIGN_LOCAL;", "bool is_local = true;", CALLS),
]
