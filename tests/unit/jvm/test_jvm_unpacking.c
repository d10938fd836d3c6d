// SPDX-License-Identifier: Apache-2.0
/* What a JVM tells of the frames that it puts in the place of compiled ones: all of it, or nothing counts. */
#include "test.h"

#include "fake_vm.h"
#include "jvm/layout/jvm_unpacking.h"

#define FIELDS 4
#define TYPES  2

static struct fake_field fields[FIELDS];
static struct fake_type types[TYPES];

/* As JDK 17 says. */
static void begin(void)
{
	const struct fake_field told[FIELDS] = {
		{ "JavaThread", "_vframe_array_head", 712, 0 },
		{ "vframeArray", "_frames", 172, 0 },
		{ "vframeArrayElement", "_bci", 48, 0 },
		{ "vframeArrayElement", "_method", 56, 0 },
	};
	const struct fake_type sizes[TYPES] = { { "vframeArray", 5464 },
						{ "vframeArrayElement", 88 } };

	memcpy(fields, told, sizeof(told));
	memcpy(types, sizes, sizeof(sizes));
}

static struct wire_unpacking read_told(void)
{
	struct jvm_layout layout = { .const_method_bytes = 48 };
	static struct fake_vm vm;

	fake_init(&vm.fake);
	fake_vm_open(&vm, fields, FIELDS, types, TYPES);
	jvm_unpacking_read(vm.vs, &layout);
	fake_vm_release(&vm);
	return layout.wire.unpacking;
}

static void where_things_lie(void **state)
{
	struct wire_unpacking told;

	(void)state;
	begin();
	told = read_told();
	assert_int_equal(told.array, 712);
	assert_int_equal(told.frames, 172);
	assert_int_equal(told.elements, 5376);
	assert_int_equal(told.element_bytes, 88);
	assert_int_equal(told.method, 56);
	assert_int_equal(told.bci, 48);
	assert_int_equal(told.bytecodes, 48);
}

static void expect_nothing(void)
{
	const struct wire_unpacking none = { 0 };
	struct wire_unpacking told = read_told();

	assert_memory_equal(&told, &none, sizeof(none));
	begin();
}

static void one_of_them_is_missing(void **state)
{
	(void)state;
	begin();
	for (unsigned int i = 0; i < FIELDS; i++) {
		fields[i].name = "_other";
		expect_nothing();
		fields[i].value = 0x10000;
		expect_nothing();
		fields[i].value = 0xffff;
		assert_int_equal(read_told().element_bytes, 88);
		begin();
	}
	for (unsigned int i = 0; i < TYPES; i++) {
		types[i].name = "Other";
		expect_nothing();
	}
}

static void sizes_that_cannot_be(void **state)
{
	(void)state;
	begin();
	types[0].size = 0x10000;
	expect_nothing();
	types[0].size = 87;
	expect_nothing();
	types[1].size = 5464;
	assert_int_equal(read_told().elements, 0);
	begin();
	types[0].size = 0xffff;
	assert_int_equal(read_told().elements, 0xffff - 88);
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
