// SPDX-License-Identifier: Apache-2.0
/* What the symbolizer makes of answers, with one source that is the test's. */
#include "symbolize_parts.h"

#include "symbolize/source.h"

static unsigned int asked, frame_count;
static bool of_moment;

static void find(struct stack_build *build, struct symbol_query *query, struct answer *answer)
{
	(void)build;
	asked++;
	answer->sure = ANSWER_PROVEN;
	answer->of_moment = of_moment;
	for (unsigned int i = 0; i < frame_count; i++)
		answer_add(answer, &(struct profile_frame){ .address = query->address + i,
							    .mapping = PROFILE_NONE,
							    .bci = -1 });
}

const struct symbol_source symbol_sources[] = {
	{ "three", ASK_KERNEL | ASK_CODE | ASK_COMPILED | ASK_INTERPRETED, .keeps = true,
	  .find = find },
	{ 0 },
};

/* Of every kind of word, and again when they are kept. */
static void three_frames_of_one_address(void **state)
{
	struct fixture *f = *state;

	asked = 0;
	frame_count = 3;
	of_moment = false;
	set_words(f, KERNEL_WORDS(KERNEL),
		  USER_WORDS(0x100 | EXACT, KIND(COMPILED) | EXACT | 0x200, 5,
			     KIND(INTERPRETED) | EXACT | 0x300, 2, 3, 4, 99));
	for (uint8_t i = 0; i < 2; i++) {
		f->sample.reason = i ? UNWIND_DEPTH : UNWIND_BUDGET; /* another stack */
		assert_non_null(strstr(stack(f), "+ffffffff81000000_n +ffffffff81000001_n "
						 "+ffffffff81000002_n +100_n +101_n +102_n "
						 "+200_n +201_n +202_n +300_n +301_n +302_n"));
		assert_int_equal(asked, 4);
	}
}

static void what_is_of_the_moment_is_asked_again(void **state)
{
	struct fixture *f = *state;

	asked = 0;
	frame_count = 2;
	of_moment = true;
	set_words(f, NO_KERNEL, USER_WORDS(0x100 | EXACT));
	stack(f);
	stack(f);
	assert_int_equal(asked, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(three_frames_of_one_address),
		TEST(what_is_of_the_moment_is_asked_again),
	};

	return cmocka_run_group_tests_name("symbolize_source", tests, NULL, NULL);
}
