// SPDX-License-Identifier: Apache-2.0
/* From morestack on the thread's own stack to the goroutine whose stack is to grow. */
#include "test.h"

#include "java_world.h"

/* Words of the stack. */
enum { TLS = 20, G0 = 30, M = 60, G = 120, SP = 200, FROM = 160, OTHER_FRAME = 220 };

#define MORESTACK (HEAP_AT + 0x4000)
#define PC	  (MORESTACK + 0x7d)
#define BACK	  (HEAP_AT + 0x1005) /* in a function of the goroutine's, behind its call of morestack */

static const struct wire_rule rule = {
	.kind = WIRE_RULE_GOROUTINE, .ra_slot = 1, .cfa_offset = 0xb8, .rbp_slot = 12
};

static void call(uint64_t target)
{
	int32_t displacement = (int32_t)(target - BACK);

	world_heap[BACK - 5 - HEAP_AT] = 0xe8;
	memcpy(world_heap + (BACK - 4 - HEAP_AT), &displacement, sizeof(displacement));
}

static void begin(void)
{
	world_begin(PC, SP);
	world.jvm.serial = 0;
	world.fp = 0;
	world.tls = world_word(TLS);
	world_stack[TLS - 1] = world_word(G0);
	world_stack[G0 + 6] = world_word(M);
	world_stack[M + 0xb8 / 8] = world_word(G);
	world_stack[G + 7] = world_word(FROM);
	world_stack[G + 8] = BACK;
	world_stack[G + 12] = world_word(FROM + 2);
	call(MORESTACK);
}

static void expect_goroutine(void)
{
	assert_int_equal(goroutine_step(&world, &world_memory, &rule), UNWIND_GO_ON);
	/* It lies below the thread's stack, or above it. */
	assert_true(world.pc == BACK && world.sp == world_word(FROM));
	assert_true(world.fp == world_word(FROM + 2) && world.linked && world.elsewhere &&
		    !world.leaf);
}

static void expect_end(enum unwind_reason reason)
{
	assert_int_equal(goroutine_step(&world, &world_memory, &rule), UNWIND_STOP);
	assert_int_equal(world.reason, reason);
}

static void whose_stack_grows(void **state)
{
	(void)state;
	begin();
	expect_goroutine();
	/* By morestack_noctxt, which lies behind it and jumps. */
	begin();
	call(MORESTACK + 0xa0);
	expect_goroutine();
	/* Another slot, as in a program with C in it. */
	begin();
	world_stack[TLS - 1] = 0;
	world_stack[TLS - 4] = world_word(G0);
	assert_int_equal(goroutine_step(&world, &world_memory,
					&(struct wire_rule){ .kind = WIRE_RULE_GOROUTINE,
							     .ra_slot = 4,
							     .cfa_offset = 0xb8,
							     .rbp_slot = 12 }),
			 UNWIND_GO_ON);
}

/* What the scheduler does when it has let the goroutine go is nobody's. */
static void whose_goroutine_has_gone(void **state)
{
	(void)state;
	begin();
	world_stack[M + 0xb8 / 8] = 0;
	expect_end(UNWIND_DONE);
	/* Until Go 1.24 %rbp still is the goroutine's, which may run elsewhere by now. */
	begin();
	world_stack[M + 0xb8 / 8] = 0;
	world.fp = world_word(OTHER_FRAME);
	world_stack[OTHER_FRAME] = world_word(OTHER_FRAME + 10);
	world_stack[OTHER_FRAME + 1] = NATIVE_AT;
	expect_end(UNWIND_DONE);
}

/* No stack is made up for it, and none called whole. */
static void what_is_not_known(void **state)
{
	static const unsigned int words[] = { TLS - 1, G0 + 6, M + 0xb8 / 8, G + 8 };

	(void)state;
	begin();
	world.tls = 0;
	expect_end(UNWIND_NO_START);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		begin();
		world_stack[words[i]] = 0x10;
		assert_int_equal(goroutine_step(&world, &world_memory, &rule), UNWIND_STOP);
		assert_int_not_equal(world.reason, UNWIND_DONE);
	}
	/* It was not morestack that wrote where it stands. */
	begin();
	call(MORESTACK - 0x200);
	expect_end(UNWIND_NO_START);
	begin();
	call(PC + 0x100);
	expect_end(UNWIND_NO_START);
	begin();
	world_heap[BACK - 5 - HEAP_AT] = 0xe9;
	expect_end(UNWIND_NO_START);
}

static struct wire_rule left_by(enum wire_left left)
{
	struct wire_rule by = rule;

	by.cfa_add = (int16_t)left;
	return by;
}

/* Before Go 1.21 mcall and systemstack keep no frame pointer of their own. */
static void who_let_go_of_it(void **state)
{
	const struct wire_rule mcall = left_by(WIRE_LEFT_BY_MCALL),
			       systemstack = left_by(WIRE_LEFT_BY_SYSTEMSTACK);

	(void)state;
	begin();
	assert_int_equal(goroutine_step(&world, &world_memory, &mcall), UNWIND_GO_ON);
	assert_true(world.pc == BACK && world.sp == world_word(FROM));
	assert_true(world.fp == world_word(FROM + 2) && world.elsewhere);
	/* What is in sched.pc is the function that only seems to be there. */
	begin();
	world_stack[G + 8] = MORESTACK + 0x1000;
	world_stack[FROM] = BACK;
	assert_int_equal(goroutine_step(&world, &world_memory, &systemstack), UNWIND_GO_ON);
	assert_true(world.pc == BACK && world.sp == world_word(FROM + 1));
	assert_true(world.fp == world_word(FROM + 2) && world.elsewhere);
}

/* The return address lies below the frame pointer, which is the caller's. */
static void begin_with_its_frame(void)
{
	begin();
	world.fp = world_word(OTHER_FRAME);
	world_stack[OTHER_FRAME - 3] = BACK;
	world.first = 4711; /* no rows yet */
}

static void who_let_go_of_none(void **state)
{
	const struct wire_rule mcall = left_by(WIRE_LEFT_BY_MCALL),
			       systemstack = left_by(WIRE_LEFT_BY_SYSTEMSTACK);

	(void)state;
	/* The scheduler is nobody's, whatever frames are near by. */
	begin_with_its_frame();
	world_stack[M + 0xb8 / 8] = 0;
	assert_int_equal(goroutine_step(&world, &world_memory, &mcall), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DONE);
	/* Where nobody can say which, the frame pointer does. */
	begin_with_its_frame();
	world.tls = 0;
	assert_int_equal(goroutine_step(&world, &world_memory, &mcall), UNWIND_GO_ON);
	assert_true(world.pc == BACK && world.sp == world_word(OTHER_FRAME - 2));
	begin_with_its_frame();
	world_stack[M + 0xb8 / 8] = 0;
	assert_int_equal(goroutine_step(&world, &world_memory, &systemstack), UNWIND_GO_ON);
	assert_true(world.pc == BACK && world.sp == world_word(OTHER_FRAME - 2));
}

/* From Go 1.21 on mcall has a frame on the goroutine's stack, which is another one's as soon as that runs elsewhere. */
static void who_has_let_go_of_it_for_good(void **state)
{
	const struct wire_rule framed = left_by(WIRE_LEFT_BY_MCALL_FRAMED),
			       mcall = left_by(WIRE_LEFT_BY_MCALL);

	(void)state;
	begin();
	assert_int_equal(goroutine_step(&world, &world_memory, &framed), UNWIND_GO_ON);
	assert_true(world.pc == BACK && world.sp == world_word(FROM));
	begin_with_its_frame();
	world_stack[M + 0xb8 / 8] = 0;
	assert_int_equal(goroutine_step(&world, &world_memory, &framed), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DONE);
	/* The next one is chosen already. */
	for (int i = 0; i < 2; i++) {
		begin_with_its_frame();
		call(PC + 0x1000);
		assert_int_equal(goroutine_step(&world, &world_memory, i ? &framed : &mcall),
				 UNWIND_STOP);
		assert_int_equal(world.reason, UNWIND_DONE);
	}
	/* Where nobody can say, its frame does. */
	begin_with_its_frame();
	world.tls = 0;
	world_stack[OTHER_FRAME] = world_word(OTHER_FRAME + 10);
	world_stack[OTHER_FRAME + 1] = NATIVE_AT;
	assert_int_equal(goroutine_step(&world, &world_memory, &framed), UNWIND_GO_ON);
	assert_true(world.pc == NATIVE_AT && world.fp == world_word(OTHER_FRAME + 10));
	/* And from 1.25 on there is none. */
	begin();
	world.tls = 0;
	assert_int_equal(goroutine_step(&world, &world_memory, &framed), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_DONE);
}

/* So has systemstack from 1.21 on: it is where the goroutine's stack is now, %rbp where that was. */
static void whose_stack_was_moved(void **state)
{
	const struct wire_rule framed = left_by(WIRE_LEFT_BY_SYSTEMSTACK_FRAMED);

	(void)state;
	begin_with_its_frame();
	world_stack[G + 8] = MORESTACK + 0x1000;
	world_stack[FROM] = world_word(FROM + 9);
	world_stack[FROM + 1] = BACK;
	assert_int_equal(goroutine_step(&world, &world_memory, &framed), UNWIND_GO_ON);
	assert_true(world.pc == BACK && world.sp == world_word(FROM + 2));
	assert_true(world.fp == world_word(FROM + 9) && world.elsewhere);
	/* Another's is not believed, nor that there is none: its frame is. */
	for (int i = 0; i < 2; i++) {
		begin();
		world_stack[i ? M + 0xb8 / 8 : FROM + 1] = 0;
		world.fp = world_word(OTHER_FRAME);
		world_stack[OTHER_FRAME] = world_word(OTHER_FRAME + 10);
		world_stack[OTHER_FRAME + 1] = NATIVE_AT;
		assert_int_equal(goroutine_step(&world, &world_memory, &framed), UNWIND_GO_ON);
		assert_true(world.pc == NATIVE_AT);
	}
}

static int nothing_of_now(const void *data, uint64_t address, void *dst, size_t len)
{
	return address - HEAP_AT < sizeof(world_heap) ? world_read(data, address, dst, len)
						      : -EFAULT;
}

/* A walk that is finished later has the words that came along, not those that are there then. */
static void words_of_the_sample(void **state)
{
	struct unwind_memory memory = world_memory;

	(void)state;
	memory.read = nothing_of_now;
	memory.read_stack = world_read;
	begin();
	assert_int_equal(goroutine_step(&world, &memory, &rule), UNWIND_GO_ON);
	assert_true(world.pc == BACK);
	memory.read = world_read;
	memory.read_stack = nothing_of_now;
	begin();
	assert_int_equal(goroutine_step(&world, &memory, &rule), UNWIND_STOP);
}

/* Frame pointers alone lead on where another rule says so. */
static void another_rule(void **state)
{
	(void)state;
	begin();
	world.fp = world_word(OTHER_FRAME);
	world_stack[OTHER_FRAME + 1] = NATIVE_AT;
	assert_int_equal(
		goroutine_step(&world, &world_memory, &(struct wire_rule){ .kind = WIRE_RULE_FP }),
		UNWIND_GO_ON);
	assert_true(world.pc == NATIVE_AT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_stack_grows),
		cmocka_unit_test(whose_goroutine_has_gone),
		cmocka_unit_test(what_is_not_known),
		cmocka_unit_test(words_of_the_sample),
		cmocka_unit_test(another_rule),
		cmocka_unit_test(who_let_go_of_it),
		cmocka_unit_test(who_let_go_of_none),
		cmocka_unit_test(who_has_let_go_of_it_for_good),
		cmocka_unit_test(whose_stack_was_moved),
	};

	return cmocka_run_group_tests_name("goroutine_step", tests, NULL, NULL);
}
