/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "jvm/java_command.h"
#include "jvm/jvm_private.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/vm_flags.h"
#include "process/proc.h"
#include "wall/wall.h"

/* A starting JVM has no tables yet; later failures are rarer, so look less often. */
#define JVM_LAYOUT_WAIT_NS     (20 * NSEC_PER_MSEC)
#define JVM_LAYOUT_MAX_WAIT_NS (5 * NSEC_PER_SEC)
/* Even a slow machine has a JVM started by then. */
#define JVM_START_NS (10 * NSEC_PER_SEC)
/* A layout that lacks the continuation stubs is looked at this often; see jvm_get_wire(). */
#define JVM_REFRESH_WAIT_NS (200 * NSEC_PER_MSEC)
/* An agent that has not replayed by then (a stopped process, say) is not waited for. */
#define JVM_REPLAY_TIMEOUT_NS (5 * NSEC_PER_SEC)
/* After lost records we ask again; each time later when it does not help. */
#define JVM_REPLAY_PAUSE_NS	(500 * NSEC_PER_MSEC)
#define JVM_REPLAY_MAX_PAUSE_NS (60 * NSEC_PER_SEC)
/*
 * What one turn of the loop takes of a JVM's code map; the rest is for the next ones. A full ring
 * of an agent of ours, which takes 10 ms, so that none of it waits that need not.
 */
#define JVM_POLL_BYTES ((uint64_t)CODEMAP_RING_BYTES)
#define JVM_POLL_NS    (20 * NSEC_PER_MSEC)
/* Of more threads than a kernel has by default (pid_max: 32,768). */
#define JVM_TIDS_BYTES (40000 * LRU_ENTRY_BYTES)

struct jvm *jvm_new(uint32_t pid, const struct mapping *libjvm, struct vmstructs_cache *cache)
{
	struct jvm *jvm = xcalloc(1, sizeof(*jvm));

	jvm->pid = pid;
	jvm->made_ns = clock_now_ns();
	jvm->libjvm = *libjvm;
	jvm->libjvm.path = xstrdup(libjvm->path);
	jvm->cache = cache;
	jvm->reader.fd = -1;
	jvm->layout_wait_ns = JVM_LAYOUT_WAIT_NS;
	lru_init(&jvm->ns_tids, JVM_TIDS_BYTES, NULL, NULL);
	lru_init(&jvm->owner_tids, JVM_TIDS_BYTES, NULL, NULL);
	return jvm;
}

void jvm_free(struct jvm *jvm)
{
	if (!jvm)
		return;
	codemap_reader_release_lease(&jvm->reader);
	codemap_reader_close(&jvm->reader);
	codemap_store_free(jvm->store);
	jvm_live_release(&jvm->live);
	code_names_free(jvm->code);
	klass_names_free(jvm->klasses);
	method_names_free(jvm->names);
	vmstructs_close(jvm->vs);
	jvm_release_threads(&jvm->threads);
	lru_clear(&jvm->ns_tids);
	lru_clear(&jvm->owner_tids);
	free(jvm->libjvm.path);
	free(jvm);
}

/* --- from outside ----------------------------------------------------------------------------- */

static int read_tables(struct jvm *jvm)
{
	struct err err = { 0 };
	int ret = 0;

	if (!jvm->vs)
		ret = vmstructs_open(jvm->cache, jvm->pid, &jvm->libjvm, &jvm->vs, &err);
	if (!ret)
		ret = jvm_layout_read(jvm->vs, &jvm->layout, &err);
	snprintf(jvm->why, sizeof(jvm->why), "%.*s", (int)sizeof(jvm->why) - 1,
		 ret ? err.text : "");
	if (ret && !jvm->why[0])
		snprintf(jvm->why, sizeof(jvm->why), "%s", strerror(-ret));
	return ret;
}

static int read_layout(struct jvm *jvm)
{
	struct scopes_layout scopes;
	int ret = read_tables(jvm);

	if (ret)
		return ret;
	if (vm_version_read(jvm->vs, jvm->version, sizeof(jvm->version)))
		jvm->version[0] = '\0';
	jvm->names = method_names_new(vmstructs_memory(jvm->vs), &jvm->layout);
	scopes_layout_read(jvm->vs, &scopes);
	jvm->no_scopes = scopes.place == SCOPES_UNKNOWN;
	jvm->code = code_names_new(vmstructs_memory(jvm->vs), &jvm->layout, &scopes, jvm->names);
	jvm->klasses = klass_names_new(vmstructs_memory(jvm->vs), &jvm->layout);
	return 0;
}

/*
 * Errors that another attempt does not mend. Of a JVM that is starting, what is half there looks
 * malformed, too: the variables that VMStructs are found by are set one by one.
 */
static bool is_final(const struct jvm *jvm, int ret, uint64_t now_ns)
{
	if (ret == -EPERM || ret == -EACCES)
		return true;
	return ret < 0 && ret != -EAGAIN && !vm_error_passes(ret) &&
	       now_ns - jvm->made_ns > JVM_START_NS;
}

static bool has_layout(struct jvm *jvm)
{
	uint64_t now_ns;
	int ret;

	if (jvm->has_layout || jvm->no_layout)
		return jvm->has_layout;
	now_ns = clock_now_ns();
	if (now_ns < jvm->layout_retry_ns)
		return false;
	ret = read_layout(jvm);
	jvm->has_layout = !ret;
	jvm->no_layout = is_final(jvm, ret, now_ns);
	jvm->layout_retry_ns = now_ns + jvm->layout_wait_ns;
	jvm->layout_wait_ns = MIN(jvm->layout_wait_ns * 2, JVM_LAYOUT_MAX_WAIT_NS);
	/* From now on they say when it is refreshed. */
	if (jvm->has_layout) {
		jvm->layout_retry_ns = now_ns;
		jvm->layout_wait_ns = JVM_REFRESH_WAIT_NS;
	}
	return jvm->has_layout;
}

bool jvm_has_layout(struct jvm *jvm)
{
	return has_layout(jvm);
}

/*
 * Its first virtual thread may have run since: that brings the last of the stubs. In a library that
 * was stripped they are searched, which may take milliseconds: 1 % of the time at most, 10 % while
 * samples wait.
 */
static void refresh_layout(struct jvm *jvm, bool urgent)
{
	uint64_t now_ns = clock_now_ns(), took_ns;

	if (now_ns < jvm->layout_retry_ns + (urgent ? 0 : jvm->layout_wait_ns))
		return;
	jvm_layout_refresh(jvm->vs, &jvm->layout);
	took_ns = clock_now_ns() - now_ns;
	jvm->layout_retry_ns = now_ns + 10 * took_ns;
	jvm->layout_wait_ns = MAX(JVM_REFRESH_WAIT_NS, 100 * took_ns);
}

int jvm_get_wire(struct jvm *jvm, bool urgent, struct wire_jvm *ret_wire)
{
	if (urgent && !jvm->has_layout && !jvm->no_layout)
		jvm->layout_retry_ns = 0;
	if (!has_layout(jvm) && !jvm->no_layout)
		return -ENODATA;
	if (jvm->has_layout) {
		if (jvm->layout.provisional)
			refresh_layout(jvm, urgent);
		*ret_wire = jvm->layout.wire;
		jvm_shown_fill(jvm, ret_wire);
	} else {
		memset(ret_wire, 0, sizeof(*ret_wire));
	}
	ret_wire->serial = jvm->id;
	return 0;
}

/* --- names from outside ----------------------------------------------------------------------- */

static uint64_t unnamed;
static uint32_t unnamed_pid;

uint64_t jvm_frames_unnamed(uint32_t *ret_pid)
{
	*ret_pid = unnamed_pid;
	return unnamed;
}

static bool may_read_names(struct jvm *jvm, uint64_t now_ns)
{
	if (name_time_is_left(&jvm->name_time, now_ns))
		return true;
	if (!unnamed++)
		unnamed_pid = jvm->pid;
	return false;
}

static enum java_lookup lookup_of(int result)
{
	if (!result)
		return JAVA_FRAMES;
	return result == -ESTALE || result == -ESRCH ? JAVA_EVICTED : JAVA_UNKNOWN;
}

enum java_lookup jvm_find_interpreted(struct jvm *jvm, const uint64_t words[WIRE_INTERPRETED_WORDS],
				      struct java_answer *ret_answer)
{
	bool late = words[0] & WIRE_FRAME_LATE;
	uint64_t now_ns;
	int ret;

	if (!has_layout(jvm))
		return JAVA_UNKNOWN;
	now_ns = clock_now_ns();
	if (!may_read_names(jvm, now_ns))
		return JAVA_UNKNOWN;
	if (late && method_names_was_another(jvm->names, words[1], words[2], words[4]))
		ret = -ESTALE;
	else
		ret = method_names_find(jvm->names, words[1], words[2], words[4], words[3],
					&ret_answer->frames[0]);
	if (!ret && !late)
		method_names_note(jvm->names, words[1], words[2], words[4]);
	name_time_take(&jvm->name_time, clock_now_ns() - now_ns);
	ret_answer->count = 1;
	ret_answer->stub = NULL;
	return lookup_of(ret);
}

static struct code_place place_of(const uint64_t words[WIRE_COMPILED_WORDS])
{
	return (struct code_place){ words[0] & WIRE_FRAME_ADDRESS_MASK, (uint32_t)words[1] };
}

void jvm_meet_compiled(struct jvm *jvm, const uint64_t *const words[], unsigned int count)
{
	struct code_place places[JVM_MEET_FRAMES];
	uint64_t now_ns;

	if (!has_layout(jvm))
		return;
	now_ns = clock_now_ns();
	if (!may_read_names(jvm, now_ns))
		return;
	for (unsigned int i = 0; i < count; i++)
		places[i] = place_of(words[i]);
	code_names_meet(jvm->code, places, count);
	wall_rest();
	name_time_take(&jvm->name_time, clock_now_ns() - now_ns);
}

enum java_lookup jvm_find_compiled(struct jvm *jvm, const uint64_t words[WIRE_COMPILED_WORDS],
				   struct java_answer *ret_answer)
{
	const struct code_place place = place_of(words);
	uint64_t now_ns;
	int ret;

	if (!has_layout(jvm))
		return JAVA_UNKNOWN;
	now_ns = clock_now_ns();
	if (!may_read_names(jvm, now_ns))
		return JAVA_UNKNOWN;
	ret = code_names_find(jvm->code, place.address, place.compile_id, ret_answer);
	name_time_take(&jvm->name_time, clock_now_ns() - now_ns);
	return !ret && ret_answer->stub ? JAVA_STUB : lookup_of(ret);
}

bool jvm_has_code_map(const struct jvm *jvm)
{
	return jvm->store;
}

const char *jvm_version(struct jvm *jvm)
{
	has_layout(jvm);
	return jvm->version;
}

const char *jvm_main_class(struct jvm *jvm)
{
	/* Asked again while it is empty: java_command needs the tables, which come a moment late. */
	if (!jvm->main_class[0] && !jvm->no_main_class) {
		jvm->no_main_class = has_layout(jvm) || jvm->no_layout;
		java_command_main_class(jvm->pid, jvm->vs, jvm->main_class,
					sizeof(jvm->main_class));
	}
	return jvm->main_class;
}

/* --- the agent's code map --------------------------------------------------------------------- */

static void ask_replay(struct jvm *jvm, uint64_t now_ns)
{
	uint32_t want = CODEMAP_WANT_CODE | CODEMAP_WANT_THREADS;

	if (jvm->alloc_interval)
		want |= CODEMAP_WANT_ALLOC;
	if (jvm->live.follows)
		want |= CODEMAP_WANT_LIVE;
	if (jvm->wants_locks)
		want |= CODEMAP_WANT_LOCKS;
	jvm->replay = JVM_REPLAY_ASKED;
	jvm->replay_asked_ns = now_ns;
	jvm->replays_before = codemap_store_replays(jvm->store);
	codemap_reader_set_interval(&jvm->reader, jvm->alloc_interval);
	codemap_reader_set_lock_least(&jvm->reader, jvm->lock_least_ns);
	codemap_reader_command(&jvm->reader, CODEMAP_COMMAND_START, want);
}

int jvm_open_code_map(struct jvm *jvm, struct err *err)
{
	struct codemap_reader reader = CODEMAP_READER_INIT;
	uint64_t now_ns = clock_now_ns();
	int ret;

	if (jvm->reader.leased)
		return 0;
	ret = codemap_reader_open(jvm->pid, &reader, err);
	if (ret)
		return ret;
	ret = codemap_reader_take_lease(&reader, now_ns, err);
	if (!ret && codemap_reader_is_closed(&reader))
		ret = err_set(err, -ENODATA, "the agent of process %u is leaving", jvm->pid);
	if (ret) {
		codemap_reader_close(&reader);
		return ret;
	}
	codemap_reader_close(&jvm->reader);
	jvm->reader = reader;
	/* What an earlier agent told has had nobody to say when it ended. */
	codemap_store_free(jvm->store);
	jvm->store = codemap_store_new();
	/* Names of older threads need the tables, too. */
	has_layout(jvm);
	jvm_learn_tids(jvm);
	jvm->polled_ns = now_ns;
	jvm->replay_pause_ns = JVM_REPLAY_PAUSE_NS;
	ask_replay(jvm, now_ns);
	return 0;
}

int jvm_check_allocations(const struct jvm *jvm, struct err *err)
{
	if (!jvm->alloc_interval || !jvm->reader.leased || codemap_reader_samples(&jvm->reader) ||
	    !codemap_reader_is_done(&jvm->reader) || codemap_reader_events_off(&jvm->reader))
		return 0;
	err_set(err, -EOPNOTSUPP, "the JVM cannot sample allocations");
	return err_hint(err, "that takes JDK 11, and an agent of this hostprof's version");
}

bool jvm_hides_locks(const struct jvm *jvm)
{
	return jvm->wants_locks && jvm->reader.leased && codemap_reader_is_done(&jvm->reader) &&
	       !codemap_reader_tells_locks(&jvm->reader);
}

const char *jvm_class_name(const struct jvm *jvm, uint64_t class_id)
{
	return jvm->store ? codemap_store_class_name(jvm->store, class_id) : NULL;
}

bool jvm_reads_code_map(const struct jvm *jvm)
{
	return jvm->reader.leased;
}

/*
 * The agent has gone, the lease is another's, or the memory is not what it should be. What was
 * learnt stays for the past.
 */
static void close_code_map(struct jvm *jvm)
{
	codemap_store_set_known_until(jvm->store, jvm->polled_ns);
	codemap_reader_release_lease(&jvm->reader);
	codemap_reader_close(&jvm->reader);
	jvm->replay = JVM_REPLAY_NONE;
}

static void check_replay(struct jvm *jvm, uint64_t now_ns)
{
	if (jvm->replay == JVM_REPLAY_ASKED &&
	    (codemap_store_replays(jvm->store) != jvm->replays_before ||
	     now_ns - jvm->replay_asked_ns > JVM_REPLAY_TIMEOUT_NS))
		jvm->replay = JVM_REPLAY_NONE;
	if (jvm->replay == JVM_REPLAY_ASKED || jvm_live_is_due(jvm))
		return;
	/* We did not come to renew our lease for some seconds. */
	if (codemap_reader_events_off(&jvm->reader))
		codemap_store_note_gap(jvm->store, jvm->polled_ns);
	if (!codemap_store_needs_replay(jvm->store)) {
		jvm->replay_pause_ns = JVM_REPLAY_PAUSE_NS;
	} else if (now_ns - jvm->replay_asked_ns > jvm->replay_pause_ns) {
		jvm->replay_pause_ns = MIN(jvm->replay_pause_ns * 2, JVM_REPLAY_MAX_PAUSE_NS);
		ask_replay(jvm, now_ns);
	}
}

void jvm_poll(struct jvm *jvm, void *buffer, uint64_t now_ns, uint64_t until_ns)
{
	const uint64_t began_ns = clock_now_ns();
	const struct codemap_budget budget = { JVM_POLL_BYTES,
					       MIN(until_ns, began_ns + JVM_POLL_NS) };
	bool closed;
	int rest = 0;

	jvm->poll_cost_ns /= 2;
	if (!jvm->reader.leased)
		return;
	closed = !codemap_reader_renew_lease(&jvm->reader, now_ns) ||
		 codemap_reader_is_closed(&jvm->reader);
	/* What another consumer left of the ring is not ours to read. */
	if (jvm->reader.leased && began_ns < until_ns)
		rest = codemap_reader_drain(&jvm->reader, buffer, &budget, jvm_take_event, jvm);
	else
		rest = jvm->reader.leased;
	jvm->poll_cost_ns += clock_now_ns() - began_ns;
	if (rest < 0 || (closed && !rest)) {
		close_code_map(jvm);
		return;
	}
	check_replay(jvm, now_ns);
	jvm_live_poll(jvm);
	if (!rest)
		jvm->polled_ns = now_ns;
}

void jvm_expire(struct jvm *jvm, uint64_t horizon_ns)
{
	if (jvm->store)
		codemap_store_expire(jvm->store, horizon_ns);
	thread_names_expire(&jvm->threads.names, horizon_ns);
}

bool jvm_is_replayed(const struct jvm *jvm, uint64_t now_ns)
{
	return jvm->replay == JVM_REPLAY_NONE ||
	       now_ns - jvm->replay_asked_ns > JVM_REPLAY_TIMEOUT_NS;
}

/* --- look-ups --------------------------------------------------------------------------------- */

/* Without a layout all that is known of its code is what the agent told. */
enum java_lookup jvm_find_code(struct jvm *jvm, uint64_t address, uint64_t time_ns,
			       struct java_answer *ret_answer)
{
	enum java_lookup found = JAVA_UNKNOWN;

	if (jvm->has_layout &&
	    (address < jvm->layout.code_start || address >= jvm->layout.code_end))
		return JAVA_ELSEWHERE;
	ret_answer->stub = NULL;
	if (jvm->store)
		found = codemap_store_find(jvm->store, address, time_ns, ret_answer->frames,
					   &ret_answer->count, &ret_answer->stub);
	return found == JAVA_UNKNOWN && !jvm->has_layout ? JAVA_ELSEWHERE : found;
}

bool jvm_code_is_settled(const struct jvm *jvm, uint64_t time_ns, uint64_t *ret_changes)
{
	bool settled = jvm->store && codemap_store_is_settled(jvm->store, time_ns, ret_changes);

	if (settled)
		*ret_changes = *ret_changes << 1 | jvm->has_layout;
	return settled;
}
