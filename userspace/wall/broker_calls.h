/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls of a broker; seccomp(2). */
#ifndef HOSTPROF_WALL_BROKER_CALLS_H
#define HOSTPROF_WALL_BROKER_CALLS_H

/*
 * From now on this process makes no other system calls than a broker needs; others fail with EPERM. Opening is reading, but of
 * memory files: a broker makes, removes, links and runs nothing. A kernel without seccomp leaves it as it is.
 */
void broker_calls_limit(void);

#endif
