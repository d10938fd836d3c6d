/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "agent_records.h"

static void a_method_is_published_with_its_lines(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *m;
	struct records r;

	(void)state;
	records_open(&r, a);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 1);
	assert_int_equal(records_read(&r), 1);
	m = records_one(&r, CODEMAP_METHOD);
	assert_int_equal(m->event.flags, CODEMAP_FLAG_DESCRIPTOR);
	assert_int_equal(m->event.method.number, 1);
	assert_string_equal(m->descriptor, "([I)J");
	assert_string_equal(m->class, "pkg/A");
	assert_string_equal(m->text, "run");
	assert_string_equal(m->source, "A.java");
	assert_int_equal(m->event.method.line_count, 3);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(m->lines[i].bci, fake.methods[0].lines[i].start_location);
		assert_int_equal(m->lines[i].line, fake.methods[0].lines[i].line_number);
	}
	assert_true(agent_now_ns() - m->event.time_ns < 60 * NSEC_PER_SEC);
	records_close(&r);
	fake_drop(a);
}

/* No source, no lines: the name alone. */
static void a_method_without_debug_information(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *m;
	struct records r;

	(void)state;
	records_open(&r, a);
	assert_true(method_publish(a, &fake_jni, fake_id(1)));
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_int_equal(records_read(&r), 2);
	m = &r.all[0];
	assert_string_equal(m->class, "pkg/B");
	assert_string_equal(m->text, "add");
	assert_int_equal(m->event.method.source.len, 0);
	assert_int_equal(m->event.method.line_count, 0);
	assert_int_equal(r.all[1].event.method.number, 2);
	assert_int_equal(method_table_find(&a->methods, fake_id(1)), 1);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 2);
	records_close(&r);
	fake_drop(a);
}

/* A JVM that gives no sources or no lines is not asked for them. */
static void what_the_jvm_cannot_is_left_out(void **state)
{
	struct agent *a = fake_agent();
	const struct kept_record *m;
	struct records r;

	(void)state;
	a->can_source = a->can_lines = false;
	records_open(&r, a);
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	records_read(&r);
	m = records_one(&r, CODEMAP_METHOD);
	assert_string_equal(m->class, "pkg/A");
	assert_int_equal(m->event.method.source.len, 0);
	assert_int_equal(m->event.method.line_count, 0);
	records_close(&r);
	fake_drop(a);
}

/* A class that is gone has no name, and its method no number; nothing is published. */
static void a_method_that_is_gone_has_no_number(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.methods[0].class_signature = NULL;
	fake.methods[1].name = NULL;
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_true(method_publish(a, &fake_jni, fake_id(1)));
	assert_int_equal(records_read(&r), 0);
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
	assert_int_equal(method_table_find(&a->methods, fake_id(1)), 0);
	records_close(&r);
	fake_drop(a);
}

/* Of JVMTI's signatures only those of classes lose their first and last letter. */
static void class_names_are_cut_out_of_signatures(void **state)
{
	static const char *const cases[][2] = {
		{ "La;", "a" },
		{ "[I", "[I" },
		{ "L;", "L;" },
		{ "I", "I" },
		{ "LX;", "X" },
		{ "Lpkg/Outer$Inner;", "pkg/Outer$Inner" },
		{ "Lp/H+0x1;", "p/H+0x1" },
	};
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.methods[0].class_signature = cases[i][0];
		assert_true(method_publish(a, &fake_jni, fake_id(0)));
		records_read(&r);
		assert_string_equal(records_one(&r, CODEMAP_METHOD)->class, cases[i][1]);
		assert_int_equal(records_one(&r, CODEMAP_METHOD)->event.flags,
				 CODEMAP_FLAG_DESCRIPTOR);
	}
	records_close(&r);
	fake_drop(a);
}

/* One that is too long is left out, and the record says so; of a method that JVMTI gives none it has none. */
static void descriptors_are_whole_or_not_there(void **state)
{
	char text[CODEMAP_MAX_DESCRIPTOR + 2];
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	memset(text, 'I', sizeof(text));
	text[CODEMAP_MAX_DESCRIPTOR] = '\0';
	fake.methods[0].descriptor = text;
	fake.methods[1].descriptor = NULL;
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_true(method_publish(a, &fake_jni, fake_id(1)));
	text[CODEMAP_MAX_DESCRIPTOR] = 'I';
	text[CODEMAP_MAX_DESCRIPTOR + 1] = '\0';
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_int_equal(records_read(&r), 3);
	assert_int_equal(r.all[0].event.method.descriptor.len, CODEMAP_MAX_DESCRIPTOR);
	assert_int_equal(r.all[0].event.flags, CODEMAP_FLAG_DESCRIPTOR);
	assert_int_equal(r.all[1].event.method.descriptor.len, 0);
	assert_int_equal(r.all[1].event.flags, 0);
	assert_int_equal(r.all[2].event.method.descriptor.len, 0);
	assert_int_equal(r.all[2].event.flags, CODEMAP_FLAG_CUT);
	assert_string_equal(r.all[2].text, "run");
	records_close(&r);
	fake_drop(a);
}

/* More lines than anybody reads are cut, and the record says so. */
static void too_many_lines_are_cut(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	fake.methods[0].line_count = METHOD_MAX_LINES;
	fake.methods[1].line_count = METHOD_MAX_LINES + 1;
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_true(method_publish(a, &fake_jni, fake_id(1)));
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(r.all[0].event.method.line_count, METHOD_MAX_LINES);
	assert_int_equal(r.all[0].event.flags, CODEMAP_FLAG_DESCRIPTOR);
	assert_int_equal(r.all[1].event.method.line_count, METHOD_MAX_LINES);
	assert_int_equal(r.all[1].event.flags, CODEMAP_FLAG_CUT | CODEMAP_FLAG_DESCRIPTOR);
	records_close(&r);
	fake_drop(a);
}

static void names_longer_than_a_length_field_are_cut(void **state)
{
	static char name[UINT16_MAX + 2];
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	memset(name, 'n', sizeof(name) - 1);
	records_open(&r, a);
	fake.methods[0].name = name;
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	fake.methods[0].name = name + 1;
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	assert_int_equal(records_read(&r), 2);
	assert_int_equal(r.all[0].event.method.name.len, UINT16_MAX);
	assert_int_equal(r.all[0].event.flags, CODEMAP_FLAG_CUT | CODEMAP_FLAG_DESCRIPTOR);
	assert_int_equal(r.all[1].event.method.name.len, UINT16_MAX);
	assert_int_equal(r.all[1].event.flags, CODEMAP_FLAG_DESCRIPTOR);
	records_close(&r);
	fake_drop(a);
}

/* A number is given only with its record. */
static void a_full_ring_leaves_a_method_without_a_number(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	a->ring.head = CODEMAP_RING_BYTES;
	assert_false(method_publish(a, &fake_jni, fake_id(0)));
	assert_int_equal(method_table_find(&a->methods, fake_id(0)), 0);
	assert_int_equal(a->ring.header->dropped, 1);
	fake_drop(a);
}

static void a_replay_marks_its_methods(void **state)
{
	struct agent *a = fake_agent();
	struct records r;

	(void)state;
	records_open(&r, a);
	a->replay_tid = agent_gettid();
	assert_true(method_publish(a, &fake_jni, fake_id(0)));
	records_read(&r);
	assert_int_equal(records_one(&r, CODEMAP_METHOD)->event.flags,
			 CODEMAP_FLAG_REPLAYED | CODEMAP_FLAG_DESCRIPTOR);
	records_close(&r);
	fake_drop(a);
}

/* Handles that differ in their low bits, and ones far apart. */
static jmethodID handle(uint64_t i)
{
	return (jmethodID)(uintptr_t)(0x7f0000000000ULL + (i % 2 ? i * 8 : i << 20));
}

static void the_table_knows_all_that_it_holds(void **state)
{
	struct method_table t;

	(void)state;
	assert_int_equal(method_table_open(&t), 0);
	for (uint64_t i = 1; i <= METHOD_MAX; i++)
		assert_int_equal(insert(&t, handle(i)), i);
	for (uint64_t i = 1; i <= METHOD_MAX; i++)
		assert_int_equal(method_table_find(&t, handle(i)), i);
	assert_int_equal(method_table_find(&t, handle(METHOD_MAX + 1)), 0);
	assert_int_equal(t.epoch, 0);
	assert_int_equal(t.count, METHOD_MAX);
	/* Full: it is emptied, and numbers go on. */
	assert_int_equal(insert(&t, handle(METHOD_MAX + 1)), METHOD_MAX + 1);
	assert_int_equal(t.epoch, 1);
	assert_int_equal(t.count, 1);
	assert_int_equal(method_table_find(&t, handle(1)), 0);
	assert_int_equal(method_table_find(&t, handle(METHOD_MAX + 1)), METHOD_MAX + 1);
	method_table_clear(&t);
	assert_int_equal(t.epoch, 2);
	assert_int_equal(t.count, 0);
	assert_int_equal(insert(&t, handle(1)), METHOD_MAX + 2);
	method_table_close(&t);
	assert_null(t.slots);
	method_table_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_method_is_published_with_its_lines),
		cmocka_unit_test(a_method_without_debug_information),
		cmocka_unit_test(what_the_jvm_cannot_is_left_out),
		cmocka_unit_test(a_method_that_is_gone_has_no_number),
		cmocka_unit_test(class_names_are_cut_out_of_signatures),
		cmocka_unit_test(too_many_lines_are_cut),
		cmocka_unit_test(descriptors_are_whole_or_not_there),
		cmocka_unit_test(names_longer_than_a_length_field_are_cut),
		cmocka_unit_test(a_full_ring_leaves_a_method_without_a_number),
		cmocka_unit_test(a_replay_marks_its_methods),
		cmocka_unit_test(the_table_knows_all_that_it_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
