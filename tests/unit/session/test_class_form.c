// SPDX-License-Identifier: Apache-2.0
/* What BPF is told of the place where libjvm tells of a loaded class. */
#include "test.h"

#include <string.h>

#include "session/probes/class_form.h"
#include "wire.h"

static uint64_t form_of(const char *text)
{
	struct usdt_note note = { 0 };

	usdt_args_read(text, strlen(text), note.args);
	return class_form(0, &note);
}

static void forms(void **state)
{
	uint64_t form = form_of("8@%rdx -4@%eax 8@152(%rdi) 1@%cl");

	(void)state;
	assert_int_equal(WIRE_USDT_STEP(form), 0);
	assert_true(form & WIRE_CLASS_HAS_NAME);
	assert_true(form & WIRE_CLASS_HAS_SHARED);
	assert_int_equal(WIRE_USDT_NTH_REG(form, WIRE_CLASS_NAME), 1);
	assert_int_equal(WIRE_USDT_NTH_REG(form, WIRE_CLASS_BYTES), 0);
	assert_int_equal(WIRE_USDT_NTH_REG(form, WIRE_CLASS_SHARED), 2);
	form = form_of("8@%rdx -4@8(%rsp) 8@152(%rdi) 1@%cl");
	assert_false(form & WIRE_CLASS_HAS_NAME);
	assert_true(form & WIRE_CLASS_HAS_SHARED);
	form = form_of("8@8(%rdx) -4@%eax 8@152(%rdi) 1@$0");
	assert_false(form & (WIRE_CLASS_HAS_NAME | WIRE_CLASS_HAS_SHARED));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
	};

	return cmocka_run_group_tests_name("class_form", tests, NULL, NULL);
}
