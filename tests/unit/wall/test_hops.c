// SPDX-License-Identifier: Apache-2.0
/* Ways through another process's memory: where they lead, and that they lead nowhere else. */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/macros.h"
#include "wall/hops.h"
#include "wall/wall.h"

#define BASE  0x10000ULL
#define BYTES 8192U

static uint8_t memory[BYTES], data[1024];
static unsigned int calls, pieces;
static int refusal;

static int land(const struct wall_landing *landings, unsigned int count, void *arg)
{
	assert_ptr_equal(arg, memory);
	assert_true(count > 0);
	calls++;
	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = landings[i].address - BASE;

		if (refusal)
			return refusal;
		if (landings[i].address < BASE || at > BYTES || landings[i].len > BYTES - at)
			return (int)i;
		pieces++;
		memcpy(landings[i].data, memory + at, landings[i].len);
	}
	return (int)count;
}

static int read_hops(struct wall_hop *hops, unsigned int count)
{
	calls = pieces = 0;
	memset(data, 0xee, sizeof(data));
	return wall_hops_read(hops, count, data, sizeof(data), land, memory);
}

static void put_u64(uint64_t at, uint64_t value)
{
	memcpy(memory + at, &value, sizeof(value));
}

static uint64_t u64_at(size_t at)
{
	uint64_t value;

	memcpy(&value, data + at, sizeof(value));
	return value;
}

static int clear(void **state)
{
	(void)state;
	memset(memory, 0, sizeof(memory));
	refusal = 0;
	return 0;
}

/* 100 → 200, whose third word leads on; what is there is read by its number. */
static void a_way_is_a_read_a_step(void **state)
{
	struct wall_hop hops[] = {
		{ BASE + 100, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ BASE + 300, 2, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ 0, 24, 0, 0, 0, WALL_NO_HOP, 0 },
		{ 16, 8, 0, 2, 16, 1, 0 },
	};
	const uint16_t number = 7;

	(void)state;
	put_u64(100, BASE + 200 + 1); /* its mark */
	put_u64(216, BASE + 400);
	memcpy(memory + 300, &number, sizeof(number));
	put_u64(400 + 16 + 7 * 8, 4711);
	assert_int_equal(read_hops(hops, ARRAY_SIZE(hops)), 0);
	assert_int_equal(calls, 3);
	assert_int_equal(pieces, 4);
	assert_int_equal(u64_at(8 + 2 + 24), 4711);
	assert_int_equal(hops[2].address, BASE + 200);
	assert_int_equal(hops[3].address, BASE + 400 + 16 + 56);
	for (unsigned int i = 0; i < ARRAY_SIZE(hops); i++)
		assert_true(hops[i].len);
}

/* One cannot be read, and what hangs on it: all others are. */
static void what_is_not_there_takes_its_own_along(void **state)
{
	struct wall_hop hops[] = {
		{ BASE, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ 16, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ BASE + 8, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ BASE + BYTES - 4, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ 0, 8, 0, 1, 0, WALL_NO_HOP, 0 },
		{ 0, 8, 0, 2, 0, WALL_NO_HOP, 0 },
		{ BASE, 8, 0, 0, 0, WALL_NO_HOP, 0 }, /* a pointer that is none */
		{ BASE, 8, 0, WALL_NO_HOP, 0, 3, 0 },
		{ 0, 0, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ BASE + 16, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
	};
	static const bool there[] = { true, false, true,  false, false,
				      true, false, false, false, true };

	(void)state;
	put_u64(8, BASE + 16);
	put_u64(16, 99);
	/* What lay there before leads nowhere. */
	for (unsigned int i = 0; i < sizeof(data) / 8; i++)
		memcpy(data + 8UL * i, &(uint64_t){ BASE }, 8);
	assert_int_equal(wall_hops_read(hops, ARRAY_SIZE(hops), data, sizeof(data), land, memory),
			 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(hops); i++)
		assert_int_equal(hops[i].len ? 1 : 0, there[i]);
	assert_int_equal(u64_at(5UL * 8), 99);
	assert_int_equal(u64_at(8UL * 8), 99);
}

/* More is read as far as the page goes, and what is asked for beyond it, too. */
static void more_ends_with_the_page(void **state)
{
	struct wall_hop hops[] = {
		{ BASE + 4000, 8, 200, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ BASE + 4090, 16, 200, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
		{ BASE + 100, 8, 200, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
	};

	(void)state;
	assert_int_equal(read_hops(hops, ARRAY_SIZE(hops)), 0);
	assert_int_equal(hops[0].len, 96);
	assert_int_equal(hops[1].len, 16);
	assert_int_equal(hops[2].len, 208);
	assert_int_equal(data[95], 0);
	assert_int_equal(data[96], 0xee);
	assert_int_equal(data[208 + 16], 0xee);
}

static void what_many_want_is_read_once(void **state)
{
	struct wall_hop hops[8];

	(void)state;
	put_u64(64, 5);
	for (unsigned int i = 0; i < ARRAY_SIZE(hops); i++)
		hops[i] = (struct wall_hop){ BASE + 64, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 };
	hops[7].len = 4;
	assert_int_equal(read_hops(hops, ARRAY_SIZE(hops)), 0);
	assert_int_equal(pieces, 2);
	for (unsigned int i = 0; i < 7; i++)
		assert_int_equal(u64_at(8UL * i), 5);
	hops[7].len = 8;
	for (unsigned int i = 0; i < ARRAY_SIZE(hops); i++)
		hops[i].address = 8;
	assert_int_equal(read_hops(hops, ARRAY_SIZE(hops)), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(hops); i++)
		assert_int_equal(hops[i].len, 0);
}

static void ways_that_are_none(void **state)
{
	static struct wall_hop many[WALL_MAX_HOPS + 1];
	struct wall_hop forward = { 0, 8, 0, 0, 0, WALL_NO_HOP, 0 };
	struct wall_hop pair[] = { { BASE, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
				   { 0, 8, 0, 0, 1, WALL_NO_HOP, 0 } };
	struct wall_hop row[WALL_MAX_STEPS + 2];

	(void)state;
	assert_int_equal(read_hops(&forward, 1), -EINVAL);
	assert_int_equal(read_hops(pair, 2), -EINVAL);
	pair[1] = (struct wall_hop){ 0, 8, 0, WALL_NO_HOP, 0, 0, 7 };
	assert_int_equal(read_hops(pair, 2), -EINVAL);
	pair[1] = (struct wall_hop){ 0, 1016, 1, 0, 0, WALL_NO_HOP, 0 };
	assert_int_equal(read_hops(pair, 2), -E2BIG);
	pair[1].more = UINT32_MAX;
	assert_int_equal(read_hops(pair, 2), -E2BIG);
	assert_int_equal(read_hops(many, ARRAY_SIZE(many)), -E2BIG);
	put_u64(0, BASE);
	for (unsigned int i = 0; i < ARRAY_SIZE(row); i++)
		row[i] = (struct wall_hop){ 0, 8, 0, (uint16_t)(i - 1), 0, WALL_NO_HOP, 0 };
	row[0] = (struct wall_hop){ BASE, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 };
	assert_int_equal(read_hops(row, ARRAY_SIZE(row)), -EINVAL);
	assert_int_equal(read_hops(row, WALL_MAX_STEPS), 0);
	assert_int_equal(calls, WALL_MAX_STEPS);
	refusal = -ESRCH;
	assert_int_equal(read_hops(row, 1), -ESRCH);
}

/* As a broker does it, here without one. */
static void through_a_process(void **state)
{
	static const char text[] = "some words of ours";
	const char *const to_text = text;
	const uint32_t pid = (uint32_t)getpid();
	struct wall_hop hops[] = { { (uintptr_t)&to_text, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
				   { 5, 5, 0, 0, 0, WALL_NO_HOP, 0 },
				   { 16, 8, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 },
				   { 0, 8, 0, 2, 0, WALL_NO_HOP, 0 },
				   { (uintptr_t)text, 4, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 } };

	uint8_t *pages =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wall_hop part[] = { { (uintptr_t)pages + 4088, 16, 0, WALL_NO_HOP, 0, WALL_NO_HOP,
				     0 },
				   { (uintptr_t)text, 4, 0, WALL_NO_HOP, 0, WALL_NO_HOP, 0 } };

	(void)state;
	memset(pages, 1, 8192);
	munmap(pages + 4096, 4096);
	assert_int_equal(wall_follow(pid, part, 2, data, sizeof(data)), 0);
	assert_int_equal(part[0].len, 0);
	assert_int_equal(part[1].len, 4);
	munmap(pages, 4096);
	assert_int_equal(wall_follow(pid, hops, 5, data, sizeof(data)), 0);
	assert_memory_equal(data + 8, "words", 5);
	assert_memory_equal(data + 29, "some", 4);
	assert_int_equal(hops[0].len + hops[1].len + hops[4].len, 8 + 5 + 4);
	assert_int_equal(hops[2].len + hops[3].len, 0);
	assert_int_equal(wall_follow(0x7ffffffe, hops, 1, data, sizeof(data)), -ESRCH);
	assert_int_equal(wall_follow(pid, hops, 1, data, 7), -E2BIG);
}

#define TEST(fn) cmocka_unit_test_setup(fn, clear)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_way_is_a_read_a_step),  TEST(what_is_not_there_takes_its_own_along),
		TEST(more_ends_with_the_page), TEST(what_many_want_is_read_once),
		TEST(ways_that_are_none),      TEST(through_a_process),
	};

	return cmocka_run_group_tests_name("hops", tests, NULL, NULL);
}
