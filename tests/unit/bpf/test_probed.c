// SPDX-License-Identifier: Apache-2.0
/* Walks through code that is probed: return addresses that lead to the kernel's trampoline, and copies of instructions. */
#include "test.h"

#include "walk_world.h"

#define TRAMPOLINE 0x7ffff7ff0000ULL
#define COPY_AT	   (TRAMPOLINE + 5 * PROBED_COPY_BYTES)
#define LEAF	   (TEXT_AT + 0x100)

/* The kernel's notes: what was entered with which stack pointer, the last one first. */
static struct {
	struct {
		uint64_t sp, pc;
	} entered[4];

	unsigned int count;
	uint64_t instruction, copy_at;
} kernel;

static uint64_t return_address(const void *data, uint64_t sp, uint64_t *ret_sp)
{
	(void)data;
	for (unsigned int i = 0; i < kernel.count; i++) {
		if (sp && kernel.entered[i].sp != sp)
			continue;
		*ret_sp = kernel.entered[i].sp;
		return kernel.entered[i].pc;
	}
	return 0;
}

static uint64_t probed_copy_of(const void *data, uint64_t *ret_copy_at)
{
	(void)data;
	*ret_copy_at = kernel.copy_at;
	return kernel.instruction;
}

/* A leaf with two words, its caller with four, and the outermost function. */
static int set_up_probed(void **state)
{
	set_up(state);
	memset(&kernel, 0, sizeof(kernel));
	set_page(0, rule_rsp(24));
	set_page(1, rule_rsp(40));
	w.stack[2] = CALLER;
	w.stack[7] = OUTERMOST;
	w.request.trampoline = TRAMPOLINE;
	w.memory.return_address = return_address;
	w.memory.probed_copy = probed_copy_of;
	return 0;
}

static void enter(uint32_t word, uint64_t pc)
{
	kernel.entered[kernel.count].sp = stack_at(word);
	kernel.entered[kernel.count++].pc = pc;
}

static void expect_all_three(void)
{
	expect_walk(3, UNWIND_DONE);
	expect_frame(0, LEAF);
	expect_frame(1, CALLER);
	expect_frame(2, OUTERMOST);
}

static void nothing_is_probed(void **state)
{
	(void)state;
	expect_all_three();
	w.request.trampoline = 0;
	expect_all_three();
}

/* Each return address by the place that it was taken from, whatever is entered above. */
static void callers_behind_the_trampoline(void **state)
{
	(void)state;
	w.stack[7] = TRAMPOLINE;
	enter(9, 0x1234567);
	enter(7, OUTERMOST);
	expect_all_three();
	w.stack[2] = TRAMPOLINE;
	enter(2, CALLER);
	expect_all_three();
	/* No frame is the trampoline, and the callers are return addresses. */
	assert_int_equal(w.result.words[1] & WIRE_FRAME_EXACT, 0);
}

static void a_place_that_the_kernel_does_not_know(void **state)
{
	(void)state;
	w.stack[2] = TRAMPOLINE;
	enter(3, CALLER);
	expect_walk(1, UNWIND_PROBED);
	w.memory.return_address = NULL;
	expect_walk(1, UNWIND_PROBED);
	w.memory.return_address = return_address;
	kernel.count = 0;
	enter(2, 0xffffffff81000000);
	expect_walk(1, UNWIND_PROBED);
}

/* Only the trampoline's first byte is returned to; other addresses of its page are what they are. */
static void a_return_into_the_trampoline(void **state)
{
	(void)state;
	w.stack[2] = TRAMPOLINE + 1;
	enter(2, CALLER);
	walk_stack(&w.request, &w.memory, &w.result);
	assert_int_not_equal(w.result.reason, UNWIND_PROBED);
	assert_true(w.result.frames < 3);
}

/* The function has returned: the first frame is its caller's, at the return address. */
static void expect_caller_at(uint32_t at, uint32_t sp_word, const char *what)
{
	w.request.pc = TRAMPOLINE + at;
	w.request.regs[DWARF_RSP] = stack_at(sp_word);
	walk_stack(&w.request, &w.memory, &w.result);
	if (w.result.frames != 2 || w.result.reason != UNWIND_DONE ||
	    w.result.words[0] != (CALLER | WIRE_FRAME_EXACT))
		fail_msg("%s: %u frames, reason %d, %#llx", what, w.result.frames,
			 (int)w.result.reason, (unsigned long long)w.result.words[0]);
	expect_frame(1, OUTERMOST);
}

/* It returned to word 3; the trampoline pushes %rax to word 2, %rcx to 1, %r11 to 0. */
static void the_thread_in_the_trampoline(void **state)
{
	(void)state;
	w.stack[2] = 0x4444; /* %rax */
	enter(2, CALLER);
	enter(7, 0x1234567);
	expect_caller_at(0, 3, "push rax");
	expect_caller_at(1, 2, "push rcx");
	expect_caller_at(2, 1, "push r11");
	expect_caller_at(4, 0, "mov");
	expect_caller_at(11, 0, "syscall");
	expect_caller_at(13, 0, "in the system call");
	expect_caller_at(13, 3, "in the system call, the words counted as popped");
}

/* The kernel has taken the function from its list and put the address where %rax was. */
static void behind_the_system_call(void **state)
{
	(void)state;
	enter(7, OUTERMOST);
	w.stack[2] = CALLER;
	w.stack[7] = TRAMPOLINE;
	expect_caller_at(13, 0, "pop r11");
	expect_caller_at(15, 1, "pop rcx");
	expect_caller_at(16, 2, "ret");
	w.stack[2] = 0x10;
	w.request.pc = TRAMPOLINE + 16;
	expect_walk(0, UNWIND_PROBED);
}

/* The thread steps over the copy of an instruction. */
static void a_copy_of_an_instruction(void **state)
{
	(void)state;
	kernel.instruction = LEAF;
	kernel.copy_at = COPY_AT;
	w.request.pc = COPY_AT;
	expect_all_three();
	w.request.pc = COPY_AT + 5;
	expect_walk(3, UNWIND_DONE);
	expect_frame(0, LEAF + 5);
	assert_true(w.result.words[0] & WIRE_FRAME_EXACT);
	w.request.pc = COPY_AT + PROBED_COPY_BYTES;
	expect_walk(0, UNWIND_PROBED);
	w.request.pc = COPY_AT - 1;
	expect_walk(0, UNWIND_PROBED);
	w.memory.probed_copy = NULL;
	w.request.pc = COPY_AT;
	expect_walk(0, UNWIND_PROBED);
}

#define TEST(fn) cmocka_unit_test_setup(fn, set_up_probed)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_probed),
		TEST(callers_behind_the_trampoline),
		TEST(a_place_that_the_kernel_does_not_know),
		TEST(a_return_into_the_trampoline),
		TEST(the_thread_in_the_trampoline),
		TEST(behind_the_system_call),
		TEST(a_copy_of_an_instruction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
