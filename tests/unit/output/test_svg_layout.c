/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "output/svg/svg_layout.h"
#include "profile_fixture.h"

struct laid_out {
	struct profile p;
	struct calltree tree;
	struct svg_layout layout;
};

/* main calls pkg.A.run in two tiers (10 and 90), and "small" (5); run calls "leaf" from both. */
static void lay_out(struct laid_out *l, uint64_t smallest)
{
	struct calltree_options options = { .event = 0 };
	struct profile *p = &l->p;
	uint32_t thread, main_fn, slow, fast, leaf, small;

	profile_init(p);
	fixture_event(p, "cpu", "count", 1);
	thread = fixture_thread(p, fixture_process(p, "a", 1), "a", 1);
	main_fn = fixture_native(p, "main");
	slow = fixture_java(p, FRAME_JAVA_INTERPRETED, "pkg.A", "run", 1);
	fast = fixture_java(p, FRAME_JAVA_JIT, "pkg.A", "run", 1);
	leaf = fixture_kernel(p, "leaf");
	small = fixture_native(p, "small");
	fixture_sample(p, 0, thread, 10, 10, FIXTURE_FRAMES(main_fn, slow, leaf));
	fixture_sample(p, 0, thread, 60, 60, FIXTURE_FRAMES(main_fn, fast));
	fixture_sample(p, 0, thread, 30, 30, FIXTURE_FRAMES(main_fn, fast, leaf));
	fixture_sample(p, 0, thread, 3, 3, FIXTURE_FRAMES(main_fn, small));
	fixture_sample(p, 0, thread, 2, 2, FIXTURE_FRAMES(main_fn, small, leaf));
	calltree_build(p, &options, &l->tree);
	svg_layout_init(&l->layout, &l->tree, smallest);
}

static void release(struct laid_out *l)
{
	svg_layout_release(&l->layout);
	calltree_release(&l->tree);
	profile_release(&l->p);
}

static void expect_box(const struct laid_out *l, size_t i, const char *name,
		       const struct svg_box *expected)
{
	const struct svg_box *box = &l->layout.boxes.items[i];

	assert_true(i < l->layout.boxes.len);
	assert_string_equal(intern_get(&l->tree.names, box->name, NULL), name);
	assert_int_equal(box->kind, expected->kind);
	assert_int_equal(box->depth, expected->depth);
	assert_int_equal(box->start, expected->start);
	assert_int_equal(box->total, expected->total);
	assert_int_equal(box->self, expected->self);
}

#define EXPECT_BOX(l, i, name, ...) expect_box(l, i, name, &(struct svg_box){ __VA_ARGS__ })

static void test_tiers_of_a_method_are_one_box(void **state)
{
	struct laid_out l;

	(void)state;
	lay_out(&l, 1);
	assert_int_equal(l.layout.boxes.len, 6);
	assert_int_equal(l.layout.levels, 4);
	EXPECT_BOX(&l, 0, "all", .kind = SVG_KIND_LEVEL, .total = 105);
	EXPECT_BOX(&l, 1, "main", .kind = FRAME_NATIVE, .depth = 1, .total = 105);
	EXPECT_BOX(&l, 2, "pkg.A.run", .kind = FRAME_JAVA_JIT, .depth = 2, .total = 100,
		   .self = 60);
	EXPECT_BOX(&l, 3, "small", .kind = FRAME_NATIVE, .depth = 2, .start = 100, .total = 5,
		   .self = 3);
	EXPECT_BOX(&l, 4, "leaf", .kind = FRAME_KERNEL, .depth = 3, .total = 40, .self = 40);
	EXPECT_BOX(&l, 5, "leaf", .kind = FRAME_KERNEL, .depth = 3, .start = 100, .total = 2,
		   .self = 2);
	assert_int_equal(l.layout.hidden_nodes, 0);
	release(&l);
}

static void test_what_is_left_out_is_counted(void **state)
{
	struct laid_out l;

	(void)state;
	lay_out(&l, 6);
	assert_int_equal(l.layout.boxes.len, 4);
	assert_int_equal(l.layout.hidden_nodes, 2);
	assert_int_equal(l.layout.hidden_weight, 5);
	release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tiers_of_a_method_are_one_box),
		cmocka_unit_test(test_what_is_left_out_is_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
