// SPDX-License-Identifier: Apache-2.0
/* The part of capture that is maps: targets, JVMs, lost records, counters. */
#include <bpf/bpf.h>
#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/strbuf.h"
#include "capture/capture_private.h"
#include "capture/cgroup_filter.h"
#include "capture/rings/record_check.h"

int capture_add_target(struct capture *c, uint32_t pid)
{
	uint64_t start_ns = 0; /* the program fills it in when it first sees the process */
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_TARGETS);

	return bpf_map_update_elem(fd, &pid, &start_ns, BPF_ANY) < 0 ? -errno : 0;
}

/* As target_wanted() of bpf/sample/target.h has it, which also adds the children of targets. */
bool capture_is_target(const struct capture *c, uint32_t pid, const char *cgroup)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_TARGETS);
	uint64_t start_ns;

	if (c->filters_pids && bpf_map_lookup_elem(fd, &pid, &start_ns) < 0)
		return false;
	return !c->cgroup_path || cgroup_filter_has(c->cgroup_path, c->cgroup_level, cgroup);
}

int capture_find_process(struct capture *c, uint32_t pid, struct wire_process *ret_process)
{
	return bpf_session_find_process(c->session, pid, ret_process);
}

int capture_set_jvm(struct capture *c, uint32_t serial, const struct wire_jvm *jvm)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_JVMS);

	if (jvm)
		return bpf_map_update_elem(fd, &serial, jvm, BPF_ANY) < 0 ? -errno : 0;
	return bpf_map_delete_elem(fd, &serial) < 0 && errno != ENOENT ? -errno : 0;
}

/* What a map has of process TGID; NULL: nothing. */
static int capture_set_process(struct capture *c, enum bpf_session_map map, uint32_t tgid,
			       const void *value)
{
	int fd = bpf_session_map_fd(c->session, map);

	if (value)
		return bpf_map_update_elem(fd, &tgid, value, BPF_ANY) < 0 ? -errno : 0;
	return bpf_map_delete_elem(fd, &tgid) < 0 && errno != ENOENT ? -errno : 0;
}

int capture_set_tlab(struct capture *c, uint32_t tgid, const struct wire_tlab *tlab)
{
	return capture_set_process(c, BPF_SESSION_TLAB_JVMS, tgid, tlab);
}

int capture_set_parking(struct capture *c, uint32_t tgid, const struct wire_parking *parking)
{
	return capture_set_process(c, BPF_SESSION_PARKING_JVMS, tgid, parking);
}

int capture_set_yields_since(struct capture *c, uint32_t tgid, uint64_t since_ns)
{
	return capture_set_process(c, BPF_SESSION_YIELDS_SINCE, tgid, since_ns ? &since_ns : NULL);
}

int capture_set_phases(struct capture *c, uint32_t tgid, const struct wire_phases *phases)
{
	return capture_set_process(c, BPF_SESSION_PHASE_JVMS, tgid, phases);
}

int capture_set_far_blob(struct capture *c, const struct wire_far_key *key, uint64_t blob)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_FAR_BLOBS);

	return bpf_map_update_elem(fd, key, &blob, BPF_ANY) < 0 ? -errno : 0;
}

int capture_get_wait(const struct capture *c, uint32_t tid, uint64_t out_ns,
		     struct wire_offcpu *ret_wait)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_OFFCPU_THREADS);

	if (bpf_map_lookup_elem(fd, &tid, ret_wait) < 0)
		return -errno;
	return ret_wait->out_ns == out_ns ? 0 : -ENOENT;
}

/* As yields_unseen_since() of bpf/sample/yields.h has it. */
static int find_unseen(const struct capture *c, uint32_t tgid, uint64_t *ret_ns)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_YIELDS_SINCE);
	uint64_t since_ns = bpf_session_yields_since(c->session), own_ns;

	if (!since_ns || bpf_map_lookup_elem(fd, &tgid, &own_ns) < 0)
		return -ENOENT;
	*ret_ns = MAX(since_ns, own_ns);
	return 0;
}

int capture_get_unmounted(const struct capture *c, uint32_t tgid, uint64_t id,
			  struct capture_unmounted_wait *ret_wait)
{
	const struct wire_yield_key key = { .id = id, .tgid = tgid, .use = WIRE_YIELD_OF_WAIT };
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_YIELDS);
	int owed_fd = bpf_session_map_fd(c->session, BPF_SESSION_UNMOUNTED_OWED);
	struct wire_yield yield = { .was_back = 1 };
	int r = 0;

	if (bpf_map_lookup_elem(fd, &key, &yield) == 0)
		ret_wait->begin_ns = yield.begin_ns;
	else
		r = errno == ENOENT ? find_unseen(c, tgid, &ret_wait->begin_ns) : -errno;
	ret_wait->is_counted = !yield.was_back;
	if (bpf_map_lookup_elem(owed_fd, &key, &ret_wait->owed_ns) < 0)
		ret_wait->owed_ns = 0;
	return r;
}

/* Of so many at a time. */
#define UNMOUNTED_READ 1024

static void unmounted_add(struct capture_unmounted *sum, const struct wire_yield_key *key,
			  const struct wire_yield *yield, uint64_t now_ns)
{
	if (key->use != WIRE_YIELD_OF_WAIT || yield->was_back || yield->begin_ns > now_ns)
		return;
	sum->threads++;
	sum->ns += now_ns - yield->begin_ns;
}

struct capture_unmounted capture_sum_unmounted(const struct capture *c, uint64_t now_ns)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_YIELDS);
	_cleanup_free_ struct wire_yield_key *keys = xcalloc(UNMOUNTED_READ, sizeof(*keys));
	_cleanup_free_ struct wire_yield *values = xcalloc(UNMOUNTED_READ, sizeof(*values));
	struct capture_unmounted sum = { 0 };
	uint32_t at = 0;
	int r = 0;

	for (bool more = false; r == 0; more = true) {
		uint32_t count = UNMOUNTED_READ;

		r = bpf_map_lookup_batch(fd, more ? &at : NULL, &at, keys, values, &count, NULL);
		/* ENOENT: these are the last ones. */
		for (uint32_t i = 0; (r == 0 || errno == ENOENT) && i < count; i++)
			unmounted_add(&sum, &keys[i], &values[i], now_ns);
	}
	return sum;
}

/* Threads have some 500 bytes each. */
#define PARKED_MOST_BYTES (64UL << 20)
#define PARKED_READ_BYTES 65536

/* The kernel stops at times to let others run, and says so. */
static int books_read_all(int fd, struct strbuf *out)
{
	while (out->len < PARKED_MOST_BYTES) {
		ssize_t n;

		strbuf_grow(out, PARKED_READ_BYTES);
		n = read(fd, out->buf + out->len, PARKED_READ_BYTES);
		if (n == 0)
			return 0;
		if (n > 0)
			out->len += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -E2BIG;
}

int capture_list_parked(const struct capture *c,
			void (*fn)(const struct wire_parked *parked, void *data), void *data)
{
	_cleanup_(closep) int fd = bpf_session_list_parked(c->session);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = fd < 0 ? fd : books_read_all(fd, &text);

	for (size_t at = 0; at < text.len;) {
		const struct wire_parked *parked = (const void *)(text.buf + at);

		if (parked_check(parked, text.len - at) < 0)
			return -EBADMSG;
		fn(parked, data);
		at += parked->size;
	}
	return r;
}

/*
 * An entry is read and deleted in one step under the bucket's lock; a program that holds its
 * pointer in just that moment may add one record to an entry that is gone.
 */
void capture_take_lost(struct capture *c,
		       void (*fn)(const struct wire_lost_key *key, const struct wire_lost *lost,
				  void *data),
		       void *data)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_LOST);
	struct wire_lost_key key;
	struct wire_lost lost;

	while (bpf_map_get_next_key(fd, NULL, &key) == 0 &&
	       bpf_map_lookup_and_delete_elem(fd, &key, &lost) == 0)
		fn(&key, &lost, data);
}

/* VALUES: room for one of each cpu. */
static uint64_t books_sum(const struct capture *c, uint32_t which, uint64_t *values)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_COUNTERS);
	uint64_t sum = 0;

	if (bpf_map_lookup_elem(fd, &which, values) < 0)
		return 0;
	for (unsigned int cpu = 0; cpu < c->possible; cpu++)
		sum += values[cpu];
	return sum;
}

static void books_sum_event(const struct capture *c, uint32_t event, uint64_t *values,
			    struct capture_stats *stats)
{
	const struct perf_event_counts *counts = &c->counts[event];
	uint64_t overflows = books_sum(c, WIRE_COUNTER_OVERFLOWS(event), values);
	uint64_t seen = books_sum(c, WIRE_COUNTER_SEEN(event), values);
	/* A cpu is in the midst of a period, and was when samples began to be taken. */
	uint64_t begun = overflows ? c->online_count * (seen / overflows) : counts->counted;
	uint64_t unseen = counts->counted - MIN(seen, counts->counted);

	stats->events[event] = (struct capture_event_figures){
		.counted = counts->counted,
		.unseen = unseen - MIN(begun, unseen),
		.enabled_ns = counts->enabled_ns,
		.running_ns = counts->running_ns,
	};
}

static void books_sum_counters(const struct capture *c, struct capture_stats *stats)
{
	_cleanup_free_ uint64_t *values = xcalloc(c->possible, sizeof(*values));

	for (uint32_t which = 0; which < WIRE_COUNTER_COUNT; which++)
		stats->counters[which] = books_sum(c, which, values);
	for (uint32_t event = 0; event < c->event_options.count && !c->samples; event++)
		if (c->counts[event].enabled_ns)
			books_sum_event(c, event, values, stats);
}

/* Of whom is not known; what they weigh is: one each. */
static void books_add_missed(const struct capture *c, struct capture_stats *stats)
{
	uint64_t missed = bpf_session_missed(c->session);

	stats->counters[WIRE_COUNTER_LOST] += missed;
	stats->counters[WIRE_COUNTER_LOST_UNKNOWN] += missed;
	stats->counters[WIRE_COUNTER_LOST_UNKNOWN_WEIGHT] += missed;
}

/* Those that are stopped have been until now. */
static uint64_t books_throttled_ns(const struct capture *c)
{
	return c->resumed_sum_ns + c->throttled_now * clock_now_ns() - c->stopped_sum_ns;
}

void capture_get_stats(const struct capture *c, struct capture_stats *ret_stats)
{
	struct capture_stats stats = { .side_lost = c->side_lost,
				       .unobserved_ns = c->unobserved_ns,
				       .unobserved_times = c->unobserved_times,
				       .throttled_times = c->throttled_times,
				       .throttled_ns = books_throttled_ns(c),
				       .suspended_ns = c->suspended_ns };

	books_sum_counters(c, &stats);
	books_add_missed(c, &stats);
	bpf_session_run_stats(c->session, &stats.bpf_run_ns, &stats.bpf_run_count);
	stats.map_bytes = bpf_session_map_bytes(c->session) + rings_bytes(c->rings);
	stats.mapped_bytes = capture_tables_bytes(c) + rings_mapped_bytes(c->rings);
	for (unsigned int cpu = 0; cpu < c->cpu_count; cpu++) {
		if (!c->cpus[cpu].sideband)
			continue;
		stats.map_bytes += sideband_bytes(c->cpus[cpu].sideband);
		stats.mapped_bytes += sideband_bytes(c->cpus[cpu].sideband);
		stats.cpus += !c->event_options.cpus || cpu_list_has(c->event_options.cpus, cpu);
	}
	*ret_stats = stats;
}
