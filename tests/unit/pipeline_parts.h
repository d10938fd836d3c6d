/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinder, symbolizer, files, JVMs and agents of a pipeline that only note what they are asked, in
 * place of the library's. A note is a word, the process's number (PID_A is 1) where there is one,
 * and what else matters. Included once per test, after pipeline_fixture.h.
 */
#ifndef HOSTPROF_TESTS_PIPELINE_PARTS_H
#define HOSTPROF_TESTS_PIPELINE_PARTS_H

#include "jvm/jvm_live.h"
#include "pipeline_fixture.h"
#include "session/alloc/alloc_outside.h"
#include "session/alloc/alloc_probes.h"
#include "session/locks/lock_parks.h"
#include "session/locks/lock_probes.h"
#include "session/probes/jvm_phases.h"
#include "symbolize/sample_words.h"

static struct {
	struct strbuf log;
	bool quiet;		     /* nothing is noted */
	bool is_libjvm;		     /* the unwinder knows a libjvm of every sample */
	bool tells_threads;	     /* of the JVMs' */
	bool is_jvm;		     /* the registry's processes are JVMs */
	const char *unread;	     /* why a JVM is not; NULL: it is */
	uint64_t forgotten, unnamed; /* code maps, for their size */
	bool jvm_is_new;
	bool agents_busy, not_ready;
	bool agent_failed;
	int outside; /* of alloc_outside_open() */
	bool sampler_is_old;
	int probed;	 /* of alloc_probes_open() */
	int lock_probed; /* of lock_probes_open() */
	int lock_begin_probed;
	uint64_t owner;	   /* of jvm_find_owner(), and of monitors that do not tell */
	int phases_probed; /* of jvm_probes_open(), as jvm_phases_add() has it */
	int parks_seen;	   /* of lock_parks_add() */
	bool parks_added;
	uint64_t parks_polled_ns, phases_polled_ns;
	uint32_t without_locks;
	struct agents_hooks hooks;
	bool try_fails, wants_again, waits_for_jvm, unwinder_busy;
	uint32_t learnt_pid; /* how often its layout was asked for */
	unsigned int learnt;
	unsigned int busy_finishes; /* so often it is busy yet */
	const char *thread_name, *kernel_failure, *owner_name;
	const char *early_frame; /* of symbolizer_take_now(); NULL: as in time */
	uint64_t parsed;
	uint64_t start_ns; /* that times are counted from */
	struct unwind_jvm_source jvm_source;
	void (*asked_if_ready)(void);
	/* Of the JVMs' objects: the report, what has gone, and for how many polls there is no answer. */
	struct jvm_live_report live;
	uint64_t gone;
	uint32_t gone_level;
	unsigned int live_polls;
} parts;

static void note(const char *format, ...)
{
	char text[256];
	va_list ap;

	if (parts.quiet)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	strbuf_addf(&parts.log, "%s\n", text);
}

/* What was noted since the last call. */
static const char *noted(void)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s", strbuf_str(&parts.log));
	strbuf_reset(&parts.log);
	return text;
}

static unsigned int number(uint32_t pid)
{
	return pid - PID_A + 1;
}

/* --- elf/ --- */

#define A_POINTER(type) ((struct type *)0x1000) /* never looked into */

struct image_cache *image_cache_new(struct worker_pool *pool)
{
	assert_non_null(pool);
	return A_POINTER(image_cache);
}

void image_cache_free(struct image_cache *cache)
{
	(void)cache;
}

void image_cache_set_limit(struct image_cache *cache, size_t limit)
{
	(void)cache;
	note("symbols up to %zu", limit);
}

void image_cache_set_parse_limit(struct image_cache *cache, size_t limit)
{
	(void)cache;
	note("parsing up to %zu", limit);
}

void image_cache_set_room(struct image_cache *cache, size_t bytes)
{
	(void)cache;
	note("files up to %zu", bytes);
}

void image_cache_set_budget(struct image_cache *cache, size_t bytes)
{
	(void)cache;
	note("budget of files %zu", bytes);
}

void image_cache_get_stats(const struct image_cache *cache, struct image_cache_stats *ret_stats)
{
	(void)cache;
	*ret_stats = (struct image_cache_stats){
		.images = 21, .evicted = 22, .refused = 23, .refused_pid = PID_A
	};
}

void image_cache_note(struct image_cache *cache, const struct file_key *key, uint32_t pid,
		      uint64_t start, uint64_t end, const char *path)
{
	(void)cache;
	note("open %u %u:%u:%" PRIu64 ":%" PRIu64 " %" PRIx64 "-%" PRIx64 " %s", number(pid),
	     key->major, key->minor, key->inode, key->generation, start, end, path);
}

void image_cache_look(struct image_cache *cache)
{
	(void)cache;
	note("look at files");
}

void image_cache_shrink(struct image_cache *cache, bool all)
{
	(void)cache;
	note(all ? "shrink all" : "shrink");
}

void image_cache_close_idle(struct image_cache *cache)
{
	(void)cache;
	note("close idle");
}

uint64_t image_cache_parsed(const struct image_cache *cache)
{
	(void)cache;
	return parts.parsed;
}

void image_cache_for_each_failed(struct image_cache *cache,
				 void (*fn)(const char *path, const char *why, void *data),
				 void *data)
{
	(void)cache;
	fn("/lib/a", "torn", data);
	fn("/lib/b", "gone", data);
}

/* --- jvm/ --- */

void jvm_table_sample_allocations(struct jvm_table *table, uint32_t interval)
{
	(void)table;
	if (interval)
		note("allocations by %u", interval);
}

void jvm_table_sample_locks(struct jvm_table *table, uint64_t least_ns)
{
	assert_non_null(table);
	note("locks from %" PRIu64, least_ns);
}

uint32_t jvm_table_without_locks(const struct jvm_table *table)
{
	(void)table;
	return parts.without_locks;
}

void jvm_table_follow_objects(struct jvm_table *table)
{
	(void)table;
	note("follow objects");
}

void jvm_table_take_gone(struct jvm_table *table, uint64_t until_ns, jvm_gone_fn fn, void *data)
{
	(void)table;
	note("gone until %" PRIu64, (uint64_t)((until_ns - parts.start_ns) / MS));
	if (parts.gone_level)
		fn(parts.live.serial, 0, parts.gone_level, data);
	if (parts.gone)
		fn(parts.live.serial, parts.gone, 0, data);
}

void jvm_table_ask_live(struct jvm_table *table, bool collect, uint64_t until_ns)
{
	(void)table;
	note("which are alive%s, within %" PRIu64, collect ? " after a collection" : "",
	     (uint64_t)((until_ns - clock_now_ns()) / MS));
}

bool jvm_table_told_live(const struct jvm_table *table, uint64_t now_ns)
{
	(void)table, (void)now_ns;
	return !parts.live_polls || !--parts.live_polls;
}

void jvm_table_for_each_live(const struct jvm_table *table,
			     void (*fn)(const struct jvm_live_report *report, void *data),
			     void *data)
{
	(void)table;
	if (parts.live.pid)
		fn(&parts.live, data);
}

struct jvm_table *jvm_table_new(void)
{
	return A_POINTER(jvm_table);
}

void jvm_table_free(struct jvm_table *table)
{
	(void)table;
}

struct jvm *jvm_table_find(struct jvm_table *table, uint32_t pid, const struct mapping *libjvm,
			   bool make_new)
{
	(void)table;
	assert_non_null(libjvm);
	note("find jvm %u%s", number(pid), make_new ? " or make it" : "");
	return parts.jvm_is_new ? A_POINTER(jvm) : NULL;
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	(void)table;
	assert_non_null(process);
	return parts.is_jvm ? A_POINTER(jvm) : NULL;
}

void jvm_table_forget(struct jvm_table *table, struct process *process)
{
	(void)table;
	note("forget jvm %u", number(process->pid));
}

void jvm_table_poll(struct jvm_table *table)
{
	(void)table;
	note("poll jvms");
}

void jvm_table_limit_code_maps(struct jvm_table *table, size_t bytes)
{
	(void)table;
	assert_true(bytes > 0);
}

bool jvm_table_forget_largest(struct jvm_table *table)
{
	(void)table;
	note("forget the largest code map");
	return true;
}

uint64_t jvm_table_forgotten(const struct jvm_table *table, uint32_t *ret_pid)
{
	(void)table;
	*ret_pid = 4711;
	return parts.forgotten;
}

uint64_t jvm_frames_unnamed(uint32_t *ret_pid)
{
	*ret_pid = 4712;
	return parts.unnamed;
}

void jvm_table_for_each_unread(const struct jvm_table *table,
			       void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	(void)table;
	if (parts.unread)
		fn(4713, parts.unread, data);
}

void jvm_table_release_leases(struct jvm_table *table)
{
	(void)table;
	note("release leases");
}

void jvm_note_thread(struct jvm *jvm, uint32_t tid, uint64_t time_ns)
{
	assert_non_null(jvm);
	if (parts.tells_threads)
		note("thread %u at %" PRIu64, number(tid), (time_ns - parts.start_ns) / MS);
}

void jvm_table_note_thread(struct jvm_table *table, uint32_t pid, uint32_t tid, bool begins,
			   uint64_t time_ns)
{
	(void)table;
	if (parts.tells_threads)
		note("thread %u of %u %s at %" PRIu64, number(tid), number(pid),
		     begins ? "begins" : "is renamed", (time_ns - parts.start_ns) / MS);
}

void jvm_table_note_loss(struct jvm_table *table, uint64_t time_ns)
{
	(void)table;
	if (parts.tells_threads)
		note("news of threads are lost at %" PRIu64, (time_ns - parts.start_ns) / MS);
}

int jvm_get_wire(struct jvm *jvm, bool urgent, struct wire_jvm *ret_wire)
{
	assert_non_null(jvm);
	note("wire%s", urgent ? " now" : "");
	ret_wire->serial = 44;
	return 0;
}

const char *jvm_version(struct jvm *jvm)
{
	assert_non_null(jvm);
	return "17.0.9";
}

const char *jvm_main_class(struct jvm *jvm)
{
	assert_non_null(jvm);
	return "a.Main";
}

uint64_t jvm_find_owner(struct jvm *jvm, uint64_t owner)
{
	assert_non_null(jvm);
	note("owner %" PRIx64, owner);
	return parts.owner;
}

uint64_t jvm_find_anonymous_owner(struct jvm *jvm, const struct wire_lock_begin *begin)
{
	assert_non_null(jvm);
	note("who has %" PRIx64 "?", begin->monitor);
	return parts.owner;
}

const char *jvm_thread_name(struct jvm *jvm, uint32_t tid, uint64_t time_ns, uint64_t *ret_java_tid)
{
	assert_non_null(jvm);
	assert_true(time_ns >= parts.start_ns);
	note("name of %u", number(tid));
	*ret_java_tid = 33;
	return parts.owner_name;
}

const char *jvm_read_class(struct jvm *jvm, uint64_t klass)
{
	assert_non_null(jvm);
	note("class %" PRIx64, klass);
	return NULL;
}

/* --- session/ --- */

void jvm_phases_init(struct jvm_phases *phases, struct capture *capture, struct jvm_table *jvms,
		     uint32_t wanted)
{
	(void)jvms;
	*phases = (struct jvm_phases){ .capture = capture, .wanted = wanted };
}

void jvm_phases_release(struct jvm_phases *phases)
{
	(void)phases;
}

void jvm_phases_add(struct jvm_phases *phases, struct process *process,
		    void (*unseen)(enum jvm_phase phase, const struct err *err, void *data),
		    void *data)
{
	struct err err = { 0 };

	if (!phases->wanted)
		return;
	note("probe the phases of %u", number(process->pid));
	if (parts.phases_probed < 0) {
		err_set(&err, parts.phases_probed, "no probes");
		unseen(JVM_PHASE_SAFEPOINT, &err, data);
	} else {
		phases->seen = phases->wanted;
	}
}

void jvm_phases_poll(struct jvm_phases *phases, uint64_t now_ns)
{
	(void)phases;
	parts.phases_polled_ns = now_ns;
}

void jvm_phases_forget(struct jvm_phases *phases, const struct process *process)
{
	if (phases->wanted)
		note("no more of %u's phases", number(process->pid));
}

int lock_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	assert_non_null(capture);
	note("probe the locks of %u", number(process->pid));
	return parts.lock_probed < 0 ? err_set(err, parts.lock_probed, "no function") : 0;
}

int lock_probes_open_begin(struct capture *capture, const struct process *process, struct err *err)
{
	assert_non_null(capture);
	note("probe the begins of %u", number(process->pid));
	return parts.lock_begin_probed < 0 ? err_set(err, parts.lock_begin_probed, "older") : 0;
}

int lock_parks_add(struct lock_parks *parks, struct process *process, struct err *err)
{
	assert_non_null(parks->capture);
	note("see %u park", number(process->pid));
	parts.parks_added = true;
	return parts.parks_seen < 0 ? err_set(err, parts.parks_seen, "no probes") : 0;
}

void lock_parks_poll(struct lock_parks *parks, uint64_t now_ns)
{
	(void)parks;
	parts.parks_polled_ns = now_ns;
}

void lock_parks_forget(struct lock_parks *parks, const struct process *process)
{
	(void)parks;
	if (parts.parks_added)
		note("no more of %u's parks", number(process->pid));
}

void lock_parks_init(struct lock_parks *parks, struct capture *capture, struct jvm_table *jvms)
{
	(void)jvms;
	parks->capture = capture;
}

void lock_parks_release(struct lock_parks *parks)
{
	(void)parks;
}

int alloc_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	assert_non_null(capture);
	note("probe the agent of %u", number(process->pid));
	return parts.probed < 0 ? err_set(err, parts.probed, "no agent") : 0;
}

int alloc_outside_open(const struct alloc_outside_ops *ops, const struct process *process,
		       struct jvm *jvm, uint64_t interval, bool beside_agent, struct err *err)
{
	assert_true(ops && jvm);
	note("see allocations of %u by %" PRIu64 "%s", number(process->pid), interval,
	     beside_agent ? " beside its agent" : "");
	return parts.outside ? err_set(err, parts.outside, "no symbols") : 0;
}

bool alloc_outside_mends(struct jvm *jvm)
{
	(void)jvm;
	return parts.sampler_is_old;
}

void alloc_outside_close(const struct alloc_outside_ops *ops, const struct process *process)
{
	assert_non_null(ops);
	note("see none of %u", number(process->pid));
}

int agents_new(struct jvm_table *jvms, bool attach, struct agents **ret_agents, struct err *err)
{
	(void)err;
	assert_non_null(jvms);
	note("agents%s", attach ? ", attached" : "");
	*ret_agents = A_POINTER(agents);
	return 0;
}

void agents_set_hooks(struct agents *agents, const struct agents_hooks *hooks)
{
	(void)agents;
	assert_non_null(hooks->attached);
	assert_non_null(hooks->opened);
	parts.hooks = *hooks;
}

void agents_hurry(void)
{
}

void agents_detach(struct agents *agents)
{
	(void)agents;
	note("agents detached");
}

void agents_free(struct agents *agents)
{
	(void)agents;
}

void agents_add(struct agents *agents, struct process *process, bool wanted)
{
	(void)agents;
	note("agent of %u%s", number(process->pid), wanted ? ", a target" : "");
}

void agents_note_sample(struct agents *agents, struct process *process)
{
	(void)agents;
	note("sampled %u", number(process->pid));
}

void agents_poll(struct agents *agents)
{
	(void)agents;
	note("poll agents");
}

void agents_forget(struct agents *agents, struct process *process)
{
	(void)agents;
	note("forget agent %u", number(process->pid));
}

bool agents_has_failed(const struct agents *agents, const struct process *process)
{
	(void)agents, (void)process;
	return parts.agent_failed;
}

bool agents_busy(const struct agents *agents)
{
	(void)agents;
	return parts.agents_busy;
}

void agents_for_each_failure(const struct agents *agents,
			     void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	(void)agents;
	fn(PID_A, "refused", data);
}

struct unwinder *unwinder_new(struct table_memory *memory, struct image_cache *images,
			      const struct unwind_jvm_source *jvms, size_t file_bytes)
{
	assert_true(memory && images);
	note("unwinder files %zu", file_bytes);
	parts.jvm_source = *jvms;
	return A_POINTER(unwinder);
}

void unwinder_set_room(struct unwinder *unwinder, size_t bytes)
{
	(void)unwinder;
	note("unwinder keeps files up to %zu", bytes);
}

void unwinder_free(struct unwinder *unwinder)
{
	(void)unwinder;
}

struct wire_sample *unwinder_try(struct unwinder *unwinder, const struct wire_miss *miss,
				 const struct wire_sample *sample, uint32_t max_frames)
{
	struct wire_sample *finished;

	(void)unwinder;
	note("try %u, %u frames%s", number(sample->tgid), max_frames,
	     miss->time_ns == sample->time_ns ? "" : ", another's");
	if (parts.try_fails)
		return NULL;
	finished = xmemdup(sample, sample->size);
	finished->flags = 0;
	return finished;
}

bool unwinder_wants_again(const struct unwinder *unwinder)
{
	(void)unwinder;
	return parts.wants_again;
}

bool unwinder_waits_for_jvm(const struct unwinder *unwinder, const struct wire_sample *sample)
{
	(void)unwinder;
	return parts.waits_for_jvm && sample->tgid == PID_A;
}

struct wire_sample *unwinder_finish(struct unwinder *unwinder, const struct wire_miss *miss,
				    const struct wire_sample *sample, struct process *process,
				    uint32_t max_frames)
{
	struct wire_sample *finished = xmemdup(sample, sample->size);

	(void)unwinder;
	assert_int_equal(process->pid, sample->tgid);
	assert_int_equal(miss->time_ns, sample->time_ns);
	note("finish %u, %u frames", number(sample->tgid), max_frames);
	finished->flags = 0;
	return finished;
}

void unwinder_learn_jvm(struct unwinder *unwinder, uint32_t pid, const struct mapping *libjvm)
{
	(void)unwinder;
	/* There may be others on this host. */
	parts.learnt += pid == parts.learnt_pid && strstr(libjvm->path, "libjvm.so") != NULL;
}

const struct mapping *unwinder_libjvm(const struct unwinder *unwinder,
				      const struct wire_sample *sample)
{
	static const struct mapping libjvm;

	(void)unwinder, (void)sample;
	return parts.is_libjvm ? &libjvm : NULL;
}

bool unwinder_is_busy(const struct unwinder *unwinder)
{
	(void)unwinder;
	if (parts.busy_finishes)
		return parts.busy_finishes--;
	return parts.unwinder_busy;
}

void unwinder_note_mapping(struct unwinder *unwinder, uint32_t pid, const struct mapping *mapping)
{
	(void)unwinder;
	note("unwinder: %u maps %" PRIx64 "-%" PRIx64 "+%" PRIx64 " %s", number(pid),
	     mapping->start, mapping->end, mapping->pgoff, mapping->path);
}

void unwinder_note_stale(struct unwinder *unwinder, const struct wire_sample *sample)
{
	(void)unwinder;
	note("unwinder: %u is stale", number(sample->tgid));
}

void unwinder_note_exec(struct unwinder *unwinder, uint32_t pid, uint64_t time_ns)
{
	(void)unwinder;
	note("unwinder: exec %u at %" PRIu64, number(pid),
	     (uint64_t)((time_ns - parts.start_ns) / MS));
}

void unwinder_note_exit(struct unwinder *unwinder, uint32_t pid)
{
	(void)unwinder;
	note("unwinder: exit %u", number(pid));
}

void unwinder_grant(struct unwinder *unwinder)
{
	(void)unwinder;
	note("grant");
}

void unwinder_turn(struct unwinder *unwinder, uint64_t now_ns)
{
	(void)unwinder;
	assert_int_equal(now_ns, clock_now_ns());
	note("unwinder turn");
}

void unwinder_tidy(struct unwinder *unwinder, uint64_t now_ns)
{
	(void)unwinder;
	assert_int_equal(now_ns, clock_now_ns());
	note("tidy");
}

void unwinder_for_each_figure(const struct unwinder *unwinder,
			      void (*fn)(const char *name, const char *detail, uint64_t value,
					 void *data),
			      void *data)
{
	(void)unwinder;
	fn("unwind.test", "detail", 55, data);
}

/* --- symbolize/ --- */

void symbolizer_set_pool(struct symbolizer *symbolizer, struct worker_pool *pool)
{
	assert_non_null(symbolizer);
	assert_non_null(pool);
}

struct symbolizer *symbolizer_new(struct image_cache *images, struct jvm_table *jvms)
{
	assert_true(images && jvms);
	return A_POINTER(symbolizer);
}

void symbolizer_keep_jvm_frames(struct symbolizer *symbolizer, bool keep)
{
	(void)symbolizer;
	if (keep)
		note("JVM frames stay");
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	(void)symbolizer;
}

bool symbolizer_arrive(struct symbolizer *symbolizer, struct process *process,
		       const struct wire_sample *sample)
{
	(void)symbolizer;
	if (process)
		note("arrive %u%s", number(process->pid), sample->flags ? " unfinished" : "");
	return (process && parts.is_jvm) || !sample_words_need_names(sample);
}

void symbolizer_read_names(struct jvm *jvm, const struct wire_sample *sample)
{
	assert_non_null(jvm);
	note("names from jvm of %u", number(sample->tgid));
}

/* One frame of that name, and the thread's name. */
static struct symbolized symbolized_as(struct profile *profile, const struct process *process,
				       const struct wire_sample *sample, const char *frame_name)
{
	struct profile_frame frame = { .name = profile_string(profile, frame_name),
				       .mapping = PROFILE_NONE };
	uint32_t id = profile_frame(profile, &frame);
	struct symbolized made = { .stack = profile_stack(profile, &id, 1),
				   .thread_name =
					   profile_strn(profile, sample->comm,
							strnlen(sample->comm, WIRE_COMM_LEN)) };

	if (!process || !parts.is_jvm)
		return made;
	made.jvm = A_POINTER(jvm);
	made.java_tid = 31;
	if (parts.thread_name)
		made.thread_name = profile_string(profile, parts.thread_name);
	return made;
}

struct symbolized symbolizer_take(struct symbolizer *symbolizer, struct profile *profile,
				  struct process *process, const struct wire_sample *sample)
{
	(void)symbolizer;
	note("stack of %u%s", number(process->pid), sample->flags ? " unfinished" : "");
	return symbolized_as(profile, process, sample, "frame");
}

bool symbolizer_try(struct symbolizer *symbolizer, struct profile *profile, struct process *process,
		    const struct wire_sample *sample, struct symbolized *ret)
{
	if (parts.asked_if_ready)
		parts.asked_if_ready();
	if (parts.not_ready)
		return false;
	*ret = symbolizer_take(symbolizer, profile, process, sample);
	return true;
}

/* Frames of what is known of the process. */
struct symbolized symbolizer_take_now(struct symbolizer *symbolizer, struct profile *profile,
				      struct process *process, const struct wire_sample *sample)
{
	const char *known = parts.early_frame ? parts.early_frame : "frame";

	(void)symbolizer;
	note("early stack of %u%s", number(sample->tgid), process ? "" : ", not known");
	return symbolized_as(profile, process, sample, process ? known : "raw");
}

const char *symbolizer_variable_of_kernel(struct symbolizer *symbolizer, uint64_t address)
{
	(void)symbolizer;
	(void)address;
	return NULL;
}

const char *symbolizer_kernel_failure(const struct symbolizer *symbolizer)
{
	(void)symbolizer;
	return parts.kernel_failure ? parts.kernel_failure : "";
}

void symbolizer_forget(struct symbolizer *symbolizer, struct process *process)
{
	(void)symbolizer;
	note("forget names %u", number(process->pid));
}

void symbolizer_reset_ids(struct symbolizer *symbolizer)
{
	(void)symbolizer;
	note("reset ids");
}

/* --- a pipeline over them --- */

static inline int setup_parts(void **state)
{
	struct fixture *f;

	memset(&parts, 0, sizeof(parts));
	if (setup(state) < 0)
		return -1;
	f = *state;
	parts.start_ns = f->start_ns;
	return 0;
}

static inline int teardown_parts(void **state)
{
	parts.quiet = true;
	strbuf_release(&parts.log);
	return teardown(state);
}

/* Noted from here on. */
static inline void begin(struct fixture *f)
{
	open_pipeline(f);
	noted();
}

/* More than this is held back nowhere. */
static inline void queue_holds(struct fixture *f, uint64_t bytes)
{
	f->pipeline.plan.queue_bytes = bytes;
	f->pipeline.queue_room_bytes = 0;
	f->pipeline.guard.next_ns = UINT64_MAX;
	f->pipeline.guard.looked_ns = 0;
}

/* Without the notes of every turn. */
static inline void apply_until(struct fixture *f, uint64_t ms)
{
	parts.quiet = true;
	run_until(f, ms - 1);
	parts.quiet = false;
	assert_true(pipeline_apply_until(&f->pipeline, at_ms(f, ms)));
}

static inline void snapshot(struct fixture *f)
{
	struct err err;

	assert_int_equal(pipeline_snapshot(&f->pipeline, &err), 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_parts, teardown_parts)

#endif
