// SPDX-License-Identifier: Apache-2.0
#include "capture/perf_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* As wire_triggers.def says it. */
enum runs { RUNS_EACH_CPU, RUNS_HOST, RUNS_ITSELF, RUNS_PLACES };

static const enum runs triggers_run[] = {

#define WIRE_TRIGGER(name, program, runs) RUNS_##runs,
#include "wire_triggers.def"
#undef WIRE_TRIGGER
};

/*
 * Of four equal parts of a clock's rate, in 1,024ths of their period: far enough from each other that
 * the timers are out of step after two or three ticks, and of no simple ratio. The mean of their
 * inverses is 1 within a percent.
 */
static const uint64_t timer_parts[WIRE_CLOCK_TIMERS] = { 811, 949, 1109, 1356 };
/* A timer's period is up to a 64th part longer by chance. */
#define TIMER_RANDOM_SHIFT 6

uint64_t perf_events_timer_period(uint64_t period_ns, unsigned int number, uint32_t random)
{
	uint64_t whole = period_ns * WIRE_CLOCK_TIMERS * timer_parts[number] / 1024;

	return whole + ((whole >> TIMER_RANDOM_SHIFT) * (random & 0xffff) >> 16);
}

/* A clock counts time, and is accounted for otherwise; of other triggers each is a sample. */
static bool is_counter(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_PERF && !capture_event_is_clock(event);
}

static int perf_event_open_cpu(const struct perf_events_options *options,
			       const struct capture_event *event, uint64_t period, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.freq = period == 0,
		/* That of the side-band, which shares its ring. */
		.use_clockid = event->trigger == WIRE_TRIGGER_PERF,
		.clockid = event->trigger == WIRE_TRIGGER_PERF ? CLOCK_MONOTONIC : 0,
	};
	long fd;

	/* A tracepoint's program sees each of them; perf itself is to make nothing of it. */
	if (event->trigger == WIRE_TRIGGER_TRACEPOINT)
		attr.sample_period = 0;
	else if (period)
		attr.sample_period = period;
	else
		attr.sample_freq = event->freq_hz;
	/*
	 * A hardware counter can leave out modes itself. A clock must not: the program keeps books of
	 * a thread's run time (bpf/sample/tick.h), in which modes are not told apart, and leaves out samples.
	 */
	if (is_counter(event)) {
		attr.exclude_user = options->exclude_user;
		attr.exclude_kernel = options->exclude_kernel;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	if (event->trigger == WIRE_TRIGGER_UPROBE)
		uprobe_fill_attr(&event->probe, &attr);
	fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int perf_event_attach(int prog_fd, int event_fd, uint64_t cookie)
{
	/* libbpf's own attach function would enable the event, too. */
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);

	return link < 0 ? -errno : link;
}

static int perf_events_add(const struct perf_events_options *options, unsigned int index,
			   uint64_t period, unsigned int cpu, struct perf_events *events,
			   struct err *err)
{
	const struct capture_event *event = &options->events[index];
	int fd = perf_event_open_cpu(options, event, period, cpu), link;

	if (fd < 0 && event->trigger != WIRE_TRIGGER_PERF)
		return err_sys(err, fd, "cannot probe '%s'", event->name);
	if (fd < 0)
		return err_sys(err, fd, "cannot open perf event '%s' on cpu %u", event->name, cpu);
	events->fds[events->count] = fd;
	events->events[events->count] = (uint8_t)index;
	events->links[events->count++] = -1;
	link = perf_event_attach(options->prog_fds[event->trigger], fd, index);
	if (link < 0)
		return err_sys(err, link,
			       "cannot attach the BPF program to perf event '%s' on cpu %u",
			       event->name, cpu);
	events->links[events->count - 1] = link;
	return 0;
}

static int perf_events_add_clock(const struct perf_events_options *options, unsigned int index,
				 unsigned int cpu, struct perf_events *events, struct err *err)
{
	uint64_t period = options->events[index].period;
	uint32_t random[WIRE_CLOCK_TIMERS] = { 0 };
	int r = 0;

	/* Without it the periods are merely known. */
	(void)!getrandom(random, sizeof(random), GRND_NONBLOCK);
	for (unsigned int i = 0; i < WIRE_CLOCK_TIMERS && r == 0; i++)
		r = perf_events_add(options, index, perf_events_timer_period(period, i, random[i]),
				    cpu, events, err);
	return r;
}

int perf_events_open(const struct perf_events_options *options, unsigned int cpu,
		     struct perf_events *ret_events, struct err *err)
{
	_cleanup_(perf_events_release) struct perf_events events = { .count = 0 };

	for (unsigned int i = 0; i < options->count; i++) {
		const struct capture_event *event = &options->events[i];
		int r = 0;

		if (capture_event_is_clock(event))
			r = perf_events_add_clock(options, i, cpu, &events, err);
		else if (triggers_run[event->trigger] == RUNS_EACH_CPU)
			r = perf_events_add(options, i, event->period, cpu, &events, err);
		if (r < 0)
			return r;
	}
	*ret_events = events;
	events.count = 0;
	return 0;
}

int perf_events_open_shared(const struct perf_events_options *options, unsigned int cpu,
			    struct perf_events *ret_events, struct err *err)
{
	_cleanup_(perf_events_release) struct perf_events events = { .count = 0 };

	for (unsigned int i = 0; i < options->count; i++) {
		const struct capture_event *event = &options->events[i];
		int r;

		if (triggers_run[event->trigger] != RUNS_HOST)
			continue;
		r = perf_events_add(options, i, event->period, cpu, &events, err);
		if (r < 0)
			return r;
	}
	*ret_events = events;
	events.count = 0;
	return 0;
}

int perf_event_open_place(const struct perf_events_options *options, const struct perf_place *place,
			  int *ret_fd, int *ret_link, struct err *err)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_period = 1 };
	long fd;
	int link;

	uprobe_fill_attr(place->probe, &attr);
	/* By the process's memory the kernel tells who is meant (uprobe_perf_filter() in trace_uprobe.c). */
	fd = syscall(SYS_perf_event_open, &attr, place->pid ? (pid_t)place->pid : -1,
		     place->pid ? -1 : (int)place->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, -errno, "cannot probe process %u", place->pid);
	link = perf_event_attach(options->prog_fds[place->trigger], (int)fd,
				 WIRE_MALLOC_COOKIE(place->event, place->form));
	if (link < 0) {
		close((int)fd);
		return err_sys(err, link, "cannot attach the BPF program to process %u",
			       place->pid);
	}
	*ret_fd = (int)fd;
	*ret_link = link;
	return 0;
}

void perf_events_set_output(const struct perf_events *events, int fd)
{
	for (unsigned int i = 0; i < events->count; i++)
		(void)ioctl(events->fds[i], PERF_EVENT_IOC_SET_OUTPUT, fd);
}

void perf_events_add_counts(const struct perf_events *events,
			    const struct perf_events_options *options, int sign,
			    struct perf_event_counts *counts)
{
	for (unsigned int i = 0; i < events->count; i++) {
		struct perf_event_counts *sum = &counts[events->events[i]];
		/* As read_format says. */
		uint64_t values[3];

		if (!is_counter(&options->events[events->events[i]]) ||
		    read(events->fds[i], values, sizeof(values)) != (ssize_t)sizeof(values))
			continue;
		sum->counted += (uint64_t)sign * values[0];
		sum->enabled_ns += (uint64_t)sign * values[1];
		sum->running_ns += (uint64_t)sign * values[2];
	}
}

void perf_events_release(struct perf_events *events)
{
	for (unsigned int i = 0; i < events->count; i++) {
		if (events->links[i] >= 0)
			close(events->links[i]);
		close(events->fds[i]);
	}
	events->count = 0;
}
