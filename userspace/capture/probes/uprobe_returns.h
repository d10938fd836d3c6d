/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can functions' returns be probed without harm? From Linux 6.11 on such a return is a system call of the process's own
 * (arch/x86/kernel/uprobes.c, uretprobe()), which filters of system calls (kernel/seccomp.c) may refuse, and so end the process, until
 * they let it pass unseen: Linux 6.14, 6.13.3, 6.12.14, and who has taken it over from there.
 */
#ifndef HOSTPROF_CAPTURE_PROBES_UPROBE_RETURNS_H
#define HOSTPROF_CAPTURE_PROBES_UPROBE_RETURNS_H

#include <stdbool.h>

#include "base/err.h"

/* Has a kernel of this RELEASE, as uname() says it, that system call? */
bool uprobe_returns_call(const char *release);

/* -EOPNOTSUPP: it would harm. A child with a filter tries it. */
int uprobe_returns_check(struct err *err);

#endif
