/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM as it is read from outside: when its tables are looked at, and how often again. */
#include "test.h"

#include "jvm_outside.h"

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
	assert_string_equal(w->jvm->why, "");
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
	assert_non_null(strstr(w->jvm->why, "is not HotSpot's: no VMStructs"));
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

/* Nor is one given up that may not be asked just now, or whose reader was late. */
static void a_jvm_that_is_busy(void **state)
{
	static const int answers[] = { -EBUSY, -ETIMEDOUT, -ECHILD };
	struct world *w = *state;
	struct wire_jvm wire;

	for (unsigned int i = 0; i < ARRAY_SIZE(answers); i++) {
		fake_library.answer = answers[i];
		assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), -ENODATA);
	}
	fake_library.answer = 0;
	assert_int_equal(get_after(w, 100 * NSEC_PER_SEC, true, &wire), 0);
	assert_true(wire.interpreter_start == w->f->interpreter);
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

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

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
		TEST(a_jvm_that_is_busy),
		TEST(a_jvm_whose_code_cache_is_not_there_yet),
		TEST(a_layout_is_refreshed_every_200_ms),
		TEST(a_search_that_takes_long_is_made_seldom),
		TEST(a_layout_that_is_whole_is_not_refreshed),
		TEST(a_main_class_is_asked_for_until_there_are_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
