/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/strbuf.h"
#include "output/calltree.h"
#include "profile_fixture.h"

/* One line per node: "  name total/self", indented by depth. */
static char *describe(const struct profile *p, const struct calltree_options *options)
{
	struct strbuf sb = STRBUF_INIT;
	struct calltree tree;

	calltree_build(p, options, &tree);
	for (uint32_t i = 0; i < tree.nodes.len; i++) {
		const struct calltree_node *node = &tree.nodes.items[i];

		assert_true(node->parent == PROFILE_NONE || node->parent < i);
		strbuf_addf(&sb, "%*s%s %d/%d\n", (int)node->depth, "", calltree_name(&tree, i),
			    (int)node->total, (int)node->self);
	}
	calltree_release(&tree);
	return strbuf_take(&sb);
}

static void expect_tree(const struct profile *p, const struct calltree_options *options,
			const char *expected)
{
	_cleanup_free_ char *got = describe(p, options);

	assert_string_equal(got, expected);
}

/*
 * main(10) -> b(3) -> read[kernel](5); main -> a(7), twice by different threads; another process
 * runs main(1); one sample of another event.
 */
static void make_profile(struct profile *p)
{
	uint32_t cpu, alloc, java, sh, t1, t2, t3, main_id, a, b, c, rd;

	profile_init(p);
	cpu = fixture_event(p, "cpu", "nanoseconds", 10);
	alloc = fixture_event(p, "alloc", "bytes", 0);
	java = fixture_process(p, "java", 7);
	sh = fixture_process(p, "sh", 9);
	t2 = fixture_thread(p, java, "w;2", 72);
	t1 = fixture_thread(p, java, "w1", 71);
	t3 = fixture_thread(p, sh, "sh", 9);
	main_id = fixture_native(p, "main");
	b = fixture_java(p, FRAME_JAVA_JIT, "pkg.B", "run", 3);
	c = fixture_java(p, FRAME_JAVA_INTERPRETED, "pkg.B", "run", 4);
	a = fixture_native(p, "a");
	rd = fixture_kernel(p, "vfs_read");
	fixture_sample(p, cpu, t1, 10, 100, FIXTURE_FRAMES(main_id));
	fixture_sample(p, cpu, t1, 3, 30, FIXTURE_FRAMES(main_id, b));
	fixture_sample(p, cpu, t1, 5, 50, FIXTURE_FRAMES(main_id, b, rd));
	fixture_sample(p, cpu, t2, 4, 40, FIXTURE_FRAMES(main_id, a));
	fixture_sample(p, cpu, t1, 3, 30, FIXTURE_FRAMES(main_id, a));
	fixture_sample(p, cpu, t2, 2, 20, FIXTURE_FRAMES(main_id, c));
	fixture_sample(p, cpu, t3, 1, 10, FIXTURE_FRAMES(main_id));
	fixture_sample(p, alloc, t3, 1, 4096, FIXTURE_FRAMES(main_id, a));
}

static void test_totals(void **state)
{
	struct calltree_options options = { .event = 0, .count = true };
	struct profile p;

	(void)state;
	make_profile(&p);
	expect_tree(&p, &options,
		    "all 28/0\n main 28/11\n  a 7/7\n  pkg.B.run 2/2\n  pkg.B.run 8/3\n"
		    "   vfs_read 5/5\n");
	options.event = PROFILE_NONE;
	options.count = false;
	options.plain = true;
	expect_tree(&p, &options,
		    "all 280/0\n main 280/110\n  a 70/70\n  pkg.B.run 100/50\n   vfs_read 50/50\n");
	options.event = 1;
	expect_tree(&p, &options, "all 4096/0\n main 4096/0\n  a 4096/4096\n");
	options.event = 2;
	expect_tree(&p, &options, "all 0/0\n");
	profile_release(&p);
}

static void test_levels(void **state)
{
	struct calltree_options options = { .count = true, .by_process = true, .lines = true };
	struct profile p;

	(void)state;
	make_profile(&p);
	expect_tree(&p, &options,
		    "all 28/0\n java-7 27/0\n  main 27/10\n   a 7/7\n   pkg.B.run:3 8/3\n"
		    "    vfs_read 5/5\n   pkg.B.run:4 2/2\n sh-9 1/0\n  main 1/1\n");
	options.by_thread = true;
	options.plain = true;
	options.annotate = true;
	options.lines = false;
	expect_tree(
		&p, &options,
		"all 28/0\n java-7 27/0\n  [w1 tid=71] 21/0\n   main 21/10\n    a 3/3\n"
		"    pkg.B.run_[j] 8/3\n     vfs_read_[k] 5/5\n  [w:2 tid=72] 6/0\n   main 6/0\n"
		"    a 4/4\n    pkg.B.run_[0] 2/2\n sh-9 1/0\n  [sh tid=9] 1/0\n   main 1/1\n");
	profile_release(&p);
}

static void test_filters(void **state)
{
	struct calltree_options options = { .count = true, .plain = true, .all_kernel = true };
	struct profile p;

	(void)state;
	make_profile(&p);
	expect_tree(&p, &options, "all 5/0\n vfs_read 5/5\n");
	options.all_kernel = false;
	options.all_user = true;
	expect_tree(&p, &options, "all 28/0\n main 28/11\n  a 7/7\n  pkg.B.run 10/10\n");
	profile_release(&p);
}

static void test_origins(void **state)
{
	struct calltree_options options = { .by_process = true, .by_thread = true };
	struct calltree tree;
	struct profile p;
	uint32_t process, thread, frame;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 10);
	fixture_process(&p, "other", 1);
	process = fixture_process(&p, "java", 7);
	thread = fixture_thread(&p, process, "w", 8);
	fixture_native(&p, "unused");
	frame = fixture_native(&p, "main");
	fixture_sample(&p, 0, thread, 2, 20, FIXTURE_FRAMES(frame));
	fixture_sample(&p, 0, PROFILE_NONE, 1, 10, NULL, 0);
	calltree_build(&p, &options, &tree);
	assert_int_equal(tree.nodes.len, 6);
	assert_int_equal(tree.nodes.items[0].origin, PROFILE_NONE);
	assert_string_equal(calltree_name(&tree, 1), "[unknown]");
	assert_int_equal(tree.nodes.items[2].self, 10);
	assert_int_equal(tree.nodes.items[3].origin, process);
	assert_int_equal(tree.nodes.items[4].origin, thread);
	assert_int_equal(tree.nodes.items[5].origin, frame);
	assert_int_equal(tree.nodes.items[5].self, 20);
	assert_int_equal(tree.nodes.items[5].self_samples, 2);
	calltree_release(&tree);
	profile_release(&p);
}

/* Of one stack in several threads, and of stacks that differ in what is not shown. */
static void test_objects_are_added_up(void **state)
{
	struct calltree_options options = { 0 };
	struct calltree tree;
	struct profile p;
	uint32_t one, two, first, second;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "alloc", "bytes", 0);
	one = fixture_thread(&p, fixture_process(&p, "java", 7), "w", 8);
	two = fixture_thread(&p, fixture_process(&p, "java", 7), "v", 9);
	first = fixture_java(&p, FRAME_JAVA_JIT, "pkg.B", "run", 10);
	second = fixture_java(&p, FRAME_JAVA_JIT, "pkg.B", "run", 11);
	fixture_sample(&p, 0, one, 1, 10, FIXTURE_FRAMES(first));
	fixture_sample(&p, 0, two, 1, 10, FIXTURE_FRAMES(first));
	fixture_sample(&p, 0, one, 1, 10, FIXTURE_FRAMES(second));
	for (size_t i = 0; i < 3; i++)
		p.samples.items[i].objects = 10 + i;
	calltree_build(&p, &options, &tree);
	assert_int_equal(tree.nodes.len, 2);
	assert_int_equal(tree.nodes.items[0].self_objects, 0);
	assert_int_equal(tree.nodes.items[1].self_objects, 10 + 11 + 12);
	calltree_release(&tree);
	profile_release(&p);
}

static uint32_t next_random(uint32_t *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

/* Many stacks over few names: totals must hold, siblings must differ and be in order. */
static void test_many(void **state)
{
	struct calltree_options options = { .count = true };
	struct calltree tree;
	struct profile p;
	uint32_t thread, frames[20], seed = 1;
	uint64_t sum = 0;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 10);
	thread = fixture_thread(&p, fixture_process(&p, "x", 1), "x", 1);
	for (int i = 0; i < 20; i++)
		frames[i] = fixture_native(&p, (char[]){ (char)('a' + (i * 7) % 20), 0 });
	for (int i = 0; i < 5000; i++) {
		uint32_t stack[12], len = 1 + next_random(&seed) % 12;

		for (uint32_t j = 0; j < len; j++)
			stack[j] = frames[next_random(&seed) % (j < 4 ? 2 : 20)];
		fixture_sample(&p, 0, thread, 1, 10, stack, len);
	}
	calltree_build(&p, &options, &tree);
	assert_int_equal(tree.nodes.items[0].total, 5000);
	for (uint32_t i = 0; i < tree.nodes.len; i++) {
		const struct calltree_node *node = &tree.nodes.items[i];
		uint32_t last = 0; /* the root's label: below every other */
		uint64_t below = 0;

		sum += node->self;
		for (uint32_t j = i + 1; j < tree.nodes.len; j++) {
			const struct calltree_node *child = &tree.nodes.items[j];

			if (child->depth <= node->depth)
				break;
			if (child->parent != i)
				continue;
			assert_true(child->label > last);
			last = child->label;
			below += child->total;
		}
		assert_int_equal(node->total, node->self + below);
	}
	assert_int_equal(sum, 5000);
	calltree_release(&tree);
	profile_release(&p);
}

/* In a range that is split only the second key is another one: it counts as much as the rest. */
static void a_second_key_of_its_own(void **state)
{
	struct calltree_options options = { .event = PROFILE_NONE };
	struct calltree tree;
	struct profile p;
	uint32_t thread, a, b, x;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	thread = fixture_thread(&p, fixture_process(&p, "p", 1), "t", 1);
	a = fixture_native(&p, "a");
	b = fixture_native(&p, "b");
	x = fixture_native(&p, "x");
	for (uint32_t i = 0; i < 12; i++) {
		char name[3] = { 'c', (char)('a' + i), '\0' };

		fixture_sample(&p, 0, thread, 1, 1,
			       FIXTURE_FRAMES(a, i == 1 ? x : b,
					      fixture_native(&p, i == 1 ? "cf" : name)));
	}
	calltree_build(&p, &options, &tree);
	/* the root, a, b with eleven, x with one */
	assert_int_equal(tree.nodes.len, 1 + 1 + 1 + 11 + 1 + 1);
	calltree_release(&tree);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_second_key_of_its_own),
		cmocka_unit_test(test_totals),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_objects_are_added_up),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
