/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The name of a hostile JVM's method: what leads there, its name, class, descriptor, file and lines are somebody's making. The input's first byte
 * says for which release, and how it is asked; the rest changes the memory (memory_changes.h).
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "method_fixture.h"

static struct fixture *f;

static struct fake_memory *memory(void)
{
	return &f->fake;
}

#include "memory_changes.h"

enum { FORM_SOURCE_OF_CLASS = 1, FORM_WITHOUT_IDENTITY = 2, FORM_AHEAD = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t most)
{
	size_t len = text ? strlen(text) : 0;

	assert_true(len <= most);
	for (size_t i = 0; i < len; i++)
		assert_true((unsigned char)text[i] >= ' ');
}

/* Names are cut; a byte becomes three at most where it was no text, and a class or descriptor that is spelled out grows. */
static void check_frame(const struct java_frame *frame)
{
	check_text(frame->class_name, 65536);
	check_text(frame->method, 65536);
	check_text(frame->source, 65536);
	check_text(frame->descriptor, JAVA_MAX_DESCRIPTOR * 3);
	assert_true(frame->bci >= -1);
}

static void take_named(unsigned int index, int error, const struct java_frame *frame, void *data)
{
	unsigned int *calls = data;

	assert_true(index < 3 && (error != 0) == (frame == NULL));
	if (frame)
		check_frame(frame);
	++*calls;
}

static void follow(void)
{
	const struct method_place places[] = { { f->method, -1 },
					       { f->method, 4 },
					       { f->pool, 0 } };
	unsigned int calls = 0;

	method_names_follow(f->names, places, ARRAY_SIZE(places), take_named, &calls);
	assert_true(calls == ARRAY_SIZE(places));
	method_names_forget_unproven(f->names);
}

/* Twice: the second answer is what was kept of the first, or a new one. */
static void find_twice(uint64_t its_identity)
{
	struct java_frame frame;

	for (unsigned int i = 0; i < 2; i++) {
		method_names_note(f->names, f->method, f->const_method, its_identity);
		if (method_names_find(f->names, f->method, f->const_method, its_identity,
				      bcp(f, 4 + i), &frame) == 0)
			check_frame(&frame);
		(void)method_names_was_another(f->names, f->method, f->const_method, its_identity);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_layout layout = layout_17;
	uint64_t its_identity;

	if (size < 3)
		return 0;
	if (data[0] & FORM_SOURCE_OF_CLASS) {
		layout.pool_source_index = JVM_LAYOUT_ABSENT;
		layout.klass_source_index = 200;
	}
	f = fixture_new(&layout);
	its_identity = data[0] & FORM_WITHOUT_IDENTITY ? 0 : identity(f);
	changes_begin();
	method_names_free(f->names);
	f->names = method_names_new(&f->fake.memory, &f->layout);
	changes_apply(data, size);
	if (data[0] & FORM_AHEAD)
		follow();
	find_twice(its_identity);
	follow();
	method_names_free(f->names);
	free(f);
	return 0;
}
