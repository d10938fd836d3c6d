/* SPDX-License-Identifier: Apache-2.0 */
/* Uprobes, through the kernel's uprobe PMU (perf_uprobe in kernel/events/core.c). */
#ifndef HOSTPROF_CAPTURE_PROBES_UPROBE_H
#define HOSTPROF_CAPTURE_PROBES_UPROBE_H

#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct uprobe {
	char library[256];  /* a path, or the name that a process maps it by; as typed */
	char function[256]; /* without what is added */
	uint64_t plus;	    /* bytes behind the function's beginning */
	bool is_return;
	uint32_t type; /* perf_event_attr's: the PMU's number */
	uint64_t config;
	/* Found by the caller (symbolize/probe_find.h): the file, and the place in it. */
	char path[PATH_MAX];
	uint64_t offset;
};

/* Does NAME begin as a probe's does? */
bool uprobe_is_name(const char *name);

/*
 * NAME, "uprobe:LIB:FUNC[+OFF]" or "uretprobe:LIB:FUNC", into *RET_PROBE; where the function is in which
 * file, is not looked up. -EINVAL: it is not of that form. -EOPNOTSUPP: this kernel has no uprobes.
 */
int uprobe_parse(const char *name, struct uprobe *ret_probe, struct err *err);

/*
 * A probe of the instruction at OFFSET of the file PATH, or with IS_RETURN of the return of the function that begins there. -EOPNOTSUPP: this
 * kernel has no uprobes.
 */
int uprobe_at(const char *path, uint64_t offset, bool is_return, struct uprobe *ret_probe,
	      struct err *err);

/* What perf_event_open() wants to know; ATTR borrows PROBE. */
void uprobe_fill_attr(const struct uprobe *probe, struct perf_event_attr *attr);

#endif
