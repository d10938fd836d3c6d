// SPDX-License-Identifier: Apache-2.0
/*
 * What confirms recorded Java stacks, on trial: a list of calls that follows calls, returns, the
 * interpreter's calls and signals, and that ends when the stack is changed in another way.
 */
#include "test.h"

#include <string.h>

#include "base/macros.h"
#include "tools/java_steps/seen_calls.h"

#define CODE  0x10000ULL
#define STACK 0x20000ULL
#define BYTES 0x1000U

/* Of the callers that each test begins with. */
#define OUTER (CODE + 0x800)
#define INNER (CODE + 0x900)

static uint8_t code[BYTES], words[BYTES];
static struct seen_calls seen;
static struct user_regs_struct regs;

/* --- the process ------------------------------------------------------------------------------ */

static uint8_t *find(uint64_t address, size_t len)
{
	if (address >= CODE && address + len <= CODE + BYTES)
		return code + (address - CODE);
	return address >= STACK && address + len <= STACK + BYTES ? words + (address - STACK)
								  : NULL;
}

int live_walk_read(const struct live_walk *walk, uint64_t address, void *dst, size_t len)
{
	const uint8_t *at = find(address, len);

	(void)walk;
	if (at)
		memcpy(dst, at, len);
	return at ? 0 : -1;
}

bool live_walk_is_code(const struct live_walk *walk, uint64_t address)
{
	(void)walk;
	return find(address, 1) != NULL;
}

void live_walk_order(const struct user_regs_struct *from, uint64_t ret_regs[16])
{
	memset(ret_regs, 0, 16 * sizeof(ret_regs[0]));
	ret_regs[0] = from->rax;
	ret_regs[7] = from->rsp;
}

static void store(uint64_t address, uint64_t word)
{
	uint8_t *at = find(address, 8);

	assert_non_null(at);
	if (at)
		memcpy(at, &word, 8);
}

/* An instruction of BYTES lies at pc; after it these are pc and sp. */
static void run(const char *bytes, uint64_t pc, uint64_t sp)
{
	struct user_regs_struct from = regs;

	memcpy(&code[regs.rip - CODE], bytes, strlen(bytes));
	regs.rip = pc;
	regs.rsp = sp;
	seen_calls_step(&seen, NULL, &from, &regs, false);
}

static void expect(size_t count, const uint64_t *addresses)
{
	assert_true(seen_calls_check(&seen, NULL, &regs));
	assert_int_equal(seen_calls_count(&seen), count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(seen_calls_address(&seen, i), addresses[i]);
}

#define EXPECT(...) \
	expect(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (const uint64_t[]){ __VA_ARGS__ })

static void expect_ended(void)
{
	assert_false(seen_calls_check(&seen, NULL, &regs));
}

/* pc CODE; callers INNER, OUTER, whose return addresses lie at sp and sp + 0x20. */
static int start(void **state)
{
	struct witness_stack stack = { .count = 3 };

	(void)state;
	memset(code, 0x90, sizeof(code));
	memset(words, 0, sizeof(words));
	regs = (struct user_regs_struct){ .rip = CODE, .rsp = STACK + 0x800 };
	store(regs.rsp, INNER);
	store(regs.rsp + 0x20, OUTER);
	stack.frames[0] = (struct witness_frame){ .address = CODE };
	stack.frames[1] = (struct witness_frame){ .address = INNER, .sp = regs.rsp + 8 };
	stack.frames[2] = (struct witness_frame){ .address = OUTER, .sp = regs.rsp + 0x28 };
	seen_calls_start(&seen, NULL, &regs, &stack);
	EXPECT(CODE, INNER, OUTER);
	return 0;
}

static void call(uint64_t to)
{
	store(regs.rsp - 8, regs.rip + 5);
	run("\xe8", to, regs.rsp - 8);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void test_calls(void **state)
{
	(void)state;
	call(CODE + 0x100);
	EXPECT(CODE + 0x100, CODE + 5, INNER, OUTER);
	run("\x55", CODE + 0x101, regs.rsp - 8);
	run("\x5d", CODE + 0x102, regs.rsp + 8);
	run("\xc3", CODE + 5, regs.rsp + 8);
	EXPECT(CODE + 5, INNER, OUTER);
	/* Through a register, with a prefix. */
	store(regs.rsp - 8, regs.rip + 3);
	run("\x41\xff\xd2", CODE + 0x200, regs.rsp - 8);
	EXPECT(CODE + 0x200, CODE + 8, INNER, OUTER);
}

/* As the interpreter does it: from a table, and with a jump. */
static void test_pushed_call(void **state)
{
	uint64_t back = CODE + 0x400;

	(void)state;
	store(regs.rsp - 8, back);
	run("\x41\xff\x34\xd3", CODE + 4, regs.rsp - 8);
	EXPECT(CODE + 4, INNER, OUTER);
	run("\xff\x63\x50", CODE + 0x300, regs.rsp);
	EXPECT(CODE + 0x300, back, INNER, OUTER);
	/* It returns with a jump, too. */
	run("\xff\xe1", back, regs.rsp + 8);
	EXPECT(back, INNER, OUTER);
	/* A pushed word that is no code is none. */
	store(regs.rsp - 8, 7);
	run("\xff\x34\xd3", back + 4, regs.rsp - 8);
	run("\xff\x63\x50", CODE + 0x300, regs.rsp);
	EXPECT(CODE + 0x300, INNER, OUTER);
}

/* From a register; and the method calls itself. */
static void test_pushed_call_again(void **state)
{
	(void)state;
	store(regs.rsp - 8, INNER);
	run("\x41\x53", CODE + 2, regs.rsp - 8);
	run("\xff\x63\x50", CODE + 0x300, regs.rsp);
	EXPECT(CODE + 0x300, INNER, INNER, OUTER);
	run("\xff\xe1", INNER, regs.rsp + 8);
	EXPECT(INNER, INNER, OUTER);
}

/* An adapter takes the return address into a register and puts it elsewhere. */
static void test_moved(void **state)
{
	(void)state;
	regs.rax = INNER;
	run("\x58", CODE + 1, regs.rsp + 8);
	EXPECT(CODE + 1, INNER, OUTER);
	regs.rax = 0;
	expect_ended(); /* it is nowhere */
	start(NULL);
	regs.rax = INNER;
	run("\x58", CODE + 1, regs.rsp + 8);
	store(regs.rsp - 8, 0x1234);
	run("\x48\x83\xec\x20", CODE + 5, regs.rsp - 0x20);
	store(regs.rsp - 8, INNER);
	run("\x50", CODE + 6, regs.rsp - 8);
	regs.rax = 0;
	EXPECT(CODE + 6, INNER, OUTER);
	/* That was no call. */
	run("\xff\x63\x50", CODE + 0x300, regs.rsp);
	EXPECT(CODE + 0x300, INNER, OUTER);
	run("\xc3", INNER, regs.rsp + 8);
	EXPECT(INNER, OUTER);
}

/* Where it was taken from the word still is. */
static void test_moved_without_trace(void **state)
{
	(void)state;
	regs.rax = INNER;
	run("\x58", CODE + 1, regs.rsp + 8);
	run("\x48\x83\xec\x20", CODE + 5, regs.rsp - 0x20);
	EXPECT(CODE + 5, INNER, OUTER);
	store(regs.rsp - 8, INNER);
	run("\x50", CODE + 6, regs.rsp - 8);
	run("\xff\xe1", CODE + 0x300, regs.rsp);
	EXPECT(CODE + 0x300, INNER, OUTER);
}

static void test_signal(void **state)
{
	struct user_regs_struct from = regs;
	uint64_t trampoline = CODE + 0x600;

	(void)state;
	regs.rip = CODE + 0x500;
	regs.rsp -= 0x300;
	store(regs.rsp, trampoline);
	seen_calls_step(&seen, NULL, &from, &regs, true);
	EXPECT(CODE + 0x500, trampoline, CODE, INNER, OUTER);
	run("\xc3", trampoline, regs.rsp + 8);
	run("\x0f\x05", from.rip, from.rsp);
	EXPECT(CODE, INNER, OUTER);
	/* Another system call. */
	run("\x0f\x05", CODE + 2, regs.rsp);
	EXPECT(CODE + 2, INNER, OUTER);
}

static void test_other_changes_end_it(void **state)
{
	/* A return to somewhere else. */
	(void)state;
	run("\xc3", CODE + 0x700, regs.rsp + 8);
	expect_ended();
	/* Even if the stack is what it was. */
	start(NULL);
	store(regs.rsp - 8, CODE + 0x700);
	run("\x50", CODE + 1, regs.rsp - 8);
	run("\xc3", CODE + 0x700, regs.rsp + 8);
	expect_ended();
	/* Nobody knows where the first return address lies, but the second one's frame is gone. */
	start(NULL);
	seen.frames[1].slot = 0;
	run("\x48\x89\xec", CODE + 3, STACK + 0x900);
	expect_ended();
	/* A jump to a handler of exceptions, with the return address in a register. */
	start(NULL);
	regs.rax = INNER;
	run("\x58", CODE + 1, regs.rsp + 8);
	run("\xff\xe1", CODE + 0x700, regs.rsp);
	expect_ended();
	/* It was asked elsewhere. */
	start(NULL);
	regs.rip++;
	expect_ended();
	/* Frames thrown away. */
	start(NULL);
	run("\x48\x89\xec", CODE + 3, STACK + 0x900);
	expect_ended();
	/* A return address that is changed. */
	start(NULL);
	store(regs.rsp + 0x20, INNER);
	expect_ended();
	/* A step that was not told. */
	start(NULL);
	regs.rip += 2;
	run("\x90", CODE + 3, regs.rsp);
	expect_ended();
	/* A call that does not store where it comes from. */
	start(NULL);
	store(regs.rsp - 8, CODE + 0x700);
	run("\xe8", CODE + 0x100, regs.rsp - 8);
	expect_ended();
	/* Another stack. */
	start(NULL);
	run("\x48\x89\xec", CODE + 3, STACK + 0xf00);
	expect_ended();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_calls, start),
		cmocka_unit_test_setup(test_pushed_call, start),
		cmocka_unit_test_setup(test_pushed_call_again, start),
		cmocka_unit_test_setup(test_moved, start),
		cmocka_unit_test_setup(test_moved_without_trace, start),
		cmocka_unit_test_setup(test_signal, start),
		cmocka_unit_test_setup(test_other_changes_end_it, start),
	};

	return cmocka_run_group_tests_name("calls that were seen", tests, NULL, NULL);
}
