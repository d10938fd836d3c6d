/* SPDX-License-Identifier: Apache-2.0 */
/* Where a JVM's code heaps are: lists of them, their bounds, and what cannot be. */
#include "test.h"

#include "jvm/layout/jvm_heaps.h"
#include "jvm_fixture.h"

#define MB (1ULL << 20)
#define GB (1ULL << 30)

struct world {
	struct fake_jvm *f;
	struct wire_jvm wire;
	uint64_t heaps[40]; /* CodeHeaps: objects of the fake JVM */
};

static int setup_of(void **state, uint32_t release)
{
	struct world *w = calloc(1, sizeof(*w));

	w->f = fake_jvm_new(release, false);
	w->heaps[0] = w->f->heap_object;
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return setup_of(state, 17);
}

static int setup_8(void **state)
{
	return setup_of(state, 8);
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_jvm_free(w->f);
	free(w);
	return 0;
}

static void put_heap(struct world *w, unsigned int i, uint64_t start, uint64_t end, int32_t log2)
{
	struct fake_memory *fake = &w->f->vm.fake;

	if (!w->heaps[i])
		w->heaps[i] = fake_alloc(fake, 264);
	fake_put_u64(fake, w->heaps[i] + 8, start);
	fake_put_u64(fake, w->heaps[i] + 16, end);
	fake_put_u64(fake, w->heaps[i] + 120 + 16, 0x5000 + i);
	jvm_put_i32(w->f, w->heaps[i] + 256, log2);
}

/* The list is as long as that. */
static void put_list(struct world *w, int32_t count, uint64_t low, uint64_t high)
{
	struct fake_memory *fake = &w->f->vm.fake;
	uint64_t items = fake_alloc(fake, sizeof(w->heaps));

	fake_put(fake, items, w->heaps, sizeof(w->heaps));
	fake_put_u64(fake, w->f->heap_list + 8, items);
	jvm_put_i32(w->f, w->f->heap_list, count);
	fake_put_u64(fake, w->f->at_low, low);
	fake_put_u64(fake, w->f->at_high, high);
}

static void expect(struct world *w, int result, const char *why)
{
	struct err err = { 0 };

	memset(&w->wire, 0xff, sizeof(w->wire));
	assert_int_equal(jvm_heaps_read(w->f->vm.vs, &w->wire, &err), result);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

static void expect_heap(const struct world *w, unsigned int i, uint64_t start, uint64_t end,
			uint64_t segmap)
{
	assert_true(i < w->wire.heap_count);
	assert_true(w->wire.heaps[i].start == start);
	assert_true(w->wire.heaps[i].end == end);
	assert_true(w->wire.heaps[i].segmap == segmap);
}

/* In any order; between them lies what is no code. */
static void heaps_of_a_list(void **state)
{
	struct world *w = *state;

	put_heap(w, 0, 8 * MB, 9 * MB, 7);
	put_heap(w, 1, 2 * MB, 4 * MB, 7);
	put_heap(w, 2, 4 * MB, 6 * MB, 7);
	put_list(w, 3, 0, UINT64_MAX);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 3);
	expect_heap(w, 0, 8 * MB, 9 * MB, 0x5000);
	expect_heap(w, 1, 2 * MB, 4 * MB, 0x5001);
	expect_heap(w, 2, 4 * MB, 6 * MB, 0x5002);
	assert_true(w->wire.code_start == 2 * MB);
	assert_true(w->wire.code_end == 9 * MB);
	assert_int_equal(w->wire.log2_segment, 7);
	assert_int_equal(w->wire.block_header, 16);
	/* As many as the wire has room for, of as many as are listed. */
	for (unsigned int i = 0; i < 32; i++)
		put_heap(w, i, (i + 1) * MB, (i + 2) * MB, 7);
	put_list(w, 6, 0, UINT64_MAX);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 6);
	put_list(w, 7, 0, UINT64_MAX);
	expect(w, -EBADMSG, "cannot read where the JVM's code lies");
	put_list(w, 32, 10 * MB, 12 * MB);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 2);
	expect_heap(w, 0, 10 * MB, 11 * MB, 0x5009);
	put_list(w, 33, 10 * MB, 12 * MB);
	expect(w, -EBADMSG, "cannot read where the JVM's code lies");
	put_list(w, -1, 10 * MB, 12 * MB);
	expect(w, -EBADMSG, "cannot read where the JVM's code lies");
}

/* A heap lies in the code cache with all that it has. */
static void bounds_of_the_code_cache(void **state)
{
	struct world *w = *state;

	put_heap(w, 0, 2 * MB, 4 * MB, 7);
	put_heap(w, 1, 4 * MB, 6 * MB, 7);
	put_list(w, 2, 2 * MB, 6 * MB);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 2);
	put_list(w, 2, 2 * MB + 1, 6 * MB);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 1);
	expect_heap(w, 0, 4 * MB, 6 * MB, 0x5001);
	assert_true(w->wire.code_start == 4 * MB && w->wire.code_end == 6 * MB);
	put_list(w, 2, 2 * MB, 6 * MB - 1);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 1);
	expect_heap(w, 0, 2 * MB, 4 * MB, 0x5000);
	/* None of them: not yet. */
	put_list(w, 2, 7 * MB, 8 * MB);
	expect(w, -EAGAIN, "the JVM is still starting");
}

static void heaps_that_are_not_there_yet(void **state)
{
	struct world *w = *state;

	put_heap(w, 0, 2 * MB, 4 * MB, 7);
	put_list(w, 1, 0, UINT64_MAX);
	expect(w, 0, "");
	put_heap(w, 0, 0, 4 * MB, 7);
	expect(w, -EAGAIN, "the JVM is still starting");
	put_heap(w, 0, 2 * MB, 4 * MB, 7);
	fake_put_u64(&w->f->vm.fake, w->heaps[0] + 136, 0);
	expect(w, -EAGAIN, "the JVM is still starting");
	w->heaps[0] = 0;
	put_list(w, 1, 0, UINT64_MAX);
	expect(w, -EAGAIN, "the JVM is still starting");
	put_list(w, 0, 0, UINT64_MAX);
	expect(w, -EAGAIN, "the JVM is still starting");
	fake_put_u64(&w->f->vm.fake, w->f->at_heaps, 0);
	expect(w, -EAGAIN, "the JVM is still starting");
	fake_put_u64(&w->f->vm.fake, w->f->at_heaps, 0x1000);
	expect(w, -EFAULT, "cannot read where the JVM's code lies");
}

static void sizes_of_a_heap(void **state)
{
	static const struct {
		uint64_t start, end;
		int32_t log2;
		int result;
	} cases[] = {
		{ MB, 2 * MB, 3, 0 },
		{ MB, 2 * MB, 2, -EBADMSG },
		{ MB, 2 * MB, 10, 0 },
		{ MB, 2 * MB, 11, -EBADMSG },
		{ MB, MB + 1, 7, 0 },
		{ MB, MB, 7, -EBADMSG },
		{ MB, MB - 1, 7, -EBADMSG },
		{ MB, MB + 4 * GB, 7, 0 },
		{ MB, MB + 4 * GB + 1, 7, -EBADMSG },
	};
	struct world *w = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		put_heap(w, 0, cases[i].start, cases[i].end, cases[i].log2);
		put_list(w, 1, 0, UINT64_MAX);
		expect(w, cases[i].result, "");
	}
	/* Of all of them together. */
	put_heap(w, 0, MB, 2 * MB, 7);
	put_heap(w, 1, 4 * GB, 4 * GB + MB, 7);
	put_list(w, 2, 0, UINT64_MAX);
	expect(w, 0, "");
	put_heap(w, 1, 4 * GB, 4 * GB + MB + 1, 7);
	expect(w, -EBADMSG, "");
	/* They have segments of one size. */
	put_heap(w, 1, 2 * MB, 3 * MB, 8);
	expect(w, -EBADMSG, "");
}

/* JDK 8 has one heap, and no bounds. */
static void the_heap_of_8(void **state)
{
	struct world *w = *state;

	put_heap(w, 0, MB, 4 * GB, 7);
	expect(w, 0, "");
	assert_int_equal(w->wire.heap_count, 1);
	expect_heap(w, 0, MB, 4 * GB, 0x5000);
	fake_put_u64(&w->f->vm.fake, w->f->at_heaps, 0);
	expect(w, -EAGAIN, "the JVM is still starting");
}

/* --- tables --- */

/* 17 without the field FIELD of TYPE, with another one in its place, and a block of so many bytes. */
static int read_without(const char *type, const char *field, const char *in_place, uint64_t block)
{
	const struct fake_type block_type = { block ? "HeapBlock" : "Other", block };
	struct fake_jvm *f = fake_jvm_fill(17, false);
	struct jvm_fields fields = { .count = 0 };
	struct wire_jvm wire;
	struct err err = { 0 };
	int r;

	jvm_add_shape(f, &fields);
	jvm_add_statics(f, &fields);
	for (size_t i = 0; i < fields.count; i++)
		if (!strcmp(fields.items[i].type, type) && !strcmp(fields.items[i].name, field))
			fields.items[i].type = in_place;
	/* The table is built anew, with other symbols. */
	fake_vm_fill(&f->vm, fields.items, fields.count, &block_type, 1);
	assert_int_equal(vmstructs_open_memory(&f->vm.fake.memory, f->vm.symbols, &f->vm.vs), 0);
	memset(&wire, 0, sizeof(wire));
	r = jvm_heaps_read(f->vm.vs, &wire, &err);
	if (!r)
		assert_int_equal(wire.block_header, block);
	if (r == -EOPNOTSUPP)
		assert_string_equal(err.text,
				    "this JVM's VMStructs do not tell where its code heaps are");
	fake_jvm_free(f);
	return r;
}

static void fields_that_are_needed(void **state)
{
	static const struct {
		const char *type, *field;
	} needed[] = {
		{ "CodeHeap", "_memory" },
		{ "CodeHeap", "_segmap" },
		{ "CodeHeap", "_log2_segment_size" },
		{ "VirtualSpace", "_low" },
		{ "VirtualSpace", "_low_boundary" },
		{ "VirtualSpace", "_high_boundary" },
		{ "CodeCache", "_heaps" },
		{ "GrowableArrayBase", "_len" },
		{ "GrowableArray<int>", "_data" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(needed); i++)
		assert_int_equal(read_without(needed[i].type, needed[i].field, "Other", 16),
				 -EOPNOTSUPP);
	assert_int_equal(read_without("CodeCache", "_low_bound", "Other", 16), 0);
	assert_int_equal(read_without("CodeCache", "_high_bound", "Other", 16), 0);
	/* Up to JDK 16 the length is of another class. */
	assert_int_equal(read_without("GrowableArrayBase", "_len", "GenericGrowableArray", 16), 0);
	assert_int_equal(read_without("", "", "", 64), 0);
	assert_int_equal(read_without("", "", "", 65), -EBADMSG);
	assert_int_equal(read_without("", "", "", 1), 0);
	assert_int_equal(read_without("", "", "", 0), -EOPNOTSUPP);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(heaps_of_a_list),
		TEST(bounds_of_the_code_cache),
		TEST(heaps_that_are_not_there_yet),
		TEST(sizes_of_a_heap),
		cmocka_unit_test_setup_teardown(the_heap_of_8, setup_8, teardown),
		cmocka_unit_test(fields_that_are_needed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
