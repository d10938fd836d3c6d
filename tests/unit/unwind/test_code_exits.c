// SPDX-License-Identifier: Apache-2.0
/* How code returns, found by following it from anywhere in it. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fake_clock.h"
#include "infer_fixture.h"
#include "unwind/exits/code_exits.h"

#define AT 0x7f0012340000ULL

static uint8_t code[256 << 10];
static struct code_exits *looked;
static struct unwind_exit found[EXITS_MOST];
static uint64_t now_ns;
static int reads;

static int read_code(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	reads++;
	if (address < AT || address - AT > sizeof(code) - len)
		return -EFAULT;
	memcpy(dst, code + (address - AT), len);
	return 0;
}

static uint32_t look_at(uint64_t offset)
{
	const struct code_source source = { 1, read_code, NULL };

	now_ns += 5 * NSEC_PER_SEC; /* what was kept is old */
	return code_exits_find(looked, &source, AT + offset, now_ns, found);
}

static int setup(void **state)
{
	(void)state;
	memset(code, 0xcc, sizeof(code));
	now_ns = 1;
	looked = code_exits_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	code_exits_free(looked);
	return 0;
}

#define PUT(offset, name) memcpy(code + (offset), name##_begin, (size_t)(name##_end - name##_begin))

/* As PCRE2's: registers of the caller, places, a call with what is pushed, and back. */
INFER_CASE(
	made,
	"push %rbp\n push %rbx\n push %r15\n push %r14\n push %r13\n sub $40,%rsp\n"
	".Lmade_loop: mov 8(%rsi),%rbp\n cmp %rax,%rbp\n je .Lmade_end\n push %rax\n call *%rcx\n pop %rcx\n jmp .Lmade_loop\n"
	".Lmade_end: add $40,%rsp\n pop %r13\n pop %r14\n pop %r15\n pop %rbx\n pop %rbp\n ret");

static void expect_made(uint64_t offset, int32_t below)
{
	assert_int_equal(look_at(offset), 1);
	assert_true(found[0].jump == 0);
	assert_int_equal(found[0].sp, 40 + 5 * 8 + below);
	assert_int_equal(found[0].r13, 40 + below);
	assert_int_equal(found[0].r15, 40 + 16 + below);
	assert_int_equal(found[0].rbx, 40 + 24 + below);
	assert_int_equal(found[0].rbp, 40 + 32 + below);
}

static void from_anywhere_in_it(void **state)
{
	const size_t body = 1 + 1 + 2 + 2 + 2 + 4;

	(void)state;
	PUT(0x1000, made);
	expect_made(0x1000 + body, 0);
	/* Behind the push and the call. */
	expect_made(0x1000 + body + 4 + 3 + 2 + 1, 8);
	expect_made(0x1000 + body + 4 + 3 + 2 + 1 + 2, 8);
	/* At its begin all is as it was. */
	assert_int_equal(look_at(0x1000), 1);
	assert_int_equal(found[0].sp, 0);
	/* Before the return. */
	assert_int_equal(look_at(0x1000 + (size_t)(made_end - made_begin) - 1), 1);
	assert_int_equal(found[0].sp, 0);
	assert_true(found[0].rbp == EXITS_KEPT && found[0].rbx == EXITS_KEPT &&
		    found[0].r13 == EXITS_KEPT && found[0].r15 == EXITS_KEPT);
}

/* Registers from places, as mono has them; lea instead of add; a page further. */
INFER_CASE(
	loading,
	"mov 8(%rsp),%rbx\n mov (%rsp),%rbp\n mov 16(%rsp),%r15\n mov 24(%rsp),%r13\n mov 32(%rsp),%r14\n lea 0x48(%rsp),%rsp\n ret");

static void registers_from_places(void **state)
{
	(void)state;
	for (uint64_t offset = 0x1fe0; offset < 0x2000; offset++) {
		memset(code, 0xcc, 0x3000);
		PUT(offset, loading);
		assert_int_equal(look_at(offset), 1);
		assert_int_equal(found[0].sp, 0x48);
		assert_int_equal(found[0].rbx, 8);
		assert_int_equal(found[0].rbp, 0);
		assert_int_equal(found[0].r15, 16);
		assert_int_equal(found[0].r13, 24);
	}
}

/* A return to what was pushed is none; nor is what leads nobody knows where. */
INFER_CASE(pushed, "push %rax\n ret");
INFER_CASE(anywhere, "test %eax,%eax\n jne 1f\n jmp *%rax\n 1: mov %rbx,%rsp\n ret");
INFER_CASE(leaving, "leave\n ret");
INFER_CASE(odd, "add $4,%rsp\n ret");
INFER_CASE(deep, "add $0x100008,%rsp\n ret");

static void what_is_no_return(void **state)
{
	(void)state;
	PUT(0x1000, pushed);
	PUT(0x2000, anywhere);
	PUT(0x3000, leaving);
	PUT(0x4000, odd);
	PUT(0x5000, deep);
	for (uint64_t offset = 0x1000; offset <= 0x5000; offset += 0x1000)
		assert_int_equal(look_at(offset), 0);
	assert_int_equal(look_at(sizeof(code) + 0x100000), 0);
}

/* Ways that end with other stacks are told, each once. */
INFER_CASE(
	two_ways,
	"test %eax,%eax\n je 1f\n test %edi,%edi\n je 2f\n add $8,%rsp\n ret\n 1: add $24,%rsp\n ret\n 2: pop %rcx\n ret");

static void ways_that_differ(void **state)
{
	(void)state;
	PUT(0x1000, two_ways);
	assert_int_equal(look_at(0x1000), 2);
	assert_int_equal(found[0].sp, 8);
	assert_int_equal(found[1].sp, 24);
}

/* To where it goes on is told, and with which stack: out of what is looked at. */
static void jumps_that_are_far(void **state)
{
	static const uint8_t far_jump[] = { 0x48, 0x83, 0xc4, 0x10, 0xe9, 0, 0, 0x40, 0 };
	static const uint8_t near_jump[] = { 0x58, 0xe9, 0, 1, 0, 0 };

	(void)state;
	memcpy(code + 0x1000, far_jump, sizeof(far_jump));
	assert_int_equal(look_at(0x1000), 1);
	assert_true(found[0].jump == AT + 0x1000 + sizeof(far_jump) + 0x400000);
	assert_int_equal(found[0].sp, 16);
	memcpy(code + 0x2000, near_jump, sizeof(near_jump));
	code[0x2000 + sizeof(near_jump) + 0x100] = 0xc3;
	assert_int_equal(look_at(0x2000), 1);
	assert_true(found[0].jump == 0);
	assert_int_equal(found[0].sp, 8);
}

/* PyPy's guards: where it goes on is a number in a register. */
INFER_CASE(by_register,
	   "push $7\n movabs $0x7f0012350000,%r11\n push %r11\n lea -0x4000(%r11),%r11\n"
	   "jmp *%r11\n");
INFER_CASE(by_other_register, "movabs $0x7f0012350000,%r11\n jmp *%r10\n");
INFER_CASE(by_what_was, "movabs $0x7f0012350000,%r11\n mov %rax,%r11\n jmp *%r11\n");
INFER_CASE(by_other_sum, "movabs $0x7f0012350000,%r11\n lea 0x4000(%r10),%r10\n jmp *%r11\n");
INFER_CASE(behind_a_branch, "movabs $0x7f0012350000,%r11\n je 1f\n ud2\n 1: jmp *%r11\n");

static void jumps_by_register(void **state)
{
	(void)state;
	code[0x10000] = 0xc3;			  /* ret */
	memcpy(code + 0xc000, "\x58\x58\xc3", 3); /* what was pushed, and back */
	PUT(0x2000, by_register);
	assert_int_equal(look_at(0x2000), 1);
	assert_true(found[0].jump == 0 && found[0].sp == 0);
	PUT(0x2000, by_other_sum);
	assert_int_equal(look_at(0x2000), 1);
	PUT(0x2000, by_other_register);
	assert_int_equal(look_at(0x2000), 0);
	PUT(0x2000, by_what_was);
	assert_int_equal(look_at(0x2000), 0);
	PUT(0x2000, behind_a_branch);
	assert_int_equal(look_at(0x2000), 0);
}

/* Code that goes on for ever, and code of branches alone. */
static void there_is_an_end(void **state)
{
	(void)state;
	memset(code, 0x90, sizeof(code));
	assert_int_equal(look_at(0x1000), 0);
	for (size_t at = 0; at < sizeof(code); at += 2)
		memcpy(code + at, "\x75\x02", 2);
	assert_int_equal(look_at(0x1000), 0);
	memset(code, 0x58, sizeof(code)); /* pop %rax, and too far away */
	assert_int_equal(look_at(0x1000), 0);
}

/* What was found is kept for a while, for this process. */
static void what_is_kept(void **state)
{
	const struct code_source source = { 1, read_code, NULL };
	int before;

	(void)state;
	PUT(0x1000, loading);
	assert_int_equal(look_at(0x1000), 1);
	before = reads;
	code[0x1000] = 0xcc;
	assert_int_equal(code_exits_find(looked, &source, AT + 0x1000, now_ns + 1, found), 1);
	assert_int_equal(found[0].sp, 0x48);
	assert_int_equal(reads, before);
	for (uint32_t pid = 2; pid < 5000; pid++) {
		const struct code_source other = { pid, read_code, NULL };

		assert_int_equal(code_exits_find(looked, &other, AT + 0x1000, now_ns + 1, found),
				 0);
	}
	assert_int_equal(look_at(0x1000), 0);
}

/* Where a moment ago there was no code yet. */
static void code_that_is_new(void **state)
{
	const struct code_source source = { 1, read_code, NULL };

	(void)state;
	assert_int_equal(look_at(0x1000), 0);
	PUT(0x2000, loading);
	assert_int_equal(code_exits_find(looked, &source, AT + 0x2000, now_ns + 1, found), 1);
}

static int read_slowly(const void *data, uint64_t address, void *dst, size_t len)
{
	usleep(6000);
	return read_code(data, address, dst, len);
}

static uint32_t look_slowly(uint32_t pid, uint64_t at)
{
	const struct code_source slow = { pid, read_slowly, NULL };

	return code_exits_find(looked, &slow, AT + at, now_ns, found);
}

/* Who has had his part of a second must wait for the next one; so must all, when all have. */
static void how_long_it_may_take(void **state)
{
	const uint64_t before = code_exits_refused(looked);
	uint32_t pid;

	(void)state;
	now_ns += 5 * NSEC_PER_SEC;
	for (uint64_t at = 0; at < sizeof(code); at += 0x4000)
		PUT(at, loading);
	for (uint64_t at = 0; at < 0x10000; at += 0x4000)
		assert_int_equal(look_slowly(100, at), 1);
	assert_int_equal(look_slowly(100, 0x10000), 0);
	assert_true(code_exits_refused(looked) == before + 1);
	/* What it knows it knows, and another process has time. */
	assert_int_equal(look_slowly(100, 0), 1);
	for (pid = 101; look_slowly(pid, 0x18000) && pid < 150; pid++)
		;
	assert_true(pid > 104 && pid < 120);
	now_ns += NSEC_PER_SEC;
	assert_int_equal(look_slowly(100, 0x10000), 1);
	assert_int_equal(look_slowly(pid, 0x18000), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(from_anywhere_in_it), cmocka_unit_test(registers_from_places),
		cmocka_unit_test(what_is_no_return),   cmocka_unit_test(ways_that_differ),
		cmocka_unit_test(jumps_that_are_far),  cmocka_unit_test(there_is_an_end),
		cmocka_unit_test(jumps_by_register),   cmocka_unit_test(what_is_kept),
		cmocka_unit_test(code_that_is_new),    cmocka_unit_test(how_long_it_may_take),
	};

	return cmocka_run_group_tests_name("code_exits", tests, setup, teardown);
}
