/* SPDX-License-Identifier: Apache-2.0 */
/* Return addresses of stubs and what a thread has where: told, searched, or absent. */
#include "test.h"

#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/jvm_stubs.h"
#include "jvm_fixture.h"

/* A JVM of RELEASE whose tables know FIELD of TYPE as OFFSET; -1: not at all. */
static struct fake_jvm *make(uint32_t release, const char *type, const char *field, int64_t offset)
{
	struct fake_jvm *f = fake_jvm_fill(release, false);
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

static struct jvm_layout layout_of(const struct fake_jvm *f)
{
	struct jvm_layout layout;
	struct err err = { 0 };

	if (jvm_layout_read(f->vm.vs, &layout, &err))
		fail_msg("%s", err.text);
	return layout;
}

/* As read once more, after a change. */
static int read_again(const struct fake_jvm *f, struct jvm_layout *layout, struct err *err)
{
	*err = (struct err){ 0 };
	return jvm_stubs_read(f->vm.vs, layout, err);
}

static uint16_t slot_of(const char *type, const char *field, int64_t offset, size_t slot)
{
	struct fake_jvm *f = make(25, type, field, offset);
	struct jvm_layout layout = layout_of(f);
	uint16_t value;

	memcpy(&value, (const char *)&layout.wire + slot, sizeof(value));
	fake_jvm_free(f);
	return value;
}

/* An offset that is not told, or that no struct has, is absent. */
static void fields_of_a_thread(void **state)
{
	static const struct {
		const char *type, *field;
		size_t slot;
	} fields[] = {
		{ "JavaThread", "_anchor", offsetof(struct wire_jvm, thread_anchor) },
		{ "JavaThread", "_saved_exception_pc", offsetof(struct wire_jvm, thread_saved_pc) },
		{ "JavaThread", "_exception_pc", offsetof(struct wire_jvm, thread_exception_pc) },
		{ "JavaFrameAnchor", "_last_Java_sp", offsetof(struct wire_jvm, anchor_sp) },
		{ "JavaFrameAnchor", "_last_Java_pc", offsetof(struct wire_jvm, anchor_pc) },
		{ "JavaFrameAnchor", "_last_Java_fp", offsetof(struct wire_jvm, anchor_fp) },
		{ "JavaCallWrapper", "_anchor", offsetof(struct wire_jvm, wrapper_anchor) },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const char *type = fields[i].type, *field = fields[i].field;

		assert_int_equal(slot_of(type, field, 240, fields[i].slot), 240);
		assert_int_equal(slot_of(type, field, 4095, fields[i].slot), 4095);
		assert_int_equal(slot_of(type, field, 4096, fields[i].slot), WIRE_JVM_ABSENT);
		assert_int_equal(slot_of(type, field, -1, fields[i].slot), WIRE_JVM_ABSENT);
	}
}

/* What the tables say of a thread's entry counts more than what the barrier's code says. */
static void where_a_thread_keeps_its_entry(void **state)
{
	const size_t slot = offsetof(struct wire_jvm, thread_cont_entry);

	(void)state;
	assert_int_equal(slot_of("JavaThread", "_cont_entry", 1560, slot), 1560);
	assert_int_equal(slot_of("JavaThread", "_cont_entry", -1, slot), JVM_CONT_ENTRY);
}

/* Of the two that a stripped JVM does not tell, one may be told: only the other is searched. */
static void one_of_two_is_told(void **state)
{
	struct fake_jvm *f = make(25, "ContinuationEntry", "_return_pc", -1);
	struct jvm_layout layout;

	(void)state;
	fake_put_u64(&f->vm.fake, f->at_barrier, f->barrier - 1);
	layout = layout_of(f);
	assert_true(layout.wire.return_barrier == f->barrier - 1);
	assert_true(layout.wire.enter_return == f->enter_return);
	assert_false(layout.provisional);
	fake_jvm_free(f);
	f = make(25, "StubRoutines", "_cont_returnBarrier", -1);
	fake_put_u64(&f->vm.fake, f->at_enter, f->enter_return - 1);
	layout = layout_of(f);
	assert_true(layout.wire.return_barrier == f->barrier);
	assert_true(layout.wire.enter_return == f->enter_return - 1);
	fake_jvm_free(f);
}

/* What is told, but not there yet, is not searched: it comes with the first virtual thread. */
static void what_is_told_is_not_searched(void **state)
{
	struct fake_jvm *f = fake_jvm_new(25, false);
	struct jvm_layout layout;

	(void)state;
	fake_put_u64(&f->vm.fake, f->at_barrier, 0);
	layout = layout_of(f);
	assert_int_equal(layout.wire.return_barrier, 0);
	assert_true(layout.wire.enter_return == f->enter_return);
	assert_true(layout.provisional);
	fake_put_u64(&f->vm.fake, f->at_barrier, f->barrier);
	fake_put_u64(&f->vm.fake, f->at_enter, 0);
	layout = layout_of(f);
	assert_true(layout.wire.return_barrier == f->barrier);
	assert_true(layout.provisional);
	fake_jvm_free(f);
}

/* Addresses lie in the code cache. */
static void addresses_of_code(void **state)
{
	struct fake_jvm *f = fake_jvm_new(25, false);
	const uint64_t first = f->heap, end = f->heap + JVM_RESERVED;

	const struct {
		uint64_t at;
		bool is;
	} cases[] = { { first, true }, { first - 1, false }, { end - 1, true }, { end, false } };
	struct jvm_layout layout = layout_of(f);
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		fake_put_u64(&f->vm.fake, f->at_barrier, cases[i].at);
		fake_put_u64(&f->vm.fake, f->at_enter, cases[i].at);
		assert_int_equal(read_again(f, &layout, &err), 0);
		assert_true(layout.wire.return_barrier == (cases[i].is ? cases[i].at : 0));
		assert_true(layout.wire.enter_return == (cases[i].is ? cases[i].at : 0));
		assert_int_equal(layout.provisional, !cases[i].is);
		fake_put_u64(&f->vm.fake, f->at_call_stub, cases[i].at);
		assert_int_equal(read_again(f, &layout, &err), cases[i].is ? 0 : -EBADMSG);
		if (!cases[i].is)
			assert_non_null(
				strstr(err.text, "cannot read where the JVM's call stub is"));
		fake_put_u64(&f->vm.fake, f->at_call_stub, f->call_stub);
	}
	fake_put_u64(&f->vm.fake, f->at_call_stub, 0);
	assert_int_equal(read_again(f, &layout, &err), -EAGAIN);
	assert_string_equal(err.text, "the JVM is still starting");
	fake_jvm_free(f);
}

/* A failed look leaves a layout as it was. */
static void a_refresh_that_fails(void **state)
{
	struct fake_jvm *f = fake_jvm_new(25, false);
	struct jvm_layout layout = layout_of(f), before = layout;

	(void)state;
	fake_put_u64(&f->vm.fake, f->at_call_stub, 0);
	fake_put_u64(&f->vm.fake, f->at_enter, 0);
	assert_int_equal(jvm_layout_refresh(f->vm.vs, &layout), -EAGAIN);
	assert_memory_equal(&layout, &before, sizeof(layout));
	fake_jvm_free(f);
}

static void a_jvm_that_tells_of_no_call_stub(void **state)
{
	struct fake_jvm *f = make(17, "StubRoutines", "_call_stub_return_address", -1);
	struct jvm_layout layout = { .provisional = true };
	struct err err;

	(void)state;
	assert_int_equal(read_again(f, &layout, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this JVM's VMStructs do not tell of a call stub");
	fake_jvm_free(f);
}

/* Before virtual threads there is nothing to come. */
static void a_jvm_without_continuations(void **state)
{
	struct fake_jvm *f = make(25, "JavaThread", "_vthread", -1);
	struct jvm_layout layout = layout_of(f);

	(void)state;
	assert_int_equal(layout.wire.return_barrier, 0);
	assert_int_equal(layout.wire.enter_return, 0);
	assert_false(layout.provisional);
	fake_jvm_free(f);
}

/* While a JVM starts, the classes are not there yet; what cannot be read at all is not asked for again. */
static void classes_of_virtual_threads(void **state)
{
	struct fake_jvm *f = fake_jvm_fill(25, false);
	struct jvm_fields fields = { .count = 0 };
	uint64_t classes = fake_alloc(&f->vm.fake, 192 * 8), none = fake_alloc(&f->vm.fake, 8);
	const struct fake_field more[] = {
		{ "JVMFlag", "_addr", 0, 0 },
		{ "JVMFlag", "_name", 8, 0 },
		{ "JVMFlag", "flags", none, 1 },
		{ "JVMFlag", "numFlags", none, 1 },
		{ "vmClasses", "_klasses[static_cast<int>(vmClassID::Object_klass_knum)]", classes,
		  1 },
	};
	struct jvm_layout layout;
	struct err err;

	(void)state;
	jvm_add_shape(f, &fields);
	jvm_add_statics(f, &fields);
	jvm_fields_add(&fields, more, ARRAY_SIZE(more));
	jvm_fill_tables(f, &fields);
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	layout = layout_of(f);
	assert_true(layout.provisional);
	assert_false(layout.chunks_final);
	assert_true(layout.wire.return_barrier && layout.wire.enter_return);
	assert_int_equal(read_again(f, &layout, &err), 0);
	assert_true(layout.provisional);
	fake_put_u64(&f->vm.fake, none, UINT64_MAX); /* flags that cannot be */
	assert_int_equal(read_again(f, &layout, &err), 0);
	assert_false(layout.provisional);
	assert_true(layout.chunks_final);
	fake_put_u64(&f->vm.fake, none, 0);
	assert_int_equal(read_again(f, &layout, &err), 0);
	assert_false(layout.provisional);
	fake_jvm_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fields_of_a_thread),
		cmocka_unit_test(where_a_thread_keeps_its_entry),
		cmocka_unit_test(one_of_two_is_told),
		cmocka_unit_test(what_is_told_is_not_searched),
		cmocka_unit_test(addresses_of_code),
		cmocka_unit_test(a_refresh_that_fails),
		cmocka_unit_test(a_jvm_that_tells_of_no_call_stub),
		cmocka_unit_test(a_jvm_without_continuations),
		cmocka_unit_test(classes_of_virtual_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
