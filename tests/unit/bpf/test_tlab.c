// SPDX-License-Identifier: Apache-2.0
/*
 * What AllocTracer's calls weigh: rules on made-up calls, and sums against a model of HotSpot's TLABs whose
 * truth is known. Each class's bytes and objects must come out within 3 % and 4 standard deviations of so many samples.
 */
#include "test.h"

#include "sample/thin.h"
#include "tlab_model.h"

#define KIB 1024ULL

/* --- rules --- */

static struct tlab_state call(uint64_t allocated, uint64_t room, bool fresh)
{
	return (struct tlab_state){
		.allocated = allocated, .room = room, .desired = 100 * KIB, .fresh = fresh
	};
}

/* A thread whose first object began a TLAB, of which ROOM is left. */
static struct tlab_book begun(uint64_t room)
{
	struct tlab_book book = { 0 };
	struct tlab_state first = call(24, room, true);

	first.emptied = true;
	assert_int_equal(tlab_weigh(&book, 24, &first), 24);
	return book;
}

/* What is larger than the room was sure to be seen, wherever it came. */
static void test_larger_than_the_room(void **state)
{
	struct tlab_book book = begun(1000);
	struct tlab_state now = call(24 + 600 + 1008, 400, false);

	(void)state;
	assert_int_equal(tlab_weigh(&book, 1008, &now), 1008);
	assert_int_equal(book.room, 400);
}

/* What fitted when the room began stands for all that went through it. */
static void test_crosses_the_end(void **state)
{
	struct tlab_book book = begun(100 * KIB);
	struct tlab_state now = call(24 + 100 * KIB + 160, 90 * KIB, true);

	(void)state;
	/* 200 bytes, of which 40 had room: a 16th of what reached beyond is its own. */
	assert_int_equal(tlab_weigh(&book, 200, &now), 100 * KIB + 10);
	assert_int_equal(book.beyond, 150);
}

/* Never less than itself. */
static void test_at_least_itself(void **state)
{
	struct tlab_book book = begun(1000);
	struct tlab_state now = call(24 + 1016, 90 * KIB, true);

	(void)state;
	book.beyond = -100000;
	assert_int_equal(tlab_weigh(&book, 1000, &now), 1000);
}

/* Bytes that a larger object cut off wait for one that can have been among them. */
static void test_bytes_wait(void **state)
{
	struct tlab_book book = begun(100 * KIB);
	struct tlab_state now = call(24 + 30 * KIB + 200 * KIB, 70 * KIB, false);

	(void)state;
	assert_int_equal(tlab_weigh(&book, 200 * KIB, &now), 200 * KIB);
	now = call(now.allocated + 70 * KIB, 40 * KIB, true);
	assert_int_equal(tlab_weigh(&book, 64, &now), 70 * KIB + 30 * KIB);
}

/* An object is not given the bytes of what was smaller than it. */
static void test_bytes_wait_for_small_ones(void **state)
{
	struct tlab_book book = begun(1000);
	struct tlab_state now = call(24 + 600 + 2000, 400, false);

	(void)state;
	tlab_weigh(&book, 2000, &now);
	now = call(now.allocated + 408, 100 * KIB, true);
	assert_int_equal(tlab_weigh(&book, 408, &now), 408);
	now = call(now.allocated + 100 * KIB + 4000, 100 * KIB, true);
	assert_int_equal(tlab_weigh(&book, 4000, &now) / KIB, 100);
	assert_int_equal(book.waiting[tlab_pot(1000)], 600);
	now = call(now.allocated + 100 * KIB, 100 * KIB, true);
	assert_true(tlab_weigh(&book, 24, &now) >= 100 * KIB + 600);
	assert_int_equal(book.waiting[tlab_pot(1000)], 0);
}

/* What went through a large room may have been large: what crosses a small one does not stand for it. */
static void test_bytes_wait_for_such_a_room(void **state)
{
	struct tlab_book book = begun(100 * KIB);
	struct tlab_state now = call(24 + 90 * KIB + 200 * KIB, 1000, false);

	(void)state;
	tlab_weigh(&book, 200 * KIB, &now);
	now = call(now.allocated + 1000, 100 * KIB, true);
	assert_int_equal(tlab_weigh(&book, 24, &now), 1000);
	assert_int_equal(book.waiting[tlab_pot(100 * KIB)], 90 * KIB);
	/* A whole TLAB's will do, though collections have made TLABs smaller. */
	now = call(now.allocated + 100 * KIB, 60 * KIB, true);
	assert_int_equal(tlab_weigh(&book, 24, &now), 190 * KIB);
}

/* A collection took the TLAB: its first object is seen whatever it is, and what was before waits. */
static void test_collection(void **state)
{
	struct tlab_book book = begun(100 * KIB);
	struct tlab_state now = call(24 + 50 * KIB + 48, 100 * KIB, true);

	(void)state;
	now.emptied = true;
	assert_int_equal(tlab_weigh(&book, 48, &now), 48);
	now = call(now.allocated + 100 * KIB, 100 * KIB, true);
	assert_true(tlab_weigh(&book, 48, &now) >= 150 * KIB);
}

/* Of a thread that ran before: half a TLAB. And counts that go back say nothing. */
static void test_unknown_thread(void **state)
{
	struct tlab_book book = { 0 };
	struct tlab_state now = call(1ULL << 30, 100 * KIB, true);

	(void)state;
	assert_int_equal(tlab_weigh(&book, 48, &now), 50 * KIB);
	now = call(1000, 100 * KIB, true);
	assert_int_equal(tlab_weigh(&book, 48, &now), 48);
	assert_int_equal(book.allocated, 1000);
	assert_int_equal(book.beyond, 0);
}

/* --- sums --- */

static void set_classes(struct model *model, const uint64_t *sizes, const double *bytes,
			unsigned int count, unsigned int threads)
{
	model->class_count = count;
	model->thread_count = threads;
	for (unsigned int i = 0; i < count; i++)
		model->classes[i].size = sizes[i];
	for (unsigned int i = 0; i < threads; i++)
		model_set_shares(model, i, bytes);
}

static void expect_truth(const char *what, const struct model *model)
{
	for (unsigned int i = 0; i < model->class_count; i++) {
		const struct model_class *c = &model->classes[i];
		double sigma = sqrt(c->square) / (double)c->bytes;
		double off = c->est_bytes / (double)c->bytes - 1;
		double off_count = c->est_count / (double)c->count - 1;

		if (fabs(off) > 0.03 + 4 * sigma || fabs(off_count) > 0.03 + 4 * sigma)
			fail_msg("%s: of %llu bytes: %+.1f %% of bytes, %+.1f %% of objects, "
				 "%.0f samples, sigma %.1f %%",
				 what, (unsigned long long)c->size, 100 * off, 100 * off_count,
				 c->samples, 100 * sigma);
	}
}

static const uint64_t sizes[] = { 24, 104, 1024, 8192, 40000 };

static void test_sums(void **state)
{
	static const struct {
		const char *what;
		double bytes[5]; /* of each class */
		uint64_t desired, largest, eden, region, interval;
		unsigned int threads;
	} rows[] = {
		{ "even", { 1, 1, 1, 1, 1 }, 100 * KIB, 0, 5000 * KIB, 0, 0, 1 },
		{ "large ones", { 0.1, 0.1, 0.1, 0.1, 4 }, 100 * KIB, 0, 5000 * KIB, 0, 0, 1 },
		{ "small TLABs", { 1, 1, 1, 1, 1 }, 16 * KIB, 0, 800 * KIB, 0, 0, 1 },
		{ "threads", { 1, 1, 1, 1, 1 }, 64 * KIB, 0, 9600 * KIB, 0, 0, 3 },
		{ "regions", { 1, 1, 1, 1, 1 }, 80 * KIB, 128 * KIB, 8000 * KIB, 256 * KIB, 0, 2 },
		{ "many collections", { 1, 1, 1, 1, 0.2 }, 64 * KIB, 0, 400 * KIB, 0, 0, 1 },
		{ "thinned", { 1, 1, 1, 1, 1 }, 32 * KIB, 0, 1600 * KIB, 0, 128 * KIB, 1 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct model model = { .desired = rows[i].desired,
				       .largest = rows[i].largest,
				       .eden = rows[i].eden,
				       .region = rows[i].region,
				       .interval = rows[i].interval,
				       .seed = i };

		set_classes(&model, sizes, rows[i].bytes, 5, rows[i].threads);
		model_run(&model, 400ULL << 20);
		expect_truth(rows[i].what, &model);
	}
}

/* Threads that allocate one size only never meet its chances: nothing but counting is right. */
static void test_one_size(void **state)
{
	static const double only_large[] = { 0, 0, 0, 0, 1 };
	struct model model = { .desired = 100 * KIB, .eden = 5000 * KIB };

	(void)state;
	set_classes(&model, sizes, only_large, 5, 1);
	model.classes[0].bytes = 0;
	model_run(&model, 100ULL << 20);
	assert_true(fabs(model.classes[4].est_bytes / (double)model.classes[4].bytes - 1) < 0.005);
}

/* Threads whose TLABs are never full, as another one has all the collections made. */
static void test_slow_threads(void **state)
{
	static const double none_large[] = { 1, 1, 1, 0.5, 0 }, only_small[] = { 1, 1, 1, 0, 0 };
	struct model model = { .desired = 100 * KIB, .eden = 1000 * KIB, .slow = 40 };
	struct model alone = { .desired = 100 * KIB, .eden = 1000 * KIB, .slow = 40, .seed = 7 };

	(void)state;
	set_classes(&model, sizes, none_large, 5, 4);
	model_run(&model, 2000ULL << 20);
	expect_truth("slow threads", &model);
	/* What they allocate nobody else does. */
	set_classes(&alone, sizes, only_small, 5, 4);
	model_set_shares(&alone, 0, (const double[]){ 0, 0, 0, 0, 1 });
	model_run(&alone, 3000ULL << 20);
	expect_truth("slow threads' own", &alone);
}

/* --- thinning --- */

static void test_thin_weight(void **state)
{
	(void)state;
	assert_int_equal(thin_weight(1000, 1000, UINT32_MAX), 1000);
	assert_int_equal(thin_weight(5000, 1000, UINT32_MAX), 5000);
	assert_int_equal(thin_weight(500, 1000, 0x7fffffff), 1000);
	assert_int_equal(thin_weight(500, 1000, 0x80000000), 0);
	assert_int_equal(thin_weight(1ULL << 40, 1ULL << 41, 0x7fffffff), 1ULL << 41);
	assert_int_equal(thin_weight(1ULL << 40, 1ULL << 41, 0x80000000), 0);
	assert_int_equal(thin_weight(0, 1000, 0), 0);
}

/* 20,000 calls a second become the budget's 5,000; when they get fewer, all are taken again. */
static void test_thin_count(void **state)
{
	struct wire_tlab jvm = { .interval = 1000, .pace.window_ns = 1 };
	uint64_t now_ns = 1, taken = 0;

	(void)state;
	for (unsigned int i = 0; i < 200000; i++) {
		now_ns += 50000;
		if (!thin_weight(1000, jvm.interval << jvm.pace.doubled, i * 2654435761U))
			continue;
		thin_count(&jvm.pace, now_ns);
		taken++;
	}
	assert_in_range(taken, 20000, 55000);
	for (unsigned int i = 0; i < 200; i++)
		thin_count(&jvm.pace, now_ns += 50000000);
	assert_int_equal(jvm.pace.doubled, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_larger_than_the_room),
		cmocka_unit_test(test_crosses_the_end),
		cmocka_unit_test(test_at_least_itself),
		cmocka_unit_test(test_bytes_wait),
		cmocka_unit_test(test_bytes_wait_for_small_ones),
		cmocka_unit_test(test_bytes_wait_for_such_a_room),
		cmocka_unit_test(test_collection),
		cmocka_unit_test(test_unknown_thread),
		cmocka_unit_test(test_sums),
		cmocka_unit_test(test_one_size),
		cmocka_unit_test(test_slow_threads),
		cmocka_unit_test(test_thin_weight),
		cmocka_unit_test(test_thin_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
