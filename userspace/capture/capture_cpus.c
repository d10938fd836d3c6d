// SPDX-License-Identifier: Apache-2.0
/* The part of capture that goes by cpu: opening, starting, draining, hot-plug. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "capture/capture_private.h"
#include "capture/cpu_list.h"
#include "capture/preflight/preflight.h"

int capture_count_cpus(struct capture *c, struct err *err)
{
	_cleanup_(cpu_list_release) struct cpu_list possible = { 0 };
	int r = cpu_list_read_possible(&possible), n = libbpf_num_possible_cpus();

	if (r < 0 || n <= 0)
		return err_sys(err, r < 0 ? r : n, "cannot read the list of possible cpus");
	c->possible = (unsigned int)n;
	c->online_count = MIN(c->load.online.size, possible.size);
	c->cpus = xcalloc(possible.size, sizeof(*c->cpus));
	c->cpu_count = possible.size;
	c->suspended_before_ns = clock_suspended_ns();
	return 0;
}

static int capture_watch(struct capture *c, int fd, struct err *err)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(c->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return err_sys(err, -errno, "cannot watch the ring buffers");
	return 0;
}

/* An error of opening an event: say what is missing, when a check knows. */
static int capture_explain(struct err *err)
{
	struct err why = { 0 };

	if ((err->code == -EPERM || err->code == -EACCES) && preflight_explain(&why) < 0)
		*err = why;
	return err->code;
}

/*
 * A perf event whose cpu went offline stays open, and counts no more when the cpu is back: its time stands
 * still. What an event may lag behind the clock: an eighth, for a host that gets little of its machine, and
 * a moment between reading the two.
 */
#define LAG_SHIFT    3
#define LEAST_LAG_NS (20 * NSEC_PER_MSEC)
/* The clocks are read one after the other. */
#define LEAST_SUSPEND_NS (10 * NSEC_PER_MSEC)

static void capture_ask(struct capture_cpu *slot)
{
	if (sideband_enabled_ns(slot->sideband, &slot->enabled_ns) < 0)
		slot->enabled_ns = 0;
	slot->asked_ns = clock_now_ns();
}

/* How long the events have not counted, 0: they do. */
static uint64_t capture_ask_missing(struct capture_cpu *slot)
{
	uint64_t elapsed_ns = clock_now_ns() - slot->asked_ns, before_ns = slot->enabled_ns;
	uint64_t counted_ns, missing_ns;

	capture_ask(slot);
	counted_ns = slot->enabled_ns - MIN(before_ns, slot->enabled_ns);
	missing_ns = elapsed_ns - MIN(counted_ns, elapsed_ns);
	if (missing_ns > MAX(elapsed_ns >> LAG_SHIFT, LEAST_LAG_NS))
		return missing_ns + slot->late_ns;
	slot->late_ns = missing_ns;
	return 0;
}

static void capture_note_gap(struct capture *c, uint64_t ns)
{
	c->unobserved_ns += ns;
	c->unobserved_times++;
	c->side_gap = true;
}

static int capture_open_side(struct capture *c, unsigned int cpu, struct err *err)
{
	struct capture_cpu *slot = &c->cpus[cpu];
	int r = sideband_open(cpu, &slot->sideband, err);

	if (r < 0)
		return capture_explain(err);
	r = capture_watch(c, sideband_fd(slot->sideband), err);
	if (r < 0)
		return r;
	rings_add_side(c->rings, slot->sideband);
	slot->late_ns = 0;
	capture_ask(slot);
	return 0;
}

static int capture_open_cpu(struct capture *c, unsigned int cpu, struct err *err)
{
	struct capture_cpu *slot = &c->cpus[cpu];
	int r = slot->sideband ? 0 : capture_open_side(c, cpu, err);

	if (r < 0)
		return r;
	r = perf_events_open(&c->event_options, cpu, &slot->events, err);
	if (r < 0)
		return capture_explain(err);
	perf_events_set_output(&slot->events, sideband_fd(slot->sideband));
	slot->is_on = true;
	return 0;
}

/* Probes and tracepoints; they are there once. */
static int capture_open_shared(struct capture *c, const struct cpu_list *online, struct err *err)
{
	unsigned int cpu = 0;
	int r;

	while (cpu + 1 < online->size && !online->has[cpu])
		cpu++;
	c->shared_cpu = cpu;
	r = perf_events_open_shared(&c->event_options, cpu, &c->shared, err);
	return r < 0 ? capture_explain(err) : 0;
}

void capture_add_counts(struct capture *c, int sign)
{
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++)
		perf_events_add_counts(&c->cpus[cpu].events, &c->event_options, sign, c->counts);
}

static void capture_release_events(struct capture *c, struct capture_cpu *slot)
{
	if (c->samples)
		perf_events_add_counts(&slot->events, &c->event_options, 1, c->counts);
	perf_events_release(&slot->events);
}

static void capture_close_cpu(struct capture *c, unsigned int cpu)
{
	struct capture_cpu *slot = &c->cpus[cpu];

	slot->is_on = false;
	capture_release_events(c, slot);
	if (slot->sideband)
		rings_remove_side(c->rings, slot->sideband);
	sideband_free(slot->sideband); /* closing takes it out of the epoll set */
	slot->sideband = NULL;
}

static int capture_open_each(struct capture *c,
			     int (*open)(struct capture *c, unsigned int cpu, struct err *err),
			     struct err *err)
{
	const struct cpu_list *online = &c->load.online;

	for (unsigned int cpu = 0; cpu < MIN(online->size, c->cpu_count); cpu++) {
		int r = online->has[cpu] ? open(c, cpu, err) : 0;

		if (r < 0 && r != -ENODEV) /* went offline just now */
			return r;
	}
	return 0;
}

int capture_open_rings(struct capture *c, struct err *err)
{
	int r = rings_open(c->cpu_count, c->load.ring_bytes, &c->load.online, &c->rings, err);

	if (r < 0)
		return capture_explain(err);
	r = capture_watch(c, rings_fd(c->rings), err);
	return r < 0 ? r : capture_open_each(c, capture_open_side, err);
}

int capture_open_events(struct capture *c, struct err *err)
{
	int r = capture_open_each(c, capture_open_cpu, err);

	return r < 0 ? r : capture_open_shared(c, &c->load.online, err);
}

void capture_close_cpus(struct capture *c)
{
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++)
		capture_close_cpu(c, cpu);
}

struct side_drain {
	struct capture *c;
	const struct capture_handler *handler;
};

/* What is of events and of no process is ours. */
static void capture_take_side(const struct side_event *event, void *data)
{
	struct side_drain *drain = data;
	struct capture *c = drain->c;

	if (event->kind == SIDE_THROTTLE) {
		c->throttled_times++;
		c->throttled_now++;
		c->stopped_sum_ns += event->time_ns;
	} else if (event->kind != SIDE_UNTHROTTLE) {
		drain->handler->side(event, drain->handler->data);
	} else if (c->throttled_now) {
		c->throttled_now--;
		c->resumed_sum_ns += event->time_ns;
	}
}

void capture_drain(struct capture *c, const struct capture_handler *handler)
{
	const struct rings_handler rings = { .miss = handler->miss,
					     .sample = handler->sample,
					     .span = handler->span,
					     .lock_begin = handler->lock_begin,
					     .invalid = handler->invalid,
					     .data = handler->data };
	const struct side_event gap = { .kind = SIDE_LOST, .time_ns = clock_now_ns(), .name = "" };

	struct side_drain drain = { c, handler };

	if (c->side_gap)
		handler->side(&gap, handler->data);
	c->side_gap = false;
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++)
		if (c->cpus[cpu].sideband)
			c->side_lost +=
				sideband_drain(c->cpus[cpu].sideband, capture_take_side, &drain);
	rings_drain(c->rings, &rings);
}

int capture_fd(const struct capture *c)
{
	return c->epoll_fd;
}

int capture_edge_fd(const struct capture *c)
{
	return rings_edge_fd(c->rings);
}

void capture_drainer_waits(struct capture *c, bool waits)
{
	rings_taker_waits(c->rings, waits);
}

/* A cpu that came online: its ring first, so that no sample finds none. */
static int capture_reopen_cpu(struct capture *c, unsigned int cpu, struct err *err)
{
	int r = rings_add(c->rings, cpu, err);

	if (r < 0)
		return r;
	/* An event that went offline with its cpu does not come back with it. */
	capture_close_cpu(c, cpu);
	r = capture_open_cpu(c, cpu, err);
	return r == -ENODEV ? 0 : r;
}

/* It was offline when it was looked at last, or has been since: when, nobody knows. */
static int capture_cpu_came(struct capture *c, unsigned int cpu, struct err *err)
{
	uint64_t since_ns = c->cpus[cpu].asked_ns;
	int r = capture_reopen_cpu(c, cpu, err);

	if (r == 0 && c->cpus[cpu].is_on && since_ns)
		capture_note_gap(c, clock_now_ns() - since_ns);
	return r;
}

/* It is online and was: the same all the time? */
static int capture_cpu_stayed(struct capture *c, unsigned int cpu, bool woke, struct err *err)
{
	uint64_t missing_ns = capture_ask_missing(&c->cpus[cpu]);

	if (!missing_ns && !woke)
		return 0;
	if (missing_ns)
		capture_note_gap(c, missing_ns);
	return capture_reopen_cpu(c, cpu, err);
}

static void capture_cpu_is_off(struct capture *c, struct capture_cpu *slot)
{
	slot->is_on = false;
	/* The side-band's last records stay readable until the cpu is back. */
	capture_release_events(c, slot);
	slot->asked_ns = clock_now_ns();
}

/* All cpus but one go offline for a suspend. */
static bool capture_woke(struct capture *c)
{
	uint64_t ever_ns = clock_suspended_ns();

	if (ever_ns < c->suspended_before_ns + c->suspended_ns + LEAST_SUSPEND_NS)
		return false;
	c->suspended_ns = ever_ns - c->suspended_before_ns;
	return true;
}

int capture_update_cpus(struct capture *c, struct err *err)
{
	_cleanup_(cpu_list_release) struct cpu_list online = { 0 };
	bool woke = capture_woke(c);
	int r = cpu_list_read_online(&online);

	if (r < 0)
		return err_sys(err, r, "cannot read the list of online cpus");
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++) {
		bool is = cpu < online.size && online.has[cpu], was = c->cpus[cpu].is_on;

		if (!is)
			capture_cpu_is_off(c, &c->cpus[cpu]);
		else if (!was)
			r = capture_cpu_came(c, cpu, err);
		else
			r = capture_cpu_stayed(c, cpu, woke, err);
		if (r < 0)
			return r;
	}
	return 0;
}
