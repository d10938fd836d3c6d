// SPDX-License-Identifier: Apache-2.0
/* The way out of code that was made while the program ran, when the ways that it may return are known. */
#include "test.h"

#include "made_world.h"

#define MADE (MADE_AT + 0x100)
#define MORE (MADE_AT + 0x800)
/* Word of the stack that has the return address. */
#define RA 6

static struct unwind_exit exits[EXITS_MOST], more[EXITS_MOST];
static uint32_t exit_count, more_count;

static uint32_t give(const void *data, uint64_t pc, struct unwind_exit *ret)
{
	(void)data;
	memcpy(ret, pc == MORE ? more : exits, sizeof(exits));
	return pc == MORE ? more_count : pc == MADE ? exit_count : 0;
}

static const struct unwind_exit by_return = { 0,	  8 * RA,     EXITS_KEPT,
					      EXITS_KEPT, EXITS_KEPT, EXITS_KEPT };

/* It was called by CALLER, has anything in %rbp, and returns from RA. */
static int begin(void **state)
{
	set_up_made(state);
	w.request.pc = MADE;
	w.request.regs[DWARF_RBP] = 0x1234567;
	w.stack[RA] = CALLER;
	w.stack[RA + 2] = OUTERMOST;
	w.memory.exits = give;
	exits[0] = by_return;
	exit_count = 1;
	more_count = 0;
	return 0;
}

static void expect_found(void)
{
	expect_walk(3, UNWIND_DONE);
	expect_frame(0, MADE);
	expect_frame(1, CALLER);
	expect_frame(2, OUTERMOST);
}

static void as_it_returns(void **state)
{
	(void)state;
	expect_found();
	/* Of a frame that has called. */
	w.request.caller = true;
	expect_found();
	/* Nobody looks. */
	w.memory.exits = NULL;
	expect_walk(1, UNWIND_FP_BAD);
}

/* A frame pointer that leads to no call is none, wherever it points to. */
static void a_frame_pointer_that_is_none(void **state)
{
	(void)state;
	w.request.regs[DWARF_RBP] = stack_at(10);
	w.stack[10] = stack_at(20);
	w.stack[11] = CALLER + 0x40;
	memcpy(made_code + 0xf8, "\x90\x90\x90\x90\x90\x90\x90\x90", 8);
	w.stack[11] = MADE; /* in front of which no call is */
	expect_found();
	/* Where no exit is found it may be one, if it leads to code. */
	exit_count = 0;
	w.stack[11] = CALLER + 0x10;
	w.stack[13] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	expect_frame(1, CALLER + 0x10);
	w.stack[11] = 0x123456;
	expect_walk(1, UNWIND_FP_BAD);
	/* One that does is. */
	w.stack[11] = CALLER;
	w.stack[13] = OUTERMOST;
	exit_count = 0;
	expect_walk(3, UNWIND_DONE);
	expect_frame(1, CALLER);
}

static void where_nothing_was_called(void **state)
{
	(void)state;
	made_call[6] = 0x90;
	expect_walk(1, UNWIND_FP_BAD);
	made_call[6] = 0xff;
	/* Behind a call, and in no code. */
	w.stack[200] = 0xd0ff909090909090; /* call *%rax */
	w.stack[RA] = stack_at(201);
	expect_walk(1, UNWIND_FP_BAD);
	w.stack[RA] = CALLER;
	exit_count = 0;
	expect_walk(1, UNWIND_FP_BAD);
}

/* Of two ways one may be nonsense; two that both are right are none. */
static void ways_that_contradict(void **state)
{
	(void)state;
	exits[1] = by_return;
	exits[1].sp = 16;
	exit_count = 2;
	expect_found();
	w.stack[2] = CALLER;
	expect_walk(1, UNWIND_FP_BAD);
	/* The same twice is one. */
	exits[1].sp = exits[0].sp;
	expect_found();
}

static void registers_that_it_saved(void **state)
{
	struct wire_rule by_rbp = rule_rsp(16);

	(void)state;
	by_rbp.cfa_reg = DWARF_RBP;
	set_page(1, by_rbp);
	exits[0].rbp = 24;
	w.stack[3] = stack_at(30);
	w.stack[31] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	expect_frame(2, OUTERMOST);
	by_rbp.cfa_reg = DWARF_RBX;
	set_page(1, by_rbp);
	exits[0].rbx = 32;
	w.stack[4] = stack_at(40);
	w.stack[41] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	for (int i = 0; i < 2; i++) {
		by_rbp.cfa_reg = i ? DWARF_R15 : DWARF_R13;
		set_page(1, by_rbp);
		exits[0].r13 = exits[0].r15 = EXITS_KEPT;
		w.request.regs[DWARF_R13] = w.request.regs[DWARF_R15] = 0;
		expect_walk(2, UNWIND_BAD_ROW);
		*(i ? &exits[0].r15 : &exits[0].r13) = 32;
		expect_walk(3, UNWIND_DONE);
	}
}

/* It goes on in other code of its kind, farther away: what both do to the stack counts. */
static void a_jump_to_more_of_it(void **state)
{
	(void)state;
	exits[0].jump = MORE;
	exits[0].sp = 16;
	more[0] = by_return;
	more[0].sp -= 16;
	more_count = 1;
	expect_found();
	more[0].rbx = 8;
	set_page(1, (struct wire_rule){ .kind = WIRE_RULE_CFA,
					.cfa_reg = DWARF_RBX,
					.cfa_offset = 16,
					.ra_slot = 1 });
	w.stack[3] = stack_at(40);
	w.stack[41] = OUTERMOST;
	expect_walk(3, UNWIND_DONE);
	/* Round and round. */
	more[0] = exits[0];
	more[0].sp = 0;
	expect_walk(1, UNWIND_FP_BAD);
}

/* It goes on in the frame of code in a file, which it was made for: that is its caller. */
static void a_jump_to_a_file(void **state)
{
	(void)state;
	set_page(2, rule_rsp(8 * (RA - 1)));
	exits[0].jump = TEXT_AT + 0x2300;
	exits[0].sp = 16;
	expect_walk(4, UNWIND_DONE);
	expect_frame(1, TEXT_AT + 0x2300);
	assert_true(w.result.words[1] & WIRE_FRAME_EXACT);
	expect_frame(2, CALLER);
	/* With a frame that is not there. */
	w.stack[RA] = 0x4711;
	expect_walk(1, UNWIND_FP_BAD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(as_it_returns, begin),
		cmocka_unit_test_setup(a_frame_pointer_that_is_none, begin),
		cmocka_unit_test_setup(where_nothing_was_called, begin),
		cmocka_unit_test_setup(ways_that_contradict, begin),
		cmocka_unit_test_setup(registers_that_it_saved, begin),
		cmocka_unit_test_setup(a_jump_to_more_of_it, begin),
		cmocka_unit_test_setup(a_jump_to_a_file, begin),
	};

	return cmocka_run_group_tests_name("exits_step", tests, NULL, NULL);
}
