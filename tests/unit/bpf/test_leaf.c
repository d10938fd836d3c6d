// SPDX-License-Identifier: Apache-2.0
/* A leaf's caller by the bytes around pc: where its return address and its frame pointer are taken from. */
#include "test.h"

#include "walk_copy.h"
#include "walk_world.h"

#define RETURN_TO 0x9876543210ULL
#define PC_AT	  32 /* of the code */

/* BEHIND bytes of CODE lie before pc. */
static void put_code(const uint8_t *code, size_t len, size_t behind)
{
	assert_true(len <= sizeof(w.code) - PC_AT + behind);
	memset(w.code, 0x90, sizeof(w.code));
	memcpy(w.code + PC_AT - behind, code, len);
}

/* The caller's frame pointer is at one word of the stack and its address at the next; -1: in %rbp. */
static void expect_caller(const char *what, int fp_word, uint32_t ra_word)
{
	w.memory.tables = NULL;
	w.request.pc = TEXT_AT + PC_AT;
	w.request.regs[DWARF_RSP] = stack_at(100);
	/* A frame pointer that leads to one more frame, and one that leads elsewhere. */
	w.request.regs[DWARF_RBP] = stack_at(fp_word < 0 ? 200 : 300);
	memset(w.stack, 0, sizeof(w.stack));
	for (uint32_t i = 100; i < 180; i++)
		w.stack[i] = 0x10;
	w.stack[ra_word] = RETURN_TO;
	if (fp_word >= 0)
		w.stack[fp_word] = stack_at(200);
	w.stack[200] = 0;
	w.stack[201] = RETURN_TO + 0x1000;
	w.stack[300] = 0;
	w.stack[301] = RETURN_TO + 0x2000;
	walk_stack(&w.request, &w.memory, &w.result);
	if (w.result.frames != 3 || w.result.words[1] != RETURN_TO ||
	    w.result.words[2] != RETURN_TO + 0x1000)
		fail_msg("%s: %u frames, %#llx %#llx", what, w.result.frames,
			 (unsigned long long)w.result.words[1],
			 (unsigned long long)w.result.words[2]);
}

#define CASE(what, behind, fp, ra, ...)                        \
	do {                                                   \
		static const uint8_t code[] = { __VA_ARGS__ }; \
		put_code(code, sizeof(code), behind);          \
		expect_caller(what, fp, ra);                   \
	} while (0)

static void test_states(void **state)
{
	(void)state;
	CASE("at push", 0, -1, 100, 0x55, 0x48, 0x89, 0xe5);
	CASE("at ret", 0, -1, 100, 0xc3);
	CASE("behind push", 1, 100, 101, 0x55, 0x48, 0x89, 0xe5);
	CASE("at pop", 0, 100, 101, 0x5d, 0xc3);
	CASE("allocated", 7, -1, 106, 0x48, 0x81, 0xec, 0x38, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24,
	     0x28);
	CASE("allocated, wide", 7, -1, 150, 0x48, 0x81, 0xec, 0x98, 1, 0, 0, 0x48, 0x89, 0xac, 0x24,
	     0x88, 1, 0, 0);
	CASE("stored", 5, 105, 106, 0x48, 0x89, 0x6c, 0x24, 0x28, 0x48, 0x8b, 0xec);
	CASE("stored, wide", 8, 149, 150, 0x48, 0x89, 0xac, 0x24, 0x88, 1, 0, 0, 0x48, 0x8b, 0xec);
	CASE("set too low", 3, 105, 106, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xc5, 0x28);
	CASE("set too low, wide", 3, 149, 150, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xc5, 0x88, 1, 0, 0);
}

/* libffi's way from a callback to a closure, as gas writes it (src/x86/unix64.S); where each instruction begins, and words on the stack there. */
static const uint8_t to_closure[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x83, 0xec, 0x10, 0x4c,
				      0x89, 0x14, 0x24, 0x4c, 0x8b, 0x15, 0xe9, 0x0f, 0x00,
				      0x00, 0x4c, 0x89, 0x54, 0x24, 0x08, 0x4c, 0x8b, 0x15,
				      0xe5, 0x0f, 0x00, 0x00, 0x41, 0xff, 0xe2, 0x66, 0x90 };
static const uint8_t of_closure[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0x4c, 0x8b, 0x54, 0x24, 0x08, 0x48,
				      0x83, 0xc4, 0x10, 0xe9, 0x40, 0xfe, 0xff, 0xff, 0x66, 0x90 };

static void expect_closure(const uint8_t *code, size_t len, size_t at, unsigned int words,
			   bool is_one)
{
	/* No more than is looked at; behind that is a call. */
	put_code(code, MIN(len, at + 24), at);
	memcpy(w.code + 57, "\x41\xff\xd1", 3);
	w.memory.tables = NULL;
	w.request.pc = TEXT_AT + PC_AT;
	w.request.regs[DWARF_RSP] = stack_at(100);
	w.request.regs[DWARF_RBP] = stack_at(200);
	memset(w.stack, 0, sizeof(w.stack));
	w.stack[100 + words] = TEXT_AT + 60;
	w.stack[200] = 0;
	w.stack[201] = RETURN_TO;
	walk_stack(&w.request, &w.memory, &w.result);
	assert_true(w.result.words[1] == (is_one ? TEXT_AT + 60 : RETURN_TO));
}

static void test_closures(void **state)
{
	static const struct {
		const uint8_t *code;
		size_t len, at;
		unsigned int words;
	} places[] = {
		{ to_closure, sizeof(to_closure), 0, 0 },
		{ to_closure, sizeof(to_closure), 4, 0 },
		{ to_closure, sizeof(to_closure), 8, 2 },
		{ to_closure, sizeof(to_closure), 12, 2 },
		{ to_closure, sizeof(to_closure), 19, 2 },
		{ to_closure, sizeof(to_closure), 24, 2 },
		{ to_closure, sizeof(to_closure), 31, 2 },
		{ of_closure, sizeof(of_closure), 0, 2 },
		{ of_closure, sizeof(of_closure), 4, 2 },
		{ of_closure, sizeof(of_closure), 9, 2 },
		{ of_closure, sizeof(of_closure), 13, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		uint8_t code[sizeof(to_closure)];

		expect_closure(places[i].code, places[i].len, places[i].at, places[i].words, true);
		/* No return address is there. */
		expect_closure(places[i].code, places[i].len, places[i].at, places[i].words + 1,
			       false);
		/* It is another instruction. */
		memcpy(code, places[i].code, places[i].len);
		code[places[i].at] ^= 8;
		expect_closure(code, places[i].len, places[i].at, places[i].words, false);
	}
}

/* A tail call through a pointer: where a call lies before what is at sp. A jump into a table has its frame. */
static void test_jumps_through_a_register(void **state)
{
	static const uint8_t jumps[][3] = { { 0xff, 0xe2 }, { 0x41, 0xff, 0xe3 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(jumps); i++) {
		put_code(jumps[i], sizeof(jumps[i]), 0);
		/* call *%r9, in front of what the world has at RETURN_TO: its text lies elsewhere. */
		w.memory.tables = NULL;
		w.request.pc = TEXT_AT + PC_AT;
		w.request.regs[DWARF_RSP] = stack_at(100);
		w.request.regs[DWARF_RBP] = stack_at(200);
		memset(w.stack, 0, sizeof(w.stack));
		w.stack[100] = TEXT_AT + 12;
		w.stack[200] = 0;
		w.stack[201] = RETURN_TO;
		memcpy(w.code + 9, "\x41\xff\xd1", 3);
		walk_stack(&w.request, &w.memory, &w.result);
		assert_int_equal(w.result.frames, 3);
		assert_true(w.result.words[1] == TEXT_AT + 12);
		assert_true(w.result.words[2] == RETURN_TO);
		/* Nobody has called there. */
		memset(w.code + 9, 0x90, 3);
		walk_stack(&w.request, &w.memory, &w.result);
		assert_int_equal(w.result.frames, 2);
		assert_true(w.result.words[1] == RETURN_TO);
	}
}

/* A probe's breakpoint hides the first byte; that pc is a function's first one is known without it. */
static void test_at_entry(void **state)
{
	static const uint8_t code[] = { 0xcc, 0x89, 0xf8, 0xc9 };

	(void)state;
	put_code(code, sizeof(code), 0);
	w.request.at_entry = true;
	expect_caller("a function's first instruction", -1, 100);
	w.request.at_entry = false;
}

/* The page before is absent: what lies behind pc decides alone. */
static void test_first_page(void **state)
{
	static const uint8_t code[] = { 0xc3 };

	(void)state;
	put_code(code, sizeof(code), 0);
	w.pieces[1].address = TEXT_AT + PC_AT;
	w.pieces[1].data = w.code + PC_AT;
	w.pieces[1].len = sizeof(w.code) - PC_AT;
	expect_caller("ret at the beginning", -1, 100);
}

#define LEAF_AT	  16
#define CALLER_AT 40

/* Frames that keep no frame pointer, of which the next instructions say where the caller is; one above them by %rbp. */
static void test_ahead(void **state)
{
	static const uint8_t leaf[] = { 0x5b, 0xc3 };
	static const uint8_t caller[] = { 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3 };

	(void)state;
	w.memory.tables = NULL;
	memcpy(w.code + LEAF_AT, leaf, sizeof(leaf));
	memcpy(w.code + CALLER_AT - 2, caller, sizeof(caller));
	memcpy(w.code + 8 - 2, caller, 2);
	w.request.pc = TEXT_AT + LEAF_AT;
	w.request.regs[DWARF_RSP] = stack_at(100);
	w.request.regs[DWARF_RBP] = stack_at(300);
	w.stack[101] = TEXT_AT + CALLER_AT;
	w.stack[103] = TEXT_AT + 8;
	w.stack[301] = RETURN_TO;
	walk_stack(&w.request, &w.memory, &w.result);
	assert_int_equal(w.result.frames, 4);
	assert_true(w.result.words[1] == TEXT_AT + CALLER_AT);
	assert_true(w.result.words[2] == TEXT_AT + 8);
	assert_true(w.result.words[3] == RETURN_TO);
}

#define TEST(fn) cmocka_unit_test_setup(fn, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_states),     TEST(test_at_entry), TEST(test_jumps_through_a_register),
		TEST(test_first_page), TEST(test_ahead),    TEST(test_closures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
