// SPDX-License-Identifier: Apache-2.0
/* What BPF is told of the place where libjvm tells of a compilation, by where its arguments are. */
#include "test.h"

#include <string.h>

#include "session/probes/jit_form.h"
#include "wire.h"

/* OpenJDK 17 of Debian has it so. */
#define USUAL "8@%r10 8@%rax 8@%rdx -4@%ecx 8@%rsi -4@%edi 8@%r8 -4@%r9d "

static uint64_t form_of(const char *text)
{
	struct usdt_note note = { 0 };

	usdt_args_read(text, strlen(text), note.args);
	return jit_form(WIRE_JIT_END, &note);
}

static void all_of_it(void **state)
{
	static const uint32_t regs[] = { 10, 1, 2, 4, 5, 8, 9, 14 };
	uint64_t form = form_of(USUAL "1@37(%r14)");

	(void)state;
	assert_int_equal(WIRE_USDT_STEP(form), WIRE_JIT_END);
	for (unsigned int i = 0; i < sizeof(regs) / sizeof(regs[0]); i++)
		assert_int_equal(WIRE_USDT_NTH_REG(form, i), regs[i]);
	assert_true(form & WIRE_JIT_HAS_NAMES);
	assert_true(form & WIRE_JIT_HAS_TASK);
	assert_false(form & WIRE_JIT_HAS_SUCCESS);
	assert_int_equal(WIRE_JIT_AT(form), 37);
	/* The cookie has the event, too. */
	assert_int_equal(form >> (64 - WIRE_PLACE_FORM_SHIFT), 0);
}

static void names_that_are_elsewhere(void **state)
{
	uint64_t form =
		form_of("8@%r10 8@%rax 8@%rdx -4@8(%rsp) 8@%rsi -4@%edi 8@%r8 -4@%r9d 1@37(%r14)");

	(void)state;
	assert_false(form & WIRE_JIT_HAS_NAMES);
	assert_true(form & WIRE_JIT_HAS_TASK);
	assert_int_equal(WIRE_USDT_NTH_REG(form, WIRE_JIT_TASK), 14);
	assert_int_equal(WIRE_JIT_AT(form), 37);
	assert_false(form_of("") & (WIRE_JIT_HAS_NAMES | WIRE_JIT_HAS_TASK | WIRE_JIT_HAS_SUCCESS));
}

static void a_success_that_is_elsewhere(void **state)
{
	uint64_t form = form_of(USUAL "1@%bl");

	(void)state;
	assert_true(form & WIRE_JIT_HAS_SUCCESS);
	assert_false(form & WIRE_JIT_HAS_TASK);
	assert_int_equal(WIRE_USDT_NTH_REG(form, WIRE_JIT_TASK), 3);
	for (size_t i = 0; i < 4; i++) {
		static const char *const texts[] = { USUAL "1@$1", USUAL "1@256(%r14)",
						     USUAL "1@-1(%r14)", USUAL "4@%ebx" };

		form = form_of(texts[i]);
		assert_true(form & WIRE_JIT_HAS_NAMES);
		assert_false(form & (WIRE_JIT_HAS_TASK | WIRE_JIT_HAS_SUCCESS));
	}
	assert_int_equal(WIRE_JIT_AT(form_of(USUAL "1@255(%r14)")), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(names_that_are_elsewhere),
		cmocka_unit_test(a_success_that_is_elsewhere),
	};

	return cmocka_run_group_tests_name("jit_form", tests, NULL, NULL);
}
