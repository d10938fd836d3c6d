// SPDX-License-Identifier: Apache-2.0
/* Was the leaf called by the instruction in front of [sp]? Each way that a call may lead there. */
#include "test.h"

#include "java_world.h"

#define SP	 100U		     /* a word of the stack */
#define RA	 (HEAP_AT + 0x4000)  /* behind the call */
#define FUNCTION (HEAP_AT + 0x8000)  /* where it leads */
#define BETWEEN	 (HEAP_AT + 0x10000) /* a PLT entry, or a function that jumps on */
#define ENDBR64	 "\xf3\x0f\x1e\xfa"

static void put(uint64_t at, const char *bytes, size_t len)
{
	memcpy(world_heap + (at - HEAP_AT), bytes, len);
}

/* A displacement at AT, whose instruction ends behind it, to TARGET. */
static void put_relative(uint64_t at, uint64_t target)
{
	int32_t displacement = (int32_t)(target - (at + 4));

	put(at, (const char *)&displacement, 4);
}

/* The leaf is 16 bytes into FUNCTION, called by OPCODE (of LEN bytes) with a displacement to TARGET. */
static void begin(const char *opcode, size_t len, uint64_t target)
{
	world_begin(FUNCTION + 16, SP);
	memset(world_heap, 0x90, sizeof(world_heap));
	world.leaf = 1;
	world_stack[SP] = RA;
	put(RA - 4 - len, opcode, len);
	put_relative(RA - 4, target);
}

static int was_called(void)
{
	world.window_at = 0;
	return leaf_was_called(&world, &world_memory);
}

static void numbers(void **state)
{
	(void)state;
	assert_int_equal(leaf_u24((const uint8_t *)"\x81\x92\xa3\xb4"), 0xa39281);
	assert_true(leaf_u32((const uint8_t *)"\x81\x92\xa3\xb4") == 0xb4a39281);
	assert_true(leaf_relative(0x1000, (const uint8_t *)"\xfc\xff\xff\xff") == 0xffc);
	assert_true(leaf_relative(0x1000, (const uint8_t *)"\x04\0\0\x01") == 0x1001004);
}

static void a_call_of_the_function(void **state)
{
	(void)state;
	begin("\xe8", 1, FUNCTION);
	assert_true(was_called());
	world.pc = FUNCTION;
	assert_true(was_called());
	world.pc = FUNCTION - 1;
	assert_false(was_called());
	world.pc = FUNCTION + 8192;
	assert_true(was_called());
	world.pc++;
	assert_false(was_called());
	begin("\xe9", 1, FUNCTION);
	assert_false(was_called());
	/* Neither one that keeps a frame pointer. */
	begin("\xe8", 1, FUNCTION);
	put(FUNCTION, "\x55", 1);
	assert_false(was_called());
	put(FUNCTION, ENDBR64 "\x55", 5);
	assert_false(was_called());
	put(FUNCTION, ENDBR64 "\x53", 5);
	assert_true(was_called());
	put(FUNCTION, "\x0f\x0f\x1e\xfa\x55", 5);
	assert_true(was_called());
}

/* call *slot(%rip) */
static void a_call_through_a_slot(void **state)
{
	(void)state;
	begin("\xff\x15", 2, BETWEEN);
	put(BETWEEN, (const char *)&(uint64_t){ FUNCTION }, 8);
	assert_true(was_called());
	world_heap[BETWEEN - HEAP_AT + 2] ^= 0xff;
	assert_false(was_called());
	world_heap[BETWEEN - HEAP_AT + 2] ^= 0xff;
	put(RA - 6, "\xff\x14", 2);
	assert_false(was_called());
	put(RA - 6, "\xfe\x15", 2);
	assert_false(was_called());
	put(RA - 6, "\xff\x15", 2);
	assert_true(was_called());
	put(FUNCTION, "\x55", 1);
	assert_false(was_called());
}

/* [endbr64;] [bnd] jmp *slot(%rip) at AT of LEN bytes. */
static void expect_plt(const char *code, size_t len)
{
	uint64_t slot = BETWEEN + 0x400;

	begin("\xe8", 1, BETWEEN);
	put(BETWEEN, code, len);
	put_relative(BETWEEN + len, slot);
	put(slot, (const char *)&(uint64_t){ FUNCTION }, 8);
	assert_true(leaf_call_plt_slot(world_heap + (BETWEEN - HEAP_AT), BETWEEN) == slot);
	assert_true(was_called());
	for (size_t i = 0; i < len; i++) {
		world_heap[BETWEEN - HEAP_AT + i] ^= 0x20;
		if (leaf_call_plt_slot(world_heap + (BETWEEN - HEAP_AT), BETWEEN) == slot)
			fail_msg("byte %zu of %zu does not matter", i, len);
		world_heap[BETWEEN - HEAP_AT + i] ^= 0x20;
	}
	/* A slot that cannot be read, and one that leads nowhere. */
	put_relative(BETWEEN + len, HEAP_AT - 64);
	assert_false(was_called());
	put_relative(BETWEEN + len, slot);
	put(slot, (const char *)&(uint64_t){ HEAP_AT - 64 }, 8);
	assert_false(was_called());
}

static void a_call_of_a_plt_entry(void **state)
{
	(void)state;
	expect_plt("\xff\x25", 2);
	expect_plt(ENDBR64 "\xff\x25", 6);
	expect_plt(ENDBR64 "\xf2\xff\x25", 7);
}

static void expect_jump(const char *code, size_t len)
{
	begin("\xe8", 1, BETWEEN);
	put(BETWEEN, code, len);
	put_relative(BETWEEN + len, FUNCTION);
	assert_true(leaf_call_jump(world_heap + (BETWEEN - HEAP_AT), BETWEEN) == FUNCTION);
	assert_true(was_called());
	for (size_t i = 0; i < len; i++) {
		world_heap[BETWEEN - HEAP_AT + i] ^= 0x20;
		if (leaf_call_jump(world_heap + (BETWEEN - HEAP_AT), BETWEEN) == FUNCTION)
			fail_msg("byte %zu of %zu does not matter", i, len);
		world_heap[BETWEEN - HEAP_AT + i] ^= 0x20;
	}
	put(FUNCTION, "\x55", 1);
	assert_false(was_called());
	put_relative(BETWEEN + len, HEAP_AT - 64);
	assert_false(was_called());
}

/* A function that only calls another. */
static void a_call_of_a_jump(void **state)
{
	(void)state;
	expect_jump("\xe9", 1);
	expect_jump(ENDBR64 "\xe9", 5);
}

static void what_cannot_be_read(void **state)
{
	(void)state;
	begin("\xe8", 1, FUNCTION);
	world.sp = STACK_AT - 8;
	assert_false(was_called());
	begin("\xe8", 1, FUNCTION);
	world_stack[SP] = 5;
	assert_false(was_called());
	world_stack[SP] = HEAP_AT + 4; /* nothing is in front of it */
	assert_false(was_called());
	begin("\xe8", 1, HEAP_AT - 64);
	world.pc = HEAP_AT - 32;
	assert_false(was_called());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(a_call_of_the_function),
		cmocka_unit_test(a_call_through_a_slot),
		cmocka_unit_test(a_call_of_a_plt_entry),
		cmocka_unit_test(a_call_of_a_jump),
		cmocka_unit_test(what_cannot_be_read),
	};

	return cmocka_run_group_tests_name("leaf_call", tests, NULL, NULL);
}
