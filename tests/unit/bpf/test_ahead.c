// SPDX-License-Identifier: Apache-2.0
/* Code of which nothing is known, left as its next instructions say. */
#include "test.h"

#include "java_world.h"

#define SP    100U /* words of the stack */
#define RA    (HEAP_AT + 4096)
#define NO_FP 1000U

/* The walk stands before such bytes; the return address of every word is behind a call. */
static bool leads(const char *bytes, size_t len, struct unwind_rule *rule)
{
	world_begin(NATIVE_AT + 64, SP);
	world.jvm.serial = 0;
	world.reason = UNWIND_DEPTH;
	for (size_t i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = RA;
	world_heap[4096 - 5] = 0xe8;
	memset(world.code, 0x90, sizeof(world.code)); /* nop: not known */
	memcpy(world.code + UNWIND_CODE_BEHIND, bytes, len);
	memset(rule, 0, sizeof(*rule));
	return ahead_find(&world, &world_memory, rule);
}

static void expect_rule(const char *what, const char *bytes, size_t len, uint32_t ra_word,
			uint32_t fp_word)
{
	struct unwind_rule rule;

	if (!leads(bytes, len, &rule))
		fail_msg("%s: not followed", what);
	if (rule.ra_at != STACK_AT + 8ULL * (SP + ra_word) || rule.cfa != rule.ra_at + 8 ||
	    rule.fp_at != (fp_word == NO_FP ? 0 : STACK_AT + 8ULL * (SP + fp_word)))
		fail_msg("%s: return address %#llx, frame pointer %#llx", what,
			 (unsigned long long)rule.ra_at, (unsigned long long)rule.fp_at);
}

#define EXPECT(what, ra_word, fp_word, bytes) \
	expect_rule(what, bytes, sizeof(bytes) - 1, ra_word, fp_word)

static void expect_nothing(const char *what, const char *bytes, size_t len)
{
	struct unwind_rule rule;

	if (leads(bytes, len, &rule))
		fail_msg("%s: followed", what);
	assert_int_equal(world.reason, UNWIND_DEPTH);
}

#define NOTHING(what, bytes) expect_nothing(what, bytes, sizeof(bytes) - 1)

/* [endbr64;] sub $8,%rsp; call *%rcx; add $8,%rsp; ret */
static void the_trampoline_of_python(void **state)
{
	(void)state;
	EXPECT("endbr64", 0, NO_FP, "\xf3\x0f\x1e\xfa\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3");
	EXPECT("sub", 0, NO_FP, "\x48\x83\xec\x08\xff\xd1\x48\x83\xc4\x08\xc3");
	EXPECT("call", 1, NO_FP, "\xff\xd1\x48\x83\xc4\x08\xc3");
	EXPECT("add", 1, NO_FP, "\x48\x83\xc4\x08\xc3");
	EXPECT("ret", 0, NO_FP, "\xc3");
}

static void what_is_popped(void **state)
{
	(void)state;
	EXPECT("pop %rbx", 1, NO_FP, "\x5b\xc3");
	EXPECT("pop %r15", 1, NO_FP, "\x41\x5f\xc3");
	EXPECT("pop %r13 is not %rbp", 1, NO_FP, "\x41\x5d\xc3");
	EXPECT("pop %rbx; pop %rbp; pop %r12", 3, 1, "\x5b\x5d\x41\x5c\xc3");
	EXPECT("add; pop %rbp", 4, 3, "\x48\x83\xc4\x18\x5d\xc3");
	EXPECT("add $imm32", 0x210 / 8, NO_FP, "\x48\x81\xc4\x10\x02\x00\x00\xc3");
	EXPECT("sub $imm32", 0, NO_FP,
	       "\x48\x81\xec\x00\x01\x00\x00\x48\x81\xc4\x00\x01\x00\x00\xc3");
	NOTHING("pop %rsp", "\x5c\xc3");
	NOTHING("more than a frame", "\x48\x81\xc4\x08\x00\x10\x00\xc3");
	NOTHING("more than a number here can hold", "\x48\x81\xc4\x08\x00\x00\x01\xc3");
	NOTHING("add of less than nothing", "\x48\x83\xc4\x80\xc3");
	NOTHING("add to %rbx", "\x48\x83\xc3\x08\x5b\x5b\xc3");
	NOTHING("or of %rsp", "\x48\x83\xcc\x08\xc3");
	NOTHING("add to %esp", "\x40\x83\xc4\x08\xc3");
}

/* Moves between registers and calls change nothing. */
static void what_keeps_the_stack(void **state)
{
	(void)state;
	EXPECT("mov %ebx,%eax", 1, NO_FP, "\x89\xd8\x5b\xc3");
	EXPECT("mov %rbx,%rax", 1, NO_FP, "\x48\x89\xd8\x5b\xc3");
	EXPECT("mov %rbx,%rax, the other way", 1, NO_FP, "\x48\x8b\xc3\x5b\xc3");
	EXPECT("mov %r8,%rax", 0, NO_FP, "\x4c\x89\xc0\xc3");
	EXPECT("xor, test", 0, NO_FP, "\x31\xc0\x33\xdb\x85\xc9\xc3");
	EXPECT("call rel32", 0, NO_FP, "\xe8\x00\x00\x00\x00\xc3");
	EXPECT("call *%r11", 0, NO_FP, "\x41\xff\xd3\xc3");
	NOTHING("mov %rbp,%rsp", "\x48\x89\xec\xc3");
	NOTHING("mov %rax,%rsp", "\x48\x89\xc4\xc3");
	NOTHING("mov %rax,%rbp", "\x48\x89\xc5\xc3");
	NOTHING("mov (%rax),%rbx", "\x48\x8b\x18\xc3");
	NOTHING("sub between registers", "\x29\xc3\xc3");
	NOTHING("jmp *%rcx", "\xff\xe1\xc3");
	NOTHING("leave", "\xc9\xc3");
	NOTHING("nothing known", "\x90\xc3");
}

/* So many instructions, and so many bytes. */
static void how_far_it_is_followed(void **state)
{
	(void)state;
	EXPECT("eight", 7, NO_FP, "\x5b\x5b\x5b\x5b\x5b\x5b\x5b\xc3");
	NOTHING("nine", "\x5b\x5b\x5b\x5b\x5b\x5b\x5b\x5b\xc3");
	EXPECT("to the last byte that is looked at", 0, NO_FP,
	       "\xe8\x00\x00\x00\x00\xe8\x00\x00\x00\x00\xe8\x00\x00\x00\x00\x31\xc0\xc3");
	NOTHING("and one more",
		"\xe8\x00\x00\x00\x00\xe8\x00\x00\x00\x00\xe8\x00\x00\x00\x00\x48\x31\xc0\xc3");
}

/* The word must lie above, and be behind a call: what does not come back may have any code behind it. */
static void where_it_must_lead(void **state)
{
	struct unwind_rule rule;

	(void)state;
	NOTHING("below the stack pointer", "\x48\x83\xec\x08\xc3");
	assert_true(leads("\xc3", 1, &rule));
	world_stack[SP] = 0;
	world.window_at = 0;
	world.code[UNWIND_CODE_BEHIND] = 0xc3;
	assert_false(ahead_find(&world, &world_memory, &rule));
	world_stack[SP] = RA + 1;
	world.window_at = 0;
	memset(world.code, 0xc3, sizeof(world.code));
	assert_false(ahead_find(&world, &world_memory, &rule));
	assert_int_equal(world.reason, UNWIND_DEPTH);
	world.sp = STACK_AT - 64;
	world.window_at = 0;
	memset(world.code, 0xc3, sizeof(world.code));
	assert_false(ahead_find(&world, &world_memory, &rule));
	assert_int_equal(world.reason, UNWIND_DEPTH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_trampoline_of_python),
		cmocka_unit_test(what_is_popped),
		cmocka_unit_test(what_keeps_the_stack),
		cmocka_unit_test(how_far_it_is_followed),
		cmocka_unit_test(where_it_must_lead),
	};

	return cmocka_run_group_tests_name("ahead", tests, NULL, NULL);
}
