// SPDX-License-Identifier: Apache-2.0
/* Whether a kernel tells of its locks. Its types are the test's. */
#include "test.h"

#include <bpf/btf.h>
#include <errno.h>
#include <string.h>

#include "capture/probes/contention.h"

static struct {
	bool has_types, has_tracepoint;
	int held;
} kernel;

struct btf *btf__load_vmlinux_btf(void)
{
	errno = ENOENT;
	kernel.held += kernel.has_types;
	return kernel.has_types ? (struct btf *)&kernel : NULL;
}

__s32 btf__find_by_name_kind(const struct btf *btf, const char *name, __u32 kind)
{
	assert_ptr_equal(btf, &kernel);
	assert_int_equal(kind, BTF_KIND_TYPEDEF);
	return kernel.has_tracepoint && !strcmp(name, "btf_trace_contention_end") ? 7 : -ENOENT;
}

void btf__free(struct btf *btf)
{
	kernel.held -= btf != NULL;
}

static void it_does(void **state)
{
	struct err err = { 0 };

	(void)state;
	kernel.has_types = kernel.has_tracepoint = true;
	assert_int_equal(contention_check(&err), 0);
	assert_int_equal(kernel.held, 0);
}

static void it_does_not(void **state)
{
	struct err err = { 0 };

	(void)state;
	kernel.has_types = true;
	kernel.has_tracepoint = false;
	assert_int_equal(contention_check(&err), -EOPNOTSUPP);
	assert_string_equal(err.text, "this kernel does not tell of its locks");
	assert_non_null(strstr(err.hint, "5.19"));
	assert_int_equal(kernel.held, 0);
}

/* Without types nothing runs at all, and that is said where it is found. */
static void nobody_knows(void **state)
{
	struct err err = { 0 };

	(void)state;
	kernel.has_types = false;
	assert_int_equal(contention_check(&err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_does),
		cmocka_unit_test(it_does_not),
		cmocka_unit_test(nobody_knows),
	};

	return cmocka_run_group_tests_name("contention_check", tests, NULL, NULL);
}
