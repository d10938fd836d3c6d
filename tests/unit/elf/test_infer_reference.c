// SPDX-License-Identifier: Apache-2.0
/*
 * Inferred rows of real files beside their call frame information, which is hidden from us: of a thousand rows that are given
 * none may be another one. Compilers and assembly (OpenSSL, glibc) alike, with and without symbols.
 */
#include "test.h"

#include <unistd.h>

#include "infer_compare.h"

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libz.so.1",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libelf.so.1",
	"/usr/bin/python3",
	"/usr/bin/bash",
};

static void expect_good(const char *name, const struct infer_sums *sums)
{
	infer_sums_print(name, sums);
	/* one in a thousand; of small files one or two, where two functions lie together */
	if (infer_sums_wrong(sums) > sums->given / 1000 + 2)
		fail_msg("%s: %lu of %lu rows are wrong", name, infer_sums_wrong(sums),
			 sums->given);
	if (sums->unclear > sums->given / 200)
		fail_msg("%s: %lu of %lu rows are not clear", name, sums->unclear, sums->given);
	if (sums->lost > sums->given / 50)
		fail_msg("%s: %lu of %lu rows have lost registers", name, sums->lost, sums->given);
	if (sums->unlike > sums->given / 50)
		fail_msg("%s: %lu of %lu rows are not compared", name, sums->unlike, sums->given);
}

static void judge_all(bool no_symbols, double least)
{
	struct infer_judge judge = { .no_symbols = no_symbols };
	struct infer_sums all = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		struct infer_sums sums = { 0 };

		if (access(files[i], R_OK) < 0)
			continue;
		assert_int_equal(infer_judge_file(&judge, files[i], &sums), 0);
		expect_good(files[i], &sums);
		infer_sums_add(&all, &sums);
	}
	expect_good("all", &all);
	assert_true(all.insns > 500000);
	assert_true((double)all.given > least * (double)all.insns);
}

static void with_symbols(void **state)
{
	(void)state;
	judge_all(false, 0.8);
}

static void without_symbols(void **state)
{
	(void)state;
	judge_all(true, 0.75);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(with_symbols),
		cmocka_unit_test(without_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
