/* SPDX-License-Identifier: Apache-2.0 */
/* Uprobes as events, through the kernel's uprobe PMU (perf_uprobe in kernel/events/core.c). */
#ifndef HOSTPROF_CAPTURE_UPROBE_H
#define HOSTPROF_CAPTURE_UPROBE_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "base/err.h"
#include "capture/event.h"

/* Does NAME begin as a probe's does? */
bool uprobe_is_name(const char *name);

/*
 * NAME, "uprobe:LIB:FUNC[+OFF]" or "uretprobe:LIB:FUNC", into type, config and probe of EVENT; where the
 * function is in which file, is not looked up. -EINVAL: it is not of that form. -EOPNOTSUPP: this kernel has
 * no uprobes.
 */
int uprobe_parse(const char *name, struct capture_event *event, struct err *err);

/* What perf_event_open() wants to know beyond type and config; borrows EVENT. */
void uprobe_fill_attr(const struct capture_event *event, struct perf_event_attr *attr);

/* "config:3" of a format file of sysfs: the bit; -EBADMSG for another form. */
int uprobe_parse_format(const char *text);

#endif
