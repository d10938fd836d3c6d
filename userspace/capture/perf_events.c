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
enum runs { RUNS_EACH_CPU, RUNS_HOST, RUNS_EDGE, RUNS_ITSELF, RUNS_PLACES };

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

/* One of the perf events that make an event. */
struct opening {
	const struct capture_event *event;
	unsigned int index;	   /* of the event */
	enum wire_trigger trigger; /* whose program it runs */
	uint64_t period;
	unsigned int place; /* of a breakpoint's or a USDT probe's */
	unsigned int cpu;
};

static void fill_place(const struct capture_event *event, unsigned int place,
		       struct perf_event_attr *attr)
{
	if (event->usdt.count)
		usdt_fill_attr(&event->usdt, place, attr);
	else if (event->trigger == WIRE_TRIGGER_UPROBE)
		uprobe_fill_attr(&event->probe, attr);
	else if (event->trigger == WIRE_TRIGGER_KPROBE)
		kprobe_fill_attr(&event->kprobe, attr);
	else if (capture_event_is_breakpoint(event))
		breakpoint_fill_attr(&event->breakpoint, place, attr);
}

static void fill_period(const struct opening *o, struct perf_event_attr *attr)
{
	attr->freq = o->period == 0;
	/* A tracepoint's program sees each of them; perf itself is to make nothing of it. */
	if (o->event->trigger == WIRE_TRIGGER_TRACEPOINT)
		attr->sample_period = 0;
	else if (o->period)
		attr->sample_period = o->period;
	else
		attr->sample_freq = o->event->freq_hz;
}

static int perf_event_open_cpu(const struct perf_events_options *options, const struct opening *o)
{
	const struct capture_event *event = o->event;
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.config1 = event->more_configs[0],
		.config2 = event->more_configs[1],
		/* That of the side-band, which shares its ring. */
		.use_clockid = event->trigger == WIRE_TRIGGER_PERF,
		.clockid = event->trigger == WIRE_TRIGGER_PERF ? CLOCK_MONOTONIC : 0,
	};
	long fd;

	fill_period(o, &attr);
	/*
	 * A hardware counter can leave out modes itself. A clock must not: the program keeps books of
	 * a thread's run time (bpf/sample/tick.h), in which modes are not told apart, and leaves out samples.
	 */
	if (is_counter(event)) {
		attr.exclude_user = options->exclude_user;
		attr.exclude_kernel = options->exclude_kernel;
		attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	}
	fill_place(event, o->place, &attr);
	fd = syscall(SYS_perf_event_open, &attr, -1, (int)o->cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

/* What the kernel's numbers mean for EVENT: "Invalid argument" helps nobody. */
static int refused(const struct opening *o, int r, struct err *err)
{
	const struct capture_event *event = o->event;

	if (event->trigger != WIRE_TRIGGER_PERF)
		err_sys(err, r, "cannot probe '%s'", event->name);
	else
		err_sys(err, r, "cannot open perf event '%s' on cpu %u", event->name, o->cpu);
	if (event->trigger == WIRE_TRIGGER_KPROBE && (r == -ENOENT || r == -EINVAL))
		return err_hint(
			err,
			"the kernel has no such function (/proc/kallsyms lists them), or lets nobody probe it");
	if (capture_event_is_breakpoint(event) && r == -ENOSPC)
		return err_hint(err, "a cpu has %d breakpoints, and debuggers use them, too",
				BREAKPOINT_MAX_PLACES);
	if (r == -ENOENT || r == -EOPNOTSUPP)
		return err_hint(err, "this machine does not count that");
	if (r == -EINVAL && event->type > PERF_TYPE_BREAKPOINT)
		return err_hint(err, "its PMU has no such event, or counts it without samples");
	return r;
}

static int perf_event_attach(int prog_fd, int event_fd, uint64_t cookie)
{
	/* libbpf's own attach function would enable the event, too. */
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = cookie);
	int link = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);

	return link < 0 ? -errno : link;
}

static uint64_t cookie_of(const struct opening *o)
{
	if (!capture_event_is_breakpoint(o->event))
		return o->index;
	return WIRE_COOKIE(o->index, o->event->breakpoint.places[o->place].tgid);
}

static int perf_events_add(const struct perf_events_options *options, const struct opening *o,
			   struct perf_events *events, struct err *err)
{
	int fd = perf_event_open_cpu(options, o), link;

	if (fd < 0)
		return refused(o, fd, err);
	vec_push(&events->open, ((struct perf_event_open){ fd, -1, o->index }));
	link = perf_event_attach(options->prog_fds[o->trigger], fd, cookie_of(o));
	if (link < 0)
		return err_sys(err, link,
			       "cannot attach the BPF program to perf event '%s' on cpu %u",
			       o->event->name, o->cpu);
	events->open.items[events->open.len - 1].link = link;
	return 0;
}

static int perf_events_add_clock(const struct perf_events_options *options, struct opening o,
				 struct perf_events *events, struct err *err)
{
	uint32_t random[WIRE_CLOCK_TIMERS] = { 0 };
	int r = 0;

	/* Without it the periods are merely known. */
	(void)!getrandom(random, sizeof(random), GRND_NONBLOCK);
	for (unsigned int i = 0; i < WIRE_CLOCK_TIMERS && r == 0; i++) {
		o.period = perf_events_timer_period(o.event->period, i, random[i]);
		r = perf_events_add(options, &o, events, err);
	}
	return r;
}

/* All perf events of event INDEX, on CPU. */
static int perf_events_add_event(const struct perf_events_options *options, unsigned int index,
				 unsigned int cpu, struct perf_events *events, struct err *err)
{
	const struct capture_event *event = &options->events[index];
	struct opening o = { event, index, event->trigger, event->period, 0, cpu };
	unsigned int places = MAX(1U, MAX(event->usdt.count, event->breakpoint.count));
	int r = 0;

	if (capture_event_is_clock(event))
		return perf_events_add_clock(options, o, events, err);
	for (; o.place < places && r == 0; o.place++)
		r = perf_events_add(options, &o, events, err);
	return r;
}

/* Those that run as RUNS, and on cpus that are not sampled only clocks. */
static int perf_events_open_those(const struct perf_events_options *options, enum runs runs,
				  unsigned int cpu, struct perf_events *ret_events, struct err *err)
{
	_cleanup_(perf_events_release) struct perf_events events = { .open = VEC_INIT };
	bool is_sampled =
		runs != RUNS_EACH_CPU || !options->cpus || cpu_list_has(options->cpus, cpu);

	for (unsigned int i = 0; i < options->count; i++) {
		const struct capture_event *event = &options->events[i];
		int r;

		if (triggers_run[event->trigger] != runs ||
		    (!is_sampled && !capture_event_is_clock(event)))
			continue;
		r = perf_events_add_event(options, i, cpu, &events, err);
		if (r < 0)
			return r;
	}
	*ret_events = events;
	events = (struct perf_events){ .open = VEC_INIT };
	return 0;
}

static int perf_events_add_edge(const struct perf_events_options *options,
				const struct capture_event *event, enum wire_trigger trigger,
				unsigned int cpu, struct perf_events *events, struct err *err)
{
	struct opening o = { event, PERF_EVENT_EDGE, trigger, 1, 0, cpu };
	int r = 0;

	for (; event && o.place < MAX(1U, event->usdt.count) && r == 0; o.place++)
		r = perf_events_add(options, &o, events, err);
	return r;
}

int perf_events_open(const struct perf_events_options *options, unsigned int cpu,
		     struct perf_events *ret_events, struct err *err)
{
	return perf_events_open_those(options, RUNS_EACH_CPU, cpu, ret_events, err);
}

int perf_events_open_shared(const struct perf_events_options *options, unsigned int cpu,
			    struct perf_events *ret_events, struct err *err)
{
	_cleanup_(perf_events_release) struct perf_events events = { .open = VEC_INIT };
	int r = perf_events_open_those(options, RUNS_HOST, cpu, &events, err);

	if (r == 0)
		r = perf_events_add_edge(options, options->window.begin, WIRE_TRIGGER_WINDOW_BEGIN,
					 cpu, &events, err);
	if (r == 0)
		r = perf_events_add_edge(options, options->window.end, WIRE_TRIGGER_WINDOW_END, cpu,
					 &events, err);
	if (r < 0)
		return r;
	*ret_events = events;
	events = (struct perf_events){ .open = VEC_INIT };
	return 0;
}

int perf_event_try(const struct capture_event *event, unsigned int cpu, struct err *err)
{
	const struct perf_events_options options = { .events = event, .count = 1 };
	const struct opening o = { event, 0, event->trigger, event->period, 0, cpu };
	int fd = perf_event_open_cpu(&options, &o);

	if (fd < 0)
		return refused(&o, fd, err);
	close(fd);
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
				 WIRE_PLACE_COOKIE(place->event, place->form));
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
	const struct perf_event_open *one;

	vec_for_each (one, &events->open)
		(void)ioctl(one->fd, PERF_EVENT_IOC_SET_OUTPUT, fd);
}

void perf_events_add_counts(const struct perf_events *events,
			    const struct perf_events_options *options, int sign,
			    struct perf_event_counts *counts)
{
	const struct perf_event_open *one;

	vec_for_each (one, &events->open) {
		struct perf_event_counts *sum;
		/* As read_format says. */
		uint64_t values[3];

		if (one->event == PERF_EVENT_EDGE || !is_counter(&options->events[one->event]) ||
		    read(one->fd, values, sizeof(values)) != (ssize_t)sizeof(values))
			continue;
		sum = &counts[one->event];
		sum->counted += (uint64_t)sign * values[0];
		sum->enabled_ns += (uint64_t)sign * values[1];
		sum->running_ns += (uint64_t)sign * values[2];
	}
}

void perf_events_release(struct perf_events *events)
{
	const struct perf_event_open *one;

	vec_for_each (one, &events->open) {
		if (one->link >= 0)
			close(one->link);
		close(one->fd);
	}
	vec_release(&events->open);
}
