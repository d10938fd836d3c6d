// SPDX-License-Identifier: Apache-2.0
#include "capture/capture.h"

#include <errno.h>
#include <limits.h>
#include <sys/epoll.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "capture/capture_private.h"
#include "capture/cgroup_filter.h"
#include "capture/kernel/preempt_count.h"
#include "capture/probes/uprobe_returns.h"
#include "capture/probes/uprobe_session.h"

/* A user walk takes no longer, for each WIRE_DEFAULT_USER_FRAMES frames that it may have. */
#define WALK_BUDGET_NS (200 * NSEC_PER_USEC)
#define MIN_RING_BYTES (64ULL * 1024)
#define MAX_RING_BYTES (1ULL << 30)

/*
 * A quarter of a second at the frequency asked for, with stacks of 1 KiB (a hundred frames), and
 * not less than 1 MiB, since stacks may be deeper and the reader late; on large machines a quarter
 * of that, since every cpu has one. Where there are few cpus they get more: a program that starts
 * sends copies of its stacks.
 */
static uint64_t capture_want_ring_bytes(const struct capture_options *options, unsigned int cpus)
{
	uint64_t least = (cpus > 16 ? 256ULL : cpus > 4 ? 1024ULL : 4096ULL) * 1024, hz = 0;

	if (options->ring_bytes)
		return MIN(options->ring_bytes, MAX_RING_BYTES);
	for (unsigned int i = 0; i < options->event_count; i++) {
		const struct capture_event *e = &options->events[i];

		hz += capture_event_is_clock(e) ? NSEC_PER_SEC / e->period : e->freq_hz;
	}
	return MAX(least, MIN(hz * 1024 / 4, 4096ULL * 1024));
}

static uint32_t capture_ring_bytes(const struct capture_options *options, unsigned int cpus)
{
	uint64_t want = capture_want_ring_bytes(options, cpus), size = MIN_RING_BYTES;

	/* What was asked for is given; else the default is halved until all fit. */
	if (!options->ring_bytes && options->rings_limit_bytes)
		want = MIN(want, options->rings_limit_bytes / MAX(cpus, 1U) / 2);
	while (size < want)
		size *= 2;
	return (uint32_t)size;
}

/* All of the stack of a Java thread, where few cpus share the memory. */
static uint32_t capture_miss_copy_bytes(const struct capture_options *options, unsigned int cpus)
{
	uint64_t share = options->rings_limit_bytes / MAX(cpus, 1U) / 4;

	share = MIN(MAX(share, WIRE_MISS_LEAST_COPY), WIRE_MISS_MAX_COPY);
	return (uint32_t)(share & ~(WIRE_PAGE_BYTES - 1ULL));
}

static int capture_settings(const struct capture_options *options, struct wire_settings *settings,
			    struct err *err)
{
	*settings = (struct wire_settings){
		.budget_ns = WALK_BUDGET_NS,
		.max_user_frames =
			options->max_depth ? options->max_depth : WIRE_DEFAULT_USER_FRAMES,
		.self_tgid = (uint32_t)getpid(),
		.filter_tgids = options->pid_count > 0,
		.follow_children = options->follow_children,
		.exclude_user = options->exclude_user,
		.exclude_kernel = options->exclude_kernel,
		.include_idle = options->include_idle,
		.frame_pointers_only = options->frame_pointers_only,
	};
	if (settings->max_user_frames > WIRE_MAX_USER_FRAMES)
		return err_set(err, -EINVAL, "stack depth %u is over the limit of %d",
			       settings->max_user_frames, WIRE_MAX_USER_FRAMES);
	if (settings->max_user_frames > WIRE_DEFAULT_USER_FRAMES)
		settings->budget_ns =
			WALK_BUDGET_NS * settings->max_user_frames / WIRE_DEFAULT_USER_FRAMES;
	if (!options->cgroup_path)
		return 0;
	return cgroup_filter_resolve(options->cgroup_path, &settings->cgroup_id,
				     &settings->cgroup_level, err);
}

static int capture_add_targets(struct capture *c, const struct capture_options *options,
			       struct err *err)
{
	c->filters_pids = options->pid_count > 0;
	c->cgroup_path = options->cgroup_path ? xstrdup(options->cgroup_path) : NULL;
	for (unsigned int i = 0; i < options->pid_count; i++) {
		int r = capture_add_target(c, options->pids[i]);

		if (r < 0)
			return err_sys(err, r, "cannot make process %u a target", options->pids[i]);
	}
	return 0;
}

static bool capture_wants_memory(const struct capture_options *options)
{
	return capture_event_find(options->events, options->event_count, capture_event_is_malloc);
}

/* nr_threads (Linux kernel/sys.c, do_sysinfo()), of which the field holds 65,535; as many where it is not known. */
static unsigned int capture_count_threads(void)
{
	struct sysinfo info;

	return sysinfo(&info) < 0 ? USHRT_MAX : info.procs;
}

static int capture_load(struct capture *c, struct err *err)
{
	const struct capture_options *options = c->load.options;
	struct bpf_session_options session = {
		.events = c->events,
		.event_count = options->event_count,
		.cpus = options->cpus,
		.possible_cpus = c->cpu_count,
		.online_cpus = c->online_count,
		.threads = capture_count_threads(),
		.rings_fd = rings_array_fd(c->rings),
		.ring_bytes = c->load.ring_bytes,
		.miss_copy_bytes = capture_miss_copy_bytes(options, c->online_count),
		.table_bytes = options->table_bytes,
		.window = options->window,
		.follow_memory = options->follow_memory,
		.tells_wakers = options->tells_wakers,
		.waker_count_at = options->tells_wakers ? preempt_count_find() : 0,
	};
	int r = capture_settings(options, &session.settings, err);

	if (r < 0)
		return r;
	c->has_sessions = capture_wants_memory(options) && uprobe_session_works();
	session.has_sessions = c->has_sessions;
	c->cgroup_level = session.settings.cgroup_level;
	return bpf_session_open(&session, &c->session, err);
}

static void capture_load_main(void *data)
{
	struct capture *c = data;

	capture_load(c, &c->load.error);
}

/* The side-band first: what changes while others are at work is not missed. */
static int capture_begin(struct capture *c, const struct capture_options *options, struct err *err)
{
	int r = cpu_list_read_online(&c->load.online);

	if (r < 0)
		return err_sys(err, r, "cannot read the list of online cpus");
	r = capture_count_cpus(c, err);
	if (r < 0)
		return r;
	c->load.options = options;
	c->load.ring_bytes = capture_ring_bytes(options, c->online_count);
	r = capture_open_rings(c, err);
	if (r < 0)
		return r;
	r = urgent_thread_start(&c->load.thread, capture_load_main, c);
	return r < 0 ? err_sys(err, r, "cannot start a thread") : rings_publish(c->rings, err);
}

int capture_open(const struct capture_options *options, struct capture **ret_capture,
		 struct err *err)
{
	_cleanup_(capture_freep) struct capture *c = xcalloc(1, sizeof(*c));
	int r;

	c->epoll_fd = -1;
	if (options->event_count < 1 || options->event_count > WIRE_MAX_EVENTS)
		return err_set(err, -EINVAL, "%u events asked for, 1 to %d are possible",
			       options->event_count, WIRE_MAX_EVENTS);
	c->events = xmemdup(options->events, options->event_count * sizeof(*options->events));
	c->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (c->epoll_fd < 0)
		return err_sys(err, -errno, "cannot create an epoll descriptor");
	r = options->follow_memory ? uprobe_returns_check(err) : 0;
	if (r < 0)
		return r;
	r = capture_begin(c, options, err);
	if (r < 0)
		return r;
	*ret_capture = TAKE_PTR(c);
	return 0;
}

int capture_wait(struct capture *c, struct err *err)
{
	const struct capture_options *options = c->load.options;
	int r;

	urgent_thread_join(&c->load.thread);
	if (c->load.error.code) {
		*err = c->load.error;
		return err->code;
	}
	r = capture_map_tables(c, err);
	if (r < 0)
		return r;
	c->event_options = (struct perf_events_options){
		.events = c->events,
		.count = options->event_count,
		.cpus = options->cpus,
		.window = options->window,
		.exclude_user = options->exclude_user,
		.exclude_kernel = options->exclude_kernel,
	};
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
		c->event_options.prog_fds[t] =
			bpf_session_prog_fd(c->session, (enum wire_trigger)t);
	r = capture_add_targets(c, options, err);
	return r < 0 ? r : capture_open_events(c, err);
}

void capture_start(struct capture *c)
{
	capture_add_counts(c, -1);
	c->samples = true;
	bpf_session_set_sampling(c->session, clock_now_ns());
}

void capture_stop(struct capture *c)
{
	bpf_session_set_sampling(c->session, 0);
	if (c->samples)
		capture_add_counts(c, 1);
	c->samples = false;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	urgent_thread_join(&c->load.thread);
	capture_close_cpus(c);
	perf_events_release(&c->shared);
	capture_close_places(c);
	rings_free(c->rings);
	capture_unmap_tables(c);
	bpf_session_free(c->session);
	closep(&c->epoll_fd);
	cpu_list_release(&c->load.online);
	free(c->cgroup_path);
	free(c->cpus);
	free(c->events);
	free(c);
}
