/* SPDX-License-Identifier: Apache-2.0 */
/* Stubs of continuations that a JVM does not tell of: which code is taken for them, and which not. */
#include "test.h"

#include "jvm/continuation/jvm_continuations.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm_fixture.h"

struct world {
	struct fake_jvm *f;
	struct jvm_layout layout;
	uint64_t thaw; /* the continuation stubs' first byte */
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));
	struct err err = { 0 };

	w->f = fake_jvm_new(21, true);
	w->thaw = w->f->barrier - 62;
	*state = w;
	return jvm_layout_read(w->f->vm.vs, &w->layout, &err);
}

static int teardown(void **state)
{
	struct world *w = *state;

	fake_jvm_free(w->f);
	free(w);
	return 0;
}

static void find(struct world *w, uint64_t known_barrier, uint64_t known_enter)
{
	w->layout.wire.return_barrier = known_barrier;
	w->layout.wire.enter_return = known_enter;
	jvm_continuations_find(w->f->vm.vs, &w->layout);
}

static void expect(struct world *w, uint64_t barrier, uint64_t enter)
{
	find(w, 0, 0);
	assert_true(w->layout.wire.return_barrier == barrier);
	assert_true(w->layout.wire.enter_return == enter);
}

static void put_byte(struct world *w, uint64_t at, uint8_t byte)
{
	fake_put(&w->f->vm.fake, at, &byte, 1);
}

/* A call of TARGET at AT, with the nop that marks it. */
static void put_call(struct world *w, uint64_t at, uint64_t target)
{
	static const uint8_t call[] = { 0xe8, 0, 0, 0, 0, 0x0f, 0x1f, 0x84, 0x00 };

	fake_put(&w->f->vm.fake, at, call, sizeof(call));
	jvm_put_i32(w->f, at + 1, (int32_t)(int64_t)(target - (at + 5)));
}

static void put_name(struct world *w, uint64_t code, const char *name)
{
	fake_put_u64(&w->f->vm.fake, code - 320 + 96, fake_string(&w->f->vm.fake, name));
}

static void both_are_found(void **state)
{
	struct world *w = *state;

	expect(w, w->f->barrier, w->f->enter_return);
}

/* What the JVM tells is not looked for. */
static void what_is_known_stays(void **state)
{
	struct world *w = *state;

	find(w, 0x1234, 0x5678);
	assert_true(w->layout.wire.return_barrier == 0x1234);
	assert_true(w->layout.wire.enter_return == 0x5678);
	find(w, 0x1234, 0);
	assert_true(w->layout.wire.return_barrier == 0x1234);
	assert_true(w->layout.wire.enter_return == w->f->enter_return);
	find(w, 0, 0x5678);
	assert_true(w->layout.wire.return_barrier == w->f->barrier);
	assert_true(w->layout.wire.enter_return == 0x5678);
}

/* --- the barrier --- */

/* pop, ret and the load: without one of them it is another stub; then the second one counts. */
static void a_barrier_is_behind_a_return(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < 5; i++) {
		struct fake_memory kept = w->f->vm.fake;

		put_byte(w, w->thaw + 60 + i, 0x90);
		find(w, 0, 0);
		assert_true(w->layout.wire.return_barrier == w->thaw + 162);
		w->f->vm.fake = kept;
	}
	put_byte(w, w->thaw + 60, 0x90);
	put_byte(w, w->thaw + 160, 0x90);
	expect(w, 0, 0);
}

/* Only in the stubs of that name, of which the first are looked at. */
static void a_barrier_is_in_stubs_of_its_name(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} cases[] = {
		{ "StubRoutines (continuation stubs)", true },
		{ "StubRoutines (continuation", true },
		{ "StubRoutines (continuatio", false },
		{ "StubRoutines (1)", false },
		{ "nmethod", false },
	};
	struct world *w = *state;

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		put_name(w, w->thaw, cases[i].name);
		expect(w, cases[i].is ? w->f->barrier : 0, cases[i].is ? w->f->enter_return : 0);
	}
}

/* They are the call stub's neighbours: in another heap nothing is looked for. */
static void a_barrier_is_in_the_heap_of_the_call_stub(void **state)
{
	struct world *w = *state;
	struct wire_jvm *wire = &w->layout.wire;

	wire->heaps[1] = wire->heaps[0];
	wire->heaps[1].start = wire->heaps[0].end = w->thaw - 320 - 16;
	wire->heap_count = 2;
	expect(w, 0, 0);
	wire->call_stub_return = w->thaw;
	expect(w, w->f->barrier, w->f->enter_return);
}

/* A blob of SIZE bytes from ADDRESS on is one block of its heap. */
static void resize(struct world *w, uint64_t code, uint32_t code_bytes)
{
	uint64_t blob = code - 320;

	jvm_put_i32(w->f, blob + 12, (int32_t)(320 + code_bytes));
	jvm_put_i32(w->f, blob - 16,
		    (int32_t)((16 + 320 + code_bytes + JVM_SEGMENT - 1) / JVM_SEGMENT));
}

static void stubs_of_an_impossible_size(void **state)
{
	struct world *w = *state;

	resize(w, w->thaw, 16384);
	expect(w, w->f->barrier, 0); /* enterSpecial lies within it now */
	resize(w, w->thaw, 16385);
	expect(w, 0, 0);
	/* The last bytes count, and none behind them. */
	put_byte(w, w->thaw + 60, 0x90);
	resize(w, w->thaw, 165);
	expect(w, w->thaw + 162, 0);
	resize(w, w->thaw, 164);
	expect(w, 0, 0);
}

/* --- enterSpecial --- */

static void enter_special_is_a_native_wrapper(void **state)
{
	struct world *w = *state;
	uint64_t code = w->f->enter_nmethod;

	jvm_put_i32(w->f, code - 320 + 28, 0);
	expect(w, w->f->barrier, 0);
	jvm_put_i32(w->f, code - 320 + 28, 1);
	expect(w, w->f->barrier, w->f->enter_return);
	put_name(w, code, "native nmethod 2");
	expect(w, w->f->barrier, 0);
	put_name(w, code, "nmethod");
	expect(w, w->f->barrier, 0);
}

/* A call of the thaw stub: from its first byte to the barrier. */
static void enter_special_calls_the_thaw_stub(void **state)
{
	struct world *w = *state;
	uint64_t at = w->f->enter_nmethod + 90;

	put_call(w, at, w->thaw - 1);
	expect(w, w->f->barrier, 0);
	put_call(w, at, w->f->barrier);
	expect(w, w->f->barrier, 0);
	put_call(w, at, w->f->barrier - 1);
	expect(w, w->f->barrier, at + 5);
	put_call(w, at, w->thaw);
	expect(w, w->f->barrier, at + 5);
	for (unsigned int i = 5; i < 9; i++) {
		put_byte(w, at + i, 0x90);
		expect(w, w->f->barrier, 0);
		put_call(w, at, w->thaw);
	}
	put_byte(w, at, 0xe9);
	expect(w, w->f->barrier, 0);
}

/* At the blob's very end, and at its beginning; the first of two counts. */
static void enter_special_may_call_anywhere(void **state)
{
	struct world *w = *state;
	uint64_t code = w->f->enter_nmethod;

	put_byte(w, code + 90, 0x90);
	put_call(w, code + 256 - 9, w->thaw);
	expect(w, w->f->barrier, code + 256 - 4);
	put_call(w, code + 256 - 8, w->thaw);
	expect(w, w->f->barrier, 0);
	put_call(w, code + 100, w->thaw);
	expect(w, w->f->barrier, code + 105);
	put_call(w, code, w->thaw);
	expect(w, w->f->barrier, code + 5);
}

/* --- JavaThread::_cont_entry --- */

static void where_a_thread_keeps_its_entry(void **state)
{
	struct world *w = *state;
	const struct vm_memory *memory = vmstructs_memory(w->f->vm.vs);

	static const struct {
		int32_t offset;
		uint16_t expected;
	} cases[] = {
		{ 1336, 1336 },
		{ 0, 0 },
		{ 1337, WIRE_JVM_ABSENT },
		{ 1340, WIRE_JVM_ABSENT },
		{ 4088, 4088 },
		{ 4096, WIRE_JVM_ABSENT },
		{ -8, WIRE_JVM_ABSENT },
		{ 65536, WIRE_JVM_ABSENT },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		jvm_put_i32(w->f, w->f->barrier + 3, cases[i].offset);
		assert_int_equal(jvm_continuations_entry(memory, w->f->barrier), cases[i].expected);
	}
	jvm_put_i32(w->f, w->f->barrier + 3, 1336);
	for (unsigned int i = 0; i < 3; i++) {
		struct fake_memory kept = w->f->vm.fake;

		put_byte(w, w->f->barrier + i, 0x90);
		assert_int_equal(jvm_continuations_entry(memory, w->f->barrier), WIRE_JVM_ABSENT);
		w->f->vm.fake = kept;
	}
	assert_int_equal(jvm_continuations_entry(memory, 8), WIRE_JVM_ABSENT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(both_are_found),
		TEST(what_is_known_stays),
		TEST(a_barrier_is_behind_a_return),
		TEST(a_barrier_is_in_stubs_of_its_name),
		TEST(a_barrier_is_in_the_heap_of_the_call_stub),
		TEST(stubs_of_an_impossible_size),
		TEST(enter_special_is_a_native_wrapper),
		TEST(enter_special_calls_the_thaw_stub),
		TEST(enter_special_may_call_anywhere),
		TEST(where_a_thread_keeps_its_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
