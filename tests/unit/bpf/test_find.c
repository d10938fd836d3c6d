// SPDX-License-Identifier: Apache-2.0
/* From an address to its rule: ranges, pages, rows, the cache of hot addresses, and what is not there. */
#include "test.h"

#include <signal.h>
#include <sys/mman.h>

#include "walk_world.h"

/* --- rows -------------------------------------------------------------------------------- */

/* Rows at 0, 0x100, 0x108, 0x10c and 0x110, each with a return address of its own. */
static void add_stairs(void)
{
	static const uint16_t offsets[] = { 0x100, 0x108, 0x10c, 0x110 };

	for (uint32_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		add_row(0, offsets[i], rule_rsp(8 + 8 * (int32_t)i));
		w.stack[i] = OUTERMOST + i;
	}
}

static void expect_stair(uint64_t offset, uint64_t stair)
{
	w.request.pc = TEXT_AT + offset;
	expect_walk(2, UNWIND_DONE);
	expect_frame(1, OUTERMOST + stair);
}

static void test_row_of_an_address(void **state)
{
	(void)state;
	add_stairs();
	w.request.pc = TEXT_AT + 0xff;
	expect_walk(1, UNWIND_DONE);
	expect_stair(0x100, 0);
	expect_stair(0x107, 0);
	expect_stair(0x108, 1);
	expect_stair(0x10b, 1);
	expect_stair(0x10c, 2);
	expect_stair(0x10f, 2);
	expect_stair(0x110, 3);
	expect_stair(0xfff, 3);
}

/* A page whose rows fill more than one block. */
static void test_rows_in_a_chain(void **state)
{
	struct wire_block *first = &w.blocks[1], *second = &w.blocks[10], *third = &w.blocks[11];

	(void)state;
	first->next = 10;
	first->next_offset = second->rows[0].offset = 0x200;
	second->next = 11;
	second->next_offset = third->rows[0].offset = 0x300;
	first->count = second->count = third->count = 1;
	first->rows[0].rule = add_rule(rule_rsp(8));
	second->rows[0].rule = add_rule(rule_rsp(16));
	third->rows[0].rule = add_rule(rule_rsp(24));
	for (uint32_t i = 0; i < 3; i++)
		w.stack[i] = OUTERMOST + i;
	expect_stair(0, 0);
	expect_stair(0x1ff, 0);
	expect_stair(0x200, 1);
	expect_stair(0x2ff, 1);
	expect_stair(0x300, 2);
	expect_stair(0xfff, 2);
}

/* One that leads in circles, since its blocks are being written anew, is left at last. */
static void test_a_chain_in_circles(void **state)
{
	(void)state;
	w.blocks[1].next = 10;
	w.blocks[10].next = 1;
	w.blocks[1].rows[0].rule = w.blocks[10].rows[0].rule = add_rule(rule_rsp(8));
	w.blocks[10].count = 1;
	w.stack[0] = OUTERMOST;
	expect_walk(2, UNWIND_DONE);
}

/*
 * A call may be a function's last instruction: what it returns to belongs to other code, or to
 * another page, or to nothing. The frame's row is that of the call.
 */
static void test_call_at_the_end(void **state)
{
	(void)state;
	set_page(0, rule_rsp(8));
	add_row(1, 0x100, rule_rsp(16));
	add_row(1, 0x108, rule_rsp(64));
	w.stack[0] = TEXT_AT + 0x1108;
	w.stack[2] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	expect_frame(1, TEXT_AT + 0x1108);
	expect_frame(2, OUTERMOST);
	/* The last byte of the mapping is that of the call. */
	w.stack[0] = TEXT_AT + TEXT_PAGES * WIRE_PAGE_BYTES;
	w.request.listed = true;
	expect_walk(2, UNWIND_DONE);
}

/* The thread's own pc, and one that a signal interrupted, is itself. */
static void test_exact_addresses(void **state)
{
	(void)state;
	add_stairs();
	w.request.caller = true;
	w.request.exact = true;
	expect_stair(0x108, 1);
	w.request.exact = false;
	expect_stair(0x108, 0);
	expect_stair(0x109, 1);
}

static void test_bias(void **state)
{
	(void)state;
	set_page(1, rule_rsp(8));
	w.stack[0] = OUTERMOST;
	w.request.pc = TEXT_AT + 0x1000;
	expect_walk(2, UNWIND_DONE);
	w.ranges[1].bias -= WIRE_PAGE_BYTES; /* the same address is page 2 of the file now */
	expect_walk(1, UNWIND_DONE);
}

/* --- what is not there ------------------------------------------------------------------------ */

/* The walk stops before a frame without rows, and goes on from there with nothing lost. */
static void test_page_that_comes_later(void **state)
{
	(void)state;
	set_page(0, rule_rsp(8));
	set_page(1, rule_rsp(16));
	w.stack[0] = CALLER;
	w.stack[2] = OUTERMOST;
	w.present[1] = false;
	begin_walk();
	assert_true(walk_go_on(&w.walk));
	assert_int_equal(w.result.reason, UNWIND_NO_ROWS);
	assert_int_equal(w.result.frames, 1);
	assert_int_equal(walk_missing(&w.walk), CALLER - 1);
	w.present[1] = true;
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.result.reason, UNWIND_DONE);
	assert_int_equal(w.result.frames, 3);
	assert_int_equal(w.result.word_count, 3);
	expect_frame(0, w.request.pc);
	expect_frame(1, CALLER);
	expect_frame(2, OUTERMOST);
}

/* What BPF has walked stays in front; the walk goes on at the first frame that it missed. */
static void test_part_that_was_walked_before(void **state)
{
	(void)state;
	set_page(1, rule_rsp(8));
	w.request.pc = CALLER;
	w.request.exact = false;
	w.request.caller = true;
	w.request.max_frames = 4;
	w.stack[0] = OUTERMOST;
	memset(&w.result, 0, sizeof(w.result));
	w.result.words[0] = 0x1111 | WIRE_FRAME_EXACT;
	w.result.words[1] = 0x2222;
	w.result.frames = w.result.word_count = 2;
	walk_begin(&w.walk, &w.request, &w.memory, &w.result);
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.result.reason, UNWIND_DONE);
	assert_int_equal(w.result.frames, 4);
	assert_int_equal(w.result.word_count, 4);
	assert_int_equal(w.result.words[0], 0x1111 | WIRE_FRAME_EXACT);
	expect_frame(1, 0x2222);
	expect_frame(2, CALLER);
	expect_frame(3, OUTERMOST);
	/* The limit is of the whole stack. */
	w.request.max_frames = 3;
	w.result.frames = w.result.word_count = 2;
	walk_begin(&w.walk, &w.request, &w.memory, &w.result);
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.result.reason, UNWIND_DEPTH);
	assert_int_equal(w.result.frames, 3);
}

static void expect_miss(void)
{
	begin_walk();
	assert_true(walk_go_on(&w.walk));
	assert_int_equal(w.result.frames, 0);
	assert_int_equal(w.result.reason, UNWIND_NO_ROWS);
}

static void test_rows_of_another_generation(void **state)
{
	(void)state;
	expect_walk(1, UNWIND_DONE);
	w.blocks[1].generation++;
	expect_miss();
	w.blocks[1].generation = 0;
	expect_miss();
	/* It is another page's block by now, and was not used. */
	begin_walk();
	w.walk.cursor.now_s = 4711;
	assert_true(walk_go_on(&w.walk));
	assert_int_not_equal(w.blocks[1].used_s, 4711);
	w.pages[0].generation = 0;
	w.pages[0].block = ARRAY_SIZE(w.blocks);
	expect_miss();
}

static struct wire_rule *guarded;

/* The rule is being read: what userspace does to the rows at just this moment. */
static void give_up_rows(int number)
{
	(void)number;
	w.blocks[1].generation++;
	mprotect(guarded, WIRE_PAGE_BYTES, PROT_READ | PROT_WRITE);
}

/* Rows that are given up while they are read are not believed. */
static void test_rows_that_change_under_the_reader(void **state)
{
	struct sigaction guard = { .sa_handler = give_up_rows }, before;

	(void)state;
	guarded = mmap(NULL, WIRE_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	assert_ptr_not_equal(guarded, MAP_FAILED);
	memcpy(guarded, w.rules, sizeof(w.rules));
	w.tables.rules = guarded;
	expect_walk(1, UNWIND_DONE);
	mprotect(guarded, WIRE_PAGE_BYTES, PROT_NONE);
	sigaction(SIGSEGV, &guard, &before);
	expect_miss();
	sigaction(SIGSEGV, &before, NULL);
	munmap(guarded, WIRE_PAGE_BYTES);
}

static const struct wire_page *(*find_own)(const struct wire_page_key *key, const void *data);
static unsigned int looked_up;

/* The element that is found first is page 1's by the time it is read. */
static const struct wire_page *find_reused(const struct wire_page_key *key, const void *data)
{
	return looked_up++ ? find_own(key, data) : &w.pages[1];
}

static const struct wire_page *find_deleted(const struct wire_page_key *key, const void *data)
{
	(void)key;
	(void)data;
	return looked_up++ ? NULL : &w.pages[1];
}

/* An element of the map that is used again under the reader is not believed. */
static void test_page_of_another_key(void **state)
{
	(void)state;
	expect_walk(1, UNWIND_DONE);
	find_own = w.tables.page;
	looked_up = 0;
	w.tables.page = find_reused;
	expect_miss();
	looked_up = 0;
	w.tables.page = find_deleted;
	expect_miss();
}

/* The place of a list that was given up holds another process's ranges now. */
static void test_ranges_of_another_list(void **state)
{
	(void)state;
	w.ranges[1].serial++;
	expect_miss();
	w.ranges[1].serial = SERIAL;
	expect_walk(1, UNWIND_DONE);
	w.request.serial = SERIAL + 1;
	expect_miss();
	w.request.serial = 0;
	expect_miss();
}

static void test_outside_of_all_ranges(void **state)
{
	static const uint64_t outside[] = { TEXT_AT - 1, TEXT_AT + TEXT_PAGES * WIRE_PAGE_BYTES,
					    0x501000, 0x10000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		w.request.pc = outside[i];
		w.request.listed = false;
		expect_miss();
		w.request.listed = true;
		expect_walk(1, UNWIND_BAD_RETURN);
	}
	w.request.pc = TEXT_AT;
	w.request.count = 0;
	expect_walk(1, UNWIND_BAD_RETURN);
}

static void test_code_without_a_file(void **state)
{
	(void)state;
	w.request.regs[DWARF_RBP] = stack_at(10);
	w.stack[11] = OUTERMOST;
	for (w.request.pc = 0x500000; w.request.pc <= 0x500fff; w.request.pc += 0xfff) {
		begin_walk();
		assert_false(walk_go_on(&w.walk));
		assert_int_equal(w.result.frames, 2);
		assert_int_equal(w.walk.cursor.jit_frames, 1);
		assert_int_equal(w.walk.cursor.fp_frames, 0);
	}
}

static void test_rows_are_marked_as_used(void **state)
{
	(void)state;
	begin_walk();
	w.walk.cursor.now_s = 4711;
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.blocks[1].used_s, 4711);
	assert_int_equal(w.blocks[2].used_s, 0);
}

/* --- the cache of hot addresses --------------------------------------------------------------- */

static uint32_t walk_at(uint32_t now_s)
{
	begin_walk();
	w.walk.cursor.now_s = now_s;
	walk_go_on(&w.walk);
	return w.walk.cursor.hot_frames;
}

static void test_hot_addresses(void **state)
{
	(void)state;
	w.tables.hots = w.hots;
	set_page(0, rule_rsp(8));
	w.stack[0] = OUTERMOST;
	assert_int_equal(walk_at(100), 0);
	assert_int_equal(walk_at(100), 2);
	assert_int_equal(walk_at(101), 2);
	assert_int_equal(w.result.frames, 2);
	/* Then the rows are read again, so that they show as used. */
	assert_int_equal(walk_at(102), 0);
	assert_int_equal(w.blocks[1].used_s, 102);
}

/* A walk that interrupted another one uses the cache, but writes nothing into it. */
static void test_hot_addresses_of_a_nested_walk(void **state)
{
	(void)state;
	w.tables.hots = w.hots;
	set_page(0, rule_rsp(8));
	w.stack[0] = OUTERMOST;
	for (int i = 0; i < 2; i++) {
		begin_walk();
		w.walk.cursor.nested = 1;
		assert_false(walk_go_on(&w.walk));
		assert_int_equal(w.result.frames, 2);
		assert_int_equal(w.walk.cursor.hot_frames, 0);
	}
	walk_at(w.walk.cursor.now_s);
	begin_walk();
	w.walk.cursor.nested = 1;
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.walk.cursor.hot_frames, 2);
}

/* Another process, or other mappings of this one, at the same address. */
static void test_hot_addresses_of_another_list(void **state)
{
	(void)state;
	w.tables.hots = w.hots;
	set_page(0, rule_rsp(8));
	w.stack[0] = OUTERMOST;
	walk_at(100);
	w.request.serial = w.ranges[1].serial = SERIAL + 1;
	w.blocks[1].rows[0].rule = RULE_END;
	assert_int_equal(walk_at(100), 0);
	assert_int_equal(w.result.frames, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_row_of_an_address, set_up),
		cmocka_unit_test_setup(test_rows_in_a_chain, set_up),
		cmocka_unit_test_setup(test_a_chain_in_circles, set_up),
		cmocka_unit_test_setup(test_call_at_the_end, set_up),
		cmocka_unit_test_setup(test_exact_addresses, set_up),
		cmocka_unit_test_setup(test_bias, set_up),
		cmocka_unit_test_setup(test_page_that_comes_later, set_up),
		cmocka_unit_test_setup(test_part_that_was_walked_before, set_up),
		cmocka_unit_test_setup(test_rows_of_another_generation, set_up),
		cmocka_unit_test_setup(test_rows_that_change_under_the_reader, set_up),
		cmocka_unit_test_setup(test_page_of_another_key, set_up),
		cmocka_unit_test_setup(test_ranges_of_another_list, set_up),
		cmocka_unit_test_setup(test_outside_of_all_ranges, set_up),
		cmocka_unit_test_setup(test_code_without_a_file, set_up),
		cmocka_unit_test_setup(test_rows_are_marked_as_used, set_up),
		cmocka_unit_test_setup(test_hot_addresses, set_up),
		cmocka_unit_test_setup(test_hot_addresses_of_a_nested_walk, set_up),
		cmocka_unit_test_setup(test_hot_addresses_of_another_list, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
