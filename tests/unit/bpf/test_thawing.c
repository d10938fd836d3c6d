/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A virtual thread's frames on their way from a chunk to the stack: they are in neither place, but where they were. */
#include "test.h"

#include "frozen_world.h"

#define THAW	(BARRIER - 100) /* the stub that enterSpecial calls */
#define RETURNS (BARRIER + 60)	/* the one that is returned to */

/* In a stub at PC that has made room for so many words of frames; ALIGNED: and for one that aligns the stack. */
static void stand_in_stub(uint64_t pc, unsigned int words, bool aligned)
{
	cursor.pc = pc;
	cursor.sp = STACK_AT + 8ULL * 20 - 8ULL * (words + 4 + aligned + (pc == RETURNS ? 4 : 0));
}

static void frames_in_neither_place(void **state)
{
	static const unsigned int owns[] = { 20, 26, 36, 42, 50 };
	static const uint64_t stubs[] = { THAW, RETURNS };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(owns); i++) {
		for (size_t stub = 0; stub < 2; stub++) {
			for (int aligned = 0; aligned < 2; aligned++) {
				chunk_of_three(owns[i]);
				stand_in_stub(stubs[stub], 22, aligned);
				walk("E 6 10 6 E");
				assert_int_equal(cursor.frozen_frames, 3);
				assert_int_equal(cursor.java_frames, 5);
			}
		}
	}
}

/* Interpreted frames among them want some words more than they have. */
static void a_larger_room(void **state)
{
	(void)state;
	for (unsigned int more = 1; more < 8; more++) {
		for (unsigned int own = 20; own <= 42; own += 22) {
			chunk_of_three(own);
			put32(CHUNK(0), ROOM, 42 - own + more);
			stand_in_stub(RETURNS, 22 + more, more % 2);
			walk("E 6 10 6 E");
		}
	}
}

/* Behind those that are taken out come the older chunks. */
static void older_chunks(void **state)
{
	(void)state;
	for (unsigned int own = 20; own <= 42; own += 22) {
		chunk_of_three(own);
		put_chunk(0, own, 42, 1);
		put_compiled(1, 80, TEN + 200);
		put_chunk(1, 80, 90, -1);
		stand_in_stub(RETURNS, 22, false);
		walk("E 6 10 6 10 E");
	}
}

/* One of them ends behind the chunk's stack pointer: they are others, and only the chunk's own frames are known. */
static void frames_that_do_not_fit(void **state)
{
	(void)state;
	chunk_of_three(30);
	put64(word(0, 29), SIX + 120);
	stand_in_stub(THAW, 22, false);
	walk("E M 6 6 E");
	assert_int_equal(cursor.frozen_frames, 2);
	assert_int_equal(cursor.java_frames, 4);
	assert_int_equal(cursor.frames, 5);
	/* The second one leads nowhere. */
	chunk_of_three(36);
	put64(word(0, 25), BARRIER - 100);
	stand_in_stub(THAW, 22, true);
	walk("E M 6 E");
	assert_int_equal(cursor.frames, 4);
	/* Where they would begin there is no code. */
	chunk_of_three(26);
	put64(word(0, 19), 0x1234567);
	stand_in_stub(THAW, 22, false);
	walk("E M 10 6 E");
}

/* The room is for fewer words than the chunk still has, for more than it can have, or for none. */
static void another_room(void **state)
{
	static const unsigned int words[] = { 1, 6, 20, 41, 60 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		chunk_of_three(20);
		stand_in_stub(THAW, words[i], false);
		walk("E M 6 10 6 E");
	}
}

static void what_cannot_be_read(void **state)
{
	(void)state;
	chunk_of_three(42);
	stand_in_stub(THAW, 22, false);
	cursor.frozen_at.live = 0;
	walk("E M E");
	chunk_of_three(42);
	stand_in_stub(THAW, 22, false);
	put32(CONT, TAIL, 0);
	walk("E M E");
	chunk_of_three(42);
	stand_in_stub(THAW, 22, false);
	put64(CHUNK(0), 0x5000); /* it is being moved */
	walk("E M E");
	chunk_of_three(20);
	stand_in_stub(THAW, 22, false);
	cursor.jvm.chunks.room = WIRE_JVM_ABSENT;
	walk("E M 6 10 6 E");
}

/* The depth limit holds there, too. */
static void too_deep(void **state)
{
	(void)state;
	chunk_of_three(42);
	stand_in_stub(THAW, 22, false);
	cursor.max_frames = 3;
	while (unwind_frame(&cursor, &memory, out) == UNWIND_GO_ON)
		;
	assert_int_equal(cursor.reason, UNWIND_DEPTH);
	assert_int_equal(cursor.frames, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_in_neither_place),
		cmocka_unit_test(a_larger_room),
		cmocka_unit_test(older_chunks),
		cmocka_unit_test(frames_that_do_not_fit),
		cmocka_unit_test(another_room),
		cmocka_unit_test(what_cannot_be_read),
		cmocka_unit_test(too_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
