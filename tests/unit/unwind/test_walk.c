// SPDX-License-Identifier: Apache-2.0
/* Walks that are interrupted by a miss, and go on in another walk, find what one walk finds. */
#include "test.h"

#include "base/clock.h"
#include "walk_world.h"

/* Four frames on pages 0 to 3, of which the second restores registers that the third needs. */
static void set_up_frames(void)
{
	struct wire_rule saves = rule_rsp(8 * 8);
	struct wire_rule by_rbp = { .kind = WIRE_RULE_CFA,
				    .cfa_reg = DWARF_RBP,
				    .cfa_offset = 16,
				    .ra_slot = 1,
				    .rbp_slot = 2 };

	set_page(0, rule_rsp(8 * 2));
	saves.rbp_slot = 2;
	saves.rbx_slot = 3;
	saves.r13_slot = 4;
	saves.r15_slot = 5;
	set_page(1, saves);
	set_page(2, by_rbp);
	w.stack[1] = CALLER;
	w.stack[9] = TEXT_AT + 0x2100;
	w.stack[8] = stack_at(20);
	w.stack[7] = 0xb0;
	w.stack[6] = 0xd0;
	w.stack[5] = 0xf0;
	w.stack[21] = TEXT_AT + 0x3100;
}

/* What BPF puts into a miss, from the cursor where it stopped. */
static void resume_request(const struct unwind_cursor *c, struct walk_request *request)
{
	*request = w.request;
	request->pc = c->pc;
	request->caller = !c->leaf;
	request->linked = c->linked;
	request->exact = c->exact;
	request->regs_kept = c->regs_kept;
	memset(request->regs, 0, sizeof(request->regs));
	if (c->regs_kept)
		memcpy(request->regs, c->leaf_regs, sizeof(request->regs));
	request->regs[DWARF_RBX] = c->rbx;
	request->regs[DWARF_RBP] = c->fp;
	request->regs[DWARF_RSP] = c->sp;
	request->regs[DWARF_R13] = c->r13;
	request->regs[DWARF_R15] = c->r15;
}

/* Walk with page MISSING absent, then go on in a fresh walk with it; the same as EXPECTED. */
static void expect_resumed(uint32_t missing, const struct walk_result *expected)
{
	static struct walk first;
	struct walk_request request;

	w.present[missing] = false;
	begin_walk();
	if (!walk_go_on(&w.walk))
		fail_msg("nothing was missing on page %u", missing);
	assert_int_equal(w.result.frames, missing);
	assert_int_equal(w.result.reason, UNWIND_NO_ROWS);
	first = w.walk;
	w.present[missing] = true;
	resume_request(&first.cursor, &request);
	walk_begin(&w.walk, &request, &w.memory, &w.result);
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.result.reason, expected->reason);
	assert_int_equal(w.result.frames, expected->frames);
	assert_int_equal(w.result.word_count, expected->word_count);
	assert_memory_equal(w.result.words, expected->words, 8 * expected->word_count);
}

static void test_resumed_at_every_frame(void **state)
{
	static struct walk_result whole;

	(void)state;
	set_up_frames();
	expect_walk(4, UNWIND_DONE);
	expect_frame(3, TEXT_AT + 0x3100);
	whole = w.result;
	for (uint32_t page = 0; page < TEXT_PAGES; page++)
		expect_resumed(page, &whole);
}

/* A register that callees need not keep, but that is still known. */
static void test_resumed_with_all_registers(void **state)
{
	static struct walk_result whole;
	struct wire_rule by_r9 = {
		.kind = WIRE_RULE_CFA, .cfa_reg = DWARF_R9, .cfa_offset = 8, .ra_slot = 1
	};

	(void)state;
	set_up_frames();
	set_page(1, by_r9);
	w.request.regs[DWARF_R9] = stack_at(9);
	w.request.regs[DWARF_RBP] = stack_at(20);
	expect_walk(4, UNWIND_DONE);
	whole = w.result;
	expect_resumed(1, &whole);
}

/* By frame pointers a caller's registers are not known any more, whoever goes on. */
static void test_resumed_without_all_registers(void **state)
{
	struct wire_rule by_r9 = {
		.kind = WIRE_RULE_CFA, .cfa_reg = DWARF_R9, .cfa_offset = 8, .ra_slot = 1
	};

	(void)state;
	set_up_frames();
	set_page(1, by_r9);
	w.request.pc = CALLER;
	w.request.exact = false;
	w.request.caller = true;
	w.request.regs[DWARF_R9] = stack_at(9);
	w.request.regs[DWARF_RBP] = stack_at(20);
	expect_walk(1, UNWIND_BAD_ROW);
	w.request.regs_kept = true;
	expect_walk(3, UNWIND_DONE);
}

/* The walk goes on by itself, too, when the page came: nothing is written twice. */
static void test_goes_on_after_every_miss(void **state)
{
	static struct walk_result whole;

	(void)state;
	set_up_frames();
	expect_walk(4, UNWIND_DONE);
	whole = w.result;
	memset(w.present, 0, sizeof(w.present));
	begin_walk();
	for (uint32_t page = 0; page < TEXT_PAGES; page++) {
		assert_true(walk_go_on(&w.walk));
		assert_int_equal(walk_missing(&w.walk) >> WIRE_PAGE_SHIFT,
				 (TEXT_AT >> WIRE_PAGE_SHIFT) + page);
		w.present[page] = true;
	}
	assert_false(walk_go_on(&w.walk));
	assert_int_equal(w.result.word_count, whole.word_count);
	assert_memory_equal(w.result.words, whole.words, 8 * whole.word_count);
	assert_int_equal(w.result.reason, UNWIND_DONE);
}

/* A frame pointer of 0 that no frame handed down says nothing; nor one after a signal. */
static void test_linked_is_carried_on(void **state)
{
	(void)state;
	set_page(1, (struct wire_rule){ .kind = WIRE_RULE_NONE });
	w.request.pc = CALLER;
	w.request.exact = false;
	w.request.caller = true;
	expect_walk(1, UNWIND_FP_END);
	w.request.linked = true;
	expect_walk(1, UNWIND_NO_START);
	w.request.caller = false;
	expect_walk(1, UNWIND_FP_END);
}

/* A return address of 0 proves nothing behind a frame pointer that BPF followed. */
static void test_a_guess_is_carried_on(void **state)
{
	(void)state;
	set_page(1, rule_rsp(16));
	w.request.pc = CALLER;
	w.request.exact = false;
	w.request.caller = true;
	expect_walk(1, UNWIND_DONE);
	w.request.guessed = true;
	expect_walk(1, UNWIND_NO_START);
	w.request.caller = false;
	expect_walk(1, UNWIND_DONE);
}

static void test_signal_ends_the_link(void **state)
{
	(void)state;
	set_up_frames();
	/* The frame that links, then a signal frame; it interrupted code without any rule. */
	set_page(1, (struct wire_rule){ .kind = WIRE_RULE_SIGNAL });
	set_page(2, (struct wire_rule){ .kind = WIRE_RULE_NONE });
	memset(&w.stack[2], 0, 64 * 8);
	w.stack[2 + SIGNAL_REGS_AT / 8 + SIGNAL_RSP] = stack_at(100);
	w.stack[2 + SIGNAL_REGS_AT / 8 + SIGNAL_RIP] = OUTERMOST;
	expect_walk(3, UNWIND_FP_END);
}

/* A walk begins with all that was asked. */
static void test_begins_as_asked(void **state)
{
	const struct unwind_cursor *c = &w.walk.cursor;
	struct wire_jvm jvm = { .serial = 77, .code_start = 0x1000, .code_end = 0x2000 };
	uint32_t before_s = (uint32_t)(clock_now_ns() / NSEC_PER_SEC);

	(void)state;
	for (uint64_t i = 0; i < 16; i++)
		w.request.regs[i] = 0x1000 + i;
	w.request.jvm = &jvm;
	w.request.jvm_serial = 77;
	w.request.thread = 0x7eadULL;
	w.request.has_anchor = true;
	w.request.has_heap = true;
	w.request.has_unpacking = true;
	for (uint64_t i = 0; i < 3; i++)
		w.request.anchor[i] = 0xa0 + i;
	w.request.listed = true;
	w.request.max_frames = 5;
	w.result.frames = 2;
	w.result.word_count = 3;
	walk_begin(&w.walk, &w.request, &w.memory, &w.result);
	assert_int_equal(c->pc, w.request.pc);
	assert_int_equal(c->sp, 0x1000 + DWARF_RSP);
	assert_int_equal(c->fp, 0x1000 + DWARF_RBP);
	assert_int_equal(c->rbx, 0x1000 + DWARF_RBX);
	assert_int_equal(c->r13, 0x1000 + DWARF_R13);
	assert_int_equal(c->r15, 0x1000 + DWARF_R15);
	assert_memory_equal(c->leaf_regs, w.request.regs, sizeof(c->leaf_regs));
	assert_memory_equal(&c->jvm, &jvm, sizeof(jvm));
	assert_int_equal(c->jvm_serial, 77);
	assert_int_equal(c->thread, 0x7ead);
	assert_true(c->has_anchor && c->frozen_at.live && c->unpacking_live);
	assert_memory_equal(c->anchor, w.request.anchor, sizeof(c->anchor));
	assert_int_equal(c->serial, SERIAL);
	assert_int_equal(c->first, 1);
	assert_int_equal(c->count, 2);
	assert_int_equal(c->frames, 2);
	assert_int_equal(c->words, 3);
	assert_true(c->listed && c->leaf && c->exact && c->regs_kept && !c->linked);
	assert_in_range(c->now_s, before_s, before_s + 60);
	assert_in_range((uint64_t)c->tick << WIRE_TICK_SHIFT, (before_s - 1) * NSEC_PER_SEC,
			(before_s + 60) * NSEC_PER_SEC);
}

/* Rows that were walked by have been used now: the least recently used go first. */
static void test_marks_what_it_used(void **state)
{
	uint32_t before_s = (uint32_t)(clock_now_ns() / NSEC_PER_SEC);

	(void)state;
	set_up_frames();
	w.present[3] = false;
	begin_walk();
	assert_true(walk_go_on(&w.walk));
	for (int page = 0; page < 3; page++)
		assert_in_range(w.blocks[page + 1].used_s, before_s, before_s + 60);
	assert_int_equal(w.blocks[4].used_s, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_resumed_at_every_frame, set_up),
		cmocka_unit_test_setup(test_resumed_with_all_registers, set_up),
		cmocka_unit_test_setup(test_resumed_without_all_registers, set_up),
		cmocka_unit_test_setup(test_goes_on_after_every_miss, set_up),
		cmocka_unit_test_setup(test_linked_is_carried_on, set_up),
		cmocka_unit_test_setup(test_a_guess_is_carried_on, set_up),
		cmocka_unit_test_setup(test_signal_ends_the_link, set_up),
		cmocka_unit_test_setup(test_begins_as_asked, set_up),
		cmocka_unit_test_setup(test_marks_what_it_used, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
