// SPDX-License-Identifier: Apache-2.0
/* The HotSpot steps in a made-up JVM: blobs and caches, deoptimised frames, call stub, anchors. */
#include "test.h"

#include "java_world.h"

static void the_frame_size_leads_to_the_caller(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world.rbx = world.r13 = 77;
	world.r15 = THREAD_AT;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER);
	assert_true(world.sp == world_word(24));
	assert_true(world.fp == 0x1234);
	/* Compiled code keeps the thread, and no other register. */
	assert_true(world.rbx == 0 && world.r13 == 0 && world.r15 == THREAD_AT);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_COMPILED);
	assert_int_equal(world_out[1], 10);
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_FARTHER);
}

/* --- blobs ------------------------------------------------------------------------------------ */

static void expect_no_blob(void)
{
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_NO_BLOB);
	assert_int_equal(world.frames, 0);
}

static void a_blob_ends_before_its_block(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world_put_int(BLOB_AT(10), FIELD_SIZE, CODE_BEGIN + 64);
	expect_no_blob();
	world_begin_in_frame(4);
	world_put_int(BLOB_AT(10), FIELD_SIZE, CODE_BEGIN + 65);
	assert_int_equal(world_step(), UNWIND_GO_ON);
}

static void a_free_segment_has_none(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world.pc = CODE_OF(50);
	expect_no_blob();
	/* Taken for a hop it would lead to the blob. */
	world_begin_in_frame(4);
	world_put_int(BLOB_AT(10), FIELD_SIZE, 300 * SEGMENT);
	world.pc = HEAP_AT + (10 + 0xff) * SEGMENT;
	expect_no_blob();
}

/* What the cursor has of the last JVM on its cpu is none of this process's. */
static void without_a_jvm_no_code_is_its_own(void **state)
{
	static const uint64_t pcs[] = {
		NATIVE_AT + 64,	 /* where that one's interpreter was */
		NATIVE_AT + 512, /* where its other code was */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pcs); i++) {
		world_begin_in_frame(4);
		world.jvm.interpreter_start = world.jvm.code_start = NATIVE_AT;
		world.jvm.interpreter_end = NATIVE_AT + 256;
		world.jvm.code_end = NATIVE_AT + 1024;
		world.pc = pcs[i];
		assert_true(compiled_is_at_pc(&world));
		assert_int_equal(interpreted_is_at_pc(&world), i == 0);
		blob_forget_jvm(&world);
		world.jvm_serial = 0;
		assert_false(blob_owns(&world, world.pc));
		world.fp = world_word(30);
		world_stack[31] = NATIVE_AT + 128;
		assert_int_equal(world_step(), UNWIND_GO_ON);
		assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_CODE);
		assert_int_equal(world.words - world.begin, 1);
	}
}

/* Nor is there anything in front of a heap. */
static void no_hop_leads_out_of_the_heap(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world_blob(15, 40, 4);
	world.jvm.heaps[0].start += 16 * SEGMENT;
	world.jvm.heaps[0].segmap += 16;
	world.pc = HEAP_AT + 18 * SEGMENT;
	expect_no_blob();
}

static void many_hops_are_gone_and_noted(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world_blob_far(300, 1000, 4, 1);
	world.pc = HEAP_AT + 1200ULL * SEGMENT;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER);
	assert_true(world.far_pc == HEAP_AT + 1200ULL * SEGMENT);
	assert_true(world.far_blob == BLOB_AT(300));
	world_begin_in_frame(4);
	world_blob_far(300, 1000, 4, 1);
	world.pc = HEAP_AT + (300ULL + BLOB_NEAR_HOPS - 1) * SEGMENT;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.far_pc == 0);
}

static void a_frame_of_no_size_or_too_large_is_none(void **state)
{
	static const int32_t sizes[] = { 1 << 20, 0x7fffffff };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		world_begin_in_frame(4);
		world_put_int(BLOB_AT(10), FIELD_FRAME, sizes[i]);
		expect_no_blob();
	}
}

/* An int16 in front of other fields; code behind it is no prologue, whatever it looks like. */
static void the_prologue_ends_where_the_blob_says(void **state)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x8b, 0xec };

	(void)state;
	world_begin_in_frame(4);
	world_heap[BLOB_AT(10) - HEAP_AT + FIELD_COMPLETE + 2] = 1;
	memcpy(world_heap + (world.pc - HEAP_AT), code, sizeof(code));
	world_stack[20] = WORLD_FARTHER;
	world.leaf = 1;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER);
	assert_true(world.sp == world_word(24));
}

/* --- caches ----------------------------------------------------------------------------------- */

/* Segments from a blob's first to that of the pc here, 64 bytes from the code's beginning. */
#define BACK ((CODE_OF(0) + 64 - HEAP_AT) / SEGMENT)

static struct wire_hot_code *hot_of(uint64_t pc)
{
	struct wire_hot_code *hot = compiled_hot_place(&world_memory, pc);

	if (!hot)
		abort();
	return hot;
}

static void what_was_found_is_kept(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world_step();
	assert_true(hot_of(CODE_OF(10) + 64)->pc == CODE_OF(10) + 64);
	assert_int_equal(hot_of(CODE_OF(10) + 64)->frame_size, 4);
	/* The segment map is not looked at again in this tick. */
	world_segmap[12] = 0xff;
	world.pc = CODE_OF(10) + 64;
	world.sp = world_word(20);
	world.compiled_seen.pc = 0;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.sp == world_word(24));
	assert_int_equal(world.java_hot_frames, 1);
}

/* An entry that was good for other code: the code now has a frame of six words. */
static void expect_looked_up_anew(struct wire_hot_code entry)
{
	world_begin_in_frame(6);
	*hot_of(world.pc) = entry;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.sp == world_word(26));
	assert_int_equal(hot_of(CODE_OF(10) + 64)->tick, world.tick);
}

static void an_old_entry_is_not_used(void **state)
{
	struct wire_hot_code good = { .pc = CODE_OF(10) + 64,
				      .blob = BLOB_AT(10),
				      .serial = 1,
				      .tick = 99,
				      .frame_size = 4,
				      .back = BACK,
				      .compile_id = 10 },
			     old;

	(void)state;
	old = good;
	old.compile_id = 9;
	expect_looked_up_anew(old);
	old = good;
	old.serial = 2;
	expect_looked_up_anew(old);
	old = good;
	old.pc++;
	expect_looked_up_anew(old);
	old = good;
	old.blob = STACK_AT - 4096;
	expect_looked_up_anew(old);
	/* A block that began elsewhere; its first words are still there. */
	old = good;
	old.back++;
	expect_looked_up_anew(old);
}

/* A pc has two places; the entry that was checked longer ago goes. */
static void two_pcs_of_one_hash_are_kept(void **state)
{
	uint64_t pc = CODE_OF(10) + 64;
	struct wire_hot_code *one = &world_hot_codes[cursor_hash(pc) & (WIRE_HOT_CODES - 1)];
	struct wire_hot_code *other =
		&world_hot_codes[(cursor_hash(pc) ^ 1) & (WIRE_HOT_CODES - 1)];

	(void)state;
	world_begin_in_frame(4);
	*one = (struct wire_hot_code){ .pc = pc + 1, .tick = world.tick };
	world_step();
	assert_true(one->pc == pc + 1 && other->pc == pc);
	world_begin_in_frame(4);
	world_step();
	assert_true(one->pc == pc && other->pc == 0);
	world_begin_in_frame(4);
	*one = (struct wire_hot_code){ .pc = pc + 1, .tick = world.tick - 2 };
	*other = (struct wire_hot_code){ .pc = pc + 2, .tick = world.tick - 1 };
	world_step();
	assert_true(one->pc == pc && other->pc == pc + 2);
}

/* A compile id is looked at once in a tick: code that is on a stack does not go so fast. */
static void an_entry_is_checked_once_in_a_tick(void **state)
{
	struct wire_hot_code entry = { .pc = CODE_OF(10) + 64,
				       .blob = BLOB_AT(10),
				       .serial = 1,
				       .tick = 99,
				       .frame_size = 4,
				       .back = BACK,
				       .compile_id = 10 };

	(void)state;
	world_begin_in_frame(4);
	*hot_of(world.pc) = entry;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world.java_hot_frames, 1);
	assert_int_equal(hot_of(CODE_OF(10) + 64)->tick, 100);
	world_begin_in_frame(4);
	world.nested = 1;
	*hot_of(world.pc) = entry;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(hot_of(CODE_OF(10) + 64)->tick, 99);
	world_begin_in_frame(4);
	entry.tick = 100;
	world_put_int(BLOB_AT(10), FIELD_ID, 9);
	*hot_of(world.pc) = entry;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world.java_hot_frames, 1);
}

/* --- deoptimised frames ----------------------------------------------------------------------- */

static void begin_deoptimised(uint64_t true_pc)
{
	world_begin_in_frame(4);
	world.pc = BLOB_AT(10) + 8 * SEGMENT - 32;
	world_stack[21] = true_pc;
}

static void a_deoptimised_frame_has_its_true_pc(void **state)
{
	(void)state;
	begin_deoptimised(CODE_OF(10) + 40);
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true((world_out[0] & WIRE_FRAME_ADDRESS_MASK) == CODE_OF(10) + 40);
	assert_true(world.pc == WORLD_CALLER && world.sp == world_word(24));
}

static void a_true_pc_elsewhere_is_none(void **state)
{
	(void)state;
	begin_deoptimised(WORLD_CALLER);
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
	begin_deoptimised(CODE_OF(10) + 40);
	world_put_int(BLOB_AT(10), FIELD_ORIG_PC, 32);
	world_stack[24] = CODE_OF(10) + 40;
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
}

/* --- the call stub ---------------------------------------------------------------------------- */

/* The walk stands behind the call in the call stub, whose frame pointer is word 60. */
static void begin_in_call_stub(void)
{
	world_begin(CODE_OF(400), 40);
	world_blob(400, 8, 0);
	world.jvm.call_stub_return = CODE_OF(400);
	world.fp = world_word(60);
	world_stack[60] = world_word(80);
	world_stack[61] = NATIVE_AT + 100;
	world_stack[60 + WIRE_ENTRY_WRAPPER] = world_word(70);
	world_stack[60 + WIRE_ENTRY_RBX] = 0xb;
	world_stack[60 + WIRE_ENTRY_R13] = 0x13;
	world_stack[60 + WIRE_ENTRY_R15] = 0x15;
}

static void the_call_stub_gives_registers_back(void **state)
{
	(void)state;
	begin_in_call_stub();
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == NATIVE_AT + 100);
	assert_true(world.sp == world_word(62) && world.fp == world_word(80));
	assert_true(world.rbx == 0xb);
	assert_true(world.r13 == 0x13);
	assert_true(world.r15 == 0x15);
	assert_true(world.anchor_at == world_word(70 + WRAPPER_ANCHOR));
}

/* --- anchors ---------------------------------------------------------------------------------- */

/* Native code below the call stub whose frame pointer leads nowhere; the wrapper's note is at 74. */
static void begin_lost(uint64_t anchor_sp, uint64_t anchor_pc)
{
	begin_in_call_stub();
	world_blob(100, 8, 6);
	world_stack[60] = 8;
	world_stack[74] = anchor_sp;
	world_stack[75] = anchor_pc;
	world_stack[76] = 0x77;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == NATIVE_AT + 100);
	world.window_at = 0; /* the tests go on writing */
}

static void the_anchor_leads_on_and_says_so(void **state)
{
	(void)state;
	begin_lost(world_word(90), WORLD_CALLER);
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER && world.sp == world_word(90) && world.fp == 0x77);
	assert_int_equal(world.anchors, 1);
	assert_int_equal(world.frames, 3);
	assert_true(world_out[3] ==
		    (WIRE_MARK_ANCHOR | (wire_u64)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT));
}

/* A compiled caller notes no pc: it lies below the stack pointer. */
static void an_anchor_without_a_pc(void **state)
{
	(void)state;
	begin_lost(world_word(90), 0);
	world_stack[89] = WORLD_CALLER;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER && world.sp == world_word(90));
}

static void a_bad_anchor_leads_nowhere(void **state)
{
	(void)state;
	begin_lost(world_word(90), NATIVE_AT + 200);
	assert_int_equal(world_step(), UNWIND_STOP);
	begin_lost(world_word(50), WORLD_CALLER);
	assert_int_equal(world_step(), UNWIND_STOP);
	begin_lost(0, WORLD_CALLER);
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.anchors, 0);
}

/* Native frames that can be walked are walked. */
static void a_good_frame_needs_no_anchor(void **state)
{
	(void)state;
	begin_lost(world_word(90), WORLD_CALLER);
	world.fp = world_word(84);
	world_stack[84] = world_word(95);
	world_stack[85] = NATIVE_AT + 300;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == NATIVE_AT + 300);
	assert_int_equal(world.anchors, 0);
}

/* ---------------------------------------------------------------------------------------------- */

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_frame_size_leads_to_the_caller),
		cmocka_unit_test(a_blob_ends_before_its_block),
		cmocka_unit_test(a_free_segment_has_none),
		cmocka_unit_test(without_a_jvm_no_code_is_its_own),
		cmocka_unit_test(no_hop_leads_out_of_the_heap),
		cmocka_unit_test(the_prologue_ends_where_the_blob_says),
		cmocka_unit_test(many_hops_are_gone_and_noted),
		cmocka_unit_test(a_frame_of_no_size_or_too_large_is_none),
		cmocka_unit_test(what_was_found_is_kept),
		cmocka_unit_test(an_old_entry_is_not_used),
		cmocka_unit_test(two_pcs_of_one_hash_are_kept),
		cmocka_unit_test(an_entry_is_checked_once_in_a_tick),
		cmocka_unit_test(a_deoptimised_frame_has_its_true_pc),
		cmocka_unit_test(a_true_pc_elsewhere_is_none),
		cmocka_unit_test(the_call_stub_gives_registers_back),
		cmocka_unit_test(the_anchor_leads_on_and_says_so),
		cmocka_unit_test(an_anchor_without_a_pc),
		cmocka_unit_test(a_bad_anchor_leads_nowhere),
		cmocka_unit_test(a_good_frame_needs_no_anchor),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
