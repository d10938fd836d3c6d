/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <pthread.h>
#include <string.h>

#include "base/cache/thread_scratch.h"

#define BYTES 100000

static struct thread_scratch one, other;

static void expect_all_0(const uint8_t *memory)
{
	for (size_t i = 0; i < BYTES; i++)
		assert_int_equal(memory[i], 0);
}

/* At one place it is always the same, at another one another. */
static void it_stays_as_it_was_left(void **state)
{
	uint8_t *first = thread_scratch_get(&one, BYTES),
		*second = thread_scratch_get(&other, BYTES);

	(void)state;
	assert_ptr_not_equal(first, second);
	expect_all_0(first);
	expect_all_0(second);
	memset(first, 1, BYTES);
	memset(second, 2, BYTES);
	assert_ptr_equal(thread_scratch_get(&one, BYTES), first);
	assert_ptr_equal(thread_scratch_get(&other, BYTES), second);
	assert_int_equal(first[BYTES - 1], 1);
	assert_int_equal(second[0], 2);
}

static void *ask(void *data)
{
	uint8_t *memory = thread_scratch_get(&one, BYTES);

	expect_all_0(memory);
	memset(memory, 3, BYTES);
	assert_ptr_equal(thread_scratch_get(&one, BYTES), memory);
	assert_ptr_not_equal(memory, data);
	return NULL;
}

/* Which a sanitizer sees to have been freed as the thread ended. */
static void each_thread_has_its_own(void **state)
{
	uint8_t *own = thread_scratch_get(&one, BYTES);
	pthread_t thread;

	(void)state;
	memset(own, 1, BYTES);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(pthread_create(&thread, NULL, ask, own), 0);
		assert_int_equal(pthread_join(thread, NULL), 0);
	}
	assert_int_equal(own[0], 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_stays_as_it_was_left),
		cmocka_unit_test(each_thread_has_its_own),
	};

	return cmocka_run_group_tests_name("thread_scratch", tests, NULL, NULL);
}
