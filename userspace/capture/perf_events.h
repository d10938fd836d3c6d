/* SPDX-License-Identifier: Apache-2.0 */
/* The perf events of one cpu, with the BPF program on them. */
#ifndef HOSTPROF_CAPTURE_PERF_EVENTS_H
#define HOSTPROF_CAPTURE_PERF_EVENTS_H

#include <stdbool.h>

#include "base/err.h"
#include "capture/event.h"
#include "wire.h"

struct perf_events {
	int fds[WIRE_MAX_EVENTS];   /* owned; -1 when there is none */
	int links[WIRE_MAX_EVENTS]; /* owned BPF links */
	unsigned int count;
};

struct perf_events_options {
	const struct capture_event *events;
	unsigned int count;
	bool exclude_user;
	bool exclude_kernel;
	int prog_fd;
};

/*
 * Open every event on CPU, disabled, with the program attached; the event's index is the
 * program's cookie. -ENODEV when the cpu is offline.
 */
int perf_events_open(const struct perf_events_options *options, unsigned int cpu,
		     struct perf_events *ret_events, struct err *err);
void perf_events_release(struct perf_events *events);

int perf_events_enable(const struct perf_events *events);
void perf_events_disable(const struct perf_events *events);

#endif
