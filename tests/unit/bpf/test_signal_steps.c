// SPDX-License-Identifier: Apache-2.0
/* A signal handler's trampoline and the registers above it (ucontext.h). */
#include "test.h"

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "java_world.h"

#define TRAMPOLINE (HEAP_AT + 4096)
#define SP	   100U /* a word of the stack: the ucontext */

static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05, 0, 0, 0, 0, 0, 0, 0 };
/* By their DWARF numbers. */
static const int gregs[] = {
	REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
	REG_R8,	 REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15
};

static ucontext_t *context(void)
{
	return (ucontext_t *)&world_stack[SP];
}

static void begin(void)
{
	world_begin(TRAMPOLINE, SP);
	world.jvm.serial = 0;
	memcpy(world_heap + 4096, code, sizeof(code));
	for (unsigned int i = 0; i < 16; i++)
		context()->uc_mcontext.gregs[gregs[i]] = 0x1000000 + 8 * i;
	context()->uc_mcontext.gregs[REG_RIP] = NATIVE_AT + 77;
}

/* Each byte of the two instructions counts, but for those of the number that are 0 anyway. */
static void which_code_it_is(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 9; i++) {
		begin();
		assert_true(signal_is_trampoline(&world, &world_memory));
		assert_true(world.no_trampoline == 0);
		world_heap[4096 + i] ^= 0xff;
		assert_int_equal(signal_is_trampoline(&world, &world_memory), i == 5 || i == 6);
		if (i == 5 || i == 6)
			continue;
		/* It is not looked at again. */
		assert_true(world.no_trampoline == TRAMPOLINE);
		world_heap[4096 + i] ^= 0xff;
		assert_false(signal_is_trampoline(&world, &world_memory));
	}
	begin();
	world.pc = STACK_AT - 4096;
	assert_false(signal_is_trampoline(&world, &world_memory));
	/* It is aligned. */
	for (unsigned int i = 1; i < 16; i++) {
		begin();
		world.pc += i;
		memcpy(world_heap + 4096 + i, code, sizeof(code));
		assert_false(signal_is_trampoline(&world, &world_memory));
		assert_true(world.no_trampoline == 0);
	}
}

static void all_registers_are_the_interrupted_ones(void **state)
{
	(void)state;
	begin();
	world.linked = 1;
	assert_int_equal(signal_step(&world, &world_memory), UNWIND_GO_ON);
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(world.leaf_regs[i], 0x1000000 + 8 * i);
	assert_true(world.pc == NATIVE_AT + 77);
	assert_int_equal(world.sp, 0x1000000 + 8 * 7);
	assert_int_equal(world.fp, 0x1000000 + 8 * 6);
	assert_int_equal(world.rbx, 0x1000000 + 8 * 3);
	assert_int_equal(world.r13, 0x1000000 + 8 * 13);
	assert_int_equal(world.r15, 0x1000000 + 8 * 15);
	assert_int_equal(world.linked, 0);
	assert_int_equal(world.leaf, 1);
	assert_int_equal(world.regs_kept, 1);
	assert_int_equal(world.exact, 1);
}

static void expect_stop(enum unwind_reason reason)
{
	assert_int_equal(signal_step(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, reason);
	assert_true(world.pc == TRAMPOLINE);
}

static void a_context_that_cannot_be(void **state)
{
	(void)state;
	begin();
	context()->uc_mcontext.gregs[REG_RIP] = 4095;
	expect_stop(UNWIND_BAD_RETURN);
	begin();
	context()->uc_mcontext.gregs[REG_RSP] = 4095;
	expect_stop(UNWIND_BAD_RETURN);
	begin();
	world.sp = STACK_AT + sizeof(world_stack) - 100;
	expect_stop(UNWIND_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_code_it_is),
		cmocka_unit_test(all_registers_are_the_interrupted_ones),
		cmocka_unit_test(a_context_that_cannot_be),
	};

	return cmocka_run_group_tests_name("signal_step", tests, NULL, NULL);
}
