/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "method_fixture.h"

static void names_a_method(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	assert_int_equal(find(f, bcp(f, 5), &frame), 0);
	assert_string_equal(frame.class_name, "pkg.Outer$Inner");
	assert_string_equal(frame.method, "work");
	assert_string_equal(frame.source, "Outer.java");
	assert_string_equal(frame.descriptor, DESCRIPTOR);
	assert_int_equal(frame.bci, 5);
	assert_int_equal(frame.line, 31);
	assert_false(frame.inlined);
}

/* JDK 8 keeps the source file's index in the class and its Symbols are laid out otherwise. */
static void names_a_method_of_jdk_8(void **state)
{
	struct jvm_layout layout = layout_17;
	struct fixture *f;
	struct java_frame frame;

	(void)state;
	layout.pool_source_index = JVM_LAYOUT_ABSENT;
	layout.klass_source_index = 258;
	layout.klass_name = 16;
	layout.symbol_length = 0;
	layout.symbol_body = 8;
	layout.pool_bytes = 80;
	f = fixture_new(&layout);
	assert_int_equal(find(f, bcp(f, 10), &frame), 0);
	assert_string_equal(frame.class_name, "pkg.Outer$Inner");
	assert_string_equal(frame.source, "Outer.java");
	assert_string_equal(frame.descriptor, DESCRIPTOR);
	assert_int_equal(frame.line, 33);
	method_names_free(f->names);
	free(f);
}

static void bci_out_of_the_code_is_unknown(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	assert_int_equal(find(f, 0, &frame), 0);
	assert_int_equal(frame.bci, -1);
	assert_int_equal(frame.line, 0);
	assert_int_equal(find(f, bcp(f, CODE_BYTES), &frame), 0);
	assert_int_equal(frame.bci, -1);
	assert_int_equal(find(f, bcp(f, CODE_BYTES - 1), &frame), 0);
	assert_int_equal(frame.bci, CODE_BYTES - 1);
}

static void another_const_method_is_stale(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	fake_put_u64(&f->fake, f->method + 8, f->const_method + 8);
	assert_int_equal(find(f, 0, &frame), -ESTALE);
}

static void hidden_class_is_named_as_java_does(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	put_symbol(f, f->class_symbol, "a/B$$Lambda+0x0123");
	assert_int_equal(find(f, 0, &frame), 0);
	assert_string_equal(frame.class_name, "a.B$$Lambda/0x0123");
}

/* Unloaded, and a twin made in the same places: all pointers are equal, the Symbol is not. */
static void a_twin_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint64_t before = identity(f);
	struct java_frame frame;

	fake_put_u16(&f->fake, f->class_symbol + 2, 0x1234); /* its random number */
	put_symbol(f, f->class_symbol, "pkg/Other$Inner");
	assert_int_equal(method_names_find(f->names, f->method, f->const_method, before, 0, &frame),
			 -ESTALE);
	assert_int_equal(find(f, 0, &frame), 0);
	assert_string_equal(frame.class_name, "pkg.Other$Inner");
}

/* A class was redefined: where its old method was is another of the same class. */
static void another_method_of_the_class_is_noticed(void **state)
{
	struct fixture *f = *state;
	uint64_t other = fake_alloc(&f->fake, SYMBOL_BYTES), before = identity(f);
	struct java_frame frame;

	assert_int_equal(find(f, bcp(f, 0), &frame), 0);
	put_symbol(f, other, "other");
	fake_put_u16(&f->fake, f->const_method + f->layout.const_method_name_index, SOURCE_INDEX);
	fake_put_u64(&f->fake, f->pool + f->layout.pool_bytes + 8 * SOURCE_INDEX, other);
	assert_int_equal(find(f, bcp(f, 0), &frame), 0);
	assert_string_equal(frame.method, "other");
	assert_int_equal(method_names_find(f->names, f->method, f->const_method, before, 0, &frame),
			 0);
	assert_string_equal(frame.method, "work");
}

/* What is read after a sample may be another's only where another was seen. */
static void places_of_two_methods(void **state)
{
	struct fixture *f = *state;
	uint64_t one = identity(f), two = one ^ 1;

	assert_false(method_names_was_another(f->names, f->method, f->const_method, one));
	method_names_note(f->names, f->method, f->const_method, 0); /* of nothing */
	method_names_note(f->names, f->method, f->const_method, one);
	method_names_note(f->names, f->method, f->const_method, one);
	assert_false(method_names_was_another(f->names, f->method, f->const_method, one));
	assert_true(method_names_was_another(f->names, f->method, f->const_method, two));
	assert_true(method_names_was_another(f->names, f->method, f->const_method + 8, one));
	assert_false(method_names_was_another(f->names, f->method + 8, f->const_method, two));
	method_names_note(f->names, f->method, f->const_method, two);
	/* Either may be meant from now on. */
	assert_true(method_names_was_another(f->names, f->method, f->const_method, one));
	assert_true(method_names_was_another(f->names, f->method, f->const_method, two));
	assert_false(method_names_was_another(f->names, f->method + 8, f->const_method, two));
}

static void without_an_identity_the_method_of_now_is_taken(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	assert_int_equal(
		method_names_find(f->names, f->method, f->const_method, 0, bcp(f, 5), &frame), 0);
	assert_string_equal(frame.method, "work");
	assert_int_equal(frame.line, 31);
	assert_int_equal(method_names_find(f->names, f->method, f->const_method + 8, 0, 0, &frame),
			 -ESTALE);
	assert_int_equal(method_names_find(f->names, f->method, 0, 0, 0, &frame), -ESTALE);
}

/* It gets another number when it is obsolete. */
static void an_obsolete_method_keeps_its_name(void **state)
{
	struct fixture *f = *state;
	uint64_t before = identity(f);

	fake_put_u16(&f->fake, f->const_method + f->layout.const_method_signature_index + 2, 77);
	assert_true(identity(f) == before);
}

/* Method handle intrinsics have a source's index, and no source. */
static void a_source_that_cannot_be_read_costs_no_name(void **state)
{
	struct fixture *f = *state;
	const uint64_t wrong[] = { 8, FAKE_BASE + FAKE_BYTES - 5, UINT64_MAX - 3 };
	struct java_frame frame;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		fake_put_u64(&f->fake, f->pool + f->layout.pool_bytes + 8 * SOURCE_INDEX, wrong[i]);
		method_names_free(f->names);
		f->names = method_names_new(&f->fake.memory, &f->layout);
		assert_int_equal(find(f, bcp(f, 5), &frame), 0);
		assert_string_equal(frame.method, "work");
		assert_string_equal(frame.source, "");
	}
}

/* Its reference count is no part of a Symbol's identity. */
static void counting_references_changes_nothing(void **state)
{
	struct fixture *f = *state;
	uint64_t before = identity(f);
	struct java_frame frame;

	fake_put_u16(&f->fake, f->class_symbol, 77);
	assert_int_equal(method_names_find(f->names, f->method, f->const_method, before, 0, &frame),
			 0);
}

/* What was read while the class lived names its samples also after it has gone. */
static void what_was_read_is_kept(void **state)
{
	struct fixture *f = *state;
	uint64_t before = identity(f);
	struct java_frame frame;
	unsigned int reads;

	assert_int_equal(find(f, 0, &frame), 0);
	reads = f->fake.reads;
	fake_put_u64(&f->fake, f->method + 8, 0);
	fake_put_u16(&f->fake, f->class_symbol + 2, 0x1234);
	assert_int_equal(method_names_find(f->names, f->method, f->const_method, before, 0, &frame),
			 0);
	assert_string_equal(frame.class_name, "pkg.Outer$Inner");
	assert_int_equal(f->fake.reads, reads);
	assert_int_equal(find(f, 0, &frame), -ESTALE);
}

/* Another class in the same place has lines of its own, and takes nothing of the first one's. */
static void lines_of_two_classes(void **state)
{
	struct fixture *f = *state;
	uint64_t first = identity(f), second, word;
	struct java_frame frame;

	assert_int_equal(find(f, bcp(f, 5), &frame), 0);
	assert_int_equal(frame.line, 31);
	memcpy(&word, f->fake.bytes + (f->class_symbol - FAKE_BASE), sizeof(word));
	fake_put_u64(&f->fake, f->class_symbol, word ^ 0x5a5a0000);
	f->fake.bytes[bcp(f, CODE_BYTES) + 2 - FAKE_BASE] = 100; /* from line 50 on */
	second = identity(f);
	assert_true(first != second);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(method_names_find(f->names, f->method, f->const_method, second,
						   bcp(f, 5), &frame),
				 0);
		assert_int_equal(frame.line, 51);
		assert_int_equal(method_names_find(f->names, f->method, f->const_method, first,
						   bcp(f, 5), &frame),
				 0);
		assert_int_equal(frame.line, 31);
	}
}

static struct fixture *unloading;

/* The class goes before its line table is read, and another has its place. */
static int read_while_unloading(const struct vm_memory *memory, const struct vm_span *spans,
				unsigned int count)
{
	struct fake_memory *fake = memory->data;
	uint64_t lines = bcp(unloading, CODE_BYTES);

	for (unsigned int i = 0; i < count; i++)
		if (lines - spans[i].address < spans[i].len)
			fake_put_u16(fake, unloading->class_symbol + 2, 0x1234);
	return fake_read(memory, spans, count);
}

static void lines_of_another_class_are_not_kept(void **state)
{
	struct fixture *f = *state;
	uint64_t before = identity(f);
	struct java_frame frame;

	unloading = f;
	method_names_free(f->names);
	f->fake.memory.read = read_while_unloading;
	f->names = method_names_new(&f->fake.memory, &f->layout);
	assert_int_equal(
		method_names_find(f->names, f->method, f->const_method, before, bcp(f, 5), &frame),
		-ESTALE);
}

/* A method of a class that changes all the time: what is known is bounded, the newest stays. */
static void the_cache_is_bounded(void **state)
{
	struct fixture *f = *state;
	uint64_t first = identity(f), last = 0;
	struct java_frame frame;

	for (unsigned int i = 1; i < 20000; i++) {
		assert_int_equal(find(f, bcp(f, 5), &frame), 0);
		assert_int_equal(frame.line, 31);
		last = identity(f);
		fake_put(&f->fake, f->class_symbol + 4, &i, sizeof(i));
		put_symbol(f, f->class_symbol, "pkg/Outer$Inner");
		fake_put_u16(&f->fake, f->class_symbol + 2, (uint16_t)i);
	}
	memset(f->fake.bytes, 0, sizeof(f->fake.bytes));
	assert_int_equal(
		method_names_find(f->names, f->method, f->const_method, last, bcp(f, 5), &frame),
		0);
	assert_string_equal(frame.method, "work");
	assert_int_equal(frame.line, 31);
	assert_int_equal(method_names_find(f->names, f->method, f->const_method, first, 0, &frame),
			 -ESTALE);
}

/* A method without a table of lines, and one whose table would lie behind its end. */
static void methods_without_lines(void **state)
{
	struct fixture *f = *state;
	const struct jvm_layout *l = &f->layout;
	struct java_frame frame;

	fake_put_u16(&f->fake, f->const_method + l->const_method_flags, 2);
	assert_int_equal(find(f, bcp(f, 5), &frame), 0);
	assert_int_equal(frame.line, 0);
	assert_int_equal(frame.bci, 5);
	assert_string_equal(frame.source, "Outer.java");
	for (uint16_t words = 0; words < 10; words++) {
		bool has = words * 8U > l->const_method_bytes + CODE_BYTES + 2;

		method_names_free(f->names);
		f->names = method_names_new(&f->fake.memory, &f->layout);
		fake_put_u16(&f->fake, f->const_method + l->const_method_flags, 3);
		fake_put_u16(&f->fake, f->const_method + l->const_method_size_words, words);
		assert_int_equal(find(f, bcp(f, 0), &frame), 0);
		assert_int_equal(frame.line, has ? 30 : 0);
	}
}

static void long_names_are_cut(void **state)
{
	struct fixture *f = *state;
	uint64_t symbol = fake_alloc(&f->fake, 40000);
	struct java_frame frame;

	fake_put_u16(&f->fake, symbol + f->layout.symbol_length, 30000);
	for (unsigned int i = 0; i < 30000; i++)
		fake_put(&f->fake, symbol + f->layout.symbol_body + i, i % 2 ? "\xa4" : "\xc3", 1);
	fake_put(&f->fake, symbol + f->layout.symbol_body, "\nab", 3);
	fake_put_u64(&f->fake, f->pool + f->layout.pool_bytes + 8 * NAME_INDEX, symbol);
	assert_int_equal(find(f, 0, &frame), 0);
	/* No half character at the end, no control character inside. */
	assert_string_equal(frame.method, "?ab");
}

static void garbage_is_refused(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	assert_int_equal(method_names_find(f->names, 0, 0, 0, 0, &frame), -EBADMSG);
	assert_int_equal(method_names_find(f->names, f->method + 1, f->const_method, 0, 0, &frame),
			 -EBADMSG);
	assert_int_equal(method_names_find(f->names, 8, 8, 0, 0, &frame), -EBADMSG);
	fake_put_u64(&f->fake, f->klass + 24, 0x10);
	assert_int_equal(find(f, 0, &frame), -EBADMSG);
	fake_put_u64(&f->fake, f->klass + 24, f->class_symbol);
	put_symbol(f, f->class_symbol, "");
	assert_int_equal(find(f, 0, &frame), -EBADMSG);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 16;
}

/* Single words of the chain overwritten by anything: an answer or an error, never a crash. */
static void random_damage(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;
	uint64_t seed = 1;

	for (unsigned int i = 0; i < 20000; i++) {
		uint64_t at = next_random(&seed) % (f->fake.used / 8) * 8;
		uint64_t value = next_random(&seed);
		uint64_t before;
		int r;

		if (value % 3)
			value = FAKE_BASE + value % FAKE_BYTES;
		memcpy(&before, f->fake.bytes + at, sizeof(before));
		memcpy(f->fake.bytes + at, &value, sizeof(value));
		r = find(f, bcp(f, i % 32), &frame);
		assert_true(r == 0 || r == -ESTALE || r == -EBADMSG);
		if (!r)
			assert_true(frame.class_name[0] && frame.method[0]);
		memcpy(f->fake.bytes + at, &before, sizeof(before));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_a_method, setup, teardown),
		cmocka_unit_test(names_a_method_of_jdk_8),
		cmocka_unit_test_setup_teardown(bci_out_of_the_code_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(another_const_method_is_stale, setup, teardown),
		cmocka_unit_test_setup_teardown(hidden_class_is_named_as_java_does, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_twin_is_noticed, setup, teardown),
		cmocka_unit_test_setup_teardown(another_method_of_the_class_is_noticed, setup,
						teardown),
		cmocka_unit_test_setup_teardown(places_of_two_methods, setup, teardown),
		cmocka_unit_test_setup_teardown(without_an_identity_the_method_of_now_is_taken,
						setup, teardown),
		cmocka_unit_test_setup_teardown(an_obsolete_method_keeps_its_name, setup, teardown),
		cmocka_unit_test_setup_teardown(a_source_that_cannot_be_read_costs_no_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(counting_references_changes_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(what_was_read_is_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_of_two_classes, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_of_another_class_are_not_kept, setup,
						teardown),
		cmocka_unit_test_setup_teardown(the_cache_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(methods_without_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(long_names_are_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(garbage_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(random_damage, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
