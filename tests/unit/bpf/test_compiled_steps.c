// SPDX-License-Identifier: Apache-2.0
/* What is known of a pc in compiled code: looked up, kept, checked anew; and the true pc of a frame. */
#include "test.h"

#include "java_world.h"

#define PC    (CODE_OF(10) + 64)
#define DEOPT (BLOB_AT(10) + 8 * SEGMENT - 32)

static struct wire_hot_code *place(uint64_t pc, unsigned int other)
{
	return &world_hot_codes[(cursor_hash(pc) ^ other) & (WIRE_HOT_CODES - 1)];
}

/* --- places of the cache ---------------------------------------------------------------------- */

static void a_pc_has_two_places(void **state)
{
	struct wire_hot_code *one = place(PC, 0), *other = place(PC, 1);
	struct unwind_memory none = { .read = world_read };

	(void)state;
	world_begin_in_frame(4);
	assert_null(compiled_hot_place(&none, PC));
	one->pc = PC;
	other->tick = 1;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), one);
	one->pc = 5;
	other->pc = PC;
	one->tick = 0;
	other->tick = 9;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), other);
	/* The one that was checked longer ago, over the end of the numbers too. */
	other->pc = 6;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), one);
	one->tick = 9;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), one);
	one->tick = 10;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), other);
	one->tick = 5;
	other->tick = 0xfffffff0;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), other);
	one->tick = 0xfffffff0;
	other->tick = 5;
	assert_ptr_equal(compiled_hot_place(&world_memory, PC), one);
}

/* --- a look ----------------------------------------------------------------------------------- */

static void all_that_is_found(void **state)
{
	const struct wire_hot_code *kept = place(PC, 0);

	(void)state;
	world_begin_in_frame(4);
	world.jvm.serial = 77;
	world.tick = 4711;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_true(world.compiled_seen.pc == PC && world.compiled_seen.blob == BLOB_AT(10));
	assert_int_equal(world.compiled_seen.serial, 77);
	assert_int_equal(world.compiled_seen.tick, 4711);
	assert_int_equal(world.compiled_seen.frame_size, 4);
	assert_int_equal(world.compiled_seen.back, (PC - HEAP_AT) / SEGMENT - 10);
	assert_int_equal(world.compiled_seen.compile_id, 10);
	assert_memory_equal(kept, &world.compiled_seen, sizeof(*kept));
	/* What was seen before is forgotten when there is nothing. */
	world.pc = HEAP_AT;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_STOP);
	assert_true(world.compiled_seen.pc == 0);
}

/* Stubs have none, or a negative number. */
static void sizes_of_frames(void **state)
{
	static const struct {
		int32_t said;
		uint32_t size;
		int verdict;
	} cases[] = {
		{ 0, 0, UNWIND_GO_ON },	     { -1, 0, UNWIND_GO_ON },
		{ 1, 1, UNWIND_GO_ON },	     { (1 << 17) - 1, (1 << 17) - 1, UNWIND_GO_ON },
		{ 1 << 17, 0, UNWIND_STOP },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		world_begin_in_frame(4);
		world_put_int(BLOB_AT(10), FIELD_FRAME, cases[i].said);
		assert_int_equal(compiled_look(&world, &world_memory), cases[i].verdict);
		assert_int_equal(world.compiled_seen.frame_size, cases[i].size);
		if (cases[i].verdict == UNWIND_STOP)
			assert_int_equal(world.reason, UNWIND_NO_BLOB);
	}
}

/* Stubs have none: -1; 0 is none, too. */
static void where_the_frame_is_complete(void **state)
{
	static const struct {
		uint32_t done;
		int32_t complete;
		bool entering;
	} cases[] = {
		{ 0, 12, true }, { 11, 12, true }, { 12, 12, false },  { 13, 12, false },
		{ 0, 0, false }, { 0, -1, false }, { 300, -1, false }, { 299, 300, true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		int16_t complete = (int16_t)cases[i].complete;

		world_begin_in_frame(4);
		memcpy(world_heap + (BLOB_AT(10) - HEAP_AT) + FIELD_COMPLETE, &complete,
		       sizeof(complete));
		world.pc = CODE_OF(10) + cases[i].done;
		assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
		assert_int_equal(world.compiled_seen.entering, cases[i].entering);
		world.words = 0;
		assert_int_equal(compiled_put(&world, world_out), 0);
		assert_true(world_out[1] == (10 | (uint64_t)cases[i].entering << 32));
	}
}

/* --- the true pc ------------------------------------------------------------------------------ */

static int true_pc(int32_t at, unsigned int word, uint64_t pc)
{
	world_begin_in_frame(4);
	world.pc = DEOPT;
	world.leaf = world.exact = 1;
	world_put_int(BLOB_AT(10), FIELD_ORIG_PC, at);
	world_stack[word] = pc;
	return compiled_look(&world, &world_memory);
}

/* It is in the frame, and in this very code; it is a return address. */
static void the_true_pc_of_a_frame(void **state)
{
	(void)state;
	assert_int_equal(true_pc(0, 20, CODE_OF(10) + 40), UNWIND_GO_ON);
	assert_true(world.pc == CODE_OF(10) + 40 && !world.leaf && !world.exact);
	assert_true(world.compiled_seen.pc == CODE_OF(10) + 40);
	assert_int_equal(true_pc(24, 23, CODE_OF(10) + 40), UNWIND_GO_ON);
	assert_int_equal(true_pc(32, 24, CODE_OF(10) + 40), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
	assert_int_equal(true_pc(-8, 19, CODE_OF(10) + 40), UNWIND_STOP);
	assert_int_equal(true_pc(8, 21, BLOB_AT(10) + 8 * SEGMENT), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
	assert_true(world.pc == DEOPT);
	/* A stub has no frame that it could be in. */
	true_pc(0, 20, CODE_OF(10) + 40);
	world_put_int(BLOB_AT(10), FIELD_FRAME, 0);
	world.blob_at = 0;
	world.pc = DEOPT;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_true(world.pc == DEOPT);
	true_pc(0, 20, CODE_OF(10) + 40);
	world.pc = DEOPT;
	world.sp = STACK_AT - 64;
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_PAGE);
}

/* --- what was kept ---------------------------------------------------------------------------- */

static struct wire_hot_code hot;

static void begin_hot(void)
{
	world_begin_in_frame(4);
	hot = (struct wire_hot_code){ .pc = PC,
				      .blob = BLOB_AT(10),
				      .serial = 1,
				      .tick = 99,
				      .frame_size = 4,
				      .back = (PC - HEAP_AT) / SEGMENT - 10,
				      .compile_id = 10 };
}

static int take_hot(void)
{
	return compiled_take_hot(&world, &world_memory, &hot);
}

static void what_was_kept_holds_for_a_tick(void **state)
{
	(void)state;
	begin_hot();
	assert_true(take_hot());
	assert_int_equal(hot.tick, 100);
	assert_memory_equal(&world.compiled_seen.pc, &hot.pc, 8);
	/* In one tick it is believed, whatever is there. */
	world_put_int(BLOB_AT(10), FIELD_ID, 11);
	assert_true(take_hot());
	hot.tick = 99;
	assert_false(take_hot());
	assert_int_equal(hot.tick, 99);
	begin_hot();
	world_segmap[hot.back + 10]++;
	assert_false(take_hot());
	begin_hot();
	hot.blob = HEAP_AT - 4096;
	assert_false(take_hot());
	begin_hot();
	hot.serial = 2;
	assert_false(take_hot());
	begin_hot();
	hot.pc++;
	assert_false(take_hot());
	/* One that interrupted another walk writes nothing. */
	begin_hot();
	world.nested = 1;
	assert_true(take_hot());
	assert_int_equal(hot.tick, 99);
}

static bool is_new(uint32_t serial, int id, uint32_t frame_size)
{
	world_begin_in_frame(frame_size);
	world.jvm.serial = serial;
	world.new_code = 0;
	world_put_int(BLOB_AT(10), FIELD_ID, id);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	return world.new_code;
}

/* Who has to name it is woken at once, and once. */
static void code_is_new_once(void **state)
{
	uint64_t *place;

	(void)state;
	memset(world_met_codes, 0, sizeof(world_met_codes));
	assert_true(is_new(1, 10, 4));
	assert_false(is_new(1, 10, 4));
	assert_true(is_new(1, 11, 4));
	assert_true(is_new(2, 10, 4));
	assert_false(is_new(1, 10, 4));
	/* A stub has no id. */
	assert_false(is_new(1, 12, 0));
	/* Another one had its place. */
	place = &world_met_codes[cursor_hash(1ULL << 32 | 10) & (WIRE_MET_CODES - 1)];
	assert_true(*place == (1ULL << 32 | 10));
	*place = 5;
	assert_true(is_new(1, 10, 4));
}

/* In this walk, in either place of the cache, or by the segment map. */
static void where_a_pc_is_found(void **state)
{
	(void)state;
	begin_hot();
	world.compiled_seen.pc = PC;
	world.compiled_seen.frame_size = 9;
	assert_int_equal(compiled_find(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(world.compiled_seen.frame_size, 9);
	assert_int_equal(world.java_hot_frames, 1);
	for (unsigned int other = 0; other < 2; other++) {
		begin_hot();
		hot.tick = 100;
		hot.frame_size = 7;
		*place(PC, other) = hot;
		assert_int_equal(compiled_find(&world, &world_memory), UNWIND_GO_ON);
		assert_int_equal(world.compiled_seen.frame_size, 7);
		assert_int_equal(world.java_hot_frames, 1);
	}
	begin_hot();
	assert_int_equal(compiled_find(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(world.compiled_seen.frame_size, 4);
	assert_int_equal(world.java_hot_frames, 0);
}

/* --- to the caller ---------------------------------------------------------------------------- */

static void by_the_size(void **state)
{
	(void)state;
	world_begin_in_frame(4);
	world.compiled_seen.frame_size = 4;
	assert_int_equal(compiled_step(&world, &world_memory), UNWIND_GO_ON);
	assert_true(world.pc == WORLD_CALLER && world.sp == world_word(24) && world.fp == 0x1234);
	/* Either word may be where no stack is. */
	for (unsigned int missing = 1; missing < 3; missing++) {
		world_begin_in_frame(4);
		world.compiled_seen.frame_size = 4;
		world.sp = STACK_AT + sizeof(world_stack) - 32 + 8 * missing;
		assert_int_equal(compiled_step(&world, &world_memory), UNWIND_STOP);
		assert_int_equal(world.reason, UNWIND_PAGE);
	}
	world_begin_in_frame(4);
	world.compiled_seen.frame_size = 4;
	world.sp = STACK_AT - 24;
	assert_int_equal(compiled_step(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pc_has_two_places),
		cmocka_unit_test(all_that_is_found),
		cmocka_unit_test(sizes_of_frames),
		cmocka_unit_test(where_the_frame_is_complete),
		cmocka_unit_test(the_true_pc_of_a_frame),
		cmocka_unit_test(what_was_kept_holds_for_a_tick),
		cmocka_unit_test(code_is_new_once),
		cmocka_unit_test(where_a_pc_is_found),
		cmocka_unit_test(by_the_size),
	};

	return cmocka_run_group_tests_name("compiled_step", tests, NULL, NULL);
}
