// SPDX-License-Identifier: Apache-2.0
/* Which kernels' return probes are system calls, and what this one's filters make of that. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "capture/probes/uprobe_returns.h"

static void releases(void **state)
{
	(void)state;
	assert_false(uprobe_returns_call("5.17.0"));
	assert_false(uprobe_returns_call("6.1.0-53-amd64"));
	assert_false(uprobe_returns_call("6.10.14"));
	assert_true(uprobe_returns_call("6.11.0-26-generic"));
	assert_true(uprobe_returns_call("6.12.1"));
	assert_true(uprobe_returns_call("7.0"));
	assert_true(uprobe_returns_call("next"));
}

/* Either answer is one, and the same each time; no child is left. */
static void this_kernel(void **state)
{
	struct err err = { 0 };
	int r = uprobe_returns_check(&err);

	(void)state;
	assert_true(r == 0 || r == -EOPNOTSUPP);
	if (r < 0)
		assert_non_null(strstr(err.text, "freed"));
	assert_int_equal(uprobe_returns_check(&err), r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(releases),
		cmocka_unit_test(this_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
