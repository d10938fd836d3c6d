/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/codemap_store.h"

#include "base/alloc.h"
#include "jvm/codemap/code_classes.h"
#include "jvm/codemap/code_index.h"
#include "jvm/codemap/code_methods.h"
#include "jvm/codemap/code_threads.h"

/* Entries that one look-up examines; more cover one address only in fabricated input. */
#define STORE_MAX_CANDIDATES 256
/* Entries that a new one can take the place of: half a megabyte over pieces of 512 bytes. */
#define STORE_MAX_OVERLAPS 1024

struct codemap_store {
	struct code_methods methods;
	struct code_index code;
	struct code_threads threads;
	struct code_classes classes;
	uint32_t replay;  /* begun so far */
	uint32_t replays; /* ended so far, begin seen */
	bool replaying;
	bool gap;		 /* records were lost before the running or next replay */
	bool gap_in_replay;	 /* again, while it runs */
	uint64_t gap_ns;	 /* since when */
	uint64_t burst_ns;	 /* since when live reports have come without a pause */
	uint64_t live_ns;	 /* time of the last live report */
	uint64_t known_until_ns; /* 0: no end */
	uint64_t changes;	 /* of what look-ups of code find */
	uint64_t changed_ns;	 /* the latest moment that one of them was of */
};

static void note_change(struct codemap_store *s, uint64_t time_ns)
{
	s->changes++;
	s->changed_ns = MAX(s->changed_ns, time_ns);
}

/* No two stores of a process have a number of changes in common. */
#define STORE_SHIFT 40

struct codemap_store *codemap_store_new(void)
{
	static uint64_t stores;
	struct codemap_store *s = xcalloc(1, sizeof(*s));

	s->changes = ++stores << STORE_SHIFT;
	code_methods_init(&s->methods);
	return s;
}

void codemap_store_free(struct codemap_store *s)
{
	if (!s)
		return;
	code_index_release(&s->code);
	code_methods_release(&s->methods);
	code_threads_release(&s->threads);
	code_classes_release(&s->classes);
	free(s);
}

size_t codemap_store_bytes(const struct codemap_store *s)
{
	return s->code.bytes + code_methods_bytes(&s->methods) + code_threads_bytes(&s->threads) +
	       code_classes_bytes(&s->classes);
}

static void end_entry(struct codemap_store *s, struct code_entry *entry, uint64_t time_ns,
		      enum code_end end)
{
	if (entry->end != CODE_LIVE)
		return;
	entry->end = (uint8_t)end;
	entry->end_ns = MAX(time_ns, entry->begin_ns);
	code_index_note_end(&s->code, entry);
}

/* The live entry that is the same code as ENTRY, as a replay reports it again. */
static struct code_entry *find_same(const struct codemap_store *s, const struct code_entry *entry)
{
	struct code_walk at = code_index_seek(entry->start + 1);
	struct code_entry *old;

	for (unsigned int n = 0; n < STORE_MAX_OVERLAPS; n++) {
		old = code_index_prev_live(&s->code, &at, entry->start);
		if (!old)
			break;
		if (old->start == entry->start && old->identity == entry->identity &&
		    !old->stub == !entry->stub)
			return old;
	}
	return NULL;
}

/* What lived where ENTRY is now has gone, even if its end was not reported. */
static void end_overlapped(struct codemap_store *s, const struct code_entry *entry)
{
	struct code_walk at = code_index_seek(code_entry_stop(entry));
	struct code_entry *old;

	for (unsigned int n = 0; n < STORE_MAX_OVERLAPS; n++) {
		old = code_index_prev_live(&s->code, &at, entry->start);
		if (!old)
			break;
		/* A stub may be reported as a part of another one. */
		if (entry->stub && old->stub && old->start != entry->start)
			continue;
		if (s->gap)
			end_entry(s, old, s->gap_ns, CODE_LOST);
		else
			end_entry(s, old, entry->begin_ns, CODE_REPLACED);
	}
}

static void add_entry(struct codemap_store *s, struct code_entry *entry)
{
	struct code_entry *same = find_same(s, entry);

	if (same) {
		same->replay = s->replay;
		code_entry_free(entry);
		return;
	}
	entry->replay = s->replay;
	entry->burst_ns = entry->replayed ? 0 : s->burst_ns;
	entry->unsure_since_ns = s->gap ? s->gap_ns : UINT64_MAX;
	end_overlapped(s, entry);
	code_index_add(&s->code, entry);
}

static void unload(struct codemap_store *s, const struct codemap_event *e)
{
	struct code_walk at = code_index_seek(e->unload.address + 1);
	struct code_entry *old;

	for (unsigned int n = 0; n < STORE_MAX_OVERLAPS; n++) {
		old = code_index_prev_live(&s->code, &at, e->unload.address);
		if (!old)
			break;
		if (old->start == e->unload.address && !old->stub)
			end_entry(s, old, e->time_ns, CODE_UNLOADED);
	}
}

void codemap_store_note_gap(struct codemap_store *s, uint64_t since_ns)
{
	note_change(s, since_ns);
	if (s->replaying)
		s->gap_in_replay = true;
	if (!s->gap || since_ns < s->gap_ns)
		s->gap_ns = since_ns;
	s->gap = true;
}

bool codemap_store_needs_replay(const struct codemap_store *s)
{
	return s->gap;
}

uint32_t codemap_store_replays(const struct codemap_store *s)
{
	return s->replays;
}

static void begin_replay(struct codemap_store *s)
{
	code_methods_begin_replay(&s->methods);
	s->replay++;
	s->replaying = true;
	s->gap_in_replay = false;
}

static void end_unless_replayed(struct code_entry *entry, void *data)
{
	struct codemap_store *s = data;

	if (entry->replay != s->replay)
		end_entry(s, entry, s->gap_ns, CODE_LOST);
}

/* After lost records, what a whole replay did not report has gone meanwhile. */
static void end_replay(struct codemap_store *s)
{
	if (!s->replaying)
		return;
	s->replaying = false;
	s->replays++;
	if (s->gap_in_replay || !s->gap)
		return;
	s->gap = false;
	code_index_for_each(&s->code, end_unless_replayed, s);
}

void codemap_store_set_known_until(struct codemap_store *s, uint64_t time_ns)
{
	note_change(s, time_ns);
	s->known_until_ns = time_ns;
}

void codemap_store_forget(struct codemap_store *s, uint64_t time_ns)
{
	code_index_release(&s->code);
	code_methods_release(&s->methods);
	code_methods_init(&s->methods);
	code_threads_release(&s->threads);
	code_classes_release(&s->classes);
	s->classes = (struct code_classes){ 0 };
	codemap_store_note_gap(s, time_ns);
}

/* Follow the JVM's Service Thread: a pause means that its queue was empty. */
static void note_activity(struct codemap_store *s, const struct codemap_event *e)
{
	if (e->flags & CODEMAP_FLAG_REPLAYED || e->kind > CODEMAP_DYNAMIC)
		return;
	if (e->time_ns > s->live_ns + CODE_QUEUE_IDLE_NS)
		s->burst_ns = e->time_ns;
	s->live_ns = MAX(s->live_ns, e->time_ns);
}

void codemap_store_add(struct codemap_store *s, const struct codemap_event *e)
{
	note_activity(s, e);
	if (e->kind < CODEMAP_THREAD)
		note_change(s, e->time_ns);
	switch (e->kind) {
	case CODEMAP_METHOD: code_methods_add(&s->methods, e); break;
	case CODEMAP_LOAD: add_entry(s, code_entry_new_method(e, &s->methods)); break;
	case CODEMAP_UNLOAD: unload(s, e); break;
	case CODEMAP_DYNAMIC: add_entry(s, code_entry_new_stub(e)); break;
	case CODEMAP_GAP: codemap_store_note_gap(s, e->time_ns); break;
	case CODEMAP_REPLAY_BEGIN: begin_replay(s); break;
	case CODEMAP_REPLAY_END: end_replay(s); break;
	case CODEMAP_THREAD:
	case CODEMAP_THREAD_END: code_threads_add(&s->threads, e); break;
	case CODEMAP_CLASS: code_classes_add(&s->classes, e); break;
	default: break;
	}
	if (codemap_store_bytes(s) > CODE_STORE_MAX_BYTES)
		codemap_store_forget(s, e->time_ns);
}

void codemap_store_expire(struct codemap_store *s, uint64_t horizon_ns)
{
	code_index_expire(&s->code, horizon_ns);
	code_threads_expire(&s->threads, horizon_ns);
}

/* The entries that cover an address, as seen from one moment. */
struct candidates {
	const struct code_entry *holding; /* lives at the moment */
	const struct code_entry *next;	  /* the first to begin after it */
};

/* Compiled code says more than a stub that it lies in, the inner stub more than the outer. */
static bool is_better(const struct code_entry *entry, const struct code_entry *than)
{
	if (!than || !entry->stub != !than->stub)
		return !than || !entry->stub;
	if (entry->stub)
		return entry->code_bytes < than->code_bytes;
	return entry->begin_ns > than->begin_ns;
}

static unsigned int collect(const struct codemap_store *s, uint64_t address, uint64_t time_ns,
			    struct candidates *c)
{
	struct code_walk at = code_index_seek(address + 1);
	const struct code_entry *entry;
	unsigned int n = 0;

	*c = (struct candidates){ NULL, NULL };
	for (; n < STORE_MAX_CANDIDATES; n++) {
		entry = code_index_prev(&s->code, &at, address);
		if (!entry)
			break;
		if (entry->begin_ns > time_ns) {
			if (!c->next || entry->begin_ns < c->next->begin_ns)
				c->next = entry;
		} else if (entry->end_ns > time_ns) {
			if (is_better(entry, c->holding))
				c->holding = entry;
		}
	}
	return n;
}

/* Was HOLDING so near its end that its successor may have run already? */
static bool is_ambiguous(const struct candidates *c, uint64_t time_ns)
{
	const struct code_entry *h = c->holding;
	bool in_one_go;

	if (h->end == CODE_LIVE || !c->next || c->next->identity == h->identity ||
	    c->next->begin_ns > h->end_ns + CODE_SUCCESSOR_NS)
		return false;
	in_one_go = h->end != CODE_UNLOADED || h->end_ns >= c->next->burst_ns;
	return h->end_ns - time_ns <= (in_one_go ? CODE_QUEUE_NS : CODE_LAG_NS);
}

/* Records were lost before the moment, and no replay has said yet that the code is still there. */
static bool is_unconfirmed(const struct codemap_store *s, const struct code_entry *h,
			   uint64_t time_ns)
{
	if (!s->gap || time_ns < s->gap_ns || h->begin_ns >= s->gap_ns)
		return false;
	return !s->replaying || h->replay != s->replay;
}

static const struct code_entry *choose(const struct codemap_store *s, const struct candidates *c,
				       uint64_t time_ns)
{
	if (c->holding)
		return is_ambiguous(c, time_ns) || is_unconfirmed(s, c->holding, time_ns)
			       ? NULL
			       : c->holding;
	if (!c->next || c->next->begin_ns - time_ns > CODE_SLACK_NS)
		return NULL;
	/* Between a loss and the report after it, anything may have come and gone. */
	if (time_ns >= c->next->unsure_since_ns)
		return NULL;
	return c->next;
}

enum java_lookup codemap_store_find(const struct codemap_store *s, uint64_t address,
				    uint64_t time_ns, struct java_frame *frames,
				    unsigned int *ret_count, const char **ret_stub)
{
	const struct code_entry *entry;
	struct candidates c;

	if (!collect(s, address, time_ns, &c))
		return JAVA_UNKNOWN;
	if (s->known_until_ns && time_ns > s->known_until_ns)
		return JAVA_EVICTED;
	entry = choose(s, &c, time_ns);
	if (!entry)
		return JAVA_EVICTED;
	if (entry->stub) {
		*ret_stub = entry->stub;
		return JAVA_STUB;
	}
	*ret_count = code_entry_frames(entry, &s->methods, address, frames);
	return JAVA_FRAMES;
}

/* Ended code and code that came later matter to moments before that only. */
bool codemap_store_is_settled(const struct codemap_store *s, uint64_t time_ns,
			      uint64_t *ret_changes)
{
	*ret_changes = s->changes;
	return time_ns > s->changed_ns && !s->gap && !s->known_until_ns;
}

const char *codemap_store_class_name(const struct codemap_store *s, uint64_t id)
{
	return code_classes_find(&s->classes, id);
}

const char *codemap_store_thread_name(const struct codemap_store *s, uint32_t tid, uint64_t time_ns,
				      uint64_t *ret_java_tid)
{
	return code_threads_find(&s->threads, tid, time_ns, ret_java_tid);
}
