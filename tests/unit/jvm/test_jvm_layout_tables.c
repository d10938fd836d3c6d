/* SPDX-License-Identifier: Apache-2.0 */
/* A layout from tables that lack something, have it elsewhere, or are another release's. */
#include "test.h"

#include "jvm/layout/jvm_layout_read.h"
#include "jvm_fixture.h"

/* 17, whose tables know FIELD of TYPE as OFFSET; -1: not at all. */
static struct fake_jvm *make(const char *type, const char *field, int64_t offset)
{
	struct fake_jvm *f = fake_jvm_fill(17, false);
	struct jvm_fields fields = { .count = 0 };

	jvm_add_shape(f, &fields);
	jvm_add_statics(f, &fields);
	for (size_t i = 0; i < fields.count; i++) {
		if (strcmp(fields.items[i].type, type) || strcmp(fields.items[i].name, field))
			continue;
		if (offset < 0)
			fields.items[i].type = "Other";
		else
			fields.items[i].value = (uint64_t)offset;
	}
	jvm_fill_tables(f, &fields);
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	return f;
}

static int read_layout(const struct fake_jvm *f, struct jvm_layout *ret_layout, struct err *err)
{
	*err = (struct err){ 0 };
	return jvm_layout_read(f->vm.vs, ret_layout, err);
}

static struct jvm_layout layout_with(const char *type, const char *field, int64_t offset)
{
	struct fake_jvm *f = make(type, field, offset);
	struct jvm_layout layout;
	struct err err;

	if (read_layout(f, &layout, &err))
		fail_msg("%s", err.text);
	fake_jvm_free(f);
	return layout;
}

static void expect_failure(const char *type, const char *field, int64_t offset, int code,
			   const char *text)
{
	struct fake_jvm *f = make(type, field, offset);
	struct jvm_layout layout;
	struct err err;

	assert_int_equal(read_layout(f, &layout, &err), code);
	assert_string_equal(err.text, text);
	fake_jvm_free(f);
}

static uint32_t u32_at(const struct jvm_layout *layout, size_t slot)
{
	uint32_t value;

	memcpy(&value, (const char *)layout + slot, sizeof(value));
	return value;
}

#define SLOT(name) offsetof(struct jvm_layout, name)

static const struct {
	const char *type, *field;
	size_t slot;
	bool optional;
} wanted[] = {
	{ "Method", "_constMethod", SLOT(method_const_method), false },
	{ "ConstMethod", "_constants", SLOT(const_method_constants), false },
	{ "ConstMethod", "_constMethod_size", SLOT(const_method_size_words), false },
	{ "ConstMethod", "_code_size", SLOT(const_method_code_size), false },
	{ "ConstMethod", "_name_index", SLOT(const_method_name_index), false },
	{ "ConstMethod", "_signature_index", SLOT(const_method_signature_index), false },
	{ "ConstMethod", "_flags", SLOT(const_method_flags), true },
	{ "ConstantPool", "_pool_holder", SLOT(pool_holder), false },
	{ "ConstantPool", "_source_file_name_index", SLOT(pool_source_index), true },
	{ "Klass", "_name", SLOT(klass_name), false },
	{ "Symbol", "_length", SLOT(symbol_length), false },
	{ "Symbol", "_body", SLOT(symbol_body), false },
};

static void fields_of_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		const char *type = wanted[i].type, *field = wanted[i].field;
		struct jvm_layout layout = layout_with(type, field, JVM_LAYOUT_MAX_STRUCT);
		char text[128];

		assert_int_equal(u32_at(&layout, wanted[i].slot), JVM_LAYOUT_MAX_STRUCT);
		layout = layout_with(type, field, 48);
		assert_int_equal(u32_at(&layout, wanted[i].slot), 48);
		snprintf(text, sizeof(text), "%s.%s lies at an impossible offset", type, field);
		expect_failure(type, field, JVM_LAYOUT_MAX_STRUCT + 1, -EBADMSG, text);
		snprintf(text, sizeof(text), "this JVM's VMStructs have no %s.%s", type, field);
		if (!wanted[i].optional) {
			expect_failure(type, field, -1, -EOPNOTSUPP, text);
			continue;
		}
		layout = layout_with(type, field, -1);
		assert_int_equal(u32_at(&layout, wanted[i].slot), JVM_LAYOUT_ABSENT);
	}
}

/* Sizes of the two structs that something lies behind. */
static int read_sizes(uint64_t const_method, uint64_t pool, struct jvm_layout *ret_layout,
		      struct err *err)
{
	const struct fake_type types[] = {
		{ const_method ? "ConstMethod" : "Other", const_method },
		{ pool ? "ConstantPool" : "Other", pool },
		{ "InterpreterCodelet", 16 },
		{ "HeapBlock", 16 },
		{ "JVMFlag", 32 },
	};
	struct fake_jvm *f = fake_jvm_fill(17, false);
	struct jvm_fields fields = { .count = 0 };
	int r;

	jvm_add_shape(f, &fields);
	jvm_add_statics(f, &fields);
	fake_vm_fill(&f->vm, fields.items, fields.count, types, ARRAY_SIZE(types));
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	r = read_layout(f, ret_layout, err);
	fake_jvm_free(f);
	return r;
}

static void sizes_of_structs(void **state)
{
	struct jvm_layout layout;
	struct err err;

	(void)state;
	assert_int_equal(read_sizes(4096, 4096, &layout, &err), 0);
	assert_int_equal(layout.const_method_bytes, 4096);
	assert_int_equal(layout.pool_bytes, 4096);
	assert_int_equal(read_sizes(4097, 72, &layout, &err), -EBADMSG);
	assert_string_equal(err.text, "ConstMethod has an impossible size");
	assert_int_equal(read_sizes(56, 4097, &layout, &err), -EBADMSG);
	assert_string_equal(err.text, "ConstantPool has an impossible size");
	assert_int_equal(read_sizes(0, 72, &layout, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this JVM's VMStructs have no ConstMethod");
	assert_int_equal(read_sizes(56, 0, &layout, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this JVM's VMStructs have no ConstantPool");
}

/* Ids of name and signature are read as one word when they lie behind the code's size. */
static void ids_of_a_method(void **state)
{
	(void)state;
	assert_int_equal(layout_with("", "", 0).wire.const_method_ids, 32);
	assert_int_equal(layout_with("ConstMethod", "_name_index", 36).wire.const_method_ids, 0);
	assert_int_equal(layout_with("ConstMethod", "_signature_index", 34).wire.const_method_ids,
			 0);
	assert_int_equal(layout_with("ConstMethod", "_code_size", 30).wire.const_method_ids, 0);
}

/* Up to JDK 11 the reference count follows a symbol's length. */
static void what_never_changes_of_a_symbol(void **state)
{
	(void)state;
	assert_true(layout_with("Symbol", "_length", 4).symbol_mask == 0xffffffffffff0000ULL);
	assert_true(layout_with("Symbol", "_length", 0).symbol_mask == 0xffffffff0000ffffULL);
	assert_true(layout_with("Symbol", "_length", 1).wire.symbol_mask == 0xffffffffffff0000ULL);
}

/* --- releases --- */

static void what_releases_differ_in(void **state)
{
	static const struct {
		int32_t release;
		int bcp_slot, bias;
	} cases[] = { { 8, -7, 0 },  { 9, -8, 0 },  { 11, -8, 0 }, { 19, -8, 0 },
		      { 20, -8, 1 }, { 28, -8, 1 }, { 7, -7, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct fake_jvm *f = make("", "", 0);
		struct jvm_layout layout;
		struct err err;

		jvm_put_i32(f, f->at_major, cases[i].release);
		if (read_layout(f, &layout, &err))
			fail_msg("%s", err.text);
		assert_int_equal(layout.feature_release, cases[i].release);
		assert_int_equal(layout.bcp_slot, cases[i].bcp_slot);
		assert_int_equal(layout.wire.bcp_slot, cases[i].bcp_slot);
		assert_int_equal(layout.unsigned5_bias, cases[i].bias);
		assert_int_equal(layout.method_slot, -3);
		assert_int_equal(layout.sender_sp_slot, -1);
		fake_jvm_free(f);
	}
	expect_failure("Abstract_VM_Version", "_vm_major_version", -1, -EOPNOTSUPP,
		       "cannot tell which Java release this JVM is");
}

/* --- the interpreter --- */

static int read_queue_of(struct fake_jvm *f, int32_t release, int32_t limit, int32_t end,
			 struct jvm_layout *ret_layout)
{
	struct err err;

	jvm_put_i32(f, f->at_major, release);
	jvm_put_queue(f, limit, end);
	return read_layout(f, ret_layout, &err);
}

/* A buffer that is still being filled; before JDK 11 it stays larger than what is in it. */
static void an_interpreter_that_is_made(void **state)
{
	struct fake_jvm *f = make("", "", 0);
	struct jvm_layout layout;

	(void)state;
	assert_int_equal(read_queue_of(f, 11, 640, 639, &layout), -EAGAIN);
	assert_int_equal(read_queue_of(f, 11, 640, 640, &layout), 0);
	assert_int_equal(read_queue_of(f, 10, 640, 448, &layout), 0);
	assert_true(layout.interpreter_end == f->interpreter + 640);
	assert_int_equal(layout.wire.entry_count, 4);
	assert_int_equal(read_queue_of(f, 10, 640, 641, &layout), -EBADMSG);
	assert_int_equal(read_queue_of(f, 10, 640, -1, &layout), -EBADMSG);
	assert_int_equal(read_queue_of(f, 10, 640, 0, &layout), 0);
	assert_int_equal(read_queue_of(f, 10, 0, 0, &layout), -EBADMSG);
	assert_int_equal(read_queue_of(f, 10, 1, 0, &layout), 0);
	assert_int_equal(read_queue_of(f, 10, 16 << 20, 0, &layout), 0);
	assert_int_equal(read_queue_of(f, 10, (16 << 20) + 1, 0, &layout), -EBADMSG);
	fake_jvm_free(f);
}

/* It lies in the code cache, with its first byte and its last. */
static void where_an_interpreter_lies(void **state)
{
	struct fake_jvm *f = make("", "", 0);
	struct jvm_layout layout;

	(void)state;
	fake_put_u64(&f->vm.fake, f->heap_object + 16, f->heap + JVM_HEAP_BYTES);
	f->interpreter = f->heap;
	assert_int_equal(read_queue_of(f, 10, 640, 0, &layout), 0);
	f->interpreter--;
	assert_int_equal(read_queue_of(f, 10, 640, 0, &layout), -EBADMSG);
	f->interpreter = f->heap + JVM_HEAP_BYTES - 640;
	assert_int_equal(read_queue_of(f, 10, 640, 0, &layout), 0);
	f->interpreter++;
	assert_int_equal(read_queue_of(f, 10, 640, 0, &layout), -EBADMSG);
	fake_jvm_free(f);
}

static void an_interpreter_that_is_not_told(void **state)
{
	static const char *const fields[][2] = { { "AbstractInterpreter", "_code" },
						 { "StubQueue", "_stub_buffer" },
						 { "StubQueue", "_buffer_limit" },
						 { "StubQueue", "_queue_end" } };
	struct fake_jvm *f;
	struct jvm_layout layout;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		f = make(fields[i][0], fields[i][1], -1);
		assert_int_equal(read_layout(f, &layout, &err), -ENODATA);
		assert_non_null(strstr(err.text, "cannot read where the JVM's interpreter lies"));
		fake_jvm_free(f);
	}
	f = make("", "", 0);
	fake_put_u64(&f->vm.fake, f->at_code, 0);
	assert_int_equal(read_layout(f, &layout, &err), -EAGAIN);
	assert_string_equal(err.text, "the JVM is still starting");
	fake_jvm_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_names),
		cmocka_unit_test(sizes_of_structs),
		cmocka_unit_test(ids_of_a_method),
		cmocka_unit_test(what_never_changes_of_a_symbol),
		cmocka_unit_test(what_releases_differ_in),
		cmocka_unit_test(an_interpreter_that_is_made),
		cmocka_unit_test(where_an_interpreter_lies),
		cmocka_unit_test(an_interpreter_that_is_not_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
