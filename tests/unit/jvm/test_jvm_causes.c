// SPDX-License-Identifier: Apache-2.0
/* Where a JVM has the cause of its collections: when it is asked again for it. Its counters are the test's. */
#include "test.h"

#include "jvm/perf/jvm_perf.h"
#include "jvm_outside.h"

static int said; /* of the counters */

int jvm_perf_read(const struct vm_memory *memory, uint32_t pid, const char *name,
		  uint64_t *ret_address)
{
	assert_non_null(memory);
	assert_int_equal(pid, getpid());
	assert_string_equal(name, "sun.gc.cause");
	if (said == 0)
		*ret_address = 0x7000;
	return said;
}

static int ask(struct world *w, bool wants_cause, struct wire_phases *ret_phases)
{
	memset(ret_phases, 0, sizeof(*ret_phases));
	return jvm_get_phases(w->jvm, wants_cause, ret_phases);
}

static void a_cause(void **state)
{
	struct world *w = *state;
	struct wire_phases known;

	said = 0;
	assert_int_equal(ask(w, true, &known), 0);
	assert_int_equal(known.gc_cause_at, 0x7000);
	assert_int_equal(ask(w, false, &known), 0);
	assert_int_equal(known.gc_cause_at, 0);
}

/* It has no such counters: nobody need ask again. */
static void none(void **state)
{
	struct world *w = *state;
	struct wire_phases known;

	said = -ENODATA;
	assert_int_equal(ask(w, true, &known), 0);
	said = -EBADMSG;
	assert_int_equal(ask(w, true, &known), 0);
	assert_int_equal(known.gc_cause_at, 0);
}

/* It has no such string yet, or did not let itself be read in time. */
static void not_now(void **state)
{
	struct world *w = *state;
	struct wire_phases known;

	said = -EAGAIN;
	assert_int_equal(ask(w, true, &known), -EAGAIN);
	said = -ETIMEDOUT;
	assert_int_equal(ask(w, true, &known), -ETIMEDOUT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = { TEST(a_cause), TEST(none), TEST(not_now) };

	return cmocka_run_group_tests_name("jvm_causes", tests, NULL, NULL);
}
