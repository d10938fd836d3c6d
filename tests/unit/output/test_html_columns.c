/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "output/html/html_columns.h"
#include "profile_fixture.h"

struct reader {
	const struct html_columns *columns;
	size_t at;
};

/* Two processes; "work" has samples of its own and two callees, one of them light. */
static void make_profile(struct profile *p, uint64_t period)
{
	uint32_t libm, event, a, b, main_fn, work, heavy, light;

	profile_init(p);
	event = fixture_event(p, "cpu", "nanoseconds", period);
	a = fixture_thread(p, fixture_process(p, "a", 1), "a", 1);
	b = fixture_thread(p, fixture_process(p, "b", 2), "b", 2);
	libm = fixture_mapping(p, "/usr/lib/libm.so.6", "ab", 0, 4096);
	main_fn = fixture_native(p, "main");
	work = fixture_code(p, FRAME_NATIVE, "work", libm, 16);
	heavy = fixture_java(p, FRAME_JAVA_JIT, "pkg.Class", "heavy", 7);
	light = fixture_kernel(p, "light");
	fixture_sample(p, event, a, 2, 20, FIXTURE_FRAMES(main_fn, work));
	fixture_sample(p, event, a, 300, 3000, FIXTURE_FRAMES(main_fn, work, heavy));
	fixture_sample(p, event, a, 1, 10, FIXTURE_FRAMES(main_fn, work, light));
	fixture_sample(p, event, b, 5, 50, FIXTURE_FRAMES(main_fn));
}

static void make_wide_columns(const struct profile *p, size_t max_nodes, double min_percent,
			      struct html_columns *columns)
{
	struct calltree_options options = { .by_process = true };
	struct calltree tree;

	html_columns_init(columns, max_nodes);
	columns->min_percent = min_percent;
	calltree_build(p, &options, &tree);
	html_columns_add(columns, p, &tree, 0);
	calltree_release(&tree);
}

static void make_columns(const struct profile *p, size_t max_nodes, struct html_columns *columns)
{
	make_wide_columns(p, max_nodes, 0, columns);
}

static uint64_t next_number(struct reader *r)
{
	uint64_t value = 0;
	int shift = 0;
	uint8_t byte;

	do {
		assert_true(r->at < r->columns->bytes.len);
		byte = (uint8_t)r->columns->bytes.buf[r->at++];
		value |= (uint64_t)(byte & 127) << shift;
		shift += 7;
	} while (byte & 128);
	return value;
}

static void expect_numbers(struct reader *r, const uint64_t *expected, size_t len)
{
	for (size_t i = 0; i < len; i++)
		assert_int_equal(next_number(r), expected[i]);
}

#define EXPECT_NUMBERS(r, ...)                               \
	expect_numbers(r, (const uint64_t[]){ __VA_ARGS__ }, \
		       sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void expect_label(struct reader *r, const char *name, uint32_t kind, const char *module)
{
	const struct html_columns *columns = r->columns;
	uint64_t id = next_number(r);
	const struct html_label *label;

	assert_true(id < intern_len(&columns->labels));
	label = intern_get(&columns->labels, (uint32_t)id, NULL);
	assert_string_equal(intern_get(&columns->names, label->name, NULL), name);
	assert_string_equal(intern_get(&columns->names, label->module, NULL), module);
	assert_int_equal(label->kind, kind);
}

static void test_columns(void **state)
{
	struct html_columns columns;
	struct reader r = { &columns, 0 };
	struct profile p;

	(void)state;
	make_profile(&p, 10);
	make_columns(&p, 100, &columns);
	assert_int_equal(columns.trees.len, 1);
	assert_int_equal(columns.trees.items[0].nodes, 8);
	assert_int_equal(columns.trees.items[0].period, 10);
	assert_int_equal(columns.trees.items[0].pruned_nodes, 0);
	EXPECT_NUMBERS(&r, 0, 0, 0, 0, 0, 1, 4, 0);
	expect_label(&r, "all", HTML_KIND_LEVEL, "");
	expect_label(&r, "a-1", HTML_KIND_LEVEL, "");
	expect_label(&r, "main", FRAME_NATIVE, "");
	expect_label(&r, "work", FRAME_NATIVE, "/usr/lib/libm.so.6");
	expect_label(&r, "light", FRAME_KERNEL, "");
	expect_label(&r, "pkg.Class.heavy", FRAME_JAVA_JIT, "Source.java");
	expect_label(&r, "b-2", HTML_KIND_LEVEL, "");
	expect_label(&r, "main", FRAME_NATIVE, "");
	EXPECT_NUMBERS(&r, 0, 0, 0, 20, 10, 3000, 0, 50);
	assert_int_equal(r.at, columns.bytes.len);
	html_columns_release(&columns);
	profile_release(&p);
}

static void test_processes_of_the_first_level(void **state)
{
	struct html_columns columns;
	struct profile p;

	(void)state;
	make_profile(&p, 10);
	make_columns(&p, 100, &columns);
	assert_int_equal(columns.trees.items[0].processes.len, 2);
	assert_int_equal(columns.trees.items[0].processes.items[0], 0);
	assert_int_equal(columns.trees.items[0].processes.items[1], 1);
	html_columns_release(&columns);
	profile_release(&p);
}

static void test_samples_are_a_column_when_weights_differ(void **state)
{
	struct html_columns columns;
	struct reader r = { &columns, 0 };
	struct profile p;

	(void)state;
	make_profile(&p, 9);
	make_columns(&p, 100, &columns);
	assert_int_equal(columns.trees.items[0].period, 0);
	for (int i = 0; i < 3 * 8; i++)
		next_number(&r);
	EXPECT_NUMBERS(&r, 0, 0, 0, 2, 1, 300, 0, 5);
	assert_int_equal(r.at, columns.bytes.len);
	html_columns_release(&columns);
	profile_release(&p);
}

static void test_light_nodes_are_pruned_and_stated(void **state)
{
	struct html_columns columns;
	struct reader r = { &columns, 0 };
	struct profile p;

	(void)state;
	make_profile(&p, 10);
	make_columns(&p, 5, &columns);
	assert_int_equal(columns.trees.items[0].nodes, 7);
	assert_int_equal(columns.trees.items[0].pruned_nodes, 3);
	assert_int_equal(columns.trees.items[0].pruned_below, 51);
	assert_int_equal(columns.trees.items[0].processes.items[0], PROFILE_NONE);
	assert_int_equal(columns.trees.items[0].processes.items[1], 0);
	EXPECT_NUMBERS(&r, 0, 0, 1, 0, 0, 0, 1);
	expect_label(&r, "all", HTML_KIND_LEVEL, "");
	expect_label(&r, "[smaller frames]", FRAME_MARK, "");
	expect_label(&r, "a-1", HTML_KIND_LEVEL, "");
	expect_label(&r, "main", FRAME_NATIVE, "");
	expect_label(&r, "work", FRAME_NATIVE, "/usr/lib/libm.so.6");
	expect_label(&r, "[smaller frames]", FRAME_MARK, "");
	expect_label(&r, "pkg.Class.heavy", FRAME_JAVA_JIT, "Source.java");
	EXPECT_NUMBERS(&r, 0, 50, 0, 0, 20, 10, 3000);
	html_columns_release(&columns);
	profile_release(&p);
}

/* "light" has 10 of 3080, 0.325 %; process b, and main there, have 50, 1.62 %. */
static void test_narrow_nodes_are_pruned(void **state)
{
	static const struct {
		double percent;
		uint32_t pruned;
	} rows[] = { { 0.32, 0 }, { 0.33, 1 }, { 1.6, 1 }, { 1.7, 3 } };
	struct profile p;

	(void)state;
	make_profile(&p, 10);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct html_columns columns;

		make_wide_columns(&p, 100, rows[i].percent, &columns);
		assert_int_equal(columns.trees.items[0].pruned_nodes, rows[i].pruned);
		html_columns_release(&columns);
	}
	profile_release(&p);
}

/* However little is kept: the page's weights and samples are those of the profile. */
static void test_pruning_loses_no_weight(void **state)
{
	struct profile p;

	(void)state;
	make_profile(&p, 9);
	for (size_t max_nodes = 1; max_nodes <= 9; max_nodes++) {
		struct html_columns columns;
		struct reader r = { &columns, 0 };
		uint64_t weight = 0, samples = 0;
		const struct html_tree *tree;

		make_columns(&p, max_nodes, &columns);
		tree = &columns.trees.items[0];
		assert_int_equal(tree->period, 0);
		for (uint32_t i = 0; i < 2 * tree->nodes; i++)
			next_number(&r);
		for (uint32_t i = 0; i < tree->nodes; i++)
			weight += next_number(&r);
		for (uint32_t i = 0; i < tree->nodes; i++)
			samples += next_number(&r);
		assert_int_equal(weight, 20 + 3000 + 10 + 50);
		assert_int_equal(samples, 2 + 300 + 1 + 5);
		assert_int_equal(r.at, columns.bytes.len);
		assert_true(8 - tree->pruned_nodes <= max_nodes);
		assert_int_equal(tree->pruned_nodes == 0, tree->pruned_below == 0);
		html_columns_release(&columns);
	}
	profile_release(&p);
}

/* Objects are a column of events that have them, and stay when nodes are pruned. */
static void test_objects_are_a_column_where_there_are_any(void **state)
{
	struct profile p;

	(void)state;
	make_profile(&p, 10);
	for (size_t i = 0; i < p.samples.len; i++)
		p.samples.items[i].objects = i + 4;
	for (size_t max_nodes = 1; max_nodes <= 9; max_nodes++) {
		struct html_columns columns;
		struct reader r = { &columns, 0 };
		const struct html_tree *tree;
		uint64_t objects = 0;

		make_columns(&p, max_nodes, &columns);
		tree = &columns.trees.items[0];
		assert_true(tree->has_objects);
		for (uint32_t i = 0; i < 3 * tree->nodes; i++)
			next_number(&r);
		for (uint32_t i = 0; i < tree->nodes; i++)
			objects += next_number(&r);
		assert_int_equal(objects, 4 + 5 + 6 + 7);
		assert_int_equal(r.at, columns.bytes.len);
		html_columns_release(&columns);
	}
	profile_release(&p);
}

/* Functions of one name in two binaries are two labels of the page. */
static void test_a_name_in_two_modules(void **state)
{
	struct html_columns columns;
	struct reader r = { &columns, 0 };
	uint32_t main_fn, other, one, two, thread;
	struct profile p;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	thread = fixture_thread(&p, fixture_process(&p, "a", 1), "a", 1);
	main_fn = fixture_native(&p, "main");
	other = fixture_native(&p, "other");
	one = fixture_code(&p, FRAME_NATIVE, "free", fixture_mapping(&p, "libc", "", 0, 9), 1);
	two = fixture_code(&p, FRAME_NATIVE, "free", fixture_mapping(&p, "jemalloc", "", 0, 9), 1);
	fixture_sample(&p, 0, thread, 1, 1, FIXTURE_FRAMES(main_fn, one));
	fixture_sample(&p, 0, thread, 1, 1, FIXTURE_FRAMES(other, two));
	make_columns(&p, 100, &columns);
	for (int i = 0; i < 6; i++)
		next_number(&r);
	expect_label(&r, "all", HTML_KIND_LEVEL, "");
	expect_label(&r, "a-1", HTML_KIND_LEVEL, "");
	expect_label(&r, "main", FRAME_NATIVE, "");
	expect_label(&r, "free", FRAME_NATIVE, "libc");
	expect_label(&r, "other", FRAME_NATIVE, "");
	expect_label(&r, "free", FRAME_NATIVE, "jemalloc");
	html_columns_release(&columns);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_processes_of_the_first_level),
		cmocka_unit_test(test_samples_are_a_column_when_weights_differ),
		cmocka_unit_test(test_light_nodes_are_pruned_and_stated),
		cmocka_unit_test(test_narrow_nodes_are_pruned),
		cmocka_unit_test(test_pruning_loses_no_weight),
		cmocka_unit_test(test_objects_are_a_column_where_there_are_any),
		cmocka_unit_test(test_a_name_in_two_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
