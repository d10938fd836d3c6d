// SPDX-License-Identifier: Apache-2.0
/* Code of which nothing is known, and whether a thread began there. */
#include "test.h"

#include "java_world.h"

#define SP   100U /* words of the stack */
#define CODE (HEAP_AT + 4096)

static const uint8_t musl_clone[] = { 0x31, 0xed, 0x5f, 0x41, 0xff, 0xd1, 0x89,
				      0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };
static const uint8_t glibc_clone[] = { 0x31, 0xed, 0x58, 0x5f, 0xff, 0xd0, 0x48, 0x89,
				       0xc7, 0xb8, 0x3c, 0,    0,    0,	   0x0f, 0x05 };
static const uint8_t glibc_clone3[] = { 0x31, 0xed, 0x48, 0x83, 0xe4, 0xf0, 0x4c,
					0x89, 0xc7, 0xff, 0xd2, 0x48, 0x89, 0xc7,
					0xb8, 0x3c, 0,	  0,	0,    0x0f, 0x05 };

static void begin(void)
{
	world_begin(NATIVE_AT + 64, SP);
	world.jvm.serial = 0;
	world.linked = 1;
	world.reason = UNWIND_DEPTH;
}

/* --- the end of the main thread's stack ----------------------------------------------------------- */

/* The frame's sp is WORDS below where argc is. */
static bool is_below_top(int words)
{
	world.stack_top = world.sp + (uint64_t)(8 * (int64_t)words);
	world.window_at = 0; /* what was read before */
	world.fp = 0x1234;
	return start_may_be_here(&world) && start_is_here(&world, &world_memory);
}

static void how_far_from_the_top(void **state)
{
	(void)state;
	begin();
	for (int words = -600; words < 100; words++) {
		bool is_near = words <= 4 && words > -512;

		assert_int_equal(is_below_top(words), is_near);
		assert_int_equal(world.reason, UNWIND_DEPTH);
	}
	world.stack_top = 0; /* not known */
	assert_false(start_is_near_top(&world));
	world.sp = 0x10;
	assert_false(start_is_near_top(&world));
}

/* Below the top may be what entry code pushes, but no return address: then there is a caller. */
static void what_lies_below_the_top(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		begin();
		world_stack[SP + i] = 4095;
		assert_true(is_below_top(4));
		world_stack[SP + i] = 4096;
		assert_false(is_below_top(4));
		assert_int_equal(world.reason, UNWIND_DEPTH);
		assert_int_equal(is_below_top((int)i), true); /* it is above the top */
		world_stack[SP + i] = world.sp - 1;
		assert_false(is_below_top(4));
		world_stack[SP + i] = world.sp;
		assert_true(is_below_top(4));
	}
	/* A page that is not there. */
	begin();
	world.sp = STACK_AT + sizeof(world_stack) - 8;
	assert_false(is_below_top(2));
	assert_int_equal(world.reason, UNWIND_DEPTH);
	assert_true(is_below_top(1));
}

/* --- clone()'s child ------------------------------------------------------------------------------ */

/* CODE has such bytes, and the call in them ends at CALL_END. */
static bool is_clone(const uint8_t *bytes, size_t len, size_t call_end)
{
	memset(world_heap + 4096 - 32, 0x90, 128);
	memcpy(world_heap + 4096, bytes, len);
	world.pc = CODE + call_end;
	return start_may_be_here(&world) && start_is_here(&world, &world_memory);
}

static const struct {
	const uint8_t *bytes;
	size_t len, call_end;
	bool counts[32]; /* bytes that may be anything are not true */
} clones[] = {
	{ musl_clone, sizeof(musl_clone), 6, { 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ glibc_clone, sizeof(glibc_clone), 6, { 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
	{ glibc_clone3, sizeof(glibc_clone3), 11, { 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1,
						    1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
};

static void children_of_clone(void **state)
{
	(void)state;
	begin();
	for (size_t i = 0; i < ARRAY_SIZE(clones); i++) {
		uint8_t bytes[32];

		assert_true(is_clone(clones[i].bytes, clones[i].len, clones[i].call_end));
		for (size_t at = 0; at < clones[i].len; at++) {
			memcpy(bytes, clones[i].bytes, clones[i].len);
			bytes[at] ^= 0xff;
			assert_int_equal(is_clone(bytes, clones[i].len, clones[i].call_end),
					 !clones[i].counts[at]);
		}
		for (size_t end = 0; end < 32; end++)
			assert_int_equal(is_clone(clones[i].bytes, clones[i].len, end),
					 end == clones[i].call_end);
	}
}

/* The xor is near, and before the call; with other code it is any function. */
static void how_far_the_xor_is(void **state)
{
	uint8_t bytes[64];

	(void)state;
	begin();
	for (size_t fill = 0; fill < 20; fill++) {
		memset(bytes, 0x90, sizeof(bytes));
		memcpy(bytes, musl_clone, 2);
		memcpy(bytes + 2 + fill, musl_clone + 3, sizeof(musl_clone) - 3);
		assert_int_equal(is_clone(bytes, sizeof(bytes), fill + 5), fill + 5 <= 16);
	}
}

static void only_without_a_frame_pointer(void **state)
{
	(void)state;
	begin();
	world.fp = 8;
	assert_false(is_clone(musl_clone, sizeof(musl_clone), 6));
	world.fp = 0;
	world.linked = 0;
	assert_false(is_clone(musl_clone, sizeof(musl_clone), 6));
	world.linked = 1;
	assert_true(is_clone(musl_clone, sizeof(musl_clone), 6));
	world.pc = STACK_AT - 4096; /* no code is there */
	assert_false(start_is_here(&world, &world_memory));
	assert_int_equal(world.reason, UNWIND_DEPTH);
}

/* --- what is chosen ------------------------------------------------------------------------------- */

static void a_start_ends_the_walk(void **state)
{
	(void)state;
	begin();
	world.fp = 0x1234;
	assert_int_equal(unwind_choose_blind(&world, &world_memory), UNWIND_STEP_FP);
	world.stack_top = world.sp;
	assert_int_equal(unwind_choose_blind(&world, &world_memory), UNWIND_STEP_END);
	/* The thread itself may stand there. */
	world.leaf = 1;
	assert_int_equal(unwind_choose_blind(&world, &world_memory), UNWIND_STEP_END);
	world.stack_top = 0;
	assert_int_equal(unwind_choose_blind(&world, &world_memory), UNWIND_STEP_LEAF);
}

/* What makecontext()'s function returns to. */
static void a_coroutine_ends_the_walk(void **state)
{
	static const uint8_t code[] = { 0x48, 0x89, 0xdc, 0x48, 0x8b, 0x3c, 0x24, 0x48,
					0x85, 0xff, 0x74, 0x08, 0xe8, 0,    0,	  0 };

	(void)state;
	for (size_t i = 0; i <= sizeof(code); i++) {
		begin();
		memcpy(world_heap + 4096, code, sizeof(code));
		if (i < sizeof(code))
			world_heap[4096 + i] ^= 0xff;
		world.pc = CODE;
		world.fp = 0x1234;
		assert_int_equal(unwind_choose_blind(&world, &world_memory),
				 i < 11 ? UNWIND_STEP_FP : UNWIND_STEP_END);
	}
	/* What was read of another return address says nothing of this one. */
	world.pc = CODE + 8;
	assert_int_equal(unwind_choose_blind(&world, &world_memory), UNWIND_STEP_FP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_far_from_the_top),
		cmocka_unit_test(what_lies_below_the_top),
		cmocka_unit_test(children_of_clone),
		cmocka_unit_test(how_far_the_xor_is),
		cmocka_unit_test(only_without_a_frame_pointer),
		cmocka_unit_test(a_start_ends_the_walk),
		cmocka_unit_test(a_coroutine_ends_the_walk),
	};

	return cmocka_run_group_tests_name("start", tests, NULL, NULL);
}
