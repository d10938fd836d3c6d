/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "jvm/layout/jvm_layout_read.h"
#include "jvm_fixture.h"

static int read_layout(struct fake_jvm *f, struct jvm_layout *ret_layout)
{
	struct err err = { 0 };

	return jvm_layout_read(f->vm.vs, ret_layout, &err);
}

static void jvm_of(uint32_t release, struct fake_jvm **ret_jvm, struct jvm_layout *ret_layout)
{
	*ret_jvm = fake_jvm_new(release, false);
	assert_int_equal(read_layout(*ret_jvm, ret_layout), 0);
	assert_int_equal(ret_layout->feature_release, release);
}

static void check_ranges(const struct fake_jvm *f, const struct wire_jvm *wire)
{
	assert_int_equal(wire->heap_count, 1);
	assert_true(wire->heaps[0].start == f->heap);
	assert_true(wire->heaps[0].end == f->heap + JVM_RESERVED);
	assert_true(wire->heaps[0].segmap == f->segmap);
	assert_int_equal(wire->log2_segment, 7);
	assert_true(wire->code_start == f->heap);
	assert_true(wire->code_end == f->heap + JVM_RESERVED);
	assert_true(wire->interpreter_start == f->interpreter);
	assert_true(wire->interpreter_end == f->interpreter + JVM_INTERPRETER_BYTES);
	assert_true(wire->call_stub_return == f->call_stub);
}

static void check_entries(const struct fake_jvm *f, const struct wire_jvm *wire)
{
	const struct wire_entry *entries = wire->entries;

	assert_int_equal(wire->entry_count, 4);
	assert_true(wire->entries_start == f->interpreter + 96 + 16);
	assert_int_equal(entries[0].start, 0);
	assert_int_equal(entries[0].frame, JVM_FRAME_OFFSET);
	assert_int_equal(entries[1].start, 160);
	assert_int_equal(entries[1].frame, 0);
	assert_int_equal(entries[2].start, 160 + 64);
	assert_int_equal(entries[2].frame, 160 + 64 + JVM_FRAME_OFFSET);
	/* Their end: where the next codelet begins, its header included. */
	assert_int_equal(entries[3].start, 160 + 64 + 128 - 16);
	assert_int_equal(entries[3].frame, 0);
}

/* What every walk of interpreted frames follows; signature and name ids lie behind the code size. */
static void expect_chain(const struct jvm_layout *layout, int bcp_slot, uint64_t symbol_mask)
{
	const struct wire_jvm *wire = &layout->wire;

	assert_int_equal(wire->method_const_method, 8);
	assert_int_equal(wire->const_method_constants, 8);
	assert_int_equal(wire->pool_holder, 24);
	assert_int_equal(wire->klass_name, 24);
	assert_int_equal(wire->const_method_ids, 32);
	assert_int_equal(wire->method_slot, -3);
	assert_int_equal(wire->bcp_slot, bcp_slot);
	assert_int_equal(wire->sender_sp_slot, -1);
	assert_true(wire->symbol_mask == symbol_mask);
	assert_int_equal(wire->anchor_sp, 0);
	assert_int_equal(wire->anchor_pc, 8);
	assert_int_equal(wire->anchor_fp, 16);
	assert_int_equal(wire->wrapper_anchor, 32);
	assert_true(layout->code_start == wire->code_start && layout->code_start);
	assert_true(layout->code_end == wire->code_end);
}

static void layout_of_17(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;
	const struct wire_jvm *wire = &layout.wire;

	(void)state;
	jvm_of(17, &f, &layout);
	assert_int_equal(layout.const_method_flags, 28);
	assert_int_equal(layout.pool_source_index, 54);
	assert_int_equal(layout.klass_source_index, JVM_LAYOUT_ABSENT);
	assert_int_equal(layout.const_method_bytes, 56);
	assert_int_equal(layout.pool_bytes, 72);
	assert_int_equal(layout.unsigned5_bias, 0);
	assert_int_equal(layout.provisional, false);
	check_ranges(f, wire);
	check_entries(f, wire);
	assert_int_equal(wire->block_header, 16);
	assert_int_equal(wire->method_const_method, 8);
	assert_int_equal(wire->method_slot, -3);
	assert_int_equal(wire->bcp_slot, -8);
	assert_int_equal(wire->sender_sp_slot, -1);
	fake_jvm_free(f);
}

static void blobs_of_17(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;
	const struct wire_jvm *wire = &layout.wire;

	(void)state;
	jvm_of(17, &f, &layout);
	assert_int_equal(wire->blob_bytes, 312);
	assert_int_equal(wire->blob_size, 12);
	assert_int_equal(wire->frame_size, 28);
	assert_int_equal(wire->frame_complete, 20);
	assert_int_equal(wire->frame_complete_bytes, 4);
	assert_int_equal(wire->code_begin, 32);
	assert_int_equal(wire->code_begin_kind, WIRE_CODE_BEGIN_POINTER);
	assert_int_equal(wire->deopt, 128);
	assert_int_equal(wire->deopt_mh, 136);
	assert_int_equal(wire->deopt_kind, WIRE_DEOPT_POINTER);
	assert_int_equal(wire->orig_pc, 300);
	assert_int_equal(wire->compile_id, 304);
	assert_int_equal(wire->thread_anchor, 656);
	assert_int_equal(wire->thread_cont_entry, WIRE_JVM_ABSENT);
	assert_int_equal(wire->thread_saved_pc, 856);
	assert_int_equal(wire->thread_exception_pc, 984);
	assert_int_equal(wire->unpacking.array, 712);
	assert_int_equal(wire->unpacking.bytecodes, 56);
	assert_int_equal(wire->anchor_pc, 8);
	assert_int_equal(wire->wrapper_anchor, 32);
	assert_int_equal(layout.blob_name, 96);
	assert_int_equal(layout.blob_kind, JVM_LAYOUT_ABSENT);
	assert_int_equal(layout.nmethod_method, 112);
	fake_jvm_free(f);
}

static void layout_of_25(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;
	const struct wire_jvm *wire = &layout.wire;

	(void)state;
	jvm_of(25, &f, &layout);
	check_ranges(f, wire);
	check_entries(f, wire);
	assert_int_equal(layout.unsigned5_bias, 1);
	assert_int_equal(wire->block_header, 8);
	assert_int_equal(wire->blob_bytes, 216);
	assert_int_equal(wire->frame_complete, 54);
	assert_int_equal(wire->frame_complete_bytes, 2);
	assert_int_equal(wire->code_begin, 36);
	assert_int_equal(wire->code_begin_kind, WIRE_CODE_BEGIN_OFFSET);
	assert_int_equal(wire->deopt, 176);
	assert_int_equal(wire->deopt_mh, 180);
	assert_int_equal(wire->deopt_kind, WIRE_DEOPT_OFFSET);
	assert_int_equal(wire->thread_cont_entry, 1560);
	assert_int_equal(wire->thread_saved_pc, 1336);
	assert_int_equal(wire->thread_exception_pc, 1512);
	assert_true(wire->return_barrier == f->barrier);
	assert_true(wire->enter_return == f->enter_return);
	assert_int_equal(layout.blob_kind, 56);
	assert_int_equal(layout.blob_kind_nmethod, 1);
	assert_int_equal(layout.nmethod_method, 80);
	expect_chain(&layout, -8, 0xffffffffffff0000ULL);
	fake_jvm_free(f);
}

/* One heap, the source file in the class, no mirror in frames, a buffer with room left. */
static void layout_of_8(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;

	(void)state;
	jvm_of(8, &f, &layout);
	jvm_put_queue(f, JVM_INTERPRETER_BYTES + 64, JVM_INTERPRETER_BYTES);
	assert_int_equal(read_layout(f, &layout), 0);
	assert_true(layout.wire.interpreter_end == f->interpreter + JVM_INTERPRETER_BYTES + 64);
	check_entries(f, &layout.wire);
	assert_int_equal(layout.bcp_slot, -7);
	assert_int_equal(layout.klass_source_index, 258);
	assert_int_equal(layout.pool_source_index, JVM_LAYOUT_ABSENT);
	assert_true(layout.wire.heaps[0].start == f->heap);
	assert_int_equal(layout.wire.code_begin_kind, WIRE_CODE_BEGIN_OFFSET);
	assert_int_equal(layout.wire.deopt, 148);
	assert_int_equal(layout.wire.deopt_kind, WIRE_DEOPT_OFFSET);
	assert_int_equal(layout.provisional, false);
	expect_chain(&layout, -7, 0xffffffffffff0000ULL);
	fake_jvm_free(f);
}

static void starting_jvm_says_try_again(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;

	(void)state;
	jvm_of(21, &f, &layout);
	jvm_put_queue(f, 2 * JVM_INTERPRETER_BYTES, 96); /* codelets are still being made */
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	jvm_put_queue(f, JVM_INTERPRETER_BYTES, JVM_INTERPRETER_BYTES);
	fake_put_u64(&f->vm.fake, f->at_call_stub, 0);
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	fake_put_u64(&f->vm.fake, f->at_code, 0);
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	fake_put_u64(&f->vm.fake, f->at_heaps, 0);
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	fake_jvm_free(f);
	jvm_of(8, &f, &layout);
	fake_put_u64(&f->vm.fake, f->at_threads, 0); /* its buffer does not tell */
	assert_int_equal(read_layout(f, &layout), -EAGAIN);
	fake_jvm_free(f);
}

static void first_virtual_thread_completes_it(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;

	(void)state;
	jvm_of(25, &f, &layout);
	fake_put_u64(&f->vm.fake, f->at_enter, 0);
	assert_int_equal(read_layout(f, &layout), 0);
	assert_int_equal(layout.provisional, true);
	assert_int_equal(layout.wire.enter_return, 0);
	assert_int_equal(jvm_layout_refresh(f->vm.vs, &layout), 0);
	assert_int_equal(layout.provisional, true);
	fake_put_u64(&f->vm.fake, f->at_enter, f->enter_return);
	assert_int_equal(jvm_layout_refresh(f->vm.vs, &layout), 0);
	assert_int_equal(layout.provisional, false);
	assert_true(layout.wire.enter_return == f->enter_return);
	check_entries(f, &layout.wire);
	fake_jvm_free(f);
}

static void stripped_jvm_is_searched(void **state)
{
	static const uint32_t releases[] = { 21, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		struct fake_jvm *f = fake_jvm_new(releases[i], true);
		struct jvm_layout layout;

		assert_int_equal(read_layout(f, &layout), 0);
		assert_true(layout.wire.return_barrier == f->barrier);
		assert_true(layout.wire.enter_return == f->enter_return);
		assert_int_equal(layout.wire.thread_cont_entry,
				 releases[i] == 21 ? JVM_CONT_ENTRY : 1560);
		assert_int_equal(layout.provisional, false);
		fake_jvm_free(f);
	}
}

static void stripped_jvm_without_virtual_threads(void **state)
{
	struct fake_jvm *f = fake_jvm_new(21, true);
	struct jvm_layout layout;

	(void)state;
	fake_put(&f->vm.fake, f->enter_nmethod + 90, &(uint8_t){ 0x90 }, 1);
	assert_int_equal(read_layout(f, &layout), 0);
	assert_true(layout.wire.return_barrier == f->barrier);
	assert_int_equal(layout.wire.enter_return, 0);
	assert_int_equal(layout.provisional, true);
	fake_put(&f->vm.fake, f->enter_nmethod + 90, &(uint8_t){ 0xe8 }, 1);
	assert_int_equal(jvm_layout_refresh(f->vm.vs, &layout), 0);
	assert_true(layout.wire.enter_return == f->enter_return);
	assert_int_equal(layout.provisional, false);
	fake_jvm_free(f);
}

static void heaps_outside_of_the_code_cache_are_left_out(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;
	uint64_t other;

	(void)state;
	jvm_of(17, &f, &layout);
	other = fake_alloc(&f->vm.fake, 264);
	fake_put_u64(&f->vm.fake, other + 8, 0x7e0000000000);
	fake_put_u64(&f->vm.fake, other + 16, 0x7e0000100000);
	fake_put_u64(&f->vm.fake, other + 136, 0x7e0000200000);
	jvm_put_i32(f, other + 256, 5);
	fake_put_u64(&f->vm.fake, f->heap_items + 8, other);
	jvm_put_i32(f, f->heap_list, 2);
	assert_int_equal(read_layout(f, &layout), 0);
	check_ranges(f, &layout.wire);
	/* In the code cache it may not differ from the others. */
	fake_put_u64(&f->vm.fake, other + 8, f->heap + JVM_RESERVED - 4096);
	fake_put_u64(&f->vm.fake, other + 16, f->heap + JVM_RESERVED);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_jvm_free(f);
}

static void impossible_heaps_are_refused(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;

	(void)state;
	jvm_of(17, &f, &layout);
	jvm_put_i32(f, f->heap_list, -1);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	jvm_put_i32(f, f->heap_list, 1000);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	jvm_put_i32(f, f->heap_list, WIRE_JVM_HEAPS + 1);
	for (unsigned int i = 0; i <= WIRE_JVM_HEAPS; i++)
		fake_put_u64(&f->vm.fake, f->heap_items + 8UL * i, f->heap_object);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	jvm_put_heap(f);
	jvm_put_i32(f, f->heap_object + 256, 40);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	jvm_put_heap(f);
	fake_put_u64(&f->vm.fake, f->heap_object + 16, f->heap - 1);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_put_u64(&f->vm.fake, f->heap_object + 16, f->heap + (8ULL << 30));
	fake_put_u64(&f->vm.fake, f->at_high, UINT64_MAX);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_jvm_free(f);
}

static void impossible_interpreters_are_refused(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;

	(void)state;
	jvm_of(17, &f, &layout);
	jvm_put_queue(f, -1, -1);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	jvm_put_queue(f, INT32_MAX, INT32_MAX);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	jvm_put_queue(f, JVM_INTERPRETER_BYTES, JVM_INTERPRETER_BYTES);
	fake_put_u64(&f->vm.fake, f->queue + 8, 0x1000);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_put_u64(&f->vm.fake, f->queue + 8, f->interpreter);
	fake_put_u64(&f->vm.fake, f->at_call_stub, f->heap - 8);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_jvm_free(f);
}

static void impossible_codelets_are_refused(void **state)
{
	static const int32_t sizes[] = { 0, -16, 8, JVM_INTERPRETER_BYTES, INT32_MAX };
	struct fake_jvm *f;
	struct jvm_layout layout;

	(void)state;
	jvm_of(17, &f, &layout);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		jvm_put_i32(f, f->interpreter + 96 + 8, sizes[i]);
		assert_int_equal(read_layout(f, &layout), -EBADMSG);
	}
	fake_jvm_free(f);
}

/* The wire has room for some; the rest is left out, and the last one is still their end. */
static void too_many_entries_are_cut(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;
	uint64_t at;

	(void)state;
	jvm_of(17, &f, &layout);
	at = f->interpreter = jvm_add_blob(f, "Interpreter", 0, 64 * 100);
	for (unsigned int i = 0; i < 100; i++)
		at = jvm_put_codelet(f, at, "method entry point", 64, true);
	jvm_put_queue(f, 64 * 100, 64 * 100);
	assert_int_equal(read_layout(f, &layout), 0);
	assert_int_equal(layout.wire.entry_count, WIRE_JVM_ENTRIES);
	assert_int_equal(layout.wire.entries[WIRE_JVM_ENTRIES - 2].start,
			 64 * (WIRE_JVM_ENTRIES - 2));
	assert_int_equal(layout.wire.entries[WIRE_JVM_ENTRIES - 1].start,
			 64 * (WIRE_JVM_ENTRIES - 1) - 16);
	fake_jvm_free(f);
}

/* Each name is a read of the process. */
static void too_many_codelets_are_refused(void **state)
{
	struct fake_jvm *f;
	struct jvm_layout layout;
	uint64_t at;

	(void)state;
	jvm_of(17, &f, &layout);
	at = f->interpreter = jvm_add_blob(f, "Interpreter", 0, 16 * 540);
	for (unsigned int i = 0; i < 540; i++, at += 16)
		jvm_put_i32(f, at + 8, 16);
	jvm_put_queue(f, 16 * 512, 16 * 512);
	assert_int_equal(read_layout(f, &layout), 0);
	jvm_put_queue(f, 16 * 540, 16 * 540);
	assert_int_equal(read_layout(f, &layout), -EBADMSG);
	fake_jvm_free(f);
}

static void a_missing_field_is_named(void **state)
{
	struct fake_vm *vm = calloc(1, sizeof(*vm));
	const struct fake_type types[] = { { "ConstMethod", 56 } };
	struct jvm_layout layout;
	struct err err = { 0 };

	(void)state;
	fake_init(&vm->fake);
	fake_vm_open(vm, jvm_common_fields, 1, types, 1);
	assert_int_equal(jvm_layout_read(vm->vs, &layout, &err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this JVM's VMStructs have no ConstMethod._constants");
	fake_vm_release(vm);
	free(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(layout_of_17),
		cmocka_unit_test(blobs_of_17),
		cmocka_unit_test(layout_of_25),
		cmocka_unit_test(layout_of_8),
		cmocka_unit_test(starting_jvm_says_try_again),
		cmocka_unit_test(first_virtual_thread_completes_it),
		cmocka_unit_test(stripped_jvm_is_searched),
		cmocka_unit_test(stripped_jvm_without_virtual_threads),
		cmocka_unit_test(heaps_outside_of_the_code_cache_are_left_out),
		cmocka_unit_test(impossible_heaps_are_refused),
		cmocka_unit_test(impossible_interpreters_are_refused),
		cmocka_unit_test(impossible_codelets_are_refused),
		cmocka_unit_test(too_many_codelets_are_refused),
		cmocka_unit_test(too_many_entries_are_cut),
		cmocka_unit_test(a_missing_field_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
