// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/strbuf.h"
#include "elf/demangle.h"

static const struct {
	const char *mangled;
	const char *text; /* NULL: not mangled */
	bool cpp;
} names[] = {
	{ "_ZN9JavaCalls11call_helperEP9JavaValueRK12methodHandleP17JavaCallArgumentsP10JavaThread",
	  "JavaCalls::call_helper", true },
	{ "_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back",
	  true },
	{ "_Z3fooIiEvT_", "foo<int>", true },
	{ "_ZN12_GLOBAL__N_13barEv", "(anonymous namespace)::bar", true },
	{ "_ZNK3FooclEi", "Foo::operator()", true },
	{ "_ZTV9JavaCalls", "vtable for JavaCalls", true },
	{ "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad", false },
	{ "_ZN71_$LT$alloc..string..String$u20$as$u20$core..fmt..Write$GT$9write_str17h0123456789abcdefE",
	  NULL, false }, /* length prefix is wrong: see below */
	{ "_RNvCs1234_7mycrate4main", "mycrate::main", false },
	{ "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>", false },
	{ "main", NULL, false },
	{ "_start", NULL, false },
	{ "__libc_start_main", NULL, false },
	{ "_Z", NULL, false },
	{ "", NULL, false },
};

static void known_names(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		bool cpp = !names[i].cpp;
		_cleanup_free_ char *text = demangle(names[i].mangled, &cpp);

		if (!text != !names[i].text || (text && strcmp(text, names[i].text) != 0))
			fail_msg("%s: got %s, expected %s", names[i].mangled, text ? text : "NULL",
				 names[i].text ? names[i].text : "NULL");
		if (text)
			assert_int_equal(cpp, names[i].cpp);
		else
			assert_false(cpp);
	}
}

static void input_is_bounded(void **state)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	bool cpp;

	(void)state;
	strbuf_addstr(&name, "_ZN");
	for (int i = 0; i < 2000; i++)
		strbuf_addstr(&name, "1a");
	strbuf_addstr(&name, "Ev");
	assert_true(name.len < 4096);
	free(demangle(name.buf, &cpp)); /* any answer, but one */
	for (int i = 0; i < 100; i++)
		strbuf_addstr(&name, "ii");
	assert_null(demangle(name.buf, &cpp));
}

/* Every pair of template arguments is the type before, twice: the text would be 2^60 long. */
static void output_is_bounded(void **state)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	_cleanup_free_ char *text = NULL;
	bool cpp;

	(void)state;
	strbuf_addstr(&name, "_Z1fI1AIiiE");
	strbuf_addstr(&name, "1BIS0_S0_E");
	for (int i = 0; i < 60; i++) {
		static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
		int n = 2 + 2 * i;

		strbuf_addf(&name, "1%cI", 'C' + i % 20);
		for (int k = 0; k < 2; k++)
			if (n < 36)
				strbuf_addf(&name, "S%c_", digits[n]);
			else
				strbuf_addf(&name, "S%c%c_", digits[n / 36], digits[n % 36]);
		strbuf_addch(&name, 'E');
	}
	strbuf_addstr(&name, "Evv");
	text = demangle(name.buf, &cpp);
	assert_true(!text || strlen(text) <= 16384);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names),
		cmocka_unit_test(input_is_bounded),
		cmocka_unit_test(output_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
