/* SPDX-License-Identifier: Apache-2.0 */
/* Where a code blob has its parts, told by tables of all shapes. */
#include "test.h"

#include "fake_vm.h"
#include "jvm/layout/jvm_blob_layout.h"

#define MAX_FIELDS 24
#define LAST	   (WIRE_BLOB_BYTES - 9) /* the highest offset that is taken */

struct shape {
	struct fake_field fields[MAX_FIELDS];
	size_t count;
	bool no_kind; /* no constant of nmethods' kind */
	uint64_t kind;
};

/* As JDK 17 has them, some elsewhere. */
static const struct shape shape_17 = {
	.fields = {
		{ "HeapBlock::Header", "_used:bool", 8, 0 },
		{ "CodeBlob", "_name", 96, 0 },
		{ "CodeBlob", "_size:int", 12, 0 },
		{ "CodeBlob", "_code_begin:address", 32, 0 },
		{ "CodeBlob", "_frame_complete_offset:int", 20, 0 },
		{ "CodeBlob", "_frame_size:int", 28, 0 },
		{ "CodeBlob", "_kind:CodeBlobKind", 56, 0 },
		{ "CompiledMethod", "_method", 112, 0 },
		{ "CompiledMethod", "_deopt_handler_begin:address", 128, 0 },
		{ "CompiledMethod", "_deopt_mh_handler_begin:address", 136, 0 },
		{ "nmethod", "_orig_pc_offset:int", 300, 0 },
		{ "nmethod", "_compile_id:int", 304, 0 },
	},
	.count = 12,
	.kind = 3,
};

/* NAME without its C++ type. */
static bool has_name(const struct fake_field *field, const char *type, const char *name)
{
	size_t len = strcspn(field->name, ":");

	return !strcmp(field->type, type) && strlen(name) == len && !memcmp(field->name, name, len);
}

static struct fake_field *field_of(struct shape *shape, const char *type, const char *name)
{
	for (size_t i = 0; i < shape->count; i++)
		if (has_name(&shape->fields[i], type, name))
			return &shape->fields[i];
	fail_msg("no %s::%s", type, name);
	return NULL;
}

static struct shape without(const char *type, const char *name)
{
	struct shape shape = shape_17;

	field_of(&shape, type, name)->type = "Other";
	return shape;
}

static struct shape with(struct shape shape, const char *type, const char *name, uint64_t offset)
{
	shape.fields[shape.count++] = (struct fake_field){ type, name, offset, 0 };
	return shape;
}

static int read_shape(const struct shape *shape, struct jvm_layout *ret_layout, struct err *err)
{
	const struct fake_type type = { "CodeBlob", 8 };
	const struct fake_type kind = { shape->no_kind ? "Other" : "CodeBlobKind::Nmethod",
					shape->kind };
	struct fake_vm *vm = calloc(1, sizeof(*vm));
	int r;

	fake_init(&vm->fake);
	fake_vm_fill(vm, shape->fields, shape->count, &type, 1);
	fake_vm_add_pairs(vm, VM_INTS, &kind, 1);
	fake_vm_add_pairs(vm, VM_LONGS, &kind, 1);
	assert_int_equal(vmstructs_open_memory(&vm->fake.memory, vm->symbols, &vm->vs), 0);
	memset(ret_layout, 0xff, sizeof(*ret_layout));
	*err = (struct err){ 0 };
	r = jvm_blob_layout_read(vm->vs, ret_layout, err);
	fake_vm_release(vm);
	free(vm);
	return r;
}

static struct jvm_layout layout_of(struct shape shape)
{
	struct jvm_layout layout;
	struct err err;

	if (read_shape(&shape, &layout, &err))
		fail_msg("%s", err.text);
	return layout;
}

static void expect_failure(struct shape shape, int code, const char *text)
{
	struct jvm_layout layout;
	struct err err;

	assert_int_equal(read_shape(&shape, &layout, &err), code);
	assert_string_equal(err.text, text);
}

static void all_of_it(void **state)
{
	struct jvm_layout layout = layout_of(shape_17);
	const struct wire_jvm *wire = &layout.wire;

	(void)state;
	assert_int_equal(wire->blob_size, 12);
	assert_int_equal(wire->frame_size, 28);
	assert_int_equal(wire->orig_pc, 300);
	assert_int_equal(wire->compile_id, 304);
	assert_int_equal(wire->frame_complete, 20);
	assert_int_equal(wire->frame_complete_bytes, 4);
	assert_int_equal(wire->code_begin, 32);
	assert_int_equal(wire->code_begin_kind, WIRE_CODE_BEGIN_POINTER);
	assert_int_equal(wire->deopt, 128);
	assert_int_equal(wire->deopt_mh, 136);
	assert_int_equal(wire->deopt_kind, WIRE_DEOPT_POINTER);
	/* Up to the last byte of the farthest field, in whole words. */
	assert_int_equal(wire->blob_bytes, 312);
	assert_int_equal(layout.block_used, 8);
	assert_int_equal(layout.blob_name, 96);
	assert_int_equal(layout.blob_kind, 56);
	assert_int_equal(layout.blob_kind_nmethod, 3);
	assert_int_equal(layout.nmethod_method, 112);
}

static void what_is_needed(void **state)
{
	static const char *const fields[][2] = { { "CodeBlob", "_size" },
						 { "CodeBlob", "_frame_size" },
						 { "nmethod", "_orig_pc_offset" },
						 { "nmethod", "_compile_id" },
						 { "CodeBlob", "_frame_complete_offset" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		struct shape far = shape_17;
		char text[128];

		snprintf(text, sizeof(text), "this JVM's VMStructs have no %s of code blobs",
			 fields[i][1]);
		expect_failure(without(fields[i][0], fields[i][1]), -EOPNOTSUPP, text);
		field_of(&far, fields[i][0], fields[i][1])->value = LAST;
		layout_of(far);
		field_of(&far, fields[i][0], fields[i][1])->value = LAST + 1;
		snprintf(text, sizeof(text), "%s of code blobs lies at an impossible offset",
			 fields[i][1]);
		expect_failure(far, -EBADMSG, text);
	}
}

/* A blob is read as far as one of its fields goes, whichever that is. */
static void how_much_is_read(void **state)
{
	static const struct {
		uint64_t offset;
		unsigned int bytes;
	} cases[] = { { 304, 312 }, { 308, 312 }, { 309, 320 }, { 312, 320 }, { 316, 320 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct shape shape = shape_17;

		field_of(&shape, "CodeBlob", "_frame_size")->value = cases[i].offset;
		assert_int_equal(layout_of(shape).wire.blob_bytes, cases[i].bytes);
	}
	/* A pointer has eight. */
	for (uint64_t offset = 304; offset <= 312; offset += 4) {
		struct shape shape = shape_17;

		field_of(&shape, "CompiledMethod", "_deopt_mh_handler_begin")->value = offset;
		assert_int_equal(layout_of(shape).wire.blob_bytes, offset == 304 ? 312 : 320);
	}
}

/* Numbers may be wider or narrower than thought: then they are not those. */
static void types_of_fields(void **state)
{
	static const struct {
		const char *name;
		unsigned int bytes; /* of the frame's completeness; 0: not taken */
	} cases[] = {
		{ "_frame_complete_offset:int", 4 },	 { "_frame_complete_offset:int32_t", 4 },
		{ "_frame_complete_offset:int16_t", 2 }, { "_frame_complete_offset:uint16_t", 2 },
		{ "_frame_complete_offset:short", 2 },	 { "_frame_complete_offset:u2", 2 },
		{ "_frame_complete_offset:address", 0 }, { "_frame_complete_offset:jlong", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct shape shape = shape_17;
		struct jvm_layout layout;

		field_of(&shape, "CodeBlob", "_frame_complete_offset")->name = cases[i].name;
		if (!cases[i].bytes) {
			expect_failure(shape, -EOPNOTSUPP,
				       "this JVM's VMStructs have no _frame_complete_offset of "
				       "code blobs");
			continue;
		}
		layout = layout_of(shape);
		assert_int_equal(layout.wire.frame_complete, 20);
		assert_int_equal(layout.wire.frame_complete_bytes, cases[i].bytes);
	}
	expect_failure(with(without("CodeBlob", "_size"), "CodeBlob", "_size:int16_t", 12),
		       -EOPNOTSUPP, "this JVM's VMStructs have no _size of code blobs");
}

/* A static of that name is no field. */
static void statics_are_no_fields(void **state)
{
	struct shape shape = shape_17;

	(void)state;
	field_of(&shape, "CodeBlob", "_size")->is_static = 1;
	expect_failure(shape, -EOPNOTSUPP, "this JVM's VMStructs have no _size of code blobs");
}

static void where_code_begins(void **state)
{
	struct shape none = without("CodeBlob", "_code_begin");
	struct shape offset = with(none, "CodeBlob", "_code_offset:int", 40);
	struct jvm_layout layout = layout_of(offset);

	(void)state;
	assert_int_equal(layout.wire.code_begin, 40);
	assert_int_equal(layout.wire.code_begin_kind, WIRE_CODE_BEGIN_OFFSET);
	/* A pointer counts first. */
	layout = layout_of(with(shape_17, "CodeBlob", "_code_offset:int", 40));
	assert_int_equal(layout.wire.code_begin, 32);
	assert_int_equal(layout.wire.code_begin_kind, WIRE_CODE_BEGIN_POINTER);
	expect_failure(none, -EOPNOTSUPP, "this JVM's VMStructs have no _code_begin of code blobs");
	expect_failure(with(none, "CodeBlob", "_code_offset:int", LAST + 1), -EBADMSG,
		       "_code_begin of code blobs lies at an impossible offset");
	expect_failure(with(none, "CodeBlob", "_code_begin:address", LAST + 1), -EBADMSG,
		       "_code_begin of code blobs lies at an impossible offset");
}

static void expect_deopt(struct shape shape, enum wire_deopt kind, unsigned int deopt,
			 unsigned int mh)
{
	struct jvm_layout layout = layout_of(shape);

	assert_int_equal(layout.wire.deopt_kind, kind);
	assert_int_equal(layout.wire.deopt, deopt);
	assert_int_equal(layout.wire.deopt_mh, mh);
}

/* By the names of JDK 26, 25, 8, and 9 to 22; without one of them a walk goes without. */
static void where_frames_are_deoptimised(void **state)
{
	static const char far[] =
		"deoptimisation handler of code blobs lies at an impossible offset";
	struct shape none = without("CompiledMethod", "_deopt_handler_begin"), shape;

	(void)state;
	expect_deopt(none, WIRE_DEOPT_NONE, WIRE_JVM_ABSENT, WIRE_JVM_ABSENT);
	shape = with(none, "nmethod", "_deoptimize_offset:int", 148);
	expect_deopt(shape, WIRE_DEOPT_OFFSET, 148, WIRE_JVM_ABSENT);
	shape = with(shape, "nmethod", "_deoptimize_mh_offset:int", 152);
	expect_deopt(shape, WIRE_DEOPT_OFFSET, 148, 152);
	shape = with(shape, "nmethod", "_deopt_handler_offset:int", 176);
	expect_deopt(shape, WIRE_DEOPT_OFFSET, 176, WIRE_JVM_ABSENT);
	shape = with(shape, "nmethod", "_deopt_mh_handler_offset:int", 180);
	expect_deopt(shape, WIRE_DEOPT_OFFSET, 176, 180);
	shape = with(shape, "nmethod", "_deopt_handler_entry_offset:int", 184);
	expect_deopt(shape, WIRE_DEOPT_OFFSET, 184, WIRE_JVM_ABSENT);
	/* Without a second one for method handles. */
	expect_deopt(without("CompiledMethod", "_deopt_mh_handler_begin"), WIRE_DEOPT_POINTER, 128,
		     WIRE_JVM_ABSENT);
	expect_failure(with(none, "nmethod", "_deopt_handler_offset:int", LAST + 1), -EBADMSG, far);
	shape = with(none, "nmethod", "_deopt_handler_offset:int", LAST + 1);
	shape = with(shape, "nmethod", "_deopt_mh_handler_offset:int", 180);
	expect_failure(shape, -EBADMSG, far);
	shape = with(none, "nmethod", "_deopt_handler_offset:int", 176);
	shape = with(shape, "nmethod", "_deopt_mh_handler_offset:int", LAST + 1);
	expect_failure(shape, -EBADMSG, far);
	/* An offset is no pointer. */
	shape = with(none, "CompiledMethod", "_deopt_handler_begin:int", 128);
	expect_deopt(shape, WIRE_DEOPT_NONE, WIRE_JVM_ABSENT, WIRE_JVM_ABSENT);
	shape = with(none, "nmethod", "_deopt_handler_offset:address", 176);
	expect_deopt(shape, WIRE_DEOPT_NONE, WIRE_JVM_ABSENT, WIRE_JVM_ABSENT);
}

/* What names need is no part of the walk: it may lack. */
static void what_names_need(void **state)
{
	struct shape shape = shape_17;
	struct jvm_layout layout;

	(void)state;
	assert_int_equal(layout_of(without("HeapBlock::Header", "_used")).block_used,
			 JVM_LAYOUT_ABSENT);
	assert_int_equal(layout_of(without("CodeBlob", "_name")).blob_name, JVM_LAYOUT_ABSENT);
	assert_int_equal(layout_of(without("CodeBlob", "_kind")).blob_kind, JVM_LAYOUT_ABSENT);
	assert_int_equal(layout_of(without("CompiledMethod", "_method")).nmethod_method,
			 JVM_LAYOUT_ABSENT);
	layout = layout_of(with(shape_17, "nmethod", "_method", 64));
	assert_int_equal(layout.nmethod_method, 64);
	field_of(&shape, "CodeBlob", "_name")->value = JVM_LAYOUT_MAX_STRUCT;
	assert_int_equal(layout_of(shape).blob_name, JVM_LAYOUT_MAX_STRUCT);
	field_of(&shape, "CodeBlob", "_name")->value++;
	assert_int_equal(layout_of(shape).blob_name, JVM_LAYOUT_ABSENT);
}

static void the_kind_of_nmethods(void **state)
{
	static const struct {
		uint64_t kind;
		bool is;
	} cases[] = { { 0, true }, { 1, true }, { 255, true }, { 256, false }, { -1, false } };
	struct shape shape = shape_17;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct jvm_layout layout;

		shape.kind = cases[i].kind;
		layout = layout_of(shape);
		assert_int_equal(layout.blob_kind, cases[i].is ? 56 : JVM_LAYOUT_ABSENT);
		if (cases[i].is)
			assert_int_equal(layout.blob_kind_nmethod, cases[i].kind);
	}
	shape.no_kind = true;
	assert_int_equal(layout_of(shape).blob_kind, JVM_LAYOUT_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(what_is_needed),
		cmocka_unit_test(how_much_is_read),
		cmocka_unit_test(types_of_fields),
		cmocka_unit_test(statics_are_no_fields),
		cmocka_unit_test(where_code_begins),
		cmocka_unit_test(where_frames_are_deoptimised),
		cmocka_unit_test(what_names_need),
		cmocka_unit_test(the_kind_of_nmethods),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
