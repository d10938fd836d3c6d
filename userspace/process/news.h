/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forks and execs that are known but not applied to the registry yet: what it says of such a process
 * is of another program.
 */
#ifndef HOSTPROF_PROCESS_NEWS_H
#define HOSTPROF_PROCESS_NEWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"

/* Starts as zeros. */
struct process_news {
	struct hmap recent, older; /* pid -> time */
	uint64_t newest_ns, older_newest_ns;
};

void process_news_release(struct process_news *news);

/* APPLIED_NS: everything up to then is; it only grows. */
void process_news_put(struct process_news *news, uint32_t pid, uint64_t time_ns,
		      uint64_t applied_ns);

/* Does the registry, which is at APPLIED_NS, not know yet what PID is at TIME_NS? */
bool process_news_has(const struct process_news *news, uint32_t pid, uint64_t time_ns,
		      uint64_t applied_ns);

#endif
