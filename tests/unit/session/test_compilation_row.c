// SPDX-License-Identifier: Apache-2.0
/* What a compilation's sample says of it, whatever the JVM has written there. */
#include "test.h"

#include "compilation_text.h"
#include "session/compilations/compilation_row.h"

static union {
	struct wire_sample sample;
	char space[sizeof(struct wire_sample) + 256];
} u;

static void begin(const struct wire_compilation *head)
{
	const struct compiled c = { *head, "a/B", "m", "()V" };

	u.sample = (struct wire_sample){ .kind = WIRE_SAMPLE,
					 .cause = WIRE_CAUSE_COMPILATION,
					 .weight = 9000 };
	put_compilation(&u.sample, &c);
}

static void expect_reason(const struct wire_compilation *head, const char *wanted)
{
	struct profile p;

	begin(head);
	profile_init(&p);
	assert_string_equal(profile_get_string(&p, compilation_reason(&p, &u.sample)), wanted);
	profile_release(&p);
}

static void reasons(void **state)
{
	(void)state;
	expect_reason(&(struct wire_compilation){ .compiler = "C1", .level = 3 }, "C1 tier 3");
	expect_reason(&(struct wire_compilation){ .compiler = "C1" }, "C1");
	expect_reason(&(struct wire_compilation){ .compiler = "C2" }, "C2 tier 4");
	expect_reason(&(struct wire_compilation){ .compiler = "JVMCI", .level = 4 },
		      "JVMCI tier 4");
	expect_reason(
		&(struct wire_compilation){ .compiler = "C2",
					    .level = 4,
					    .success = WIRE_COMPILED_KNOWN | WIRE_COMPILED_OSR },
		"C2 tier 4, OSR, failed");
	expect_reason(&(struct wire_compilation){ .compiler = "C2",
						  .success = WIRE_COMPILED_KNOWN |
							     WIRE_COMPILED_SUCCESS },
		      "C2 tier 4");
}

static void hostile_ones(void **state)
{
	struct profile p;

	(void)state;
	expect_reason(&(struct wire_compilation){ .compiler = "C1;\n\xff/ z" }, "C1?????z");
	expect_reason(&(struct wire_compilation){ .compiler = "" }, "JIT");
	begin(&(struct wire_compilation){ .compiler = "C1" });
	u.sample.name_bytes--;
	profile_init(&p);
	assert_string_equal(profile_get_string(&p, compilation_reason(&p, &u.sample)),
			    "compilation");
	u.sample.name_bytes = sizeof(struct wire_compilation) - 1;
	assert_string_equal(profile_get_string(&p, compilation_reason(&p, &u.sample)),
			    "compilation");
	profile_release(&p);
}

static struct profile_sample row_of(const struct wire_compilation *head)
{
	struct profile_sample row = { .weight = 9000 };

	begin(head);
	compilation_fill_row(&row, &u.sample);
	return row;
}

static void what_it_was_off_the_cpus(void **state)
{
	struct profile_sample row =
		row_of(&(struct wire_compilation){ .run_ns = 2000, .chance = 3, .compile_id = 7 });

	(void)state;
	assert_int_equal(row.chance, 3);
	assert_int_equal(row.identity, 7);
	assert_int_equal(row.queued, 3000);
	/* More than its length. */
	row = row_of(&(struct wire_compilation){ .run_ns = 9001, .chance = 1 });
	assert_int_equal(row.queued, 0);
	row = row_of(&(struct wire_compilation){ .run_ns = 9000, .chance = 0 });
	assert_int_equal(row.chance, 1);
	assert_int_equal(row.queued, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons),
		cmocka_unit_test(hostile_ones),
		cmocka_unit_test(what_it_was_off_the_cpus),
	};

	return cmocka_run_group_tests_name("compilation_row", tests, NULL, NULL);
}
