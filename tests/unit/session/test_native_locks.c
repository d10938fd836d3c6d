// SPDX-License-Identifier: Apache-2.0
/* Which waits for a futex are those for a lock; names are the test's. */
#include "test.h"

#include <string.h>

#include "base/strbuf.h"
#include "session/offcpu/native_locks.h"

/* The sample's id is what its frames say. */
enum wire_cause wait_cause(const struct profile *profile, uint32_t stack, enum wire_cause cause)
{
	assert_null(profile);
	assert_int_equal(cause, WIRE_CAUSE_FUTEX);
	return (enum wire_cause)stack;
}

const char *wait_reason(enum wire_cause cause)
{
	static const char *const ids[] = {
#define WIRE_CAUSE(name, id, text) id,
#include "wire_states.def"
	};

	return ids[cause];
}

static void note(const char *reason, uint64_t samples, void *data)
{
	strbuf_addf(data, "%s %d\n", reason, (int)samples);
}

static void locks_are_wanted(void **state)
{
	const struct wire_sample sample = { .cause = WIRE_CAUSE_FUTEX };
	_cleanup_strbuf_ struct strbuf told = STRBUF_INIT;
	struct native_locks locks = { 0 };

	(void)state;
	native_locks_for_each(&locks, note, &told);
	assert_int_equal(told.len, 0);
	assert_true(native_locks_want(&locks, NULL, &sample, WIRE_CAUSE_MUTEX));
	assert_true(native_locks_want(&locks, NULL, &sample, WIRE_CAUSE_RWLOCK));
	assert_false(native_locks_want(&locks, NULL, &sample, WIRE_CAUSE_CONDITION));
	assert_false(native_locks_want(&locks, NULL, &sample, WIRE_CAUSE_CONDITION));
	assert_false(native_locks_want(&locks, NULL, &sample, WIRE_CAUSE_FUTEX));
	native_locks_for_each(&locks, note, &told);
	assert_string_equal(strbuf_str(&told), "futex 1\ncondition 2\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(locks_are_wanted) };

	return cmocka_run_group_tests_name("native_locks", tests, NULL, NULL);
}
