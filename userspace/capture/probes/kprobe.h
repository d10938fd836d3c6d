/* SPDX-License-Identifier: Apache-2.0 */
/* Probes of the kernel's functions, through its kprobe PMU (perf_kprobe in kernel/events/core.c). */
#ifndef HOSTPROF_CAPTURE_PROBES_KPROBE_H
#define HOSTPROF_CAPTURE_PROBES_KPROBE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct kprobe {
	char function
		[128]; /* the kernel's KSYM_NAME_LEN was that until Linux 6.1; longer names are Rust's */
	uint64_t plus; /* bytes behind its beginning */
	bool is_return;
	uint32_t type; /* perf_event_attr's: the PMU's number */
	uint64_t config;
};

bool kprobe_is_name(const char *name);

/*
 * NAME, "kprobe:FUNC[+OFF]" or "kretprobe:FUNC". -EINVAL: it is not of that form. -EOPNOTSUPP: this kernel has no kprobes. Whether it has
 * that function, perf_event_open() says.
 */
int kprobe_parse(const char *name, struct kprobe *ret_probe, struct err *err);

/* What perf_event_open() wants to know; ATTR borrows PROBE. */
void kprobe_fill_attr(const struct kprobe *probe, struct perf_event_attr *attr);

#endif
