// SPDX-License-Identifier: Apache-2.0
/* What a JVM tells of the frames that it puts in the place of compiled ones: all of it, or nothing counts. */
#include "test.h"

#include "jvm/layout/jvm_layout_read.h"
#include "jvm_fixture.h"

#define FIELDS 4

static const struct {
	const char *type, *name;
} fields[FIELDS] = {
	{ "JavaThread", "_vframe_array_head" },
	{ "vframeArray", "_frames" },
	{ "vframeArrayElement", "_bci" },
	{ "vframeArrayElement", "_method" },
};

/* Of JDK 17, which tells CHANGED of these as OFFSET, -1: not at all, and these sizes. */
static struct wire_unpacking told(unsigned int changed, int64_t offset, uint64_t array,
				  uint64_t element)
{
	struct fake_jvm *f = fake_jvm_fill(17, false);
	struct jvm_fields all = { .count = 0 };
	struct jvm_layout layout;
	struct err err = { 0 };

	jvm_add_shape(f, &all);
	jvm_add_statics(f, &all);
	f->array_bytes = array;
	f->element_bytes = element;
	for (size_t i = 0; changed < FIELDS && i < all.count; i++) {
		if (strcmp(all.items[i].type, fields[changed].type) ||
		    strcmp(all.items[i].name, fields[changed].name))
			continue;
		if (offset < 0)
			all.items[i].type = "Other";
		else
			all.items[i].value = (uint64_t)offset;
	}
	jvm_fill_tables(f, &all);
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	assert_int_equal(jvm_layout_read(f->vm.vs, &layout, &err), 0);
	fake_jvm_free(f);
	return layout.wire.unpacking;
}

static struct wire_unpacking told_sizes(uint64_t array, uint64_t element)
{
	return told(FIELDS, 0, array, element);
}

static void where_things_lie(void **state)
{
	struct wire_unpacking unpacking = told_sizes(5464, 88);

	(void)state;
	assert_int_equal(unpacking.array, 712);
	assert_int_equal(unpacking.frames, 172);
	assert_int_equal(unpacking.elements, 5376);
	assert_int_equal(unpacking.element_bytes, 88);
	assert_int_equal(unpacking.method, 56);
	assert_int_equal(unpacking.bci, 48);
	assert_int_equal(unpacking.bytecodes, 56);
}

static void expect_nothing(struct wire_unpacking unpacking)
{
	const struct wire_unpacking none = { 0 };

	assert_memory_equal(&unpacking, &none, sizeof(none));
}

static void one_of_them_is_missing(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < FIELDS; i++) {
		expect_nothing(told(i, -1, 5464, 88));
		expect_nothing(told(i, 0x10000, 5464, 88));
		assert_int_equal(told(i, 0xffff, 5464, 88).element_bytes, 88);
	}
}

static void sizes_that_cannot_be(void **state)
{
	(void)state;
	expect_nothing(told_sizes(0x10000, 88));
	expect_nothing(told_sizes(87, 88));
	assert_int_equal(told_sizes(88, 88).elements, 0);
	assert_int_equal(told_sizes(0xffff, 88).elements, 0xffff - 88);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_things_lie),
		cmocka_unit_test(one_of_them_is_missing),
		cmocka_unit_test(sizes_that_cannot_be),
	};

	return cmocka_run_group_tests_name("jvm_unpacking", tests, NULL, NULL);
}
