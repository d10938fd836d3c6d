// SPDX-License-Identifier: Apache-2.0
/* Why a collector stopped a JVM, whatever is written there. */
#include "test.h"

#include "compilation_text.h"
#include "session/compilations/gc_reason.h"

static void expect(const char *cause, const char *wanted)
{
	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + 128];
	} u = { .sample = { .kind = WIRE_SAMPLE } };
	struct profile p;

	put_pause(&u.sample, "ZMarkStart", cause);
	profile_init(&p);
	assert_string_equal(profile_get_string(&p, gc_reason(&p, &u.sample)), wanted);
	u.sample.name_bytes--;
	assert_string_equal(profile_get_string(&p, gc_reason(&p, &u.sample)), "unknown cause");
	profile_release(&p);
}

static void reasons(void **state)
{
	(void)state;
	expect("Allocation Failure", "Allocation Failure");
	expect("System.gc()", "System.gc()");
	expect("No GC", "no cause");
	expect("", "unknown cause");
	expect("a;b\n\xff\x7f", "a?b???");
	expect("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	       "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
	};

	return cmocka_run_group_tests_name("gc_reason", tests, NULL, NULL);
}
