// SPDX-License-Identifier: Apache-2.0
/* What BPF is told of a place, by where its probe's first argument is. */
#include "test.h"

#include <string.h>

#include "session/probes/first_form.h"
#include "wire.h"

static uint64_t form_of(const char *text)
{
	struct usdt_note note = { 0 };

	usdt_args_read(text, strlen(text), note.args);
	return first_form(WIRE_SAFEPOINT_OPERATION, &note);
}

static void forms(void **state)
{
	static const char *const none[] = { "",		 "4@%eax",	  "8@$5",
					    "4@8(%rbp)", "8@32768(%rbp)", "8@-32769(%rbp)" };
	uint64_t form = form_of("8@%r14 8@%rdx -4@%eax");

	(void)state;
	assert_int_equal(WIRE_USDT_STEP(form), WIRE_SAFEPOINT_OPERATION);
	assert_int_equal(WIRE_USDT_REG(form), 14);
	assert_false(form & WIRE_USDT_IN_MEMORY);
	/* OpenJDK 11 of Debian has it so. */
	form = form_of("8@-168(%rbp) 8@-176(%rbp) 4@%eax");
	assert_int_equal(WIRE_USDT_STEP(form), WIRE_SAFEPOINT_OPERATION);
	assert_int_equal(WIRE_USDT_REG(form), 6);
	assert_true(form & WIRE_USDT_IN_MEMORY);
	assert_int_equal(WIRE_USDT_DISPLACEMENT(form), -168);
	assert_int_equal(WIRE_USDT_DISPLACEMENT(form_of("8@32767(%rbp)")), 32767);
	/* The cookie has the event, too. */
	assert_int_equal(form_of("8@-1(%r15)") >> (64 - WIRE_PLACE_FORM_SHIFT), 0);
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		assert_true(WIRE_USDT_REG(form_of(none[i])) >= 16);
		assert_false(form_of(none[i]) & WIRE_USDT_IN_MEMORY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
	};

	return cmocka_run_group_tests_name("first_form", tests, NULL, NULL);
}
