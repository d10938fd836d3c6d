// SPDX-License-Identifier: Apache-2.0
/*
 * What the bytes around pc say: each pattern is recognised, and with any one of its bytes changed it is
 * not. "|" is pc; "??" is a byte that does not matter, and "~" behind one says that another value
 * there makes another pattern of the same kind.
 */
#include "test.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "unwind.h"

#define FILLER 0xcc
#define ANY    0x11

static struct unwind_cursor cursor;
static uint8_t *const pc = cursor.text + UNWIND_TEXT_BEHIND;
/* Of a changed byte. */
static int changed_at[UNWIND_TEXT_BYTES], changed_count;

/* The text of a pattern around pc; N times 90 for "N*90". */
static void put(const char *pattern)
{
	const char *s = pattern;
	uint8_t bytes[UNWIND_TEXT_BYTES];
	int count = 0, at_pc = 0, significant[UNWIND_TEXT_BYTES] = { 0 };
	unsigned int byte, times;
	char *end;

	memset(cursor.text, FILLER, sizeof(cursor.text));
	changed_count = 0;
	while (*s) {
		times = 1;
		if (*s == '|') {
			at_pc = count;
			s += s[1] ? 2 : 1;
			continue;
		}
		if (strcspn(s, "*") < strcspn(s, " ")) {
			times = (unsigned int)strtoul(s, &end, 10);
			s = end + 1;
			byte = (unsigned int)strtoul(s, &end, 16);
			memset(bytes + count, (int)byte, times);
			count += (int)times;
		} else if (*s == '?') {
			bytes[count++] = ANY;
			end = (char *)(uintptr_t)s + 2; /* NOLINT */
		} else {
			bytes[count] = (uint8_t)strtoul(s, &end, 16);
			significant[count++] = *end != '~';
			end += *end == '~';
		}
		s = end + (*end == ' ');
	}
	assert_in_range(at_pc, 0, UNWIND_TEXT_BEHIND);
	memcpy(pc - at_pc, bytes, (size_t)count);
	for (int i = 0; i < count; i++)
		if (significant[i])
			changed_at[changed_count++] = i - at_pc;
}

static void expect(const char *pattern, int (*decide)(int how), int how, int result, int otherwise)
{
	put(pattern);
	if (decide(how) != result)
		fail_msg("%s: %d instead of %d", pattern, decide(how), result);
	for (int i = 0; i < changed_count; i++) {
		pc[changed_at[i]] ^= 0xff;
		if (decide(how) != otherwise)
			fail_msg("%s, byte %d changed: %d instead of %d", pattern, changed_at[i],
				 decide(how), otherwise);
		pc[changed_at[i]] ^= 0xff;
	}
}

/* --- native leaves --- */

static uint32_t leaf_size;

static int native(int how)
{
	struct leaf_frame leaf;

	(void)how;
	leaf_decide(pc, &leaf);
	leaf_size = leaf.size;
	return leaf.state;
}

static void test_native(void **state)
{
	static const char *const entries[] = {
		/* returns */
		"| c3",
		"| c2",
		"| f3 c3",
		"| ff 25",
		"| 48 3d 00 f0 ?? ?? 77 ?? c3",
		"| c5 f8 77 c3",
		"| c5 f8 77 85 05 ?? ?? ?? ?? c3",
		"| 85 05 ?? ?? ?? ?? c3",
		"| 4d 8b 97 ?? ?? ?? ?? 41 85 02 c3",
		"| 4d 8b 57 ?? 41 85 ?? c3",
		"| 4d 8b 5f ?? 41 85 ?? c3",
		"| 41 85 02 c3",
		"| 41 85 03 c3",
		"| 49 3b a7 ?? ?? ?? ?? 0f 87 ?? ?? ?? ?? c3",
		"| 49 3b 67 ?? 0f 87 ?? ?? ?? ?? c3",
		"| 0f 87 ?? ?? ?? ?? c3",
		/* entries */
		"| f3 0f 1e fa 55",
		"| f3 0f 1e fa ff 25",
		"| f3 0f 1e fa f2 ff 25",
		"| 89 84 24 ?? ?? ?? ?? 55",
		"| 48 81 ec ?? ?? ?? ?? 48 89 6c 24 20~",
		"| 48 81 ec ?? ?? ?? ?? 48 89 ac 24 20~ 01~ 00~ 00~",
		"| 55 48 89 e5",
		"| 55 48 8b ec",
		"| 55 48 83 ec",
		"| 55 48 81 ec",
		"f3 0f 1e fa | 55",
	};
	static const char *const pushed[] = {
		"55 | 48 89 e5", "55 | 48 8b ec", "55 | 48 83 ec",
		"55 | 48 81 ec", "| 5d c3",	  "| 5d 85 05 ?? ?? ?? ?? c3",
	};

	static const struct {
		const char *pattern;
		uint32_t size;
		enum leaf_state state;
	} sized[] = {
		{ "48 81 ec ?? ?? ?? ?? | 48 89 6c 24 28~", 0x28, LEAF_ALLOCATED },
		{ "48 81 ec ?? ?? ?? ?? | 48 89 ac 24 04~ 03~ 02~ 01~", 0x01020304,
		  LEAF_ALLOCATED },
		{ "48 89 6c 24 18~ | 48 8b ec", 0x18, LEAF_STORED },
		{ "48 89 ac 24 04~ 03~ 02~ 01~ | 48 8b ec", 0x01020304, LEAF_STORED },
		{ "48 8b ec | 48 83 c5 18~", 0x18, LEAF_STORED },
		{ "48 8b ec | 48 81 c5 04~ 03~ 02~ 01~", 0x01020304, LEAF_STORED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++)
		expect(entries[i], native, 0, LEAF_ENTRY, LEAF_BODY);
	for (size_t i = 0; i < ARRAY_SIZE(pushed); i++)
		expect(pushed[i], native, 0, LEAF_PUSHED, LEAF_BODY);
	expect("| 48 85 c0 7c ?? 74 ?? c3", native, 0, LEAF_CLONED, LEAF_BODY);
	expect("48 85 c0 | 7c ?? 74 ?? c3", native, 0, LEAF_CLONED, LEAF_BODY);
	expect("48 85 c0 7c ?? | 74 ?? c3", native, 0, LEAF_CLONED, LEAF_BODY);
	for (size_t i = 0; i < ARRAY_SIZE(sized); i++) {
		expect(sized[i].pattern, native, 0, (int)sized[i].state, LEAF_BODY);
		put(sized[i].pattern);
		native(0);
		assert_int_equal(leaf_size, sized[i].size);
	}
}

/* --- compiled Java code --- */

#define WORDS_8 64
#define WORDS_2 16
#define AHEAD	40

/* HOW is the frame's size, and more than AHEAD with a prologue that reaches so far. */
static int compiled(int how)
{
	return (int)compiled_decide(&cursor, how >= 1000 ? AHEAD : 0, (uint32_t)how % 1000);
}

struct code_row {
	const char *pattern;
	int how;
	enum compiled_state state;
};

static void expect_rows(const struct code_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		expect(rows[i].pattern, compiled, rows[i].how, (int)rows[i].state, COMPILED_BODY);
}

static void test_prologue(void **state)
{
	static const struct code_row rows[] = {
		{ "| 55 48 83 ec 30", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 55 48 81 ec 30 00 00 00", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 55 48 8b ec", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 55 48 89 e5", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 48 83 ec 38", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 48 81 ec 38 00 00 00", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| ?? ?? 55 48 83 ec 30", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 39*90 55 48 83 ec 30", 1000 + WORDS_8, COMPILED_ENTRY },
		{ "| 89 84 24 ?? ?? ?? ?? 55", 1000 + WORDS_2, COMPILED_ENTRY },
		{ "89 84 24 ?? ?? ?? ?? | 55", 1000 + WORDS_2, COMPILED_ENTRY },
		{ "| 52~ 48 83 ec 08", 1000 + WORDS_2, COMPILED_POPPED },
		{ "| 48 83 ec 30", 1000 + WORDS_8, COMPILED_PUSHED },
		{ "| 48 81 ec 30 00 00 00", 1000 + WORDS_8, COMPILED_PUSHED },
		{ "55 | 48 8b ec", 1000 + WORDS_8, COMPILED_PUSHED },
		{ "55 | 48 89 e5", 1000 + WORDS_8, COMPILED_PUSHED },
		{ "48 81 ec 38 00 00 00 | 48 89 6c", 1000 + WORDS_8, COMPILED_ALLOCATED },
		{ "48 81 ec 38 00 00 00 | 48 89 ac", 1000 + WORDS_8, COMPILED_ALLOCATED },
		{ "48 81 ec 38 00 00 00 | 48 89 2c", 1000 + WORDS_8, COMPILED_ALLOCATED },
		{ "48 83 ec 38 | 48 89 6c", 1000 + WORDS_8, COMPILED_ALLOCATED },
	};
	/* What no prologue is ahead of, is a frame of another size, or too far. */
	static const struct code_row none[] = {
		{ "| 55 48 83 ec 30", WORDS_8, COMPILED_BODY },
		{ "| 48 83 ec 30", WORDS_8, COMPILED_BODY },
		{ "| 40*90 55 48 83 ec 30", 1000 + WORDS_8, COMPILED_BODY },
		{ "| 89 84 24 ?? ?? ?? ?? 55", 1000 + WORDS_8, COMPILED_BODY },
	};

	(void)state;
	expect_rows(rows, ARRAY_SIZE(rows));
	expect_rows(none, ARRAY_SIZE(none));
}

static void test_epilogue(void **state)
{
	static const struct code_row rows[] = {
		{ "5d 5a | e9", WORDS_8, COMPILED_POPPED },
		{ "5d 5a | ff e2", WORDS_8, COMPILED_POPPED },
		{ "5d 5a | 41 ff e2", WORDS_8, COMPILED_POPPED },
		{ "48 83 c4 08 5a |", WORDS_2, COMPILED_POPPED },
		{ "48 83 c4 08 5a 31*90 |", WORDS_2, COMPILED_POPPED },
		{ "c9 59 | ff e1", WORDS_2, COMPILED_IN_RCX },
		{ "48 83 c4 08 | 5a", WORDS_2, COMPILED_ENTRY },
		{ "| 8f 04 24", WORDS_8, COMPILED_SPILLED },
		{ "| 8f 44 24", WORDS_8, COMPILED_SPILLED },
		{ "| 8f 84 24", WORDS_8, COMPILED_SPILLED },
		{ "| 48 8f 04 24", WORDS_8, COMPILED_SPILLED },
		{ "| 49 ba 8*11 41 85 02 c3", WORDS_8, COMPILED_ENTRY },
		{ "4c 8d 15 4*11 4d 89 97 4*11 | e9", WORDS_8, COMPILED_ENTRY },
		{ "49 ba 8*11 4d 89 97 4*11 | e9", WORDS_8, COMPILED_ENTRY },
		{ "4c 8d 15 4*11 | 4d 89 97 4*11 e9", WORDS_8, COMPILED_ENTRY },
		{ "49 ba 8*11 | 4d 89 97 4*11 e9", WORDS_8, COMPILED_ENTRY },
		{ "| 4c 8d 15 4*11 4d 89 97 4*11 e9", WORDS_8, COMPILED_ENTRY },
		{ "| 49 ba 8*11 4d 89 97 4*11 e9", WORDS_8, COMPILED_ENTRY },
		{ "49 3b a7 ?? ?? ?? ?? | 0f 82", WORDS_8, COMPILED_ENTRY },
		{ "48 83 c4 30 5d |", WORDS_8, COMPILED_ENTRY },
		{ "48 81 c4 30 00 00 00 5d |", WORDS_8, COMPILED_ENTRY },
		{ "5d | e9", WORDS_8, COMPILED_ENTRY },
		{ "5d | ff e2", WORDS_8, COMPILED_ENTRY },
		{ "5d | 41 ff e2", WORDS_8, COMPILED_ENTRY },
		{ "c9 | 59 ff e1", WORDS_8, COMPILED_ENTRY },
		{ "c9 | 49 83 7f", WORDS_8, COMPILED_ENTRY },
		{ "c9 | 49 81 7f", WORDS_8, COMPILED_ENTRY },
		{ "c9 | 41 f6 47", WORDS_8, COMPILED_ENTRY },
		{ "c9 49 83 7f 48*90 |", WORDS_8, COMPILED_ENTRY },
		{ "48 83 c4 30 | 5d", WORDS_8, COMPILED_PUSHED },
		{ "48 81 c4 30 00 00 00 | 5d", WORDS_8, COMPILED_PUSHED },
		{ "| 5d c3", WORDS_8, COMPILED_PUSHED },
		{ "| 5d e9", WORDS_8, COMPILED_PUSHED },
		{ "| 5d 41 ff e2", WORDS_8, COMPILED_PUSHED },
		{ "| 5d 49 ba 8*11 41 85 02 c3", WORDS_8, COMPILED_PUSHED },
	};
	static const struct code_row none[] = {
		{ "48 83 c4 08 5a 32*90 |", WORDS_2, COMPILED_BODY },
		{ "48 83 c4 08 5a |", WORDS_8, COMPILED_BODY },
		{ "48 83 c4 08 | 5a", WORDS_8, COMPILED_BODY },
		{ "48 83 c4 00 5d |", WORDS_2, COMPILED_BODY },
		{ "48 83 c4 00 | 5d", WORDS_2, COMPILED_BODY },
		{ "c9 49 83 7f 49*90 |", WORDS_8, COMPILED_BODY },
	};

	(void)state;
	expect_rows(rows, ARRAY_SIZE(rows));
	expect_rows(none, ARRAY_SIZE(none));
	/* The last jump ends the sequence that a `leave` began; right behind `ret` it is the same one still. */
	expect("c9~ 49~ 83~ 7f~ c3 e9 4*11 |", compiled, WORDS_8, COMPILED_BODY, COMPILED_ENTRY);
	expect("c9 49 83 7f c3~ e9~ 3*11 |", compiled, WORDS_8, COMPILED_ENTRY, COMPILED_BODY);
}

/* --- adapters --- */

static int to_interpreter(int how)
{
	(void)how;
	return stub_is_to_interpreter(&cursor);
}

static int patches_caller(int how)
{
	(void)how;
	return stub_patches_caller(&cursor);
}

static int has_popped(int how)
{
	(void)how;
	return (int)stub_has_popped(&cursor);
}

static void test_adapters(void **state)
{
	static const char *const notes[] = {
		"58 4c 8b ec ?? |",
		"58 4c 8b ec 51*90 |",
		"4c 8d 6c 24 08~ 58 4*90 |",
		"4c 8d 6c 24 08~ 58 54*90 |",
	};
	static const char *const patches[] = {
		"| 48 0f ae 04", "| 48 0f ae 0c",	"| 9d 49 8b e5",
		"9d | 49 8b e5", "| 30*90 48 0f ae 0c",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		expect(notes[i], to_interpreter, 0, 1, 0);
	expect("58 4c 8b ec |", to_interpreter, 0, 0, 0);
	expect("58 4c 8b ec 52*90 |", to_interpreter, 0, 0, 0);
	expect("58~ 4c~ 8b~ ec~ ff e1 5*90 |", to_interpreter, 0, 0, 1);
	for (size_t i = 0; i < ARRAY_SIZE(patches); i++)
		expect(patches[i], patches_caller, 0, 1, 0);
	expect("48 0f | ae 04", patches_caller, 0, 0, 0);
	/* Still to come. */
	expect("| 48 83 e4 f0 4*90 48~ 0f~ ae~ 04~", patches_caller, 0, 0, 1);
}

static void test_popped_address(void **state)
{
	static const char *const popped[] = {
		"58 |",
		"58 4c 8b ec |",
		"58 4c 8b dc |",
		"58 5a |",
		"58 5a 59 5b 5a |",
		"48 8b 04 24 4c 8b dc 48 83 e4 ?? |",
		"48 8b 04 24 4c 8b dc 48 83 ec ?? |",
		"48 8b 04 24 4c 8b dc 48 83 ec ?? 48 83 e4 ?? |",
	};
	static const char *const moved[] = {
		"58 48 83 ec ?? |",	     "58 48 83 e4 ?? |",
		"58 48 81 ec ?? ?? ?? ?? |", "58 48 81 ec 4*11 48 81 ec 4*11 |",
		"58 48 83 ec ?? 4c 8b ec |",
	};
	static const char *const neither[] = {
		"58 5a 59 5b 5a 59 |",
		"58 48 81 ec 4*11 48 81 ec 4*11 59 |",
		"48 8b 04 24 4c 8b dc |",
		"58 48 83 ec |",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(popped); i++)
		expect(popped[i], has_popped, 0, STUB_POPPED, STUB_NOT_POPPED);
	for (size_t i = 0; i < ARRAY_SIZE(moved); i++)
		expect(moved[i], has_popped, 0, STUB_POPPED_MOVED, STUB_NOT_POPPED);
	for (size_t i = 0; i < ARRAY_SIZE(neither); i++) {
		put(neither[i]);
		assert_int_equal(has_popped(0), STUB_NOT_POPPED);
	}
}

/* --- the interpreter --- */

static int find_exit(int how)
{
	(void)how;
	return (int)interpreted_find_exit(&cursor);
}

static void test_interpreter_exit(void **state)
{
	static const struct {
		const char *pattern;
		int passed;
	} rows[] = {
		{ "c9 | 5e 48 8b e3", 0 },
		{ "c9 5e | 48 8b e3", 1 },
		{ "c9 41~ 5d | 49 8b e5", 2 },
		{ "c9 5e 48 8b e3 |", 4 },
		{ "c9 5e 48 8b e3 | ff~ e6~", 4 },
		{ "c9 | 41 c6 87 5*11 5e 48 8b e3", 0 },
		{ "c9 | 41 c6 47 2*11 5e 48 8b e3", 0 },
		{ "c9 41 c6 47 2*11 5e 48 8b e3 |", 9 },
		{ "c9 5e 48 8b e3 35*90 |", 39 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		expect(rows[i].pattern, find_exit, 0, rows[i].passed, INTERPRETED_NO_EXIT);
	expect("c9 5e 48 8b e3 36*90 |", find_exit, 0, INTERPRETED_NO_EXIT, INTERPRETED_NO_EXIT);
	/* A jump that lies behind has ended it. */
	expect("c9~ 5e~ 48~ 8b~ e3~ ff e6 |", find_exit, 0, INTERPRETED_NO_EXIT, 6);
	expect("c9~ 5e~ 48~ 8b~ e3~ 41~ ff e5 |", find_exit, 0, INTERPRETED_NO_EXIT, 7);
}

static int popped_register(int how)
{
	uint32_t reg = 99;

	(void)how;
	return interpreted_popped(pc, &reg) ? (int)reg : -1;
}

static void test_interpreter_popped(void **state)
{
	(void)state;
	expect("5b | 49 8b e5", popped_register, 0, 3, -1);
	expect("5f 49 8b e5 |", popped_register, 0, 7, -1);
}

/* Numbers in instructions are not those of the registers that are kept. */
static void test_interpreter_register(void **state)
{
	/* rax rcx rdx rbx rsp rbp rsi rdi, then r8 to r15 */
	static const unsigned int kept[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

	(void)state;
	for (unsigned int i = 0; i < 16; i++)
		cursor.leaf_regs[i] = 100 + i;
	for (unsigned int i = 0; i < 16; i++)
		assert_int_equal(interpreted_register(&cursor, i), 100 + (i < 8 ? kept[i] : i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_native),
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_epilogue),
		cmocka_unit_test(test_adapters),
		cmocka_unit_test(test_popped_address),
		cmocka_unit_test(test_interpreter_exit),
		cmocka_unit_test(test_interpreter_popped),
		cmocka_unit_test(test_interpreter_register),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
