// SPDX-License-Identifier: Apache-2.0
/*
 * The step functions on the stacks of JDK 8 to 28 that are recorded in tests/data/java: every kind
 * of code that a Java thread can be in, at every point of its prologue and epilogue. The frames are
 * those that the program is known to have had; on 17 and 25 most are what other tools gave, too. Run one file alone with CMOCKA_TEST_FILTER=jdk17.
 */
#include "test.h"

#include <dirent.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "recorded_jvm.h"

#ifndef TEST_DATA
#define TEST_DATA "tests/data"
#endif

#define JAVA   TEST_DATA "/java"
#define SUFFIX ".stacks"
/* There are fewer when the tree is not whole: JDK 8, 11, 17, 21, 25 to 28. */
#define FEWEST_FILES  8
#define FEWEST_STACKS 40
/* Files of stacks that other tools have, too, of one mode of the JVM each: tests/data/java/README.md. */
#define CONFIRMED	 "_confirmed"
#define FEWEST_OF_A_MODE 16

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

static char why[256];

static bool is_frame(const struct recorded_java *stack, size_t i, uint64_t word)
{
	enum wire_frame_kind kind = (enum wire_frame_kind)(word >> WIRE_FRAME_KIND_SHIFT);

	snprintf(why, sizeof(why),
		 "frame %zu is %#" PRIx64 " of kind %d, expected %#" PRIx64 " of '%c'", i,
		 (uint64_t)(word & WIRE_FRAME_ADDRESS_MASK), (int)kind, stack->frames[i].address,
		 stack->frames[i].kind);
	return (word & WIRE_FRAME_ADDRESS_MASK) == stack->frames[i].address &&
	       is_kind(stack->frames[i].kind, kind);
}

/* Is the result what was recorded of STACK? WHY says why not. */
static bool is_recorded(const struct recorded_java *stack)
{
	uint32_t at = 0;
	size_t i = 0;

	for (; i < stack->frame_count && at < result.word_count; i++) {
		if (!is_frame(stack, i, result.words[at]))
			return false;
		at += wire_frame_words(result.words[at]);
	}
	snprintf(why, sizeof(why), "%u frames, expected %zu; ended with reason %d", result.frames,
		 stack->frame_count, result.reason);
	return result.reason == UNWIND_DONE && at == result.word_count && i == stack->frame_count;
}

static void expect_frames(const struct recorded_java *stack, const char *how)
{
	if (!is_recorded(stack))
		fail_msg("%s, %s: %s", stack->name, how, why);
}

static void test_frames(void **state)
{
	(void)state;
	for (size_t i = 0; i < jvm.stack_count; i++) {
		recorded_jvm_walk(&jvm, jvm.stacks[i], 0, &result);
		expect_frames(jvm.stacks[i], "in bulk");
	}
}

static bool holds_its_method(const struct walk_interpreted *frame)
{
	uint64_t slot = frame->fp + (uint64_t)((int64_t)jvm.jvm.method_slot * 8), method;

	assert_int_equal(result.words[frame->at] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_INTERPRETED);
	return recorded_jvm_read(&jvm, slot, &method, sizeof(method)) == 0 &&
	       method == result.words[frame->at + 1];
}

/*
 * Where each interpreted frame lies is told: its slot holds the Method. But for a leaf, whose frame may not stand yet, and a
 * few that a step has found the frame pointer of itself.
 */
static void test_interpreted_places(void **state)
{
	size_t count = 0, held = 0;

	(void)state;
	for (size_t i = 0; i < jvm.stack_count; i++) {
		recorded_jvm_walk(&jvm, jvm.stacks[i], 0, &result);
		for (uint32_t j = 0; j < result.interpreted_count; j++) {
			if (result.interpreted[j].at == 0)
				continue;
			count++;
			held += holds_its_method(&result.interpreted[j]);
		}
	}
	if (held < count - count / 50)
		fail_msg("%zu of %zu places hold their Method", held, count);
	assert_in_range(count, 1, SIZE_MAX);
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
			if (!is_frame(stack, 0, result.words[0]))
				fail_msg("%s, with a limit: %s", stack->name, why);
		}
	}
}

/* The comparison on trial: what was recorded with one thing changed is not what the walk gives. */
static void expect_damages_seen(struct recorded_java *stack)
{
	struct recorded_frame *frames = stack->frames;

	for (size_t i = 0; i < stack->frame_count; i++) {
		struct recorded_frame was = frames[i];

		frames[i].address++;
		assert_false(is_recorded(stack));
		frames[i] = was;
		frames[i].kind = was.kind == 'N' ? 'C' : 'N';
		assert_false(is_recorded(stack));
		frames[i] = was;
	}
	stack->frame_count--;
	assert_false(is_recorded(stack));
	stack->frame_count += 2; /* one that the walk has not: the recording's end is zero */
	assert_false(is_recorded(stack));
	stack->frame_count--;
	result.reason = UNWIND_DEPTH;
	assert_false(is_recorded(stack));
}

static void test_damages(void **state)
{
	(void)state;
	for (size_t i = 0; i < jvm.stack_count; i++) {
		recorded_jvm_walk(&jvm, jvm.stacks[i], 0, &result);
		expect_damages_seen(jvm.stacks[i]);
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

	if (strstr(*state, CONFIRMED)) {
		assert_in_range(jvm.stack_count, FEWEST_OF_A_MODE, RECORDED_STACKS);
		return;
	}
	for (size_t i = 0; i < jvm.stack_count; i++)
		for (size_t j = 0; j < jvm.stacks[i]->frame_count; j++)
			seen[(unsigned char)jvm.stacks[i]->frames[j].kind]++;
	for (size_t i = 0; kinds[i]; i++)
		if (!seen[(unsigned char)kinds[i]])
			fail_msg("no frame of kind %c", kinds[i]);
	assert_in_range(jvm.stack_count, FEWEST_STACKS, RECORDED_STACKS);
}

/* --- who else says so ------------------------------------------------------------------------- */

/* Of each JDK that they are of. */
#define FEWEST_CONFIRMED 100

/* Parts of stacks' names: of each kind of code one is among them. */
static const char *const confirmed_kinds[] = {
	"interpreter_body",
	"interpreter_entry",
	"c1",
	"c1_prologue",
	"c2",
	"c2_prologue",
	"wrapper",
	"_ret",
	"_poll",
	"stubroutines",
	"i2c_c2i_adapters",
	"vtable",
	"jni",
	"libjvm",
	"native",
	"under_signal",
	"exceptionblob",
	"resolve",
};

static size_t count_by(const char *tool)
{
	size_t count = 0;

	for (size_t i = 0; i < jvm.stack_count; i++)
		if (tool ? strstr(jvm.stacks[i]->by, tool) != NULL : !jvm.stacks[i]->by[0])
			count++;
	return count;
}

static void test_is_confirmed(void **state)
{
	size_t alone = count_by(NULL);

	print_message("%s: of %zu stacks jhsdb and gdb have %zu, calls that were seen %zu, nobody "
		      "else %zu\n",
		      (const char *)*state, jvm.stack_count, count_by("jhsdb+gdb"),
		      count_by("calls"), alone);
	if (strstr(*state, CONFIRMED))
		assert_int_equal(alone, 0);
}

/* Letters of frames: interpreted, compiled, OSR, wrapper, stub, native. */
static const char confirmed_frames[] = "ICOWSN";

struct sample {
	size_t stacks;
	bool kinds[ARRAY_SIZE(confirmed_kinds)], frames[256];
};

static void add_to_sample(struct sample *sample)
{
	sample->stacks += jvm.stack_count;
	for (size_t i = 0; i < jvm.stack_count; i++) {
		const struct recorded_java *stack = jvm.stacks[i];

		for (size_t kind = 0; kind < ARRAY_SIZE(confirmed_kinds); kind++)
			if (strstr(stack->name, confirmed_kinds[kind]))
				sample->kinds[kind] = true;
		for (size_t frame = 0; frame < stack->frame_count; frame++)
			sample->frames[(unsigned char)stack->frames[frame].kind] = true;
	}
}

static void expect_sample(const char *jdk, struct dirent **entries, size_t count)
{
	struct sample sample = { 0 };

	for (size_t i = 0; i < count; i++) {
		void *name = entries[i]->d_name;

		if (strncmp(name, jdk, strlen(jdk)) != 0 || !strstr(name, CONFIRMED))
			continue;
		assert_int_equal(load(&name), 0);
		add_to_sample(&sample);
		release(NULL);
	}
	print_message("%s: %zu stacks confirmed\n", jdk, sample.stacks);
	assert_true(sample.stacks >= FEWEST_CONFIRMED);
	for (size_t kind = 0; kind < ARRAY_SIZE(confirmed_kinds); kind++)
		if (!sample.kinds[kind])
			fail_msg("%s: no confirmed stack is of %s", jdk, confirmed_kinds[kind]);
	for (size_t i = 0; confirmed_frames[i]; i++)
		if (!sample.frames[(unsigned char)confirmed_frames[i]])
			fail_msg("%s: no frame of kind %c is confirmed", jdk, confirmed_frames[i]);
}

struct corpus {
	struct dirent **entries;
	size_t count;
};

static void test_samples(void **state)
{
	const struct corpus *corpus = *state;

	expect_sample("jdk17", corpus->entries, corpus->count);
	expect_sample("jdk25", corpus->entries, corpus->count);
}

static void test_corpus_is_whole(void **state)
{
	const struct corpus *corpus = *state;

	if (corpus->count < FEWEST_FILES)
		fail_msg("%zu files in " JAVA "; run from the top of the tree", corpus->count);
}

/* --- a test of each kind for each file -------------------------------------------------------- */

static const struct {
	const char *name;
	CMUnitTestFunction fn;
} tests[] = {
	{ "frames", test_frames },
	{ "interpreted places", test_interpreted_places },
	{ "frames_hot", test_frames_hot },
	{ "frames_word_by_word", test_frames_word_by_word },
	{ "limits", test_limits },
	{ "damages", test_damages },
	{ "nothing_to_read", test_nothing_to_read },
	{ "has_all_kinds", test_has_all_kinds },
	{ "is_confirmed", test_is_confirmed },
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
	struct CMUnitTest *list = xcalloc(n + 2, sizeof(*list));
	struct corpus corpus = { entries, count };

	for (size_t i = 0; i < count; i++)
		add_tests(&list[ARRAY_SIZE(tests) * i], entries[i]->d_name);
	list[n] =
		(struct CMUnitTest){ "corpus_is_whole", test_corpus_is_whole, NULL, NULL, &corpus };
	list[n + 1] =
		(struct CMUnitTest){ "samples_are_confirmed", test_samples, NULL, NULL, &corpus };
	failed = _cmocka_run_group_tests("recorded JVMs", list, n + 2, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		free((void *)(uintptr_t)list[i].name);
	for (size_t i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	free(list);
	return failed;
}
