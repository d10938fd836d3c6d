/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of ours may do; capabilities(7). All is of the calling thread, and of the threads and processes that it makes
 * then: a process gives its rights up before it has other threads.
 */
#ifndef HOSTPROF_BASE_RIGHTS_H
#define HOSTPROF_BASE_RIGHTS_H

#include <linux/capability.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/strbuf.h"

#define RIGHT(cap) (1ULL << (cap))

/* Look into processes, find and open their files, whoever has them; /proc/PID/map_files. */
#define RIGHTS_TO_LOOK \
	(RIGHT(CAP_SYS_PTRACE) | RIGHT(CAP_DAC_READ_SEARCH) | RIGHT(CAP_CHECKPOINT_RESTORE))
/* Act as the user of another process in its directories, and take away there what was left behind. */
#define RIGHTS_TO_ATTACH \
	(RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID) | RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_FOWNER))
/*
 * Become a user that nobody is, in an empty root; and for who makes such: have them ended by his own end, whose signal (PR_SET_PDEATHSIG) is
 * his, group_send_sig_info() in kernel/signal.c.
 */
#define RIGHTS_TO_LEAVE \
	(RIGHT(CAP_SETUID) | RIGHT(CAP_SETGID) | RIGHT(CAP_SYS_CHROOT) | RIGHT(CAP_KILL))
/* Who makes those that look, some of them urgent, and those that leave. */
#define RIGHTS_OF_NURSERY (RIGHTS_TO_LOOK | RIGHTS_TO_LEAVE | RIGHT(CAP_SYS_NICE))
/* Events and rings of cpus that come, addresses of the kernel's functions; end readers. */
#define RIGHTS_TO_RECORD                                                                 \
	(RIGHT(CAP_PERFMON) | RIGHT(CAP_BPF) | RIGHT(CAP_IPC_LOCK) | RIGHT(CAP_SYSLOG) | \
	 RIGHT(CAP_KILL))
/* Probe a process that comes: perf_uprobe_event_init() in kernel/events/core.c asks for no less, to Linux 6.18. */
#define RIGHTS_TO_PROBE RIGHT(CAP_SYS_ADMIN)
/* Write, and give away, files in directories of others. */
#define RIGHTS_TO_WRITE (RIGHT(CAP_CHOWN) | RIGHT(CAP_DAC_OVERRIDE) | RIGHT(CAP_FOWNER))

/* 0: they cannot be read. */
uint64_t rights_permitted(void);

/* Those of WANTED that are permitted take effect, until the next call. */
void rights_use(uint64_t wanted);

/*
 * Nothing but WANTED from now on, and no program can be run that would have any (no_new_privs, an empty bounding set). CAP_SYS_ADMIN stays where it
 * stands for one that was split off from it and is wanted (Linux 5.8, 5.9).
 */
void rights_keep(uint64_t wanted);

/* Another user and group than anybody, as far as that is permitted; and no other groups. */
void rights_leave_user(void);

/* No more than MOST of WHAT (setrlimit()) from now on. */
void rights_limit(__rlimit_resource_t what, uint64_t most);

/* "cap_bpf, cap_perfmon", or "none". */
void rights_add_names(struct strbuf *out, uint64_t rights);

#endif
