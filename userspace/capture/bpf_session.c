// SPDX-License-Identifier: Apache-2.0
#include "capture/bpf_session.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "capture/kernel/kernel_types.h"
#include "capture/kernel/libbpf_warning.h"
#include "capture/kernel/program_loads.h"
#include "capture/map_bytes.h"
#include "capture/preflight/preflight.h"
#include "capture/probes/uprobe_session.h"
#include "capture/table_sizes.h"

/* Generated code casts a const away. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "hostprof.skel.h"
#pragma GCC diagnostic pop

struct bpf_session {
	struct hostprof_bpf *skel;
	struct program_loads *loads; /* owned; NULL: libbpf loads all */
	bool wanted[WIRE_TRIGGER_COUNT];
	bool runs;
	uint64_t missed_before; /* sampling began */
	uint64_t missed;	/* until it ended */
};

static void session_size_tables(struct hostprof_bpf *skel,
				const struct bpf_session_options *options)
{
	struct table_sizes sizes;

	table_sizes_choose(options->table_bytes, options->possible_cpus, &sizes);
	bpf_map__set_max_entries(skel->maps.blocks, sizes.blocks);
	bpf_map__set_max_entries(skel->maps.rules, sizes.rules);
	bpf_map__set_max_entries(skel->maps.ranges, sizes.ranges);
	bpf_map__set_max_entries(skel->maps.pages, sizes.pages);
	bpf_map__set_max_entries(skel->maps.spaces, sizes.spaces);
	bpf_map__set_max_entries(skel->maps.hots, options->possible_cpus * WIRE_HOT_ENTRIES);
	skel->rodata->hot_code_count = sizes.hot_codes;
	bpf_map__set_max_entries(skel->maps.hot_codes, options->possible_cpus * sizes.hot_codes);
	bpf_map__set_max_entries(skel->maps.hot_methods, options->possible_cpus * WIRE_HOT_METHODS);
}

static void session_size_misses(struct hostprof_bpf *skel,
				const struct bpf_session_options *options)
{
	struct bpf_map *map = skel->maps.miss_buffers;
	uint32_t too_much = WIRE_MISS_MAX_COPY - options->miss_copy_bytes;

	skel->rodata->miss_copy_bytes = options->miss_copy_bytes;
	bpf_map__set_value_size(map, bpf_map__value_size(map) - too_much);
	skel->rodata->miss_buffer_count = options->online_cpus;
	bpf_map__set_max_entries(map, options->online_cpus);
}

/* Of what a host may have in a window, of which one thread of ours has to do with all. */
static uint32_t session_share(uint32_t host, unsigned int online_cpus, uint32_t least,
			      uint32_t most)
{
	return MIN(MAX(host / MAX(online_cpus, 1U), least), most);
}

/* A book of each takes 270 bytes, which are taken at once: nothing may be allocated with a run queue locked. */
static uint32_t session_offcpu_threads(const struct bpf_session_options *options)
{
	uint64_t wanted = (uint64_t)options->threads * WIRE_OFFCPU_TIMES_THREADS;

	return (uint32_t)MIN(MAX(wanted, (uint64_t)WIRE_OFFCPU_LEAST_THREADS),
			     (uint64_t)WIRE_OFFCPU_MOST_THREADS);
}

/* Without the event nobody is followed. */
static void session_configure_offcpu(struct hostprof_bpf *skel, const struct capture_event *event,
				     const struct bpf_session_options *options)
{
	uint64_t step_ns = event->is_wall ? event->period : event->least_ns;

	if (!capture_event_has_waits(event))
		return;
	skel->rodata->offcpu_most_walks =
		session_share(WIRE_OFFCPU_HOST_WALKS, options->online_cpus, WIRE_OFFCPU_LEAST_WALKS,
			      WIRE_OFFCPU_MOST_WALKS);
	skel->rodata->offcpu_least_ns = event->least_ns;
	skel->rodata->offcpu_keeps_sums = event->is_wall;
	skel->rodata->offcpu_only_futexes = event->only_locks;
	if (step_ns) {
		skel->rodata->offcpu_step_ns = MAX(step_ns, WIRE_OFFCPU_LEAST_STEP_NS);
		skel->rodata->offcpu_doubled = WIRE_OFFCPU_STEP_DOUBLED;
	}
	bpf_map__set_max_entries(skel->maps.offcpu_threads, session_offcpu_threads(options));
	if (event->is_wall)
		bpf_map__set_max_entries(skel->maps.unmounted_owed, WIRE_YIELDS);
}

static void session_configure_lock(struct hostprof_bpf *skel, const struct capture_event *event,
				   unsigned int online_cpus)
{
	if (!capture_event_is_lock(event))
		return;
	skel->rodata->park_most =
		session_share(WIRE_PARK_HOST, online_cpus, WIRE_PARK_LEAST, WIRE_PARK_MOST);
	skel->rodata->park_least_ns = event->least_ns;
	bpf_map__set_max_entries(skel->maps.lock_owners, WIRE_LOCK_WAITS);
}

/* Virtual threads are followed by each event apart. */
static void session_size_yields(struct hostprof_bpf *skel,
				const struct bpf_session_options *options)
{
	uint32_t followers = 0, entries, held;

	for (unsigned int i = 0; i < options->event_count; i++)
		followers += capture_event_is_lock(&options->events[i]) ||
			     capture_event_has_virtual_waits(&options->events[i]);
	if (!followers)
		return;
	entries = followers * WIRE_YIELDS;
	held = options->possible_cpus * WIRE_YIELDS_CPU;
	bpf_map__set_max_entries(skel->maps.yields, entries);
	if (entries / 2 > held)
		skel->rodata->yields_sure = entries - held;
}

static void session_configure_contention(struct hostprof_bpf *skel,
					 const struct capture_event *event)
{
	if (!capture_event_is_kernel_lock(event))
		return;
	skel->rodata->contention_least_ns = event->least_ns;
	bpf_map__set_max_entries(skel->maps.contention_threads, WIRE_CONTENTION_THREADS);
}

static void session_configure_events(struct hostprof_bpf *skel,
				     const struct bpf_session_options *options)
{
	for (unsigned int i = 0; i < options->event_count; i++) {
		const struct capture_event *event = &options->events[i];

		skel->rodata->event_is_clock[i] = capture_event_is_clock(event);
		skel->rodata->event_is_wall[i] = capture_event_is_wall(event);
		skel->rodata->event_at_entry[i] = capture_event_is_at_entry(event);
		if (capture_event_is_malloc(event))
			skel->rodata->malloc_interval = event->period;
		if (capture_event_is_safepoint(event))
			skel->rodata->safepoint_least_ns = event->least_ns;
		if (event->trigger == WIRE_TRIGGER_GC)
			skel->rodata->gc_least_ns = event->least_ns;
		if (capture_event_is_jit(event))
			skel->rodata->jit_least_ns = event->least_ns;
		session_configure_lock(skel, event, options->online_cpus);
		session_configure_offcpu(skel, event, options);
		session_configure_contention(skel, event);
		for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++)
			if (capture_event_needs(event, (enum wire_trigger)t))
				skel->rodata->trigger_event[t] = i;
	}
}

static void session_configure_cpus(struct hostprof_bpf *skel, const struct cpu_list *cpus)
{
	skel->rodata->settings.filter_cpus = cpus != NULL;
	for (unsigned int cpu = 0; cpus && cpu < MIN(cpus->size, WIRE_MAX_CPUS); cpu++)
		if (cpus->has[cpu])
			skel->rodata->cpus_wanted[cpu / 64] |= 1ULL << cpu % 64;
}

static struct bpf_program *session_program(const struct bpf_session *session,
					   enum wire_trigger trigger)
{
	struct bpf_program *programs[] = {

#define WIRE_TRIGGER(name, program, runs) session->skel->progs.program,
#include "wire_triggers.def"
#undef WIRE_TRIGGER
	};

	return programs[trigger];
}

/* Native memory has one program that sees all that matters, or two, of which the second is for returns; wake-ups are noted by one of two. */
static bool session_has_use(const struct bpf_session_options *options, enum wire_trigger trigger)
{
	bool one = options->has_sessions, returns = options->follow_memory;

	switch (trigger) {
	case WIRE_TRIGGER_MALLOC: return !one || !returns;
	case WIRE_TRIGGER_MALLOC_RETURN: return !one && returns;
	case WIRE_TRIGGER_MALLOC_SESSION: return one && returns;
	case WIRE_TRIGGER_OFFCPU_WAKING: return !options->tells_wakers;
	case WIRE_TRIGGER_OFFCPU_WAKER:
	case WIRE_TRIGGER_LOCK_WAKER: return options->tells_wakers;
	default: return true;
	}
}

static void session_want(struct bpf_session *session, enum wire_trigger trigger)
{
	bpf_program__set_autoload(session_program(session, trigger), true);
	session->wanted[trigger] = true;
}

/* The programs that these events need. */
static void session_choose_programs(struct bpf_session *session,
				    const struct bpf_session_options *options)
{
	if (options->window.begin)
		session_want(session, WIRE_TRIGGER_WINDOW_BEGIN);
	if (options->window.end)
		session_want(session, WIRE_TRIGGER_WINDOW_END);
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++) {
		enum wire_trigger trigger = (enum wire_trigger)t;

		for (unsigned int i = 0; i < options->event_count && !session->wanted[t]; i++) {
			if (!capture_event_needs(&options->events[i], trigger) ||
			    !session_has_use(options, trigger))
				continue;
			session_want(session, trigger);
		}
	}
}

static void session_configure(struct hostprof_bpf *skel, const struct bpf_session_options *options)
{
	skel->rodata->settings = options->settings;
	session_configure_events(skel, options);
	session_size_yields(skel, options);
	session_configure_cpus(skel, options->cpus);
	skel->rodata->ring_wakeup_bytes = options->ring_bytes / 4;
	bpf_map__set_max_entries(skel->maps.scratches,
				 options->possible_cpus * WIRE_SCRATCH_LEVELS);
	session_size_misses(skel, options);
	session_size_tables(skel, options);
	skel->rodata->malloc_follows = options->follow_memory;
	skel->rodata->waker_count_at = options->waker_count_at;
	skel->rodata->lock_tells_wakers = options->tells_wakers;
	skel->rodata->window_has_begin = options->window.begin != NULL;
	skel->rodata->window_has_end = options->window.end != NULL;
	if (!options->window.begin && !options->window.end)
		bpf_map__set_max_entries(skel->maps.windows, 1);
	if (!options->follow_memory)
		bpf_map__set_max_entries(skel->maps.malloc_kept, 1);
	if (!options->settings.filter_tgids)
		bpf_map__set_max_entries(skel->maps.targets, 1);
}

/* Why the kernel refused: a failed preflight check says it best. */
static int session_explain(struct err *err, int r, const char *what)
{
	struct err why = { 0 };

	if (preflight_explain(&why) < 0) {
		*err = why;
		return why.code;
	}
	err_sys(err, r, "cannot %s the BPF program", what);
	return libbpf_warning()[0] ? err_hint(err, "%s", libbpf_warning()) : r;
}

/* TYPES_FD: a file for those of the kernel's types that the programs read. Where it cannot be written libbpf reads all of them itself. */
static struct hostprof_bpf *session_open_programs(int types_fd)
{
	char path[sizeof("/proc/self/fd/") + 16];
	LIBBPF_OPTS(bpf_object_open_opts, options, .btf_custom_path = path);
	struct hostprof_bpf *skel;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types_fd);
	skel = hostprof_bpf__open_opts(&options);
	if (!skel || kernel_types_write(bpf_object__btf(skel->obj), types_fd) == 0)
		return skel;
	hostprof_bpf__destroy(skel);
	return hostprof_bpf__open();
}

static int session_load(struct bpf_session *session, const struct bpf_session_options *options,
			struct err *err)
{
	_cleanup_close_ int types_fd = memfd_create("kernel types", MFD_CLOEXEC);
	int r;

	libbpf_warning_listen();
	session->skel = session_open_programs(types_fd);
	if (!session->skel)
		return session_explain(err, -errno, "open");
	session_configure(session->skel, options);
	session_choose_programs(session, options);
	r = bpf_map__reuse_fd(session->skel->maps.rings, options->rings_fd);
	if (r < 0)
		return session_explain(err, r, "give its rings to");
	bpf_program__set_expected_attach_type(session_program(session, WIRE_TRIGGER_MALLOC_SESSION),
					      (enum bpf_attach_type)UPROBE_SESSION_ATTACH_TYPE);
	if (options->has_sessions)
		bpf_program__set_expected_attach_type(
			session_program(session, WIRE_TRIGGER_MALLOC),
			(enum bpf_attach_type)UPROBE_MULTI_ATTACH_TYPE);
	r = hostprof_bpf__load(session->skel);
	return r < 0 ? session_explain(err, r, "load") : 0;
}

static void session_drop(struct bpf_session *session)
{
	program_loads_free(TAKE_PTR(session->loads));
	hostprof_bpf__destroy(TAKE_PTR(session->skel));
}

/* Several programs beside each other. When one is refused they are loaded one by one: libbpf says best why. */
static int session_load_all(struct bpf_session *session, const struct bpf_session_options *options,
			    struct err *err)
{
	int r;

	session->loads = program_loads_begin(options->online_cpus);
	r = session_load(session, options, err);
	if (program_loads_end(session->loads) == 0)
		return r;
	session_drop(session);
	return session_load(session, options, err);
}

int bpf_session_open(const struct bpf_session_options *options, struct bpf_session **ret_session,
		     struct err *err)
{
	_cleanup_(bpf_session_freep) struct bpf_session *session = xcalloc(1, sizeof(*session));
	int r;

	r = session_load_all(session, options, err);
	if (r < 0)
		return r;
	r = hostprof_bpf__attach(session->skel);
	if (r < 0)
		return session_explain(err, r, "attach");
	*ret_session = TAKE_PTR(session);
	return 0;
}

void bpf_session_free(struct bpf_session *session)
{
	if (!session)
		return;
	session_drop(session);
	free(session);
}

static struct bpf_prog_info session_info(const struct bpf_session *session,
					 enum wire_trigger trigger)
{
	struct bpf_prog_info info = { 0 };
	uint32_t len = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_session_prog_fd(session, trigger), &info, &len) < 0)
		return (struct bpf_prog_info){ 0 };
	return info;
}

static uint64_t session_missed_ever(const struct bpf_session *session)
{
	static const enum wire_trigger of[] = { WIRE_TRIGGER_TRACEPOINT, WIRE_TRIGGER_KPROBE,
						WIRE_TRIGGER_OFFCPU };

	uint64_t missed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(of); i++)
		if (session->wanted[of[i]])
			missed += session_info(session, of[i]).recursion_misses;
	return missed;
}

uint64_t bpf_session_missed(const struct bpf_session *session)
{
	if (!session->runs)
		return session->missed;
	return session->missed + session_missed_ever(session) - session->missed_before;
}

void bpf_session_set_sampling(struct bpf_session *session, uint64_t since_ns)
{
	struct hostprof_bpf__bss *bss = session->skel->bss;

	session->missed = bpf_session_missed(session);
	session->runs = since_ns != 0;
	if (session->runs) {
		session->missed_before = session_missed_ever(session);
		bss->sampling_since_ns = since_ns;
	}
	__atomic_store_n(&bss->sampling, since_ns != 0, __ATOMIC_RELEASE);
}

uint64_t bpf_session_yields_since(const struct bpf_session *session)
{
	const struct hostprof_bpf__bss *bss = session->skel->bss;

	return bss->yields_made_room ? 0 : bss->sampling_since_ns;
}

int bpf_session_prog_fd(const struct bpf_session *session, enum wire_trigger trigger)
{
	const struct bpf_program *program = session_program(session, trigger);

	return session->wanted[trigger] ? program_loads_fd(session->loads, program) : -1;
}

int bpf_session_list_parked(const struct bpf_session *session)
{
	int link = session->wanted[WIRE_TRIGGER_OFFCPU_PARKED]
			   ? bpf_link__fd(session->skel->links.list_parked)
			   : -ENODATA;
	int fd = link < 0 ? link : bpf_iter_create(link);

	return fd < 0 && link >= 0 ? -errno : fd;
}

int bpf_session_find_process(struct bpf_session *session, uint32_t tgid,
			     struct wire_process *ret_process)
{
	const uint64_t args[] = { tgid };
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));
	int r = bpf_prog_test_run_opts(bpf_program__fd(session->skel->progs.find_process), &run);

	if (r < 0)
		return r;
	*ret_process = session->skel->bss->found_process;
	return ret_process->tgid == tgid ? 0 : -ENOENT;
}

static const struct bpf_map *session_map(const struct bpf_session *session,
					 enum bpf_session_map map)
{
	const struct bpf_map *maps[] = {
		[BPF_SESSION_COUNTERS] = session->skel->maps.counters,
		[BPF_SESSION_TARGETS] = session->skel->maps.targets,
		[BPF_SESSION_JVMS] = session->skel->maps.jvms,
		[BPF_SESSION_FAR_BLOBS] = session->skel->maps.far_blobs,
		[BPF_SESSION_LOST] = session->skel->maps.lost,
		[BPF_SESSION_OFFCPU_THREADS] = session->skel->maps.offcpu_threads,
		[BPF_SESSION_YIELDS] = session->skel->maps.yields,
		[BPF_SESSION_YIELDS_SINCE] = session->skel->maps.yields_since,
		[BPF_SESSION_UNMOUNTED_OWED] = session->skel->maps.unmounted_owed,
		[BPF_SESSION_TLAB_JVMS] = session->skel->maps.tlab_jvms,
		[BPF_SESSION_PARKING_JVMS] = session->skel->maps.parking_jvms,
		[BPF_SESSION_PHASE_JVMS] = session->skel->maps.phase_jvms,
		[BPF_SESSION_MALLOC_KEPT] = session->skel->maps.malloc_kept,
		[BPF_SESSION_BLOCKS] = session->skel->maps.blocks,
		[BPF_SESSION_RULES] = session->skel->maps.rules,
		[BPF_SESSION_RANGES] = session->skel->maps.ranges,
		[BPF_SESSION_PAGES] = session->skel->maps.pages,
		[BPF_SESSION_SPACES] = session->skel->maps.spaces,
	};

	return maps[map];
}

int bpf_session_map_fd(const struct bpf_session *session, enum bpf_session_map map)
{
	return bpf_map__fd(session_map(session, map));
}

uint32_t bpf_session_map_entries(const struct bpf_session *session, enum bpf_session_map map)
{
	return bpf_map__max_entries(session_map(session, map));
}

uint64_t bpf_session_map_bytes(const struct bpf_session *session)
{
	const struct bpf_map *map;
	uint64_t bytes = 0;

	bpf_object__for_each_map(map, session->skel->obj) bytes += bpf_map_bytes(bpf_map__fd(map));
	return bytes;
}

void bpf_session_run_stats(const struct bpf_session *session, uint64_t *ret_ns, uint64_t *ret_count)
{
	*ret_ns = *ret_count = 0;
	for (unsigned int t = 0; t < WIRE_TRIGGER_COUNT; t++) {
		struct bpf_prog_info info;

		if (!session->wanted[t])
			continue;
		info = session_info(session, (enum wire_trigger)t);
		*ret_ns += info.run_time_ns;
		*ret_count += info.run_cnt;
	}
}
