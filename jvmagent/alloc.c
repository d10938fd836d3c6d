/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc.h"

#include <string.h>

#include "agent.h"

/* Samples of a JVM that are taken in a second, at most; over that they become rarer. */
#define ALLOC_BUDGET	 5000
#define ALLOC_WINDOW_NS	 100000000ULL
#define ALLOC_PER_WINDOW ((uint32_t)(ALLOC_BUDGET * ALLOC_WINDOW_NS / 1000000000))
/* The clock is not read at each of them. */
#define ALLOC_PER_LOOK 16
/* SetHeapSamplingInterval() takes an int. */
#define ALLOC_MAX_INTERVAL (1U << 30)
/* At once by no more than this: one burst says little. */
#define ALLOC_MAX_FACTOR 16

/*
 * HotSpot draws how many bytes go by until a thread's next sample just before it tells of one
 * (runtime/threadHeapSampler.cpp, sample() and check_for_sampling()): a change of the interval holds
 * for the sample after the next. So what a thread's count-down was drawn from is kept for it, by the address of its
 * JNI environment, which is a part of HotSpot's JavaThread and takes no system call as its tid does: the key in the
 * high half, the interval in the low one. Where nothing is known, the interval of now is. Not in
 * a thread-local variable, as musl has no ld-linux, which __tls_get_addr() comes from.
 */
static uint64_t *draw_of(struct alloc *alloc, const JNIEnv *jni, uint32_t *ret_key)
{
	/* Threads are more than 32 bytes apart, so that the lowest bit is free: no key is 0. */
	*ret_key = (uint32_t)((uintptr_t)jni >> 4) | 1;
	return &alloc->draws[*ret_key * 0x9e3779b1U >> (32 - ALLOC_DRAWS_BITS)];
}

static uint32_t take_draw(struct alloc *alloc, const JNIEnv *jni, uint32_t drawn_now)
{
	uint32_t key;
	uint64_t *draw = draw_of(alloc, jni, &key);
	uint64_t now = (uint64_t)key << 32 | drawn_now;
	uint64_t was = __atomic_exchange_n(draw, now, __ATOMIC_RELAXED);

	return was >> 32 == key ? (uint32_t)was : drawn_now;
}

void alloc_forget_thread(struct agent *a, const JNIEnv *jni)
{
	uint32_t key;
	uint64_t *draw = draw_of(&a->alloc, jni, &key);

	if (__atomic_load_n(draw, __ATOMIC_RELAXED) >> 32 == key)
		__atomic_store_n(draw, 0, __ATOMIC_RELAXED);
}

bool alloc_add_capabilities(struct agent *a)
{
	jvmtiEnv *jvmti = a->jvmti;
	jvmtiCapabilities c;

	memset(&c, 0, sizeof(c));
	c.can_tag_objects = 1;
	if ((*jvmti)->AddCapabilities(jvmti, &c))
		return false;
	memset(&c, 0, sizeof(c));
	c.can_generate_sampled_object_alloc_events = 1;
	return !(*jvmti)->AddCapabilities(jvmti, &c);
}

/* --- how often --- */

/*
 * Threads that come here at once may be stopped at any place, for as long as they have no cpu. Whoever is the last finds what was asked for last: so what
 * HotSpot draws from is what samples are said to stand for, and nobody waits for anybody.
 */
static void set_interval(struct agent *a, uint32_t interval)
{
	struct alloc *alloc = &a->alloc;

	__atomic_store_n(&alloc->next, interval, __ATOMIC_SEQ_CST);
	do {
		interval = __atomic_load_n(&alloc->next, __ATOMIC_SEQ_CST);
		if ((*a->jvmti)->SetHeapSamplingInterval(a->jvmti, (jint)interval))
			continue;
		__atomic_store_n(&alloc->interval, interval, __ATOMIC_SEQ_CST);
		__atomic_store_n(&a->ring.header->alloc_interval, interval, __ATOMIC_RELAXED);
	} while (__atomic_load_n(&alloc->next, __ATOMIC_SEQ_CST) != interval);
}

/* With WAS in force, HITS in ELAPSED_NS were what the budget has for ALLOC_WINDOW_NS, or more. */
static uint32_t higher_than(uint32_t was, uint64_t elapsed_ns)
{
	uint64_t factor = elapsed_ns ? 2 * ALLOC_WINDOW_NS / elapsed_ns : ALLOC_MAX_FACTOR;

	factor = factor > ALLOC_MAX_FACTOR ? ALLOC_MAX_FACTOR : factor;
	factor = factor < 2 ? 2 : factor;
	return was > ALLOC_MAX_INTERVAL / factor ? ALLOC_MAX_INTERVAL : was * (uint32_t)factor;
}

/* Half of it, if with that there would still be room in the budget. */
static uint32_t lower_than(const struct alloc *alloc, uint32_t was, uint32_t hits,
			   uint64_t elapsed_ns)
{
	uint64_t fits = elapsed_ns / (ALLOC_WINDOW_NS / ALLOC_PER_WINDOW);

	if (was <= alloc->wanted || hits >= fits * 2 / 5)
		return was;
	return was / 2 > alloc->wanted ? was / 2 : alloc->wanted;
}

/* From WAS, of which the hits were counted. Who comes late, as he had no cpu meanwhile, would change what another has changed since. */
static void change_interval(struct agent *a, uint32_t was, uint32_t interval)
{
	if (interval != was && __atomic_load_n(&a->alloc.interval, __ATOMIC_RELAXED) == was)
		set_interval(a, interval);
}

/* Only one thread ends a window. */
static void pace(struct agent *a, uint32_t hits)
{
	uint32_t was = __atomic_load_n(&a->alloc.interval, __ATOMIC_RELAXED);
	uint64_t since_ns = __atomic_load_n(&a->alloc.window_ns, __ATOMIC_ACQUIRE);
	uint64_t now_ns = agent_now_ns();
	uint64_t elapsed_ns = now_ns - since_ns;

	if (hits < ALLOC_PER_WINDOW && elapsed_ns < ALLOC_WINDOW_NS)
		return;
	if (!__atomic_compare_exchange_n(&a->alloc.window_ns, &since_ns, now_ns, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&a->alloc.hits, 0, __ATOMIC_RELAXED);
	change_interval(a, was,
			elapsed_ns <= ALLOC_WINDOW_NS
				? higher_than(was, elapsed_ns)
				: lower_than(&a->alloc, was, hits, elapsed_ns));
}

void alloc_begin(struct agent *a, uint32_t interval)
{
	struct alloc *alloc = &a->alloc;
	bool goes_on = a->events_on & CODEMAP_WANT_ALLOC && alloc->wanted == interval;

	classes_begin(a);
	if (goes_on)
		return;
	alloc->wanted = interval && interval < ALLOC_MAX_INTERVAL ? interval : ALLOC_MAX_INTERVAL;
	alloc->hits = 0;
	__atomic_store_n(&alloc->window_ns, agent_now_ns(), __ATOMIC_RELAXED);
	set_interval(a, alloc->wanted);
	/* Draws of an earlier run are nobody's any more. */
	for (uint32_t i = 0; i < ALLOC_DRAWS; i++)
		__atomic_store_n(&alloc->draws[i], 0, __ATOMIC_RELAXED);
}

void alloc_sample(struct agent *a, JNIEnv *jni, jobject object, jclass class, uint64_t size)
{
	uint32_t interval = __atomic_load_n(&a->alloc.interval, __ATOMIC_RELAXED);

	uint32_t hits;

	interval = take_draw(&a->alloc, jni, interval);
	hostprof_alloc(classes_id(a, class), size, interval, live_track(a, jni, object));
	hits = __atomic_add_fetch(&a->alloc.hits, 1, __ATOMIC_RELAXED);
	if (hits >= ALLOC_PER_WINDOW || hits % ALLOC_PER_LOOK == 0)
		pace(a, hits);
}

void alloc_watch(struct agent *a)
{
	if (a->events_on & CODEMAP_WANT_ALLOC)
		pace(a, __atomic_load_n(&a->alloc.hits, __ATOMIC_RELAXED));
}
