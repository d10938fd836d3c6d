// SPDX-License-Identifier: Apache-2.0
/* Which waits of virtual threads are told, and since when: the BPF program's own books over maps of the test's. */
#include "test.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"
#include "wire.h"

#define BPF_ANY	    0
#define BPF_NOEXIST 1
#undef __always_inline
#define __always_inline inline

struct entry {
	struct wire_yield_key key;
	struct wire_yield value;
	bool is_there;
};

static struct entry yields[8];
static wire_u64 yields_since[2]; /* of processes 0 and 1; 0: none */
static wire_u64 yields_inside, yields_sure, sampling_since_ns, clock_ns;
static bool yields_made_room, is_full, sampling;
static unsigned int counters[WIRE_COUNTER_COUNT];

static void counter_add(enum wire_counter counter, unsigned int more)
{
	counters[counter] += more;
}

static wire_u64 bpf_ktime_get_ns(void)
{
	return clock_ns;
}

static void *bpf_map_lookup_elem(void *map, const void *key)
{
	if (map == yields_since) {
		wire_u32 tgid = *(const wire_u32 *)key;

		return tgid < 2 && yields_since[tgid] ? &yields_since[tgid] : NULL;
	}
	for (size_t i = 0; i < ARRAY_SIZE(yields); i++)
		if (yields[i].is_there && !memcmp(&yields[i].key, key, sizeof(yields[i].key)))
			return &yields[i].value;
	return NULL;
}

static long bpf_map_delete_elem(void *map, const void *key)
{
	struct wire_yield *value = bpf_map_lookup_elem(map, key);

	if (!value)
		return -ENOENT;
	container_of(value, struct entry, value)->is_there = false;
	return 0;
}

static long bpf_map_update_elem(void *map, const void *key, const struct wire_yield *value,
				uint64_t flags)
{
	struct wire_yield *known = bpf_map_lookup_elem(map, key);

	assert_ptr_equal(map, yields);
	if (known && flags == BPF_NOEXIST)
		return -EEXIST;
	for (size_t i = 0; !known && !is_full && i < ARRAY_SIZE(yields); i++) {
		if (yields[i].is_there)
			continue;
		yields[i].is_there = true;
		memcpy(&yields[i].key, key, sizeof(yields[i].key));
		known = &yields[i].value;
	}
	if (!known)
		return -ENOMEM;
	*known = *value;
	return 0;
}

#include "sample/yields.h"

static int begin(void **state)
{
	(void)state;
	memset(yields, 0, sizeof(yields));
	memset(yields_since, 0, sizeof(yields_since));
	memset(counters, 0, sizeof(counters));
	yields_inside = 0;
	yields_sure = 100;
	sampling_since_ns = 50;
	clock_ns = 1000;
	yields_made_room = is_full = false;
	sampling = true;
	return 0;
}

static void leave(wire_u64 id, wire_u64 begin_ns, enum wire_cause cause)
{
	const struct wire_yield yield = { .begin_ns = begin_ns, .cause = cause };

	yield_note(WIRE_YIELD_OF_WAIT, 1, id, &yield);
}

/* Since when the thread that is back has waited; 0: nobody knows. */
static wire_u64 back(wire_u64 id, wire_u64 now_ns, struct wire_yield *ret)
{
	return yield_take(WIRE_YIELD_OF_WAIT, 1, id, now_ns, ret) ? ret->begin_ns : 0;
}

static void one_that_was_seen(void **state)
{
	struct wire_yield yield;

	(void)state;
	leave(5, 100, WIRE_CAUSE_PARK);
	assert_int_equal(yields_inside, 1);
	assert_int_equal(back(6, 200, &yield), 0);
	assert_int_equal(back(5, 200, &yield), 100);
	assert_int_equal(yield.cause, WIRE_CAUSE_PARK);
	assert_int_equal(yields_inside, 0);
	assert_int_equal(back(5, 300, &yield), 0);
	assert_int_equal(counters[WIRE_COUNTER_OFFCPU_VIRTUAL], 1);
	assert_int_equal(counters[WIRE_COUNTER_OFFCPU_VIRTUAL_UNSEEN], 2);
	/* Another event's entry is none of this one's. */
	yield_note(WIRE_YIELD_OF_LOCK, 1, 5, &yield);
	assert_int_equal(back(5, 300, &yield), 0);
	/* It leaves twice, as nobody has seen it come back: the second time counts. */
	leave(7, 400, WIRE_CAUSE_PARK);
	leave(7, 500, WIRE_CAUSE_PARK);
	assert_int_equal(yields_inside, 2);
	assert_int_equal(back(7, 600, &yield), 500);
}

static void one_that_may_not_get_its_monitor(void **state)
{
	struct wire_yield yield;

	(void)state;
	leave(5, 100, WIRE_CAUSE_MONITOR_ENTER);
	assert_int_equal(back(5, 200, &yield), 100);
	assert_int_equal(yield.was_back, 0);
	assert_int_equal(back(5, 300, &yield), 200);
	assert_int_equal(yield.was_back, 1);
	assert_int_equal(yields_inside, 1);
}

static void one_that_had_left_before(void **state)
{
	struct wire_yield yield;

	(void)state;
	yields_since[1] = 70;
	assert_int_equal(back(5, 200, &yield), 70);
	assert_int_equal(yield.cause, WIRE_CAUSE_NONE);
	assert_int_equal(counters[WIRE_COUNTER_OFFCPU_VIRTUAL], 1);
	/* It may have wanted a monitor, and be back in vain. */
	assert_int_equal(back(5, 300, &yield), 200);
	assert_int_equal(yield.cause, WIRE_CAUSE_MONITOR_ENTER);
	/* Or it parks again. */
	leave(5, 400, WIRE_CAUSE_PARK);
	assert_int_equal(back(5, 500, &yield), 400);
	assert_int_equal(yield.cause, WIRE_CAUSE_PARK);
	/* Probes that were there before sampling began have seen nobody until then. */
	yields_since[1] = 20;
	assert_int_equal(back(6, 200, &yield), 50);
	/* Who waits for a lock is told of what was seen alone. */
	assert_false(yield_take(WIRE_YIELD_OF_LOCK, 1, 8, 200, &yield));
	assert_int_equal(counters[WIRE_COUNTER_LOCK_YIELDS_UNSEEN], 1);
}

/* Whoever left unseen has not waited for longer than that. */
static void one_that_left_unseen(void **state)
{
	struct wire_yield yield;

	(void)state;
	yields_missed(1);
	assert_int_equal(yields_since[1], 0);
	yields_since[1] = 70;
	yields_missed(0);
	assert_int_equal(back(4, 1100, &yield), 70);
	yields_missed(1);
	assert_int_equal(back(5, 1100, &yield), 1000);
	/* It has ended: who waits has waited until then. */
	clock_ns = 1500;
	sampling = false;
	yields_missed(1);
	assert_int_equal(yields_since[1], 1000);
	sampling = true;
	clock_ns = 2000;
	is_full = true;
	leave(6, 1900, WIRE_CAUSE_PARK);
	is_full = false;
	assert_int_equal(back(6, 2100, &yield), 2000);
}

/* Then nobody knows who has gone from the map. */
static void too_many(void **state)
{
	struct wire_yield yield;

	(void)state;
	yields_since[1] = 70;
	yields_sure = 3;
	for (wire_u64 i = 1; i <= 3; i++)
		leave(i, 100, WIRE_CAUSE_PARK);
	assert_int_equal(back(1, 200, &yield), 100);
	leave(4, 100, WIRE_CAUSE_PARK);
	assert_false(yields_made_room);
	leave(5, 100, WIRE_CAUSE_PARK);
	assert_true(yields_made_room);
	assert_int_equal(back(4, 200, &yield), 100);
	assert_int_equal(back(6, 200, &yield), 0);
	assert_int_equal(counters[WIRE_COUNTER_OFFCPU_VIRTUAL_UNSEEN], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(one_that_was_seen, begin),
		cmocka_unit_test_setup(one_that_may_not_get_its_monitor, begin),
		cmocka_unit_test_setup(one_that_had_left_before, begin),
		cmocka_unit_test_setup(one_that_left_unseen, begin),
		cmocka_unit_test_setup(too_many, begin),
	};

	return cmocka_run_group_tests_name("yields", tests, NULL, NULL);
}
