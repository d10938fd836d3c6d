// SPDX-License-Identifier: Apache-2.0
/* Each figure has its name, and none is told that is 0. What the parts counted is the test's. */
#include "test.h"

#include <string.h>

#include "base/strbuf.h"
#include "unwind/unwinder_private.h"

static bool has_failed;
static bool has_counted;

/* --- in place of the parts --- */

void unwind_spaces_get_stats(const struct unwind_spaces *spaces,
			     struct unwind_spaces_stats *ret_stats)
{
	(void)spaces;
	memset(ret_stats, 0, sizeof(*ret_stats));
	if (!has_counted)
		return;
	ret_stats->reads = 201;
	ret_stats->read_ns = 202;
	ret_stats->store.spaces = 203;
	ret_stats->store.evicted = 204;
}

void unwind_jvms_get_stats(const struct unwind_jvms *jvms, struct unwind_jvms_stats *ret_stats)
{
	(void)jvms;
	memset(ret_stats, 0, sizeof(*ret_stats));
	if (has_counted)
		*ret_stats = (struct unwind_jvms_stats){ .known = 301,
							 .reads = 302,
							 .read_ns = 303,
							 .waits = 304,
							 .changes = 305,
							 .far_blobs = 306 };
}

void row_store_get_stats(const struct row_store *store, struct row_store_stats *ret_stats)
{
	(void)store;
	memset(ret_stats, 0, sizeof(*ret_stats));
	if (!has_counted)
		return;
	ret_stats->pages = 401;
	ret_stats->pages_evicted = 402;
	ret_stats->rules_used = 403;
	ret_stats->rules_exhausted = 404;
}

void unwind_files_count(const struct unwind_files *files, size_t *ret_files, size_t *ret_open)
{
	(void)files;
	*ret_files = has_counted ? 501 : 0;
	*ret_open = 502;
}

void unwind_files_for_each_failed(const struct unwind_files *files,
				  void (*fn)(const char *path, const char *why, uint64_t pages,
					     void *data),
				  void *data)
{
	(void)files;
	if (has_failed)
		fn("/lib/a.so", "torn", 7, data);
}

uint64_t stack_rest_count(const struct stack_rest *rest)
{
	(void)rest;
	return has_counted ? 601 : 0;
}

uint64_t code_exits_refused(const struct code_exits *exits)
{
	(void)exits;
	return has_counted ? 701 : 0;
}

/* --- */

static void see_figure(const char *name, const char *detail, uint64_t value, void *data)
{
	strbuf_addf(data, "%s %s%s%u\n", name, detail, *detail ? " " : "", (unsigned int)value);
}

static const char *figures_of(const struct unwinder *unwinder)
{
	static char said[2048];
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	unwinder_for_each_figure(unwinder, see_figure, &text);
	snprintf(said, sizeof(said), "%s", strbuf_str(&text));
	return said;
}

static void each_has_its_name(void **state)
{
	static const struct unwinder unwinder = { .at_once = 101,
						  .late_count = 102,
						  .unfinished = 103,
						  .row_frames = 104,
						  .hot_frames = 105,
						  .fp_frames = 106,
						  .jit_frames = 107,
						  .java_frames = 108,
						  .java_hot_frames = 109,
						  .anchors = 110,
						  .frozen = 111,
						  .frozen_frames = 114,
						  .inferred_frames = 115,
						  .read_frames = 116,
						  .pages_made = 112,
						  .rows_made = 117,
						  .make_ns = 113 };

	(void)state;
	has_counted = true;
	assert_string_equal(figures_of(&unwinder), "unwind.misses-finished-at-once 101\n"
						   "unwind.misses-finished-late 102\n"
						   "unwind.misses-unfinished 103\n"
						   "unwind.frames.row 104\n"
						   "unwind.frames.hot 105\n"
						   "unwind.frames.frame-pointer 106\n"
						   "unwind.frames.jit 107\n"
						   "unwind.frames.java 108\n"
						   "unwind.frames.java-hot 109\n"
						   "unwind.anchors 110\n"
						   "unwind.frozen 111\n"
						   "unwind.frames.frozen 114\n"
						   "unwind.frames.inferred 115\n"
						   "unwind.frames.read 116\n"
						   "unwind.exits-no-time 701\n"
						   "unwind.stacks-continued 601\n"
						   "unwind.files 501\n"
						   "unwind.pages 401\n"
						   "unwind.pages-made 112\n"
						   "unwind.rows-made 117\n"
						   "unwind.pages-made-ns 113\n"
						   "unwind.pages-evicted 402\n"
						   "unwind.rules 403\n"
						   "unwind.rules-exhausted 404\n"
						   "unwind.spaces 203\n"
						   "unwind.spaces-evicted 204\n"
						   "unwind.mappings-read 201\n"
						   "unwind.mappings-read-ns 202\n"
						   "unwind.jvms 301\n"
						   "unwind.jvms-read 302\n"
						   "unwind.jvms-read-ns 303\n"
						   "unwind.jvms-waited-for 304\n"
						   "unwind.jvms-changed 305\n"
						   "unwind.far-blobs 306\n");
}

static void what_was_not_read(void **state)
{
	static const struct unwinder unwinder;

	(void)state;
	has_counted = false;
	assert_string_equal(figures_of(&unwinder), "");
	has_failed = true;
	assert_string_equal(figures_of(&unwinder), "unwind.file-not-read /lib/a.so: torn 7\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_has_its_name),
		cmocka_unit_test(what_was_not_read),
	};

	return cmocka_run_group_tests_name("unwinder_figures", tests, NULL, NULL);
}
