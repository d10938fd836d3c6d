// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>

#include "symbolize/kernel.h"

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T __pfx\n"
			       "ffffffff81000000 T startup_64\n"
			       "ffffffff81000100 t __do_a\n"
			       "ffffffff81000200 T do_b\n"
			       "ffffffff81000280 d some_data\n"
			       "ffffffff81000300 W weak_c\n"
			       "ffffffffc0100000 t mod_open\t[ext4]\n"
			       "ffffffffc0000000 t early\t[zram]\n"
			       "ffffffffc0200000 t bpf_prog_3a47575459fe2e9c_walk\t[bpf]\n";

static void assert_symbol(const struct kernel_symbols *symbols, uint64_t address, const char *name,
			  const char *module)
{
	const char *its_name = "none", *its_module = "none";

	kernel_symbols_find(symbols, address, &its_name, &its_module);
	assert_string_equal(its_name, name);
	assert_string_equal(its_module, module);
}

static void names_and_modules(void **state)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_int_equal(kernel_symbols_parse(kallsyms, strlen(kallsyms), &symbols), 0);
	assert_symbol(symbols, 0xffffffff81000000, "startup_64", "kernel");
	assert_symbol(symbols, 0xffffffff810001ff, "__do_a", "kernel");
	assert_symbol(symbols, 0xffffffff81000200, "do_b", "kernel");
	assert_symbol(symbols, 0xffffffff810002ff, "do_b", "kernel");
	assert_symbol(symbols, 0xffffffff81000300, "weak_c", "kernel");
	assert_symbol(symbols, 0xffffffffc0000001, "early", "zram");
	assert_symbol(symbols, 0xffffffffc0100fff, "mod_open", "ext4");
	assert_symbol(symbols, 0xffffffffc0200010, "bpf_prog_3a47575459fe2e9c_walk", "bpf");
	assert_symbol(symbols, 0xffffffff80ffffff, "none", "none");
	assert_symbol(symbols, 0, "none", "none");
}

/* What stands too far behind goes to its place among those that are sorted. */
static void some_far_behind(void **state)
{
	static const char text[] = "ffffffff81000000 t a\nffffffff81000100 t b\n"
				   "ffffffff81000200 t c\nffffffff81000300 t d\n"
				   "ffffffff81000180 t m\t[m]\nffffffff81000400 t n\t[m]\n"
				   "ffffffff81000280 t o\t[m]\n";
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_int_equal(kernel_symbols_parse(text, strlen(text), &symbols), 0);
	assert_symbol(symbols, 0xffffffff8100017f, "b", "kernel");
	assert_symbol(symbols, 0xffffffff810001ff, "m", "m");
	assert_symbol(symbols, 0xffffffff8100027f, "c", "kernel");
	assert_symbol(symbols, 0xffffffff810002ff, "o", "m");
	assert_symbol(symbols, 0xffffffff810003ff, "d", "kernel");
	assert_symbol(symbols, 0xffffffff81000400, "n", "m");
}

/* Of names of one address the one with fewer underscores counts, else the first; of the last address too. */
static void names_of_the_last_address(void **state)
{
	static const char text[] = "ffffffff81000100 t f\nffffffff81000100 t __f\n"
				   "ffffffff81000080 t g\nffffffff81000080 t h\n"
				   "ffffffff81000000 t __e\t[ext4\nffffffff81000000 t e\text4]\n";
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_int_equal(kernel_symbols_parse(text, strlen(text), &symbols), 0);
	assert_symbol(symbols, 0xffffffff81000000, "e", "kernel");
	assert_symbol(symbols, 0xffffffff81000080, "g", "kernel");
	assert_symbol(symbols, 0xffffffff81000100, "f", "kernel");
	assert_symbol(symbols, UINT64_MAX, "f", "kernel");
}

static void hidden_addresses(void **state)
{
	static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 t foo\n";
	struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_int_equal(kernel_symbols_parse(hidden, strlen(hidden), &symbols), -ENODATA);
	assert_int_equal(kernel_symbols_parse("", 0, &symbols), -ENODATA);
	assert_null(symbols);
}

static void odd_lines_are_skipped(void **state)
{
	static const char odd[] = "garbage\n\nffffffff81000000\nffffffff81000000 T\n"
				  "ffffffff81000000 TT two\nfffffffffffffffff81000000 T over\n"
				  "ffffffff81000000 T one\t[\nffffffff81000100 T two\t[]\n"
				  "ffffffff81000140 T three\t[x\nffffffff81000180 T four\tx]\n"
				  "ffffffff81000200 T unterminated";
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_int_equal(kernel_symbols_parse(odd, strlen(odd), &symbols), 0);
	assert_symbol(symbols, 0xffffffff81000000, "one", "kernel");
	assert_symbol(symbols, 0xffffffff81000100, "two", "kernel");
	assert_symbol(symbols, 0xffffffff81000140, "three", "kernel");
	assert_symbol(symbols, 0xffffffff81000180, "four", "kernel");
	assert_symbol(symbols, 0xffffffff81000200, "four", "kernel");
}

/* Only where one begins. */
static void variables(void **state)
{
	static const char text[] = "ffffffff81000000 T a\nffffffff82000000 D a_mutex\n"
				   "ffffffff82000040 b a_lock\nffffffff82000080 r constant\n"
				   "ffffffffc0000000 d m_lock\t[m]\n";
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;

	(void)state;
	assert_int_equal(kernel_symbols_parse_data(text, strlen(text), &symbols), 0);
	assert_string_equal(kernel_symbols_at(symbols, 0xffffffff82000000), "a_mutex");
	assert_string_equal(kernel_symbols_at(symbols, 0xffffffff82000040), "a_lock");
	assert_string_equal(kernel_symbols_at(symbols, 0xffffffffc0000000), "m_lock");
	assert_null(kernel_symbols_at(symbols, 0xffffffff82000041));
	assert_null(kernel_symbols_at(symbols, 0xffffffff82000080));
	assert_null(kernel_symbols_at(symbols, 0xffffffff81000000));
	assert_null(kernel_symbols_at(symbols, 0));
}

static void the_running_kernel(void **state)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;
	struct err err;
	int r = kernel_symbols_new(&symbols, &err);

	(void)state;
	if (r < 0) { /* not root, or hidden even from root */
		assert_string_not_equal(err.text, "");
		assert_string_not_equal(err.hint, "");
		skip();
	}
	assert_true(strlen(kernel_symbols_build_id(symbols)) % 2 == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(some_far_behind),
		cmocka_unit_test(names_and_modules),
		cmocka_unit_test(names_of_the_last_address),
		cmocka_unit_test(hidden_addresses),
		cmocka_unit_test(variables),
		cmocka_unit_test(odd_lines_are_skipped),
		cmocka_unit_test(the_running_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
