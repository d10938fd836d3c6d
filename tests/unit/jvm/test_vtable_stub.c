/* SPDX-License-Identifier: Apache-2.0 */
/* A fabricated chunk of dispatch stubs. */
#include "test.h"

#include "fake_memory.h"
#include "jvm/names/vtable_stub.h"

#define CHUNK_BYTES 4096

static struct fake_memory fake;
static struct jvm_layout layout;
static struct code_blob blob;

static int setup(void **state)
{
	(void)state;
	fake_init(&fake);
	memset(&layout, 0, sizeof(layout));
	layout.wire.code_start = FAKE_BASE;
	layout.wire.code_end = FAKE_BASE + FAKE_BYTES;
	blob = (struct code_blob){ .name = "vtable chunks" };
	blob.start = fake_alloc(&fake, CHUNK_BYTES);
	blob.end = blob.start + CHUNK_BYTES;
	return 0;
}

/* Its code is 0x90s, BYTES long, behind the header at AT of the chunk. */
static void put_stub(unsigned int at, unsigned int bytes, uint64_t next, bool is_vtable)
{
	const int16_t numbers[] = { 6, (int16_t)(bytes - 9), is_vtable ? 0 : 8 };
	const uint8_t kind[] = { is_vtable, 0xab };

	fake_put_u64(&fake, blob.start + at, next);
	fake_put(&fake, blob.start + at + 8, numbers, sizeof(numbers));
	fake_put(&fake, blob.start + at + 14, kind, sizeof(kind));
	memset(fake.bytes + (blob.start - FAKE_BASE) + at + 16, 0x90, bytes);
}

static void expect_name(unsigned int at, const char *expected)
{
	const char *name = "";

	assert_int_equal(0, vtable_stub_name(&fake.memory, &layout, &blob, blob.start + at, &name));
	if (expected)
		assert_string_equal(name, expected);
	else
		assert_null(name);
}

static void names_both_kinds(void **state)
{
	(void)state;
	put_stub(64, 30, 0, true);
	put_stub(112, 130, blob.start + 64, false);
	put_stub(264, 30, 0, true);
	expect_name(80, "vtable stub");
	expect_name(109, "vtable stub");
	expect_name(128, "itable stub");
	expect_name(257, "itable stub");
	expect_name(280, "vtable stub");
}

/* Before the first one, in the chunk's own header or in an unused part. */
static void is_in_no_stub(void **state)
{
	(void)state;
	expect_name(40, NULL);
	expect_name(0, NULL);
	put_stub(64, 30, 0, true);
	expect_name(60, NULL);
	expect_name(76, NULL);
	expect_name(79, NULL);
	expect_name(64 + 16 + 2000, NULL);
}

static void other_blobs_have_none(void **state)
{
	(void)state;
	put_stub(64, 30, 0, true);
	strcpy(blob.name, "StubRoutines (1)");
	expect_name(90, NULL);
}

/* Each of these bytes makes it none. */
static void headers_that_are_none(void **state)
{
	static const struct {
		unsigned int at;
		uint64_t value;
		unsigned int len;
	} bad[] = {
		{ 0, FAKE_BASE - 8, 8 },
		{ 0, FAKE_BASE + FAKE_BYTES, 8 },
		{ 0, FAKE_BASE + 4, 8 },
		{ 8, 0x8000, 2 },
		{ 10, 0, 2 },
		{ 10, 700, 2 },
		{ 12, 0xffff, 2 },
		{ 12, 25, 2 },
		{ 14, 2, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		setup(state);
		put_stub(64, 30, 0, true);
		expect_name(90, "vtable stub");
		fake_put(&fake, blob.start + 64 + bad[i].at, &bad[i].value, bad[i].len);
		expect_name(90, NULL);
	}
}

/* Zeros between a stub and the next header are none. */
static void room_between_stubs(void **state)
{
	(void)state;
	put_stub(64, 22, 0, true);
	expect_name(64 + 16 + 64, "vtable stub");
}

static void memory_that_is_gone(void **state)
{
	(void)state;
	blob.start = FAKE_BASE - 256;
	expect_name(128, NULL);
}

static int read_late(const struct vm_memory *memory, const struct vm_span *spans,
		     unsigned int count)
{
	(void)memory, (void)spans, (void)count;
	return -ETIMEDOUT;
}

/* It is in one or in none: whoever asks later hears which. */
static void who_reads_for_us_is_late(void **state)
{
	const struct vm_memory late = { .read = read_late };
	const char *name = "";

	(void)state;
	put_stub(64, 30, 0, true);
	assert_int_equal(-ETIMEDOUT,
			 vtable_stub_name(&late, &layout, &blob, blob.start + 90, &name));
	assert_null(name);
	expect_name(90, "vtable stub");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(names_both_kinds, setup),
		cmocka_unit_test_setup(is_in_no_stub, setup),
		cmocka_unit_test_setup(other_blobs_have_none, setup),
		cmocka_unit_test_setup(headers_that_are_none, setup),
		cmocka_unit_test_setup(room_between_stubs, setup),
		cmocka_unit_test_setup(memory_that_is_gone, setup),
		cmocka_unit_test_setup(who_reads_for_us_is_late, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
