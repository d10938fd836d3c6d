/* SPDX-License-Identifier: Apache-2.0 */
/* One event loop (epoll): descriptors, timers (timerfd), signals (signalfd). Not thread-safe. */
#ifndef HOSTPROF_BASE_LOOP_H
#define HOSTPROF_BASE_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;

typedef void (*loop_fn)(void *data);
typedef void (*loop_signal_fn)(int signo, void *data);

int loop_new(struct loop **ret_loop, struct err *err);
void loop_free(struct loop *loop);
DEFINE_CLEANUP(struct loop *, loop_free);

/* Call FN whenever FD is readable (level-triggered). FD is borrowed for the loop's life. */
int loop_add_fd(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err);

/* The same, once whenever something comes to it (edge-triggered). */
int loop_add_edge(struct loop *loop, int fd, loop_fn fn, void *data, struct err *err);

/* Call FN every PERIOD_NS. */
int loop_add_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, void *data, struct err *err);
/* From now on every PERIOD_NS, for a timer that was added with FN and DATA. */
void loop_set_timer(struct loop *loop, uint64_t period_ns, loop_fn fn, const void *data);
/* Call FN once, at the CLOCK_MONOTONIC time DEADLINE_NS. */
int loop_add_deadline(struct loop *loop, uint64_t deadline_ns, loop_fn fn, void *data,
		      struct err *err);

/*
 * Block these signals in this thread and deliver them through FN, but not a SIGHUP that nohup has
 * us ignore. At most once per loop.
 */
int loop_add_signals(struct loop *loop, const int *signals, int n, loop_signal_fn fn, void *data,
		     struct err *err);

/* FN is told whenever the loop begins to wait, and when it is at work again, as it is outside of loop_run(). One for a loop. */
void loop_on_wait(struct loop *loop, void (*fn)(bool waits, void *data), void *data);

/*
 * Remove every source that was added with DATA, but signals, and who is told with it; also from within one of them. A
 * borrowed descriptor must still be open.
 */
void loop_forget(struct loop *loop, const void *data);

/* Run until loop_quit(). */
int loop_run(struct loop *loop, struct err *err);
void loop_quit(struct loop *loop);

#endif
