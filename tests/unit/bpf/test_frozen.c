/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A virtual thread's frames in the heap: chunks of compiled and interpreted ones, and what is none. */
#include "test.h"

#include "frozen_world.h"

static void three_frames(void)
{
	chunk_of_three(20);
}

static void compiled_frames(void **state)
{
	(void)state;
	three_frames();
	walk("6 10 6 E");
	assert_int_equal(cursor.frozen_frames, 3);
	assert_int_equal(cursor.java_frames, 4);
}

/* The registers of the entry are those of the barrier. */
static void where_it_goes_on(void **state)
{
	(void)state;
	three_frames();
	for (int i = 0; i < 4; i++)
		assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_true(cursor.pc == ENTER_RETURN && cursor.sp == STACK_AT + 8ULL * 20);
	assert_true(cursor.fp == 0x7777);
	assert_int_equal(cursor.frozen_at.inside, 0);
	assert_int_equal(cursor.anchor_own, 0);
}

/* Arguments of the oldest frame lie above it: a bottom, or their size. */
static void arguments_above(void **state)
{
	(void)state;
	three_frames();
	cursor.jvm.chunks.bottom = WIRE_JVM_ABSENT;
	cursor.jvm.chunks.argsize = BOTTOM;
	put32(CHUNK(0), BOTTOM, STACK_WORDS - 42);
	walk("6 10 6 E");
}

static void interpreted_frames(void **state)
{
	unsigned int at, link;

	(void)state;
	begin();
	/* 6 i i 10 i 6: links of interpreted callers are relative. */
	at = put_compiled(0, 20, SIX + 100);
	link = at - 2;
	at = put_interpreted(0, at, &link, 3, 1);
	at = put_interpreted(0, at, &link, 0, 2);
	put64(word(0, link + 1), TEN + 100);
	at += 10;
	link = at - 2;
	at = put_interpreted(0, at, &link, 5, 0);
	put64(word(0, link + 1), SIX + 100);
	at += 6;
	put64(word(0, at - 1), ENTER_RETURN);
	put_chunk(0, 20, at, -1);
	walk("6 i i 10 i 6 E");
	assert_int_equal(cursor.frozen_frames, 6);
}

/* The youngest and the oldest are interpreted ones; the last one's locals are the bottom. */
static void interpreted_ends(void **state)
{
	unsigned int at, link = 18;

	(void)state;
	begin();
	at = put_interpreted(0, 20, &link, 4, 3);
	put64(word(0, link + 1), SIX + 100);
	at += 6;
	link = at - 2;
	at = put_interpreted(0, at, &link, 1, 2);
	put64(word(0, link + 1), ENTER_RETURN);
	put_chunk(0, 20, at, -1);
	walk("i 6 i E");
}

static void several_chunks(void **state)
{
	(void)state;
	three_frames();
	put_chunk(0, 20, 42, 1);
	put_compiled(1, 80, TEN + 200);
	put_chunk(1, 80, 90, 2);
	put_compiled(2, 94, SIX + 200);
	put_chunk(2, 94, 100, -1);
	walk("6 10 6 10 6 E");
}

/* The newest may be empty, with or without arguments. */
static void an_empty_chunk(void **state)
{
	static const unsigned int ends[][2] = { { 100, 100 }, { 90, 90 }, { 100, 90 }, { 96, 95 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		three_frames();
		put_chunk(1, ends[i][0], ends[i][1], 0);
		put32(CONT, TAIL, oop(CHUNK(1)));
		walk("6 10 6 E");
	}
	/* All of them empty: somebody returned to the barrier, so that this cannot be. */
	three_frames();
	put_chunk(0, 100, 100, -1);
	walk("M E");
}

static void other_references(void **state)
{
	(void)state;
	three_frames();
	cursor.jvm.chunks.oop_bytes = 8;
	put64(CONT + TAIL, CHUNK(0));
	put64(CHUNK(0) + PARENT, 0);
	walk("6 10 6 E");
	/* The class in the mark's upper bits. */
	three_frames();
	cursor.jvm.chunks.klass_at = 0;
	cursor.jvm.chunks.klass_mask = ~0ULL << 42;
	cursor.jvm.chunks.klass = 77ULL << 42;
	put64(CHUNK(0), 77ULL << 42 | 1);
	walk("6 10 6 E");
	three_frames();
	cursor.jvm.chunks.oop_base = OBJECTS_AT - 800;
	put32(CONT, TAIL, oop(CHUNK(0) - OBJECTS_AT + 800));
	walk("6 10 6 E");
}

/* --- what is not read ------------------------------------------------------------------------- */

static void no_chunk(void **state)
{
	(void)state;
	three_frames();
	cursor.jvm.chunks.klass_mask = 0;
	walk("M E");
	three_frames();
	cursor.frozen_at.live = 0; /* a walk that is finished later */
	walk("M E");
	three_frames();
	cursor.thread = 0;
	walk("M E");
	three_frames();
	stack[20 + 2] = CONT + 4;
	walk("M E");
	three_frames();
	stack[20 + 2] = 0x5000; /* nothing is there */
	walk("M E");
	three_frames();
	put32(CONT, TAIL, 0);
	walk("M E");
	three_frames();
	put32(CHUNK(0), 8, KLASS + 1);
	walk("M E");
}

/* Another mark: a collector has moved it, or is about to. */
static void a_chunk_that_moves(void **state)
{
	(void)state;
	for (unsigned int mark = 0; mark < 4; mark++) {
		three_frames();
		put64(CHUNK(0), 0x5000 | mark);
		walk(mark == 1 ? "6 10 6 E" : "M E");
		three_frames();
		put64(CONT, 0x5000 | mark);
		walk(mark == 1 ? "6 10 6 E" : "M E");
	}
}

static void impossible_sizes(void **state)
{
	static const struct {
		uint32_t size, sp, bottom;
	} cases[] = {
		{ 0x80000000, 20, 42 },
		{ 100, 101, 42 },
		{ 100, 20, 101 },
		{ 100, 1, 42 },
		{ 100, UINT32_MAX, 42 },
		{ 100, 20, UINT32_MAX },
		{ FROZEN_MAX_WORDS + 1, 20, 42 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		three_frames();
		put32(CHUNK(0), SIZE, cases[i].size);
		put32(CHUNK(0), SP, cases[i].sp);
		put32(CHUNK(0), BOTTOM, cases[i].bottom);
		walk("M E");
	}
}

/* What is read until something is wrong stays, then comes the mark. */
static void a_lost_way(void **state)
{
	(void)state;
	three_frames();
	put64(word(0, 25), 0x1234567); /* a return address into nowhere */
	walk("6 M E");
	three_frames();
	put64(word(0, 25), BARRIER - 100); /* a stub without a frame */
	walk("6 M E");
	three_frames();
	put32(CHUNK(0), BOTTOM, 41); /* the last frame would be longer than the chunk */
	walk("6 10 M E");
	three_frames();
	put32(CHUNK(0), PARENT, oop(CONT)); /* not a chunk */
	walk("6 10 6 M E");
}

static void lost_interpreted_frames(void **state)
{
	static const struct {
		unsigned int at;
		uint64_t value;
	} cases[] = {
		{ 24, 0 },	       /* the link: leads nowhere */
		{ 24, 1000 },	       /* out of the chunk */
		{ 24, (uint64_t)-10 }, /* backwards */
		{ 36, 0 },	       /* the sender's sp */
		{ 36, 1000 },
		{ 36, (uint64_t)-4 },
		{ 34, 0x9999 }, /* no method */
	};

	(void)state;
	for (size_t i = 0; i <= ARRAY_SIZE(cases); i++) {
		unsigned int at, link;

		begin();
		at = put_compiled(0, 20, SIX + 100);
		link = at - 2;
		at = put_interpreted(0, at, &link, 3, 1); /* its frame pointer is word 37 */
		assert_int_equal(link, 37);
		put64(word(0, link + 1), SIX + 100);
		at += 6;
		put_chunk(0, 20, at, -1);
		if (i < ARRAY_SIZE(cases))
			put64(word(0, cases[i].at), cases[i].value);
		walk(i < ARRAY_SIZE(cases) ? "6 M E" : "6 i 6 E");
	}
}

static void endless_chunks(void **state)
{
	char expected[256] = "";

	(void)state;
	begin();
	put_compiled(0, 94, SIX + 100);
	put_chunk(0, 94, 100, 0); /* its own parent */
	for (int i = 0; i < FROZEN_MAX_CHUNKS; i++)
		strcat(expected, "6 ");
	strcat(expected, "M E");
	walk(expected);
}

/* --- while frames are moved ------------------------------------------------------------------- */

/* So many of the chunk's frames are on the stack, too, from the one that YOUNG counts on. */
static void on_the_stack(int young, unsigned int count)
{
	const uint64_t pcs[] = { SIX + 100, TEN + 100, SIX + 200 };
	struct frozen_walk *f = &cursor.frozen_at;

	three_frames();
	f->young[young] = SIX + 100;
	f->pcs[young] = 0;
	f->count[young] = count;
	for (unsigned int i = 0; i < count; i++)
		f->pcs[young] = frozen_mix(f->pcs[young], pcs[i]);
}

/* Frames that are in the heap and on the stack: the anchor leads to the entry. They are not shown twice. */
static void frames_in_both_places(void **state)
{
	static const uint64_t anchors[] = { STACK_AT + 8ULL * 20, 0, STACK_AT };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(anchors); i++) {
		for (int young = 0; young < 2; young++) {
			on_the_stack(young, 1);
			thread[ANCHOR_SP / 8] = anchors[i];
			walk(i == 0 ? "10 6 E" : "6 10 6 E");
			assert_int_equal(cursor.frozen_frames, i == 0 ? 2 : 3);
			on_the_stack(young, 2);
			thread[ANCHOR_SP / 8] = anchors[i];
			walk(i == 0 ? "6 E" : "6 10 6 E");
		}
		three_frames();
		thread[ANCHOR_SP / 8] = anchors[i];
		walk("6 10 6 E");
	}
	/* The thread itself is in doYield(). */
	for (int called = 0; called < 2; called++) {
		on_the_stack(1, 2);
		cursor.frozen_at.yields = 1;
		cursor.frozen_at.young[1] = called ? SIX + 100 : SIX + 104;
		walk(called ? "6 E" : "6 10 6 E");
	}
	/* They are others, though the first one is the same. */
	on_the_stack(1, 2);
	cursor.frozen_at.yields = 1;
	cursor.frozen_at.pcs[1]++;
	walk("M E");
	/* Nobody knows. */
	on_the_stack(0, 1);
	cursor.jvm.thread_anchor = WIRE_JVM_ABSENT;
	walk("M E");
}

/* The first Java frame below native code, and its caller. */
static void who_may_have_yielded(void **state)
{
	(void)state;
	begin();
	cursor.pc = 1000;
	frozen_note_caller(&cursor); /* the thread itself is in Java code */
	assert_true(cursor.frozen_at.young[0] == 1 && cursor.frozen_at.young[1] == 1);
	cursor.native = 1;
	frozen_note_caller(&cursor);
	cursor.native = 0;
	cursor.pc = 2000;
	frozen_note_caller(&cursor);
	cursor.pc = 3000;
	frozen_note_caller(&cursor);
	assert_true(cursor.frozen_at.young[0] == 1000 && cursor.frozen_at.young[1] == 2000);
	assert_int_equal(cursor.frozen_at.count[0], 3);
	assert_int_equal(cursor.frozen_at.count[1], 2);
	assert_true(cursor.frozen_at.pcs[1] == frozen_mix(frozen_mix(0, 2000), 3000));
	assert_true(cursor.frozen_at.pcs[0] ==
		    frozen_mix(frozen_mix(frozen_mix(0, 1000), 2000), 3000));
	/* More native code above: what it was called by is younger. */
	cursor.native = 1;
	frozen_note_caller(&cursor);
	assert_int_equal(cursor.frozen_at.count[0], 1);
	assert_int_equal(cursor.frozen_at.count[1], 0);
}

/* The thread's own frame is as large as doYield()'s: who called it is to come. */
static void it_may_yield_itself(void **state)
{
	(void)state;
	for (unsigned int words = 0; words < 4; words++) {
		for (wire_u8 leaf = 0; leaf < 2; leaf++) {
			begin();
			cursor.leaf = leaf;
			cursor.compiled_seen.frame_size = words;
			frozen_note_yield(&cursor);
			assert_int_equal(cursor.frozen_at.yields, leaf && words == 2);
			cursor.pc = 2000;
			frozen_note_caller(&cursor);
			assert_true(cursor.frozen_at.young[1] == (leaf && words == 2 ? 2000 : 1));
			assert_int_equal(cursor.frozen_at.count[1], 1);
		}
	}
}

/* In the thaw stub frames may be neither here nor there: the mark, and those that are there. */
static void frames_on_their_way(void **state)
{
	(void)state;
	three_frames();
	cursor.pc = BARRIER + 60;
	cursor.sp = STACK_AT + 8ULL * 10;
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_int_equal(cursor.frames, 2);
	assert_true(out[WIRE_COMPILED_WORDS] ==
		    (WIRE_MARK_FROZEN | (wire_u64)WIRE_FRAME_MARK << WIRE_FRAME_KIND_SHIFT));
	memset(out, 0, sizeof(out));
	cursor.frames = cursor.words = cursor.frozen = 0;
	walk("6 10 6 E");
}

/* The depth limit holds there, too. */
static void too_deep(void **state)
{
	(void)state;
	three_frames();
	cursor.max_frames = 2;
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_GO_ON);
	assert_int_equal(unwind_frame(&cursor, &memory, out), UNWIND_STOP);
	assert_int_equal(cursor.reason, UNWIND_DEPTH);
	assert_int_equal(cursor.frames, 2);
}

static int read_no_object(const void *data, uint64_t address, void *dst, size_t len)
{
	return address - OBJECTS_AT < sizeof(objects) ? -EFAULT
						      : read_piece(data, address, dst, len);
}

/* In userspace the heap is another one by now: what came with the stack counts, and nothing else. */
static void objects_of_that_time(void **state)
{
	(void)state;
	three_frames();
	memory.read = read_no_object;
	memory.read_stack = read_piece;
	walk("6 10 6 E");
	three_frames();
	memory.read = read_piece;
	memory.read_stack = read_no_object;
	walk("M E");
	memory.read_stack = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compiled_frames),
		cmocka_unit_test(where_it_goes_on),
		cmocka_unit_test(arguments_above),
		cmocka_unit_test(interpreted_frames),
		cmocka_unit_test(interpreted_ends),
		cmocka_unit_test(several_chunks),
		cmocka_unit_test(an_empty_chunk),
		cmocka_unit_test(other_references),
		cmocka_unit_test(no_chunk),
		cmocka_unit_test(a_chunk_that_moves),
		cmocka_unit_test(impossible_sizes),
		cmocka_unit_test(a_lost_way),
		cmocka_unit_test(lost_interpreted_frames),
		cmocka_unit_test(endless_chunks),
		cmocka_unit_test(frames_in_both_places),
		cmocka_unit_test(who_may_have_yielded),
		cmocka_unit_test(it_may_yield_itself),
		cmocka_unit_test(frames_on_their_way),
		cmocka_unit_test(too_deep),
		cmocka_unit_test(objects_of_that_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
