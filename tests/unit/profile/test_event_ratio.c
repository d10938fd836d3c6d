// SPDX-License-Identifier: Apache-2.0
/* What is said of two events, and of which two nothing. */
#include "test.h"

#include <string.h>

#include "base/strbuf.h"
#include "profile/event_ratio.h"
#include "profile_fixture.h"

struct made_event {
	const char *name, *unit;
	uint64_t weight;
};

static void note(const char *sentence, void *data)
{
	strbuf_addf(data, "%s\n", sentence);
}

/* All sentences about a profile with these events, each in two samples. */
static void expect(const struct made_event *events, size_t count, const char *expected)
{
	_cleanup_strbuf_ struct strbuf said = STRBUF_INIT;
	struct profile p;
	uint32_t thread, leaf;

	profile_init(&p);
	thread = fixture_thread(&p, fixture_process(&p, "one", 1), "one", 1);
	leaf = fixture_native(&p, "f");
	for (size_t i = 0; i < count; i++) {
		uint32_t event = fixture_event(&p, events[i].name, events[i].unit, 0);

		if (!events[i].weight)
			continue;
		fixture_sample(&p, event, thread, 1, events[i].weight / 2, FIXTURE_FRAMES(leaf));
		fixture_sample(&p, event, thread, 1, events[i].weight - events[i].weight / 2,
			       FIXTURE_FRAMES(leaf, leaf));
	}
	event_ratios_for_each(&p, note, &said);
	assert_string_equal(strbuf_str(&said), expected);
	profile_release(&p);
}

#define EXPECT(expected, ...)                                \
	expect(((const struct made_event[]){ __VA_ARGS__ }), \
	       ARRAY_SIZE(((const struct made_event[]){ __VA_ARGS__ })), expected)

static void instructions_per_cycle(void **state)
{
	(void)state;
	EXPECT("1.25 instructions per cycle\n", { "cycles", "count", 4000 },
	       { "instructions", "count", 5000 });
	EXPECT("0.50 instructions per cycle\n", { "instructions", "count", 2000 },
	       { "cpu-cycles", "count", 4000 });
}

static void shares(void **state)
{
	(void)state;
	EXPECT("4.21 % of cache-references are cache-misses\n", { "cache-misses", "count", 421 },
	       { "cache-references", "count", 10000 });
	EXPECT("1.00 % of branches are branch-misses\n", { "branches", "count", 1000 },
	       { "branch-misses", "count", 10 });
	EXPECT("12.50 % of LLC-loads are LLC-load-misses\n", { "LLC-loads", "count", 8000 },
	       { "LLC-load-misses", "count", 1000 });
	EXPECT("50.00 % of L1-dcache-stores are L1-dcache-store-misses\n",
	       { "L1-dcache-store-misses", "count", 2 }, { "L1-dcache-stores", "count", 4 });
	EXPECT("", { "LLC-loads", "count", 8 }, { "dTLB-load-misses", "count", 1 });
	EXPECT("", { "LLC-loads", "count", 8 }, { "LLC-store-misses", "count", 1 });
}

static void per_instructions(void **state)
{
	(void)state;
	EXPECT("2.50 LLC-load-misses per 1,000 instructions\n"
	       "7.00 r1a8 per 1,000 instructions\n"
	       "1.00 cpu/event=0x2e/ per 1,000 instructions\n",
	       { "instructions", "count", 2000 }, { "LLC-load-misses", "count", 5 },
	       { "r1a8", "count", 14 }, { "cpu/event=0x2e/", "count", 2 },
	       { "page-faults", "count", 3 }, { "sched:sched_switch", "count", 3 },
	       { "usdt:/r/a:p:n", "count", 3 });
}

/* The clock in place of counters that are not there; an event without samples. */
static void nothing_to_say(void **state)
{
	(void)state;
	EXPECT("", { "cycles", "nanoseconds", 4000 }, { "instructions", "nanoseconds", 5000 });
	EXPECT("", { "cycles", "count", 0 }, { "instructions", "count", 5000 });
	EXPECT("", { "cycles", "count", 4000 }, { "instructions", "count", 0 });
	EXPECT("", { "cycles", "count", 4000 });
	EXPECT("", { "cpu", "nanoseconds", 4000 }, { "alloc", "bytes", 10 });
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_per_cycle),
		cmocka_unit_test(shares),
		cmocka_unit_test(per_instructions),
		cmocka_unit_test(nothing_to_say),
	};

	return cmocka_run_group_tests_name("event_ratio", tests, NULL, NULL);
}
