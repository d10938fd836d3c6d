// SPDX-License-Identifier: Apache-2.0
/*
 * The step functions on the stacks of JDK 8 to 28 that are recorded in tests/data/java: every kind
 * of code that a Java thread can be in, at every point of its prologue and epilogue. The frames are
 * those that the program is known to have had. Run one file alone with CMOCKA_TEST_FILTER=jdk17.
 */
#include "test.h"

#include <dirent.h>

#include "base/alloc.h"
#include "recorded_jvm.h"

#ifndef TEST_DATA
#define TEST_DATA "tests/data"
#endif

#define JAVA   TEST_DATA "/java"
#define SUFFIX ".stacks"
/* There are fewer when the tree is not whole: JDK 8, 11, 17, 21, 25 to 28. */
#define FEWEST_FILES  8
#define FEWEST_STACKS 40

static struct recorded_jvm jvm;
static struct walk_result result;

static int load(void **state)
{
	char path[512];

	snprintf(path, sizeof(path), JAVA "/%s" SUFFIX, (const char *)*state);
	return recorded_jvm_load(path, &jvm);
}

static int release(void **state)
{
	(void)state;
	recorded_jvm_release(&jvm);
	return 0;
}

static bool is_kind(char kind, enum wire_frame_kind is)
{
	switch (is) {
	case WIRE_FRAME_INTERPRETED: return kind == 'I';
	case WIRE_FRAME_COMPILED: return kind == 'C' || kind == 'O' || kind == 'W' || kind == 'S';
	case WIRE_FRAME_MARK: return kind == 'M';
	default: return kind == 'N';
	}
}

static void expect_frame(const struct recorded_java *stack, const char *how, size_t i,
			 uint64_t word)
{
	enum wire_frame_kind kind = (enum wire_frame_kind)(word >> WIRE_FRAME_KIND_SHIFT);

	if ((word & WIRE_FRAME_ADDRESS_MASK) != stack->frames[i].address)
		fail_msg("%s, %s: frame %zu is %#" PRIx64 ", expected %#" PRIx64, stack->name, how,
			 i, (uint64_t)(word & WIRE_FRAME_ADDRESS_MASK), stack->frames[i].address);
	if (!is_kind(stack->frames[i].kind, kind))
		fail_msg("%s, %s: frame %zu is of kind %d, expected '%c'", stack->name, how, i,
			 (int)kind, stack->frames[i].kind);
}

static void expect_frames(const struct recorded_java *stack, const char *how)
{
	uint32_t at = 0;

	for (size_t i = 0; i < stack->frame_count && at < result.word_count; i++) {
		expect_frame(stack, how, i, result.words[at]);
		at += wire_frame_words(result.words[at]);
	}
	if (result.reason != UNWIND_DONE || at != result.word_count)
		fail_msg("%s, %s: %u frames, expected %zu; ended with reason %d", stack->name, how,
			 result.frames, stack->frame_count, result.reason);
}

static void test_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < jvm.stack_count; i++) {
		recorded_jvm_walk(&jvm, jvm.stacks[i], 0, &result);
		expect_frames(jvm.stacks[i], "in bulk");
	}
}

/* What was found before is in the caches now, of other stacks too. */
static void test_frames_hot(void **state)
{
	for (int turn = 0; turn < 2; turn++)
		test_frames(state);
}

static void test_frames_word_by_word(void **state)
{
	jvm.word_by_word = true;
	test_frames(state);
}

/* Every limit on the way gives the first frames of the whole. */
static void test_limits(void **state)
{
	(void)state;
	for (size_t i = 0; i < jvm.stack_count; i++) {
		const struct recorded_java *stack = jvm.stacks[i];

		for (uint32_t limit = 1; limit < stack->frame_count; limit++) {
			recorded_jvm_walk(&jvm, stack, limit, &result);
			assert_int_equal(result.reason, UNWIND_DEPTH);
			expect_frame(stack, "with a limit", 0, result.words[0]);
		}
	}
}

/* With no memory at all a stack ends at once, and with a reason. */
static void test_nothing_to_read(void **state)
{
	(void)state;
	hmap_clear(&jvm.memory);
	for (size_t i = 0; i < jvm.stack_count; i++) {
		hmap_clear(&jvm.stacks[i]->memory);
		recorded_jvm_walk(&jvm, jvm.stacks[i], 0, &result);
		assert_int_not_equal(result.reason, UNWIND_DONE);
		assert_in_range(result.frames, 0, 3); /* a return address may be in a register */
	}
}

static void test_has_all_kinds(void **state)
{
	static const char kinds[] = "ICWSN";
	size_t seen[256] = { 0 };

	(void)state;
	for (size_t i = 0; i < jvm.stack_count; i++)
		for (size_t j = 0; j < jvm.stacks[i]->frame_count; j++)
			seen[(unsigned char)jvm.stacks[i]->frames[j].kind]++;
	for (size_t i = 0; kinds[i]; i++)
		if (!seen[(unsigned char)kinds[i]])
			fail_msg("no frame of kind %c", kinds[i]);
	assert_in_range(jvm.stack_count, FEWEST_STACKS, RECORDED_STACKS);
}

static void test_corpus_is_whole(void **state)
{
	const size_t *count = *state;

	if (*count < FEWEST_FILES)
		fail_msg("%zu files in " JAVA "; run from the top of the tree", *count);
}

/* --- a test of each kind for each file -------------------------------------------------------- */

static const struct {
	const char *name;
	CMUnitTestFunction fn;
} tests[] = {
	{ "frames", test_frames },
	{ "frames_hot", test_frames_hot },
	{ "frames_word_by_word", test_frames_word_by_word },
	{ "limits", test_limits },
	{ "nothing_to_read", test_nothing_to_read },
	{ "has_all_kinds", test_has_all_kinds },
};

static int is_recording(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > strlen(SUFFIX) && strcmp(entry->d_name + len - strlen(SUFFIX), SUFFIX) == 0;
}

/* NAME is the file's, and stays. */
static void add_tests(struct CMUnitTest *list, char *name)
{
	name[strlen(name) - strlen(SUFFIX)] = 0;
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		char *full;

		if (asprintf(&full, "%s_%s", name, tests[i].name) < 0)
			abort();
		list[i] = (struct CMUnitTest){ full, tests[i].fn, load, release, name };
	}
}

int main(void)
{
	struct dirent **entries = NULL;
	int found = scandir(JAVA, &entries, is_recording, alphasort), failed;
	size_t count = found > 0 ? (size_t)found : 0, n = ARRAY_SIZE(tests) * count;
	struct CMUnitTest *list = xcalloc(n + 1, sizeof(*list));

	for (size_t i = 0; i < count; i++)
		add_tests(&list[ARRAY_SIZE(tests) * i], entries[i]->d_name);
	list[n] =
		(struct CMUnitTest){ "corpus_is_whole", test_corpus_is_whole, NULL, NULL, &count };
	failed = _cmocka_run_group_tests("recorded JVMs", list, n + 1, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)list[i].name);
	for (size_t i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	free(list);
	return failed;
}
