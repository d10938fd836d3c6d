/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "output/pprof/pb.h"

static void expect_bytes(const struct strbuf *sb, const void *bytes, size_t len)
{
	assert_int_equal(sb->len, len);
	assert_memory_equal(sb->buf, bytes, len);
}

/* The examples of protobuf.dev/programming-guides/encoding/. */
static void test_documented_examples(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const uint64_t packed[] = { 3, 270, 86942 };

	(void)state;
	pb_add_u64(&sb, 1, 150);
	expect_bytes(&sb, "\x08\x96\x01", 3);
	strbuf_reset(&sb);
	pb_add_element(&sb, 2, "testing", 7);
	expect_bytes(&sb, "\x12\x07testing", 9);
	strbuf_reset(&sb);
	pb_add_element(&sb, 3, "\x08\x96\x01", 3);
	expect_bytes(&sb, "\x1a\x03\x08\x96\x01", 5);
	strbuf_reset(&sb);
	pb_add_packed(&sb, 6, packed, 3);
	expect_bytes(&sb, "\x32\x06\x03\x8e\x02\x9e\xa7\x05", 8);
}

static void test_limits(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	const uint64_t huge = UINT64_MAX;

	(void)state;
	pb_add_u64(&sb, 16, UINT64_MAX);
	expect_bytes(&sb, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	strbuf_reset(&sb);
	pb_add_packed(&sb, 1, &huge, 1);
	expect_bytes(&sb, "\x0a\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12);
	strbuf_reset(&sb);
	pb_add_varint(&sb, 0);
	pb_add_varint(&sb, 127);
	pb_add_varint(&sb, 128);
	expect_bytes(&sb, "\x00\x7f\x80\x01", 4);
}

static void test_defaults_are_left_out(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	(void)state;
	pb_add_u64(&sb, 1, 0);
	pb_add_packed(&sb, 3, NULL, 0);
	assert_int_equal(sb.len, 0);
	pb_add_element(&sb, 6, "", 0);
	expect_bytes(&sb, "\x32\x00", 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_documented_examples),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_defaults_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
