/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libjvm that are called where a virtual thread leaves its carrier and comes back: by the code of the stubs that call them. */
#include "test.h"

#include <errno.h>

#include "fake_yield_calls.h"
#include "jvm/continuation/jvm_yielding.h"
#include "jvm/layout/jvm_layout_read.h"

struct world {
	struct fake_jvm *f;
	struct jvm_layout layout;
	uint64_t yield; /* doYield's code */
	uint64_t lib;
	struct jvm_yield_code code;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err err = { 0 };

	*state = w;
	w->f = fake_jvm_new(25, false);
	w->lib = w->f->barrier + LIB_OFFSET;
	w->yield = add_yield_calls(w->f, w->lib);
	return jvm_layout_read(w->f->vm.vs, &w->layout, &err);
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_jvm_free(w->f);
	free(w);
	return 0;
}

static int find(struct world *w)
{
	w->code = (struct jvm_yield_code){ 0 };
	return jvm_yield_code_find(w->f->vm.vs, &w->layout, w->lib, w->lib + LIB_BYTES, &w->code);
}

static void both_are_found(void **state)
{
	struct world *w = *state;

	assert_int_equal(find(w), 0);
	assert_true(w->code.freeze == w->lib + FREEZE);
	assert_true(w->code.thaw == w->lib + PREPARE);
	assert_int_equal(w->code.preempt, 0);
}

/* What a variable of the library leads to, where it is in that. */
static void one_for_monitors(void **state)
{
	struct world *w = *state;

	fake_put_u64(&w->f->vm.fake, w->f->at_preempt, w->lib);
	assert_int_equal(find(w), 0);
	assert_true(w->code.preempt == w->lib);
	fake_put_u64(&w->f->vm.fake, w->f->at_preempt, w->lib + LIB_BYTES);
	assert_int_equal(find(w), 0);
	assert_int_equal(w->code.preempt, 0);
	fake_put_u64(&w->f->vm.fake, w->f->at_preempt, w->lib - 1);
	assert_int_equal(find(w), 0);
	assert_int_equal(w->code.preempt, 0);
}

/* Where the library is out of a call's reach. */
static void they_may_be_far(void **state)
{
	struct world *w = *state;

	w->lib = 0x7f1000000000ULL;
	put_far_call(w->f, w->yield + YIELD_AT + 20, w->lib + FREEZE);
	put_far_call(w->f, w->f->barrier + (uint64_t)THAW_AT + 22, w->lib + PREPARE);
	assert_int_equal(find(w), 0);
	assert_true(w->code.freeze == w->lib + FREEZE);
	assert_true(w->code.thaw == w->lib + PREPARE);
}

/* JDK 21 has another instruction for the second argument. */
static void a_wider_zero(void **state)
{
	static const uint8_t arguments[] = { 0x49, 0x8b, 0xff, 0x48, 0xc7, 0xc6, 0, 0, 0, 0 };
	struct world *w = *state;

	put_code(w->f, w->f->barrier + (uint64_t)THAW_AT - 2, arguments, sizeof(arguments));
	assert_int_equal(find(w), 0);
	assert_true(w->code.thaw == w->lib + PREPARE);
	put_code(w->f, w->f->barrier + (uint64_t)THAW_AT + 4, "\x01", 1);
	assert_int_equal(find(w), -EOPNOTSUPP);
}

/* What is called has to be the library's, and not far behind the arguments. */
static void a_call_of_something_else(void **state)
{
	struct world *w = *state;

	put_near_call(w->f, w->yield + YIELD_AT + 20, w->lib - 1);
	assert_int_equal(find(w), -EAGAIN);
	put_near_call(w->f, w->yield + YIELD_AT + 20, w->lib + LIB_BYTES);
	assert_int_equal(find(w), -EAGAIN);
	put_near_call(w->f, w->yield + YIELD_AT + 20, w->lib + LIB_BYTES - 1);
	put_near_call(w->f, w->f->barrier + (uint64_t)THAW_AT + 22, w->lib - 1);
	assert_int_equal(find(w), -EOPNOTSUPP);
	put_near_call(w->f, w->f->barrier + (uint64_t)THAW_AT + 22, w->lib);
	assert_int_equal(find(w), 0);
	assert_true(w->code.freeze == w->lib + LIB_BYTES - 1);
	assert_true(w->code.thaw == w->lib);
	put_code(w->f, w->yield + YIELD_AT + 20, "\x90", 1);
	put_near_call(w->f, w->yield + YIELD_AT + 54, w->lib + FREEZE);
	assert_int_equal(find(w), -EAGAIN);
}

/* Of no other code: its name, its frame and its arguments are looked at. */
static void another_method(void **state)
{
	struct world *w = *state;
	struct fake_memory kept = w->f->vm.fake;

	jvm_put_i32(w->f, w->yield + YIELD_AT + 2, 0);
	assert_int_equal(find(w), -EAGAIN);
	w->f->vm.fake = kept;
	for (uint64_t i = 0; i < 8; i++) {
		put_code(w->f, w->f->barrier + (uint64_t)THAW_AT + i, "\x91", 1);
		assert_int_equal(find(w), -EOPNOTSUPP);
		w->f->vm.fake = kept;
	}
	assert_int_equal(find(w), 0);
}

/* No virtual thread has been made yet; or the JVM has none. */
static void one_without_virtual_threads(void **state)
{
	struct world *w = *state;

	fake_put_u64(&w->f->vm.fake, w->f->at_enter, 0);
	assert_int_equal(find(w), -EAGAIN);
	fake_put_u64(&w->f->vm.fake, w->f->at_enter, w->f->enter_return);
	assert_int_equal(find(w), 0);
	put_code(w->f, w->yield + YIELD_AT, "\x90", 1);
	assert_int_equal(find(w), -EAGAIN);
	w->layout.wire.return_barrier = 0;
	assert_int_equal(find(w), -EOPNOTSUPP);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_are_found),
		TEST(one_for_monitors),
		TEST(they_may_be_far),
		TEST(a_call_of_something_else),
		TEST(a_wider_zero),
		TEST(another_method),
		TEST(one_without_virtual_threads),
	};

	return cmocka_run_group_tests_name("jvm_yielding", tests, NULL, NULL);
}
