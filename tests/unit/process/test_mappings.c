// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <string.h>

#include "base/strbuf.h"
#include "maps_text.h"
#include "peak_memory.h"
#include "process/mappings.h"
#include "process/proc.h"
#include "process/process_memory.h"

static void add_with_inode(struct process *process, struct mapping m, uint64_t inode)
{
	m.key.inode = inode;
	mappings_add(process, &m);
}

static void add(struct process *process, uint64_t start, uint64_t end, uint64_t pgoff, char *path)
{
	add_with_inode(process,
		       (struct mapping){ .start = start, .end = end, .pgoff = pgoff, .path = path },
		       7);
}

static void add_anonymous(struct process *process, uint64_t start, uint64_t end, char *path)
{
	add_with_inode(process, (struct mapping){ .start = start, .end = end, .path = path }, 0);
}

/* "start-end+pgoff path" of every mapping, for comparing. */
static void assert_mappings(const struct process *process, const char *expected)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const struct mapping *m;

	vec_for_each (m, &process->mappings)
		strbuf_addf(&text, "%llx-%llx+%llx %s;", (unsigned long long)m->start,
			    (unsigned long long)m->end, (unsigned long long)m->pgoff, m->path);
	assert_string_equal(strbuf_str(&text), expected);
}

static char file_a[] = "/a", file_b[] = "/b", anonymous[] = "";

static void kept_sorted(void **state)
{
	struct process p = { 0 };

	(void)state;
	add(&p, 0x5000, 0x6000, 0, file_a);
	add(&p, 0x1000, 0x2000, 0, file_b);
	add(&p, 0x3000, 0x4000, 0x100, file_a);
	assert_mappings(&p, "1000-2000+0 /b;3000-4000+100 /a;5000-6000+0 /a;");
	mappings_clear(&p);
}

static void a_hole_in_the_middle_splits(void **state)
{
	struct process p = { 0 };

	(void)state;
	add(&p, 0x1000, 0x9000, 0x10000, file_a);
	add(&p, 0x3000, 0x5000, 0, file_b);
	assert_mappings(&p, "1000-3000+10000 /a;3000-5000+0 /b;5000-9000+14000 /a;");
	/* the rests own their paths: clearing frees each once (checked by the sanitizers) */
	mappings_clear(&p);
	assert_mappings(&p, "");
}

static void overlaps_at_the_ends_are_cut(void **state)
{
	struct process p = { 0 };

	(void)state;
	add(&p, 0x1000, 0x4000, 0, file_a);
	add(&p, 0x6000, 0x9000, 0x500, file_a);
	add(&p, 0x3000, 0x7000, 0, file_b);
	assert_mappings(&p, "1000-3000+0 /a;3000-7000+0 /b;7000-9000+1500 /a;");
	mappings_clear(&p);
}

static void covered_ones_go(void **state)
{
	struct process p = { 0 };

	(void)state;
	add(&p, 0x2000, 0x3000, 0, file_a);
	add(&p, 0x4000, 0x5000, 0, file_a);
	add(&p, 0x8000, 0x9000, 0, file_a);
	add(&p, 0x1000, 0x5000, 0, file_b);
	assert_mappings(&p, "1000-5000+0 /b;8000-9000+0 /a;");
	add(&p, 0x1000, 0x5000, 0x77, file_a);
	assert_mappings(&p, "1000-5000+77 /a;8000-9000+0 /a;");
	add(&p, 0, 0x10000, 0, file_b);
	assert_mappings(&p, "0-10000+0 /b;");
	mappings_clear(&p);
}

/* What is beside those that go keeps its own path, also when memory is used again. */
static void neighbours_of_covered_ones_stay(void **state)
{
	char names[5][16] = { "/first", "/second", "/third", "/fourth", "/fifth" };
	struct process p = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 5; i++)
		add(&p, 0x1000 * (i + 1), 0x1000 * (i + 2), 0, names[i]);
	add(&p, 0x3000, 0x6000, 0, file_a);
	add(&p, 0x8000, 0x9000, 0, file_b);
	assert_mappings(&p, "1000-2000+0 /first;2000-3000+0 /second;3000-6000+0 /a;"
			    "8000-9000+0 /b;");
	mappings_clear(&p);
}

/* The escape may be all of a path, or its end. */
static void newlines_in_paths(void **state)
{
	static const struct {
		const char *text, *path;
	} cases[] = {
		{ "\\012", "\n" },	{ "/x\\012", "/x\n" }, { "\\012\\012y", "\n\ny" },
		{ "/x\\01", "/x\\01" }, { "\\0123", "\n3" },   { "", "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct maps_line line = { .path = cases[i].text,
					  .path_len = strlen(cases[i].text) };
		_cleanup_free_ char *path = maps_line_path(&line);

		assert_string_equal(path, cases[i].path);
	}
}

static void empty_and_backward_ranges_are_ignored(void **state)
{
	struct process p = { 0 };

	(void)state;
	add(&p, 0x2000, 0x2000, 0, file_a);
	add(&p, 0x2000, 0x1000, 0, file_a);
	assert_mappings(&p, "");
	assert_null(process_find_mapping(&p, 0x2000));
}

static void a_growing_code_cache_is_one_mapping(void **state)
{
	struct process p = { 0 };
	char perf_name[] = "//anon";

	(void)state;
	add_anonymous(&p, 0x1000, 0x2000, anonymous);
	add_anonymous(&p, 0x2000, 0x3000, anonymous);
	add_anonymous(&p, 0x3000, 0x4000, perf_name);
	assert_mappings(&p, "1000-4000+0 ;");
	add(&p, 0x4000, 0x5000, 0, file_a);
	add(&p, 0x5000, 0x6000, 0x1000, file_a);
	assert_int_equal(p.mappings.len, 3);
	add_anonymous(&p, 0x7000, 0x8000, anonymous);
	add_anonymous(&p, 0x9000, 0xa000, anonymous);
	assert_int_equal(p.mappings.len, 5);
	assert_null(process_find_mapping(&p, 0x8000));
	mappings_clear(&p);
}

/* Also where it covers what was there. */
static void a_code_cache_in_the_place_of_files(void **state)
{
	struct process p = { 0 };

	(void)state;
	add_anonymous(&p, 0x1000, 0x2000, anonymous);
	add(&p, 0x2000, 0x3000, 0, file_a);
	add(&p, 0x3000, 0x4000, 0, file_b);
	add(&p, 0x4000, 0x5000, 0, file_a);
	add_anonymous(&p, 0x2000, 0x4000, anonymous);
	assert_mappings(&p, "1000-4000+0 ;4000-5000+0 /a;");
	add(&p, 0x1000, 0x4000, 0, file_b);
	assert_mappings(&p, "1000-4000+0 /b;4000-5000+0 /a;");
	mappings_clear(&p);
}

static void look_up_by_address(void **state)
{
	struct process p = { 0 };

	(void)state;
	add(&p, 0x1000, 0x2000, 0, file_a);
	add(&p, 0x2000, 0x3000, 0, file_b);
	add(&p, 0x5000, 0x6000, 0, file_a);
	assert_null(process_find_mapping(&p, 0xfff));
	assert_string_equal(process_find_mapping(&p, 0x1000)->path, "/a");
	assert_string_equal(process_find_mapping(&p, 0x1fff)->path, "/a");
	assert_string_equal(process_find_mapping(&p, 0x2000)->path, "/b");
	assert_null(process_find_mapping(&p, 0x3000));
	assert_int_equal(process_find_mapping(&p, 0x5fff)->start, 0x5000);
	assert_null(process_find_mapping(&p, UINT64_MAX));
	mappings_clear(&p);
}

static void every_change_is_counted(void **state)
{
	struct process p = { 0 };
	uint64_t before;

	(void)state;
	add_anonymous(&p, 0x1000, 0x2000, anonymous);
	before = p.mappings_serial;
	add_anonymous(&p, 0x2000, 0x3000, anonymous);
	assert_true(p.mappings_serial > before);
	before = p.mappings_serial;
	mappings_clear(&p);
	assert_true(p.mappings_serial > before);
}

static void only_executable_lines_of_maps(void **state)
{
	static const char text[] = "1000-2000 r--p 00000000 08:01 5 /bin/x\n"
				   "2000-3000 r-xp 00001000 08:01 5 /bin/x\\012y\n"
				   "3000-4000 rw-p 00002000 08:01 5 /bin/x\n"
				   "4000-5000 --xp 00000000 00:00 0 \n"
				   "garbage\n"
				   "6000-7000 r-xp 00000000 08:01 5 /after\n";
	struct process p = { 0 };

	(void)state;
	mappings_add_text(&p, text, strlen(text));
	assert_mappings(&p, "2000-3000+1000 /bin/x\ny;4000-5000+0 ;");
	assert_int_equal(p.mappings.items[0].key.major, 8);
	assert_int_equal(p.mappings.items[0].key.inode, 5);
	mappings_clear(&p);
}

static void a_copy_is_its_own(void **state)
{
	struct process from = { 0 }, to = { 0 };

	(void)state;
	add(&from, 0x1000, 0x2000, 0, file_a);
	add(&to, 0x7000, 0x8000, 0, file_b);
	mappings_copy(&to, &from);
	mappings_clear(&from);
	assert_mappings(&to, "1000-2000+0 /a;");
	mappings_clear(&to);
}

/* --- how much they take ---------------------------------------------------------------------- */

#define MANY	  20000
#define LONG_PATH 2800

static char *long_path(char *buffer, unsigned int number)
{
	memset(buffer, 'x', LONG_PATH);
	snprintf(buffer + LONG_PATH, 16, "/%u", number);
	buffer[0] = '/';
	return buffer;
}

static void map_many(struct process *process, bool distinct)
{
	char path[LONG_PATH + 16];

	for (unsigned int i = 0; i < MANY; i++)
		add(process, 0x1000 + 0x2000ULL * i, 0x2000 + 0x2000ULL * i, 0,
		    long_path(path, distinct ? i : 0));
}

/* 56 MB of the same path, and that ten times more. */
static void a_path_is_kept_once(void **state)
{
	struct process parent = { 0 }, children[10] = { { 0 } };
	size_t began = peak_begin();

	(void)state;
	map_many(&parent, false);
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		mappings_copy(&children[i], &parent);
	assert_true(peak_end(began) < 8 * MIB);
	assert_int_equal(parent.mappings.len, MANY);
	mappings_clear(&parent);
	assert_int_equal(children[9].mappings.len, MANY);
	assert_string_equal(children[9].mappings.items[MANY - 1].path + LONG_PATH, "/0");
	/* One that goes its own way leaves the others as they are. */
	add(&children[3], 0x1000, 0x1800, 0, file_b);
	assert_string_equal(process_find_mapping(&children[3], 0x1000)->path, "/b");
	assert_int_equal(process_find_mapping(&children[4], 0x1000)->end, 0x2000);
	assert_int_equal(children[3].mappings.len, MANY + 1);
	for (size_t i = 0; i < ARRAY_SIZE(children); i++)
		mappings_clear(&children[i]);
	assert_int_equal(process_budget()->used_bytes, 0);
}

/* Each of its own: what there is no room for is left out, and counted. */
static void paths_are_bounded(void **state)
{
	struct process greedy = { .pid = 77, .comm = "greedy" }, other = { 0 }, same = { 0 };
	size_t began = peak_begin();
	struct mappings_stats stats;

	(void)state;
	map_many(&greedy, true);
	assert_true(peak_end(began) < 24 * MIB);
	mappings_get_stats(&stats);
	assert_true(stats.left_out > MANY / 2);
	assert_string_equal(greedy.mappings.items[greedy.mappings.len - 1].path,
			    PROCESS_PATH_LEFT_OUT);
	assert_int_equal(stats.pid, 77);
	assert_string_equal(stats.comm, "greedy");
	assert_true(process_budget()->used_bytes <= PROCESS_MEMORY_BYTES / 2 + LONG_PATH);
	/* Others have theirs. */
	add(&other, 0x1000, 0x2000, 0, file_a);
	assert_mappings(&other, "1000-2000+0 /a;");
	map_many(&same, false);
	assert_int_equal(same.mappings.len, MANY);
	mappings_clear(&greedy);
	mappings_clear(&other);
	mappings_clear(&same);
	assert_int_equal(process_budget()->used_bytes, 0);
}

/* Each takes half of what is left: a hundred together take no more than all of it. */
static void lists_are_bounded(void **state)
{
	static struct process all[100];
	size_t began = peak_begin();

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		map_many(&all[i], false);
	assert_true(peak_end(began) < 40 * MIB);
	assert_true(process_budget()->used_bytes < 2 * PROCESS_MEMORY_BYTES);
	assert_int_equal(all[0].mappings.len, MANY);
	/* Nobody gets nothing. */
	assert_true(all[99].mappings.len > 200);
	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		mappings_clear(&all[i]);
	assert_int_equal(process_budget()->used_bytes, 0);
}

static void the_same_again_is_no_change(void **state)
{
	struct process parent = { 0 }, child = { 0 };
	uint64_t serial;

	(void)state;
	add(&parent, 0x1000, 0x2000, 0, file_a);
	mappings_copy(&child, &parent);
	serial = child.mappings_serial;
	add(&child, 0x1000, 0x2000, 0, file_a);
	assert_int_equal(child.mappings_serial, serial);
	assert_ptr_equal(child.mappings.items, parent.mappings.items);
	add(&child, 0x1000, 0x2000, 0x1000, file_a);
	assert_true(child.mappings_serial > serial);
	assert_mappings(&child, "1000-2000+1000 /a;");
	assert_mappings(&parent, "1000-2000+0 /a;");
	mappings_clear(&parent);
	mappings_clear(&child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kept_sorted),
		cmocka_unit_test(a_hole_in_the_middle_splits),
		cmocka_unit_test(overlaps_at_the_ends_are_cut),
		cmocka_unit_test(covered_ones_go),
		cmocka_unit_test(neighbours_of_covered_ones_stay),
		cmocka_unit_test(newlines_in_paths),
		cmocka_unit_test(empty_and_backward_ranges_are_ignored),
		cmocka_unit_test(a_growing_code_cache_is_one_mapping),
		cmocka_unit_test(a_code_cache_in_the_place_of_files),
		cmocka_unit_test(look_up_by_address),
		cmocka_unit_test(every_change_is_counted),
		cmocka_unit_test(only_executable_lines_of_maps),
		cmocka_unit_test(a_copy_is_its_own),
		cmocka_unit_test(a_path_is_kept_once),
		cmocka_unit_test(paths_are_bounded),
		cmocka_unit_test(lists_are_bounded),
		cmocka_unit_test(the_same_again_is_no_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
