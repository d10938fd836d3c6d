// SPDX-License-Identifier: Apache-2.0
/*
 * A thread that looks up rules all the time while pages are evicted and put: it finds the rule of
 * its address or none, never another one or parts of two. Each rule tells whose it is.
 */
#include "heap_tables.h"
#include "rows_fixture.h"

#include <inttypes.h>
#include <pthread.h>

#define RACE_PAGES   256
#define RACE_SECONDS 1
#define RACE_PUTS    1000 /* on a busy machine it takes longer */

struct race {
	struct table_memory *memory;
	struct row_store *store;
	/* As the kernel's hash map: block and generation in one word each; 0: not there. */
	uint64_t pages[RACE_PAGES];
	int stop;
	/* The reader's. */
	struct unwind_tables tables;
	uint64_t held[RACE_PAGES]; /* entries as they were a while ago */
	struct wire_page page;	   /* what the look-up gave last */
	bool hold;
	uint64_t found, absent, wrong;
};

static int race_set_page(const struct wire_page_key *key, const struct wire_page *value, void *data)
{
	struct race *race = data;
	uint64_t word = value ? (uint64_t)value->block << 32 | value->generation : 0;

	__atomic_store_n(&race->pages[key->page], word, __ATOMIC_RELEASE);
	return 0;
}

static const struct wire_page *race_find_page(const struct wire_page_key *key, const void *data)
{
	struct race *race = *(struct race *const *)data;
	uint64_t word = race->hold ? race->held[key->page]
				   : __atomic_load_n(&race->pages[key->page], __ATOMIC_ACQUIRE);

	race->page.block = (uint32_t)(word >> 32);
	race->page.generation = (uint32_t)word;
	return word ? &race->page : NULL;
}

/* Rows of a page have as many bytes; pages of small ones have a chain of blocks. */
static uint32_t race_step(uint32_t page)
{
	return 9 + page % 7 * 16;
}

static uint32_t race_number(uint32_t page, uint32_t offset)
{
	return page * WIRE_PAGE_BYTES + offset / race_step(page);
}

static void race_hold_entries(struct race *race)
{
	for (uint32_t page = 0; page < RACE_PAGES; page++)
		race->held[page] = __atomic_load_n(&race->pages[page], __ATOMIC_ACQUIRE);
}

static void race_look(struct race *race, uint32_t number)
{
	uint32_t page = number % RACE_PAGES, offset = number / RACE_PAGES % WIRE_PAGE_BYTES;
	struct wire_rule rule, expected = numbered_rule(race_number(page, offset));
	enum unwind_found found =
		view_find_in(&race->tables, (uint32_t)(clock_now_ns() / NSEC_PER_SEC), 1,
			     (uint64_t)page << WIRE_PAGE_SHIFT | offset, &rule);

	if (found != UNWIND_FOUND)
		race->absent++;
	else if (memcmp(&rule, &expected, sizeof(rule)) == 0)
		race->found++;
	else
		race->wrong++;
}

static void *race_read(void *data)
{
	struct race *race = data;
	uint64_t random = 88172645463325252ULL;

	for (uint64_t turn = 0; !__atomic_load_n(&race->stop, __ATOMIC_RELAXED); turn++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* Half of the time with entries that may be long gone. */
		if (turn % 65536 == 0)
			race_hold_entries(race);
		race->hold = turn >> 12 & 1;
		race_look(race, (uint32_t)(random >> 20));
	}
	return NULL;
}

static void race_put(struct race *race, uint32_t page)
{
	static struct cfi_row rows[WIRE_PAGE_BYTES];
	struct wire_page_key key = { 1, page };
	uint32_t step = race_step(page), count = (WIRE_PAGE_BYTES + step - 1) / step;

	fill_rows(rows, count, step, race_number(page, 0));
	assert_int_equal(row_store_put(race->store, &key, rows, count, clock_now_ns()), 0);
}

static void test_readers_find_their_rule_or_none(void **state)
{
	static struct race race;
	struct race *self = &race;
	struct row_store_stats stats;
	pthread_t reader;
	uint64_t end_ns;
	uint32_t turn;

	(void)state;
	race.memory = table_memory_new_heap(200, 24000, 1);
	race.memory->set_page = race_set_page;
	race.memory->data = self;
	race.store = row_store_new(race.memory);
	row_store_tables(race.store, &race.tables);
	race.tables.page = race_find_page;
	race.tables.data = &self;
	assert_int_equal(pthread_create(&reader, NULL, race_read, self), 0);
	end_ns = clock_now_ns() + RACE_SECONDS * NSEC_PER_SEC;
	for (turn = 0; turn < RACE_PUTS || clock_now_ns() < end_ns; turn++) {
		race_put(&race, turn * 29 % RACE_PAGES);
		/* All at once, so that most of the time is not spent waiting. */
		if (turn % 128 == 127)
			row_store_drop_file(race.store, 1, clock_now_ns());
	}
	__atomic_store_n(&race.stop, 1, __ATOMIC_RELAXED);
	pthread_join(reader, NULL);
	row_store_get_stats(race.store, &stats);
	printf("%u puts, %" PRIu64 " evicted; found %" PRIu64 ", absent %" PRIu64 ", wrong %" PRIu64
	       "\n",
	       turn, stats.pages_evicted, race.found, race.absent, race.wrong);
	assert_int_equal(race.wrong, 0);
	assert_true(race.found > 0 && race.absent > 0 && stats.pages_evicted > 0);
	row_store_free(race.store);
	table_memory_free_heap(race.memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_find_their_rule_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
