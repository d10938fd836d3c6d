/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libjvm that are called where a virtual thread leaves its carrier and comes back: by the code of the stubs that call them. */
#include "test.h"

#include <errno.h>

#include "jvm/continuation/jvm_yielding.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm_fixture.h"

/* Where the arguments of the calls are, in doYield's code and before the barrier. */
#define YIELD_AT   46
#define THAW_AT	   (-50)
#define LIB_BYTES  0x1000000
#define FREEZE	   0x5130
#define PREPARE	   0x6f3f0
#define LIB_OFFSET 0x10000000

struct world {
	struct fake_jvm *f;
	struct jvm_layout layout;
	uint64_t yield; /* doYield's code */
	uint64_t lib;
	struct jvm_yield_code code;
};

static void put(struct world *w, uint64_t at, const void *bytes, size_t len)
{
	fake_put(&w->f->vm.fake, at, bytes, len);
}

static void put_near_call(struct world *w, uint64_t at, uint64_t target)
{
	put(w, at, "\xe8", 1);
	jvm_put_i32(w->f, at + 1, (int32_t)(int64_t)(target - (at + 5)));
}

static void put_far_call(struct world *w, uint64_t at, uint64_t target)
{
	put(w, at, "\x49\xba", 2);
	put(w, at + 2, &target, sizeof(target));
	put(w, at + 10, "\x41\xff\xd2", 3);
}

/* test $15,%spl and je; sub $8,%rsp and the call; add $8,%rsp. */
static void put_aligned_call(struct world *w, uint64_t at, uint64_t target)
{
	put(w, at, "\x40\xf6\xc4\x0f\x0f\x84\x12\0\0\0\x48\x83\xec\x08", 14);
	put_near_call(w, at + 14, target);
	put(w, at + 19, "\x48\x83\xc4\x08", 4);
}

static int setup(void **state)
{
	static const uint8_t yield_arguments[] = { 0x49, 0x8b, 0xff, 0x48, 0x8b, 0xf4 };
	static const uint8_t thaw_arguments[] = { 0x49, 0x8b, 0xff, 0xbe, 0, 0, 0, 0 };
	struct world *w = calloc(1, sizeof(*w));
	struct err err = { 0 };

	*state = w;
	w->f = fake_jvm_new(25, false);
	w->lib = w->f->barrier + LIB_OFFSET;
	/* Another frame with such a call. */
	w->yield = jvm_add_blob(w->f, "native nmethod", 4, 200);
	put(w, w->yield + YIELD_AT, yield_arguments, sizeof(yield_arguments));
	put_near_call(w, w->yield + YIELD_AT + 6, w->lib + 8);
	w->yield = jvm_add_blob(w->f, "native nmethod", 2, 200);
	put(w, w->yield + YIELD_AT, yield_arguments, sizeof(yield_arguments));
	put_aligned_call(w, w->yield + YIELD_AT + 6, w->lib + FREEZE);
	put(w, w->f->barrier + (uint64_t)THAW_AT, thaw_arguments, sizeof(thaw_arguments));
	put_aligned_call(w, w->f->barrier + (uint64_t)THAW_AT + 8, w->lib + PREPARE);
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
	put_far_call(w, w->yield + YIELD_AT + 20, w->lib + FREEZE);
	put_far_call(w, w->f->barrier + (uint64_t)THAW_AT + 22, w->lib + PREPARE);
	assert_int_equal(find(w), 0);
	assert_true(w->code.freeze == w->lib + FREEZE);
	assert_true(w->code.thaw == w->lib + PREPARE);
}

/* JDK 21 has another instruction for the second argument. */
static void a_wider_zero(void **state)
{
	static const uint8_t arguments[] = { 0x49, 0x8b, 0xff, 0x48, 0xc7, 0xc6, 0, 0, 0, 0 };
	struct world *w = *state;

	put(w, w->f->barrier + (uint64_t)THAW_AT - 2, arguments, sizeof(arguments));
	assert_int_equal(find(w), 0);
	assert_true(w->code.thaw == w->lib + PREPARE);
	put(w, w->f->barrier + (uint64_t)THAW_AT + 4, "\x01", 1);
	assert_int_equal(find(w), -EOPNOTSUPP);
}

/* What is called has to be the library's, and not far behind the arguments. */
static void a_call_of_something_else(void **state)
{
	struct world *w = *state;

	put_near_call(w, w->yield + YIELD_AT + 20, w->lib - 1);
	assert_int_equal(find(w), -EAGAIN);
	put_near_call(w, w->yield + YIELD_AT + 20, w->lib + LIB_BYTES);
	assert_int_equal(find(w), -EAGAIN);
	put_near_call(w, w->yield + YIELD_AT + 20, w->lib + LIB_BYTES - 1);
	put_near_call(w, w->f->barrier + (uint64_t)THAW_AT + 22, w->lib - 1);
	assert_int_equal(find(w), -EOPNOTSUPP);
	put_near_call(w, w->f->barrier + (uint64_t)THAW_AT + 22, w->lib);
	assert_int_equal(find(w), 0);
	assert_true(w->code.freeze == w->lib + LIB_BYTES - 1);
	assert_true(w->code.thaw == w->lib);
	put(w, w->yield + YIELD_AT + 20, "\x90", 1);
	put_near_call(w, w->yield + YIELD_AT + 54, w->lib + FREEZE);
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
		put(w, w->f->barrier + (uint64_t)THAW_AT + i, "\x91", 1);
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
	put(w, w->yield + YIELD_AT, "\x90", 1);
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
