// SPDX-License-Identifier: Apache-2.0
/* What is cut out of a kernel's types, as libbpf reads it. */
#include "test.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "capture/kernel/kernel_types.h"

static struct btf *kernel, *wanted, *cut;

static int begin(void **state)
{
	(void)state;
	kernel = btf__new_empty();
	wanted = btf__new_empty();
	cut = NULL;
	return kernel && wanted ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	btf__free(kernel);
	btf__free(wanted);
	btf__free(cut);
	return 0;
}

static void want(const char *name)
{
	assert_true(btf__add_struct(wanted, name, 4) > 0);
}

static int cut_bytes(const void *data, size_t len)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int r = kernel_types_cut(data, len, wanted, &out);

	if (r < 0) {
		assert_int_equal(out.len, 0);
		return r;
	}
	btf__free(cut);
	cut = btf__new(out.buf, (uint32_t)out.len);
	assert_non_null(cut);
	return 0;
}

static void cut_kernel(void)
{
	uint32_t len;
	const void *data = btf__raw_data(kernel, &len);

	assert_int_equal(cut_bytes(data, len), 0);
}

/*
 * struct task { struct inner { u32 a:3, b:29; } in; union { u64 start; const state_t state[2]; }; struct mm *mm; struct task *next; enum why
 * cause; } and what it does not have: struct mm, a function, a variable in a section.
 */
static void make_kernel(void)
{
	int u32_id = btf__add_int(kernel, "unsigned int", 4, 0);
	int u64_id = btf__add_int(kernel, "long unsigned int", 8, 0);
	int mm = btf__add_struct(kernel, "mm", 8), mm_pointer, inner, state, any, next, why, proto;

	btf__add_field(kernel, "bytes", u64_id, 0, 0);
	mm_pointer = btf__add_ptr(kernel, mm);
	state = btf__add_typedef(kernel, "state_t", u32_id);
	state = btf__add_array(kernel, u32_id, btf__add_const(kernel, state), 2);
	any = btf__add_union(kernel, NULL, 8);
	btf__add_field(kernel, "start", u64_id, 0, 0);
	btf__add_field(kernel, "state", state, 0, 0);
	inner = btf__add_struct(kernel, "inner", 4);
	btf__add_field(kernel, "a", u32_id, 0, 3);
	btf__add_field(kernel, "b", u32_id, 3, 29);
	why = btf__add_enum(kernel, "why", 4);
	btf__add_enum_value(kernel, "FIRST", 0);
	btf__add_enum_value(kernel, "SECOND", 1);
	proto = btf__add_func_proto(kernel, u32_id);
	btf__add_func_param(kernel, "task", mm_pointer);
	btf__add_func(kernel, "wake", BTF_FUNC_STATIC, proto);
	btf__add_datasec(kernel, ".data", 8);
	btf__add_datasec_var_info(
		kernel, btf__add_var(kernel, "init", BTF_VAR_GLOBAL_ALLOCATED, u32_id), 0, 4);
	next = btf__add_ptr(kernel, (int)btf__type_cnt(kernel) + 1);
	btf__add_struct(kernel, "task", 48);
	btf__add_field(kernel, "in", inner, 0, 0);
	btf__add_field(kernel, NULL, any, 64, 0);
	btf__add_field(kernel, "mm", mm_pointer, 128, 0);
	btf__add_field(kernel, "next", next, 192, 0);
	btf__add_field(kernel, "cause", why, 256, 0);
}

/* The same shape all the way down; pointers to whatever. */
static void expect_same(const struct btf *a_btf, uint32_t a_id, const struct btf *b_btf,
			uint32_t b_id)
{
	const struct btf_type *a = btf__type_by_id(a_btf, a_id), *b = btf__type_by_id(b_btf, b_id);

	assert_non_null(a);
	assert_non_null(b);
	assert_int_equal(btf_kind(a), btf_kind(b));
	if (a_id == 0)
		return;
	assert_string_equal(btf__name_by_offset(a_btf, a->name_off),
			    btf__name_by_offset(b_btf, b->name_off));
	if (btf_is_ptr(a))
		return;
	if (btf_is_composite(a)) {
		assert_int_equal(a->info, b->info);
		assert_int_equal(a->size, b->size);
		for (uint32_t i = 0; i < btf_vlen(a); i++) {
			assert_string_equal(btf__name_by_offset(a_btf, btf_members(a)[i].name_off),
					    btf__name_by_offset(b_btf, btf_members(b)[i].name_off));
			assert_int_equal(btf_members(a)[i].offset, btf_members(b)[i].offset);
			expect_same(a_btf, btf_members(a)[i].type, b_btf, btf_members(b)[i].type);
		}
	} else if (btf_is_array(a)) {
		assert_int_equal(btf_array(a)->nelems, btf_array(b)->nelems);
		expect_same(a_btf, btf_array(a)->type, b_btf, btf_array(b)->type);
	} else if (btf_is_int(a)) {
		assert_int_equal(a->size, b->size);
		assert_int_equal(btf_int_encoding(a), btf_int_encoding(b));
		assert_int_equal(btf_int_bits(a), btf_int_bits(b));
	} else if (btf_is_mod(a) || btf_is_typedef(a)) {
		expect_same(a_btf, a->type, b_btf, b->type);
	} else {
		assert_int_equal(a->size, b->size);
	}
}

static void expect_same_struct(const char *name)
{
	int a = btf__find_by_name_kind(kernel, name, BTF_KIND_STRUCT);
	int b = btf__find_by_name_kind(cut, name, BTF_KIND_STRUCT);

	assert_true(a > 0);
	if (b <= 0)
		fail_msg("no struct %s", name);
	expect_same(kernel, (uint32_t)a, cut, (uint32_t)b);
}

static void all_that_a_structure_has(void **state)
{
	(void)state;
	make_kernel();
	want("task");
	want("ours");
	cut_kernel();
	expect_same_struct("task");
	expect_same_struct("inner");
	assert_true(btf__find_by_name(cut, "mm") < 0);
	assert_true(btf__find_by_name(cut, "wake") < 0);
	assert_true(btf__find_by_name(cut, "init") < 0);
	assert_true(btf__find_by_name(cut, "ours") < 0);
	/* task, inner, the union, u32, u64, one pointer, why, the array, const, state_t */
	assert_int_equal(btf__type_cnt(cut), 11);
}

/* A pointer is one to nothing that the cut has. */
static void what_pointers_point_to(void **state)
{
	int pointers = 0;

	(void)state;
	make_kernel();
	want("task");
	cut_kernel();
	for (uint32_t id = 1; id < btf__type_cnt(cut); id++) {
		const struct btf_type *type = btf__type_by_id(cut, id);

		pointers += btf_is_ptr(type);
		assert_true(!btf_is_ptr(type) || type->type == 0);
	}
	assert_int_equal(pointers, 1);
}

static void flavours_and_what_has_no_name(void **state)
{
	(void)state;
	make_kernel();
	want("mm___before_6_1");
	want(NULL);
	cut_kernel();
	expect_same_struct("mm");
	assert_int_equal(btf__type_cnt(cut), 3);
}

static void nothing_is_wanted(void **state)
{
	(void)state;
	make_kernel();
	cut_kernel();
	assert_int_equal(btf__type_cnt(cut), 1);
}

/* Each bit but those of numbers that are copied; and each length. */
static void damaged_types(void **state)
{
	uint32_t len;
	const char *data;
	size_t refused = 0;

	(void)state;
	make_kernel();
	want("task");
	data = btf__raw_data(kernel, &len);
	for (uint32_t n = 0; n < len; n++) {
		char *copy = xmemdup(data, n); /* so that what is read behind it is seen */
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		assert_int_equal(kernel_types_cut(copy, n, wanted, &out), -EBADMSG);
		free(copy);
	}
	for (uint32_t bit = 0; bit < len * 8; bit++) {
		char *copy = xmemdup(data, len);
		_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

		copy[bit / 8] ^= (char)(1 << bit % 8);
		refused += kernel_types_cut(copy, len, wanted, &out) < 0;
		free(copy);
	}
	assert_true(refused > 500);
}

/* The last member's last word is no part of the types. */
static void types_that_end_early(void **state)
{
	const void *data;
	uint32_t len;
	char *copy;

	(void)state;
	make_kernel();
	data = btf__raw_data(kernel, &len);
	copy = xmemdup(data, len);
	((struct btf_header *)copy)->type_len -= sizeof(uint32_t);
	assert_int_equal(cut_bytes(copy, len), -EBADMSG);
	free(copy);
}

static void a_kind_of_a_later_kernel(void **state)
{
	struct btf_type *first;
	const void *data;
	uint32_t len;
	char *copy;

	(void)state;
	make_kernel();
	data = btf__raw_data(kernel, &len);
	copy = xmemdup(data, len);
	first = (struct btf_type *)(copy + sizeof(struct btf_header));
	first->info = 25U << 24;
	assert_int_equal(cut_bytes(copy, len), -EOPNOTSUPP);
	free(copy);
}

/* A member that is a function is no structure's. */
static void what_no_structure_has(void **state)
{
	const void *data;
	int proto, task;
	uint32_t len;

	(void)state;
	proto = btf__add_func_proto(kernel, 0);
	task = btf__add_func(kernel, "wake", BTF_FUNC_STATIC, proto);
	btf__add_struct(kernel, "task", 8);
	btf__add_field(kernel, "wake", task, 0, 0);
	want("task");
	data = btf__raw_data(kernel, &len);
	assert_int_equal(cut_bytes(data, len), -EBADMSG);
}

static void the_running_kernel(void **state)
{
	static const char *const names[] = { "task_struct", "mm_struct", "cfs_rq", "perf_event",
					     "cgroup" };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	int fd = memfd_create("types", 0);
	char path[64];

	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
		skip();
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		want(names[i]);
	assert_int_equal(kernel_types_write(wanted, fd), 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	cut = btf__parse_raw(path);
	assert_non_null(cut);
	btf__free(kernel);
	kernel = btf__parse_raw("/sys/kernel/btf/vmlinux");
	assert_non_null(kernel);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		expect_same_struct(names[i]);
	assert_true(btf__type_cnt(cut) < btf__type_cnt(kernel) / 10);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_that_a_structure_has, begin, end),
		cmocka_unit_test_setup_teardown(what_pointers_point_to, begin, end),
		cmocka_unit_test_setup_teardown(flavours_and_what_has_no_name, begin, end),
		cmocka_unit_test_setup_teardown(nothing_is_wanted, begin, end),
		cmocka_unit_test_setup_teardown(damaged_types, begin, end),
		cmocka_unit_test_setup_teardown(types_that_end_early, begin, end),
		cmocka_unit_test_setup_teardown(a_kind_of_a_later_kernel, begin, end),
		cmocka_unit_test_setup_teardown(what_no_structure_has, begin, end),
		cmocka_unit_test_setup_teardown(the_running_kernel, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
