// SPDX-License-Identifier: Apache-2.0
/* Where functions begin that no symbol and no call leads to: at addresses that compilers choose, or where data points to. */
#include "infer_fixture.h"

/* Two functions that do not return, close to each other: only data says where the second one begins. */
INFER_CASE(pointed, "push %rbx\n mov %rdi,%rbx\n call *%rax\n"
		    "push %rbp\n push %rbx\n sub $8,%rsp\n .Lround: call *%rax\n jmp .Lround");
#define POINTED 6
/* A place in a table of jumps saves nothing. */
INFER_CASE(in_a_table, "push %rbx\n mov %rdi,%rbx\n call *%rax\n"
		       "mov %rbx,%rdi\n pop %rbx\n ret");

static void expect_pointed(const uint8_t *begin, const uint8_t *end, uint32_t pointed,
			   const char *wanted)
{
	const uint32_t first = 0, places[] = { 1, pointed, 4711 };
	const struct infer_piece piece = { .bytes = begin,
					   .len = (size_t)(end - begin),
					   .entries = &first,
					   .entry_count = 1,
					   .pointed = places,
					   .pointed_count = pointed ? ARRAY_SIZE(places) : 0,
					   .address = 0x1000 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	infer_text_of(&piece, &text);
	assert_string_equal(strbuf_str(&text), wanted);
}

static void where_data_points_to(void **state)
{
	static const char goes_on[] = "rsp+8\n"
				      "rsp+16 rbx 2\n"
				      "rsp+24 rbp 3 rbx 2\n"
				      "rsp+32 rbp 3 rbx 2\n"
				      "rsp+40 rbp 3 rbx 2\n";

	(void)state;
	expect_pointed(pointed_begin, pointed_end, 0, goes_on);
	expect_pointed(pointed_begin, pointed_end, POINTED + 1, goes_on);
	expect_pointed(pointed_begin, pointed_end, POINTED,
		       "rsp+8\n"
		       "rsp+16 rbx 2\n"
		       "rsp+8\n"
		       "rsp+16 rbp 2\n"
		       "rsp+24 rbp 2 rbx 3\n"
		       "rsp+32 rbp 2 rbx 3\n");
	expect_pointed(in_a_table_begin, in_a_table_end, POINTED,
		       "rsp+8\n"
		       "rsp+16 rbx 2\n"
		       "rsp+8\n");
}

/* Behind a function's call, which ends at a multiple of 16, it goes on for longer than is tried, and does not return: another one may begin there. */
#define GOES_ROUND \
	"push %rbx\n mov %rdi,%rbx\n mov %rdi,%rbx\n mov %rdi,%rbx\n mov %rdi,%rbx\n cdq\n call *%rax\n"
INFER_CASE(small, ".rept 16\n nop\n ret\n .endr\n" GOES_ROUND
		  ".rept 2100\n cdq\n .endr\n .Lsmall: call *%rdx\n jmp .Lsmall");
INFER_CASE(large, ".rept 16\n .balign 16\n ret\n .endr\n .balign 16\n" GOES_ROUND
		  ".rept 2100\n cdq\n .endr\n .Llarge: call *%rdx\n jmp .Llarge");

/* One that looks as if it began a function there, but returns with a word too much. */
INFER_CASE(no_function, ".rept 16\n nop\n ret\n .endr\n" GOES_ROUND "ret");

struct small_file {
	const uint8_t *begin, *end;
	uint32_t first, step, count; /* of its functions, */
	uint32_t last;		     /* and where the last one is; 0: as the others */
	uint32_t pointed;	     /* 0: nothing */
};

/* Is the last instruction's frame known? */
static bool goes_on(struct small_file file)
{
	uint32_t entries[17];
	const struct infer_piece piece = { .bytes = file.begin,
					   .len = (size_t)(file.end - file.begin),
					   .entries = entries,
					   .entry_count = file.count,
					   .pointed = &file.pointed,
					   .pointed_count = file.pointed != 0,
					   .address = 0x1000 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (uint32_t i = 0; i < file.count; i++)
		entries[i] = file.first + i * file.step;
	if (file.last)
		entries[file.count - 1] = file.last;
	infer_text_of(&piece, &text);
	return strcmp(strbuf_str(&text) + text.len - 5, "none\n") != 0;
}

static void where_functions_begin_at_any_address(void **state)
{
	(void)state;
	assert_true(goes_on((struct small_file){ small_begin, small_end, 1, 2, 17, 32, 0 }));
	assert_true(goes_on((struct small_file){ small_begin, small_end, 1, 2, 16, 32, 0 }));
	/* What data points to there saves nothing. */
	assert_true(goes_on((struct small_file){ small_begin, small_end, 1, 2, 16, 32, 48 }));
	/* Too few to tell; and those of a file that is not small. */
	assert_false(goes_on((struct small_file){ small_begin, small_end, 1, 2, 15, 32, 0 }));
	assert_false(goes_on((struct small_file){ large_begin, large_end, 0, 16, 17, 256, 0 }));
	/* It is none after all. */
	assert_false(goes_on(
		(struct small_file){ no_function_begin, no_function_end, 1, 2, 16, 0, 32 }));
}

/* Behind a return anything may lie. */
INFER_CASE(
	behind,
	"push %rbx\n call *%rax\n pop %rbx\n ret\n push %rbp\n .Lbehind: call *%rdx\n jmp .Lbehind");

static void behind_a_return(void **state)
{
	(void)state;
	assert_false(goes_on((struct small_file){ behind_begin, behind_end, 0, 0, 1, 0, 0 }));
	assert_false(goes_on((struct small_file){ behind_begin, behind_end, 0, 0, 1, 0, 6 }));
	assert_true(goes_on((struct small_file){ behind_begin, behind_end, 0, 0, 1, 0, 5 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_data_points_to),
		cmocka_unit_test(where_functions_begin_at_any_address),
		cmocka_unit_test(behind_a_return),
	};

	return cmocka_run_group_tests_name("infer_begins", tests, NULL, NULL);
}
