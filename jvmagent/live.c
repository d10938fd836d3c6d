/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <string.h>
#include <sys/mman.h>

#include "agent.h"
#include "futex.h"

/*
 * A quarter of a megabyte here, and some 100 kB in the JVM, which goes through all weak references in each
 * collection. The sum of what lives is known to 1.5 % by half as many.
 */
#define LIVE_SLOTS 8192
/* From here on the dead ones are looked for after each collection. */
#define LIVE_CROWDED (LIVE_SLOTS / 4 * 3)
/* Are looked at in one go, out of the others' sight. */
#define LIVE_BATCH   64
#define LIVE_NO_SLOT UINT32_MAX

struct live_slot {
	jweak object; /* NULL: free */
	uint64_t id;
	uint32_t collections; /* told of when it was made, or some more */
	uint32_t cycles;      /* the same of canaries */
	uint32_t next_free;
	bool claimed; /* the control thread looks at it */
};

/* A slot that is out of the others' sight. */
struct claim {
	struct live_slot slot;
	uint32_t at;
	bool gone;
};

/* What is done with all slots. */
struct round {
	uint32_t seq; /* of the command that asks for a report */
	bool tell;    /* those that live */
	bool drop;    /* all of them */
};

/* --- the table --- */

uint32_t live_bytes(void)
{
	return LIVE_SLOTS * (uint32_t)sizeof(struct live_slot);
}

int live_open(struct live *live)
{
	uint64_t next_id = live->next_id;
	void *map = mmap(NULL, live_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	memset(live, 0, sizeof(*live));
	live->next_id = next_id;
	pthread_mutex_init(&live->lock, NULL);
	if (map == MAP_FAILED)
		return -1;
	live->slots = map;
	return 0;
}

void live_close(struct live *live)
{
	if (live->slots)
		munmap(live->slots, live_bytes());
	live->slots = NULL;
}

static void put_free(struct live *live, uint32_t at)
{
	live->slots[at] = (struct live_slot){ .next_free = live->free };
	live->free = at;
	live->used--;
}

static uint32_t take_free(struct live *live)
{
	uint32_t at = live->free;

	live->free = live->slots[at].next_free;
	live->used++;
	return at;
}

static bool is_condemned(const struct live *live, const struct live_slot *slot)
{
	return slot->object && !codemap_live_keeps(slot->id, live->level);
}

static void raise_level(struct live *live)
{
	__atomic_store_n(&live->level, live->level + 1, __ATOMIC_RELAXED);
	live->condemned = 0;
	for (uint32_t i = 0; i < LIVE_SLOTS; i++)
		live->condemned += is_condemned(live, &live->slots[i]);
}

/* One that can be had at once; one that is claimed will be free soon. */
static uint32_t find_condemned(struct live *live)
{
	for (uint32_t i = 0; i < LIVE_SLOTS; i++) {
		uint32_t at = (live->hand + 1 + i) % LIVE_SLOTS;

		if (!live->slots[at].claimed && is_condemned(live, &live->slots[at])) {
			live->hand = at;
			live->condemned--;
			return at;
		}
	}
	return LIVE_NO_SLOT;
}

/*
 * Room for the object of ID; false: the level does not keep it. *RET_OLD: a reference that nobody has any
 * more, or NULL.
 */
static bool make_room(struct live *live, uint64_t id, uint32_t *ret_at, jweak *ret_old)
{
	*ret_old = NULL;
	*ret_at = LIVE_NO_SLOT;
	while (codemap_live_keeps(id, live->level)) {
		if (live->free != LIVE_NO_SLOT) {
			*ret_at = take_free(live);
			return true;
		}
		if (live->condemned)
			*ret_at = find_condemned(live);
		if (*ret_at != LIVE_NO_SLOT) {
			*ret_old = live->slots[*ret_at].object;
			return true;
		}
		raise_level(live);
	}
	return false;
}

/* False: it was not taken. */
static bool enter(struct live *live, const struct live_slot *slot, jweak *ret_old)
{
	uint32_t at;
	bool taken;

	*ret_old = NULL;
	pthread_mutex_lock(&live->lock);
	taken = live->on && make_room(live, slot->id, &at, ret_old);
	if (taken)
		live->slots[at] = *slot;
	pthread_mutex_unlock(&live->lock);
	return taken;
}

uint64_t live_track(struct agent *a, JNIEnv *jni, jobject object)
{
	struct live *live = &a->live;
	struct live_slot slot = { .next_free = LIVE_NO_SLOT };
	jweak old;

	if (!__atomic_load_n(&live->on, __ATOMIC_RELAXED))
		return 0;
	slot.id = __atomic_add_fetch(&live->next_id, 1, __ATOMIC_RELAXED);
	if (!codemap_live_keeps(slot.id, __atomic_load_n(&live->level, __ATOMIC_RELAXED)))
		return 0;
	slot.collections = __atomic_load_n(&live->collections, __ATOMIC_ACQUIRE);
	slot.cycles = __atomic_load_n(&live->cycles, __ATOMIC_RELAXED);
	slot.object = (*jni)->NewWeakGlobalRef(jni, object);
	if (agent_clear_exception(jni) || !slot.object)
		return 0;
	if (!enter(live, &slot, &old)) {
		old = slot.object;
		slot.id = 0;
	}
	if (old)
		(*jni)->DeleteWeakGlobalRef(jni, old);
	return slot.id;
}

/* --- going through all of them --- */

static uint32_t claim_batch(struct live *live, uint32_t from, struct claim *claims)
{
	uint32_t count = 0;

	pthread_mutex_lock(&live->lock);
	for (uint32_t at = from; at < from + LIVE_BATCH; at++) {
		if (!live->slots[at].object)
			continue;
		live->slots[at].claimed = true;
		claims[count++] = (struct claim){ .slot = live->slots[at], .at = at };
	}
	pthread_mutex_unlock(&live->lock);
	return count;
}

static void give_back(struct live *live, const struct claim *claims, uint32_t count)
{
	pthread_mutex_lock(&live->lock);
	for (uint32_t i = 0; i < count; i++) {
		struct live_slot *slot = &live->slots[claims[i].at];

		slot->claimed = false;
		if (!claims[i].gone)
			continue;
		live->condemned -= live->condemned && is_condemned(live, slot);
		put_free(live, claims[i].at);
	}
	pthread_mutex_unlock(&live->lock);
}

static void look_at(struct agent *a, JNIEnv *jni, const struct round *round, struct claim *claim)
{
	uint32_t level = __atomic_load_n(&a->live.level, __ATOMIC_RELAXED);

	claim->gone = round->drop || !codemap_live_keeps(claim->slot.id, level) ||
		      (*jni)->IsSameObject(jni, claim->slot.object, NULL);
	if (claim->gone)
		(*jni)->DeleteWeakGlobalRef(jni, claim->slot.object);
}

/* Those of a report wait for room; that others have gone is only good to know. */
static void publish(struct agent *a, uint16_t kind, uint32_t seq,
		    const struct codemap_object *objects, uint32_t count)
{
	uint32_t size = (uint32_t)(sizeof(struct codemap_objects) + count * sizeof(*objects));
	struct codemap_objects *record;

	if (kind == CODEMAP_GONE)
		record = (void *)ring_reserve(&a->ring, kind, size, agent_now_ns(), 0);
	else
		record = (void *)agent_reserve(a, kind, size, agent_now_ns());
	if (!record)
		return;
	record->count = count;
	record->level = __atomic_load_n(&a->live.level, __ATOMIC_RELAXED);
	record->seq = seq;
	record->pad = 0;
	if (count)
		memcpy(record + 1, objects, count * sizeof(*objects));
	ring_commit(&a->ring, &record->record);
}

static bool is_known_to_live(const struct live *live, const struct live_slot *slot)
{
	return (int32_t)(slot->collections - live->looked_at) < 0;
}

/* One canary may not have been made yet when the object was. */
static uint32_t age_of(const struct live *live, const struct live_slot *slot)
{
	uint32_t age = live->cycles - slot->cycles;

	return age ? age : 1;
}

static void tell_batch(struct agent *a, const struct round *round, const struct claim *claims,
		       uint32_t count)
{
	struct codemap_object gone[LIVE_BATCH], alive[LIVE_BATCH];
	uint32_t gone_count = 0, alive_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct live_slot *slot = &claims[i].slot;

		if (claims[i].gone)
			gone[gone_count++] = (struct codemap_object){ .id = slot->id };
		else if (round->tell && is_known_to_live(&a->live, slot))
			alive[alive_count++] =
				(struct codemap_object){ .id = slot->id,
							 .age = age_of(&a->live, slot) };
	}
	if (gone_count && !round->drop)
		publish(a, CODEMAP_GONE, 0, gone, gone_count);
	if (alive_count)
		publish(a, CODEMAP_LIVE, round->seq, alive, alive_count);
}

static void go_round(struct agent *a, JNIEnv *jni, const struct round *round)
{
	struct claim claims[LIVE_BATCH];

	for (uint32_t from = 0; from < LIVE_SLOTS; from += LIVE_BATCH) {
		uint32_t count = claim_batch(&a->live, from, claims);

		for (uint32_t i = 0; i < count; i++)
			look_at(a, jni, round, &claims[i]);
		give_back(&a->live, claims, count);
		tell_batch(a, round, claims, count);
	}
}

/* --- collections --- */

void live_collected(struct agent *a)
{
	__atomic_fetch_add(&a->live.collections, 1, __ATOMIC_RELEASE);
	futex_wake(&a->ring.header->command_seq);
}

bool live_is_ours(const struct live *live)
{
	uint32_t tid = __atomic_load_n(&live->canary_tid, __ATOMIC_RELAXED);

	return tid && tid == agent_gettid();
}

/* An empty string, which only the weak reference knows. */
static void make_canary(struct live *live, JNIEnv *jni)
{
	jstring object;

	live->canary_at = __atomic_load_n(&live->collections, __ATOMIC_ACQUIRE);
	__atomic_store_n(&live->canary_tid, agent_gettid(), __ATOMIC_RELAXED);
	object = (*jni)->NewStringUTF(jni, "");
	__atomic_store_n(&live->canary_tid, 0, __ATOMIC_RELAXED);
	if (agent_clear_exception(jni) || !object)
		return;
	live->canary = (*jni)->NewWeakGlobalRef(jni, object);
	if (agent_clear_exception(jni))
		live->canary = NULL;
	(*jni)->DeleteLocalRef(jni, object);
}

static void drop_canary(struct live *live, JNIEnv *jni)
{
	if (live->canary)
		(*jni)->DeleteWeakGlobalRef(jni, live->canary);
	live->canary = NULL;
}

static void watch_canary(struct live *live, JNIEnv *jni)
{
	if (live->canary && !(*jni)->IsSameObject(jni, live->canary, NULL))
		return;
	if (live->canary) {
		live->looked_at = live->canary_at + 1;
		__atomic_fetch_add(&live->cycles, 1, __ATOMIC_RELAXED);
	}
	drop_canary(live, jni);
	make_canary(live, jni);
}

static bool is_crowded(struct live *live)
{
	bool crowded;

	pthread_mutex_lock(&live->lock);
	crowded = live->used > LIVE_CROWDED;
	pthread_mutex_unlock(&live->lock);
	return crowded;
}

/* So many live that every collection would have us look at all of them again. */
static void thin_out(struct agent *a, JNIEnv *jni)
{
	const struct round round = { 0 };

	pthread_mutex_lock(&a->live.lock);
	raise_level(&a->live);
	pthread_mutex_unlock(&a->live.lock);
	go_round(a, jni, &round);
}

void live_watch(struct agent *a)
{
	const struct round round = { 0 };
	struct live *live = &a->live;
	uint32_t collections = __atomic_load_n(&live->collections, __ATOMIC_ACQUIRE);
	JNIEnv *jni = agent_jni(a);

	if (!live->on || !jni || live->watched_at == collections)
		return;
	live->watched_at = collections;
	watch_canary(live, jni);
	if (!is_crowded(live))
		return;
	go_round(a, jni, &round);
	if (is_crowded(live))
		thin_out(a, jni);
}

/* --- life --- */

bool live_add_capabilities(struct agent *a)
{
	jvmtiCapabilities c;

	memset(&c, 0, sizeof(c));
	c.can_generate_garbage_collection_events = 1;
	return !(*a->jvmti)->AddCapabilities(a->jvmti, &c);
}

void live_begin(struct agent *a)
{
	struct live *live = &a->live;
	JNIEnv *jni = agent_jni(a);

	if (live->on || !jni)
		return;
	live->watched_at = live->looked_at = live->collections;
	make_canary(live, jni);
	pthread_mutex_lock(&live->lock);
	live->free = LIVE_NO_SLOT;
	live->used = LIVE_SLOTS;
	for (uint32_t at = LIVE_SLOTS; at-- > 0;)
		put_free(live, at);
	live->condemned = 0;
	__atomic_store_n(&live->level, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&live->on, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&live->lock);
}

void live_end(struct agent *a)
{
	const struct round round = { .drop = true };
	struct live *live = &a->live;
	JNIEnv *jni = agent_jni(a);

	if (!live->on || !jni)
		return;
	/* Who is in live_track() now finds it off under the lock. */
	pthread_mutex_lock(&live->lock);
	__atomic_store_n(&live->on, 0, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&live->lock);
	go_round(a, jni, &round);
	drop_canary(live, jni);
	madvise(live->slots, live_bytes(), MADV_DONTNEED);
}

/* All that was there before has been looked at then, old or young. */
static void collect_all(struct agent *a, JNIEnv *jni)
{
	uint32_t before = __atomic_load_n(&a->live.collections, __ATOMIC_ACQUIRE);
	bool done = !(*a->jvmti)->ForceGarbageCollection(a->jvmti);

	watch_canary(&a->live, jni);
	if (done)
		a->live.looked_at = before + 1;
}

void live_report(struct agent *a, uint32_t seq, bool collect)
{
	const struct round round = { .seq = seq, .tell = true };
	JNIEnv *jni = agent_jni(a);

	if (!a->live.on || !jni)
		return;
	if (collect)
		collect_all(a, jni);
	else
		watch_canary(&a->live, jni);
	go_round(a, jni, &round);
	publish(a, CODEMAP_LIVE_END, seq, NULL, 0);
}
