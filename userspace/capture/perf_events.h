/* SPDX-License-Identifier: Apache-2.0 */
/* Perf events with BPF programs on them: those of one cpu, and those that are there once for all. */
#ifndef HOSTPROF_CAPTURE_PERF_EVENTS_H
#define HOSTPROF_CAPTURE_PERF_EVENTS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/vec.h"
#include "capture/cpu_list.h"
#include "capture/event.h"
#include "wire.h"

struct perf_event_open {
	int fd;		    /* owned */
	int link;	    /* owned BPF link; -1 when there is none */
	unsigned int event; /* index; PERF_EVENT_EDGE: none */
};

/* One of a window's edges, of which no sample is taken. */
#define PERF_EVENT_EDGE WIRE_MAX_EVENTS

/*
 * A clock is WIRE_CLOCK_TIMERS of them (bpf/sample/tick.h says why), a breakpoint or a USDT probe as many as it has places, any other
 * event one.
 */
struct perf_events {
	VEC(struct perf_event_open) open;
};

/* What the kernel says of an event, of all cpus. */
struct perf_event_counts {
	uint64_t counted; /* in the event's unit */
	uint64_t enabled_ns,
		running_ns; /* less when events had to take turns, as there are too few counters */
};

struct perf_events_options {
	const struct capture_event *events;
	unsigned int count;
	const struct cpu_list *cpus; /* that are sampled; NULL: all */
	struct capture_window window;
	bool exclude_user;
	bool exclude_kernel;
	int prog_fds[WIRE_TRIGGER_COUNT]; /* of those that events need */
};

/*
 * Open every event of a trigger PERF on CPU with the program attached; the event's index is the program's
 * cookie, above it (WIRE_COOKIE_TGID()) the process that it is about. They run at once: the program says when sampling begins. On a cpu that is
 * not sampled there are clocks only, as a thread's run time is theirs wherever it passes. -ENODEV when the cpu is offline.
 */
int perf_events_open(const struct perf_events_options *options, unsigned int cpu,
		     struct perf_events *ret_events, struct err *err);
/*
 * The others, and the edges of a window. Such an event runs its program wherever it fires, so that there is one for the whole host; on
 * CPU it has its books, any that is online.
 */
int perf_events_open_shared(const struct perf_events_options *options, unsigned int cpu,
			    struct perf_events *ret_events, struct err *err);

/* Would EVENT be sampled on CPU? It is opened, and closed again; 0, or the errno and the sentence that recording ends with. */
int perf_event_try(const struct capture_event *event, unsigned int cpu, struct err *err);

/*
 * PROBE in process PID alone, whose threads all run into it, of whatever event; PID 0: in all that map the file. Closing *RET_FD
 * and *RET_LINK ends it. -ESRCH: the process has gone.
 */
struct perf_place {
	enum wire_trigger trigger; /* one that runs in PLACES */
	uint64_t
		form; /* of WIRE_TRIGGER_MALLOC an enum wire_malloc_form, of HotSpot's probes a WIRE_USDT_FORM(); else 0 */
	unsigned int event; /* index */
	uint32_t pid;
	unsigned int cpu; /* of PID 0, that has the event's books: any that is online */
	const struct uprobe *probe;
};

int perf_event_open_place(const struct perf_events_options *options, const struct perf_place *place,
			  int *ret_fd, int *ret_link, struct err *err);

/*
 * What the kernel has to say of them beside their program (PERF_RECORD_THROTTLE) goes to the ring of FD, an event
 * of the same cpu and clock. Where it cannot it is not said.
 */
void perf_events_set_output(const struct perf_events *events, int fd);

/*
 * Add what those that are samples of a counter have counted since they were opened to COUNTS, by the index of the event; SIGN
 * -1: take it away.
 */
void perf_events_add_counts(const struct perf_events *events,
			    const struct perf_events_options *options, int sign,
			    struct perf_event_counts *counts);

void perf_events_release(struct perf_events *events);

/*
 * The period of a clock's timer NUMBER (below WIRE_CLOCK_TIMERS), for a clock of PERIOD_NS. RANDOM, any
 * number, moves it a little, so that nobody can know it. The timers' rates come to the clock's within a
 * percent; each has ticks that stand for a WIRE_CLOCK_TIMERS-th of its period.
 */
uint64_t perf_events_timer_period(uint64_t period_ns, unsigned int number, uint32_t random);

#endif
