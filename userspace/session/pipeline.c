/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline.h"

#include <errno.h>
#include <sys/utsname.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "elf/reader/reader.h"
#include "session/pipeline_apply.h"
#include "session/pipeline_arrive.h"
#include "session/pipeline_books.h"
#include "session/pipeline_figures.h"
#include "session/pipeline_live.h"
#include "session/pipeline_malloc.h"
#include "session/pipeline_outside.h"
#include "session/pipeline_show.h"
#include "session/pipeline_spans.h"

/*
 * How long a record is held back. Rings are drained every 50 ms; a JVM's Service Thread publishes
 * a compilation some milliseconds after its code first ran, on a loaded host some tens.
 */
#define HOLD_NS (300 * NSEC_PER_MSEC)
/* For so long walks are finished when the recording has ended; each may want rows of files that nobody has read yet. */
#define LAST_WALKS_NS (1 * NSEC_PER_SEC)
/* An exited process is kept until every sample of its life has surely been handled. */
#define EXPIRE_NS (2 * NSEC_PER_SEC)
/* To find them all processes are looked at. */
#define EXPIRE_PAUSE_NS (500 * NSEC_PER_MSEC)
/* Of five cpus at 99 Hz. */
#define CALM_RECORDS_PER_SECOND 500
/* A host of a thousand processes takes a third of a millisecond. */
#define CHECK_NS (10 * NSEC_PER_SEC)
/* Of the processes that were there at the start and have no sample yet: 40 us each. */
#define COMPLETED_PER_TURN 200

/* Addresses beyond what its files take: the PLT's share, the decompressors', the allocator's. */
#define READER_BYTES (64U << 20)

/*
 * Is memory to be given up? The last quarter of what is free is for what else grows until the next look. Where nothing is left what is held
 * back goes on: if it might stay as it is, it would grow with each turn that takes longer than it is until the next look.
 */
static bool look_for_room(struct pipeline *pipeline, uint64_t now_ns)
{
	bool wants_room = memory_guard_wants_room(&pipeline->guard, now_ns);

	if (pipeline->guard.looked_ns == now_ns)
		pipeline->queue_room_bytes =
			pipeline->guard.room_bytes
				? pipeline_held_bytes(pipeline) + pipeline->guard.room_bytes * 3 / 4
				: 0;
	return wants_room;
}

static void share_memory(struct pipeline *pipeline, const struct memory_plan *plan, bool live)
{
	struct capture_stats stats;

	capture_get_stats(pipeline->capture, &stats);
	pipeline->plan = *plan;
	pipeline->plan.follows_objects = live;
	memory_plan_share(&pipeline->plan, stats.map_bytes, stats.mapped_bytes);
	memory_guard_init(&pipeline->guard, plan->limit_bytes, stats.map_bytes);
	/* In the first moments there is most to be held. */
	look_for_room(pipeline, clock_now_ns());
	reader_set_memory(pipeline->plan.parse_bytes + pipeline->plan.file_bytes + READER_BYTES);
}

static struct image_cache *open_images(const struct pipeline *pipeline)
{
	struct image_cache *images = image_cache_new(pipeline->pool);

	image_cache_set_limit(images, pipeline->plan.symbol_bytes);
	image_cache_set_parse_limit(images, pipeline->plan.parse_bytes);
	image_cache_set_room(images, pipeline->plan.known_bytes);
	image_cache_set_budget(images, pipeline->plan.process_bytes);
	return images;
}

static int read_jvm(uint32_t pid, const struct mapping *libjvm, bool urgent,
		    struct wire_jvm *ret_wire, void *data)
{
	struct pipeline *pipeline = data;
	struct jvm *jvm = jvm_table_find(pipeline->jvms, pid, libjvm, urgent);

	return jvm ? jvm_get_wire(jvm, urgent, ret_wire) : -ENODATA;
}

static struct unwinder *open_unwinder(struct pipeline *pipeline)
{
	const struct unwind_jvm_source jvms = { read_jvm, pipeline };

	struct unwinder *unwinder = unwinder_new(&pipeline->tables.memory, pipeline->images, &jvms,
						 pipeline->plan.file_bytes);

	unwinder_set_room(unwinder, pipeline->plan.known_bytes);
	return unwinder;
}

static void tell_attached(uint32_t pid, void *data)
{
	struct pipeline *pipeline = data;

	if (pipeline->attached)
		pipeline->attached(pid);
}

static int open_agents(struct pipeline *pipeline, const struct pipeline_options *options,
		       struct err *err)
{
	const struct agents_hooks hooks = { tell_attached, pipeline_outside_probe, pipeline };
	int r = agents_new(pipeline->jvms, options->attach, &pipeline->agents, err);

	if (r < 0)
		return r;
	pipeline->attached = options->attached;
	pipeline->unseen = options->unseen;
	pipeline->detaches = options->detach;
	pipeline->outside_interval = options->outside_interval;
	pipeline->samples_allocations = options->alloc_interval != 0;
	jvm_table_sample_allocations(pipeline->jvms, options->alloc_interval);
	pipeline->samples_locks = options->samples_locks;
	pipeline->samples_waits = options->samples_waits;
	pipeline_outside_watch_parks(pipeline);
	jvm_phases_init(&pipeline->phases, pipeline->capture, pipeline->jvms, options->phases);
	if (options->samples_locks)
		jvm_table_sample_locks(pipeline->jvms, options->lock_least_ns);
	agents_set_hooks(pipeline->agents, &hooks);
	pipeline_live_init(pipeline, options->live);
	return 0;
}

int pipeline_init(struct pipeline *pipeline, struct capture *capture, struct registry *registry,
		  const struct pipeline_options *options, struct err *err)
{
	int r;

	memset(pipeline, 0, sizeof(*pipeline));
	pipeline->registry = registry;
	profile_init(&pipeline->profile);
	ledger_init(&pipeline->ledger);
	pipeline->ledger.greet = pipeline_greet;
	pipeline->ledger.greet_data = pipeline;
	pipeline->capture = capture;
	pipeline->options = options->capture;
	pipeline->sinks = options->sinks;
	share_memory(pipeline, options->plan,
		     options->live != LIVE_OFF || pipeline->options->follow_memory);
	pipeline->spans.limit_bytes = pipeline->plan.queue_bytes / 2;
	table_link_init(&pipeline->tables, capture);
	pipeline_malloc_init(pipeline);
	r = worker_pool_new(1, &pipeline->pool, err);
	if (r < 0)
		return r;
	pipeline->images = open_images(pipeline);
	pipeline->jvms = jvm_table_new();
	jvm_table_limit_code_maps(pipeline->jvms, pipeline->plan.code_map_bytes);
	pipeline->unwinder = open_unwinder(pipeline);
	pipeline->symbolizer = symbolizer_new(pipeline->images, pipeline->jvms);
	symbolizer_set_pool(pipeline->symbolizer, pipeline->pool);
	symbolizer_keep_jvm_frames(pipeline->symbolizer, options->jvm_frames);
	return open_agents(pipeline, options, err);
}

void pipeline_release(struct pipeline *pipeline)
{
	/* Workers first: their jobs refer to everything else. */
	agents_free(pipeline->agents);
	worker_pool_free(pipeline->pool);
	symbolizer_free(pipeline->symbolizer);
	jvm_table_free(pipeline->jvms);
	unwinder_free(pipeline->unwinder);
	image_cache_free(pipeline->images);
	registry_free(pipeline->registry);
	merge_release(&pipeline->queue);
	live_objects_release(&pipeline->live);
	malloc_probes_release(&pipeline->malloc);
	malloc_kept_release(&pipeline->kept);
	miss_join_release(&pipeline->misses);
	spans_release(&pipeline->spans);
	wakers_release(&pipeline->wakers);
	parked_release(&pipeline->parked);
	unmounted_release(&pipeline->unmounted);
	process_news_release(&pipeline->news);
	vec_release(&pipeline->outside);
	vec_release(&pipeline->strangers);
	lock_parks_release(&pipeline->parks);
	jvm_phases_release(&pipeline->phases);
	ledger_release(&pipeline->ledger);
	profile_release(&pipeline->profile);
	memory_guard_release(&pipeline->guard);
}

static void add_events(struct pipeline *pipeline)
{
	for (unsigned int i = 0; i < pipeline->options->event_count; i++) {
		const struct capture_event *event = &pipeline->options->events[i];
		struct profile_event row = {
			.name = profile_string(&pipeline->profile, event->name),
			.unit = profile_string(&pipeline->profile, event->unit),
			.period = event->period,
		};

		pipeline->event_ids[i] = profile_event(&pipeline->profile, &row);
	}
	pipeline_live_add_event(pipeline);
	pipeline_malloc_add_event(pipeline);
}

int pipeline_begin(struct pipeline *pipeline, const char *command_line, struct err *err)
{
	struct profile *profile = &pipeline->profile;
	struct utsname uts;

	profile->start_ns = clock_now_ns();
	profile->start_wall_ns = clock_wall_ns();
	profile->tells_wakers = pipeline->options->tells_wakers;
	profile->host = profile_string(profile, uname(&uts) == 0 ? uts.nodename : "");
	profile->command = profile_string(profile, command_line ? command_line : "");
	add_events(pipeline);
	return sinks_begin(&pipeline->sinks, profile,
			   !pipeline->options->pid_count && !pipeline->options->cgroup_path, err);
}

void pipeline_meet(struct pipeline *pipeline)
{
	registry_for_each(pipeline->registry, pipeline_books_add_agent, pipeline);
	registry_for_each(pipeline->registry, pipeline_malloc_add, pipeline);
	pipeline_books_learn_jvms(pipeline);
}

/* What can be read again is given up before there is more than --memory-limit. */
static void make_room(struct pipeline *pipeline, uint64_t now_ns)
{
	if (!look_for_room(pipeline, now_ns))
		return;
	image_cache_shrink(pipeline->images, false);
	memory_guard_trim();
	if (memory_guard_is_near(&pipeline->guard)) {
		image_cache_shrink(pipeline->images, true);
		memory_guard_trim();
	}
	if (memory_guard_is_full(&pipeline->guard) && jvm_table_forget_largest(pipeline->jvms))
		memory_guard_trim();
}

static void note_rate(struct pipeline *pipeline, uint64_t now_ns)
{
	uint64_t came = pipeline->arrived - pipeline->turned_arrived;
	uint64_t took_ns = now_ns - pipeline->turned_ns;

	pipeline->few_arrive =
		pipeline->turned_ns && came * NSEC_PER_SEC <= CALM_RECORDS_PER_SECOND * took_ns;
	pipeline->turned_arrived = pipeline->arrived;
	pipeline->turned_ns = now_ns;
}

void pipeline_turn(struct pipeline *pipeline)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t watermark_ns = now_ns - HOLD_NS;

	pipeline_take_records(pipeline);
	note_rate(pipeline, now_ns);
	image_cache_look(pipeline->images);
	registry_complete(pipeline->registry, COMPLETED_PER_TURN);
	worker_pool_reap(pipeline->pool);
	make_room(pipeline, now_ns);
	jvm_table_poll(pipeline->jvms);
	agents_poll(pipeline->agents);
	pipeline_outside_poll(pipeline);
	if (pipeline_queue_is_full(pipeline))
		watermark_ns = now_ns - HOLD_NS / 10;
	else if (agents_busy(pipeline->agents))
		return;
	if (pipeline_apply_in_turn(pipeline, watermark_ns))
		pipeline_live_settle(pipeline, watermark_ns);
	malloc_kept_settle(&pipeline->kept, pipeline->capture, now_ns);
	if (now_ns - pipeline->checked_ns > CHECK_NS) {
		pipeline->checked_ns = now_ns;
		registry_check(pipeline->registry, now_ns);
		image_cache_close_idle(pipeline->images);
		unwinder_tidy(pipeline->unwinder, now_ns);
		memory_guard_tidy(&pipeline->guard);
	}
	if (now_ns - pipeline->expired_ns > EXPIRE_PAUSE_NS) {
		pipeline->expired_ns = now_ns;
		registry_expire(pipeline->registry, watermark_ns - EXPIRE_NS, pipeline_books_forget,
				pipeline);
	}
}

bool pipeline_is_calm(const struct pipeline *pipeline)
{
	return pipeline->few_arrive && !worker_pool_is_busy(pipeline->pool) &&
	       !agents_busy(pipeline->agents) && !pipeline_queue_is_full(pipeline);
}

/* --- lost samples, flush, finish -------------------------------------------------------------- */

static void count_lost(const struct wire_lost_key *key, const struct wire_lost *lost, void *data)
{
	struct pipeline *pipeline = data;
	struct process *process = registry_find_complete(pipeline->registry, key->tgid);
	const struct ledger_loss loss = { lost->count, lost->weight };
	struct ledger_entry *entry;
	char comm[WIRE_COMM_LEN + 1] = { 0 };

	if (key->event >= pipeline->options->event_count || key->why >= WIRE_LOSS_COUNT)
		return;
	memcpy(comm, lost->comm, WIRE_COMM_LEN);
	entry = ledger_get(&pipeline->ledger, key->tgid, key->exec_id, key->start_ns, process,
			   comm);
	ledger_count_lost(&pipeline->ledger, entry, key->event, key->why, &loss);
	pipeline_show_loss(pipeline, key->tgid, key->event, key->why, &loss);
}

/* A new chunk begins with empty tables; every cached id is void. */
static int rotate(struct pipeline *pipeline, struct err *err)
{
	struct profile *profile = &pipeline->profile;
	struct profile fresh;
	int r;

	ledger_write(&pipeline->ledger, profile, pipeline->event_ids,
		     pipeline->options->event_count);
	r = sinks_rotate(&pipeline->sinks, profile, err);
	if (r < 0)
		return r;
	profile_init(&fresh);
	fresh.start_ns = profile->start_ns;
	fresh.start_wall_ns = profile->start_wall_ns;
	fresh.tells_wakers = profile->tells_wakers;
	fresh.host = profile_string(&fresh, profile_get_string(profile, profile->host));
	fresh.command = profile_string(&fresh, profile_get_string(profile, profile->command));
	for (size_t i = 0; i < profile->counters.len; i++)
		profile_add_counter(&fresh,
				    profile_get_string(profile, profile->counters.items[i].name),
				    profile_get_string(profile, profile->counters.items[i].detail),
				    profile->counters.items[i].value);
	live_objects_move(&pipeline->live, profile, &fresh);
	live_objects_move(&pipeline->kept.objects, profile, &fresh);
	wakers_move(&pipeline->wakers, profile, &fresh);
	profile_release(profile);
	*profile = fresh;
	add_events(pipeline);
	pipeline->tables_serial++;
	symbolizer_reset_ids(pipeline->symbolizer);
	ledger_reset_ids(&pipeline->ledger);
	return 0;
}

int pipeline_flush(struct pipeline *pipeline, struct err *err)
{
	int r;

	pipeline->profile.duration_ns = clock_now_ns() - pipeline->profile.start_ns;
	capture_take_lost(pipeline->capture, count_lost, pipeline);
	if (sinks_want_rotation(&pipeline->sinks, &pipeline->profile))
		return rotate(pipeline, err);
	r = sinks_flush(&pipeline->sinks, &pipeline->profile, err);
	profile_clear_samples(&pipeline->profile);
	return r;
}

int pipeline_finish(struct pipeline *pipeline, struct err *err)
{
	uint64_t end_ns = clock_now_ns();

	pipeline->profile.duration_ns = end_ns - pipeline->profile.start_ns;
	pipeline->walks_until_ns = end_ns + LAST_WALKS_NS;
	pipeline_live_ask(pipeline);
	agents_hurry();
	pipeline_drain(pipeline);
	pipeline_spans_end(pipeline, end_ns);
	/* Code maps and symbols of the last samples are still on their way. */
	while (clock_now_ns() < end_ns + HOLD_NS || agents_busy(pipeline->agents) ||
	       pipeline_live_waits(pipeline)) {
		pipeline_turn(pipeline);
		usleep(20000);
	}
	pipeline_drain(pipeline);
	while (!pipeline_apply_until(pipeline, UINT64_MAX)) {
		unwinder_turn(pipeline->unwinder, clock_now_ns());
		worker_pool_reap(pipeline->pool);
		usleep(1000);
	}
	pipeline_outside_tell_locks(pipeline);
	capture_take_lost(pipeline->capture, count_lost, pipeline);
	jvm_table_release_leases(pipeline->jvms);
	if (pipeline->detaches)
		agents_detach(pipeline->agents);
	/* What follows may wait for a reader, and no JVM waits for that. */
	sinks_ending(&pipeline->sinks);
	pipeline_live_tell(pipeline);
	pipeline_malloc_tell(pipeline);
	pipeline_write_figures(pipeline);
	return pipeline_show_end(pipeline, err);
}
