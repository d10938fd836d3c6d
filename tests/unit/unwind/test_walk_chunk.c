/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The walk of a virtual thread that no carrier runs: its chunks are all there is. */
#include "test.h"

#include "frozen_world.h"
#include "unwind/walk.h"

static struct walk a_walk;
static struct walk_result result;

static void walk_chunk(uint64_t chunk)
{
	const struct walk_request request = {
		.pc = chunk, .caller = true, .jvm = &cursor.jvm, .jvm_serial = 1, .chunk = chunk
	};

	memset(&result, 0, sizeof(result));
	walk_begin(&a_walk, &request, &memory, &result);
	assert_false(walk_go_on(&a_walk));
}

static void expect_compiled(uint32_t word, uint64_t pc)
{
	assert_int_equal(result.words[word] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_COMPILED);
	assert_true((result.words[word] & WIRE_FRAME_ADDRESS_MASK) == pc);
}

static void its_frames(void **state)
{
	(void)state;
	chunk_of_three(20);
	walk_chunk(CHUNK(0));
	assert_int_equal(result.reason, UNWIND_DONE);
	assert_int_equal(result.frames, 3);
	assert_int_equal(result.word_count, 6);
	expect_compiled(0, SIX + 100);
	expect_compiled(2, TEN + 100);
	expect_compiled(4, SIX + 110);
}

/* Those of its parents come behind them; an interpreted one is looked for where it was. */
static void of_several_chunks(void **state)
{
	unsigned int at, link;

	(void)state;
	chunk_of_three(20);
	put_chunk(0, 20, 42, 1);
	at = put_compiled(1, 30, SIX + 120);
	link = at - 2;
	at = put_interpreted(1, at, &link, 3, 1);
	put64(word(1, link + 1), TEN + 100);
	at += 10;
	put_chunk(1, 30, at, -1);
	walk_chunk(CHUNK(0));
	assert_int_equal(result.reason, UNWIND_DONE);
	assert_int_equal(result.frames, 6);
	assert_int_equal(result.interpreted_count, 1);
	assert_true(result.interpreted[0].fp == word(1, link));
	/* The older one cannot be read: a mark, and no more. */
	put64(CHUNK(1), 3);
	walk_chunk(CHUNK(0));
	assert_int_equal(result.reason, UNWIND_DONE);
	assert_int_equal(result.frames, 4);
	assert_int_equal(result.words[6] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_MARK);
}

static void what_is_none(void **state)
{
	(void)state;
	chunk_of_three(20);
	walk_chunk(METADATA_AT + 8);
	assert_int_equal(result.reason, UNWIND_PAGE);
	assert_int_equal(result.frames, 0);
	/* Without a frame. */
	put_chunk(0, 42, 42, -1);
	walk_chunk(CHUNK(0));
	assert_int_equal(result.reason, UNWIND_PAGE);
	assert_int_equal(result.frames, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_frames),
		cmocka_unit_test(of_several_chunks),
		cmocka_unit_test(what_is_none),
	};

	return cmocka_run_group_tests_name("walk_chunk", tests, NULL, NULL);
}
