/* SPDX-License-Identifier: Apache-2.0 */
/* What a process of ours may do; capabilities(7). */
#ifndef HOSTPROF_WALL_RIGHTS_H
#define HOSTPROF_WALL_RIGHTS_H

/*
 * A broker looks into processes and opens their files, whoever has them: CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH,
 * and CAP_CHECKPOINT_RESTORE for /proc/PID/map_files. Of what there is the rest is given up, and no program can be
 * run that would have more.
 */
void rights_keep_of_broker(void);

#endif
