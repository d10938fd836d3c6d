// SPDX-License-Identifier: Apache-2.0
/* Stacks of which the next one has most: what is found of them is what was kept, word for word. */
#include "test.h"

#include <stdlib.h>

#include "symbolize/words/stack_tails.h"

#define MOST_FRAMES 1024
#define MOST_WORDS  (4 * MOST_FRAMES)
#define MOST_IDS    (8 * MOST_FRAMES)

/* From the leaf on. */
struct stack {
	uint64_t words[MOST_WORDS];
	struct stack_mark marks[MOST_FRAMES];
	uint32_t ids[MOST_IDS];
	size_t word_count, frame_count, id_count;
};

static struct stack_tails tails;
static const struct stack_tail_key key = { 7, 42 };

static void release(void)
{
	stack_tails_release(&tails);
	tails = (struct stack_tails){ 0 };
}

/* A frame of COUNT words, each VALUE, that is IDS frames. */
static void add(struct stack *stack, uint64_t value, size_t count, size_t ids)
{
	stack->marks[stack->frame_count++] =
		(struct stack_mark){ stack->word_count, stack->id_count };
	for (size_t i = 0; i < count; i++)
		stack->words[stack->word_count++] = value;
	for (size_t i = 0; i < ids; i++)
		stack->ids[stack->id_count++] = (uint32_t)(value * 10 + i);
}

static struct word_reader words_of(const struct stack *stack)
{
	return (struct word_reader){ stack->words, stack->words + stack->word_count };
}

static size_t common_of(const struct stack *stack)
{
	struct word_reader user = words_of(stack);

	return stack_tails_common(&tails, &key, &user);
}

/* As who makes it: marks are of those frames only that are not common, and in words to the root. */
static void keep(const struct stack *stack)
{
	struct word_reader user = words_of(stack);
	struct stack_mark marks[MOST_FRAMES];
	size_t common = common_of(stack), count = 0;

	for (size_t i = 0; i < stack->frame_count; i++) {
		size_t words = stack->word_count - stack->marks[i].words;

		if (words > common)
			marks[count++] = (struct stack_mark){ words, stack->marks[i].ids };
	}
	stack_tails_keep(
		&tails, &key,
		&(struct made_stack){ &user, common, marks, count, stack->ids, stack->id_count });
}

static void expect_ids(const struct stack *stack, size_t words, size_t count)
{
	size_t found;
	const uint32_t *ids = stack_tails_ids(&tails, &key, words, &found);

	assert_int_equal(found, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(ids[i], stack->ids[stack->id_count - 1 - i]);
}

static void another_leaf(void **state)
{
	static struct stack first, second, shorter;

	(void)state;
	add(&first, 1, 3, 2);
	add(&first, 2, 1, 1);
	add(&first, 3, 3, 4);
	add(&first, 4, 1, 0);
	add(&second, 9, 2, 1);
	add(&second, 8, 1, 1);
	add(&second, 3, 3, 4);
	add(&second, 4, 1, 0);
	add(&shorter, 4, 1, 0);
	assert_int_equal(common_of(&first), 0);
	keep(&first);
	assert_int_equal(common_of(&first), 8);
	expect_ids(&first, 8, 7);
	assert_int_equal(common_of(&second), 4);
	expect_ids(&second, 4, 4);
	keep(&second);
	assert_int_equal(common_of(&second), 7);
	expect_ids(&second, 7, 6);
	assert_int_equal(common_of(&first), 4);
	assert_int_equal(common_of(&shorter), 1);
	expect_ids(&shorter, 1, 0);
	/* A shorter one takes the place of a longer one. */
	keep(&shorter);
	assert_int_equal(common_of(&second), 1);
	release();
}

/* Words that are alike but of which no frame begins there are not common. */
static void in_the_midst_of_a_frame(void **state)
{
	static struct stack first, second;

	(void)state;
	add(&first, 1, 3, 1);
	add(&first, 2, 1, 1);
	add(&second, 1, 1, 1);
	add(&second, 2, 1, 1);
	keep(&first);
	assert_int_equal(common_of(&second), 1);
	release();
}

static void of_another_one(void **state)
{
	const struct stack_tail_key others[] = { { 8, 42 }, { 7, 43 }, { 0, 42 }, { 0, 0 } };
	static struct stack stack;
	struct word_reader user;
	struct made_stack made;

	(void)state;
	add(&stack, 1, 1, 1);
	user = words_of(&stack);
	keep(&stack);
	made = (struct made_stack){ &user, 0, &(struct stack_mark){ 1, 0 }, 1, stack.ids, 1 };
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(stack_tails_common(&tails, &others[i], &user), 0);
		if (others[i].owner)
			continue;
		/* Nothing is kept of nobody. */
		stack_tails_keep(&tails, &others[i], &made);
		assert_int_equal(stack_tails_common(&tails, &others[i], &user), 0);
	}
	for (uint32_t tid = 0; tid < 10 * STACK_TAILS; tid++)
		stack_tails_keep(&tails, &(struct stack_tail_key){ 0, tid }, &made);
	assert_int_equal(common_of(&stack), 1);
	/* The place of one is another one's. */
	for (uint32_t tid = 0; tid < 10 * STACK_TAILS; tid++) {
		const struct stack_tail_key another = { 9, tid };

		made.common = stack_tails_common(&tails, &another, &user);
		assert_int_equal(made.common, 0);
		stack_tails_keep(&tails, &another, &made);
		assert_int_equal(stack_tails_common(&tails, &another, &user), 1);
	}
	assert_int_equal(common_of(&stack), 0);
	release();
}

/* Of what is too deep the outermost frames are kept, whole ones. */
static void deep_ones(void **state)
{
	static struct stack deep, many;

	(void)state;
	for (size_t i = 0; i < MOST_FRAMES; i++)
		add(&deep, i, 3, 1);
	keep(&deep);
	assert_int_equal(common_of(&deep), STACK_TAIL_WORDS / 3 * 3);
	expect_ids(&deep, STACK_TAIL_WORDS / 3 * 3, STACK_TAIL_WORDS / 3);
	release();
	for (size_t i = 0; i < 10; i++)
		add(&many, i, 1, 700);
	keep(&many);
	assert_int_equal(common_of(&many), 10);
	release();
}

/* More ids than can be counted. */
static void frames_of_many(void **state)
{
	static uint32_t ids[2 * UINT16_MAX];
	static const uint64_t words[] = { 1, 2 };
	const struct word_reader user = { words, words + 2 };
	const struct stack_mark marks[] = { { 2, 0 }, { 1, UINT16_MAX } };
	struct made_stack made = { &user, 0, marks, 2, ids, ARRAY_SIZE(ids) - 1 };

	(void)state;
	stack_tails_keep(&tails, &key, &made);
	assert_int_equal(stack_tails_common(&tails, &key, &user), 1);
	made.id_count++;
	stack_tails_keep(&tails, &key, &made);
	assert_int_equal(stack_tails_common(&tails, &key, &user), 0);
	release();
}

/* Against all of the last stack's words. */
static void at_random(void **state)
{
	static struct stack last, next;

	(void)state;
	srand(3);
	for (unsigned int turn = 0; turn < 3000; turn++) {
		size_t same = 0, count = (size_t)rand() % 40;

		next = (struct stack){ 0 };
		/* A frame's words say how many there are, as a sample's do. */
		for (size_t i = 0; i < count; i++) {
			size_t words = 1 + (size_t)rand() % 3, value = (size_t)rand() % 3;

			add(&next, value * 4 + words, words, (value + words) % 3);
		}
		/* Outer frames of the one before. */
		for (size_t i = last.frame_count ? (size_t)rand() % last.frame_count : 0;
		     i < last.frame_count; i++) {
			size_t end = i + 1 < last.frame_count ? last.marks[i + 1].words
							      : last.word_count;
			size_t ids =
				i + 1 < last.frame_count ? last.marks[i + 1].ids : last.id_count;

			if (next.frame_count == MOST_FRAMES / 4)
				break;
			add(&next, last.words[last.marks[i].words], end - last.marks[i].words,
			    ids - last.marks[i].ids);
			same += end - last.marks[i].words;
		}
		assert_true(common_of(&next) >= same);
		keep(&next);
		assert_int_equal(common_of(&next), next.word_count);
		expect_ids(&next, next.word_count, next.id_count);
		last = next;
	}
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_leaf),	  cmocka_unit_test(in_the_midst_of_a_frame),
		cmocka_unit_test(of_another_one), cmocka_unit_test(deep_ones),
		cmocka_unit_test(frames_of_many), cmocka_unit_test(at_random),
	};

	return cmocka_run_group_tests_name("stack_tails", tests, NULL, NULL);
}
