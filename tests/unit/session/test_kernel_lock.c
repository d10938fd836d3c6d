// SPDX-License-Identifier: Apache-2.0
/* Which of the kernel's locks a thread waited for, in words. */
#include "test.h"

#include "session/locks/kernel_lock.h"

#define STATIC_LOCK 0xffffffff82000100

static unsigned int asked;

const char *symbolizer_variable_of_kernel(struct symbolizer *symbolizer, uint64_t address)
{
	assert_ptr_equal(symbolizer, (struct symbolizer *)&asked);
	asked++;
	return address == STATIC_LOCK ? "cgroup_mutex" : NULL;
}

static void expect(enum wire_cause cause, uint64_t lock, uint64_t field, const char *wanted)
{
	const struct wire_sample sample = { .cause = (uint8_t)cause,
					    .alloc_object = lock,
					    .alloc_class = field };
	struct profile p;

	profile_init(&p);
	assert_string_equal(
		profile_get_string(&p,
				   kernel_lock_reason(&p, (struct symbolizer *)&asked, &sample)),
		wanted);
	profile_release(&p);
}

static void names(void **state)
{
	(void)state;
	expect(WIRE_CAUSE_MUTEX, STATIC_LOCK, WIRE_CONTENTION_NO_FIELD, "mutex cgroup_mutex");
	expect(WIRE_CAUSE_MUTEX, STATIC_LOCK + 8, WIRE_CONTENTION_NO_FIELD, "mutex");
	expect(WIRE_CAUSE_SPINLOCK, 0, 77, "spinlock");
	assert_int_equal(asked, 3);
}

/* Of what a thread has itself. */
static void fields(void **state)
{
	(void)state;
	asked = 0;
	expect(WIRE_CAUSE_RWSEM_WRITE, STATIC_LOCK, WIRE_CONTENTION_MMAP_LOCK,
	       "rwsem write mmap_lock");
	expect(WIRE_CAUSE_SPINLOCK, STATIC_LOCK, WIRE_CONTENTION_SIGLOCK, "spinlock siglock");
	assert_int_equal(asked, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(fields),
	};

	return cmocka_run_group_tests_name("kernel_lock", tests, NULL, NULL);
}
