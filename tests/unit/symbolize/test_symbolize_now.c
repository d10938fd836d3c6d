// SPDX-License-Identifier: Apache-2.0
/* Stacks of samples whose turn has not come: what is known is named, the rest is raw. */
#include "symbolize_parts.h"

static const char *stack_now(struct fixture *f, struct process *process)
{
	struct profile_stack now;

	strbuf_reset(&f->text);
	now = profile_get_stack(
		&f->profile,
		symbolizer_take_now(f->symbolizer, &f->profile, process, &f->sample).stack);
	for (uint32_t i = 0; i < now.len; i++)
		add_frame(f, profile_get_frame(&f->profile, now.frames[i]));
	return strbuf_str(&f->text);
}

static void what_is_parsed_is_named(void **state)
{
	struct fixture *f = *state;

	parts.images[2].state = IMAGE_LOADING;
	map_file(f, MAPPED, 1, 0x2000, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0x2000, "/lib/b");
	set_words(f, KERNEL_WORDS(KERNEL + 0x100),
		  USER_WORDS((2 * MAPPED + 0x100) | EXACT, MAPPED + 0x100));
	assert_string_equal(stack_now(f, &f->process),
			    "k1+ffffffff81000100_k@[kernel] +2100_n@/lib/b f30+30ff_n@/bin/a");
	parts.images[2].state = IMAGE_READY;
	assert_string_equal(stack(f), "k1+ffffffff81000100_k@[kernel] f31+3100_n@/lib/b "
				      "f30+30ff_n@/bin/a");
	assert_int_equal(
		stack_id(f),
		symbolizer_take_now(f->symbolizer, &f->profile, &f->process, &f->sample).stack);
}

/* Nothing is known of the process: not its mappings, nor whose code a word is. */
static void addresses_as_they_are(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 1, 0x2000, "/bin/a");
	set_words(f, KERNEL_WORDS(KERNEL + 0x100),
		  USER_WORDS((MAPPED + 0x100) | EXACT, MAPPED + 0x200));
	assert_string_equal(stack_now(f, NULL), "k1+ffffffff81000100_k@[kernel] +10000100_n "
						"+100001ff_n");
	/* And what was said then is not what it is. */
	assert_string_equal(stack(f), "k1+ffffffff81000100_k@[kernel] f31+3100_n@/bin/a "
				      "f31+31ff_n@/bin/a");
	assert_int_equal(parts.images[1].opens, 1);
}

/* The one who looks early leaves the look of a second to the sample's turn. */
static void perf_maps(void **state)
{
	struct fixture *f = *state;

	parts.perf_map = "jitted";
	map_file(f, MAPPED, 0, 0, "");
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	assert_string_equal(stack_now(f, &f->process), "[anon]_n@[anon]");
	assert_int_equal(parts.perf_map_opens, 0);
	assert_string_equal(stack(f), "jitted_o@[JIT]");
	assert_string_equal(stack_now(f, &f->process), "jitted_o@[JIT]");
	assert_int_equal(parts.perf_map_opens, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_parsed_is_named),
		TEST(addresses_as_they_are),
		TEST(perf_maps),
	};

	return cmocka_run_group_tests_name("symbolize_now", tests, NULL, NULL);
}
