// SPDX-License-Identifier: Apache-2.0
/* Who waits for which lock of the kernel's, and since when. */
#include "test.h"

#include "kernel/contention.h"

#define TID 77

static const wire_u64 lock_a = 0xffff888100000100, lock_b = 0xffff888100000200;

static void kinds(void **state)
{
	(void)state;
	assert_int_equal(contention_cause(0), WIRE_CAUSE_SEMAPHORE);
	assert_int_equal(contention_cause(CONTENTION_SPIN), WIRE_CAUSE_SPINLOCK);
	assert_int_equal(contention_cause(CONTENTION_SPIN | CONTENTION_READ),
			 WIRE_CAUSE_KERNEL_RWLOCK_READ);
	assert_int_equal(contention_cause(CONTENTION_SPIN | CONTENTION_WRITE),
			 WIRE_CAUSE_KERNEL_RWLOCK_WRITE);
	assert_int_equal(contention_cause(CONTENTION_READ), WIRE_CAUSE_RWSEM_READ);
	assert_int_equal(contention_cause(CONTENTION_WRITE), WIRE_CAUSE_RWSEM_WRITE);
	assert_int_equal(contention_cause(CONTENTION_RT), WIRE_CAUSE_RT_MUTEX);
	assert_int_equal(contention_cause(CONTENTION_RT | CONTENTION_WRITE),
			 WIRE_CAUSE_KERNEL_RWLOCK_WRITE);
	assert_int_equal(contention_cause(CONTENTION_PERCPU | CONTENTION_READ),
			 WIRE_CAUSE_PERCPU_RWSEM_READ);
	assert_int_equal(contention_cause(CONTENTION_PERCPU | CONTENTION_WRITE),
			 WIRE_CAUSE_PERCPU_RWSEM_WRITE);
	assert_int_equal(contention_cause(CONTENTION_MUTEX), WIRE_CAUSE_MUTEX);
	assert_int_equal(contention_cause(CONTENTION_MUTEX | CONTENTION_SPIN), WIRE_CAUSE_MUTEX);
}

/* Whose begin and end are on one cpu. */
static void who_spins(void **state)
{
	(void)state;
	assert_true(contention_spins(CONTENTION_SPIN));
	assert_true(contention_spins(CONTENTION_SPIN | CONTENTION_WRITE));
	assert_false(contention_spins(CONTENTION_SPIN | CONTENTION_MUTEX));
	assert_false(contention_spins(CONTENTION_MUTEX));
	assert_false(contention_spins(CONTENTION_WRITE));
	assert_false(contention_spins(0));
}

static void expect_end(struct contention_book *book, wire_u64 lock, wire_u64 begin_ns)
{
	struct contention_wait wait = {};

	assert_true(contention_end(book, lock, TID, &wait));
	assert_int_equal(wait.lock, lock);
	assert_int_equal(wait.begin_ns, begin_ns);
}

static void expect_none(struct contention_book *book, wire_u64 lock)
{
	struct contention_wait wait = { .begin_ns = 5 };

	assert_false(contention_end(book, lock, TID, &wait));
	assert_int_equal(wait.begin_ns, 5);
}

static void one_after_another(void **state)
{
	struct contention_book book = {};

	(void)state;
	expect_none(&book, lock_a);
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 1000);
	expect_none(&book, lock_b);
	expect_end(&book, lock_a, 1000);
	expect_none(&book, lock_a);
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 3000);
	expect_end(&book, lock_a, 3000);
	assert_int_equal(book.depth, 0);
}

/* An interrupt's within a thread's; and where the inner one's end was not told. */
static void within_one_another(void **state)
{
	struct contention_book book = {};

	(void)state;
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 1000);
	contention_begin(&book, lock_b, CONTENTION_SPIN, TID, 1500);
	assert_int_equal(book.depth, 2);
	expect_end(&book, lock_b, 1500);
	expect_end(&book, lock_a, 1000);
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 2000);
	contention_begin(&book, lock_b, CONTENTION_SPIN, TID, 2500);
	expect_end(&book, lock_a, 2000);
	expect_none(&book, lock_b);
}

/* It spins, sleeps, and spins again: one wait. Who spins for a spinlock begins anew. */
static void several_begins(void **state)
{
	struct contention_book book = {};

	(void)state;
	contention_begin(&book, lock_a, CONTENTION_MUTEX | CONTENTION_SPIN, TID, 1000);
	contention_begin(&book, lock_a, CONTENTION_MUTEX, TID, 1100);
	contention_begin(&book, lock_a, CONTENTION_MUTEX | CONTENTION_SPIN, TID, 1900);
	assert_int_equal(book.depth, 1);
	expect_end(&book, lock_a, 1000);
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 3000);
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 9000);
	assert_int_equal(book.depth, 1);
	expect_end(&book, lock_a, 9000);
}

/* What another thread has left on this cpu has long ended. */
static void left_behind(void **state)
{
	struct contention_book book = {};

	(void)state;
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID + 1, 1000);
	expect_none(&book, lock_a);
	contention_begin(&book, lock_b, CONTENTION_SPIN, TID, 2000);
	assert_int_equal(book.depth, 1);
	contention_begin(&book, lock_a, CONTENTION_SPIN, TID, 2500);
	expect_end(&book, lock_a, 2500);
	expect_end(&book, lock_b, 2000);
}

/* More than there can be at one time: their ends were not told. */
static void too_many(void **state)
{
	struct contention_book book = {};

	(void)state;
	for (unsigned int i = 0; i < CONTENTION_LEVELS; i++)
		contention_begin(&book, lock_a + 8 * i, CONTENTION_SPIN, TID, 1000 + i);
	assert_int_equal(book.depth, CONTENTION_LEVELS);
	contention_begin(&book, lock_b, CONTENTION_SPIN, TID, 5000);
	assert_int_equal(book.depth, 1);
	expect_none(&book, lock_a + 8);
	expect_end(&book, lock_b, 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(who_spins),
		cmocka_unit_test(one_after_another),
		cmocka_unit_test(within_one_another),
		cmocka_unit_test(several_begins),
		cmocka_unit_test(left_behind),
		cmocka_unit_test(too_many),
	};

	return cmocka_run_group_tests_name("contention", tests, NULL, NULL);
}
