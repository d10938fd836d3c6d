// SPDX-License-Identifier: Apache-2.0
/* Waits: states and reasons, places and what is learnt of them, chances and that sums stay what they are. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/offcpu.h"

#define STEP OFFCPU_STEP_NS
#define MOST WIRE_OFFCPU_MOST_WALKS
#define USEC 1000ULL
#define MSEC 1000000ULL
/* How often steps are doubled where short waits are not wanted. */
#define USUAL WIRE_OFFCPU_STEP_DOUBLED

static void test_states(void **state)
{
	(void)state;
	assert_int_equal(offcpu_state(true, OFFCPU_TASK_INTERRUPTIBLE), WIRE_STATE_QUEUED);
	assert_int_equal(offcpu_state(false, 0), WIRE_STATE_QUEUED);
	assert_int_equal(offcpu_state(false, OFFCPU_TASK_INTERRUPTIBLE), WIRE_STATE_SLEEPING);
	assert_int_equal(offcpu_state(false, OFFCPU_TASK_UNINTERRUPTIBLE), WIRE_STATE_BLOCKED);
	/* TASK_KILLABLE, TASK_FREEZABLE. */
	assert_int_equal(offcpu_state(false, 0x102), WIRE_STATE_BLOCKED);
	assert_int_equal(offcpu_state(false, 0x2001), WIRE_STATE_SLEEPING);
	/* Of a signal, of a tracer, in the freezer. */
	assert_int_equal(offcpu_state(false, 0x104), WIRE_STATE_STOPPED);
	assert_int_equal(offcpu_state(false, 0x108), WIRE_STATE_STOPPED);
	assert_int_equal(offcpu_state(false, OFFCPU_TASK_FROZEN), WIRE_STATE_STOPPED);
}

static void test_causes(void **state)
{
	static const struct {
		wire_s64 number;
		wire_u32 cause;
	} calls[] = {
		{ 202, WIRE_CAUSE_FUTEX },	   { 35, WIRE_CAUSE_SLEEP },
		{ 230, WIRE_CAUSE_SLEEP },	   { 0, WIRE_CAUSE_BY_READ },
		{ 1, WIRE_CAUSE_BY_WRITE },	   { 45, WIRE_CAUSE_SOCKET_READ },
		{ 46, WIRE_CAUSE_SOCKET_WRITE },   { 43, WIRE_CAUSE_SOCKET_ACCEPT },
		{ 42, WIRE_CAUSE_SOCKET_CONNECT }, { 232, WIRE_CAUSE_POLL },
		{ 61, WIRE_CAUSE_CHILD },	   { 75, WIRE_CAUSE_FILE },
		{ 73, WIRE_CAUSE_FILE_LOCK },	   { 9, WIRE_CAUSE_MEMORY },
		{ 128, WIRE_CAUSE_SIGNAL },	   { 220, WIRE_CAUSE_IPC },
		{ 231, WIRE_CAUSE_EXIT },	   { 39, WIRE_CAUSE_CALL },
		{ 449, WIRE_CAUSE_FUTEX },	   { 437, WIRE_CAUSE_FILE },
		{ 511, WIRE_CAUSE_CALL },	   { 512, WIRE_CAUSE_CALL },
		{ INT64_MAX, WIRE_CAUSE_CALL },	   { -1, WIRE_CAUSE_PAGE_FAULT },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		assert_int_equal(offcpu_cause(WIRE_STATE_SLEEPING, calls[i].number),
				 calls[i].cause);
		assert_int_equal(offcpu_cause(WIRE_STATE_BLOCKED, calls[i].number), calls[i].cause);
		assert_int_equal(offcpu_cause(WIRE_STATE_QUEUED, calls[i].number),
				 WIRE_CAUSE_RUN_QUEUE);
		assert_int_equal(offcpu_cause(WIRE_STATE_STOPPED, calls[i].number),
				 WIRE_CAUSE_STOPPED);
	}
}

static void test_files(void **state)
{
	(void)state;
	assert_int_equal(offcpu_file_cause(0140755, false), WIRE_CAUSE_SOCKET_READ);
	assert_int_equal(offcpu_file_cause(0140755, true), WIRE_CAUSE_SOCKET_WRITE);
	assert_int_equal(offcpu_file_cause(0010600, false), WIRE_CAUSE_PIPE_READ);
	assert_int_equal(offcpu_file_cause(0010600, true), WIRE_CAUSE_PIPE_WRITE);
	assert_int_equal(offcpu_file_cause(0100644, false), WIRE_CAUSE_FILE);
	assert_int_equal(offcpu_file_cause(0040755, false), WIRE_CAUSE_FILE);
	assert_int_equal(offcpu_file_cause(0060660, true), WIRE_CAUSE_FILE);
	assert_int_equal(offcpu_file_cause(0020620, true), WIRE_CAUSE_DEVICE);
	/* anon_inode_getfd(): S_IRUSR | S_IWUSR. */
	assert_int_equal(offcpu_file_cause(0600, false), WIRE_CAUSE_EVENT);
}

static void test_lengths(void **state)
{
	struct wire_offcpu thread = { .out_ns = 100, .state = WIRE_STATE_SLEEPING };

	(void)state;
	assert_int_equal(offcpu_length(100, 150), 50);
	/* By what it has run it came back before it left: clocks differ. */
	assert_int_equal(offcpu_length(100, 99), 0);
	assert_int_equal(wire_offcpu_queued(&thread, 50), 0);
	thread.woken_ns = 130;
	assert_int_equal(wire_offcpu_queued(&thread, 50), 20);
	thread.woken_ns = 100; /* just then: it was on its way out */
	assert_int_equal(wire_offcpu_queued(&thread, 50), 0);
	thread.woken_ns = 151;
	assert_int_equal(wire_offcpu_queued(&thread, 50), 0);
	thread.state = WIRE_STATE_QUEUED;
	assert_int_equal(wire_offcpu_queued(&thread, 50), 50);
}

/* --- places --- */

static wire_u32 key_of(wire_s64 number, wire_u64 pc, wire_u64 sp)
{
	const struct offcpu_call call = { number, pc, sp };

	return offcpu_key(WIRE_STATE_SLEEPING, &call);
}

static void test_keys(void **state)
{
	const struct offcpu_call call = { 202, 0x7f0012345678, 0x7ffe00001000 };
	wire_u32 key = offcpu_key(WIRE_STATE_SLEEPING, &call);

	(void)state;
	assert_int_equal(key, offcpu_key(WIRE_STATE_BLOCKED, &call));
	assert_int_not_equal(key, key_of(0, call.pc, call.sp));
	assert_int_not_equal(key, key_of(202, call.pc + 2, call.sp));
	assert_int_not_equal(key, key_of(202, call.pc, call.sp + 16));
	assert_int_equal(offcpu_key(WIRE_STATE_QUEUED, &call), OFFCPU_KEY_QUEUED);
	assert_int_equal(key_of(-1, 1, 2), OFFCPU_KEY_FAULT);
	/* No place has the key of none, or of those two. */
	for (wire_u64 i = 0; i < 1000; i++)
		assert_int_equal(key_of(i % 300, i * 4096, i * 16) & 1, 1);
}

static void test_places(void **state)
{
	struct wire_offcpu thread = { 0 };

	(void)state;
	for (wire_u32 i = 0; i < WIRE_OFFCPU_SITES; i++) {
		assert_int_equal(offcpu_site(&thread, 2 * i + 1, STEP), i);
		assert_int_equal(thread.sites[i].square, offcpu_square(STEP, STEP));
		assert_int_equal(thread.sites[i].waits, 0);
		thread.sites[i].square = 7;
		thread.sites[i].waits = 9;
	}
	/* They are found again, with what is known of them; one more takes the oldest's place. */
	for (wire_u32 i = 0; i < WIRE_OFFCPU_SITES; i++)
		assert_int_equal(offcpu_site(&thread, 2 * i + 1, STEP), i);
	assert_int_equal(thread.sites[3].square, 7);
	assert_int_equal(offcpu_site(&thread, 99, STEP), 0);
	assert_int_equal(thread.sites[0].square, offcpu_square(STEP, STEP));
	assert_int_equal(thread.sites[0].waits, 0);
	assert_int_equal(offcpu_site(&thread, 1, STEP), 1);
}

/* How many waits of a length there are until chances are as small as they may be. */
static int waits_until_rare(struct wire_offcpu_site *site, wire_u64 length_ns)
{
	int waits = 0;

	for (; offcpu_halved(site->square, USUAL) < USUAL && waits < 100000; waits++)
		offcpu_learn(site, length_ns, STEP);
	return waits;
}

static void test_learning(void **state)
{
	struct wire_offcpu thread = { 0 };
	struct wire_offcpu_site *site = &thread.sites[offcpu_site(&thread, 5, STEP)];

	(void)state;
	/* Of 10 us each: some hundred until the least chance. */
	assert_in_range(waits_until_rare(site, 10 * USEC), 100, 4000);
	assert_true(site->square < 4 * offcpu_square(10 * USEC, STEP));
	/* One of a second, and the next some hundred are walked. */
	offcpu_learn(site, 1000 * MSEC, STEP);
	assert_int_equal(offcpu_halved(site->square, USUAL), 0);
	assert_in_range(waits_until_rare(site, 10 * USEC), 500, 8000);
	/* However long it is it is forgotten at some time. */
	offcpu_learn(site, UINT64_MAX, STEP);
	assert_in_range(waits_until_rare(site, 10 * USEC), 500, 8000);
	/* One of 20 ms among a thousand: as the root of the mean square is. */
	for (int i = 0; i < 20000; i++)
		offcpu_learn(site, i % 1000 ? 10 * USEC : 20 * MSEC, STEP);
	assert_in_range(offcpu_halved(site->square, USUAL), 0, 3);
}

/* The first waits of a place say more than what was taken of them before. */
static void test_first_waits(void **state)
{
	struct wire_offcpu thread = { 0 };
	struct wire_offcpu_site *site = &thread.sites[offcpu_site(&thread, 5, STEP)];

	(void)state;
	for (int i = 0; i < 64; i++)
		offcpu_learn(site, 50 * MSEC, STEP);
	assert_true(site->square > offcpu_square(45 * MSEC, STEP));
	for (int i = 0; i < 1000; i++)
		offcpu_learn(site, 50 * MSEC, STEP);
	assert_int_equal(site->waits, 1 << OFFCPU_LEARN_SHIFT);
	assert_true(site->square > offcpu_square(49 * MSEC, STEP));
	assert_true(site->square <= offcpu_square(50 * MSEC, STEP));
}

/* --- chances --- */

static wire_u32 halved_of(wire_u64 length_ns, wire_u32 doubled)
{
	return offcpu_halved(offcpu_square(length_ns, STEP), doubled);
}

static void test_chances(void **state)
{
	(void)state;
	/* All are walked, until a step is doubled; then the shortest are not. */
	assert_int_equal(halved_of(0, 0), 0);
	assert_int_equal(halved_of(STEP >> 8, 1), 1);
	assert_int_equal(halved_of(STEP >> 6, 1), 0);
	assert_int_equal(halved_of(STEP, USUAL), 0);
	assert_int_equal(halved_of(1000 * STEP, USUAL), 0);
	assert_int_equal(halved_of(STEP / 2 + 2 * USEC, USUAL), 0);
	assert_int_equal(halved_of(STEP / 2 - 2 * USEC, USUAL), 1);
	assert_int_equal(halved_of(STEP / 4 - 2 * USEC, USUAL), 2);
	assert_int_equal(halved_of(0, USUAL), USUAL);
	/* Where steps are longer short ones are left out more often, long ones not. */
	assert_int_equal(halved_of(STEP, USUAL + 3), 2);
	assert_int_equal(halved_of(8 * STEP, USUAL + 3), 0);
	assert_int_equal(halved_of(0, USUAL + 3), USUAL + 3);
	assert_int_equal(halved_of(0, USUAL + WIRE_OFFCPU_MOST_HALVED), WIRE_OFFCPU_MOST_HALVED);
	assert_int_equal(halved_of(UINT64_MAX, USUAL + WIRE_OFFCPU_MOST_HALVED),
			 WIRE_OFFCPU_MOST_HALVED - 9);
	assert_true(draw_is_taken(0, 0xffffffff));
	assert_true(draw_is_taken(4, 0xfffffff0));
	assert_false(draw_is_taken(4, 0x00000008));
}

/* A busy cpu's steps grow until its walks are as many as they may be, and shrink again. */
static void test_rate(void **state)
{
	struct offcpu_rate rate = { .window_ns = 1 };
	wire_u64 now_ns = 1;
	unsigned int taken = 0;

	(void)state;
	srandom(1);
	/* 100,000 switches a second of a place with long waits, five seconds; the last one counts. */
	for (int i = 0; i < 500000; i++, now_ns += 10 * USEC) {
		wire_u32 doubled = offcpu_rate_doubled(&rate, now_ns, MOST);

		assert_true(doubled <= WIRE_OFFCPU_MOST_HALVED);
		if (!draw_is_taken(halved_of(2 * STEP, doubled), (wire_u32)random()))
			continue;
		offcpu_rate_count(&rate, MOST);
		taken += i >= 400000;
	}
	assert_in_range(taken, 1000, 8000);
	assert_true(rate.doubled >= USUAL + 3);
	/* A second in which nothing was walked. */
	assert_int_equal(offcpu_rate_doubled(&rate, now_ns + 2000 * MSEC, MOST), 0);
}

/* --- what is asked for: nothing is counted too often or too rarely --- */

struct waits {
	double truth, estimate, square;
	unsigned int walked;
};

static double uniform(void)
{
	return ((double)random() + 1) / ((double)RAND_MAX + 2);
}

/* Exponential ones of MEAN_NS, and every RARE-th of LONG_NS. */
static wire_u64 draw_wait(double mean_ns, int i, int rare, wire_u64 long_ns)
{
	if (rare && i % rare == rare - 1)
		return long_ns;
	return (wire_u64)(-mean_ns * log(uniform())) + 1;
}

/* COUNT waits of one place, by the steps that the kernel takes. */
static struct waits simulate(int count, double mean_ns, int rare, wire_u64 long_ns, wire_u64 least)
{
	wire_u32 usual = least ? USUAL : 0;
	struct wire_offcpu thread = { 0 };
	struct offcpu_rate rate = { .window_ns = 1 };
	struct waits sum = { 0 };
	wire_u64 now_ns = 1;

	for (int i = 0; i < count; i++) {
		struct wire_offcpu_site *site = &thread.sites[offcpu_site(&thread, 5, STEP)];
		wire_u32 halved = offcpu_halved(site->square,
						usual + offcpu_rate_doubled(&rate, now_ns, MOST));
		wire_u64 length = draw_wait(mean_ns, i, rare, long_ns);
		bool taken = draw_is_taken(halved, (wire_u32)random() << 1 ^ (wire_u32)random());

		if (taken)
			offcpu_rate_count(&rate, MOST);
		sum.walked += taken;
		if (length >= least) {
			double weight = taken ? (double)(length << halved) : 0;

			sum.truth += (double)length;
			sum.estimate += weight;
			sum.square += (weight - (double)length) * (weight - (double)length);
		}
		offcpu_learn(site, length >= least ? length : 0, STEP);
		now_ns += length + 5 * USEC;
	}
	return sum;
}

/* Within four standard deviations, which the weights themselves say. */
static void expect_unbiased(const struct waits *sum)
{
	assert_true(sum->truth > 0);
	assert_true(fabs(sum->estimate - sum->truth) <= 4 * sqrt(sum->square) + 1);
	/* And these are no excuse. */
	assert_true(4 * sqrt(sum->square) < 0.2 * sum->truth);
}

static void test_unbiased(void **state)
{
	struct waits sum;

	(void)state;
	srandom(7);
	/* Ping-pong. */
	sum = simulate(2000000, 10.0 * USEC, 0, 0, 0);
	expect_unbiased(&sum);
	assert_true(sum.walked < 2000000 / 10);
	/* The same with a long one now and then, alone wanted. */
	sum = simulate(2000000, 10.0 * USEC, 100, 20 * MSEC, MSEC);
	expect_unbiased(&sum);
	/* About as long as a step, where chances change all the time. */
	sum = simulate(500000, 300.0 * USEC, 0, 0, 0);
	expect_unbiased(&sum);
	sum = simulate(500000, 300.0 * USEC, 50, 5 * MSEC, MSEC);
	expect_unbiased(&sum);
	/* Long ones are all walked, but for what a busy cpu leaves out. */
	sum = simulate(20000, 5.0 * MSEC, 0, 0, 0);
	assert_int_equal(sum.walked, 20000);
	assert_true(sum.estimate == sum.truth);
}

/* --- wall: the sum of a thread's weights follows its clock --- */

static void test_weights(void **state)
{
	wire_s64 owed = 0;

	(void)state;
	/* All are walked: nothing is ever owed. */
	assert_int_equal(offcpu_weight(&owed, 500, 0, 1000), 500);
	assert_int_equal(owed, 0);
	/* Three that were not walked, and one for eight: half of what was owed before. */
	owed += 300;
	assert_int_equal(offcpu_weight(&owed, 100, 3, 1000), 800 + 150);
	assert_int_equal(owed, 300 + 100 - 950);
	/* It stands for more than there was: the next one for less, but not for nothing. */
	assert_int_equal(offcpu_weight(&owed, 100, 0, 1000), 25);
	assert_int_equal(owed, -550 + 100 - 25);
	/* A long one stands for itself, however small its chance was. */
	owed = 0;
	assert_int_equal(offcpu_weight(&owed, 900, 6, 1000), 2000);
	assert_int_equal(owed, 900 - 2000);
	owed = 0;
	assert_int_equal(offcpu_weight(&owed, 50000, 6, 1000), 50000);
	assert_int_equal(owed, 0);
}

/* Of a wait that weighs what its chance says: what others were owed is settled by half. */
static void test_settling(void **state)
{
	wire_s64 owed = 600;

	(void)state;
	assert_int_equal(offcpu_settle(&owed, 100, 1000), 1300);
	assert_int_equal(owed, 600 + 100 - 1300);
	assert_int_equal(offcpu_settle(&owed, 100, 100), 25);
	assert_int_equal(owed, -600 + 100 - 25);
}

/* At the end all is given. */
static void test_last_weights(void **state)
{
	struct wire_offcpu thread = { .site = 2, .halved = 3 };

	(void)state;
	assert_int_equal(wire_offcpu_last_weight(&thread, 700), 700);
	thread.sites[1].owed_ns = 1000;
	thread.sites[2].owed_ns = 50;
	assert_int_equal(wire_offcpu_last_weight(&thread, 700), 750);
	thread.sites[2].owed_ns = -800;
	assert_int_equal(wire_offcpu_last_weight(&thread, 700), 0);
}

/* Short waits, of which some are walked, and a long one now and then at the same place: a thread's sum, and all threads'. */
static void test_sums(void **state)
{
	double shorts = 0, worst = 0;
	const int threads = 2000, waits = 300;
	const wire_u64 brief = 160 * USEC, lengthy = 50 * STEP;
	double truth = threads * (299 * (double)brief + (double)lengthy);

	(void)state;
	srandom(11);
	for (int i = 0; i < threads; i++) {
		wire_s64 owed = 0;

		for (int at = 0; at < waits; at++) {
			wire_u64 length = at == 150 ? lengthy : brief;

			if (draw_is_taken(3, (wire_u32)random()))
				shorts += (double)offcpu_weight(&owed, length, 3, STEP);
			else
				owed += length;
		}
		worst = fmax(worst, fabs((double)owed));
	}
	/* By chance alone a thread's would differ by 8 * lengthy, or by up to 5 * sqrt(299 * 7) * brief. */
	assert_true(worst < 120.0 * (double)brief);
	assert_true(fabs(shorts / truth - 1) < 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_states),	     cmocka_unit_test(test_causes),
		cmocka_unit_test(test_lengths),	     cmocka_unit_test(test_files),
		cmocka_unit_test(test_keys),	     cmocka_unit_test(test_places),
		cmocka_unit_test(test_learning),     cmocka_unit_test(test_first_waits),
		cmocka_unit_test(test_chances),	     cmocka_unit_test(test_rate),
		cmocka_unit_test(test_unbiased),     cmocka_unit_test(test_weights),
		cmocka_unit_test(test_sums),	     cmocka_unit_test(test_settling),
		cmocka_unit_test(test_last_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
