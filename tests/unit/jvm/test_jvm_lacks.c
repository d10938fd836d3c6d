// SPDX-License-Identifier: Apache-2.0
/* What is said to be missing of a JVM is what its tables lack, and nothing else. */
#include "test.h"

#include <errno.h>

#include "jvm/jvm_lacks.h"
#include "jvm/names/scopes_layout.h"
#include "jvm_fixture.h"

static enum scopes_place place;

void scopes_layout_read(const struct vmstructs *vs, struct scopes_layout *ret_layout)
{
	assert_non_null(vs);
	*ret_layout = (struct scopes_layout){ .place = place };
}

/* RELEASE, whose tables do not know FIELD of TYPE. */
static struct jvm_lacks lacks_of(uint32_t release, const char *type, const char *field)
{
	struct fake_jvm *f = fake_jvm_fill(release, false);
	struct jvm_fields fields = { .count = 0 };
	struct jvm_lacks lacks;

	jvm_add_shape(f, &fields);
	jvm_add_statics(f, &fields);
	for (size_t i = 0; type && i < fields.count; i++)
		if (!strcmp(fields.items[i].type, type) && !strcmp(fields.items[i].name, field))
			fields.items[i].type = "Other";
	jvm_fill_tables(f, &fields);
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	memset(&lacks, 0xff, sizeof(lacks));
	jvm_lacks_read(f->vm.vs, &lacks);
	fake_jvm_free(f);
	return lacks;
}

static void nothing(void **state)
{
	static const uint32_t releases[] = { 8, 17, 21, 25 };

	(void)state;
	place = SCOPES_IN_BLOB;
	for (size_t i = 0; i < ARRAY_SIZE(releases); i++) {
		struct jvm_lacks lacks = lacks_of(releases[i], NULL, NULL);

		if (lacks.count)
			fail_msg("JDK %u: %s", releases[i], lacks.text[0]);
	}
}

static void one_thing(void **state)
{
	struct jvm_lacks lacks;

	(void)state;
	place = SCOPES_UNKNOWN;
	lacks = lacks_of(21, NULL, NULL);
	assert_int_equal(lacks.count, 1);
	assert_string_equal(
		lacks.text[0],
		"inlined methods, and lines of compiled code: JDK 21 does not say from outside where they are; the agent does");
	place = SCOPES_IN_BLOB;
	lacks = lacks_of(17, "ConstMethod", "_flags");
	assert_int_equal(lacks.count, 1);
	assert_string_equal(lacks.text[0],
			    "lines: this JVM's VMStructs have no ConstMethod._flags");
	lacks = lacks_of(17, "ConstantPool", "_source_file_name_index");
	assert_int_equal(lacks.count, 1);
	assert_string_equal(lacks.text[0],
			    "source files: this JVM's VMStructs have no _source_file_name_index");
}

/* Without what every Java frame needs there is none; nothing more need be said. */
static void all_of_it(void **state)
{
	struct jvm_lacks lacks;
	struct err err;

	(void)state;
	place = SCOPES_UNKNOWN;
	lacks = lacks_of(17, "Symbol", "_body");
	assert_int_equal(lacks.count, 1);
	assert_string_equal(
		lacks.text[0],
		"Java frames, of which only the native ones are shown: this JVM's VMStructs have no Symbol._body");
	err_set(&err, -EOPNOTSUPP, "it is none");
	jvm_lacks_all(&err, &lacks);
	assert_int_equal(lacks.count, 1);
	assert_string_equal(lacks.text[0],
			    "Java frames, of which only the native ones are shown: it is none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),
		cmocka_unit_test(one_thing),
		cmocka_unit_test(all_of_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
