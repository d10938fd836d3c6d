// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that looks up ranges with spaces of any age, as BPF does with what it copied at a fork,
 * while their places are written again and again: it finds a range of its own list or none.
 */
#include "test.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/find.h"
#include "unwind/tables/range_lists.h"

#define PLACES	  64
#define HELD	  16
#define LIST_LEN  13
#define RACE_NS	  (NSEC_PER_SEC / 2)
#define RACE_PUTS 20000 /* on a busy machine it takes longer */

/* A space, in one word for each of the threads: its serial and first range. */
struct race {
	struct wire_range places[PLACES];
	uint64_t held[HELD];
	int stop;
	uint64_t found, outside, wrong;
};

/* All lists have the same addresses; what is there follows from the serial. */
static struct wire_range tagged_range(uint32_t serial, uint32_t i)
{
	uint64_t start = (i + 1) * 0x100000ULL;

	return (struct wire_range){ .start = start,
				    .end = start + 0x10000 + serial % 16 * 0x1000,
				    .bias = serial,
				    .file = serial,
				    .serial = serial };
}

static void race_look(struct race *race, uint64_t word, uint64_t random)
{
	struct unwind_tables tables = { .ranges = race->places, .range_count = PLACES };
	struct unwind_memory memory = { .tables = &tables };
	uint32_t i = (uint32_t)random % LIST_LEN;
	static struct unwind_cursor c;
	struct wire_range expected;

	c.serial = (uint32_t)word;
	c.first = (uint32_t)(word >> 32);
	c.count = LIST_LEN;
	expected = tagged_range(c.serial, i);
	if (find_range(&c, &memory, expected.start + (random >> 40) % 0x20000)) {
		race->outside++; /* or given up */
		return;
	}
	race->found++;
	race->wrong += memcmp(&c.range, &expected, sizeof(expected)) != 0;
}

static void *race_read(void *data)
{
	struct race *race = data;
	uint64_t random = 88172645463325252ULL;

	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		uint64_t word = __atomic_load_n(&race->held[random % HELD], __ATOMIC_ACQUIRE);

		for (int i = 0; word && i < 50; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			race_look(race, word, random >> 4);
		}
		random += !word;
	}
	return NULL;
}

static void race_put(struct race *race, struct range_lists *lists, uint32_t turn)
{
	struct wire_range ranges[LIST_LEN];
	struct range_list *list;
	bool found;

	/* The serials are 1, 2, 3, … */
	for (uint32_t i = 0; i < LIST_LEN; i++)
		ranges[i] = tagged_range(turn + 1, i);
	while (!(list = range_lists_ref(lists, ranges, LIST_LEN, &found)))
		range_lists_reclaim(lists);
	assert_int_equal(list->serial, turn + 1);
	__atomic_store_n(&race->held[turn % HELD], (uint64_t)list->first << 32 | list->serial,
			 __ATOMIC_RELEASE);
	range_lists_unref(lists, list, 0);
}

static void test_readers_find_their_list_or_none(void **state)
{
	static struct race race;
	struct range_lists lists;
	pthread_t reader;
	uint64_t end_ns = clock_now_ns() + RACE_NS;
	uint32_t turn;

	(void)state;
	range_lists_init(&lists, race.places, PLACES);
	assert_int_equal(pthread_create(&reader, NULL, race_read, &race), 0);
	for (turn = 0; turn < RACE_PUTS || clock_now_ns() < end_ns; turn++)
		race_put(&race, &lists, turn);
	__atomic_store_n(&race.stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	printf("%u lists; found %" PRIu64 ", outside %" PRIu64 ", wrong %" PRIu64 "\n", turn,
	       race.found, race.outside, race.wrong);
	assert_int_equal(race.wrong, 0);
	assert_true(race.found > 0 && race.outside > 0);
	range_lists_release(&lists);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_find_their_list_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
