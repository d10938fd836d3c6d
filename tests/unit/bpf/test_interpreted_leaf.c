// SPDX-License-Identifier: Apache-2.0
/* The leaf in the interpreter where no frame stands: entries, and removed activations. */
#include "test.h"

#include "java_world.h"

#define INTERPRETER    8
#define CALLER_SEGMENT 64
#define STUB	       80
#define RA	       (CODE_OF(CALLER_SEGMENT) + 64)
#define OLD_RA	       (CODE_OF(CALLER_SEGMENT) + 128)
#define CODE	       CODE_OF(INTERPRETER)
#define SP_WORD	       100
#define SENDER	       (SP_WORD + 6)
/* The entry with a frame, where its frame begins; one without; where all entries end. */
#define ENTRY	512
#define FRAME	(ENTRY + 64)
#define BARE	(ENTRY + 256)
#define ENTRIES (ENTRY + 320)
/* A Method in the thread's piece, from which the way leads to a class's name. */
#define METHOD (THREAD_AT + 8)

static void begin(uint64_t offset)
{
	world_begin(CODE + offset, SP_WORD);
	world_blob(INTERPRETER, 32, 0);
	world_blob(CALLER_SEGMENT, 8, 8);
	world.jvm.interpreter_start = CODE;
	world.jvm.interpreter_end = CODE + 2048;
	world.jvm.entries_start = CODE;
	world.jvm.entry_count = 3;
	world.jvm.entries[0] = (struct wire_entry){ ENTRY, FRAME };
	world.jvm.entries[1] = (struct wire_entry){ BARE, 0 };
	world.jvm.entries[2] = (struct wire_entry){ ENTRIES, 0 };
	world.jvm.method_slot = -3;
	world.jvm.bcp_slot = -8;
	world.jvm.sender_sp_slot = -1;
	world.jvm.symbol_mask = ~0ULL;
	/* Every step of the way is at offset 0 and leads to the same word's neighbour. */
	for (unsigned int i = 0; i + 1 < ARRAY_SIZE(world_thread); i++)
		world_thread[i] = THREAD_AT + 8 * (i + 1);
	world.leaf = world.exact = 1;
	world.fp = world_word(SP_WORD + 40);
	world.rbx = world.leaf_regs[DWARF_RBX] = METHOD;
	world.r13 = world.leaf_regs[DWARF_R13] = world_word(SENDER);
	world.leaf_regs[DWARF_RAX] = RA;
}

static void put(uint64_t offset, const char *bytes, size_t len)
{
	memcpy(world_heap + (CODE + offset - HEAP_AT), bytes, len);
}

static void expect_caller(enum wire_frame_kind kind, uint64_t sp, uint64_t fp)
{
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, kind);
	if (kind == WIRE_FRAME_INTERPRETED)
		assert_true(world_out[1] == METHOD && world_out[3] == 0);
	assert_true(world.pc == RA);
	assert_int_equal(world.sp, sp);
	assert_true(world.fp == fp);
}

static void test_entry_before_pop(void **state)
{
	(void)state;
	begin(ENTRY + 8);
	world_stack[SP_WORD] = RA;
	world.leaf_regs[DWARF_RAX] = 17;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
}

static void test_entry_behind_pop(void **state)
{
	(void)state;
	begin(FRAME);
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
}

static void test_frame_is_pushed(void **state)
{
	(void)state;
	begin(FRAME + 1);
	world_stack[SP_WORD] = RA;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
	begin(FRAME + 2);
	world_stack[SP_WORD] = 0x7777;
	world_stack[SP_WORD + 1] = RA;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), 0x7777);
	begin(FRAME + 5);
	world.fp = world_word(SP_WORD);
	world_stack[SP_WORD] = 0x7777;
	world_stack[SP_WORD + 1] = RA;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), 0x7777);
}

/* The sender's stack pointer is pushed, %r13 is another value, the Method's slot is not there yet. */
static void test_frame_has_sender(void **state)
{
	(void)state;
	begin(FRAME + 20);
	world.fp = world_word(SP_WORD + 2);
	world.r13 = world.leaf_regs[DWARF_R13] = 17;
	world_stack[SP_WORD + 2] = 0x7777;
	world_stack[SP_WORD + 3] = RA;
	world_stack[SP_WORD + 1] = world_word(SENDER);
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), 0x7777);
}

static void test_entry_without_frame(void **state)
{
	(void)state;
	begin(BARE + 8);
	world_stack[SP_WORD] = RA;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
	/* Behind pop %rdi; and behind mov %r13,%rsp. */
	for (unsigned int i = 0; i < 2; i++) {
		begin(BARE + 33 + 3 * i);
		put(BARE + 32, "\x5f\x49\x8b\xe5\xff\xe7", 6);
		world.leaf_regs[DWARF_RDI] = RA;
		world.leaf_regs[DWARF_RAX] = 17;
		world_stack[SP_WORD] = OLD_RA;
		expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
	}
}

/*
 * It calls a stub, from an aligned sp or not (CRC32.updateBytes(), JDK 17 to 28): call; add
 * $8,%rsp; jmp; pop %rdi; mov %r13,%rsp; jmp *%rdi. The caller's registers are still the thread's.
 */
static const char crc_entry[] = "\xe8\x10\0\0\0\x48\x83\xc4\x08\xe9\x05\0\0\0\xe8\x02\0\0\0"
				"\x5f\x49\x8b\xe5\xff\xe7";

static void test_entry_without_frame_calls(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		begin(BARE + (i ? 5 : 19));
		put(BARE, crc_entry, sizeof(crc_entry) - 1);
		world.leaf = 0;
		world_stack[SP_WORD] = OLD_RA;
		world_stack[SP_WORD + i] = RA;
		expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
	}
}

/* The same in an entry that makes its frame behind that (JDK 8). */
static void test_entry_calls_before_frame(void **state)
{
	(void)state;
	begin(ENTRY + 19);
	put(ENTRY, crc_entry, sizeof(crc_entry) - 1);
	world.leaf = 0;
	world_stack[SP_WORD] = RA;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
}

/* The same with the entry as the leaf, at the call and behind it; %r13 is another value by now. */
static void test_entry_without_frame_aligned(void **state)
{
	static const uint32_t at[] = { 0, 5, 9, 14, 19 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(at); i++) {
		unsigned int words = at[i] < 9;

		begin(BARE + at[i]);
		put(BARE, crc_entry, sizeof(crc_entry) - 1);
		world.r13 = world.leaf_regs[DWARF_R13] = 17;
		world_stack[SP_WORD] = OLD_RA;
		world_stack[SP_WORD + words] = RA;
		expect_caller(WIRE_FRAME_INTERPRETED, world_word(SP_WORD + words + 1),
			      world_word(SP_WORD + 40));
	}
}

/* What is popped behind a call in the interpreter is a return address, nothing that was pushed for it. */
static void test_stub_returns_to_pop(void **state)
{
	(void)state;
	begin(BARE);
	world_blob(STUB, 8, 0);
	put(BARE, crc_entry, sizeof(crc_entry) - 1);
	world.pc = CODE_OF(STUB) + 32;
	memcpy(world_heap + (world.pc - HEAP_AT), "\xc3", 1);
	world_stack[SP_WORD] = CODE + BARE + 19;
	world_stack[SP_WORD + 1] = RA;
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == CODE + BARE + 19);
	assert_int_equal(world.sp, world_word(SP_WORD + 1));
}

/* JDK 8's Math.sin() keeps words on the stack, by itself and when native code computes it. */
static void test_entry_without_frame_pushes(void **state)
{
	(void)state;
	for (unsigned int native = 0; native < 2; native++) {
		begin(BARE + 8);
		world.jvm.bcp_slot = -7;
		world.leaf_regs[DWARF_RAX] = 17;
		world_stack[SP_WORD] = OLD_RA;
		world_stack[SENDER - 1] = RA;
		world.leaf = !native;
		world.native = native != 0;
		if (native)
			world.leaf_regs[DWARF_RBX] = world.leaf_regs[DWARF_R13] =
				world_word(SP_WORD + 20);
		expect_caller(WIRE_FRAME_INTERPRETED, world_word(SENDER), world_word(SP_WORD + 40));
	}
}

/* It looks for the caller's handler, the return address and the exception pushed: both calls. */
static void test_rethrows(void **state)
{
	static const char end[] = "\x48\x8b\xd8\x5a\x58\xff\xe3";

	(void)state;
	for (unsigned int words = 0; words < 2; words++) {
		begin(1024);
		put(1024, "\x48\x83\xc4\x08\xe9\x05\0\0\0\xe8\x11\x22\x33\x44", 14);
		put(words ? 1024 + 14 : 1024, end, sizeof(end) - 1);
		world.leaf = 0;
		world.native = 1;
		world_stack[SP_WORD + words] = RA;
		expect_caller(WIRE_FRAME_COMPILED, world_word(SP_WORD + words + 2),
			      world_word(SP_WORD + 40));
	}
}

/* The same as the leaf, on both sides of the call. */
static void test_rethrows_here(void **state)
{
	static const char code[] =
		"\x50\x52\x48\x8b\xf2\x49\x8b\xff\x40\xf6\xc4\x0f\x0f\x84\x12\0\0\0"
		"\x48\x83\xec\x08\xe8\x11\x22\x33\x44"
		"\x48\x8b\xd8\x5a\x58\xff\xe3";

	static const struct {
		uint32_t at;
		unsigned int words;
	} places[] = { { 0, 0 },  { 1, 1 },  { 2, 2 },	{ 8, 2 }, { 18, 2 },
		       { 27, 2 }, { 30, 2 }, { 31, 1 }, { 32, 0 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		begin(1024 + places[i].at);
		put(1024, code, sizeof(code) - 1);
		world_stack[SP_WORD] = places[i].words == 2 ? RA : OLD_RA;
		world.leaf_regs[DWARF_RDX] = places[i].words == 2 ? 7 : RA;
		expect_caller(WIRE_FRAME_COMPILED, world_word(SP_WORD + places[i].words),
			      world_word(SP_WORD + 40));
	}
}

/* leave; pop %r13; mov %rbx,%rsp; jmp *%r13: the method is gone, its caller is not. */
static void test_removed(void **state)
{
	static const uint32_t at[] = { 1, 3, 6 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		begin(1024 + at[i]);
		put(1024, "\xc9\x41\x5d\x48\x8b\xe3\x41\xff\xe5", 9);
		world_stack[SP_WORD] = at[i] == 1 ? RA : OLD_RA;
		world.r13 = world.leaf_regs[DWARF_R13] = at[i] == 1 ? 17 : RA;
		world.rbx = world.leaf_regs[DWARF_RBX] = world_word(SENDER);
		expect_caller(WIRE_FRAME_COMPILED, world_word(SENDER), world_word(SP_WORD + 40));
	}
}

/* JDK 25: a flag is cleared between leave and pop. */
static void test_removed_with_flag(void **state)
{
	(void)state;
	begin(1024 + 1);
	put(1024, "\xc9\x41\xc6\x87\xbe\x03\x00\x00\x00\x41\x5d\x48\x8b\xe3\x41\xff\xe5", 17);
	world_stack[SP_WORD] = RA;
	world.rbx = world.leaf_regs[DWARF_RBX] = world_word(SENDER);
	expect_caller(WIRE_FRAME_COMPILED, world_word(SENDER), world_word(SP_WORD + 40));
}

/* On-stack replacement pushes the return address anew and jumps through memory. */
static void test_replaced(void **state)
{
	static const char code[] = "\xc9\x59\x48\x8b\xe2\x48\x83\xe4\xf0\x51\xff\xa3\xe8\0\0\0";

	(void)state;
	begin(1024 + 10);
	put(1024, code, sizeof(code) - 1);
	world_stack[SP_WORD] = RA;
	world.leaf_regs[DWARF_RCX] = RA;
	world.leaf_regs[DWARF_RDX] = world_word(SENDER);
	expect_caller(WIRE_FRAME_COMPILED, world_word(SENDER), world_word(SP_WORD + 40));
}

/* What lies behind the jump is other code, whose frame stands. */
static void test_behind_jump(void **state)
{
	unsigned int fp = SP_WORD + 40;

	(void)state;
	begin(1024 + 12);
	put(1024, "\xc9\x41\x5d\x48\x8b\xe3\x41\xff\xe5\x90\x90\x90", 12);
	world.r13 = world.leaf_regs[DWARF_R13] = RA;
	world_stack[fp + 1] = RA;
	world_stack[fp] = 0x7777;
	world_stack[fp - 1] = world_word(fp + 2);
	world_stack[fp - 3] = METHOD;
	expect_caller(WIRE_FRAME_INTERPRETED, world_word(fp + 2), 0x7777);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_entry_before_pop),
		cmocka_unit_test(test_entry_behind_pop),
		cmocka_unit_test(test_frame_is_pushed),
		cmocka_unit_test(test_frame_has_sender),
		cmocka_unit_test(test_entry_without_frame),
		cmocka_unit_test(test_entry_without_frame_calls),
		cmocka_unit_test(test_entry_calls_before_frame),
		cmocka_unit_test(test_entry_without_frame_aligned),
		cmocka_unit_test(test_stub_returns_to_pop),
		cmocka_unit_test(test_entry_without_frame_pushes),
		cmocka_unit_test(test_rethrows),
		cmocka_unit_test(test_rethrows_here),
		cmocka_unit_test(test_removed),
		cmocka_unit_test(test_removed_with_flag),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_behind_jump),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
