/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that drains the rings goes before others: a walk that BPF could not finish goes on in
 * the live stack, and on a host that has more to do than it can a thread waits tens of milliseconds
 * for a cpu, whatever its nice value is (each session is a group of its own there, CONFIG_SCHED_AUTOGROUP).
 */
#ifndef HOSTPROF_CMD_DRIVE_PRIORITY_H
#define HOSTPROF_CMD_DRIVE_PRIORITY_H

/*
 * The calling thread, but none that it makes, takes the lowest real-time priority; where that is not
 * allowed, or a hard RLIMIT_RTTIME could kill it, a better nice value. Whoever started hostprof with
 * a worse nice value, or a policy of his own, keeps them. One thread at a time; again is as once.
 */
void priority_raise(void);
/* As it was; also of a thread that was not raised. */
void priority_restore(void);

#endif
