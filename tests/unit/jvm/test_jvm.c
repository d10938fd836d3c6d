/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM as it is read from outside: when its tables are looked at, and how often again. */
#include "test.h"

#include <sys/uio.h>

#include "fake_clock.h"
#include "fake_libjvm.h"
#include "jvm/jvm_private.h"

#define MS NSEC_PER_MSEC

struct world {
	struct fake_jvm *f;
	struct jvm *jvm;
};

static int setup_of(void **state, uint32_t release)
{
	const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };
	struct world *w = calloc(1, sizeof(*w));

	fake_begin();
	w->f = fake_library_new(release);
	w->jvm = jvm_new((uint32_t)getpid(), &libjvm, NULL);
	w->jvm->id = 7;
	*state = w;
	return 0;
}

static int setup(void **state)
{
	return setup_of(state, 25);
}

static int setup_17(void **state)
{
	return setup_of(state, 17);
}

static int teardown(void **state)
{
	struct world *w = *state;

	jvm_free(w->jvm);
	fake_library_hide();
	fake_jvm_free(w->f);
	free(w);
	return 0;
}

/* What jvm_get_wire() says after so long. */
static int get_after(struct world *w, uint64_t ns, bool urgent, struct wire_jvm *ret_wire)
{
	fake_advance(ns);
	memset(ret_wire, 0xff, sizeof(*ret_wire));
	return jvm_get_wire(w->jvm, urgent, ret_wire);
}

/* Was its library looked at by a call so much later? */
static bool looked_after(struct world *w, uint64_t ns)
{
	unsigned int before = fake_library.turns;
	struct wire_jvm wire;

	assert_int_equal(get_after(w, ns, false, &wire), -ENODATA);
	return fake_library.turns != before;
}

static bool owns(struct jvm *jvm, uint64_t address)
{
	struct java_answer answer;

	return jvm_find_code(jvm, address, clock_now_ns(), &answer) != JAVA_ELSEWHERE;
}

static void a_jvm_that_is_ready(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;

	assert_int_equal(get_after(w, 0, false, &wire), 0);
	assert_int_equal(wire.serial, 7);
	assert_true(wire.interpreter_start == w->f->interpreter);
	assert_true(wire.enter_return == w->f->enter_return);
	assert_true(owns(w->jvm, w->f->heap));
	assert_false(owns(w->jvm, w->f->heap - 1));
	assert_true(owns(w->jvm, w->f->heap + JVM_RESERVED - 1));
	assert_false(owns(w->jvm, w->f->heap + JVM_RESERVED));
	assert_string_equal(jvm_version(w->jvm), "1.2.3+4");
	assert_false(jvm_has_code_map(w->jvm));
	assert_false(jvm_reads_code_map(w->jvm));
	/* It stays as it was read. */
	fake_library_hide();
	assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), 0);
	assert_true(wire.interpreter_start == w->f->interpreter);
	assert_string_equal(jvm_version(w->jvm), "1.2.3+4");
}

/* What its version is: the tables are read for it. */
static void a_version_is_asked_for_first(void **state)
{
	struct world *w = *state;

	assert_string_equal(jvm_version(w->jvm), "1.2.3+4");
	assert_true(w->jvm->has_layout);
}

static void a_version_that_cannot_be_read(void **state)
{
	struct world *w = *state;

	fake_library_put(w->f, w->f->at_version, 8);
	assert_string_equal(jvm_version(w->jvm), "");
	assert_true(w->jvm->has_layout);
}

/* While it starts: after 20, 40, 80 … ms, and at last every 5 s. */
static void a_jvm_that_starts_is_looked_at_ever_less_often(void **state)
{
	struct world *w = *state;
	uint64_t wait_ns = 20 * MS;

	w->jvm->made_ns += 3600 * NSEC_PER_SEC; /* as if it had just been made, all the time */
	fake_advance(3600 * NSEC_PER_SEC);
	fake_library_put(w->f, w->f->at_code, 0);
	assert_true(looked_after(w, 0));
	for (unsigned int i = 0; i < 12; i++) {
		w->jvm->made_ns += 10 * NSEC_PER_SEC;
		assert_false(looked_after(w, wait_ns - 1));
		assert_true(looked_after(w, 1));
		wait_ns = MIN(wait_ns * 2, 5 * NSEC_PER_SEC);
	}
	assert_true(wait_ns == 5 * NSEC_PER_SEC);
}

/* A sample that waits for it does not wait for that. */
static void a_jvm_that_starts_and_is_sampled(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;

	fake_library_put(w->f, w->f->at_code, 0);
	assert_int_equal(get_after(w, 0, false, &wire), -ENODATA);
	fake_library_put(w->f, w->f->at_code, w->f->queue);
	assert_int_equal(get_after(w, 0, false, &wire), -ENODATA);
	assert_int_equal(get_after(w, 0, true, &wire), 0);
	assert_true(wire.interpreter_start == w->f->interpreter);
	assert_int_equal(wire.serial, 7);
}

/* A starting JVM is never given up, however long it takes. */
static void a_jvm_that_starts_slowly(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;

	fake_library_put(w->f, w->f->at_code, 0);
	assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), -ENODATA);
	assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), -ENODATA);
	fake_library_put(w->f, w->f->at_code, w->f->queue);
	assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), 0);
	assert_true(wire.interpreter_start == w->f->interpreter);
}

static void expect_no_layout(struct world *w, const struct wire_jvm *wire)
{
	struct wire_jvm none = { .serial = 7 };

	assert_memory_equal(wire, &none, sizeof(none));
	assert_true(w->jvm->no_layout);
	assert_false(w->jvm->has_layout);
}

/* What is half there looks malformed; after 10 s it is. */
static void a_jvm_that_cannot_be_read(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;
	unsigned int turns;

	fake_library.missing = "gHotSpotVMTypes";
	assert_int_equal(get_after(w, 0, true, &wire), -ENODATA);
	assert_int_equal(get_after(w, 10 * NSEC_PER_SEC, true, &wire), -ENODATA);
	assert_int_equal(get_after(w, 1, true, &wire), 0);
	expect_no_layout(w, &wire);
	/* That is its last word. */
	turns = fake_library.turns;
	fake_library.missing = NULL;
	assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), 0);
	expect_no_layout(w, &wire);
	assert_int_equal(fake_library.turns, turns);
	assert_string_equal(jvm_version(w->jvm), "");
	assert_false(owns(w->jvm, w->f->heap));
}

static void a_jvm_that_may_not_be_read(void **state)
{
	static const int answers[] = { -EPERM, -EACCES };
	struct world *w = *state;
	struct wire_jvm wire;

	for (unsigned int i = 0; i < ARRAY_SIZE(answers); i++) {
		w->jvm->no_layout = false;
		w->jvm->layout_retry_ns = 0;
		fake_library.answer = answers[i];
		assert_int_equal(get_after(w, 0, false, &wire), 0);
		expect_no_layout(w, &wire);
	}
}

/* Its tables are kept over attempts: only the rest is read again. */
static void a_jvm_whose_code_cache_is_not_there_yet(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;

	fake_library_put(w->f, w->f->at_call_stub, 0);
	assert_int_equal(get_after(w, 0, false, &wire), -ENODATA);
	fake_library_put(w->f, w->f->at_call_stub, w->f->call_stub);
	assert_int_equal(get_after(w, 20 * MS, false, &wire), 0);
	assert_int_equal(fake_library.opened, 1);
	assert_true(wire.call_stub_return == w->f->call_stub);
}

/* --- what comes with the first virtual thread --- */

/* Is a stub found that is there for the time of this call only? */
static bool refreshed_after(struct world *w, uint64_t ns, bool urgent)
{
	struct wire_jvm wire;
	bool found;

	fake_library_put(w->f, w->f->at_enter, w->f->enter_return);
	assert_int_equal(get_after(w, ns, urgent, &wire), 0);
	assert_int_equal(wire.serial, 7);
	found = wire.enter_return == w->f->enter_return;
	assert_true(found || !wire.enter_return);
	fake_library_put(w->f, w->f->at_enter, 0);
	if (found) {
		w->jvm->layout.provisional = true;
		w->jvm->layout.wire.enter_return = 0;
	}
	return found;
}

static void a_layout_is_refreshed_every_200_ms(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;

	fake_library_put(w->f, w->f->at_enter, 0);
	assert_int_equal(get_after(w, 0, false, &wire), 0);
	assert_int_equal(wire.enter_return, 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_false(refreshed_after(w, 200 * MS - 1, false));
		assert_true(refreshed_after(w, 1, false));
	}
	/* For a sample that waits, at once: looking takes no time here. */
	assert_false(refreshed_after(w, 1, false));
	assert_true(refreshed_after(w, 0, true));
	assert_true(refreshed_after(w, 0, true));
}

/* Reading the memory of a process takes this long. */
static uint64_t read_takes_ns;

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long count,
			 const struct iovec *remote, unsigned long remote_count,
			 unsigned long flags)
{
	fake_advance(read_takes_ns);
	return syscall(SYS_process_vm_readv, pid, local, count, remote, remote_count, flags);
}

/* 1 % of the time at most, 10 % while samples wait. */
static void a_search_that_takes_long_is_made_seldom(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;
	uint64_t begun_ns, took_ns;

	fake_library_put(w->f, w->f->at_enter, 0);
	assert_int_equal(get_after(w, 0, false, &wire), 0);
	read_takes_ns = 10 * MS;
	for (unsigned int i = 0; i < 4; i++) {
		bool urgent = i % 2;

		begun_ns = w->jvm->layout_retry_ns + (urgent ? 0 : w->jvm->layout_wait_ns);
		fake_advance(begun_ns - clock_now_ns());
		assert_true(refreshed_after(w, 0, urgent));
		took_ns = clock_now_ns() - begun_ns;
		assert_true(took_ns >= 10 * MS && took_ns < 100 * MS);
		/* 10 times as long for a sample, 110 times for nobody. */
		assert_false(refreshed_after(w, 9 * took_ns - 1, true));
		assert_false(refreshed_after(w, 0, false));
		assert_true(w->jvm->layout_retry_ns == begun_ns + 10 * took_ns);
		assert_true(w->jvm->layout_wait_ns == 100 * took_ns);
	}
	read_takes_ns = 0;
}

/* A JVM without virtual threads, and one that has all: nothing is read again. */
static void a_layout_that_is_whole_is_not_refreshed(void **state)
{
	struct world *w = *state;
	struct wire_jvm wire;

	assert_int_equal(get_after(w, 0, false, &wire), 0);
	assert_false(w->jvm->layout.provisional);
	fake_library_put(w->f, w->f->at_call_stub, w->f->call_stub + 8);
	assert_int_equal(get_after(w, NSEC_PER_SEC, true, &wire), 0);
	assert_true(wire.call_stub_return == w->f->call_stub);
}

/* --- names --- */

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

/* --- the main class --- */

static void a_main_class_is_asked_for_until_there_are_tables(void **state)
{
	struct world *w = *state;

	fake_library_put(w->f, w->f->at_code, 0);
	assert_string_equal(jvm_main_class(w->jvm), "");
	assert_false(w->jvm->no_main_class);
	fake_library_put(w->f, w->f->at_code, w->f->queue);
	fake_advance(20 * MS);
	assert_string_equal(jvm_main_class(w->jvm), "");
	assert_true(w->jvm->no_main_class);
	assert_true(w->jvm->has_layout);
}

#define TEST(fn)    cmocka_unit_test_setup_teardown(fn, setup, teardown)
#define TEST_17(fn) cmocka_unit_test_setup_teardown(fn, setup_17, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_jvm_that_is_ready),
		TEST(a_version_is_asked_for_first),
		TEST(a_version_that_cannot_be_read),
		TEST(a_jvm_that_starts_is_looked_at_ever_less_often),
		TEST(a_jvm_that_starts_and_is_sampled),
		TEST(a_jvm_that_starts_slowly),
		TEST(a_jvm_that_cannot_be_read),
		TEST(a_jvm_that_may_not_be_read),
		TEST(a_jvm_whose_code_cache_is_not_there_yet),
		TEST(a_layout_is_refreshed_every_200_ms),
		TEST(a_search_that_takes_long_is_made_seldom),
		TEST(a_layout_that_is_whole_is_not_refreshed),
		TEST_17(names_of_stubs),
		TEST_17(names_of_interpreted_frames),
		TEST_17(names_of_compiled_frames),
		TEST(a_main_class_is_asked_for_until_there_are_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
