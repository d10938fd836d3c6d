// SPDX-License-Identifier: Apache-2.0
#include "capture/perf_events.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int perf_event_open_cpu(const struct perf_events_options *options,
			       const struct capture_event *event, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.disabled = 1,
		.freq = event->period == 0,
	};
	long fd;

	if (event->period)
		attr.sample_period = event->period;
	else
		attr.sample_freq = event->freq_hz;
	/*
	 * A hardware counter can leave out modes itself. A clock must not: the program counts its
	 * ticks (bpf/tick.h) and leaves out samples.
	 */
	if (!capture_event_is_clock(event)) {
		attr.exclude_user = options->exclude_user;
		attr.exclude_kernel = options->exclude_kernel;
	}
	fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
	return fd < 0 ? -errno : (int)fd;
}

static int perf_event_attach(int prog_fd, int event_fd, unsigned int index)
{
	/* libbpf's own attach function would enable the event, too. */
	LIBBPF_OPTS(bpf_link_create_opts, opts, .perf_event.bpf_cookie = index);
	int link = bpf_link_create(prog_fd, event_fd, BPF_PERF_EVENT, &opts);

	return link < 0 ? -errno : link;
}

int perf_events_open(const struct perf_events_options *options, unsigned int cpu,
		     struct perf_events *ret_events, struct err *err)
{
	_cleanup_(perf_events_release) struct perf_events events = { .count = 0 };

	for (unsigned int i = 0; i < options->count; i++) {
		const struct capture_event *event = &options->events[i];
		int fd = perf_event_open_cpu(options, event, cpu), link;

		if (fd < 0)
			return err_sys(err, fd, "cannot open perf event '%s' on cpu %u",
				       event->name, cpu);
		events.fds[i] = fd;
		events.links[i] = -1;
		events.count = i + 1;
		link = perf_event_attach(options->prog_fd, fd, i);
		if (link < 0)
			return err_sys(err, link,
				       "cannot attach the BPF program to perf event '%s' on cpu %u",
				       event->name, cpu);
		events.links[i] = link;
	}
	*ret_events = events;
	events.count = 0;
	return 0;
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

int perf_events_enable(const struct perf_events *events)
{
	for (unsigned int i = 0; i < events->count; i++)
		if (ioctl(events->fds[i], PERF_EVENT_IOC_ENABLE, 0) < 0)
			return -errno;
	return 0;
}

void perf_events_disable(const struct perf_events *events)
{
	for (unsigned int i = 0; i < events->count; i++)
		ioctl(events->fds[i], PERF_EVENT_IOC_DISABLE, 0);
}
