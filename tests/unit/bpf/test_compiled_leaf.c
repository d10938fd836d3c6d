// SPDX-License-Identifier: Apache-2.0
/* The leaf in compiled Java code: the bytes around pc say where its return address is. */
#include "test.h"

#include "leaf_world.h"

enum where { BODY, ENTRY, PUSHED, ALLOCATED, SPILLED, POPPED, IN_RCX };

struct leaf_case {
	const char *name, *behind, *at;
	int32_t words;
	enum where where;
};

static void expect_case(const struct leaf_case *row, uint64_t code_offset)
{
	unsigned int words = (unsigned int)row->words, top = SP_WORD + words;

	leaf_begin(code_offset, row->behind, row->at, row->words);
	switch (row->where) {
	case BODY: expect_caller(row->name, RA_OF(top - 1), world_word(top), RA_OF(top - 2)); break;
	case ENTRY:
		expect_caller(row->name, RA_OF(SP_WORD), world_word(SP_WORD + 1), 0x1234);
		break;
	case PUSHED:
		expect_caller(row->name, RA_OF(SP_WORD + 1), world_word(SP_WORD + 2),
			      RA_OF(SP_WORD));
		break;
	case ALLOCATED: expect_caller(row->name, RA_OF(top - 1), world_word(top), 0x1234); break;
	case SPILLED:
		expect_caller(row->name, RA_OF(top), world_word(top + 1), RA_OF(top - 1));
		break;
	case IN_RCX: expect_caller(row->name, RA_OF(902), world_word(SP_WORD), 0x1234); break;
	case POPPED: expect_caller(row->name, RA_OF(901), world_word(SP_WORD), 0x1234); break;
	}
}

/* Frames of 8 words: sub $0x30 behind push %rbp, or sub $0x38 instead of it. */
static void test_prologue(void **state)
{
	static const struct leaf_case cases[] = {
		{ "at the bang", "", "89 84 24 00 c0 fe ff 55 48 83 ec 30", 8, ENTRY },
		{ "at the push", "89 84 24 00 c0 fe ff", "55 48 83 ec 30", 8, ENTRY },
		{ "behind the push", "55", "48 83 ec 30 90", 8, PUSHED },
		{ "a wide sub", "55", "48 81 ec 30 00 00 00", 8, PUSHED },
		{ "behind the sub", "55 48 83 ec 30", "90 90 90", 8, BODY },
		{ "another size's sub ahead", "", "90 55 48 83 ec 20 90", 8, BODY },
		{ "a frame pointer is set", "55", "48 8b ec 48 83 ec 30", 8, PUSHED },
		{ "and the frame not yet", "55 48 8b ec", "48 83 ec 30", 8, PUSHED },
		{ "sub without a bang", "", "48 81 ec 38 00 00 00 48 89 6c 24 30", 8, ENTRY },
		{ "behind that", "48 81 ec 38 00 00 00", "48 89 6c 24 30", 8, ALLOCATED },
		{ "two words", "89 84 24 00 c0 fe ff", "55 90 90", 2, ENTRY },
		{ "the inline cache check", "", "44 8b 56 08 90 55 48 83 ec 30", 8, ENTRY },
		{ "the exception blob", "", "52 48 83 ec 08 48 89 2c 24", 2, POPPED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_case(&cases[i], IN_PROLOGUE);
}

static void test_epilogue(void **state)
{
	static const struct leaf_case cases[] = {
		{ "before it", "90", "48 83 c4 30 5d c3", 8, BODY },
		{ "at the pop", "48 83 c4 30", "5d 90", 8, PUSHED },
		{ "at the pop, wide", "48 81 c4 30 00 00 00", "5d 90", 8, PUSHED },
		{ "behind the pop", "48 83 c4 30 5d", "90 90", 8, ENTRY },
		{ "another size", "48 83 c4 20 5d", "90 90", 8, BODY },
		{ "ret", "90", "c3", 8, ENTRY },
		{ "poll of 8", "90", "85 05 11 22 33 44 c3", 8, ENTRY },
		{ "far poll of 8", "90", "49 ba 11 22 33 44 55 66 77 88 41 85 02 c3", 8, ENTRY },
		{ "poll of 11", "90", "4d 8b 97 11 22 00 00 41 85 02 c3", 8, ENTRY },
		{ "poll of 17", "90", "49 3b a7 70 03 00 00 0f 87 11 22 33 44 c3", 8, ENTRY },
		{ "vzeroupper", "90", "c5 f8 77 c3", 8, ENTRY },
		{ "pop and jump", "90", "5d e9 11 22 33 44", 8, PUSHED },
		{ "jump behind the pop", "5d", "41 ff e2", 8, ENTRY },
		{ "rethrow", "5d 5a", "41 ff e2", 4, POPPED },
		{ "handle_exception_from_callee", "c9 59", "ff e1", 2, IN_RCX },
		{ "at rethrow's pop", "48 83 c4 10 5d", "5a 41 ff e2", 4, ENTRY },
		{ "exception blob's pop", "48 83 c4 08", "5a 4c 8b c0", 2, ENTRY },
		{ "behind that", "48 83 c4 08 5a", "4c 8b c0 49 8b 87", 2, POPPED },
		{ "and on", "48 83 c4 08 5a 4c 8b c0 49 8b 87 d0 03 00 00", "41 ff e0", 2, POPPED },
		{ "C1's handler", "c9", "59 ff e1", 2, ENTRY },
		/* VirtualThread.mount() of JDK 21 and 25 */
		{ "reserved zone", "48 83 c4 30 5d 49 3b a7 d8 04 00 00",
		  "0f 82 3d 00 00 00 49 8b ff", 8, ENTRY },
		/* Graal's ends: of one that may use that zone, and of others */
		{ "Graal, reserved", "48 8b 6c 24 70 48 83 c4 78",
		  "49 3b a7 b8 05 00 00 0f 82 1f 00 00 00", 16, ENTRY },
		{ "Graal, its branch", "48 83 c4 78 49 3b a7 b8 05 00 00", "0f 82 1f 00 00 00", 16,
		  ENTRY },
		{ "Graal, a short way", "48 8b 6c 24 70 48 83 c4 78",
		  "49 3b a7 b8 05 00 00 72 23 48 83 ec 08", 16, ENTRY },
		{ "Graal, its branch there", "48 83 c4 78 49 3b a7 b8 05 00 00",
		  "72 23 48 83 ec 08", 16, ENTRY },
		{ "Graal, its poll", "90", "49 3b 67 28 0f 87 7a 0b 00 00 c5 f8 77 c3", 16, ENTRY },
		{ "a far poll", "90", "49 3b a7 b8 05 00 00 0f 87 7a 0b 00 00 c5 f8 77 c3", 16,
		  ENTRY },
		{ "its second half", "49 3b 67 28", "0f 87 7a 0b 00 00 c5 f8 77 c3", 16, ENTRY },
		{ "another comparison", "90", "49 3b a7 b8 05 00 00 0f 84 1f 00 00 00", 16, BODY },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_case(&cases[i], IN_BODY);
}

/* C2's and C1's stub to which a return poll goes: all three of its instructions. */
static void test_poll_stub(void **state)
{
	static const char *const loads[] = { "4c 8d 15 11 22 33 44",
					     "49 ba bf 91 2c f8 1b 7f 00 00" /* JDK 21 */ };
	static const char mov[] = "4d 89 97 58 03 00 00", jmp[] = "e9 11 22 33 44";
	char behind[128], at[128];
	struct leaf_case row;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(loads); i++) {
		row = (struct leaf_case){ "load", "90", at, 8, ENTRY };
		snprintf(at, sizeof(at), "%s %s %s", loads[i], mov, jmp);
		expect_case(&row, IN_BODY);
		row = (struct leaf_case){ "mov", loads[i], at, 8, ENTRY };
		snprintf(at, sizeof(at), "%s %s", mov, jmp);
		expect_case(&row, IN_BODY);
		snprintf(behind, sizeof(behind), "%s %s", loads[i], mov);
		row = (struct leaf_case){ "jmp", behind, jmp, 8, ENTRY };
		expect_case(&row, IN_BODY);
	}
	row = (struct leaf_case){ "another jmp", mov, jmp, 8, BODY };
	expect_case(&row, IN_BODY);
}

/* Behind the `leave` of a native wrapper, up to its last jump; slow paths follow it. */
static void test_native_wrapper(void **state)
{
	static const struct leaf_case cases[] = {
		{ "17", "c9", "49 81 7f 08 00 00 00 00 0f 85 01 00 00 00 c3 e9 11 22 33 44", 8,
		  ENTRY },
		{ "17, jne", "c9 49 81 7f 08 00 00 00 00", "0f 85 01 00 00 00 c3", 8, ENTRY },
		{ "11", "c9", "49 83 7f 08 00 0f 85 01 00 00 00 c3", 8, ENTRY },
		{ "25", "c9", "41 f6 47 28 01 74 16", 8, ENTRY },
		{ "25, behind it", "c9 41 f6 47 28 01", "74 16 49 ba", 8, ENTRY },
		{ "its last jump", "c9 49 83 7f 08 00 0f 85 01 00 00 00 c3", "e9 11 22 33 44", 8,
		  ENTRY },
		{ "its slow path", "c9 49 83 7f 08 00 0f 85 01 00 00 00 c3 e9 11 22 33 44",
		  "c5 f8 77 48 89 45 f8", 8, BODY },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_case(&cases[i], IN_BODY);
}

/* C2 copies between stack slots by push and pop. */
static void test_spill(void **state)
{
	static const struct leaf_case cases[] = {
		{ "pop (%rsp)", "ff 74 24 18", "48 8f 04 24", 8, SPILLED },
		{ "pop 8(%rsp)", "ff 74 24 18", "8f 44 24 08", 8, SPILLED },
		{ "pop 1024(%rsp)", "ff 74 24 18", "8f 84 24 00 04 00 00", 8, SPILLED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_case(&cases[i], IN_BODY);
}

/* Intrinsics push registers in a body: frames are aligned, and a call of this code is certain. */
static void test_pushed_in_body(void **state)
{
	unsigned int top = SP_WORD + 8;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	world.sp -= 8;
	expect_caller("one word", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
	leaf_begin(IN_BODY, "90", "90", 8);
	world.sp -= 32;
	/* Of the words that fit, only the true one is behind a call that leads here. */
	put_hex(RA_OF(top - 1) - 5, "e8 00 00 00 00");
	{
		int32_t displacement = (int32_t)(CODE_OF(SEGMENT_OF_CODE) - RA_OF(top - 1));

		memcpy(world_heap + (RA_OF(top - 1) - 4 - HEAP_AT), &displacement, 4);
	}
	expect_caller("four words", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
}

/* C1's arraycopy() pushes registers for a type check: an old word below the return address fits too. */
static void test_old_word_in_body(void **state)
{
	unsigned int top = SP_WORD + 8;
	uint64_t ra = CODE_OF(64) + 32, old = CODE_OF(96) + 32;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	world_blob(64, 8, 6);
	world_blob(96, 8, 6);
	world.sp -= 16;
	world_stack[top - 1] = ra;
	world_stack[top - 3] = old;
	world_stack[top - 3 + 6] = 5; /* where its frame would have a return address */
	expect_caller("two words", ra, world_word(top), RA_OF(top - 2));
	/* JDK 17's String.indexOf(): both are calls of it. */
	leaf_begin(IN_BODY, "50 56 57 51", "90", 8);
	world_blob(64, 8, 6);
	world_blob(96, 8, 6);
	world.sp -= 32;
	world_stack[top - 1] = ra;
	world_stack[top - 5] = old;
	world_stack[top - 5 + 6] = 5;
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t from = i ? ra : old;
		int32_t displacement = (int32_t)(CODE_OF(SEGMENT_OF_CODE) - from);

		put_hex(from - 5, "e8");
		memcpy(world_heap + (from - 4 - HEAP_AT), &displacement, 4);
	}
	expect_caller("four words", ra, world_word(top), RA_OF(top - 2));
}

/* Runtime stubs save all registers below their frame pointer's frame, and don't say when. */
static void test_stub_with_frame_pointer(void **state)
{
	int16_t never = -1;
	uint64_t ra = CODE_OF(64) + 32;

	(void)state;
	/* C1's forward_exception of JDK 25: the frame was made by the stub that jumped here. */
	leaf_begin(IN_BODY, "48 81 c4 f0 03 00 00", "4c 8b 3c 24", 144);
	memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &never, 2);
	world_blob(64, 8, 6);
	world.fp = world_word(SP_WORD + 16);
	world_stack[SP_WORD + 17] = ra;
	expect_caller("another's frame", ra, world_word(SP_WORD + 18), RA_OF(SP_WORD + 16));
	leaf_begin(IN_BODY, "90", "48 89 44 24 78", 144);
	put_hex(CODE_OF(SEGMENT_OF_CODE), "55 48 8b ec 48 81 ec 80 00 00 00");
	memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &never, 2);
	world.fp = world_word(SP_WORD + 16);
	expect_caller("pusha", RA_OF(SP_WORD + 17), world_word(SP_WORD + 18), RA_OF(SP_WORD + 16));
}

/* A poll in a loop leads to push %rbx; push %rbp; mov %rsp,%rbp; save all; then the address is stored. */
static void poll_begin(unsigned int done)
{
	int16_t never = -1;

	leaf_begin(0, "", "53 55 48 8b ec 9c 48 83 ec 08", 84);
	memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &never, 2);
	world.pc += done;
	world.r15 = THREAD_AT;
	world_thread[THREAD_SAVED_PC] = RA_OF(900);
	/* The words that it pushes. */
	world_stack[SP_WORD + 12] = world.rbx = world.leaf_regs[DWARF_RBX] = RA_OF(800);
	world_stack[SP_WORD + 11] = 0x1234;
	if (done >= 5)
		world.fp = world_word(SP_WORD + 11);
}

static void test_safepoint_poll(void **state)
{
	static const unsigned int pushed[] = { 0, 1, 2 };

	(void)state;
	for (unsigned int done = 0; done < ARRAY_SIZE(pushed); done++) {
		poll_begin(done);
		world.sp = world_word(SP_WORD + 13 - pushed[done]);
		world.fp = world_stack[SP_WORD + 11] = done ? 0x1234 : 0;
		expect_caller("first pushes", RA_OF(900), world_word(SP_WORD + 13), world.fp);
	}
	poll_begin(6);
	expect_caller("all are being saved", RA_OF(900), world_word(SP_WORD + 13), 0x1234);
	poll_begin(6);
	world_stack[SP_WORD + 12] = 7;
	expect_caller("about to store it", RA_OF(900), world_word(SP_WORD + 13), 0x1234);
	poll_begin(6);
	world_stack[SP_WORD + 12] = RA_OF(700);
	expect_caller("stored, and moved on", RA_OF(700), world_word(SP_WORD + 13), 0x1234);
	poll_begin(6);
	world_thread[THREAD_SAVED_PC] = 0;
	expect_caller("none was saved", RA_OF(800), world_word(SP_WORD + 13), 0x1234);
	poll_begin(6);
	put_hex(world.pc, "c3");
	world.fp = world_word(SP_WORD + 30);
	world_stack[SP_WORD + 31] = 7;
	expect_caller("its end", RA_OF(SP_WORD), world_word(SP_WORD + 1), world_word(SP_WORD + 30));
}

/*
 * Continuation.doYield() ends in the frame of enterSpecial(), where old return addresses are: mov
 * 0x5b0(%r15),%rsp; …; add $0x40,%rsp; pop %rbp (JDK 27). Before that it is in its own.
 */
static void test_switched_frame(void **state)
{
	(void)state;
	leaf_begin(IN_BODY, "49 8b a7 b0 05 00 00", "49 89 9f 18 06 00 00 48 83 c4 40 5d c3", 2);
	world_stack[SP_WORD + 8] = 0x7777;
	expect_caller("doYield", RA_OF(SP_WORD + 9), world_word(SP_WORD + 10), 0x7777);
	leaf_begin(IN_BODY, "90", "49 8b a7 b0 05 00 00 48 83 c4 40 5d c3", 2);
	world_stack[SP_WORD] = 0x7777;
	expect_caller("its own", RA_OF(SP_WORD + 1), world_word(SP_WORD + 2), 0x7777);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prologue),
		cmocka_unit_test(test_epilogue),
		cmocka_unit_test(test_poll_stub),
		cmocka_unit_test(test_native_wrapper),
		cmocka_unit_test(test_spill),
		cmocka_unit_test(test_pushed_in_body),
		cmocka_unit_test(test_stub_with_frame_pointer),
		cmocka_unit_test(test_old_word_in_body),
		cmocka_unit_test(test_safepoint_poll),
		cmocka_unit_test(test_switched_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
