// SPDX-License-Identifier: Apache-2.0
/* A function that has put a handler's registers over those that it saved, and has not gone there yet. */
#include "test.h"

#include "walk_world.h"

#define FAR_AT	   0x800000ULL
#define SLOT_AT	   (FAR_AT + 32)
#define ELSEWHERE  (TEXT_AT + 0x3100)
#define SAVED	   3  /* the word that holds the leaf's return address */
#define COPIED	   20 /* where it was copied from */
#define HANDLER	   (CALLER + 0x40)
#define CALL_BYTES 8

static uint8_t far_code[64], call[CALL_BYTES];
static struct walk_piece pieces[4];

/* The call in front of CALLER leads to TARGET. */
static void call_of(uint64_t target)
{
	int32_t displacement = (int32_t)(target - CALLER);

	memset(call, 0x90, sizeof(call));
	call[1] = 0xe8;
	memcpy(call + 2, &displacement, sizeof(displacement));
}

/* The leaf was left by CALLER, whose frame begins behind the copied word and not where the leaf's ends. */
static int begin(void **state)
{
	struct wire_rule leaf = rule_rsp(8 * (SAVED + 1));

	set_up(state);
	leaf.cfa_reg = DWARF_RBP;
	leaf.cfa_index = WIRE_LANDS;
	w.request.regs[DWARF_RBP] = STACK_AT;
	set_page(0, leaf);
	set_page(1, rule_rsp(16));
	w.stack[SAVED] = w.stack[COPIED] = CALLER;
	w.stack[SAVED + 2] = ELSEWHERE;
	w.stack[COPIED + 2] = OUTERMOST;
	memcpy(pieces, w.pieces, sizeof(w.pieces));
	pieces[2] = (struct walk_piece){ FAR_AT, sizeof(far_code), far_code };
	pieces[3] = (struct walk_piece){ CALLER - 6, sizeof(call), call };
	w.copy = (struct walk_copy){ pieces, ARRAY_SIZE(pieces) };
	memset(far_code, 0x90, sizeof(far_code));
	call_of(FAR_AT);
	return 0;
}

static void expect_ends(uint64_t pc)
{
	expect_walk(3, UNWIND_DONE);
	expect_frame(1, CALLER);
	expect_frame(2, pc);
}

static void behind_the_word_that_was_copied(void **state)
{
	(void)state;
	expect_ends(OUTERMOST);
	/* The next one is the one. */
	w.stack[COPIED + 10] = CALLER;
	w.stack[COPIED + 12] = ELSEWHERE;
	expect_ends(OUTERMOST);
	/* It may be the first word. */
	w.stack[SAVED + 1] = CALLER;
	w.stack[SAVED + 2] = 0;
	w.stack[SAVED + 3] = OUTERMOST;
	w.stack[COPIED + 2] = ELSEWHERE;
	expect_ends(OUTERMOST);
}

static void of_functions_that_land(void **state)
{
	(void)state;
	w.rules[RULE_FIRST_FREE].cfa_index = 0;
	expect_ends(ELSEWHERE);
	w.rules[RULE_FIRST_FREE].cfa_index = WIRE_INFERRED;
	expect_ends(ELSEWHERE);
}

/* Who was called by its caller has thrown nothing away; neither has who was called by one beside it. */
static void who_is_called_as_ever(void **state)
{
	(void)state;
	call_of(TEXT_AT);
	expect_ends(ELSEWHERE);
	w.request.pc = TEXT_AT + 0x3fd0;
	w.blocks[4].rows[0] = w.blocks[1].rows[0];
	w.stack[SAVED + 2] = OUTERMOST;
	w.stack[COPIED + 2] = 0;
	expect_ends(OUTERMOST);
	/* Through its PLT entry. */
	memcpy(far_code, "\xff\x25\x1a\0\0\0", 6);
	call_of(FAR_AT);
	assert_int_equal(FAR_AT + 6 + 0x1a, SLOT_AT);
	memcpy(far_code + 32, &(uint64_t){ TEXT_AT }, 8);
	expect_ends(OUTERMOST);
	memcpy(far_code + 32, &(uint64_t){ FAR_AT + 16 }, 8);
	expect_walk(2, UNWIND_DONE);
}

/* 16 KiB either way. */
static void what_lies_beside_it(void **state)
{
	(void)state;
	w.pieces[1].address = pieces[1].address = w.request.pc + 16384;
	call_of(w.request.pc + 16384);
	expect_ends(ELSEWHERE);
	call_of(w.request.pc + 16385);
	expect_ends(OUTERMOST);
	pieces[1].address = w.request.pc - 16385;
	call_of(w.request.pc - 16384);
	expect_ends(ELSEWHERE);
	call_of(w.request.pc - 16385);
	expect_ends(OUTERMOST);
}

/* A call through a register, or none: nothing says that it leads elsewhere. */
static void calls_that_tell_nothing(void **state)
{
	(void)state;
	memcpy(call, "\x90\x90\x90\x90\xff\xd0", 6);
	expect_ends(ELSEWHERE);
	call_of(FAR_AT + 0x1000); /* no code is there */
	expect_ends(ELSEWHERE);
}

/* Its last instructions put the handler where the word was, and know how far that is, or where. */
static void the_word_is_gone(void **state)
{
	(void)state;
	w.stack[COPIED] = HANDLER;
	w.request.regs[DWARF_RCX] = 8 * (COPIED - SAVED);
	expect_ends(OUTERMOST);
	w.request.regs[DWARF_RCX] = stack_at(COPIED);
	expect_ends(OUTERMOST);
	w.request.regs[DWARF_RCX] = stack_at(COPIED) + 4;
	expect_ends(ELSEWHERE);
	w.request.regs[DWARF_RCX] = stack_at(COPIED) + 8 * 65536;
	expect_ends(ELSEWHERE);
	w.request.regs[DWARF_RCX] = stack_at(0);
	expect_ends(ELSEWHERE);
	/* Of a caller nobody knows. */
	w.request.regs[DWARF_RCX] = stack_at(COPIED);
	w.request.caller = true;
	expect_ends(ELSEWHERE);
	w.request.regs_kept = true;
	expect_ends(ELSEWHERE);
}

/* Its last instructions return to the handler, which may be the first of its function; they know its frame. */
static void to_the_handler_itself(void **state)
{
	(void)state;
	w.rules[RULE_FIRST_FREE].cfa_reg = DWARF_RSP;
	set_page(0, rule_rsp(0)); /* of what is in front of the handler */
	w.blocks[1].rows[0].rule = RULE_FIRST_FREE;
	w.stack[SAVED] = TEXT_AT + 0x1000;
	w.stack[SAVED + 2] = TEXT_AT + 0x2001;
	expect_walk(3, UNWIND_DONE);
	assert_true(w.result.words[1] & WIRE_FRAME_EXACT);
	expect_frame(1, TEXT_AT + 0x1000);
	expect_frame(2, TEXT_AT + 0x2001);
	assert_false(w.result.words[2] & WIRE_FRAME_EXACT);
	w.stack[SAVED] = CALLER;
	w.stack[SAVED + 2] = ELSEWHERE;
	expect_ends(ELSEWHERE);
}

#define TEST(fn) cmocka_unit_test_setup(fn, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(behind_the_word_that_was_copied), TEST(of_functions_that_land),
		TEST(who_is_called_as_ever),	       TEST(what_lies_beside_it),
		TEST(calls_that_tell_nothing),	       TEST(the_word_is_gone),
		TEST(to_the_handler_itself),
	};

	return cmocka_run_group_tests_name("landing", tests, NULL, NULL);
}
