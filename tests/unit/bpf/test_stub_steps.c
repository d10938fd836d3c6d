// SPDX-License-Identifier: Apache-2.0
/* Stubs that call on, question by question: the call stub, barriers, adapters, the frame that %rbp says. */
#include "test.h"

#include "stub_world.h"

#define FP	 (SP_WORD + 20)
#define COOKIE	 (~0ULL)
#define ITS_CALL (CODE_OF(STUBS) + 32)

static void begin(void)
{
	BEGIN("\x90", "\x90");
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	world.leaf = 0;
	world.fp = world_word(FP);
}

static void put_word(unsigned int word, uint64_t value)
{
	world_stack[word] = value;
	world.window_at = 0;
}

static void expect_rule(const struct unwind_rule *rule, unsigned int ra_word, uint64_t fp_at)
{
	assert_true(rule->ra_at == world_word(ra_word));
	assert_true(rule->cfa == world_word(ra_word + 1));
	assert_true(rule->fp_at == fp_at);
}

/* --- the call stub ---------------------------------------------------------------------------- */

static void put_slots(void)
{
	begin();
	put_word(FP + WIRE_ENTRY_WRAPPER, world_word(300));
	put_word(FP + WIRE_ENTRY_RBX, 0xb);
	put_word(FP + WIRE_ENTRY_R13, 0xd);
	put_word(FP + WIRE_ENTRY_R15, 0xf);
	world.anchor_at = 1;
	world.anchor_own = 1;
}

static void what_the_call_stub_gives_back(void **state)
{
	wire_u64 rbx = 0, r13 = 0;

	(void)state;
	put_slots();
	assert_int_equal(stub_leave_java(&world, &world_memory, &rbx, &r13), UNWIND_GO_ON);
	assert_true(rbx == 0xb && r13 == 0xd && world.r15 == 0xf);
	assert_true(world.anchor_at == world_word(300 + WRAPPER_ANCHOR));
	assert_int_equal(world.anchor_own, 0);
	/* Without a place for the anchor, or a wrapper, there is none. */
	put_slots();
	world.jvm.wrapper_anchor = WIRE_JVM_ABSENT;
	assert_int_equal(stub_leave_java(&world, &world_memory, &rbx, &r13), UNWIND_GO_ON);
	assert_true(world.anchor_at == 0);
	put_slots();
	put_word(FP + WIRE_ENTRY_WRAPPER, 0x10);
	assert_int_equal(stub_leave_java(&world, &world_memory, &rbx, &r13), UNWIND_GO_ON);
	assert_true(world.anchor_at == 0);
}

/* Any of its slots may be where no stack is. */
static void slots_that_cannot_be_read(void **state)
{
	static const int slots[] = { WIRE_ENTRY_WRAPPER, WIRE_ENTRY_RBX, WIRE_ENTRY_R13,
				     WIRE_ENTRY_R15 };
	wire_u64 rbx = 0, r13 = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(slots); i++) {
		put_slots();
		world.fp = STACK_AT - 8 * (uint64_t)slots[i] - 8;
		assert_int_equal(stub_leave_java(&world, &world_memory, &rbx, &r13), UNWIND_STOP);
	}
}

/* --- barriers --------------------------------------------------------------------------------- */

static void a_cookie(void **state)
{
	(void)state;
	begin();
	put_word(200, COOKIE);
	put_word(201, RA);
	assert_true(stub_has_cookie(&world, &world_memory, world_word(200)));
	put_word(201, NATIVE_AT);
	assert_false(stub_has_cookie(&world, &world_memory, world_word(200)));
	put_word(201, RA);
	put_word(200, COOKIE - 1);
	assert_false(stub_has_cookie(&world, &world_memory, world_word(200)));
	put_word(ARRAY_SIZE(world_stack) - 1, COOKIE);
	assert_false(
		stub_has_cookie(&world, &world_memory, world_word(ARRAY_SIZE(world_stack) - 1)));
	assert_false(stub_has_cookie(&world, &world_memory, STACK_AT - 8));
}

/* Above the frame of %rbp. What lies at sp is what its callee has left there. */
static void where_a_cookie_may_be(void **state)
{
	static const unsigned int words[] = { SP_WORD, SP_WORD + 1, FP + 1 };
	struct unwind_rule rule;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		begin();
		assert_false(stub_is_barrier(&world, &world_memory, &rule));
		put_word(words[i], COOKIE);
		put_word(words[i] + 1, RA);
		assert_int_equal(stub_is_barrier(&world, &world_memory, &rule), words[i] == FP + 1);
	}
	begin();
	put_word(FP + 1, COOKIE);
	put_word(FP + 2, RA);
	assert_true(stub_is_barrier(&world, &world_memory, &rule));
	expect_rule(&rule, FP + 2, world_word(FP));
	begin();
	put_word(SP_WORD - 1, COOKIE);
	put_word(SP_WORD, RA);
	world.fp = world_word(SP_WORD - 2);
	assert_false(stub_is_barrier(&world, &world_memory, &(struct unwind_rule){ 0 }));
}

/* Where its method's return address lies now: above, not far, and that of Java code. */
static void a_barrier_that_was_left(void **state)
{
	struct unwind_rule rule;

	(void)state;
	begin();
	put_word(FP + 1, world_word(200));
	put_word(200, RA);
	assert_true(stub_is_left_barrier(&world, &world_memory, &rule));
	expect_rule(&rule, 200, world_word(FP));
	assert_true(stub_new_sp(&world, &world_memory, world_word(FP + 1)) == world_word(200));
	put_word(200, NATIVE_AT);
	assert_true(stub_new_sp(&world, &world_memory, world_word(FP + 1)) == 0);
	put_word(FP + 1, world_word(FP + 1));
	assert_true(stub_new_sp(&world, &world_memory, world_word(FP + 1)) == 0);
	put_word(FP, RA);
	put_word(FP + 1, world_word(FP));
	assert_true(stub_new_sp(&world, &world_memory, world_word(FP + 1)) == 0);
	put_word(FP + 1, STACK_AT + sizeof(world_stack));
	assert_true(stub_new_sp(&world, &world_memory, world_word(FP + 1)) == 0);
	assert_true(stub_new_sp(&world, &world_memory, STACK_AT - 8) == 0);
	assert_false(stub_is_left_barrier(&world, &world_memory, &rule));
	/* %rbp is not that of a frame. */
	begin();
	put_word(FP + 1, world_word(200));
	put_word(200, RA);
	world.sp = world.fp + 8;
	assert_false(stub_is_left_barrier(&world, &world_memory, &rule));
}

/* --- a frame within a frame ------------------------------------------------------------------- */

static void begin_nested(unsigned int outer, uint64_t inner_ra)
{
	begin();
	put_call(RA, ITS_CALL);
	put_word(FP, world_word(outer));
	put_word(FP + 1, inner_ra);
	put_word(outer + 1, RA);
}

static void the_frame_around(void **state)
{
	struct unwind_rule rule;

	(void)state;
	begin_nested(FP + 10, 0x7777);
	assert_true(stub_outer_fp(&world, &world_memory) == world_word(FP + 10));
	assert_true(stub_is_nested(&world, &world_memory, &rule));
	expect_rule(&rule, FP + 11, world_word(FP + 10));
	begin_nested(FP + 128, 0x7777);
	assert_true(stub_outer_fp(&world, &world_memory) == world_word(FP + 128));
	begin_nested(FP + 129, 0x7777);
	assert_true(stub_outer_fp(&world, &world_memory) == 0);
	begin_nested(FP - 1, 0x7777);
	put_word(FP + 1, 0x7777);
	assert_true(stub_outer_fp(&world, &world_memory) == 0);
	/* One that was called by Java code is no inner one. */
	begin_nested(FP + 10, OLD_RA);
	assert_true(stub_outer_fp(&world, &world_memory) == 0);
	/* The outer one was called by what leads here. */
	begin_nested(FP + 10, 0x7777);
	put_word(FP + 11, OLD_RA);
	assert_true(stub_outer_fp(&world, &world_memory) == 0);
	assert_false(stub_is_nested(&world, &world_memory, &rule));
	begin_nested(FP + 10, 0x7777);
	world.sp = world.fp + 8;
	assert_true(stub_outer_fp(&world, &world_memory) == 0);
	/* Its own frame pointer is no frame's. */
	begin_nested(FP + 10, 0x7777);
	put_word(FP, world.fp);
	assert_true(stub_outer_fp(&world, &world_memory) == 0);
}

/* --- adapters --------------------------------------------------------------------------------- */

static int is_adapter(uint64_t r13, uint64_t ra, int patches)
{
	struct unwind_rule rule;
	int found;

	begin();
	put_call(RA, ITS_CALL);
	world.r13 = r13;
	put_word(200, ra);
	found = stub_is_adapter(&world, &world_memory, patches, &rule);
	if (found)
		expect_rule(&rule, 200, 0);
	return found;
}

static void an_adapter_that_has_its_caller_patched(void **state)
{
	(void)state;
	assert_true(is_adapter(world_word(200), RA, 0));
	assert_true(is_adapter(world_word(200), OLD_RA, 1));
	assert_false(is_adapter(world_word(200), OLD_RA, 0));
	assert_false(is_adapter(world_word(200), NATIVE_AT, 1));
	assert_false(is_adapter(world_word(SP_WORD), RA, 1));
	assert_false(is_adapter(world_word(SP_WORD) + 4096, RA, 1));
	begin();
	world.sp = STACK_AT + sizeof(world_stack) - 16;
	world.r13 = STACK_AT + sizeof(world_stack);
	assert_false(stub_is_adapter(&world, &world_memory, 1, &(struct unwind_rule){ 0 }));
}

/* --- all together ----------------------------------------------------------------------------- */

/* The first of: the frame of %rbp that was called here, sp, a word above it; else %rbp's. */
static void where_a_caller_is(void **state)
{
	struct unwind_rule rule;

	(void)state;
	begin();
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, FP + 1, world_word(FP));
	put_word(SP_WORD + 1, OLD_RA);
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, SP_WORD + 1, 0);
	put_word(SP_WORD, OLD_RA);
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, SP_WORD, 0);
	put_word(FP + 1, OLD_RA);
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, SP_WORD, 0);
	put_call(OLD_RA, ITS_CALL);
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, FP + 1, world_word(FP));
	world.r13 = world_word(200);
	put_word(200, OLD_RA);
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, 200, 0);
	put_word(SP_WORD, COOKIE);
	put_word(SP_WORD + 1, OLD_RA);
	stub_caller_rule(&world, &world_memory, &rule);
	expect_rule(&rule, 200, 0);
}

/* Registers of the Java code's caller come from the call stub only. */
static void what_is_kept_of_registers(void **state)
{
	(void)state;
	begin();
	world.rbx = world.r13 = 5;
	put_word(SP_WORD, RA);
	assert_int_equal(stub_step(&world, &world_memory), UNWIND_GO_ON);
	assert_true(world.pc == RA && world.rbx == 0 && world.r13 == 0);
	/* Neither a return address nor a frame pointer. */
	begin();
	world.fp = 8;
	assert_int_equal(stub_step(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
	begin();
	world.compiled_seen.blob = HEAP_AT - 4096;
	world.blob_at = 0;
	assert_int_equal(stub_step(&world, &world_memory), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_call_stub_gives_back),
		cmocka_unit_test(slots_that_cannot_be_read),
		cmocka_unit_test(a_cookie),
		cmocka_unit_test(where_a_cookie_may_be),
		cmocka_unit_test(a_barrier_that_was_left),
		cmocka_unit_test(the_frame_around),
		cmocka_unit_test(an_adapter_that_has_its_caller_patched),
		cmocka_unit_test(where_a_caller_is),
		cmocka_unit_test(what_is_kept_of_registers),
	};

	return cmocka_run_group_tests_name("stub_step", tests, NULL, NULL);
}
