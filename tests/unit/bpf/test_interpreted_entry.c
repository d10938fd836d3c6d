// SPDX-License-Identifier: Apache-2.0
/* The interpreter's method entries and exits: registers by number, which entry, how much of a frame is there. */
#include "test.h"

#include "java_world.h"

#define ENTRIES_AT  (HEAP_AT + 0x8000)
#define SP	    100U /* words of the stack */
#define FP	    120U
#define INTERPRETED (HEAP_AT + 0x9000)
#define JDK_8	    (-7)

/* Entries at 0, 100 and 300, the last ends at 400; the second makes no frame. */
static void begin(unsigned int at)
{
	world_begin(ENTRIES_AT + at, SP);
	world.jvm.entries_start = ENTRIES_AT;
	world.jvm.entry_count = 4;
	world.jvm.entries[0] = (struct wire_entry){ 0, 40 };
	world.jvm.entries[1] = (struct wire_entry){ 100, 0 };
	world.jvm.entries[2] = (struct wire_entry){ 300, 340 };
	world.jvm.entries[3] = (struct wire_entry){ 400, 0 };
	world.jvm.method_slot = -3;
	world.jvm.bcp_slot = -8;
	world.jvm.sender_sp_slot = -1;
	world.leaf = 1;
	world.fp = world_word(FP);
	for (unsigned int i = 0; i < 16; i++)
		world.leaf_regs[i] = 0x100 + i;
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 0x10000 + i;
}

/* --- registers -------------------------------------------------------------------------------- */

static void a_pop(void **state)
{
	wire_u32 reg;

	(void)state;
	for (unsigned int i = 0; i < 8; i++) {
		const uint8_t low[] = { (uint8_t)(0x58 + i), 0 };
		const uint8_t high[] = { 0x41, (uint8_t)(0x58 + i) };
		const uint8_t push[] = { 0x41, (uint8_t)(0x50 + i) };

		assert_int_equal(interpreted_pop(low, &reg), 1);
		assert_int_equal(reg, i);
		assert_int_equal(interpreted_pop(high, &reg), 2);
		assert_int_equal(reg, 8 + i);
		assert_int_equal(interpreted_pop(push, &reg), 0);
		assert_int_equal(interpreted_pop(push + 1, &reg), 0);
	}
}

static void a_move_to_sp(void **state)
{
	wire_u32 reg;

	(void)state;
	for (unsigned int i = 0; i < 16; i++) {
		uint8_t code[] = { (uint8_t)(0x48 + (i >> 3)), 0x8b, (uint8_t)(0xe0 + (i & 7)) };

		assert_true(interpreted_sets_sp(code, &reg));
		assert_int_equal(reg, i);
		code[0] += 2;
		assert_false(interpreted_sets_sp(code, &reg));
		code[0] -= 2;
		code[1]++;
		assert_false(interpreted_sets_sp(code, &reg));
		code[1]--;
		code[2] += 8;
		assert_false(interpreted_sets_sp(code, &reg));
	}
}

static void a_jump(void **state)
{
	(void)state;
	assert_true(interpreted_jumps((const uint8_t *)"\xff\xe0"));
	assert_true(interpreted_jumps((const uint8_t *)"\x41\xff\xe5"));
	assert_true(interpreted_jumps((const uint8_t *)"\xff\x63\x10"));
	assert_false(interpreted_jumps((const uint8_t *)"\xff\xd0"));
	assert_false(interpreted_jumps((const uint8_t *)"\xff\xe8"));
	assert_false(interpreted_jumps((const uint8_t *)"\xfe\xe0"));
	assert_false(interpreted_jumps((const uint8_t *)"\x42\xff\xe5"));
}

static void what_is_between_leave_and_pop(void **state)
{
	(void)state;
	assert_int_equal(interpreted_flag((const uint8_t *)"\x41\xc6\x87"), 8);
	assert_int_equal(interpreted_flag((const uint8_t *)"\x41\xc6\x47"), 5);
	assert_int_equal(interpreted_flag((const uint8_t *)"\x41\xc6\x46"), 0);
	assert_int_equal(interpreted_alignment((const uint8_t *)"\x48\x83\xc4\x08"), 8);
	assert_int_equal(interpreted_alignment((const uint8_t *)"\x48\x83\xc4\x10"), 0);
	assert_int_equal(
		interpreted_leaf_alignment((const uint8_t *)"\xe8\1\2\3\4\x48\x83\xc4\x08"), 8);
	assert_int_equal(
		interpreted_leaf_alignment((const uint8_t *)"\xe9\1\2\3\4\x48\x83\xc4\x08"), 0);
	assert_int_equal(interpreted_leaf_alignment((const uint8_t *)"\x48\x83\xc4\x08\0\0\0\0\0"),
			 8);
}

/* --- where the activation was removed --------------------------------------------------------- */

/* Behind the `leave` of pop %rsi; mov %rbx,%rsp. */
static int take_exit(unsigned int passed, uint64_t rbx)
{
	struct interpreted_exit exit = { .pop = 0, .set_sp = 1, .ra_reg = 6, .sp_reg = 3 };

	begin(0);
	world.leaf_regs[DWARF_RBX] = rbx;
	return interpreted_take_exit(&world, &world_memory, &exit, passed);
}

static void the_caller_of_what_was_removed(void **state)
{
	(void)state;
	assert_int_equal(take_exit(0, world_word(SP + 5)), INTERPRETED_GONE);
	assert_int_equal(world.interpreted.ra, 0x10000 + SP);
	assert_true(world.interpreted.sender_sp == world_word(SP + 5));
	assert_true(world.interpreted.fp == world_word(FP));
	assert_int_equal(take_exit(1, world_word(SP - 1)), INTERPRETED_GONE);
	assert_int_equal(world.interpreted.ra, 0x104); /* %rsi */
	assert_true(world.interpreted.sender_sp == world_word(SP));
	take_exit(0, 0);
	world.sp = STACK_AT - 8;
	world.window_at = 0;
	assert_int_equal(interpreted_take_exit(&world, &world_memory,
					       &(struct interpreted_exit){ .set_sp = 1 }, 0),
			 INTERPRETED_LOST);
}

/* --- which entry ------------------------------------------------------------------------------ */

static void the_entry_of_a_pc(void **state)
{
	static const struct {
		int at, entry;
	} cases[] = { { -1, -1 }, { 0, 0 },   { 99, 0 },  { 100, 1 },
		      { 299, 1 }, { 300, 2 }, { 399, 2 }, { 400, -1 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct wire_entry *entry;
		wire_u32 at = 7;

		begin(0);
		world.pc = ENTRIES_AT + (uint64_t)cases[i].at;
		entry = interpreted_entry(&world, &at);
		if (cases[i].entry < 0) {
			assert_null(entry);
			continue;
		}
		assert_ptr_equal(entry, &world.jvm.entries[cases[i].entry]);
		assert_int_equal(at, cases[i].at);
	}
	begin(0);
	world.jvm.entry_count = 0;
	assert_null(interpreted_entry(&world, &(wire_u32){ 0 }));
	/* As many as there may be. */
	begin(0);
	world.jvm.entry_count = WIRE_JVM_ENTRIES;
	for (unsigned int i = 0; i < WIRE_JVM_ENTRIES; i++)
		world.jvm.entries[i].start = (uint16_t)(10 * i);
	world.pc = ENTRIES_AT + 10 * (WIRE_JVM_ENTRIES - 1) - 1;
	assert_ptr_equal(interpreted_entry(&world, &(wire_u32){ 0 }),
			 &world.jvm.entries[WIRE_JVM_ENTRIES - 2]);
	world.pc++;
	assert_null(interpreted_entry(&world, &(wire_u32){ 0 }));
}

/* --- how much of a frame is there ------------------------------------------------------------- */

static void the_senders_stack_pointer(void **state)
{
	(void)state;
	begin(0);
	world.r13 = world.sp;
	assert_true(interpreted_sender_sp(&world, 7) == world.sp);
	world.r13 = world_word(SP + 3);
	assert_true(interpreted_sender_sp(&world, 7) == world.r13);
	world.r13 = world_word(SP - 1);
	assert_true(interpreted_sender_sp(&world, 7) == 7);
	world.r13 = world.sp + (64 << 10) - 8;
	assert_true(interpreted_sender_sp(&world, 7) == world.r13);
	world.r13 = world.sp + (64 << 10);
	assert_true(interpreted_sender_sp(&world, 7) == 7);
}

/* push %rax; push %rbp; mov %rsp,%rbp; push %r13: DONE bytes of them, 0x10000 + n in word n. */
static void expect_in_frame(unsigned int done, unsigned int ra_word, uint64_t fp,
			    uint64_t sender_sp)
{
	begin(0);
	world.r13 = 5;
	if (done >= 5)
		world.fp = world.sp;
	if (done >= 7)
		world.sp -= 8;
	assert_int_equal(interpreted_in_frame(&world, &world_memory, done), INTERPRETED_UNBUILT);
	assert_int_equal(world.interpreted.ra, 0x10000 + ra_word);
	assert_int_equal(world.interpreted.fp, fp);
	assert_int_equal(world.interpreted.sender_sp, sender_sp);
}

static void a_frame_that_is_being_built(void **state)
{
	(void)state;
	expect_in_frame(1, SP, world_word(FP), world_word(SP + 1));
	expect_in_frame(2, SP + 1, 0x10000 + SP, world_word(SP + 2));
	expect_in_frame(4, SP + 1, 0x10000 + SP, world_word(SP + 2));
	expect_in_frame(5, SP + 1, 0x10000 + SP, world_word(SP + 2));
	expect_in_frame(7, SP + 1, 0x10000 + SP, 0x10000 + SP - 1);
	for (unsigned int done = 1; done < 8; done++) {
		begin(0);
		world.sp = STACK_AT - 64;
		world.fp = STACK_AT - 64;
		assert_int_equal(interpreted_in_frame(&world, &world_memory, done),
				 INTERPRETED_LOST);
	}
	/* The sender's slot is below all that can be read. */
	begin(0);
	world.fp = STACK_AT;
	world.sp = STACK_AT - 8;
	assert_int_equal(interpreted_in_frame(&world, &world_memory, 7), INTERPRETED_LOST);
}

static void when_the_frame_stands(void **state)
{
	(void)state;
	begin(45);
	world.rbx = 0xb;
	world.sp = world_word(FP - 3);
	assert_int_equal(interpreted_at_entry(&world, &world_memory, 40, 45), INTERPRETED_STANDS);
	assert_true(world.interpreted.method == 0);
	world.sp += 8;
	assert_int_equal(interpreted_at_entry(&world, &world_memory, 40, 45), INTERPRETED_UNBUILT);
	assert_int_equal(world.interpreted.method, 0xb);
	assert_int_equal(world.interpreted.ra, 0x10000 + FP + 1);
	world.sp = world_word(FP - 3);
	assert_int_equal(interpreted_at_entry(&world, &world_memory, 40, 44), INTERPRETED_UNBUILT);
	/* Before its first instruction nothing is pushed. */
	begin(40);
	world_stack[SP] = INTERPRETED;
	assert_int_equal(interpreted_at_entry(&world, &world_memory, 40, 40), INTERPRETED_UNBUILT);
	assert_true(world.interpreted.ra == INTERPRETED);
	assert_true(world.interpreted.sender_sp == world_word(SP + 1));
	/* Nor where there never is a frame. */
	begin(145);
	world_stack[SP] = INTERPRETED;
	world.sp = world_word(SP);
	assert_int_equal(interpreted_at_entry(&world, &world_memory, 0, 145), INTERPRETED_UNBUILT);
	assert_true(world.interpreted.ra == INTERPRETED);
}

/* The return address is on the stack, above a word of alignment, in a register, or in %rax. */
static void a_frame_that_is_not_begun(void **state)
{
	static const uint8_t unalign[] = { 0x48, 0x83, 0xc4, 0x08 };
	static const uint8_t popped[] = { 0x5f, 0x49, 0x8b, 0xe5 };

	(void)state;
	begin(0);
	world_stack[SP] = INTERPRETED;
	memcpy(world.text + UNWIND_TEXT_BEHIND, unalign, sizeof(unalign));
	world_stack[SP + 1] = WORLD_CALLER;
	assert_int_equal(interpreted_before_frame(&world, &world_memory, 0), INTERPRETED_UNBUILT);
	assert_true(world.interpreted.ra == WORLD_CALLER);
	assert_true(world.interpreted.sender_sp == world_word(SP + 2));
	assert_true(world.interpreted.fp == world_word(FP));
	begin(0);
	memset(world.text, 0, sizeof(world.text));
	world.leaf_regs[DWARF_RAX] = WORLD_CALLER; /* [sp] is no Java code */
	assert_int_equal(interpreted_before_frame(&world, &world_memory, 0), INTERPRETED_UNBUILT);
	assert_true(world.interpreted.ra == WORLD_CALLER);
	begin(0);
	world_stack[SP] = INTERPRETED;
	memcpy(world.text + UNWIND_TEXT_BEHIND - 1, popped, sizeof(popped));
	assert_int_equal(interpreted_before_frame(&world, &world_memory, 0), INTERPRETED_UNBUILT);
	assert_int_equal(world.interpreted.ra, 0x105); /* %rdi */
	begin(0);
	world.sp = STACK_AT - 8;
	assert_int_equal(interpreted_before_frame(&world, &world_memory, 0), INTERPRETED_LOST);
}

/* JDK 8 only: the return address lies below the caller's stack pointer. */
static int was_sent(int bcp_slot, unsigned int sender, uint64_t ra)
{
	begin(0);
	memset(&world.interpreted, 0, sizeof(world.interpreted));
	world.jvm.bcp_slot = (wire_s8)bcp_slot;
	world_stack[sender - 1] = ra;
	return interpreted_was_sent(&world, &world_memory, world_word(sender));
}

static void what_math_of_jdk_8_leaves(void **state)
{
	(void)state;
	assert_true(was_sent(JDK_8, SP + 10, WORLD_CALLER));
	assert_true(world.interpreted.ra == WORLD_CALLER);
	assert_true(world.interpreted.sender_sp == world_word(SP + 10));
	assert_true(world.interpreted.fp == world_word(FP));
	assert_false(was_sent(-8, SP + 10, WORLD_CALLER));
	assert_false(was_sent(JDK_8, SP, WORLD_CALLER));
	assert_false(was_sent(JDK_8, SP + 10, NATIVE_AT));
	assert_true(world.interpreted.ra == 0);
	/* It is %r13 of a leaf, where its entry makes no frame. */
	for (int frameless = 0; frameless < 2; frameless++) {
		was_sent(JDK_8, SP + 10, WORLD_CALLER);
		memset(world.text, 0, sizeof(world.text));
		world.r13 = world_word(SP + 10);
		world_stack[SP] = INTERPRETED;
		world.window_at = 0;
		assert_int_equal(interpreted_before_frame(&world, &world_memory, frameless),
				 INTERPRETED_UNBUILT);
		assert_true(world.interpreted.ra == (frameless ? WORLD_CALLER : INTERPRETED));
	}
}

/* --- entries that call on --------------------------------------------------------------------- */

/* Native code was called, or a stub: which registers are the entry's. */
static void begin_caller(unsigned int at, int native)
{
	begin(at);
	world.leaf = 0;
	world.native = (uint8_t)native;
	world.rbx = 0xb;
	world.leaf_regs[DWARF_RBX] = 0xc;
	world.r13 = world_word(SP + 3);
	world.leaf_regs[DWARF_R13] = world_word(SP + 5);
}

static void an_entry_that_called(void **state)
{
	(void)state;
	for (int native = 0; native < 2; native++) {
		begin_caller(150, native);
		assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_UNBUILT);
		assert_int_equal(world.interpreted.method, native ? 0xb : 0xc);
		assert_true(world.interpreted.sender_sp == world_word(SP + (native ? 3 : 5)));
		assert_int_equal(world.interpreted.ra, 0x10000 + SP);
		assert_true(world.interpreted.fp == world_word(FP));
	}
	/* A word of alignment; and %r13 is something else already. */
	begin_caller(150, 1);
	memcpy(world_heap + 0x8000 + 150, "\x48\x83\xc4\x08", 4);
	world.r13 = 3;
	assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_UNBUILT);
	assert_int_equal(world.interpreted.ra, 0x10000 + SP + 1);
	assert_true(world.interpreted.sender_sp == world_word(SP + 2));
	/* Where a frame is made only behind the call. */
	begin_caller(40, 1);
	assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_UNBUILT);
	begin_caller(41, 1);
	assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_STANDS);
	begin_caller(500, 1);
	assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_STANDS);
	begin_caller(150, 1);
	world.sp = STACK_AT - 8;
	assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_LOST);
	begin_caller(150, 0);
	world.jvm.entries_start = world.pc - 150 - (HEAP_AT - STACK_AT);
	world.pc = world.jvm.entries_start + 150;
	assert_int_equal(interpreted_caller(&world, &world_memory), INTERPRETED_LOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pop),
		cmocka_unit_test(a_move_to_sp),
		cmocka_unit_test(a_jump),
		cmocka_unit_test(what_is_between_leave_and_pop),
		cmocka_unit_test(the_caller_of_what_was_removed),
		cmocka_unit_test(the_entry_of_a_pc),
		cmocka_unit_test(the_senders_stack_pointer),
		cmocka_unit_test(a_frame_that_is_being_built),
		cmocka_unit_test(when_the_frame_stands),
		cmocka_unit_test(a_frame_that_is_not_begun),
		cmocka_unit_test(what_math_of_jdk_8_leaves),
		cmocka_unit_test(an_entry_that_called),
	};

	return cmocka_run_group_tests_name("interpreted_entry", tests, NULL, NULL);
}
