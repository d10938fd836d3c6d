// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_pool.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/budget/resident.h"
#include "elf/reader/reader_owner.h"
#include "wall/wall.h"

/* Those of the loop's thread, a worker, those that attach. */
#define MAX_SHOWN 64

static _Atomic uint32_t shown[MAX_SHOWN]; /* pids of readers; UINT32_MAX: there is none now */
static struct resident_watch watches[MAX_SHOWN]; /* of each; the loop's thread's */

struct slot {
	struct lane *lane;     /* owned; NULL: none yet */
	uint64_t group;	       /* whose files it has seen: reader_owner_group() */
	uint64_t used;	       /* when, in calls */
	_Atomic uint32_t *pid; /* where it is shown; NULL: nowhere yet */
};

struct pool {
	const struct nursery *nursery; /* of the wall that there was then; NULL: none */
	bool is_loop, urgent;
	uint64_t uses;
	struct slot trusted, others[READER_POOL_LOOP];
};

static pthread_key_t pool_key;
static pthread_once_t pool_once = PTHREAD_ONCE_INIT;

static void end_slot(struct slot *slot)
{
	if (slot->pid)
		atomic_store(slot->pid, 0);
	slot->pid = NULL;
	lane_free(TAKE_PTR(slot->lane));
}

static void free_pool(void *data)
{
	struct pool *pool = data;

	if (!pool)
		return;
	end_slot(&pool->trusted);
	for (size_t i = 0; i < READER_POOL_LOOP; i++)
		end_slot(&pool->others[i]);
	free(pool);
}

static void make_key(void)
{
	if (pthread_key_create(&pool_key, free_pool))
		abort();
}

/* This thread's, if it is of the wall that there is now; it goes with the thread. */
static struct pool *find_pool(void)
{
	struct pool *pool;

	pthread_once(&pool_once, make_key);
	pool = pthread_getspecific(pool_key);
	return pool && pool->nursery == wall_nursery() ? pool : NULL;
}

void reader_pool_drop(void)
{
	pthread_once(&pool_once, make_key);
	free_pool(pthread_getspecific(pool_key));
	pthread_setspecific(pool_key, NULL);
}

static struct pool *get_pool(void)
{
	struct pool *pool = find_pool();

	if (pool)
		return pool;
	reader_pool_drop();
	pool = xcalloc(1, sizeof(*pool));
	pool->nursery = wall_nursery();
	pool->is_loop = wall_is_loop(&pool->urgent);
	pthread_setspecific(pool_key, pool);
	return pool;
}

/* --- whose ------------------------------------------------------------------------------------ */

/* In place nothing is gained by several. */
static struct slot *find_slot(struct pool *pool, uint64_t group)
{
	if (group == READER_TRUSTED || !pool->nursery)
		return &pool->trusted;
	for (size_t i = 0; i < READER_POOL_LOOP; i++)
		if (pool->others[i].lane && pool->others[i].group == group)
			return &pool->others[i];
	return NULL;
}

/* An empty one, or that which was not used for longest. */
static struct slot *take_slot(struct pool *pool)
{
	size_t count = pool->is_loop ? READER_POOL_LOOP : READER_POOL_OTHERS;
	struct slot *oldest = &pool->others[0];

	for (size_t i = 1; i < count; i++)
		if (pool->others[i].used < oldest->used)
			oldest = &pool->others[i];
	end_slot(oldest);
	return oldest;
}

struct lane *reader_pool_get(const struct trade *trade, uint64_t owner)
{
	struct pool *pool = get_pool();
	uint64_t group = reader_owner_group(owner);
	struct slot *slot = find_slot(pool, group);
	const struct lane_terms terms = { .trade = trade,
					  .urgent = pool->urgent,
					  .sleeping = !pool->is_loop };

	if (!slot)
		slot = take_slot(pool);
	if (!slot->lane)
		slot->lane = lane_new(wall_nursery(), &terms);
	slot->group = group;
	slot->used = ++pool->uses;
	return slot->lane;
}

uint64_t reader_pool_generation(uint64_t owner)
{
	struct pool *pool = find_pool();
	const struct slot *slot = pool ? find_slot(pool, reader_owner_group(owner)) : NULL;

	return slot && slot->lane ? lane_generation(slot->lane) : 0;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void show_slot(struct slot *slot)
{
	uint32_t pid = lane_pid(slot->lane), none = 0;

	for (size_t i = 0; !slot->pid && pid && i < MAX_SHOWN; i++, none = 0)
		if (atomic_compare_exchange_strong(&shown[i], &none, pid))
			slot->pid = &shown[i];
	if (slot->pid)
		atomic_store(slot->pid, pid ? pid : UINT32_MAX);
}

void reader_pool_show(struct lane *lane)
{
	struct pool *pool = find_pool();

	if (pool && pool->trusted.lane == lane)
		show_slot(&pool->trusted);
	for (size_t i = 0; pool && i < READER_POOL_LOOP; i++)
		if (pool->others[i].lane == lane)
			show_slot(&pool->others[i]);
}

uint64_t reader_pool_resident_bytes(void)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < MAX_SHOWN; i++) {
		uint32_t pid = atomic_load(&shown[i]);

		if (pid && pid != UINT32_MAX)
			bytes += resident_watch_read(&watches[i], pid).own_bytes;
		else
			resident_watch_release(&watches[i]);
	}
	return bytes;
}
