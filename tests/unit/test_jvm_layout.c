/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "fake_vm.h"
#include "jvm/jvm_layout.h"

#define CODE_START 0x7f0010000000ULL
#define CODE_BYTES 0xf000000ULL
#define BUFFER	   (CODE_START + 0x8b80)

struct layout_vm {
	struct fake_vm vm;
	uint64_t code, low, high, major; /* statics */
	uint64_t queue;			 /* the interpreter's StubQueue */
	uint64_t heap;			 /* JDK 8's CodeHeap */
};

static const struct fake_field common_fields[] = {
	{ "Method", "_constMethod", 8, 0 },
	{ "ConstMethod", "_constants", 8, 0 },
	{ "ConstMethod", "_constMethod_size", 24, 0 },
	{ "ConstMethod", "_code_size", 32, 0 },
	{ "ConstMethod", "_name_index", 34, 0 },
	{ "ConstMethod", "_signature_index", 36, 0 },
	{ "ConstantPool", "_pool_holder", 24, 0 },
	{ "Klass", "_name", 24, 0 },
	{ "Symbol", "_length", 4, 0 },
	{ "Symbol", "_body", 6, 0 },
	{ "StubQueue", "_stub_buffer", 8, 0 },
	{ "StubQueue", "_buffer_limit", 20, 0 },
	{ "StubQueue", "_queue_end", 28, 0 },
};

#define COMMON ARRAY_SIZE(common_fields)

static void put_queue(struct layout_vm *f, int32_t limit, int32_t end)
{
	fake_put_u64(&f->vm.fake, f->queue + 8, BUFFER);
	fake_put(&f->vm.fake, f->queue + 20, &limit, sizeof(limit));
	fake_put(&f->vm.fake, f->queue + 28, &end, sizeof(end));
}

static struct layout_vm *layout_vm_begin(int32_t major)
{
	struct layout_vm *f = calloc(1, sizeof(*f));
	struct fake_memory *fake = &f->vm.fake;

	fake_init(fake);
	f->code = fake_alloc(fake, 8);
	f->low = fake_alloc(fake, 8);
	f->high = fake_alloc(fake, 8);
	f->major = fake_alloc(fake, 8);
	f->queue = fake_alloc(fake, 48);
	f->heap = fake_alloc(fake, 280);
	fake_put_u64(fake, f->code, f->queue);
	fake_put(fake, f->major, &major, sizeof(major));
	return f;
}

static struct layout_vm *layout_vm_new(int32_t major, const char *flags_field)
{
	struct layout_vm *f = layout_vm_begin(major);
	const struct fake_field own[] = {
		{ "ConstMethod", flags_field, 28, 0 },
		{ "ConstantPool", "_source_file_name_index", 54, 0 },
		{ "AbstractInterpreter", "_code", f->code, 1 },
		{ "CodeCache", "_low_bound", f->low, 1 },
		{ "CodeCache", "_high_bound", f->high, 1 },
		{ "Abstract_VM_Version", "_vm_major_version", f->major, 1 },
	};
	const struct fake_type types[] = { { "ConstMethod", 56 }, { "ConstantPool", 72 } };
	struct fake_field fields[COMMON + ARRAY_SIZE(own)];

	memcpy(fields, common_fields, sizeof(common_fields));
	memcpy(fields + COMMON, own, sizeof(own));
	fake_put_u64(&f->vm.fake, f->low, CODE_START);
	fake_put_u64(&f->vm.fake, f->high, CODE_START + CODE_BYTES);
	put_queue(f, 97600, 97600);
	fake_vm_open(&f->vm, fields, ARRAY_SIZE(fields), types, ARRAY_SIZE(types));
	return f;
}

/* One CodeHeap, the source file in the class, no mirror in frames, a buffer with room left. */
static struct layout_vm *layout_vm_new_8(void)
{
	struct layout_vm *f = layout_vm_begin(25);
	const struct fake_field own[] = {
		{ "ConstMethod", "_flags", 28, 0 },
		{ "InstanceKlass", "_source_file_name_index", 258, 0 },
		{ "AbstractInterpreter", "_code", f->code, 1 },
		{ "CodeCache", "_heap", f->low, 1 },
		{ "CodeHeap", "_memory", 16, 0 },
		{ "VirtualSpace", "_low_boundary", 0, 0 },
		{ "VirtualSpace", "_high_boundary", 8, 0 },
		{ "Abstract_VM_Version", "_vm_major_version", f->major, 1 },
	};
	const struct fake_type types[] = { { "ConstMethod", 48 },
					   { "ConstantPool", 80 },
					   { "Flag", 32 } };
	struct fake_field fields[COMMON + ARRAY_SIZE(own)];

	memcpy(fields, common_fields, sizeof(common_fields));
	memcpy(fields + COMMON, own, sizeof(own));
	fake_put_u64(&f->vm.fake, f->low, f->heap);
	fake_put_u64(&f->vm.fake, f->heap + 16, CODE_START);
	fake_put_u64(&f->vm.fake, f->heap + 24, CODE_START + CODE_BYTES);
	put_queue(f, 262144, 145408);
	fake_vm_open(&f->vm, fields, ARRAY_SIZE(fields), types, ARRAY_SIZE(types));
	return f;
}

static int setup(void **state)
{
	*state = layout_vm_new(21, "_flags._flags");
	return 0;
}

static int teardown(void **state)
{
	struct layout_vm *f = *state;

	fake_vm_release(&f->vm);
	free(f);
	return 0;
}

static int read_layout(struct layout_vm *f, struct jvm_layout *ret_layout)
{
	struct err err = { 0 };

	return jvm_layout_read(f->vm.vs, ret_layout, &err);
}

static void layout_of_21(void **state)
{
	struct jvm_layout layout;
	struct wire_jvm wire;

	assert_int_equal(read_layout(*state, &layout), 0);
	assert_int_equal(layout.feature_release, 21);
	assert_int_equal(layout.const_method_flags, 28);
	assert_int_equal(layout.pool_source_index, 54);
	assert_int_equal(layout.klass_source_index, JVM_LAYOUT_ABSENT);
	assert_int_equal(layout.const_method_bytes, 56);
	assert_int_equal(layout.pool_bytes, 72);
	assert_int_equal(layout.unsigned5_bias, 1);
	jvm_layout_to_wire(&layout, &wire);
	assert_true(wire.interpreter_start == BUFFER);
	assert_true(wire.interpreter_end == BUFFER + 97600);
	assert_true(wire.code_start == CODE_START);
	assert_true(wire.code_end == CODE_START + CODE_BYTES);
	assert_int_equal(wire.method_const_method, 8);
	assert_int_equal(wire.method_slot, -3);
	assert_int_equal(wire.bcp_slot, -8);
	assert_int_equal(wire.sender_sp_slot, -1);
}

static void layout_of_8(void **state)
{
	struct layout_vm *f = layout_vm_new_8();
	struct jvm_layout layout;

	(void)state;
	assert_int_equal(read_layout(f, &layout), 0);
	assert_int_equal(layout.feature_release, 8);
	assert_int_equal(layout.bcp_slot, -7);
	assert_int_equal(layout.klass_source_index, 258);
	assert_int_equal(layout.pool_source_index, JVM_LAYOUT_ABSENT);
	assert_int_equal(layout.unsigned5_bias, 0);
	assert_true(layout.code_start == CODE_START);
	assert_true(layout.interpreter_end == BUFFER + 262144);
	fake_vm_release(&f->vm);
	free(f);
}

static void starting_jvm_says_try_again(void **state)
{
	struct layout_vm *f = *state;
	struct jvm_layout layout;

	put_queue(f, 300000, 5000); /* codelets are still being made */
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	fake_put_u64(&f->vm.fake, f->code, 0);
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	fake_put_u64(&f->vm.fake, f->low, 0);
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
}

static void impossible_ranges_are_refused(void **state)
{
	struct layout_vm *f = *state;
	struct jvm_layout layout;

	put_queue(f, -1, -1);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	put_queue(f, INT32_MAX, INT32_MAX);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	put_queue(f, 97600, 97600);
	fake_put_u64(&f->vm.fake, f->queue + 8, 0x1000);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_put_u64(&f->vm.fake, f->queue + 8, BUFFER);
	fake_put_u64(&f->vm.fake, f->high, CODE_START - 1);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
}

static void a_missing_field_is_named(void **state)
{
	struct layout_vm *f = layout_vm_begin(17);
	const struct fake_type types[] = { { "ConstMethod", 56 } };
	struct jvm_layout layout;
	struct err err = { 0 };

	(void)state;
	fake_vm_open(&f->vm, common_fields, 1, types, 1);
	assert_int_equal(jvm_layout_read(f->vm.vs, &layout, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this JVM's VMStructs have no ConstMethod._constants");
	fake_vm_release(&f->vm);
	free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(layout_of_21, setup, teardown),
		cmocka_unit_test(layout_of_8),
		cmocka_unit_test_setup_teardown(starting_jvm_says_try_again, setup, teardown),
		cmocka_unit_test_setup_teardown(impossible_ranges_are_refused, setup, teardown),
		cmocka_unit_test(a_missing_field_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
