/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of methods, read with their names. */
#include "test.h"

#include "method_fixture.h"

static struct java_frame find_anew(struct fixture *f)
{
	struct java_frame frame;

	method_names_free(f->names);
	f->names = method_names_new(&f->fake.memory, &f->layout);
	assert_int_equal(find(f, bcp(f, 5), &frame), 0);
	assert_string_equal(frame.method, "work");
	return frame;
}

/* What is none, is longer than it may be, or is not there: the name is whole without it. */
static void a_descriptor_that_is_none_costs_no_name(void **state)
{
	struct fixture *f = *state;
	char text[JAVA_MAX_DESCRIPTOR + 2];

	put_symbol(f, f->descriptor_symbol, "work");
	assert_string_equal(find_anew(f).descriptor, "");
	memset(text, 'I', sizeof(text));
	text[0] = '(';
	memcpy(text + JAVA_MAX_DESCRIPTOR - 2, ")V", 3);
	put_symbol(f, f->descriptor_symbol, text);
	assert_string_equal(find_anew(f).descriptor, text);
	memcpy(text + JAVA_MAX_DESCRIPTOR - 2, "I)V", 4);
	put_symbol(f, f->descriptor_symbol, text);
	assert_string_equal(find_anew(f).descriptor, "");
	fake_put_u64(&f->fake, f->pool + f->layout.pool_bytes + 8 * DESCRIPTOR_INDEX, 0);
	assert_string_equal(find_anew(f).descriptor, "");
}

/* A name and its descriptor come in the same reads. */
static void a_descriptor_costs_no_read(void **state)
{
	struct fixture *f = *state;
	unsigned int before, with;

	before = f->fake.reads;
	assert_string_equal(find_anew(f).descriptor, DESCRIPTOR);
	with = f->fake.reads - before;
	fake_put_u64(&f->fake, f->pool + f->layout.pool_bytes + 8 * DESCRIPTOR_INDEX, 0);
	before = f->fake.reads;
	assert_string_equal(find_anew(f).descriptor, "");
	assert_int_equal(f->fake.reads - before, with);
}

/* Two methods of one name and one class. */
static void overloads_have_their_own(void **state)
{
	struct fixture *f = *state;
	uint64_t before = identity(f);
	struct java_frame frame;

	assert_int_equal(find(f, bcp(f, 0), &frame), 0);
	put_symbol(f, f->source_symbol, "()V");
	fake_put_u16(&f->fake, f->const_method + f->layout.const_method_signature_index,
		     SOURCE_INDEX);
	assert_int_equal(find(f, bcp(f, 0), &frame), 0);
	assert_string_equal(frame.method, "work");
	assert_string_equal(frame.descriptor, "()V");
	assert_int_equal(method_names_find(f->names, f->method, f->const_method, before, 0, &frame),
			 0);
	assert_string_equal(frame.descriptor, DESCRIPTOR);
}

static struct fixture *changing;

/* Behind the text the pool has another one. */
static int read_while_changing(const struct vm_memory *memory, const struct vm_span *spans,
			       unsigned int count)
{
	const struct jvm_layout *l = &changing->layout;
	int r = 0;

	for (unsigned int i = 0; i < count && !r; i++) {
		r = fake_read(memory, &spans[i], 1);
		if (spans[i].address == changing->descriptor_symbol)
			fake_put_u64(&changing->fake,
				     changing->pool + l->pool_bytes + 8 * DESCRIPTOR_INDEX,
				     changing->source_symbol);
	}
	return r;
}

static void another_one_while_it_was_read(void **state)
{
	struct fixture *f = *state;
	struct java_frame frame;

	changing = f;
	method_names_free(f->names);
	f->fake.memory.read = read_while_changing;
	f->names = method_names_new(&f->fake.memory, &f->layout);
	assert_int_equal(find(f, bcp(f, 5), &frame), -ESTALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_descriptor_that_is_none_costs_no_name, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_descriptor_costs_no_read, setup, teardown),
		cmocka_unit_test_setup_teardown(overloads_have_their_own, setup, teardown),
		cmocka_unit_test_setup_teardown(another_one_while_it_was_read, setup, teardown),
	};

	return cmocka_run_group_tests_name("method_descriptor", tests, NULL, NULL);
}
