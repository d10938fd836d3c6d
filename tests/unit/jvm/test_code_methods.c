/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>

#include "jvm/codemap/code_methods.h"

/* --- the table --- */

static void add(struct code_methods *m, uint64_t number, const char *name, uint16_t class_len)
{
	static const struct codemap_line lines[] = { { 0, 10 }, { 4, 20 } };
	const struct codemap_event e = {
		.kind = CODEMAP_METHOD,
		.method = {
			.number = number,
			.lines = lines,
			.line_count = 2,
			.class_name = { "pkg/Outer", class_len },
			.name = { name, (uint16_t)strlen(name) },
			.source = { "Outer.java", 10 },
		},
	};

	code_methods_add(m, &e);
}

static void expect_method(const struct code_methods *m, uint32_t id, const char *class_name,
			  const char *name)
{
	struct java_frame frame;

	code_methods_fill_frame(m, id, 3, &frame);
	assert_string_equal(frame.class_name, class_name);
	assert_string_equal(frame.method, name);
	assert_string_equal(frame.source, "Outer.java");
	assert_int_equal(frame.bci, 3);
	assert_int_equal(frame.line, 10);
	assert_false(frame.inlined);
}

/* What is the same has one id; an id keeps its meaning though its number gets another. */
static void ids_of_methods(void **state)
{
	struct code_methods m;
	struct java_frame frame;
	uint32_t first, second;
	size_t before;

	(void)state;
	code_methods_init(&m);
	assert_int_equal(code_methods_bytes(&m), 0);
	assert_int_equal(code_methods_find(&m, 1), CODE_METHOD_UNKNOWN);
	add(&m, 1, "run", 9);
	before = code_methods_bytes(&m);
	add(&m, 2, "work", 9);
	assert_true(code_methods_bytes(&m) > before && before > 64);
	first = code_methods_find(&m, 1);
	second = code_methods_find(&m, 2);
	expect_method(&m, first, "pkg.Outer", "run");
	expect_method(&m, second, "pkg.Outer", "work");
	add(&m, 3, "run", 9);
	assert_int_equal(code_methods_find(&m, 3), first);
	add(&m, 1, "other", 4);
	expect_method(&m, code_methods_find(&m, 1), "pkg.", "other");
	expect_method(&m, first, "pkg.Outer", "run");
	code_methods_fill_frame(&m, CODE_METHOD_UNKNOWN, 7, &frame);
	assert_string_equal(frame.method, "[unknown method]");
	assert_string_equal(frame.class_name, "");
	assert_string_equal(frame.source, "");
	assert_int_equal(frame.bci, 7);
	assert_int_equal(frame.line, 0);
	code_methods_fill_frame(&m, 3, -5, &frame);
	assert_string_equal(frame.method, "[unknown method]");
	assert_int_equal(frame.bci, -1);
	code_methods_release(&m);
}

static const char *descriptor_of(struct code_methods *m, uint64_t number, const char *descriptor)
{
	struct codemap_event e = {
		.kind = CODEMAP_METHOD,
		.method = { .number = number, .class_name = { "A", 1 }, .name = { "run", 3 } }
	};
	struct java_frame frame;

	e.method.descriptor = (struct codemap_text){ descriptor, (uint32_t)strlen(descriptor) };
	code_methods_add(m, &e);
	code_methods_fill_frame(m, code_methods_find(m, number), -1, &frame);
	assert_string_equal(frame.method, "run");
	return frame.descriptor;
}

/* Overloads are two methods, though neither has lines; what is no descriptor is not shown. */
static void descriptors(void **state)
{
	struct java_frame frame;
	struct code_methods m;

	(void)state;
	code_methods_init(&m);
	assert_string_equal(descriptor_of(&m, 1, "(I)V"), "(I)V");
	assert_string_equal(descriptor_of(&m, 2, "(LA;)V"), "(LA;)V");
	assert_string_equal(descriptor_of(&m, 3, ""), "");
	assert_string_equal(descriptor_of(&m, 4, "run"), "");
	assert_int_not_equal(code_methods_find(&m, 1), code_methods_find(&m, 2));
	assert_int_equal(code_methods_find(&m, 3), code_methods_find(&m, 4));
	code_methods_fill_frame(&m, CODE_METHOD_UNKNOWN, 7, &frame);
	assert_string_equal(frame.descriptor, "");
	code_methods_release(&m);
}

/* An agent that was loaded anew counts from 1 again: only what came since the last replay stays. */
static void a_replay_forgets_old_numbers(void **state)
{
	struct code_methods m;

	(void)state;
	code_methods_init(&m);
	add(&m, 1, "a", 9);
	add(&m, 5, "b", 9);
	add(&m, 3, "c", 9);
	code_methods_begin_replay(&m);
	assert_int_not_equal(code_methods_find(&m, 1), CODE_METHOD_UNKNOWN);
	add(&m, 6, "d", 9);
	code_methods_begin_replay(&m);
	assert_int_equal(code_methods_find(&m, 1), CODE_METHOD_UNKNOWN);
	assert_int_equal(code_methods_find(&m, 3), CODE_METHOD_UNKNOWN);
	assert_int_equal(code_methods_find(&m, 5), CODE_METHOD_UNKNOWN);
	assert_int_not_equal(code_methods_find(&m, 6), CODE_METHOD_UNKNOWN);
	code_methods_begin_replay(&m);
	assert_int_equal(code_methods_find(&m, 6), CODE_METHOD_UNKNOWN);
	expect_method(&m, 0, "pkg.Outer", "a");
	code_methods_release(&m);
}

/* By the definition: the entry that starts last before the bci, the first of equal ones. */
static int32_t line_of(const struct codemap_line *lines, uint32_t count, int32_t bci)
{
	int32_t best = -1, line = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (lines[i].bci <= MAX(bci, 0) && lines[i].bci > best) {
			best = lines[i].bci;
			line = lines[i].line;
		}
	}
	return line;
}

static void lines_in_any_order(void **state)
{
	static struct codemap_line lines[UINT16_MAX];
	static const uint32_t counts[] = { 0, 1, 2, 3, 7, 64, UINT16_MAX };
	uint32_t seed = 1;

	(void)state;
	for (unsigned int order = 0; order < 3; order++) {
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
			struct codemap_event event = { .kind = CODEMAP_METHOD };
			struct code_methods m;
			struct java_frame frame;

			for (uint32_t i = 0; i < counts[c]; i++) {
				const uint16_t bcis[] = { (uint16_t)i, (uint16_t)(UINT16_MAX - i),
							  (uint16_t)((seed >> 8) % 50) };

				seed = seed * 1664525 + 1013904223;
				lines[i] = (struct codemap_line){ bcis[order], (uint16_t)(i + 1) };
			}
			code_methods_init(&m);
			event.method.number = 1;
			event.method.lines = lines;
			event.method.line_count = counts[c];
			code_methods_add(&m, &event);
			for (int32_t bci = -1; bci < 70000; bci += bci < 60 ? 1 : 4001) {
				code_methods_fill_frame(&m, code_methods_find(&m, 1), bci, &frame);
				assert_int_equal(frame.line, line_of(lines, counts[c], bci));
			}
			code_methods_release(&m);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_of_methods),
		cmocka_unit_test(descriptors),
		cmocka_unit_test(a_replay_forgets_old_numbers),
		cmocka_unit_test(lines_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
