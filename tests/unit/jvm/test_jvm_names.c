/* SPDX-License-Identifier: Apache-2.0 */
/* Names of a JVM that is read from outside: what they are of, and what they may cost. */
#include "test.h"

#include "jvm_outside.h"

static enum java_lookup find_compiled(struct jvm *jvm, const uint64_t *words,
				      struct java_frame *ret_frame, const char **ret_stub)
{
	struct java_answer answer = { 0 };
	enum java_lookup found = jvm_find_compiled(jvm, words, &answer);

	*ret_frame = answer.frames[0];
	*ret_stub = answer.stub;
	return found;
}

static enum java_lookup find_interpreted(struct jvm *jvm, const uint64_t *words,
					 struct java_frame *ret_frame)
{
	struct java_answer answer = { 0 };
	enum java_lookup found = jvm_find_interpreted(jvm, words, &answer);

	*ret_frame = answer.frames[0];
	return found;
}

static void names_of_stubs(void **state)
{
	struct world *w = *state;
	uint64_t words[WIRE_COMPILED_WORDS] = { 0 };
	struct java_frame frame;
	const char *stub = NULL;

	words[0] = w->f->interpreter + 100;
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_STUB);
	assert_string_equal(stub, "Interpreter");
	words[0] |= ~WIRE_FRAME_ADDRESS_MASK; /* what a frame is stands above its address */
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_STUB);
	words[0] = w->f->call_stub;
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_STUB);
	assert_string_equal(stub, "call_stub");
	/* Not in the code cache. */
	words[0] = 0x1000;
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_EVICTED);
}

static uint64_t add_symbol(struct fake_jvm *f, const char *text)
{
	uint64_t symbol = fake_alloc(&f->vm.fake, 6 + strlen(text) + 1);

	fake_put_u16(&f->vm.fake, symbol + 4, (uint16_t)strlen(text));
	fake_put(&f->vm.fake, symbol + 6, text, strlen(text));
	return symbol;
}

/* pkg.A.run, with 9 bytes of code, as the fixture's offsets have it; a Method. */
static uint64_t add_method(struct fake_jvm *f, uint64_t *ret_const_method)
{
	struct fake_memory *fake = &f->vm.fake;
	uint64_t method = fake_alloc(fake, 64), const_method = fake_alloc(fake, 128);
	uint64_t pool = fake_alloc(fake, 128), klass = fake_alloc(fake, 64);

	fake_put_u64(fake, method + 8, const_method);
	fake_put_u64(fake, const_method + 8, pool);
	fake_put_u16(fake, const_method + 32, 9);
	fake_put_u16(fake, const_method + 34, 3);
	fake_put_u64(fake, pool + 24, klass);
	fake_put_u64(fake, pool + 72 + 3 * 8, add_symbol(f, "run"));
	fake_put_u64(fake, klass + 24, add_symbol(f, "pkg/A"));
	*ret_const_method = const_method;
	return method;
}

static uint64_t word_at(const struct fake_jvm *f, uint64_t address)
{
	uint64_t word;

	memcpy(&word, f->vm.fake.bytes + (address - FAKE_BASE), sizeof(word));
	return word;
}

/* As the fixture's offsets have it, and a Symbol of JDK 17. */
static uint64_t identity_of(const struct fake_jvm *f, uint64_t const_method)
{
	uint64_t pool = word_at(f, const_method + 8), klass = word_at(f, pool + 24);
	uint64_t symbol = word_at(f, klass + 24), word = word_at(f, symbol);

	return WIRE_METHOD_IDENTITY(WIRE_CLASS_IDENTITY(symbol, word, 0xffffffffffff0000ULL),
				    word_at(f, const_method + 32));
}

static void expect_run(const struct java_frame *frame, int bci)
{
	assert_string_equal(frame->class_name, "pkg.A");
	assert_string_equal(frame->method, "run");
	assert_string_equal(frame->source, "");
	assert_int_equal(frame->bci, bci);
}

static void names_of_interpreted_frames(void **state)
{
	struct world *w = *state;
	uint64_t const_method, words[WIRE_INTERPRETED_WORDS] = { 0 };
	struct java_frame frame;

	words[1] = add_method(w->f, &const_method);
	words[2] = const_method;
	words[3] = const_method + 56 + 8;
	fake_library_show(w->f);
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	expect_run(&frame, 8);
	/* It has no ninth byte. */
	words[3]++;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	expect_run(&frame, -1);
	/* It has other code by now; it was of another class. */
	words[2] += 8;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_EVICTED);
	words[2] -= 8;
	words[4] = 1;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_EVICTED);
	/* That is no method. */
	words[1] = words[4] = 0;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_UNKNOWN);
}

/* A walk that was finished later has the method of later. */
static void names_of_late_frames(void **state)
{
	struct world *w = *state;
	uint64_t const_method, other, words[WIRE_INTERPRETED_WORDS] = { 0 };
	struct java_frame frame;

	words[1] = add_method(w->f, &const_method);
	add_method(w->f, &other);
	words[2] = const_method;
	words[4] = identity_of(w->f, const_method);
	fake_library_show(w->f);
	words[0] = WIRE_FRAME_LATE;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	words[0] = 0;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	/* Another has its place. Who was late may have seen the first one. */
	fake_library_put(w->f, words[1] + 8, other);
	words[2] = other;
	words[4] = identity_of(w->f, other);
	words[0] = WIRE_FRAME_LATE;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_EVICTED);
	words[0] = 0;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	expect_run(&frame, -1);
	words[0] = WIRE_FRAME_LATE;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_EVICTED);
	/* Who was late himself has shown nothing. */
	words[1] = add_method(w->f, &words[2]);
	words[4] = identity_of(w->f, words[2]);
	fake_library_show(w->f);
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	fake_library_put(w->f, words[1] + 8, other);
	words[0] = 0;
	words[2] = other;
	words[4] = identity_of(w->f, other);
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
	words[0] = WIRE_FRAME_LATE;
	assert_int_equal(find_interpreted(w->jvm, words, &frame), JAVA_FRAMES);
}

/* Who shows other methods each time has two seconds of our time, and a quarter of what passes. */
static void names_that_take_too_long(void **state)
{
	enum { METHODS = 80 };
	struct world *w = *state;
	uint64_t words[METHODS][WIRE_INTERPRETED_WORDS] = { { 0 } }, begun_ns, before;
	struct java_frame frame;
	unsigned int named = 0;
	uint32_t pid;

	for (unsigned int i = 0; i < METHODS; i++)
		words[i][1] = add_method(w->f, &words[i][2]);
	fake_library_show(w->f);
	assert_true(jvm_has_layout(w->jvm));
	before = jvm_frames_unnamed(&pid);
	begun_ns = clock_now_ns();
	read_takes_ns = 10 * MS;
	while (named < METHODS && find_interpreted(w->jvm, words[named], &frame) == JAVA_FRAMES)
		named++;
	assert_in_range(clock_now_ns() - begun_ns, 2 * NSEC_PER_SEC, 3 * NSEC_PER_SEC);
	assert_in_range(named, 10, METHODS - 2);
	assert_int_equal(jvm_frames_unnamed(&pid), before + 1);
	assert_int_equal(pid, getpid());
	/* Also what is known already: that would be looked up without an end, too. */
	assert_int_equal(find_interpreted(w->jvm, words[0], &frame), JAVA_UNKNOWN);
	fake_advance(NSEC_PER_SEC);
	assert_int_equal(find_interpreted(w->jvm, words[named], &frame), JAVA_FRAMES);
	expect_run(&frame, -1);
	read_takes_ns = 0;
}

static void names_of_compiled_frames(void **state)
{
	struct world *w = *state;
	struct fake_jvm *f = w->f;
	uint64_t const_method, words[WIRE_COMPILED_WORDS] = { 0 }, code, first;
	uint64_t method = add_method(f, &const_method), map = fake_alloc(&f->vm.fake, 128);
	struct java_frame frame;
	const char *stub = NULL;

	code = jvm_add_blob(f, "nmethod", 6, 256);
	fake_put_u64(&f->vm.fake, code - 320 + 112, method);
	jvm_put_i32(f, code - 320 + 304, 77);
	fake_put_u64(&f->vm.fake, f->heap_object + 136, map);
	first = (code - 320 - f->heap) / JVM_SEGMENT;
	for (unsigned int i = 0; i < 4; i++)
		fake_put(&f->vm.fake, map + first + i, &(uint8_t){ (uint8_t)i }, 1);
	fake_library_show(f);
	words[0] = code + 100;
	words[1] = 77;
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_FRAMES);
	assert_null(stub);
	expect_run(&frame, -1);
	/* What else stands in the words is not looked at. */
	words[0] |= ~WIRE_FRAME_ADDRESS_MASK;
	words[1] |= 1ULL << 32;
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_FRAMES);
	expect_run(&frame, -1);
	words[1] = 78;
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_EVICTED);
	/* It has no name to tell what it is by. */
	fake_library_put(f, code - 320 + 96, 8);
	assert_int_equal(find_compiled(w->jvm, words, &frame, &stub), JAVA_UNKNOWN);
}

#define TEST_17(fn) cmocka_unit_test_setup_teardown(fn, setup_17, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST_17(names_of_stubs),	   TEST_17(names_of_interpreted_frames),
		TEST_17(names_of_late_frames),	   TEST_17(names_that_take_too_long),
		TEST_17(names_of_compiled_frames),
	};

	return cmocka_run_group_tests_name("jvm_names", tests, NULL, NULL);
}
