/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdbool.h>

#include "codemap_fixture.h"
#include "jvm/codemap/codemap_record.h"

static void parses_a_method(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;

	(void)state;
	put_method(&b, 7, "pkg/A", "run", "A.java", 3, 42);
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.kind, CODEMAP_METHOD);
	assert_int_equal(e.method.number, 7);
	assert_int_equal(e.method.class_name.len, 5);
	assert_memory_equal(e.method.class_name.data, "pkg/A", 5);
	assert_int_equal(e.method.name.len, 3);
	assert_memory_equal(e.method.name.data, "run", 3);
	assert_memory_equal(e.method.source.data, "A.java", 6);
	assert_int_equal(e.method.line_count, 2);
	assert_int_equal(e.method.lines[1].bci, 3);
	assert_int_equal(e.method.lines[1].line, 42);
}

static void parses_a_descriptor(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;

	(void)state;
	put_overload(&b, 7, "A", "run", "(I)V");
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.method.descriptor.len, 4);
	assert_memory_equal(e.method.descriptor.data, "(I)V", 4);
}

/* Older agents have none, and whatever was in the ring before lies behind the text. */
static void an_older_agent_has_no_descriptors(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;
	struct codemap_method *m;

	(void)state;
	m = put_overload(&b, 7, "A", "run", "(I)V");
	m->record.flags = CODEMAP_FLAG_REPLAYED;
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.method.descriptor.len, 0);
	assert_memory_equal(e.method.name.data, "run", 3);
}

/* With the flag there are two bytes at least, and no more than the record has. */
static void descriptors_lie_within_their_record(void **state)
{
	(void)state;
	for (uint16_t len = 0; len < 64; len++) {
		struct record_buffer b = { .len = 0 };
		struct codemap_method *m = put_overload(&b, 7, "A", "run", "(I)V");
		char *text = (char *)(m + 1);
		struct codemap_event e;
		size_t room = b.len - sizeof(*m) - 4 - sizeof(len);

		memcpy(text + 4, &len, sizeof(len));
		assert_int_equal(codemap_parse(b.data, b.len, &e),
				 len <= room ? (ssize_t)b.len : -EBADMSG);
		if (len <= room)
			assert_int_equal(e.method.descriptor.len, len);
		/* As many bytes of text as there are, and one more is left. */
		m->name_len = (uint16_t)(b.len - sizeof(*m) - 1 - len % 2);
		assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
	}
}

static void parses_a_load(void **state)
{
	const struct pc_spec pcs[] = { { 8, 1, 1 }, { 20, 3, 4 } };
	struct record_buffer b = { .len = 0 };
	const struct codemap_pc *pc;
	struct codemap_event e;

	(void)state;
	put_load(&b, CODEMAP_FLAG_REPLAYED, 99, 0x7000, 64, 1, pcs, 2);
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.flags, CODEMAP_FLAG_REPLAYED);
	assert_int_equal(e.time_ns, 99);
	assert_int_equal(e.load.address, 0x7000);
	assert_int_equal(e.load.pc_count, 2);
	pc = codemap_next_pc(e.load.pcs);
	assert_int_equal(pc->offset, 20);
	assert_int_equal(pc->depth, 3);
	assert_int_equal(codemap_pc_frames(pc)[2].method, 6);
}

/* Every byte short: either "more is needed" or malformed, never accepted. */
static void wants_the_whole_record(void **state)
{
	const struct pc_spec pcs[] = { { 8, 1, 1 } };
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;

	(void)state;
	put_load(&b, 0, 1, 0x7000, 64, 1, pcs, 1);
	for (size_t len = 0; len < b.len; len++)
		assert_int_equal(codemap_parse(b.data, len, &e), 0);
}

static ssize_t parse_load_with(void (*spoil)(struct codemap_load *load, struct codemap_pc *pc))
{
	const struct pc_spec pcs[] = { { 8, 1, 1 }, { 20, 1, 1 } };
	struct record_buffer b = { .len = 0 };
	struct codemap_load *load = put_load(&b, 0, 1, 0x7000, 64, 1, pcs, 2);
	struct codemap_event e;

	/* The second entry follows one pc and one frame. */
	spoil(load, (void *)((char *)(load + 1) + sizeof(struct codemap_pc) +
			     sizeof(struct codemap_frame)));
	return codemap_parse(b.data, b.len, &e);
}

static void nothing(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)l, (void)pc;
}

static void descending(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)l, pc->offset = 8;
}

static void outside(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)l, pc->offset = 65;
}

static void no_frame(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)l, pc->depth = 0;
}

static void too_deep(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)l, pc->depth = ~0U;
}

static void more_pcs(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->pc_count = 3;
}

static void many_pcs(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->pc_count = ~0U;
}

static void no_address(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->address = 0;
}

static void wrapping(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->address = ~0UL;
}

static void no_code(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->code_bytes = 0;
}

static void odd_size(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->record.size -= 4;
}

static void tiny(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->record.size = 8;
}

static void cut(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->record.size = 32;
}

static void giant(struct codemap_load *l, struct codemap_pc *pc)
{
	(void)pc, l->record.size = 1U << 24;
}

static void refuses_hostile_loads(void **state)
{
	void (*const spoil[])(struct codemap_load * load, struct codemap_pc * pc) = {
		descending, outside, no_frame, too_deep, more_pcs, many_pcs, no_address,
		wrapping,   no_code, odd_size, tiny,	 cut,	   giant,
	};

	(void)state;
	assert_true(parse_load_with(nothing) > 0);
	for (size_t i = 0; i < sizeof(spoil) / sizeof(spoil[0]); i++)
		assert_int_equal(parse_load_with(spoil[i]), -EBADMSG);
}

static void refuses_texts_that_leave_the_record(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_method *m = (void *)b.data;
	struct codemap_dynamic *d = (void *)b.data;
	struct codemap_event e;

	(void)state;
	put_method(&b, 1, "A", "b", "", 0, 0);
	m->class_len = 60000;
	assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
	m->class_len = 1;
	m->line_count = 60000;
	assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
	m->line_count = 2;
	m->number = 0;
	assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
	b.len = 0;
	put_dynamic(&b, 0, 1, 0x1000, 16, "Interpreter");
	d->name_len = 0xfffffff0;
	assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
	b.len = 0;
	put_thread(&b, CODEMAP_THREAD, 1, 5, 1, "main");
	((struct codemap_thread *)(void *)b.data)->name_len = 1000;
	assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
}

static void parses_an_older_thread(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;

	(void)state;
	put_thread_seen(&b, 0x7f0012345678, 12, "main");
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.thread.java_thread, 0x7f0012345678);
	assert_int_equal(e.thread.java_tid, 12);
	assert_int_equal(e.thread.name.len, 4);
	assert_memory_equal(e.thread.name.data, "main", 4);
	((struct codemap_thread_seen *)(void *)b.data)->name_len = 9;
	assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
}

/* The smallest record of each kind, and one that lacks its last word. */
static void records_of_the_smallest_size(void **state)
{
	static const struct {
		uint16_t kind;
		uint32_t size;
	} kinds[] = {
		{ CODEMAP_PAD, sizeof(struct codemap_record) },
		{ CODEMAP_METHOD, sizeof(struct codemap_method) },
		{ CODEMAP_LOAD, sizeof(struct codemap_load) },
		{ CODEMAP_UNLOAD, sizeof(struct codemap_unload) },
		{ CODEMAP_DYNAMIC, sizeof(struct codemap_dynamic) },
		{ CODEMAP_GAP, sizeof(struct codemap_gap) },
		{ CODEMAP_REPLAY_BEGIN, sizeof(struct codemap_record) },
		{ CODEMAP_THREAD, sizeof(struct codemap_thread) },
		{ CODEMAP_THREAD_END, sizeof(struct codemap_thread) },
		{ CODEMAP_THREAD_SEEN, sizeof(struct codemap_thread_seen) },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct record_buffer b = { .len = 0 };
		struct codemap_record *r = record_begin(&b, kinds[i].kind, 3, 5, kinds[i].size);
		struct codemap_event e;

		if (r->kind == CODEMAP_METHOD)
			((struct codemap_method *)(void *)r)->number = 1;
		if (r->kind == CODEMAP_LOAD)
			((struct codemap_load *)(void *)r)->address =
				((struct codemap_load *)(void *)r)->code_bytes = 64;
		if (r->kind == CODEMAP_DYNAMIC)
			((struct codemap_dynamic *)(void *)r)->address =
				((struct codemap_dynamic *)(void *)r)->code_bytes = 64;
		assert_int_equal(codemap_parse(b.data, b.len, &e), kinds[i].size);
		assert_int_equal(e.kind, kinds[i].kind);
		assert_int_equal(e.flags, 3);
		assert_int_equal(e.time_ns, 5);
		r->size -= 8;
		assert_int_equal(codemap_parse(b.data, b.len, &e), -EBADMSG);
	}
}

/* What a record does not tell of a thread is 0, whatever the event held before. */
static void what_is_not_told_of_a_thread(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;

	(void)state;
	put_thread(&b, CODEMAP_THREAD, 5, 7, 8, "main");
	memset(&e, 0xff, sizeof(e));
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.thread.java_thread, 0);
	assert_int_equal(e.thread.tid, 7);
	assert_int_equal(e.thread.java_tid, 8);
	b.len = 0;
	put_thread_seen(&b, 0x7000, 8, "main");
	memset(&e, 0xff, sizeof(e));
	assert_int_equal(codemap_parse(b.data, b.len, &e), b.len);
	assert_int_equal(e.thread.java_thread, 0x7000);
	assert_int_equal(e.thread.tid, 0);
	assert_int_equal(e.thread.java_tid, 8);
}

/* Where code may lie, and how large a piece of it may be. */
static void places_of_code(void **state)
{
	static const struct {
		uint64_t address;
		uint32_t bytes;
		bool is;
	} cases[] = {
		{ 1, 1, true },
		{ 0, 1, false },
		{ 1, 0, false },
		{ (1ULL << 56) - 1, 1, true },
		{ 1ULL << 56, 1, false },
		{ 64, 16 << 20, true },
		{ 64, (16 << 20) + 1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct record_buffer b = { .len = 0 };
		struct codemap_event e;
		ssize_t n;

		put_dynamic(&b, 0, 5, cases[i].address, cases[i].bytes, "stub");
		n = codemap_parse(b.data, b.len, &e);
		assert_int_equal(n, cases[i].is ? (ssize_t)b.len : -EBADMSG);
		b.len = 0;
		put_load(&b, 0, 5, cases[i].address, cases[i].bytes, 1, NULL, 0);
		n = codemap_parse(b.data, b.len, &e);
		assert_int_equal(n, cases[i].is ? (ssize_t)b.len : -EBADMSG);
	}
}

static void skips_what_a_later_agent_may_send(void **state)
{
	struct record_buffer b = { .len = 0 };
	struct codemap_event e;

	(void)state;
	record_begin(&b, 77, 0, 5, 128);
	assert_int_equal(codemap_parse(b.data, b.len, &e), 128);
	assert_int_equal(e.kind, 77);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parses_a_method),
		cmocka_unit_test(parses_a_descriptor),
		cmocka_unit_test(an_older_agent_has_no_descriptors),
		cmocka_unit_test(descriptors_lie_within_their_record),
		cmocka_unit_test(parses_a_load),
		cmocka_unit_test(wants_the_whole_record),
		cmocka_unit_test(refuses_hostile_loads),
		cmocka_unit_test(refuses_texts_that_leave_the_record),
		cmocka_unit_test(parses_an_older_thread),
		cmocka_unit_test(records_of_the_smallest_size),
		cmocka_unit_test(what_is_not_told_of_a_thread),
		cmocka_unit_test(places_of_code),
		cmocka_unit_test(skips_what_a_later_agent_may_send),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
