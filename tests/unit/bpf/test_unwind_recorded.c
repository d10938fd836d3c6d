// SPDX-License-Identifier: Apache-2.0
/*
 * The step functions on recorded stacks (tests/data/stacks): each one is walked as it was found,
 * and has the frames that gdb or libdwfl gave for it. Run one alone with
 * CMOCKA_TEST_FILTER=NAME.
 */
#include "test.h"

#include <dirent.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "recorded_stack.h"
#include "walk_copy.h"

#ifndef TEST_DATA
#define TEST_DATA "tests/data"
#endif

#define STACKS TEST_DATA "/stacks"
#define SUFFIX ".stack"
/* There are fewer when the tree is not whole. */
#define FEWEST 30

static struct recorded_stack stack;
static struct walk_result result;

static void load(const char *name)
{
	char path[512];

	snprintf(path, sizeof(path), STACKS "/%s" SUFFIX, name);
	if (recorded_load(path, &stack) < 0)
		fail_msg("%s cannot be read; run from the top of the tree", path);
	assert_int_not_equal(stack.frame_count, 0);
	if (stack.request.count)
		assert_int_equal(recorded_make_tables(&stack), 0);
}

static int release(void **state)
{
	(void)state;
	recorded_release(&stack);
	memset(&stack, 0, sizeof(stack));
	return 0;
}

static void walk(void)
{
	struct unwind_memory memory = { .read = recorded_read,
					.data = &stack,
					.tables = stack.request.count ? &stack.tables : NULL };

	walk_stack(&stack.request, &memory, &result);
}

static char why[256];

/* Is the result what was recorded? WHY says why not. */
static bool is_recorded(void)
{
	for (size_t i = 0; i < stack.frame_count && i < result.frames; i++) {
		uint64_t address = result.words[i] & WIRE_FRAME_ADDRESS_MASK;

		snprintf(why, sizeof(why), "frame %zu is %#" PRIx64 ", expected %#" PRIx64, i,
			 address, stack.frames[i]);
		if (address != stack.frames[i])
			return false;
	}
	snprintf(why, sizeof(why), "%u frames, expected %zu; ended with reason %d", result.frames,
		 stack.frame_count, result.reason);
	return result.frames == stack.frame_count && result.word_count == stack.frame_count &&
	       result.reason == UNWIND_DONE;
}

static void expect_frames(const char *name, const char *how)
{
	if (!is_recorded())
		fail_msg("%s, %s: %s", name, how, why);
}

/* The comparison on trial: what was recorded with one thing changed is not what the walk gives. */
static void expect_damages_seen(void)
{
	for (size_t i = 0; i < stack.frame_count; i++) {
		stack.frames[i]++;
		assert_false(is_recorded());
		stack.frames[i]--;
	}
	stack.frame_count--;
	assert_false(is_recorded());
	stack.frame_count += 2;
	assert_false(is_recorded());
	stack.frame_count--;
	result.reason = UNWIND_DEPTH;
	assert_false(is_recorded());
}

static void test_recording(void **state)
{
	const char *name = *state;

	load(name);
	walk();
	expect_frames(name, "in bulk");
	/* Once more: rules come from the hot entries now. */
	walk();
	expect_frames(name, "hot");
	stack.word_by_word = true;
	walk();
	expect_frames(name, "word by word");
	expect_damages_seen();
}

/* Every limit on the way gives that many frames and says why there are no more. */
static void test_limits(void **state)
{
	const char *name = *state;

	load(name);
	for (uint32_t limit = 1; limit < stack.frame_count; limit++) {
		stack.request.max_frames = limit;
		walk();
		assert_int_equal(result.frames, limit);
		assert_int_equal(result.reason, UNWIND_DEPTH);
	}
}

/* Is every frame's code described? Else what the code bytes look like decides too. */
static bool is_described(void)
{
	for (size_t i = 0; i < stack.request.count; i++)
		if (!stack.ranges[i].file)
			return false;
	for (size_t i = 0; i < stack.row_count; i++)
		if (stack.rows[i].row.rule.kind == WIRE_RULE_NONE)
			return false;
	return stack.request.count > 0;
}

/* A stack of which only a part is there ends early, and its frames are the first of the whole. */
static void test_torn(void **state)
{
	const char *name = *state;
	size_t lines;

	load(name);
	lines = is_described() ? stack.line_count : 0;
	while (lines-- > 0) {
		stack.line_count = lines;
		walk();
		assert_true(result.frames < stack.frame_count);
		for (size_t i = 0; i < result.frames; i++)
			assert_true((result.words[i] & WIRE_FRAME_ADDRESS_MASK) == stack.frames[i]);
	}
}

static int is_recording(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > strlen(SUFFIX) && strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX) == 0;
}

static void test_corpus_is_whole(void **state)
{
	const size_t *count = *state;

	if (*count < FEWEST)
		fail_msg("%zu recordings in " STACKS "; run from the top of the tree", *count);
}

/* The three tests of one recording; NAME is its file's, and stays. */
static void add_tests(struct CMUnitTest *list, char *name)
{
	char *limits, *torn;

	name[strlen(name) - strlen(SUFFIX)] = 0;
	if (asprintf(&limits, "%s_limits", name) < 0 || asprintf(&torn, "%s_torn", name) < 0)
		abort();
	list[0] = (struct CMUnitTest){ name, test_recording, NULL, release, name };
	list[1] = (struct CMUnitTest){ limits, test_limits, NULL, release, name };
	list[2] = (struct CMUnitTest){ torn, test_torn, NULL, release, name };
}

int main(void)
{
	struct dirent **entries = NULL;
	int found = scandir(STACKS, &entries, is_recording, alphasort), failed;
	size_t count = found > 0 ? (size_t)found : 0;
	struct CMUnitTest *list = xcalloc(3 * count + 1, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		add_tests(&list[3 * i], entries[i]->d_name);
	list[3 * count] =
		(struct CMUnitTest){ "corpus_is_whole", test_corpus_is_whole, NULL, NULL, &count };
	failed = _cmocka_run_group_tests("recorded stacks", list, 3 * count + 1, NULL, NULL);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 1; j < 3; j++)
			free((void *)(uintptr_t)list[3 * i + j].name);
		free(entries[i]);
	}
	free(entries);
	free(list);
	return failed;
}
