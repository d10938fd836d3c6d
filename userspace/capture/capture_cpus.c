// SPDX-License-Identifier: Apache-2.0
/* The part of capture that goes by cpu: opening, starting, draining, hot-plug. */
#include <bpf/libbpf.h>
#include <errno.h>
#include <sys/epoll.h>

#include "base/alloc.h"
#include "capture/capture_private.h"
#include "capture/cpu_list.h"
#include "capture/preflight/preflight.h"

int capture_count_cpus(struct capture *c, struct err *err)
{
	_cleanup_(cpu_list_release) struct cpu_list possible = { 0 };
	int r = cpu_list_read_possible(&possible), n = libbpf_num_possible_cpus();

	if (r < 0 || n <= 0)
		return err_sys(err, r < 0 ? r : n, "cannot read the list of possible cpus");
	c->cpu_count = possible.size;
	c->possible = (unsigned int)n;
	c->cpus = xcalloc(c->cpu_count, sizeof(*c->cpus));
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

static int capture_open_cpu(struct capture *c, unsigned int cpu, struct err *err)
{
	struct capture_cpu *slot = &c->cpus[cpu];
	int r;

	if (!slot->sideband) {
		r = sideband_open(cpu, &slot->sideband, err);
		if (r < 0)
			return capture_explain(err);
		r = capture_watch(c, sideband_fd(slot->sideband), err);
		if (r < 0)
			return r;
	}
	r = perf_events_open(&c->event_options, cpu, &slot->events, err);
	return r < 0 ? capture_explain(err) : 0;
}

/* Probes and tracepoints; they are there once. */
static int capture_open_shared(struct capture *c, const struct cpu_list *online, struct err *err)
{
	unsigned int cpu = 0;
	int r;

	while (cpu + 1 < online->size && !online->has[cpu])
		cpu++;
	r = perf_events_open_shared(&c->event_options, cpu, &c->shared, err);
	return r < 0 ? capture_explain(err) : 0;
}

static void capture_close_cpu(struct capture *c, unsigned int cpu)
{
	struct capture_cpu *slot = &c->cpus[cpu];

	perf_events_release(&slot->events);
	sideband_free(slot->sideband); /* closing takes it out of the epoll set */
	slot->sideband = NULL;
}

int capture_open_cpus(struct capture *c, uint32_t ring_bytes, struct err *err)
{
	_cleanup_(cpu_list_release) struct cpu_list online = { 0 };
	int r = cpu_list_read_online(&online);

	if (r < 0)
		return err_sys(err, r, "cannot read the list of online cpus");
	r = rings_open(bpf_session_map_fd(c->session, BPF_SESSION_RINGS), ring_bytes, &online,
		       &c->rings, err);
	if (r < 0)
		return r;
	for (unsigned int cpu = 0; cpu < MIN(online.size, c->cpu_count); cpu++) {
		if (!online.has[cpu])
			continue;
		r = capture_open_cpu(c, cpu, err);
		if (r < 0 && r != -ENODEV) /* went offline just now */
			return r;
	}
	r = capture_open_shared(c, &online, err);
	return r < 0 ? r : capture_watch(c, rings_fd(c->rings), err);
}

void capture_close_cpus(struct capture *c)
{
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++)
		capture_close_cpu(c, cpu);
}

void capture_drain(struct capture *c, const struct capture_handler *handler)
{
	const struct rings_handler rings = { .miss = handler->miss,
					     .sample = handler->sample,
					     .invalid = handler->invalid,
					     .data = handler->data };

	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++)
		if (c->cpus[cpu].sideband)
			c->side_lost +=
				sideband_drain(c->cpus[cpu].sideband, handler->side, handler->data);
	rings_drain(c->rings, &rings);
}

int capture_fd(const struct capture *c)
{
	return c->epoll_fd;
}

/* A cpu that came online: its ring first, so that no sample finds none. */
static int capture_cpu_came(struct capture *c, unsigned int cpu, struct err *err)
{
	int r = rings_add(c->rings, cpu, err);

	if (r < 0)
		return r;
	/* An event that went offline with its cpu does not come back with it. */
	capture_close_cpu(c, cpu);
	r = capture_open_cpu(c, cpu, err);
	return r == -ENODEV ? 0 : r;
}

int capture_update_cpus(struct capture *c, struct err *err)
{
	_cleanup_(cpu_list_release) struct cpu_list online = { 0 };
	int r = cpu_list_read_online(&online);

	if (r < 0)
		return err_sys(err, r, "cannot read the list of online cpus");
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++) {
		bool is = cpu < online.size && online.has[cpu], was = c->cpus[cpu].events.count > 0;

		if (is && !was) {
			r = capture_cpu_came(c, cpu, err);
			if (r < 0)
				return r;
		} else if (was && !is) {
			/* The side-band's last records stay readable until the cpu is back. */
			perf_events_release(&c->cpus[cpu].events);
		}
	}
	return 0;
}
