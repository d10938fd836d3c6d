/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "base/units.h"

#define SEC 1000000000ULL

static void assert_duration(const char *text, uint64_t expected)
{
	uint64_t ns = 0;

	if (units_parse_duration(text, &ns))
		fail_msg("'%s' was refused", text);
	if (ns != expected)
		fail_msg("'%s': expected %llu ns, came %llu", text, (unsigned long long)expected,
			 (unsigned long long)ns);
}

static void test_durations(void **state)
{
	(void)state;
	assert_duration("10", 10 * SEC);
	assert_duration("1.5s", SEC + SEC / 2);
	assert_duration("0.25", SEC / 4);
	assert_duration("30s", 30 * SEC);
	assert_duration("5m", 300 * SEC);
	assert_duration("2h", 7200 * SEC);
	assert_duration("10ms", 10000000);
	assert_duration("20us", 20000);
	assert_duration("7ns", 7);
	assert_duration("0.0000000019s", 1);
	assert_duration("18446744073709551615ns", UINT64_MAX);
}

static void test_bytes(void **state)
{
	uint64_t bytes;

	(void)state;
	assert_int_equal(units_parse_bytes("4096", &bytes), 0);
	assert_int_equal(bytes, 4096);
	assert_int_equal(units_parse_bytes("512k", &bytes), 0);
	assert_int_equal(bytes, 512 << 10);
	assert_int_equal(units_parse_bytes("64MB", &bytes), 0);
	assert_int_equal(bytes, 64 << 20);
	assert_int_equal(units_parse_bytes("1.5G", &bytes), 0);
	assert_int_equal(bytes, 3ULL << 29);
}

static void test_counts(void **state)
{
	uint64_t count = 42;

	(void)state;
	assert_int_equal(units_parse_count("1000003", &count), 0);
	assert_int_equal(count, 1000003);
	assert_int_equal(units_parse_count("512k", &count), 0);
	assert_int_equal(count, 512000);
	assert_int_equal(units_parse_count("1.5M", &count), 0);
	assert_int_equal(count, 1500000);
	assert_int_equal(units_parse_count("2g", &count), 0);
	assert_int_equal(count, 2000000000);
	assert_int_equal(units_parse_count("1kb", &count), -EINVAL);
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "",	 " 1",	"-1",	"+1",  "s",   "1x", "1 s",
					   "1.", ".5s", "0x10", "inf", "nan", "1e3" };
	uint64_t value = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(units_parse_duration(bad[i], &value), -EINVAL);
		assert_int_equal(units_parse_bytes(bad[i], &value), -EINVAL);
		assert_int_equal(units_parse_u64(bad[i], &value), -EINVAL);
	}
	assert_int_equal(units_parse_u64("18446744073709551616", &value), -ERANGE);
	assert_int_equal(units_parse_duration("6000000h", &value), -ERANGE);
	assert_int_equal(units_parse_bytes("99999999999T", &value), -ERANGE);
	assert_int_equal(units_parse_u64("12s", &value), -EINVAL);
	assert_int_equal(value, 42);
}

static void assert_value(uint64_t value, const char *unit, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	units_format_value(&sb, value, unit);
	assert_string_equal(strbuf_str(&sb), expected);
}

static void test_format(void **state)
{
	(void)state;
	assert_value(0, "nanoseconds", "0 ns");
	assert_value(999, "nanoseconds", "999 ns");
	assert_value(45000000, "nanoseconds", "45 ms");
	assert_value(12340000000, "nanoseconds", "12.3 s");
	assert_value(999960000, "nanoseconds", "1 s");
	assert_value(299 * SEC, "nanoseconds", "299 s");
	assert_value(1800 * SEC, "nanoseconds", "30 min");
	assert_value(7200 * SEC, "nanoseconds", "2 h");
	assert_value(0, "bytes", "0 B");
	assert_value(1023, "bytes", "1023 B");
	assert_value(1536, "bytes", "1.5 kB");
	assert_value(3 << 19, "bytes", "1.5 MB");
	assert_value(64 << 20, "bytes", "64 MB");
	assert_value(0, "count", "0");
	assert_value(999, "count", "999");
	assert_value(1000, "count", "1,000");
	assert_value(12345678, "count", "12,345,678");
	assert_value(UINT64_MAX, "count", "18,446,744,073,709,551,615");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_durations), cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_refused),	  cmocka_unit_test(test_counts),
		cmocka_unit_test(test_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
