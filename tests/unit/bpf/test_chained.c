// SPDX-License-Identifier: Apache-2.0
/* Code of which nothing is known, and that keeps frame pointers: what its bytes said is kept for a moment. */
#include "test.h"

#include "made_world.h"

#define FIRST  (MADE_AT + 0x100)
#define SECOND (MADE_AT + 0x203)
#define NOW_S  100

/* CALLER called FIRST's function, that SECOND's, and so on; each has its frame pointer in %rbp. */
static int begin(void **state)
{
	set_up_made(state);
	w.tables.hots = w.hots;
	w.request.pc = FIRST;
	w.request.exact = false;
	w.request.caller = true;
	w.request.regs[DWARF_RBP] = stack_at(10);
	memcpy(made_code + 0x203 - 8, made_call, sizeof(made_call));
	w.stack[10] = stack_at(20);
	w.stack[11] = SECOND;
	w.stack[20] = 0;
	w.stack[21] = CALLER;
	w.stack[23] = OUTERMOST;
	return 0;
}

static unsigned int looks;

static uint32_t look(const void *data, uint64_t pc, struct unwind_exit *ret)
{
	(void)data, (void)pc, (void)ret;
	looks++;
	return 0;
}

static uint32_t walk_at(uint32_t now_s)
{
	looks = 0;
	w.memory.exits = look;
	begin_walk();
	w.walk.cursor.now_s = now_s;
	walk_go_on(&w.walk);
	assert_int_equal(w.result.reason, UNWIND_DONE);
	return w.result.frames;
}

/* There is other code now: it returns at once, to CALLER. */
static void change_code(void)
{
	made_code[0x100] = 0xc3;
	w.stack[0] = CALLER;
	w.stack[2] = OUTERMOST;
}

static bool is_kept(uint64_t address)
{
	for (size_t i = 0; i < WIRE_HOT_ENTRIES; i++)
		if (w.hots[i].pc == address && w.hots[i].rule.kind == WIRE_RULE_CHAINED)
			return true;
	return false;
}

static void its_bytes_are_read_once(void **state)
{
	(void)state;
	assert_int_equal(walk_at(NOW_S), 4);
	assert_int_equal(w.walk.cursor.jit_frames, 2);
	assert_int_equal(w.walk.cursor.hot_frames, 0);
	change_code();
	assert_int_equal(walk_at(NOW_S + 1), 4);
	expect_frame(0, FIRST);
	expect_frame(1, SECOND);
	expect_frame(2, CALLER);
	assert_int_equal(w.walk.cursor.jit_frames, 2);
	assert_int_equal(w.walk.cursor.hot_frames, 4);
	assert_int_equal(walk_at(NOW_S + 2), 3);
}

/* A place that is kept has a call in front of it. */
static void nor_what_is_in_front_of_it(void **state)
{
	(void)state;
	assert_int_equal(walk_at(NOW_S), 4);
	memset(made_code + 0x203 - 8, 0x90, 8);
	assert_int_equal(walk_at(NOW_S + 1), 4);
	assert_int_equal(looks, 0);
	assert_int_equal(walk_at(NOW_S + 2), 4);
	assert_int_equal(looks, 1);
}

/* Other code is kept there, too, and may be met anywhere. */
static void a_place_in_a_file_is_not_one(void **state)
{
	(void)state;
	assert_int_equal(walk_at(NOW_S), 4);
	memset(made_call, 0x90, sizeof(made_call));
	assert_int_equal(walk_at(NOW_S), 4);
	assert_int_equal(looks, 1);
}

static void not_of_another_process(void **state)
{
	(void)state;
	assert_int_equal(walk_at(NOW_S), 4);
	change_code();
	w.request.serial = w.ranges[1].serial = w.ranges[2].serial = SERIAL + 1;
	assert_int_equal(walk_at(NOW_S), 3);
}

/* There it may have no frame yet. */
static void not_where_a_thread_stands(void **state)
{
	(void)state;
	w.request.caller = false;
	w.request.exact = true;
	assert_int_equal(walk_at(NOW_S), 4);
	assert_false(is_kept(FIRST));
	assert_false(is_kept(FIRST - 1));
	assert_true(is_kept(SECOND - 1));
}

/* Nor where a signal's handler will return to. */
static void not_where_it_was_interrupted(void **state)
{
	(void)state;
	w.request.exact = true;
	assert_int_equal(walk_at(NOW_S), 4);
	assert_false(is_kept(FIRST));
	assert_true(is_kept(SECOND - 1));
}

/* Its frame is left as the code says: add $8,%rsp; ret. */
static void not_of_code_that_says_more(void **state)
{
	(void)state;
	memcpy(made_code + 0x100, "\x48\x83\xc4\x08\xc3", 5);
	w.stack[1] = SECOND;
	w.request.regs[DWARF_RBP] = stack_at(20);
	assert_int_equal(walk_at(NOW_S), 4);
	assert_int_equal(w.walk.cursor.read_frames, 1);
	assert_false(is_kept(FIRST - 1));
	assert_int_equal(walk_at(NOW_S), 4);
	assert_int_equal(w.walk.cursor.read_frames, 1);
}

/* What is kept of a place is that the frame pointer leads on, not where to. */
static void a_frame_pointer_that_leads_nowhere(void **state)
{
	(void)state;
	assert_int_equal(walk_at(NOW_S), 4);
	w.request.regs[DWARF_RBP] = stack_at(10) + 4;
	expect_walk(1, UNWIND_FP_BAD);
	w.request.regs[DWARF_RBP] = 0;
	expect_walk(1, UNWIND_FP_END);
}

/* Code of a file that nothing describes has no call in front of each return address that must be. */
static void of_a_file(void **state)
{
	(void)state;
	set_page(0, (struct wire_rule){ .kind = WIRE_RULE_NONE });
	w.request.pc = TEXT_AT + 0x20;
	assert_int_equal(walk_at(NOW_S), 4);
	assert_int_equal(w.walk.cursor.fp_frames, 1);
	assert_int_equal(w.walk.cursor.jit_frames, 1);
	assert_int_equal(walk_at(NOW_S), 4);
	assert_int_equal(w.walk.cursor.fp_frames, 1);
	assert_int_equal(w.walk.cursor.jit_frames, 1);
	assert_int_equal(w.walk.cursor.hot_frames, 4);
	w.stack[11] = CALLER + 0x40; /* behind no call */
	w.stack[13] = OUTERMOST;
	assert_int_equal(walk_at(NOW_S), 3);
	assert_int_equal(looks, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(its_bytes_are_read_once, begin),
		cmocka_unit_test_setup(nor_what_is_in_front_of_it, begin),
		cmocka_unit_test_setup(a_place_in_a_file_is_not_one, begin),
		cmocka_unit_test_setup(not_of_another_process, begin),
		cmocka_unit_test_setup(not_where_a_thread_stands, begin),
		cmocka_unit_test_setup(not_where_it_was_interrupted, begin),
		cmocka_unit_test_setup(not_of_code_that_says_more, begin),
		cmocka_unit_test_setup(a_frame_pointer_that_leads_nowhere, begin),
		cmocka_unit_test_setup(of_a_file, begin),
	};

	return cmocka_run_group_tests_name("chained", tests, NULL, NULL);
}
