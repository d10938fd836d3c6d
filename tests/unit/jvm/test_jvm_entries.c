/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of an interpreter, from its codelets; their memory is the test's. */
#include "test.h"

#include "fake_vm.h"
#include "jvm/layout/jvm_entries.h"

/* Here, in place of fake memory, lies the interpreter. */
#define START	 0x7f8000000000ULL
#define MAX_SIZE (5U << 20)
#define HEADER	 24
#define ENTRY	 "method entry point (kind = zerolocals)"

static uint8_t code[MAX_SIZE];
static size_t code_len;

struct world {
	struct fake_vm vm;
	uint32_t at; /* where the next codelet comes */
};

static int read_memory(const struct vm_memory *memory, const struct vm_span *spans,
		       unsigned int count)
{
	uint64_t at = spans[0].address - START;

	if (count != 1 || spans[0].address < START)
		return fake_read(memory, spans, count);
	if (at > code_len || spans[0].len > code_len - at)
		return -EFAULT;
	memcpy(spans[0].data, code + at, spans[0].len);
	return 0;
}

static const struct fake_field fields[] = {
	{ "InterpreterCodelet", "_description", HEADER - 8, 0 },
	{ "InterpreterCodelet", "_size", 4, 0 },
};

static struct world *make(const struct fake_field *those, size_t count, uint64_t header)
{
	const struct fake_type type = { "InterpreterCodelet", header };
	struct world *w = calloc(1, sizeof(*w));

	memset(code, 0x90, sizeof(code));
	code_len = MAX_SIZE;
	fake_init(&w->vm.fake);
	w->vm.fake.memory.read = read_memory;
	fake_vm_open(&w->vm, those, count, &type, 1);
	return w;
}

static int setup(void **state)
{
	*state = make(fields, ARRAY_SIZE(fields), HEADER);
	return 0;
}

static void drop(struct world *w)
{
	fake_vm_release(&w->vm);
	free(w);
}

static int teardown(void **state)
{
	drop(*state);
	return 0;
}

/* Its place in the interpreter. */
static uint32_t add(struct world *w, const char *name, int32_t size)
{
	uint64_t at = name ? fake_string(&w->vm.fake, name) : 8;
	uint32_t start = w->at;

	memcpy(code + start + 4, &size, sizeof(size));
	memcpy(code + start + HEADER - 8, &at, sizeof(at));
	w->at += (uint32_t)size;
	return start;
}

static void put_frame(uint32_t at, bool gnu)
{
	static const uint8_t made[2][7] = {
		{ 0x50, 0x55, 0x48, 0x8b, 0xec, 0x41, 0x55 },
		{ 0x50, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x55 },
	};

	memcpy(code + at, made[gnu], sizeof(made[0]));
}

static int read_entries(struct world *w, struct wire_jvm *wire, struct err *err)
{
	memset(wire, 0xff, sizeof(*wire));
	*err = (struct err){ 0 };
	return jvm_entries_read(w->vm.vs, START, w->at, wire, err);
}

static void expect_failure(struct world *w, const char *why)
{
	struct wire_jvm wire;
	struct err err;

	assert_int_equal(read_entries(w, &wire, &err), -EBADMSG);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

static void expect_entries(struct world *w, uint64_t first, const struct wire_entry *entries,
			   unsigned int count)
{
	struct wire_jvm wire;
	struct err err;

	if (read_entries(w, &wire, &err))
		fail_msg("%s", err.text);
	assert_int_equal(wire.entry_count, count);
	if (count)
		assert_true(wire.entries_start == START + first);
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(wire.entries[i].start, entries[i].start);
		assert_int_equal(wire.entries[i].frame, entries[i].frame);
	}
}

/* Both ways to write mov %rsp,%rbp; the frame may be made by an entry's last bytes. */
static void where_frames_are_made(void **state)
{
	struct world *w = *state;
	const struct wire_entry expected[] = {
		{ 0, 10 }, { 64, 64 + 20 }, { 128, 0 }, { 192, 192 + 33 }, { 256 - HEADER, 0 },
	};
	uint32_t first;

	add(w, "error exits", 96);
	first = add(w, ENTRY, 64) + HEADER;
	put_frame(first + 10, false);
	put_frame(add(w, "native " ENTRY, 64) + HEADER + 20, true);
	/* Cut by the entry's end, it is none; the next one's is not this one's. */
	put_frame(add(w, ENTRY, 64) + HEADER + 34, false);
	put_frame(add(w, ENTRY, 64) + HEADER + 33, false);
	add(w, "nop", 64);
	expect_entries(w, first, expected, ARRAY_SIZE(expected));
}

/* The first that follows and is no entry ends them, whatever comes behind. */
static void entries_behind_a_gap_are_left_out(void **state)
{
	struct world *w = *state;
	const struct wire_entry expected[] = { { 0, 0 }, { 40 - HEADER, 0 } };
	uint32_t first = add(w, ENTRY, 40) + HEADER;

	add(w, "method entry", 40);
	add(w, ENTRY, 40);
	expect_entries(w, first, expected, ARRAY_SIZE(expected));
}

/* Nothing follows them: they end with the interpreter. */
static void entries_at_the_end(void **state)
{
	struct world *w = *state;
	const struct wire_entry expected[] = { { 0, 0 }, { 40, 0 }, { 80 - HEADER, 0 } };
	uint32_t first = add(w, ENTRY, 40) + HEADER;

	add(w, ENTRY, 40);
	expect_entries(w, first, expected, ARRAY_SIZE(expected));
}

static void an_interpreter_without_entries(void **state)
{
	struct world *w = *state;
	char longest[120];

	expect_entries(w, 0, NULL, 0);
	add(w, "error exits", 64);
	/* A name that cannot be read, and one that has no end, are not one of ours. */
	add(w, NULL, 64);
	memset(longest, ' ', sizeof(longest));
	memcpy(longest, ENTRY, strlen(ENTRY));
	longest[96] = '\0';
	add(w, longest, 64);
	expect_entries(w, 0, NULL, 0);
	longest[95] = '\0';
	add(w, longest, 64);
	expect_entries(w, 3 * 64 + HEADER, (struct wire_entry[]){ { 0, 0 }, { 64 - HEADER, 0 } },
		       2);
}

/* An offset has 16 bits: what lies farther is left out, and without an end they say nothing. */
static void entries_that_lie_too_far(void **state)
{
	struct world *w = *state;
	const struct wire_entry fit[] = { { 0, 0 }, { 65535, 0 } };
	const struct wire_entry cut[] = { { 0, 0 }, { 60000, 0 }, { 64000, 0 } };
	uint32_t first = add(w, ENTRY, 65535 + HEADER) + HEADER;

	expect_entries(w, first, fit, ARRAY_SIZE(fit));
	w->at = 0;
	add(w, ENTRY, 65536 + HEADER);
	expect_entries(w, 0, NULL, 0);
	/* The same with a codelet behind it. */
	add(w, "nop", 64);
	expect_entries(w, 0, NULL, 0);
	/* The third one's frame is made too far away. */
	w->at = 0;
	add(w, ENTRY, 60000);
	add(w, ENTRY, 4000 + HEADER);
	put_frame(add(w, ENTRY, 8000) + HEADER + 2000 - HEADER, false);
	expect_entries(w, first, cut, ARRAY_SIZE(cut));
}

static void codelets_of_an_impossible_size(void **state)
{
	static const int32_t sizes[] = { 0, -8, HEADER - 1, 65, INT32_MAX, INT32_MIN };
	struct world *w = *state;
	uint32_t last;

	add(w, ENTRY, 64);
	last = add(w, "nop", 64);
	for (unsigned int i = 0; i < ARRAY_SIZE(sizes); i++) {
		memcpy(code + 4, &(int32_t){ 64 }, 4);
		memcpy(code + last + 4, &sizes[i], 4);
		expect_failure(w, "cannot read the interpreter's codelets");
	}
	/* A header alone, and what is less than one. */
	w->at = 0;
	add(w, "nop", HEADER);
	add(w, "nop", HEADER);
	expect_entries(w, 0, NULL, 0);
	w->at += HEADER - 1;
	expect_failure(w, "cannot read the interpreter's codelets");
}

/* Each is a read of the process. */
static void too_many_codelets(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < 512; i++)
		add(w, NULL, HEADER);
	expect_entries(w, 0, NULL, 0);
	add(w, NULL, HEADER);
	expect_failure(w, "cannot read the interpreter's codelets");
}

static void memory_that_cannot_be_read(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;
	struct err err;

	add(w, ENTRY, 64);
	code_len = 63;
	assert_int_equal(read_entries(w, &wire, &err), -EFAULT);
	code_len = MAX_SIZE;
	add(w, "nop", (4 << 20) - 64);
	expect_entries(w, HEADER, (struct wire_entry[]){ { 0, 0 }, { 64 - HEADER, 0 } }, 2);
	w->at++;
	expect_failure(w, "the interpreter has an impossible size");
}

/* Where a codelet's fields lie is the JVM's to say, and must be in its header. */
static void headers_of_any_layout(void **state)
{
	static const struct {
		uint64_t header, size_at, name_at;
		int result;
	} cases[] = {
		{ 24, 20, 0, 0 },	   { 24, 21, 0, -EBADMSG }, { 24, 0, 16, 0 },
		{ 24, 0, 17, -EBADMSG },   { 8, 4, 0, 0 },	    { 7, 0, 0, -EBADMSG },
		{ 256, 252, 248, 0 },	   { 257, 0, 8, -EBADMSG }, { 256, 253, 0, -EBADMSG },
		{ 256, 0, 249, -EBADMSG },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct fake_field those[] = {
			{ "InterpreterCodelet", "_description", cases[i].name_at, 0 },
			{ "InterpreterCodelet", "_size", cases[i].size_at, 0 },
		};
		struct world *w = make(those, 2, cases[i].header);
		struct wire_jvm wire;
		struct err err;

		w->at = 0;
		assert_int_equal(read_entries(w, &wire, &err), cases[i].result);
		drop(w);
	}
}

/* A JVM that does not tell has none, which is no failure. */
static void a_jvm_that_does_not_tell(void **state)
{
	(void)state;
	for (unsigned int missing = 0; missing < 3; missing++) {
		struct fake_field those[2] = { fields[0], fields[1] };
		struct world *w;

		if (missing < 2)
			those[missing].name = "_other";
		w = make(those, 2, HEADER);
		if (missing == 2) {
			drop(w);
			w = calloc(1, sizeof(*w));
			fake_init(&w->vm.fake);
			w->vm.fake.memory.read = read_memory;
			fake_vm_open(&w->vm, those, 2, &(struct fake_type){ "Other", 8 }, 1);
		}
		add(w, ENTRY, 64);
		expect_entries(w, 0, NULL, 0);
		drop(w);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(where_frames_are_made),
		TEST(entries_behind_a_gap_are_left_out),
		TEST(entries_at_the_end),
		TEST(an_interpreter_without_entries),
		TEST(entries_that_lie_too_far),
		TEST(codelets_of_an_impossible_size),
		TEST(too_many_codelets),
		TEST(memory_that_cannot_be_read),
		cmocka_unit_test(headers_of_any_layout),
		cmocka_unit_test(a_jvm_that_does_not_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
