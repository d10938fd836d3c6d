/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "code_fixture.h"
#include "jvm/names/code_blob.h"

#define METHOD 0x7f0000123450ULL

static struct code_fixture fixture;

static int setup(void **state)
{
	code_fixture_init(&fixture, &code_layout_17);
	*state = &fixture;
	return 0;
}

static int find(struct code_fixture *f, uint64_t address, struct code_blob *ret_blob)
{
	return code_blob_find(&f->fake.memory, &f->layout, address, ret_blob);
}

static void finds_an_nmethod(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 8, METHOD, 77);
	struct code_blob blob;

	for (uint64_t offset = 0; offset < 8ULL * SEGMENT_BYTES - 16; offset += 40) {
		assert_int_equal(find(f, at + offset, &blob), 0);
		assert_true(blob.is_nmethod);
		assert_int_equal(blob.start, at);
		assert_int_equal(blob.end, at + 8ULL * SEGMENT_BYTES - 16);
		assert_int_equal(blob.compile_id, 77);
		assert_int_equal(blob.method, METHOD);
		assert_string_equal(blob.name, "nmethod");
	}
	assert_true(code_blob_is_same(&f->fake.memory, &f->layout, &blob));
}

static void tells_a_stub_by_its_name(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_blob(f, 0, 4, "I2C/C2I adapters", KIND_STUB);
	struct code_blob blob;

	assert_int_equal(find(f, at + 100, &blob), 0);
	assert_false(blob.is_nmethod);
	assert_string_equal(blob.name, "I2C/C2I adapters");
	at = code_fixture_blob(f, 8, 4, "native nmethod", KIND_STUB);
	assert_int_equal(find(f, at + 100, &blob), 0);
	assert_true(blob.is_nmethod);
}

/* JDK 23 and later: smaller blobs, a kind, and a shorter block header. */
static void tells_a_stub_by_its_kind(void **state)
{
	struct code_fixture *f = *state;
	struct jvm_layout layout = code_layout_17;
	struct code_blob blob;
	uint64_t nmethod, stub;

	layout.blob_name = 8;
	layout.blob_kind = 56;
	layout.blob_kind_nmethod = KIND_NMETHOD;
	layout.nmethod_method = 80;
	layout.block_used = 4;
	layout.wire.block_header = 8;
	layout.wire.blob_size = 24;
	layout.wire.compile_id = 212;
	code_fixture_init(f, &layout);
	nmethod = code_fixture_nmethod(f, 1, 3, METHOD, 5);
	/* The name is not looked at. */
	stub = code_fixture_blob(f, 4, 3, "nmethod", KIND_STUB);
	assert_int_equal(find(f, nmethod + 200, &blob), 0);
	assert_true(blob.is_nmethod);
	assert_int_equal(blob.method, METHOD);
	assert_int_equal(find(f, stub + 200, &blob), 0);
	assert_false(blob.is_nmethod);
}

static void nothing_where_no_code_is(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob;

	assert_int_equal(find(f, f->heap - 1, &blob), -ESTALE);
	assert_int_equal(find(f, f->heap + (uint64_t)SEGMENTS * SEGMENT_BYTES, &blob), -ESTALE);
	assert_int_equal(find(f, f->heap, &blob), -ESTALE);
	/* The header before the blob, and the rest of the block behind it. */
	assert_int_equal(find(f, at - 1, &blob), -ESTALE);
	put_u32(f, at + f->layout.wire.blob_size, 400);
	assert_int_equal(find(f, at + 399, &blob), 0);
	assert_int_equal(find(f, at + 400, &blob), -ESTALE);
	f->layout.wire.heap_count = 0;
	assert_int_equal(find(f, at, &blob), -ENODATA);
	f->layout.wire.heap_count = 1;
	f->layout.blob_name = JVM_LAYOUT_ABSENT;
	assert_int_equal(find(f, at, &blob), -ENODATA);
}

/* The segments of a freed block stay as they were until it is cut up again. */
static void a_freed_block_is_no_code(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob, before;

	assert_int_equal(find(f, at, &before), 0);
	code_fixture_free(f, 4);
	assert_int_equal(find(f, at, &blob), -ESTALE);
	assert_false(code_blob_is_same(&f->fake.memory, &f->layout, &before));
}

/* 255 says free, and is no hop of 255 segments to the code that happens to be there. */
static void a_free_segment_is_no_hop(void **state)
{
	struct code_fixture *f = *state;
	uint8_t map[SEGMENTS + 255];
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob;

	memset(map, FREE_SEGMENT, sizeof(map));
	map[4] = 0;
	map[5] = map[6] = map[7] = 1;
	f->layout.wire.heaps[0].segmap = fake_add(&f->fake, map, sizeof(map));
	f->layout.wire.heaps[0].end = f->heap + sizeof(map) * SEGMENT_BYTES;
	put_u32(f, at + f->layout.wire.blob_size, 300 * SEGMENT_BYTES);
	assert_int_equal(find(f, at + SEGMENT_BYTES, &blob), 0);
	assert_int_equal(find(f, at + 255 * SEGMENT_BYTES, &blob), -ESTALE);
}

static void other_code_is_not_the_same(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob;

	assert_int_equal(find(f, at, &blob), 0);
	put_u32(f, at + f->layout.wire.compile_id, 78);
	assert_false(code_blob_is_same(&f->fake.memory, &f->layout, &blob));
	put_u32(f, at + f->layout.wire.compile_id, 77);
	assert_true(code_blob_is_same(&f->fake.memory, &f->layout, &blob));
	/* JDK 17 and before: its class was unloaded. */
	fake_put_u64(&f->fake, at + f->layout.nmethod_method, 0);
	assert_false(code_blob_is_same(&f->fake.memory, &f->layout, &blob));
}

/* Joined free blocks leave chains that go back by one segment: 1,896 hops were seen. */
static void any_number_of_hops(void **state)
{
	static uint8_t map[20000];
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 0, 4, METHOD, 77), heap = f->heap;
	struct code_blob blob;

	memset(map, 1, sizeof(map));
	map[0] = 0;
	f->segmap = fake_add(&f->fake, map, sizeof(map));
	f->layout.wire.heaps[0] =
		(struct wire_code_heap){ heap, heap + sizeof(map) * SEGMENT_BYTES, f->segmap };
	put_u32(f, at + f->layout.wire.blob_size, sizeof(map) * SEGMENT_BYTES);
	assert_int_equal(find(f, heap + (sizeof(map) - 1) * SEGMENT_BYTES, &blob), 0);
	assert_int_equal(blob.start, at);
	/* A read of the map brings many of them. */
	assert_true(f->fake.reads < 60);
}

static void a_hostile_segment_map(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 2, 4, METHOD, 77);
	const uint8_t too_far = 6, last = 2;
	struct code_blob blob;

	fake_put(&f->fake, f->segmap + 5, &too_far, 1); /* before the heap */
	assert_int_equal(find(f, at + 400, &blob), -ESTALE);
	fake_put(&f->fake, f->segmap + 5, &last, 1); /* and then into the middle of nothing */
	code_fixture_block(f, 3, 1);
	assert_int_equal(find(f, at + 400, &blob), -EBADMSG);
	f->layout.wire.heaps[0].segmap = 8; /* not mapped */
	assert_int_equal(find(f, at + 400, &blob), -ESTALE);
	f->layout.wire.log2_segment = 255;
	assert_int_equal(find(f, at + 400, &blob), -ENODATA);
}

/* Without a flag for blocks in use, what its segments say is believed. */
static void blocks_without_a_flag(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob;

	code_fixture_free(f, 4);
	f->layout.block_used = JVM_LAYOUT_ABSENT;
	assert_int_equal(find(f, at, &blob), 0);
	assert_int_equal(blob.method, METHOD);
	assert_true(code_blob_is_same(&f->fake.memory, &f->layout, &blob));
	put_u32(f, at + f->layout.wire.compile_id, 78);
	assert_false(code_blob_is_same(&f->fake.memory, &f->layout, &blob));
}

/* Fields that lie where nothing is mapped: the code has gone. */
static void fields_that_cannot_be_read(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	const struct jvm_layout kept = f->layout;
	struct code_blob blob, good;

	assert_int_equal(find(f, at, &good), 0);
	f->layout.block_used = 1 << 20;
	assert_int_equal(find(f, at, &blob), -ESTALE);
	assert_false(code_blob_is_same(&f->fake.memory, &f->layout, &good));
	f->layout = kept;
	f->layout.nmethod_method = 1 << 20;
	assert_int_equal(find(f, at, &blob), -ESTALE);
	f->layout = kept;
	f->layout.blob_name = 1 << 20;
	assert_int_equal(find(f, at, &blob), -ESTALE);
	f->layout = kept;
	f->layout.nmethod_method = JVM_LAYOUT_ABSENT;
	assert_int_equal(find(f, at, &blob), -ENODATA);
	f->layout = kept;
	f->layout.wire.log2_segment = 32;
	assert_int_equal(find(f, at, &blob), -ENODATA);
	f->layout.wire.log2_segment = 31;
	assert_int_equal(find(f, at, &blob), -ESTALE);
}

/* The process has gone, or may not be read: that is not the code's fault. */
static int read_error;

static int read_nothing(const struct vm_memory *memory, const struct vm_span *spans,
			unsigned int count)
{
	(void)memory, (void)spans, (void)count;
	return read_error;
}

static void a_process_that_has_gone(void **state)
{
	static const int errors[][2] = { { -EFAULT, -ESTALE },
					 { -ESRCH, -ESRCH },
					 { -EPERM, -EPERM } };
	const struct vm_memory memory = { .read = read_nothing };
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob;

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		read_error = errors[i][0];
		assert_int_equal(code_blob_find(&memory, &f->layout, at, &blob), errors[i][1]);
	}
}

static void sizes_of_blobs(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_nmethod(f, 4, 4, METHOD, 77);
	struct code_blob blob;

	put_u32(f, at + f->layout.wire.blob_size, 16 << 20);
	assert_int_equal(find(f, at, &blob), 0);
	assert_int_equal(blob.end - blob.start, 16 << 20);
	put_u32(f, at + f->layout.wire.blob_size, (16 << 20) + 1);
	assert_int_equal(find(f, at, &blob), -EBADMSG);
	put_u32(f, at + f->layout.wire.blob_size, 0);
	assert_int_equal(find(f, at, &blob), -ESTALE);
	put_u32(f, at + f->layout.wire.blob_size, 1);
	assert_int_equal(find(f, at, &blob), 0);
}

/* A map is read from its first byte on, and up to the segment that is asked for. */
static void the_ends_of_a_segment_map(void **state)
{
	struct code_fixture *f = *state;
	uint8_t map[SEGMENTS];
	struct code_blob blob;
	uint64_t at, end = FAKE_BASE + FAKE_BYTES;

	at = code_fixture_nmethod(f, 0, 4, METHOD, 77);
	put_u32(f, at + f->layout.wire.blob_size, SEGMENTS * SEGMENT_BYTES - 16);
	for (unsigned int i = 0; i < SEGMENTS; i++)
		map[i] = (uint8_t)i;
	/* Nothing lies behind it. */
	fake_put(&f->fake, end - SEGMENTS, map, sizeof(map));
	f->layout.wire.heaps[0].segmap = end - SEGMENTS;
	assert_int_equal(find(f, at + (SEGMENTS - 1) * SEGMENT_BYTES - 16, &blob), 0);
	assert_int_equal(blob.start, at);
	f->layout.wire.heaps[0].segmap = end - 1;
	assert_int_equal(find(f, at + SEGMENT_BYTES, &blob), -ESTALE);
}

static void names_are_cut_and_cleaned(void **state)
{
	struct code_fixture *f = *state;
	char longest[200];
	struct code_blob blob;
	uint64_t at;

	memset(longest, 'x', sizeof(longest));
	longest[sizeof(longest) - 1] = 0;
	at = code_fixture_blob(f, 0, 4, longest, KIND_STUB);
	assert_int_equal(find(f, at, &blob), 0);
	assert_int_equal(strlen(blob.name), CODE_BLOB_MAX_NAME);
	at = code_fixture_blob(f, 4, 4, "new\nline\xff", KIND_STUB);
	assert_int_equal(find(f, at, &blob), 0);
	assert_string_equal(blob.name, "new?line?");
	fake_put_u64(&f->fake, at + f->layout.blob_name, 1);
	assert_int_equal(find(f, at, &blob), -EBADMSG);
}

/* Behind a string at the end of the memory nothing is read. */
static void names_at_the_end_of_a_page(void **state)
{
	struct code_fixture *f = *state;
	uint64_t at = code_fixture_blob(f, 0, 4, "", KIND_STUB);
	uint64_t name = FAKE_BASE + FAKE_BYTES - 5, across = FAKE_BASE + 0x8000 - 3;
	struct code_blob blob;

	fake_put(&f->fake, name, "stub", 5);
	fake_put_u64(&f->fake, at + f->layout.blob_name, name);
	assert_int_equal(find(f, at, &blob), 0);
	assert_string_equal(blob.name, "stub");
	fake_put(&f->fake, across, "across", 7);
	fake_put_u64(&f->fake, at + f->layout.blob_name, across);
	assert_int_equal(find(f, at, &blob), 0);
	assert_string_equal(blob.name, "across");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finds_an_nmethod, setup),
		cmocka_unit_test_setup(tells_a_stub_by_its_name, setup),
		cmocka_unit_test_setup(tells_a_stub_by_its_kind, setup),
		cmocka_unit_test_setup(nothing_where_no_code_is, setup),
		cmocka_unit_test_setup(a_freed_block_is_no_code, setup),
		cmocka_unit_test_setup(a_free_segment_is_no_hop, setup),
		cmocka_unit_test_setup(other_code_is_not_the_same, setup),
		cmocka_unit_test_setup(any_number_of_hops, setup),
		cmocka_unit_test_setup(a_hostile_segment_map, setup),
		cmocka_unit_test_setup(blocks_without_a_flag, setup),
		cmocka_unit_test_setup(fields_that_cannot_be_read, setup),
		cmocka_unit_test_setup(a_process_that_has_gone, setup),
		cmocka_unit_test_setup(sizes_of_blobs, setup),
		cmocka_unit_test_setup(the_ends_of_a_segment_map, setup),
		cmocka_unit_test_setup(names_are_cut_and_cleaned, setup),
		cmocka_unit_test_setup(names_at_the_end_of_a_page, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
