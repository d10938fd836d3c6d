/* SPDX-License-Identifier: Apache-2.0 */
/* What -e options say, looked up: for every command that takes samples. */
#ifndef HOSTPROF_CMD_EVENT_ARGS_H
#define HOSTPROF_CMD_EVENT_ARGS_H

#include <stdint.h>

#include "base/err.h"
#include "capture/event.h"

/*
 * COUNT events by name, for FREQ_HZ and these processes (0: all): a probe's library is looked for in them, and
 * a breakpoint's symbol is in each of them. Errors are those of capture_event_parse(), probe_find(), probe_find_usdt() and watch_find().
 */
struct event_args {
	const char *const *names;
	size_t count;
	uint32_t freq_hz;
	const uint32_t *pids;
	unsigned int pid_count;
};

int event_args_parse(const struct event_args *args, struct capture_event *ret_events,
		     struct err *err);

/* --begin and --end: functions' calls, returns or USDT probes; NULL: not given. */
struct event_window_args {
	const char *names[2];
	struct capture_event events[2]; /* looked up */
};

/* Those of WINDOW, looked up likewise, for EVENTS, which ARGS became; what *RET_WINDOW borrows is WINDOW's. */
int event_args_parse_window(const struct event_args *args, const struct capture_event *events,
			    struct event_window_args *window, struct capture_window *ret_window,
			    struct err *err);

#endif
