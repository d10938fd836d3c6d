/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes that programs have put into themselves (USDT, SystemTap's sys/sdt.h): nops that notes of the file tell of. They are
 * uprobes there; a probe may have a semaphore, a counter in the program's memory that says whether somebody listens, and the kernel counts it up
 * for us.
 */
#ifndef HOSTPROF_CAPTURE_PROBES_USDT_H
#define HOSTPROF_CAPTURE_PROBES_USDT_H

#include <limits.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* One probe's; each is a uprobe. libjvm's have up to four, inlined functions may have more. */
#define USDT_MAX_PLACES 64

struct usdt_place {
	uint64_t offset;    /* in the file */
	uint64_t semaphore; /* likewise; 0: there is none */
};

struct usdt {
	char library[256]; /* a path, or the name that a process maps it by; as typed */
	char provider[128];
	char name[128];
	uint32_t type; /* of the uprobe PMU */
	/* Found by the caller (symbolize/probe_find.h). */
	char path[PATH_MAX];
	struct usdt_place places[USDT_MAX_PLACES];
	unsigned int count;
};

bool usdt_is_name(const char *name);

/*
 * NAME, "usdt:LIB:PROVIDER:NAME"; where it is, is not looked up. -EINVAL: it is not of that form. -EOPNOTSUPP: this kernel has no
 * uprobes, or cannot count semaphores up.
 */
int usdt_parse(const char *name, struct usdt *ret_probe, struct err *err);

/* What perf_event_open() wants to know of place NUMBER; ATTR borrows PROBE. */
void usdt_fill_attr(const struct usdt *probe, unsigned int number, struct perf_event_attr *attr);

#endif
