/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/heap/thread_names.h"

#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/vec.h"

/* Threads with names of 50 bytes: 4,000. What there is no room for keeps the kernel's name. */
#define MAX_BYTES (1U << 20)
/* Of one thread. One that renames itself all the time is known for its newest names. */
#define MAX_FACTS 16
/* A collection takes some milliseconds; a JVM that cannot be read is asked less and less often. */
#define FAILURE_PAUSE_NS (10 * NSEC_PER_MSEC)
#define MAX_FAILURES	 7
/*
 * The JVM's own threads have no name there, and few others get one late: they are asked for after twice the time each time, up to 16 s. Who runs
 * Java code is a thread of Java's, whose name is there or comes soon: 2 s.
 */
#define MAX_NAMELESS	  5
#define MAX_NAMELESS_JAVA 2
/* Who has been called the same for so long is asked half as often: hardly one of them is renamed by another thread. */
#define STEADY_NS (10 * THREAD_NAMES_AGAIN_NS)
/* A name that could not be read again, as there was no time for it, may be another one by now. */
#define HOLDS_PERIODS 2
/* Who had a sample so short a time ago soon has the next one. */
#define LATELY_NS THREAD_NAMES_AGAIN_NS
/* To look at each of more takes longer than a call of the broker. */
#define MOST_JOINED 256
/* A thread may lose its cpu between two instructions. */
#define MOMENT_NS (20 * NSEC_PER_MSEC)

enum fact_kind { FACT_BEGINS, FACT_COMM, FACT_NAME };

/* What is known of one moment; the same name read again and again is one fact. */
struct fact {
	uint64_t time_ns;
	enum fact_kind kind;
	uint64_t java_tid;
	char *name; /* owned */
	/* When the first reading of it ended, the last one began and ended. */
	uint64_t first_end_ns, last_ns, last_end_ns;
};

struct named_thread {
	VEC(struct fact) facts; /* by time */
	uint64_t since_ns;	/* before that something may be missing */
	uint64_t sampled_ns;
	uint64_t due_ns; /* to be read, when it has a sample */
	unsigned int failures;
	unsigned int nameless; /* readings without a name, lately */
	bool runs_java;	       /* it has had Java frames */
};

/* --- facts ------------------------------------------------------------------------------------ */

static size_t fact_bytes(const struct fact *fact)
{
	return sizeof(*fact) + (fact->name ? strlen(fact->name) + 1 : 0);
}

static void drop_fact(struct thread_names *names, struct named_thread *thread, size_t at)
{
	names->bytes -= fact_bytes(&thread->facts.items[at]);
	free(thread->facts.items[at].name);
	vec_remove(&thread->facts, at, 1);
}

static void drop_oldest(struct thread_names *names, struct named_thread *thread)
{
	drop_fact(names, thread, 0);
	thread->since_ns = thread->facts.items[0].time_ns;
}

static void put_fact(struct thread_names *names, struct named_thread *thread,
		     const struct fact *fact)
{
	size_t at = thread->facts.len;

	vec_push(&thread->facts, *fact);
	for (; at && thread->facts.items[at - 1].time_ns > fact->time_ns; at--)
		thread->facts.items[at] = thread->facts.items[at - 1];
	thread->facts.items[at] = *fact;
	names->bytes += fact_bytes(fact);
	if (thread->facts.len > MAX_FACTS)
		drop_oldest(names, thread);
}

/* How long after a reading of it a name is read again. */
static uint64_t period_ns(const struct fact *fact)
{
	bool steady =
		fact->kind == FACT_NAME && fact->name && fact->last_ns - fact->time_ns >= STEADY_NS;

	return steady ? 2 * THREAD_NAMES_AGAIN_NS : THREAD_NAMES_AGAIN_NS;
}

/* --- threads ---------------------------------------------------------------------------------- */

static struct named_thread *find(const struct thread_names *names, uint32_t tid)
{
	return hmap_find_ptr(&names->by_tid, tid);
}

/* NULL: there is no room for another one. */
static struct named_thread *get(struct thread_names *names, uint32_t tid, uint64_t now_ns)
{
	struct named_thread *thread = find(names, tid);

	if (thread)
		return thread;
	if (names->bytes > MAX_BYTES) {
		names->lost_ns = MAX(names->lost_ns, now_ns);
		return NULL;
	}
	thread = xcalloc(1, sizeof(*thread));
	thread->since_ns = names->lost_ns;
	names->bytes += sizeof(*thread);
	hmap_put_ptr(&names->by_tid, tid, thread);
	return thread;
}

static void clear(struct thread_names *names, struct named_thread *thread)
{
	while (thread->facts.len)
		drop_fact(names, thread, thread->facts.len - 1);
}

static void drop(struct thread_names *names, struct named_thread *thread)
{
	clear(names, thread);
	names->bytes -= sizeof(*thread);
	vec_release(&thread->facts);
	free(thread);
}

void thread_names_release(struct thread_names *names)
{
	uint64_t tid, value;
	size_t at = 0;

	while (hmap_next(&names->by_tid, &at, &tid, &value))
		drop(names, find(names, (uint32_t)tid));
	hmap_release(&names->by_tid);
}

/* --- what comes ------------------------------------------------------------------------------- */

/* The mark at TIME_NS lies within what was one fact: which of its readings are before, and which behind it? */
static void split(struct thread_names *names, struct named_thread *thread, uint64_t time_ns)
{
	for (size_t i = thread->facts.len; i-- > 0;) {
		struct fact *fact = &thread->facts.items[i], behind = *fact;

		if (fact->kind != FACT_NAME || fact->time_ns > time_ns ||
		    fact->last_end_ns < time_ns)
			continue;
		behind.time_ns = fact->last_ns;
		behind.first_end_ns = fact->last_end_ns;
		behind.name = fact->name ? xstrdup(fact->name) : NULL;
		fact->last_ns = fact->time_ns;
		fact->last_end_ns = fact->first_end_ns;
		if (fact->first_end_ns >= time_ns)
			drop_fact(names, thread, i);
		if (behind.time_ns > time_ns)
			put_fact(names, thread, &behind);
		else
			free(behind.name);
		return;
	}
}

void thread_names_mark(struct thread_names *names, uint32_t tid, enum thread_mark mark,
		       uint64_t time_ns)
{
	const struct fact fact = { .time_ns = time_ns,
				   .kind = mark == THREAD_BEGINS ? FACT_BEGINS : FACT_COMM };
	struct named_thread *thread = get(names, tid, time_ns);

	if (!thread)
		return;
	split(names, thread, time_ns);
	put_fact(names, thread, &fact);
	thread->due_ns = 0;
	thread->failures = thread->nameless = 0;
}

void thread_names_lose(struct thread_names *names, uint64_t time_ns)
{
	uint64_t tid, value;
	size_t at = 0;

	names->lost_ns = MAX(names->lost_ns, time_ns);
	while (hmap_next(&names->by_tid, &at, &tid, &value)) {
		struct named_thread *thread = find(names, (uint32_t)tid);

		clear(names, thread);
		thread->since_ns = time_ns;
		thread->due_ns = 0;
	}
}

enum thread_wish thread_names_want(struct thread_names *names, uint32_t tid, bool runs_java,
				   uint64_t now_ns)
{
	struct named_thread *thread = get(names, tid, now_ns);
	size_t len;

	if (!thread)
		return THREAD_KNOWN;
	thread->sampled_ns = now_ns;
	/* It has attached itself to the JVM meanwhile. */
	if (runs_java && !thread->runs_java && thread->nameless)
		thread->due_ns = 0;
	thread->runs_java |= runs_java;
	if (now_ns < thread->due_ns)
		return THREAD_KNOWN;
	/* Until it has been read, or not. */
	thread->due_ns = UINT64_MAX;
	len = thread->facts.len;
	return len && thread->facts.items[len - 1].kind == FACT_NAME ? THREAD_AGAIN : THREAD_NOW;
}

static bool is_due_lately(const struct named_thread *thread, uint64_t now_ns)
{
	const struct fact *newest =
		thread->facts.len ? &thread->facts.items[thread->facts.len - 1] : NULL;

	return newest && newest->kind == FACT_NAME && newest->name && thread->due_ns <= now_ns &&
	       now_ns - thread->sampled_ns < LATELY_NS;
}

size_t thread_names_take_due(struct thread_names *names, uint64_t now_ns, uint32_t *ret_tids,
			     size_t most)
{
	uint64_t tid, value;
	size_t at = 0, n = 0;

	if (names->by_tid.len > MOST_JOINED)
		return 0;
	while (n < most && hmap_next(&names->by_tid, &at, &tid, &value)) {
		struct named_thread *thread = find(names, (uint32_t)tid);

		if (!is_due_lately(thread, now_ns))
			continue;
		thread->due_ns = UINT64_MAX;
		ret_tids[n++] = (uint32_t)tid;
	}
	return n;
}

static bool says_the_same(const struct fact *fact, const struct thread_reading *reading)
{
	if (fact->kind != FACT_NAME || !fact->name != !reading->name ||
	    fact->java_tid != reading->java_tid)
		return false;
	return !fact->name || !strcmp(fact->name, reading->name);
}

/* When it is to be read again, after a READING that is in its newest fact. */
static uint64_t next_ns(struct named_thread *thread, const struct thread_reading *reading)
{
	unsigned int most = thread->runs_java ? MAX_NAMELESS_JAVA : MAX_NAMELESS;
	uint64_t turns = reading->name ? 1 : 1ULL << MIN(thread->nameless, most);
	uint64_t period = period_ns(&thread->facts.items[thread->facts.len - 1]);

	thread->nameless = reading->name ? 0 : MIN(thread->nameless + 1, most);
	return (reading->end_ns / period + turns) * period;
}

static void add_reading(struct thread_names *names, struct named_thread *thread,
			const struct thread_reading *reading)
{
	struct fact fact = { .time_ns = reading->begin_ns,
			     .kind = FACT_NAME,
			     .java_tid = reading->java_tid,
			     .first_end_ns = reading->end_ns,
			     .last_ns = reading->begin_ns,
			     .last_end_ns = reading->end_ns };
	struct fact *newest =
		thread->facts.len ? &thread->facts.items[thread->facts.len - 1] : NULL;

	if (newest && says_the_same(newest, reading)) {
		newest->last_ns = reading->begin_ns;
		newest->last_end_ns = reading->end_ns;
		return;
	}
	fact.name = reading->name ? xstrdup(reading->name) : NULL;
	put_fact(names, thread, &fact);
}

void thread_names_add(struct thread_names *names, uint32_t tid,
		      const struct thread_reading *reading)
{
	struct named_thread *thread = get(names, tid, reading->end_ns);

	if (!thread)
		return;
	add_reading(names, thread, reading);
	thread->due_ns = next_ns(thread, reading);
	thread->failures = 0;
}

void thread_names_add_failure(struct thread_names *names, uint32_t tid, uint64_t now_ns)
{
	struct named_thread *thread = find(names, tid);

	if (!thread)
		return;
	thread->due_ns = now_ns + (FAILURE_PAUSE_NS << thread->failures);
	thread->failures = MIN(thread->failures + 1, MAX_FAILURES);
}

/* --- what is asked for ------------------------------------------------------------------------ */

/* Facts up to TIME_NS. */
static size_t count_until(const struct named_thread *thread, uint64_t time_ns)
{
	size_t n = thread->facts.len;

	while (n && thread->facts.items[n - 1].time_ns > time_ns)
		n--;
	return n;
}

/*
 * In Java a name is another one a moment before the kernel hears of it. What was read in that moment, the fact AT, is
 * not what the thread was called before.
 */
static bool is_ahead(const struct named_thread *thread, size_t at)
{
	const struct fact *fact = &thread->facts.items[at];

	if (at + 2 >= thread->facts.len || fact[1].kind != FACT_COMM || fact[2].kind != FACT_NAME ||
	    !fact->name || !fact[2].name)
		return false;
	return fact[1].time_ns - fact->time_ns < MOMENT_NS && !strcmp(fact->name, fact[2].name);
}

static const struct fact *find_fact(const struct named_thread *thread, uint64_t time_ns)
{
	const struct fact *facts = thread->facts.items;
	size_t until = count_until(thread, time_ns);
	bool begins;

	if (until && facts[until - 1].kind == FACT_NAME)
		return &facts[until - 1];
	begins = until && facts[until - 1].kind == FACT_BEGINS;
	for (size_t i = until; i < thread->facts.len; i++) {
		if (facts[i].kind == FACT_NAME)
			return is_ahead(thread, i) ? NULL : &facts[i];
		/* The first one of a thread is of its start, before it runs Java code. */
		if (facts[i].kind == FACT_BEGINS || !begins)
			return NULL;
		begins = false;
	}
	return NULL;
}

const char *thread_names_find(const struct thread_names *names, uint32_t tid, uint64_t time_ns,
			      uint64_t *ret_java_tid)
{
	const struct named_thread *thread = find(names, tid);
	const struct fact *fact;

	if (!thread || time_ns < thread->since_ns)
		return NULL;
	fact = find_fact(thread, time_ns);
	if (!fact || time_ns > fact->last_end_ns + HOLDS_PERIODS * period_ns(fact) ||
	    time_ns + HOLDS_PERIODS * THREAD_NAMES_AGAIN_NS < fact->time_ns)
		return NULL;
	*ret_java_tid = fact->java_tid;
	return fact->name;
}

bool thread_names_was_renamed(const struct thread_names *names, uint32_t tid, uint64_t time_ns)
{
	const struct named_thread *thread = find(names, tid);

	if (!thread)
		return false;
	for (size_t i = 0; i < thread->facts.len; i++) {
		/* That of its start is no other name. */
		bool starts = i && thread->facts.items[i - 1].kind == FACT_BEGINS;

		if (thread->facts.items[i].kind == FACT_COMM && !starts)
			return true;
	}
	return time_ns < thread->since_ns;
}

/* False: nothing of it is asked for any more. */
static bool prune(struct thread_names *names, struct named_thread *thread, uint64_t horizon_ns)
{
	const size_t len = thread->facts.len;

	if (thread->sampled_ns < horizon_ns &&
	    (!len || thread->facts.items[len - 1].time_ns < horizon_ns))
		return false;
	while (thread->facts.len > 1 && thread->facts.items[1].time_ns < horizon_ns)
		drop_oldest(names, thread);
	return true;
}

void thread_names_expire(struct thread_names *names, uint64_t horizon_ns)
{
	VEC(uint32_t) gone = VEC_INIT;
	uint64_t tid, value;
	uint32_t *at_gone;
	size_t at = 0;

	while (hmap_next(&names->by_tid, &at, &tid, &value))
		if (!prune(names, find(names, (uint32_t)tid), horizon_ns))
			vec_push(&gone, (uint32_t)tid);
	vec_for_each (at_gone, &gone) {
		drop(names, find(names, *at_gone));
		hmap_remove(&names->by_tid, *at_gone);
	}
	vec_release(&gone);
}
