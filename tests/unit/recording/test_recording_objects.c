/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations and live objects of another producer of JFR. */
#include "test.h"

#include "foreign_jfr.h"

static void put_event(struct chunk *chunk, uint64_t type, const uint64_t *numbers, size_t count)
{
	size_t event = jfr_begin_event(&chunk->bytes, type);

	put_numbers(&chunk->bytes, numbers, count);
	jfr_end_event(&chunk->bytes, event);
}

#define PUT_EVENT(chunk, type, ...)                               \
	put_event(chunk, type, (const uint64_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

#define GC "{4244 GC Thread#0 0 [0 0 0 java     ]}"

static void read_made(struct chunk *chunk, struct profile *p)
{
	struct err err;
	bool truncated;

	finish(chunk);
	assert_int_equal(read_bytes(chunk->bytes.buf, chunk->bytes.len, p, &truncated, &err), 0);
	strbuf_release(&chunk->bytes);
}

/* The class comes in front of the stack, once in the table; CPU time is the first event. */
static void allocations(void **state)
{
	static const char stack[] = "<|com.acme.Order||0|1|2|5|(I)V|-><|||0|3|4|3|->"
				    "<place|com.acme.Order||0|5|6|5|->";

	static const struct {
		const char *text, *class;
	} expected[] = {
		{ "1795000000001000000 1000 1 3 objects 42 age 0 (alloc bytes 0)",
		  "<|java.lang.String[][]||0|0|-1|9|->" },
		{ "1795000000002000000 5000 1 3 objects 1 age 0 (alloc bytes 0)",
		  "<|com.acme.Order||0|0|-1|10|->" },
		{ "1795000000003000000 700 1 3 objects 1 age 0 (live bytes 0)",
		  "<|java.lang.String[][]||0|0|-1|9|->" },
		{ "1795000000004000000 24 1 3 objects 1 age 0 (alloc bytes 0)", "" },
		{ "1795000000005000000 20 1 3 objects 1 age 0 (alloc bytes 0)",
		  "<|java.lang.String[][]||0|0|-1|9|->" },
	};
	struct chunk chunk;
	struct profile p;

	(void)state;
	make_chunk(&chunk, NULL);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 1, 2, 2, 3, 24, 1000);
	PUT_EVENT(&chunk, OUTSIDE_TLAB, START_TICKS + 2, 2, 2, 1, 5000);
	PUT_EVENT(&chunk, LIVE, START_TICKS + 3, 2, 2, 3, 700, START_TICKS);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 4, 2, 2, 77, 24, 24);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 5, 2, 2, 3, 40, 20);
	read_made(&chunk, &p);
	assert_int_equal(p.samples.len, 3 + ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "%s" GC "%s%s", expected[i].text, expected[i].class, stack);
		expect_sample(&p, 3 + i, strbuf_str(&text));
	}
	assert_int_equal(p.samples.items[3].stack, p.samples.items[5].stack);
	assert_string_equal(str(&p, profile_get_event(&p, 0)->name), "cpu");
	profile_release(&p);
}

/* async-profiler's native memory: no class, and one object of that size. */
static void native_memory(void **state)
{
	struct chunk chunk;
	struct profile p;

	(void)state;
	make_chunk(&chunk, NULL);
	PUT_EVENT(&chunk, 107, START_TICKS + 1, 2, 2, 0x7f1234, 3000);
	read_made(&chunk, &p);
	assert_int_equal(p.samples.len, 4);
	expect_sample(&p, 3,
		      "1795000000001000000 3000 1 3 objects 1 age 0 (malloc bytes 0)" GC
		      "<|com.acme.Order||0|1|2|5|(I)V|-><|||0|3|4|3|->"
		      "<place|com.acme.Order||0|5|6|5|->");
	profile_release(&p);
}

/* The JDK can record both; an allocation is not counted twice. */
static void samples_of_allocations_and_tlabs(void **state)
{
	struct chunk chunk;
	struct profile p;

	(void)state;
	make_chunk(&chunk, NULL);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 1, 2, 2, 3, 24, 1000);
	PUT_EVENT(&chunk, ALLOCATION, START_TICKS + 2, 2, 77, 2, 123456);
	PUT_EVENT(&chunk, OUTSIDE_TLAB, START_TICKS + 3, 2, 2, 1, 5000);
	PUT_EVENT(&chunk, LIVE, START_TICKS + 4, 2, 77, 2, 9, START_TICKS);
	read_made(&chunk, &p);
	assert_int_equal(p.samples.len, 3 + 2);
	expect_sample(&p, 3,
		      "1795000000002000000 123456 1 3 objects 1 age 0 (alloc bytes 0)" GC
		      "<|java.lang.Thread||0|0|-1|9|->");
	expect_sample(&p, 4,
		      "1795000000004000000 9 1 3 objects 1 age 0 (live bytes 0)" GC
		      "<|java.lang.Thread||0|0|-1|9|->");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(native_memory),
		cmocka_unit_test(allocations),
		cmocka_unit_test(samples_of_allocations_and_tlabs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
