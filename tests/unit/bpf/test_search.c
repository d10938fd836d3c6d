// SPDX-License-Identifier: Apache-2.0
/* Made code that keeps no frame pointer: its caller is searched for on the stack. */
#include "test.h"

#include "java_world.h"

#define SP	   100U /* words of the stack */
#define FILE_END   (HEAP_AT + 0x8000)
#define BY_POINTER (HEAP_AT + 0x1010) /* behind call *%rax */
#define DIRECT	   (HEAP_AT + 0x1020) /* behind call rel32 */
#define NO_CALL	   (HEAP_AT + 0x1030)
#define MADE	   (FILE_END + 0x10) /* behind a call in made code */
#define UP	   3U		     /* words of a frame */

static const struct wire_range ranges[] = { { HEAP_AT, FILE_END, 0, 7, 1 },
					    { FILE_END, FILE_END + 0x8000, 0, 0, 1 } };
static struct wire_block blocks[2] = { { 0 },
				       { .generation = 1, .count = 1, .rows = { { 0, 1 } } } };
static struct wire_rule rules[2];
static bool has_rows;

static const struct wire_page *find_page(const struct wire_page_key *key, const void *data)
{
	static const struct wire_page page = { 1, 1 };

	(void)data;
	return has_rows && key->file == 7 ? &page : NULL;
}

static void put_call(uint64_t ra, const char *bytes, size_t len)
{
	memcpy(world_heap + (ra - len - HEAP_AT), bytes, len);
}

/* The walk stands in made code, whose frame pointer is 0; no word is a return address. */
static void begin(void)
{
	world_begin(FILE_END + 0x4000, SP);
	world.jvm.serial = 0;
	world.count = 2;
	put_call(BY_POINTER, "\xff\xd0", 2);
	put_call(DIRECT, "\xe8\x00\x00\x00\x00", 5);
	put_call(MADE, "\xff\xd0", 2);
	rules[1] = (struct wire_rule){
		.kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .cfa_offset = 8 * UP, .ra_slot = 1
	};
	has_rows = true;
	world_tables = (struct unwind_tables){ .ranges = ranges,
					       .range_count = ARRAY_SIZE(ranges),
					       .blocks = blocks,
					       .block_count = 2,
					       .rules = rules,
					       .rule_count = 2,
					       .page = find_page };
}

/* Return address RA at WORD above sp, and so many frames above it. */
static void put_frames(uint32_t word, uint64_t ra, uint32_t above)
{
	world_stack[SP + word] = ra;
	for (uint32_t i = 1; i <= above; i++)
		world_stack[SP + word + UP * i] = DIRECT;
}

static bool finds(uint32_t word, uint64_t ra)
{
	enum unwind_verdict verdict = search_step(&world, &world_memory);

	if (verdict == UNWIND_STOP)
		return false;
	assert_true(world.pc == ra);
	assert_int_equal(world.sp, STACK_AT + 8ULL * (SP + word + 1));
	assert_int_equal(world.searched_frames, 1);
	assert_true(world.fp == 1 && world.rbx == 0 && world.r13 == 0 && world.r15 == 0);
	return true;
}

static void who_called_by_a_pointer(void **state)
{
	(void)state;
	for (uint32_t word = 0; word < 194; word++) {
		begin();
		world.rbx = world.r13 = world.r15 = 5;
		world_stack[SP] = NO_CALL;
		put_frames(word, BY_POINTER, 4);
		assert_int_equal(finds(word, BY_POINTER), word < 192);
	}
	assert_int_equal(world.searched_frames, 0);
}

/* Frames of a stack that is over end soon: such are passed over. */
static void who_has_callers(void **state)
{
	(void)state;
	for (uint32_t above = 0; above < 6; above++) {
		begin();
		put_frames(1, BY_POINTER, above);
		assert_int_equal(finds(1, BY_POINTER), above >= 4);
	}
	begin();
	put_frames(0, BY_POINTER, 1);
	put_frames(50, BY_POINTER, 4);
	assert_true(finds(50, BY_POINTER));
	/* A first frame needs none; of what is not there yet one hears later. */
	begin();
	rules[1].kind = WIRE_RULE_END;
	put_frames(2, BY_POINTER, 0);
	assert_true(finds(2, BY_POINTER));
	begin();
	has_rows = false;
	put_frames(2, BY_POINTER, 0);
	assert_true(finds(2, BY_POINTER));
}

/* A call of its own, of other made code, or one of which the row says nothing: nobody knows what is above. */
static void who_is_in_the_way(void **state)
{
	(void)state;
	begin();
	put_frames(1, DIRECT, 4);
	put_frames(50, BY_POINTER, 4);
	assert_false(finds(0, 0));
	assert_int_equal(world.reason, UNWIND_FP_END);
	begin();
	put_frames(1, DIRECT, 1); /* of a stack that is over */
	put_frames(50, BY_POINTER, 4);
	assert_true(finds(50, BY_POINTER));
	begin();
	put_frames(1, MADE, 0);
	put_frames(50, BY_POINTER, 4);
	assert_false(finds(0, 0));
	begin();
	rules[1].cfa_reg = DWARF_RBP;
	put_frames(1, BY_POINTER, 4);
	assert_false(finds(0, 0));
	begin();
	rules[1].kind = WIRE_RULE_DEREF;
	put_frames(1, BY_POINTER, 4);
	assert_false(finds(0, 0));
	begin();
	world_stack[SP + 1] = UNWIND_USER_END; /* no address at all */
	put_frames(5, BY_POINTER, 4);
	assert_true(finds(5, BY_POINTER));
}

/* A frame pointer that is near is followed; from the leaf only to where a call returns to. */
static void beside_a_frame_pointer(void **state)
{
	(void)state;
	for (int leaf = 0; leaf < 2; leaf++) {
		for (int called = 0; called < 2; called++) {
			begin();
			put_frames(1, BY_POINTER, 4);
			world.leaf = (uint8_t)leaf;
			world.fp = world_word(SP + 300);
			world_stack[SP + 301] = called ? DIRECT : NO_CALL;
			assert_int_equal(search_step(&world, &world_memory), UNWIND_GO_ON);
			assert_int_equal(world.searched_frames, leaf && !called);
		}
	}
	begin();
	put_frames(1, BY_POINTER, 4);
	world.fp = world_word(SP - 1);
	assert_true(finds(1, BY_POINTER));
}

static void whose_code_is_made(void **state)
{
	(void)state;
	begin();
	world.range = ranges[1];
	assert_true(find_is_made(&world));
	world.pc = HEAP_AT + 64;
	assert_false(find_is_made(&world));
	world.range = ranges[0];
	assert_false(find_is_made(&world));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_called_by_a_pointer), cmocka_unit_test(who_has_callers),
		cmocka_unit_test(who_is_in_the_way),	   cmocka_unit_test(beside_a_frame_pointer),
		cmocka_unit_test(whose_code_is_made),
	};

	return cmocka_run_group_tests_name("search", tests, NULL, NULL);
}
