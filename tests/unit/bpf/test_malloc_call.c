// SPDX-License-Identifier: Apache-2.0
/* Which calls for native memory are sampled: what they ask for, jumps among them, and sums of what was drawn. */
#include "test.h"

#include <math.h>

#include "base/macros.h"
#include "sample/malloc_call.h"
#include "session/alloc/alloc_weight.h"

/* --- what a call asks for --- */

static uint64_t bytes_of(enum wire_malloc_form form, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	const struct malloc_call call = { .form = form, .arguments = { a, b, c, d } };

	return malloc_call_bytes(&call);
}

static void test_arguments(void **state)
{
	(void)state;
	assert_int_equal(bytes_of(WIRE_MALLOC_SIZE, 11, 22, 33, 44), 11);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, 11, 22, 33, 44), 242);
	assert_int_equal(bytes_of(WIRE_MALLOC_AGAIN, 11, 22, 33, 44), 22);
	assert_int_equal(bytes_of(WIRE_MALLOC_ALIGNED, 11, 22, 33, 44), 22);
	assert_int_equal(bytes_of(WIRE_MALLOC_INTO, 11, 22, 33, 44), 33);
	assert_int_equal(bytes_of(WIRE_MALLOC_REMAP, 11, 22, 33, 44), 33);
	assert_int_equal(bytes_of(WIRE_MALLOC_FREE, 11, 22, 33, 44), 0);
}

/* Memory, and not a file, nor what is but reserved. */
static void test_mappings(void **state)
{
	const uint64_t anonymous = 0x22, reserved = 0x4022, file = 0x02;

	(void)state;
	assert_int_equal(bytes_of(WIRE_MALLOC_MAP, 0, 4096, 3, anonymous), 4096);
	assert_int_equal(bytes_of(WIRE_MALLOC_MAP, 0, 4096, 0, anonymous), 4096);
	assert_int_equal(bytes_of(WIRE_MALLOC_MAP, 0, 4096, 3, reserved), 4096);
	assert_int_equal(bytes_of(WIRE_MALLOC_MAP, 0, 4096, 0, reserved), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_MAP, 0, 4096, 3, file), 0);
}

static void test_pages(void **state)
{
	struct malloc_call call = { .form = WIRE_MALLOC_MAP, .arguments = { 0, 4096, 3, 0x22 } };

	(void)state;
	assert_true(malloc_asks_for_pages(&call));
	call.arguments[3] |= 0x20000; /* a thread's stack */
	assert_false(malloc_asks_for_pages(&call));
	call.form = WIRE_MALLOC_REMAP;
	assert_true(malloc_asks_for_pages(&call));
	call.form = WIRE_MALLOC_SIZE;
	assert_false(malloc_asks_for_pages(&call));
}

/* What nobody can give is no allocation. */
static void test_too_much(void **state)
{
	const uint64_t most = WIRE_MALLOC_MOST_BYTES;

	(void)state;
	assert_int_equal(bytes_of(WIRE_MALLOC_SIZE, UINT64_MAX, 0, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_SIZE, most, 0, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_SIZE, most - 1, 0, 0, 0), most - 1);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, 1ULL << 33, 1ULL << 33, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, UINT64_MAX, 2, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, 3, UINT64_MAX / 3 + 7, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, 0, 2, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, 2, 0, 0, 0), 0);
	assert_int_equal(bytes_of(WIRE_MALLOC_ARRAY, 1ULL << 23, (1ULL << 23) + 1, 0, 0),
			 (1ULL << 46) + (1ULL << 23));
}

/* --- jumps --- */

#define REALLOC 0x1000
#define MALLOC	0x2000
#define SP	0x7ffff000
#define BACK	0x5000

static bool jumps(struct malloc_book *book, uint64_t ip, uint64_t sp, uint64_t back, uint64_t size)
{
	const struct malloc_call call = { .ip = ip, .sp = sp, .back = back };

	return malloc_is_jump(book, &call, size, 0xabc);
}

static void test_jumps(void **state)
{
	struct malloc_book book = { 0 };

	(void)state;
	assert_false(jumps(&book, REALLOC, SP, BACK, 100));
	assert_true(jumps(&book, MALLOC, SP, BACK, 100));
	/* The same call once more, and its jump. */
	assert_false(jumps(&book, REALLOC, SP, BACK, 100));
	assert_true(jumps(&book, MALLOC, SP, BACK, 100));
	/* Of a probed return there is the trampoline. */
	assert_false(jumps(&book, REALLOC, SP, BACK, 100));
	assert_true(jumps(&book, MALLOC, SP, 0xabc, 100));
	/* And on from there. */
	assert_true(jumps(&book, REALLOC + 16, SP, BACK, 100));
}

static void test_no_jumps(void **state)
{
	struct malloc_book book = { 0 };

	(void)state;
	assert_false(jumps(&book, MALLOC, SP, BACK, 100));
	assert_false(jumps(&book, MALLOC, SP, BACK, 100));	     /* a loop */
	assert_false(jumps(&book, REALLOC, SP, BACK + 8, 100));	     /* the next line */
	assert_false(jumps(&book, MALLOC, SP, BACK + 8, 101));	     /* of another size */
	assert_false(jumps(&book, REALLOC, SP - 16, BACK + 8, 101)); /* deeper */
	assert_false(jumps(&book, MALLOC, SP - 16, 0, 101));	     /* nobody knows */
}

/* --- what is drawn --- */

static uint64_t random_state;

static uint32_t next_random(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(random_state >> 32);
}

static void test_logarithm(void **state)
{
	static const uint64_t values[] = { 1,	      2,	   3,		7,	    1000,
					   123456789, 0x7fffffffu, 0x80000000u, 0xffffffffu };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		double came = (double)draw_log2(values[i]) / (1 << DRAW_LOG_BITS);

		assert_true(fabs(came - log2((double)values[i])) < 2.0 / (1 << DRAW_LOG_BITS));
	}
	assert_int_equal(draw_log2(1ULL << 32), 32ULL << DRAW_LOG_BITS);
}

/* As -ln(u) has it, at each end and between, of any interval. */
static void test_distance(void **state)
{
	static const uint32_t randoms[] = { 0, 1, 12345, 0x40000000, 0x80000000, 0xfffffff0 };
	static const uint64_t intervals[] = { 1024, 512 << 10, 1 << 30, 1ULL << 38, 1ULL << 42 };

	(void)state;
	assert_int_equal(draw_distance(1 << 30, UINT32_MAX), 0);
	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		for (size_t j = 0; j < ARRAY_SIZE(randoms); j++) {
			double u = ((double)randoms[j] + 1) / 4294967296.0;
			double wanted = -log(u) * (double)intervals[i];
			double came = (double)draw_distance(intervals[i], randoms[j]);

			assert_true(fabs(came - wanted) <=
				    1 + wanted * 1e-5 + (double)intervals[i] * 4e-6);
		}
	}
	assert_int_equal(draw_distance(1ULL << 50, 12345), draw_distance(1ULL << 42, 12345));
}

/* COUNT objects of SIZE; what their samples weigh against what they are, within four deviations. */
static void check_sum(uint64_t size, uint64_t interval, unsigned int count)
{
	double p = -expm1(-(double)size / (double)interval), sum = 0, true_sum, deviation;
	struct malloc_book book = { 0 };

	for (unsigned int i = 0; i < count; i++) {
		int64_t by = malloc_choose(&book, size, interval, next_random(), next_random());

		if (by < 0)
			continue;
		assert_int_equal(by, interval);
		sum += (double)alloc_weight_bytes(size, (uint64_t)by);
	}
	true_sum = (double)size * count;
	deviation = (double)size * sqrt(count * (1 - p) / p);
	print_message("%lu by %lu: %+.3f %%, deviation %.3f %%\n", (unsigned long)size,
		      (unsigned long)interval, 100 * (sum / true_sum - 1),
		      100 * deviation / true_sum);
	assert_true(fabs(sum - true_sum) <= 4 * deviation + (double)count);
}

static void test_sums(void **state)
{
	(void)state;
	random_state = 42;
	check_sum(16, 4096, 4000000);
	check_sum(24, 512 << 10, 40000000);
	check_sum(1000, 512 << 10, 4000000);
	check_sum(400 << 10, 512 << 10, 1000000);
	check_sum(600 << 10, 512 << 10, 1000000);
	check_sum(10 << 20, 512 << 10, 10000);
}

/* Sizes in turn: each has its own sum. */
static void test_mixed_sums(void **state)
{
	const uint64_t sizes[] = { 64, 5000, 300000 }, interval = 65536;
	struct malloc_book book = { 0 };
	double sums[3] = { 0 };
	const unsigned int turns = 1000000;

	(void)state;
	random_state = 7;
	for (unsigned int i = 0; i < turns * 3; i++) {
		uint64_t size = sizes[i % 3];

		if (malloc_choose(&book, size, interval, next_random(), next_random()) >= 0)
			sums[i % 3] += (double)alloc_weight_bytes(size, interval);
	}
	for (int i = 0; i < 3; i++) {
		double size = (double)sizes[i], p = -expm1(-size / (double)interval);

		assert_true(fabs(sums[i] - size * turns) <=
			    4 * size * sqrt(turns * (1 - p) / p) + turns);
	}
}

/* One turn of tests/workloads/mallocs.c leak, of which each tenth keeps something. */
static const uint64_t turn_sizes[] = { 60000, 30000, 70000, 50000 };

/*
 * Far more samples than a cpu may have, so that the interval doubles and halves by the samples themselves: sums are still what
 * they are. The deviation is that of each call by the interval that it was chosen by.
 */
static void test_paced_sums(void **state)
{
	const uint64_t interval = 65536, call_ns = 6000;
	struct malloc_book book = { 0 };
	struct wire_pace pace = { 0 };
	double sum = 0, kept = 0, variance = 0, true_sum = 0;
	uint32_t least = UINT32_MAX, most = 0;
	uint64_t now_ns = 0;

	(void)state;
	random_state = 11;
	for (unsigned int turn = 0; turn < 3000000; turn++) {
		/* Now and then it rests. */
		now_ns += turn % 100000 ? 0 : 300000000;
		for (int i = 0; i < (turn % 10 ? 3 : 4); i++) {
			uint64_t size = turn_sizes[i];
			uint64_t now = malloc_interval_now(interval, &pace);
			double p, by_drawn = (double)(book.interval ? book.interval : now);
			int64_t by = malloc_choose(&book, size, now, next_random(), next_random());

			now_ns += call_ns;
			p = -expm1(-(double)size / by_drawn);
			true_sum += (double)size;
			variance += (double)size * (double)size * (1 - p) / p;
			if (by < 0)
				continue;
			thin_count(&pace, now_ns);
			least = MIN(least, pace.doubled);
			most = MAX(most, pace.doubled);
			sum += (double)alloc_weight_bytes(size, (uint64_t)by);
			kept += i == 3 ? (double)alloc_weight_bytes(size, (uint64_t)by) : 0;
		}
	}
	print_message("paced: %+.3f %%, deviation %.3f %%; what is kept %+.3f %%\n",
		      100 * (sum / true_sum - 1), 100 * sqrt(variance) / true_sum,
		      100 * (kept / (300000 * 50000.0) - 1));
	assert_int_equal(least, 0);
	assert_true(most >= 3);
	assert_true(fabs(sum - true_sum) <= 4 * sqrt(variance) + 3 * 3000000);
	assert_true(fabs(kept - 300000 * 50000.0) <= 0.03 * 300000 * 50000.0);
}

/* --- calls that have not returned --- */

static bool expects(struct malloc_book *book, uint32_t form, uint64_t sp, uint64_t id)
{
	const struct malloc_call call = { .form = form, .sp = sp, .arguments = { 0x1234 } };

	return malloc_expect(book, &call, id);
}

/* Each may have made the next one; they return the other way round. */
static void test_returns(void **state)
{
	struct malloc_book book = { 0 };

	(void)state;
	for (uint64_t i = 0; i < MALLOC_PENDING; i++)
		assert_true(expects(&book, i ? WIRE_MALLOC_SIZE : WIRE_MALLOC_INTO, SP - 64 * i,
				    i + 1));
	assert_false(expects(&book, WIRE_MALLOC_SIZE, SP - 4096, 99));
	assert_null(malloc_returned(&book, SP - 4096 + 8));
	for (uint64_t i = MALLOC_PENDING; i-- > 0;) {
		struct malloc_pending *p = malloc_returned(&book, SP - 64 * i + 8);

		assert_ptr_equal(p, &book.pending[i]);
		assert_int_equal(book.pending[i].id, i + 1);
		assert_int_equal(book.pending[i].into, i ? 0 : 0x1234);
		book.pending[i].id = 0;
		assert_null(malloc_returned(&book, SP - 64 * i + 8));
	}
	/* Whoever stood here has left, by longjmp() or unseen. */
	assert_true(expects(&book, WIRE_MALLOC_SIZE, SP - 64, 7));
	assert_true(expects(&book, WIRE_MALLOC_SIZE, SP, 8));
	assert_null(malloc_returned(&book, SP - 64 + 8));
	assert_ptr_equal(malloc_returned(&book, SP + 8), &book.pending[0]);
	assert_int_equal(book.pending[0].id, 8);
}

/* An exception could not leave it. */
static void test_no_returns(void **state)
{
	struct malloc_call call = { .form = WIRE_MALLOC_NEW, .arguments = { 77 } };

	(void)state;
	assert_false(malloc_may_return(&call));
	assert_int_equal(malloc_call_bytes(&call), 77);
	for (call.form = 0; call.form < WIRE_MALLOC_FORMS; call.form++)
		assert_int_equal(malloc_may_return(&call), call.form != WIRE_MALLOC_NEW);
}

static void test_frees(void **state)
{
	struct malloc_call call = { .arguments = { 0x1000, 2, 3, 4 } };
	static const bool frees[WIRE_MALLOC_FORMS] = {
		[WIRE_MALLOC_FREE] = true, [WIRE_MALLOC_AGAIN] = true, [WIRE_MALLOC_REMAP] = true
	};

	(void)state;
	for (call.form = 0; call.form < WIRE_MALLOC_FORMS; call.form++)
		assert_int_equal(malloc_call_frees(&call), frees[call.form] ? 0x1000 : 0);
	call.form = WIRE_MALLOC_MAP;
	call.arguments[3] = 0x32; /* MAP_FIXED */
	assert_int_equal(malloc_call_frees(&call), 0x1000);
}

/* What was drawn counts, not what is asked for by then. */
static void test_interval_changes(void **state)
{
	struct malloc_book book = { 0 };
	struct wire_pace pace = { .doubled = 3 };

	(void)state;
	assert_int_equal(malloc_interval_now(1000, &pace), 8000);
	assert_int_equal(malloc_interval_now(1000, NULL), 1000);
	assert_int_equal(malloc_choose(&book, 1ULL << 46, 1000, 5, 6), 1000);
	assert_int_equal(malloc_choose(&book, 1ULL << 46, 2000, 5, 6), 1000);
	assert_int_equal(malloc_choose(&book, 1ULL << 46, 4000, 5, 6), 2000);
	assert_int_equal(malloc_choose(&book, 1, 0, 5, 6), 0); /* each call */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arguments),  cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_pages),	   cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_jumps),	   cmocka_unit_test(test_no_jumps),
		cmocka_unit_test(test_logarithm),  cmocka_unit_test(test_distance),
		cmocka_unit_test(test_sums),	   cmocka_unit_test(test_mixed_sums),
		cmocka_unit_test(test_paced_sums), cmocka_unit_test(test_interval_changes),
		cmocka_unit_test(test_returns),	   cmocka_unit_test(test_no_returns),
		cmocka_unit_test(test_frees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
