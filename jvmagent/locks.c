/* SPDX-License-Identifier: Apache-2.0 */
#include "locks.h"

#include <string.h>

#include "agent.h"

/* Waits of a JVM that are told in a second, at most; over that short ones become rarer. */
#define LOCKS_BUDGET	 2000
#define LOCKS_WINDOW_NS	 100000000ULL
#define LOCKS_PER_WINDOW ((uint32_t)(LOCKS_BUDGET * LOCKS_WINDOW_NS / 1000000000))
/* The first level above all, and the last one. */
#define LOCKS_LEAST_LEVEL_NS 50000ULL
#define LOCKS_MOST_LEVEL_NS  1000000000ULL
/* bpf/sample/locks/lock.h */
#define LOCKS_MOST_CHANCE 1024

/*
 * When a thread's wait began is its thread-local storage in JVMTI, as a number: it takes no memory and
 * no table, and a thread has one wait at a time. HotSpot tells that Object.wait() has ended before
 * it enters the monitor anew (ObjectMonitor::wait() in runtime/objectMonitor.cpp, 8 to 28), so that enters
 * do not lie in waits.
 */
static uintptr_t stamp_of(uint64_t now_ns, enum locks_kind kind)
{
	return (uintptr_t)(now_ns << 1 | kind);
}

void locks_begin_wait(struct agent *a, enum locks_kind kind)
{
	uint64_t now_ns = agent_now_ns();
	/* A number in the place of a pointer. NOLINTNEXTLINE(performance-no-int-to-ptr) */
	const void *stamp = (const void *)stamp_of(now_ns, kind);

	(*a->jvmti)->SetThreadLocalStorage(a->jvmti, NULL, stamp);
	if (kind == LOCKS_ENTER)
		hostprof_lock_begin(now_ns);
}

/*
 * 0: nobody told of its begin. That was before the events were on, and what is stored is of an earlier
 * run; or it is one of the JVM's own waits, of which it tells the end alone.
 */
static uint64_t take_begin(struct agent *a, enum locks_kind kind)
{
	void *stored = NULL;
	uint64_t stamp, begin_ns;

	if ((*a->jvmti)->GetThreadLocalStorage(a->jvmti, NULL, &stored) || !stored)
		return 0;
	(*a->jvmti)->SetThreadLocalStorage(a->jvmti, NULL, NULL);
	stamp = (uint64_t)(uintptr_t)stored;
	begin_ns = stamp >> 1;
	if ((stamp & 1) != (uint64_t)kind ||
	    begin_ns < __atomic_load_n(&a->locks.begun_ns, __ATOMIC_RELAXED))
		return 0;
	return begin_ns;
}

/* --- how often --- */

/* Only one thread ends a window. */
static void keep_pace(struct agent *a, uint32_t hits, uint64_t now_ns)
{
	struct locks *locks = &a->locks;
	uint64_t since_ns = __atomic_load_n(&locks->window_ns, __ATOMIC_RELAXED);
	uint64_t level_ns = __atomic_load_n(&locks->level_ns, __ATOMIC_RELAXED);
	uint64_t elapsed_ns = now_ns - since_ns;

	if (hits < LOCKS_PER_WINDOW && elapsed_ns < LOCKS_WINDOW_NS)
		return;
	if (!__atomic_compare_exchange_n(&locks->window_ns, &since_ns, now_ns, false,
					 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	__atomic_store_n(&locks->hits, 0, __ATOMIC_RELAXED);
	if (elapsed_ns < LOCKS_WINDOW_NS)
		level_ns = level_ns ? 2 * level_ns : LOCKS_LEAST_LEVEL_NS;
	else if (hits < elapsed_ns / (LOCKS_WINDOW_NS / LOCKS_PER_WINDOW) * 2 / 5)
		level_ns = level_ns / 2;
	if (level_ns < LOCKS_LEAST_LEVEL_NS)
		level_ns = 0;
	if (level_ns > LOCKS_MOST_LEVEL_NS)
		level_ns = LOCKS_MOST_LEVEL_NS;
	__atomic_store_n(&locks->level_ns, level_ns, __ATOMIC_RELAXED);
}

void locks_watch(struct agent *a)
{
	if (a->events_on & CODEMAP_WANT_LOCKS)
		keep_pace(a, __atomic_load_n(&a->locks.hits, __ATOMIC_RELAXED), agent_now_ns());
}

/* A wait of LENGTH_NS is told with a chance of one in so many. */
static uint64_t chance_of(const struct locks *locks, uint64_t length_ns)
{
	uint64_t level_ns = __atomic_load_n(&locks->level_ns, __ATOMIC_RELAXED);
	uint64_t chance = (level_ns + length_ns - 1) / length_ns;

	if (chance <= 1)
		return 1;
	return chance < LOCKS_MOST_CHANCE ? chance : LOCKS_MOST_CHANCE;
}

/* splitmix64's mixture of the time and the thread, of which nothing else depends. */
static uint64_t draw(uint64_t now_ns, const JNIEnv *jni)
{
	uint64_t mixed = now_ns + (uint64_t)(uintptr_t)jni * 0x9e3779b97f4a7c15ULL;

	mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9ULL;
	mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
	return mixed ^ mixed >> 31;
}

/* --- a wait --- */

/* Of a wait, beside its object. */
struct told {
	uint64_t begin_ns, length_ns, chance;
	enum locks_kind kind;
};

static void tell(struct agent *a, JNIEnv *jni, jobject object, const struct told *wait)
{
	jclass class = (*jni)->GetObjectClass(jni, object);
	jint identity = 0;
	uint64_t class_id = 0;

	if (class)
		class_id = classes_id(a, class);
	if ((*a->jvmti)->GetObjectHashCode(a->jvmti, object, &identity))
		identity = 0;
	(*jni)->DeleteLocalRef(jni, class);
	hostprof_lock(class_id, wait->length_ns, wait->chance, (uint32_t)identity, wait->kind,
		      wait->begin_ns);
}

void locks_end_wait(struct agent *a, JNIEnv *jni, jobject object, enum locks_kind kind)
{
	struct told wait = { .begin_ns = take_begin(a, kind), .kind = kind };
	uint64_t now_ns;

	if (!wait.begin_ns || !object)
		return;
	now_ns = agent_now_ns();
	wait.length_ns = now_ns > wait.begin_ns ? now_ns - wait.begin_ns : 1;
	if (wait.length_ns < __atomic_load_n(&a->locks.least_ns, __ATOMIC_RELAXED))
		return;
	wait.chance = chance_of(&a->locks, wait.length_ns);
	if (wait.chance > 1 && draw(now_ns, jni) % wait.chance)
		return;
	tell(a, jni, object, &wait);
	keep_pace(a, __atomic_add_fetch(&a->locks.hits, 1, __ATOMIC_RELAXED), now_ns);
}

/* --- on and off --- */

void locks_begin(struct agent *a, uint64_t least_ns)
{
	struct locks *locks = &a->locks;
	uint64_t now_ns = agent_now_ns();

	classes_begin(a);
	__atomic_store_n(&locks->least_ns, least_ns, __ATOMIC_RELAXED);
	if (a->events_on & CODEMAP_WANT_LOCKS)
		return;
	__atomic_store_n(&locks->begun_ns, now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&locks->window_ns, now_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&locks->level_ns, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&locks->hits, 0, __ATOMIC_RELAXED);
}

static bool switch_capability(struct agent *a, bool on)
{
	jvmtiEnv *jvmti = a->jvmti;
	jvmtiCapabilities c;

	memset(&c, 0, sizeof(c));
	c.can_generate_monitor_events = 1;
	return !(on ? (*jvmti)->AddCapabilities(jvmti, &c)
		    : (*jvmti)->RelinquishCapabilities(jvmti, &c));
}

bool locks_switch(struct agent *a, bool on)
{
	static const jvmtiEvent events[] = {
		JVMTI_EVENT_MONITOR_CONTENDED_ENTER,
		JVMTI_EVENT_MONITOR_CONTENDED_ENTERED,
		JVMTI_EVENT_MONITOR_WAIT,
		JVMTI_EVENT_MONITOR_WAITED,
	};
	bool was_on = a->events_on & CODEMAP_WANT_LOCKS;

	if (on == was_on)
		return on;
	if (on && !switch_capability(a, true))
		return false;
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		agent_switch_event(a, on, events[i]);
	if (!on)
		switch_capability(a, false);
	return on;
}
