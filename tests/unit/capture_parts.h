/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BPF, perf and the cpus as capture.c sees them, and what was asked of them. These take the place
 * of the other parts of capture/ and of libbpf's functions. Included once per test.
 */
#ifndef HOSTPROF_TESTS_CAPTURE_PARTS_H
#define HOSTPROF_TESTS_CAPTURE_PARTS_H

#include "test.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"
#include "capture/bpf_session.h"
#include "capture/capture.h"
#include "capture/cgroup_filter.h"
#include "capture/cpu_list.h"
#include "capture/perf_events.h"
#include "capture/preflight/preflight.h"
#include "capture/probes/uprobe_returns.h"
#include "capture/probes/uprobe_session.h"
#include "capture/rings/rings.h"
#include "capture/sideband.h"

#define CPUS	  8 /* that are possible; values of a per-cpu map, too */
#define ENTRIES	  512
#define PROG_FD	  900 /* and the number of the trigger */
#define SHARED_FD 950
#define RINGS_FD  960
#define MAP_FD	  1000 /* and the number of the map */
#define MAP_BYTES 5000

struct bpf_session {
	int table_fds[3];
};

struct rings {
	int fd;
	bool has[CPUS];
};

struct sideband {
	unsigned int cpu;
	int fd;
	uint64_t opened_ns, stopped_ns; /* 0: it has not */
	bool is_looked_after;
};

static struct fixture {
	struct capture_event event;
	struct capture_options options;
	struct capture *capture;
	bool online[CPUS];
	int open_error[CPUS]; /* of perf events */
	bool only_probes;     /* no cpu has perf events */
	int shared_error, rings_error;
	bool has_sessions; /* the kernel */
	int returns_error;
	struct sideband *sidebands[CPUS];
	struct side_event throttles[4]; /* each drain; pid is the cpu */
	/* What was asked for. */
	struct bpf_session_options session;
	uint64_t sampling_since_ns, missed;
	struct perf_events_options perf;
	uint64_t counted[CPUS];	  /* by the event of index 0 */
	uint64_t overflows, seen; /* of it, on each cpu */
	uint32_t ring_bytes;
	bool taker_waits; /* of the rings */
	char log[1024];
	/* Maps. */
	VEC(uint32_t) targets;
	uint64_t target_start;
	int parked_fd; /* what tells of threads; negative: an errno */
	struct wire_lost_key lost_keys[3];
	struct wire_lost lost[3];
	unsigned int lost_count;

	/* Virtual threads, as the kernel tells of them in COUNT at a time; and how it ends. */
	struct {
		struct wire_yield_key keys[5];
		struct wire_yield values[5];
		uint32_t count, at, at_once;
		int error;
		uint64_t since_ns; /* all are noted that left; 0: none were */
		uint64_t own_ns;   /* those of process 17; 0: they are not followed */
		int64_t owed_ns;   /* -e wall, of the first one; 0: nothing */
	} yields;

	uint32_t jvm_serial;
	bool jvm_is_there;
	uint64_t blob;
} f;

static void note(const char *format, ...)
{
	size_t len = strlen(f.log);
	va_list ap;

	va_start(ap, format);
	vsnprintf(f.log + len, sizeof(f.log) - len, format, ap);
	va_end(ap);
}

/* --- in place of the parts of capture/ --- */

int bpf_session_open(const struct bpf_session_options *options, struct bpf_session **ret_session,
		     struct err *err)
{
	static const size_t sizes[3] = { sizeof(struct wire_block), sizeof(struct wire_rule),
					 sizeof(struct wire_range) };

	(void)err;
	f.session = *options;
	*ret_session = xcalloc(1, sizeof(**ret_session));
	for (int i = 0; i < 3; i++) {
		(*ret_session)->table_fds[i] = memfd_create("table", MFD_CLOEXEC);
		assert_int_equal(ftruncate((*ret_session)->table_fds[i],
					   (off_t)(sizes[i] * (ENTRIES + (size_t)i))),
				 0);
	}
	return 0;
}

void bpf_session_free(struct bpf_session *session)
{
	for (int i = 0; session && i < 3; i++)
		close(session->table_fds[i]);
	free(session);
}

void bpf_session_set_sampling(struct bpf_session *session, uint64_t since_ns)
{
	(void)session;
	f.sampling_since_ns = since_ns;
}

int bpf_session_prog_fd(const struct bpf_session *session, enum wire_trigger trigger)
{
	(void)session;
	return PROG_FD + (int)trigger;
}

int bpf_session_map_fd(const struct bpf_session *session, enum bpf_session_map map)
{
	if (map >= BPF_SESSION_BLOCKS && map <= BPF_SESSION_RANGES)
		return session->table_fds[map - BPF_SESSION_BLOCKS];
	return MAP_FD + (int)map;
}

int bpf_session_list_parked(const struct bpf_session *session)
{
	(void)session;
	return f.parked_fd;
}

int bpf_session_find_process(struct bpf_session *session, uint32_t tgid,
			     struct wire_process *ret_process)
{
	(void)session;
	*ret_process = (struct wire_process){ tgid, 3, 4 };
	return tgid == 17 ? 0 : -ENOENT;
}

uint32_t bpf_session_map_entries(const struct bpf_session *session, enum bpf_session_map map)
{
	(void)session;
	return ENTRIES + (uint32_t)map - BPF_SESSION_BLOCKS;
}

uint64_t bpf_session_map_bytes(const struct bpf_session *session)
{
	(void)session;
	return MAP_BYTES;
}

uint64_t bpf_session_missed(const struct bpf_session *session)
{
	(void)session;
	return f.missed;
}

uint64_t bpf_session_yields_since(const struct bpf_session *session)
{
	(void)session;
	return f.yields.since_ns;
}

void bpf_session_run_stats(const struct bpf_session *session, uint64_t *ret_ns, uint64_t *ret_count)
{
	(void)session;
	*ret_ns = 77;
	*ret_count = 7;
}

int perf_events_open(const struct perf_events_options *options, unsigned int cpu,
		     struct perf_events *ret_events, struct err *err)
{
	f.perf = *options;
	if (f.open_error[cpu])
		return err_set(err, f.open_error[cpu], "cpu %u", cpu);
	note("open %u\n", cpu);
	if (f.only_probes)
		return 0;
	vec_push(&ret_events->open, ((struct perf_event_open){ (int)cpu, -1, 0 }));
	return 0;
}

int perf_events_open_shared(const struct perf_events_options *options, unsigned int cpu,
			    struct perf_events *ret_events, struct err *err)
{
	bool has = false;

	for (unsigned int i = 0; i < options->count; i++)
		has |= options->events[i].trigger != WIRE_TRIGGER_PERF;
	if (!has)
		return 0;
	if (f.shared_error)
		return err_set(err, f.shared_error, "shared on cpu %u", cpu);
	note("open shared on %u\n", cpu);
	vec_push(&ret_events->open, ((struct perf_event_open){ SHARED_FD, -1, 0 }));
	return 0;
}

int perf_event_open_place(const struct perf_events_options *options, const struct perf_place *place,
			  int *ret_fd, int *ret_link, struct err *err)
{
	(void)options;
	if (f.shared_error)
		return err_set(err, f.shared_error, "place in %u", place->pid);
	note("open place %d of event %u in %u at %llu\n", (int)place->trigger, place->event,
	     place->pid, (unsigned long long)place->probe->offset);
	note("form %d on cpu %u\n%s", (int)place->form, place->cpu,
	     place->probe->config ? "returns\n" : "");
	*ret_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	*ret_link = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

int uprobe_returns_check(struct err *err)
{
	return f.returns_error ? err_set(err, f.returns_error, "returns") : 0;
}

bool uprobe_session_works(void)
{
	return f.has_sessions;
}

int uprobe_session_open(int prog_fd, const struct uprobe_session *session)
{
	if (f.shared_error)
		return f.shared_error;
	note("%s %d of %u in %u\n", session->is_multi ? "calls" : "session", prog_fd - PROG_FD,
	     session->count, session->pid);
	for (uint32_t i = 0; i < session->count; i++)
		note("%llu at %llu\n", (unsigned long long)session->cookies[i],
		     (unsigned long long)session->offsets[i]);
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void perf_events_set_output(const struct perf_events *events, int fd)
{
	/* Of a cpu the descriptor is its number. */
	if (events->open.len)
		assert_int_equal(f.sidebands[events->open.items[0].fd]->fd, fd);
}

void perf_events_add_counts(const struct perf_events *events,
			    const struct perf_events_options *options, int sign,
			    struct perf_event_counts *counts)
{
	int fd;

	assert_int_equal(options->count, f.options.event_count);
	if (!events->open.len)
		return;
	fd = events->open.items[0].fd;
	counts[0].counted += (uint64_t)sign * f.counted[fd];
	counts[0].enabled_ns += (uint64_t)sign * 2 * f.counted[fd];
	counts[0].running_ns += (uint64_t)sign * f.counted[fd];
}

void perf_events_release(struct perf_events *events)
{
	if (events->open.len)
		note("close %d\n", events->open.items[0].fd);
	vec_release(&events->open);
}

int rings_open(unsigned int possible, uint32_t ring_bytes, const struct cpu_list *cpus,
	       struct rings **ret_rings, struct err *err)
{
	(void)err;
	assert_int_equal(possible, CPUS);
	f.ring_bytes = ring_bytes;
	*ret_rings = xcalloc(1, sizeof(**ret_rings));
	(*ret_rings)->fd = eventfd(0, EFD_CLOEXEC);
	for (unsigned int cpu = 0; cpu < cpus->size; cpu++)
		(*ret_rings)->has[cpu] = cpus->has[cpu];
	return 0;
}

int rings_array_fd(const struct rings *rings)
{
	(void)rings;
	return RINGS_FD;
}

int rings_publish(struct rings *rings, struct err *err)
{
	(void)rings;
	return f.rings_error ? err_set(err, f.rings_error, "no rings") : 0;
}

int rings_add(struct rings *rings, unsigned int cpu, struct err *err)
{
	(void)err;
	rings->has[cpu] = true;
	note("ring %u\n", cpu);
	return 0;
}

void rings_free(struct rings *rings)
{
	if (rings)
		close(rings->fd);
	free(rings);
}

void rings_add_side(struct rings *rings, struct sideband *sideband)
{
	assert_non_null(rings);
	assert_false(sideband->is_looked_after);
	sideband->is_looked_after = true;
}

void rings_remove_side(struct rings *rings, const struct sideband *sideband)
{
	assert_non_null(rings);
	((struct sideband *)(uintptr_t)sideband)->is_looked_after = false;
}

int rings_fd(const struct rings *rings)
{
	return rings->fd;
}

int rings_edge_fd(const struct rings *rings)
{
	return rings->fd + 1;
}

void rings_taker_waits(struct rings *rings, bool waits)
{
	f.taker_waits = rings && waits;
}

uint64_t rings_bytes(const struct rings *rings)
{
	uint64_t bytes = 0;

	for (int cpu = 0; cpu < CPUS; cpu++)
		bytes += rings->has[cpu] ? 100 : 0;
	return bytes;
}

uint64_t rings_mapped_bytes(const struct rings *rings)
{
	return 2 * rings_bytes(rings);
}

void rings_drain(struct rings *rings, const struct rings_handler *handler)
{
	struct wire_sample sample = { .size = sizeof(sample) };
	struct wire_miss miss = { .size = sizeof(miss) };

	(void)rings;
	handler->miss(&miss, handler->data);
	handler->sample(&sample, handler->data);
	handler->invalid("no", 3, handler->data);
}

int sideband_open(unsigned int cpu, struct sideband **ret_sideband, struct err *err)
{
	(void)err;
	note("side %u\n", cpu);
	*ret_sideband = xcalloc(1, sizeof(**ret_sideband));
	(*ret_sideband)->cpu = cpu;
	(*ret_sideband)->opened_ns = clock_now_ns();
	f.sidebands[cpu] = *ret_sideband;
	(*ret_sideband)->fd = eventfd(0, EFD_CLOEXEC);
	return 0;
}

void sideband_free(struct sideband *sideband)
{
	if (sideband) {
		assert_false(sideband->is_looked_after);
		close(sideband->fd);
	}
	free(sideband);
}

int sideband_fd(const struct sideband *sideband)
{
	return sideband->fd;
}

int sideband_enabled_ns(const struct sideband *sideband, uint64_t *ret_ns)
{
	uint64_t now_ns = sideband->stopped_ns ? sideband->stopped_ns : clock_now_ns();

	*ret_ns = now_ns - sideband->opened_ns;
	return 0;
}

size_t sideband_bytes(const struct sideband *sideband)
{
	(void)sideband;
	return 10;
}

uint64_t sideband_drain(struct sideband *sideband,
			void (*fn)(const struct side_event *event, void *data), void *data)
{
	const struct side_event event = { .kind = SIDE_EXIT, .pid = sideband->cpu };

	fn(&event, data);
	for (unsigned int i = 0; i < ARRAY_SIZE(f.throttles) && f.throttles[i].time_ns; i++)
		if (f.throttles[i].pid == sideband->cpu)
			fn(&f.throttles[i], data);
	return sideband->cpu * 10;
}

static int read_list(struct cpu_list *ret_list, bool all)
{
	ret_list->has = xcalloc(CPUS, sizeof(bool));
	ret_list->size = 0;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		ret_list->has[cpu] = all || f.online[cpu];
		if (ret_list->has[cpu])
			ret_list->size = cpu + 1;
	}
	return 0;
}

int cpu_list_read_online(struct cpu_list *ret_list)
{
	return read_list(ret_list, false);
}

int cpu_list_read_possible(struct cpu_list *ret_list)
{
	return read_list(ret_list, true);
}

void cpu_list_release(struct cpu_list *list)
{
	free(list->has);
}

int preflight_explain(struct err *err)
{
	return err_set(err, -EPERM, "cap_perfmon is missing");
}

int cgroup_filter_resolve(const char *path, uint64_t *ret_id, uint32_t *ret_level, struct err *err)
{
	if (strcmp(path, "/sys/fs/cgroup/a/b") != 0)
		return err_set(err, -EINVAL, "no cgroup");
	*ret_id = 4321;
	*ret_level = 2;
	return 0;
}

bool cgroup_filter_has(const char *path, uint32_t level, const char *cgroup)
{
	assert_string_equal(path, "/sys/fs/cgroup/a/b");
	assert_int_equal(level, 2);
	return strcmp(cgroup, "/a/b") == 0;
}

#include "capture_maps.h"

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.event = (struct capture_event){ .name = "cpu", .type = 1, .period = 10101010 };
	f.options = (struct capture_options){ .events = &f.event, .event_count = 1 };
	f.online[0] = f.online[2] = true;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	capture_free(f.capture);
	vec_release(&f.targets);
	return 0;
}

static void open_capture(void)
{
	struct err err = { 0 };

	capture_free(f.capture);
	f.capture = NULL;
	if (capture_open(&f.options, &f.capture, &err) < 0 || capture_wait(f.capture, &err) < 0)
		fail_msg("%s", err.text);
}

#endif
