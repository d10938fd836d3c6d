// SPDX-License-Identifier: Apache-2.0
/* Where the preempt count is, in BTF as kernels have it. */
#include "test.h"

#include <bpf/btf.h>

#include "capture/kernel/preempt_count.h"

#define RUNQUEUES_AT 0x2c000

static struct btf *btf;
static int int_id, rq_id;

static int begin(void **state)
{
	(void)state;
	btf = btf__new_empty();
	int_id = btf__add_int(btf, "int", 4, BTF_INT_SIGNED);
	rq_id = btf__add_struct(btf, "rq", 64);
	return btf ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	btf__free(btf);
	return 0;
}

static int variable(const char *name, int type)
{
	return btf__add_var(btf, name, BTF_VAR_GLOBAL_ALLOCATED, type);
}

/* struct pcpu_hot of Linux 6.2: a union without a name, in it a struct without one. */
static int hot_struct(void)
{
	int inner = btf__add_struct(btf, NULL, 64), outer;

	btf__add_field(btf, "current_task", int_id, 0, 0);
	btf__add_field(btf, "preempt_count", int_id, 64, 0);
	outer = btf__add_union(btf, NULL, 64);
	btf__add_field(btf, NULL, inner, 0, 0);
	inner = btf__add_struct(btf, "pcpu_hot", 72);
	btf__add_field(btf, "other", int_id, 0, 0);
	btf__add_field(btf, NULL, outer, 32, 0);
	return inner;
}

static void section(const char *name, int count_var, uint32_t at)
{
	int rq = variable("runqueues", rq_id);

	btf__add_datasec(btf, name, 1 << 20);
	btf__add_datasec_var_info(btf, rq, RUNQUEUES_AT, 64);
	if (count_var)
		btf__add_datasec_var_info(btf, count_var, at, 4);
}

static void a_variable(void **state)
{
	(void)state;
	section(".data..percpu", variable("__preempt_count", int_id), 0x15030);
	assert_int_equal(preempt_count_in(btf), 0x15030 - RUNQUEUES_AT);
}

static void a_member(void **state)
{
	(void)state;
	section(".data..percpu", variable("pcpu_hot", hot_struct()), 0x30000);
	assert_int_equal(preempt_count_in(btf), 0x30000 + 4 + 8 - RUNQUEUES_AT);
}

static void none(void **state)
{
	(void)state;
	assert_int_equal(preempt_count_in(btf), 0);
	section(".data", variable("__preempt_count", int_id), 0x100);
	assert_int_equal(preempt_count_in(btf), 0);
	section(".data..percpu", variable("pcpu_hot", rq_id), 0x100);
	assert_int_equal(preempt_count_in(btf), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_variable, begin, end),
		cmocka_unit_test_setup_teardown(a_member, begin, end),
		cmocka_unit_test_setup_teardown(none, begin, end),
	};

	return cmocka_run_group_tests_name("preempt_count", tests, NULL, NULL);
}
