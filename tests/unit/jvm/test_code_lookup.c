/* SPDX-License-Identifier: Apache-2.0 */
/* What one entry of a code map says of an address: frames, lines, and names of threads. */
#include "test.h"

#include "codemap_fixture.h"
#include "jvm/codemap/codemap_store.h"

#define CODE 0x7f0000001000ULL
#define T    (1000 * MS)

static struct codemap_store *store;
static struct record_buffer buffer;

static int set_up(void **state)
{
	(void)state;
	store = codemap_store_new();
	buffer.len = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	codemap_store_free(store);
	return 0;
}

static void feed(void)
{
	for (size_t at = 0; at < buffer.len;) {
		struct codemap_event e;
		ssize_t n = codemap_parse(buffer.data + at, buffer.len - at, &e);

		assert_true(n > 0);
		codemap_store_add(store, &e);
		at += (size_t)n;
	}
	buffer.len = 0;
}

/* A method of three lines, which the table has in the order in which a compiler may leave them. */
static void put_lines(uint64_t number, const char *class_name, const struct codemap_line lines[3])
{
	struct codemap_method *m;
	size_t c = strlen(class_name);
	char *text;

	m = record_begin(&buffer, CODEMAP_METHOD, 0, 0, sizeof(*m) + 3 * sizeof(*lines) + c + 3);
	m->number = number;
	m->class_len = (uint16_t)c;
	m->name_len = 3;
	m->line_count = 3;
	memcpy(m + 1, lines, 3 * sizeof(*lines));
	text = (char *)(m + 1) + 3 * sizeof(*lines);
	memcpy(text, class_name, c);
	memcpy(text + c, "run", 3);
}

struct pc_frames {
	uint32_t offset, depth;

	struct {
		uint64_t method;
		int32_t bci;
	} frames[3]; /* innermost first */
};

static void put_code(const struct pc_frames *pcs, uint32_t count)
{
	size_t size = sizeof(struct codemap_load);
	struct codemap_load *load;
	struct codemap_pc *pc;

	for (uint32_t i = 0; i < count; i++)
		size += sizeof(*pc) + pcs[i].depth * sizeof(struct codemap_frame);
	load = record_begin(&buffer, CODEMAP_LOAD, 0, T, size);
	load->address = CODE;
	load->code_bytes = 0x100;
	load->pc_count = count;
	load->method = 1;
	pc = (void *)(load + 1);
	for (uint32_t i = 0; i < count; i++) {
		struct codemap_frame *frame = (void *)(pc + 1);

		*pc = (struct codemap_pc){ pcs[i].offset, pcs[i].depth };
		for (uint32_t k = 0; k < pcs[i].depth; k++)
			*frame++ = (struct codemap_frame){ pcs[i].frames[k].method,
							   pcs[i].frames[k].bci, 0 };
		pc = (void *)frame;
	}
}

/* "pkg.A@4:41 pkg.B@…": class, bci and line of each frame, innermost first. */
static void expect_frames(uint64_t address, const char *expected)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub = NULL;
	char text[256] = "";

	feed();
	assert_int_equal(codemap_store_find(store, address, T, frames, &count, &stub), JAVA_FRAMES);
	for (unsigned int i = 0; i < count; i++) {
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s%s@%d:%d%s", i ? " " : "",
			 frames[i].class_name, frames[i].bci, frames[i].line,
			 frames[i].inlined ? "+" : "");
		assert_string_equal(frames[i].method, "run");
	}
	assert_string_equal(text, expected);
}

static const struct codemap_line sorted[3] = { { 0, 10 }, { 4, 11 }, { 9, 14 } };
static const struct codemap_line unsorted[3] = { { 9, 14 }, { 0, 10 }, { 4, 11 } };

/* The line that begins at the bci or last before it, however the table is sorted. */
static void lines_begin_at_their_bci(void **state)
{
	static const int32_t cases[][2] = { { -1, 10 }, { 0, 10 }, { 3, 10 },  { 4, 11 },
					    { 8, 11 },	{ 9, 14 }, { 100, 14 } };

	(void)state;
	for (int table = 0; table < 2; table++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			const struct pc_frames pc = { 0x10, 1, { { 1, cases[i][0] } } };
			char expected[32];

			put_lines(1, "pkg/A", table ? unsorted : sorted);
			put_code(&pc, 1);
			snprintf(expected, sizeof(expected), "pkg.A@%d:%d", cases[i][0],
				 cases[i][1]);
			expect_frames(CODE + 1, expected);
		}
	}
}

/* The outer frames of neighbouring pcs are shared only where method and bci are equal. */
static void chains_share_only_what_is_equal(void **state)
{
	static const struct pc_frames pcs[] = {
		{ 0x10, 1, { { 1, 0 } } },
		{ 0x20, 2, { { 2, 0 }, { 1, 4 } } },
		{ 0x30, 3, { { 3, 4 }, { 2, 0 }, { 1, 4 } } },
		{ 0x40, 3, { { 3, 4 }, { 2, 0 }, { 1, 9 } } },
		{ 0x50, 3, { { 3, 4 }, { 2, 9 }, { 1, 9 } } },
		{ 0x60, 2, { { 3, 4 }, { 1, 9 } } },
		{ 0x70, 1, { { 1, 9 } } },
	};
	static const char *const expected[] = {
		"pkg.A@0:10",
		"pkg.B@0:10+ pkg.A@4:11",
		"pkg.C@4:11+ pkg.B@0:10+ pkg.A@4:11",
		"pkg.C@4:11+ pkg.B@0:10+ pkg.A@9:14",
		"pkg.C@4:11+ pkg.B@9:14+ pkg.A@9:14",
		"pkg.C@4:11+ pkg.A@9:14",
		"pkg.A@9:14",
	};

	(void)state;
	put_lines(1, "pkg/A", sorted);
	put_lines(2, "pkg/B", sorted);
	put_lines(3, "pkg/C", sorted);
	put_code(pcs, 7);
	/* An entry reaches up to and including its pc. */
	for (uint64_t i = 0; i < 7; i++) {
		expect_frames(CODE + 0x10 * i + 1, expected[i]);
		expect_frames(CODE + 0x10 * (i + 1), expected[i]);
	}
	/* Behind the last one the method alone is known. */
	expect_frames(CODE + 0x71, "pkg.A@-1:10");
}

static enum java_lookup look_up(uint64_t address, const char **ret_stub)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;

	*ret_stub = NULL;
	feed();
	return codemap_store_find(store, address, T, frames, &count, ret_stub);
}

/* An inner stub says more than an outer one, in whatever order they are reported. */
static void the_narrowest_stub_is_named(void **state)
{
	const char *stub;

	(void)state;
	put_dynamic(&buffer, 0, T - 3, CODE - 0x1000, 0x10000, "outer");
	put_dynamic(&buffer, 0, T - 2, CODE - 0x100, 0x800, "inner");
	put_dynamic(&buffer, 0, T - 1, CODE - 0x400, 0x2000, "middle");
	assert_int_equal(look_up(CODE + 0x100, &stub), JAVA_STUB);
	assert_string_equal(stub, "inner");
	assert_int_equal(look_up(CODE - 0x200, &stub), JAVA_STUB);
	assert_string_equal(stub, "middle");
	assert_int_equal(look_up(CODE - 0x800, &stub), JAVA_STUB);
	assert_string_equal(stub, "outer");
	assert_int_equal(look_up(CODE - 0x1001, &stub), JAVA_UNKNOWN);
}

static void expect_thread(uint64_t time_ns, const char *name)
{
	uint64_t java_tid = 0;
	const char *found;

	feed();
	found = codemap_store_thread_name(store, 7, time_ns, &java_tid);
	if (name)
		assert_string_equal(found, name);
	else
		assert_null(found);
	assert_int_equal(java_tid, name ? 23 : 0);
}

/* Thread.setName() shows in the next replay: from there on it has the new name. */
static void a_replay_brings_a_new_name(void **state)
{
	(void)state;
	put_thread(&buffer, CODEMAP_THREAD, T, 7, 23, "worker-1");
	for (int i = 1; i <= 3; i++) {
		struct codemap_record *r = (void *)(buffer.data + buffer.len);

		put_thread(&buffer, CODEMAP_THREAD, T + 1000 * MS * (uint64_t)i, 7, 23,
			   i == 1 ? "worker-1" : "worker-2");
		r->flags = CODEMAP_FLAG_REPLAYED;
	}
	expect_thread(T, "worker-1");
	expect_thread(T + 2000 * MS - 1, "worker-1");
	expect_thread(T + 2000 * MS, "worker-2");
	expect_thread(T + 9000 * MS, "worker-2");
	/* It ran a moment before its start was reported, and no more. */
	expect_thread(T - 999 * MS, "worker-1");
	codemap_store_expire(store, T + 500 * MS);
	expect_thread(T, "worker-1");
	codemap_store_expire(store, T + 2500 * MS);
	expect_thread(T + 2000 * MS, "worker-2");
	put_thread(&buffer, CODEMAP_THREAD_END, T + 4000 * MS, 7, 23, "");
	expect_thread(T + 3000 * MS, "worker-2");
	codemap_store_expire(store, T + 4000 * MS);
	expect_thread(T + 3000 * MS, "worker-2");
	codemap_store_expire(store, T + 4000 * MS + 1);
	expect_thread(T + 3000 * MS, NULL);
}

static void a_thread_is_not_known_long_before_its_start(void **state)
{
	(void)state;
	put_thread(&buffer, CODEMAP_THREAD, 5 * T, 7, 23, "late");
	expect_thread(4 * T, NULL);
	expect_thread(4 * T + 1, "late");
	expect_thread(5 * T, "late");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_begin_at_their_bci),
		TEST(chains_share_only_what_is_equal),
		TEST(the_narrowest_stub_is_named),
		TEST(a_replay_brings_a_new_name),
		TEST(a_thread_is_not_known_long_before_its_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
