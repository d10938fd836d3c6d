/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* The method that a thread compiles: by the ciEnv on its own stack, or none. */
#include "test.h"

#include "blob_world.h"

#define FS_AT	0x7f0050000000ULL
#define META_AT 0x7f0060000000ULL
#define MASK	0xffffffffffff0000ULL

/* Offsets of the fields. */
#define SELF	   16
#define STACK_BASE 8
#define STACK_SIZE 16
#define ENV	   24
#define TASK	   40
#define METHOD	   8
#define OSR_BCI	   28

/* What lies where. */
#define ENV_AT	     (STACK_AT + 1024)
#define TASK_AT	     (META_AT + 64)
#define METHOD_AT    (META_AT + 128)
#define CONST_METHOD (META_AT + 192)
#define POOL	     (META_AT + 256)
#define HOLDER	     (META_AT + 320)
#define SYMBOL	     (META_AT + 384)

static uint64_t pthread[8], meta[64];
static const struct piece pieces[] = {
	BLOB_PIECES,
	{ FS_AT, pthread, sizeof(pthread) },
	{ META_AT, meta, sizeof(meta) },
};

static int read_piece(const void *data, uint64_t address, void *dst, size_t len)
{
	(void)data;
	return read_one_of(pieces, ARRAY_SIZE(pieces), address, dst, len);
}

static struct unwind_memory memory = { .read = read_piece };

static void put(uint64_t address, uint64_t value)
{
	meta[(address - META_AT) / 8] = value;
}

static void put_osr_bci(int32_t bci)
{
	memcpy((uint8_t *)meta + (TASK_AT + OSR_BCI - META_AT), &bci, sizeof(bci));
}

static void begin(void)
{
	memset(&cursor, 0, sizeof(cursor));
	memset(pthread, 0, sizeof(pthread));
	memset(meta, 0, sizeof(meta));
	memset(stack, 0, sizeof(stack));
	put_heap(&cursor.jvm);
	cursor.jvm.method_const_method = cursor.jvm.const_method_constants = 8;
	cursor.jvm.pool_holder = cursor.jvm.klass_name = 16;
	cursor.jvm.symbol_mask = MASK;
	cursor.jvm.own = (struct wire_own_thread){ .self = SELF,
						   .stack_base = STACK_BASE,
						   .stack_size = STACK_SIZE };
	cursor.jvm.compiling = (struct wire_compiling){
		.env = ENV, .task = TASK, .method = METHOD, .osr_bci = OSR_BCI
	};
	cursor.leaf_sp = STACK_AT + 512;
	cursor.max_frames = 8;
	pthread[SELF / 8] = THREAD_AT;
	thread[STACK_BASE / 8] = STACK_AT + sizeof(stack);
	thread[STACK_SIZE / 8] = sizeof(stack);
	thread[ENV / 8] = ENV_AT;
	stack[(ENV_AT + TASK - STACK_AT) / 8] = TASK_AT;
	put(TASK_AT + METHOD, METHOD_AT);
	put_osr_bci(-1);
	put(METHOD_AT + 8, CONST_METHOD);
	put(CONST_METHOD + 8, POOL);
	put(POOL + 16, HOLDER);
	put(HOLDER + 16, SYMBOL);
	put(SYMBOL, 0x1234560007ULL);
}

static bool compiles(void)
{
	cursor.compiling_unknown = 0;
	return compiling_may_be(&cursor) && compiling_find(&cursor, &memory, FS_AT);
}

static void expect_words(uint64_t address)
{
	const uint64_t identity =
		WIRE_METHOD_IDENTITY(WIRE_CLASS_IDENTITY(SYMBOL, 0x1234560007ULL, MASK), 0);

	assert_true(compiles());
	cursor.words = 0;
	assert_int_equal(compiling_put(&cursor, out), UNWIND_GO_ON);
	assert_int_equal(cursor.words, WIRE_INTERPRETED_WORDS);
	assert_int_equal(wire_frame_words(out[0]), WIRE_INTERPRETED_WORDS);
	assert_int_equal(out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_COMPILING);
	assert_true((out[0] & WIRE_FRAME_ADDRESS_MASK) == address);
	assert_true(out[1] == METHOD_AT && out[2] == CONST_METHOD && out[3] == 0);
	assert_true(out[4] == identity);
}

static void what_it_compiles(void **state)
{
	(void)state;
	begin();
	expect_words(0);
	assert_int_equal(cursor.frames, 1);
	assert_int_equal(cursor.compiling, 1);
	put_osr_bci(0);
	expect_words(1);
	put_osr_bci(65534);
	expect_words(65535);
	/* A stack of no more frames has none. */
	cursor.max_frames = cursor.frames;
	assert_int_equal(compiling_put(&cursor, out), UNWIND_STOP);
	assert_int_equal(cursor.words, WIRE_INTERPRETED_WORDS);
}

static void expect_nothing(uint32_t unknown)
{
	assert_false(compiles());
	assert_int_equal(cursor.compiling_unknown, unknown);
}

static void who_compiles_nothing(void **state)
{
	(void)state;
	begin();
	cursor.jvm.compiling.env = 0;
	expect_nothing(0);
	begin();
	cursor.jvm.own.self = 0;
	expect_nothing(0);
	begin();
	cursor.jvm.serial = 0;
	expect_nothing(0);
	begin();
	thread[ENV / 8] = 0;
	expect_nothing(0);
	/* Compilers have a ciEnv without a task when they begin. */
	begin();
	stack[(ENV_AT + TASK - STACK_AT) / 8] = 0;
	expect_nothing(0);
	begin();
	pthread[SELF / 8] = 0;
	expect_nothing(0);
}

/* What is no thread's own ciEnv. */
static void words_of_others(void **state)
{
	static const uint64_t envs[] = { ENV_AT + 4, STACK_AT + 504, STACK_AT + 512,
					 STACK_AT + sizeof(stack), META_AT };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(envs); i++) {
		begin();
		stack[(STACK_AT + 504 + TASK - STACK_AT) / 8] = TASK_AT;
		stack[(STACK_AT + 512 + TASK - STACK_AT) / 8] = TASK_AT;
		put(META_AT + TASK, TASK_AT);
		thread[ENV / 8] = envs[i];
		expect_nothing(0);
	}
	/* The stack is another thread's. */
	begin();
	thread[STACK_BASE / 8] = STACK_AT + 512;
	thread[STACK_SIZE / 8] = 512;
	expect_nothing(0);
	begin();
	thread[STACK_SIZE / 8] = sizeof(stack) - 512;
	expect_nothing(0);
}

static void methods_that_are_none(void **state)
{
	(void)state;
	begin();
	put(TASK_AT + METHOD, 0);
	expect_nothing(1);
	begin();
	put(TASK_AT + METHOD, METHOD_AT + 4);
	expect_nothing(1);
	begin();
	put(HOLDER + 16, 0x1000);
	expect_nothing(1);
	begin();
	put(SYMBOL, 0);
	expect_nothing(1);
	begin();
	cursor.jvm.compiling.osr_bci = 4096;
	expect_nothing(1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_compiles),
		cmocka_unit_test(who_compiles_nothing),
		cmocka_unit_test(words_of_others),
		cmocka_unit_test(methods_that_are_none),
	};

	return cmocka_run_group_tests_name("compiling", tests, NULL, NULL);
}
