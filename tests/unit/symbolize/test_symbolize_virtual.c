// SPDX-License-Identifier: Apache-2.0
/* Names of virtual threads, which come with their samples. */
#include "compilation_text.h"
#include "symbolize_parts.h"

static void assert_thread(struct fixture *f, const char *name, uint32_t java_tid)
{
	const struct symbolized found[] = {
		symbolizer_take(f->symbolizer, &f->profile, &f->process, &f->sample),
		symbolizer_take_now(f->symbolizer, &f->profile, &f->process, &f->sample),
		symbolizer_take_now(f->symbolizer, &f->profile, NULL, &f->sample),
	};

	for (size_t i = 0; i < ARRAY_SIZE(found); i++) {
		assert_string_equal(profile_get_string(&f->profile, found[i].thread_name), name);
		assert_int_equal(found[i].java_tid, java_tid);
		assert_int_equal(found[i].is_virtual, java_tid != 0);
	}
}

static void put_virtual(struct fixture *f, uint64_t id, const void *name, uint16_t bytes,
			uint8_t width)
{
	struct wire_sample *s = &f->sample;
	size_t words = (size_t)s->kernel_frames + s->user_words;

	s->virtual_id = id;
	s->name_bytes = bytes;
	s->name_width = width;
	memcpy(s->words + words, name, bytes);
	s->size = (uint32_t)(sizeof(*s) + 8 * (words + WIRE_NAME_WORDS(bytes)));
}

/* What came with the sample, whoever carries it. */
static void a_virtual_threads_name(void **state)
{
	static const uint8_t wide[] = { 0xe5, 0x65, 'x', 0 };
	struct fixture *f = *state;

	set_words(f, (uint64_t[4]){ 0 }, (uint64_t[12]){ 0x1234 | WIRE_FRAME_EXACT });
	memcpy(f->sample.comm, "ForkJoinPool-1-w", sizeof(f->sample.comm));
	parts.is_jvm = true;
	put_virtual(f, 4711, "request\xe9", 8, 1);
	assert_thread(f, "request\xc3\xa9", 4711);
	put_virtual(f, 4712, wide, 4, 2);
	assert_thread(f, "\xe6\x97\xa5x", 4712);
	put_virtual(f, 4713, "", 0, 0);
	assert_thread(f, "VirtualThread", 4713);
	put_virtual(f, 0, "", 0, 0);
	assert_thread(f, "ForkJoinPool-1-w", 0);
}

/* What stands there is the class that the thread has loaded. */
static void one_that_loads_a_class(void **state)
{
	struct fixture *f = *state;

	set_words(f, (uint64_t[4]){ 0 }, (uint64_t[12]){ 0x1234 | WIRE_FRAME_EXACT });
	parts.is_jvm = true;
	put_class_load(&f->sample, "a/b/Loaded");
	f->sample.virtual_id = 4711;
	assert_thread(f, "VirtualThread", 4711);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_that_loads_a_class, setup, teardown),
		cmocka_unit_test_setup_teardown(a_virtual_threads_name, setup, teardown),
	};

	return cmocka_run_group_tests_name("symbolize_virtual", tests, NULL, NULL);
}
