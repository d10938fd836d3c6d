// SPDX-License-Identifier: Apache-2.0
/* The leaf in compiled Java code: the bytes around pc say where its return address is. */
#include "test.h"

#include <inttypes.h>

#include "java_world.h"

#define SEGMENT_OF_CODE 8
/* Every word of the stack is another address of Java code. */
#define RA_OF(word) (HEAP_AT + 0x20000 + 16ULL * (word))
#define SP_WORD	    100
/* Offset of pc in the code; the prologue ends at 16. */
#define IN_BODY	    80
#define IN_PROLOGUE 0

static size_t put_hex(uint64_t at, const char *hex)
{
	size_t count = 0;

	for (; *hex; hex += hex[2] == ' ' ? 3 : 2, count++) {
		unsigned int byte;

		if (sscanf(hex, "%2x", &byte) != 1)
			fail_msg("bad hex: %s", hex);
		world_heap[at - HEAP_AT + count] = (uint8_t)byte;
		if (!hex[2])
			return count + 1;
	}
	return count;
}

static size_t hex_bytes(const char *hex)
{
	return (strlen(hex) + 1) / 3;
}

/* A leaf in a frame of WORDS, with BEHIND right before its pc and AT from there on. */
static void leaf_begin(uint64_t code_offset, const char *behind, const char *at, int32_t words)
{
	uint64_t pc = CODE_OF(SEGMENT_OF_CODE) + code_offset + hex_bytes(behind);

	world_begin(pc, SP_WORD);
	world_blob(SEGMENT_OF_CODE, 16, words);
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = RA_OF(i);
	put_hex(pc - hex_bytes(behind), behind);
	put_hex(pc, at);
	world.leaf = world.exact = 1;
	world.fp = world.leaf_regs[6] = 0x1234;
	world.leaf_regs[1] = RA_OF(901);
	world.leaf_regs[2] = RA_OF(902);
	world.leaf_regs[8] = RA_OF(908);
}

enum where { BODY, ENTRY, PUSHED, ALLOCATED, SPILLED, POPPED, IN_RCX };

struct leaf_case {
	const char *name, *behind, *at;
	int32_t words;
	enum where where;
};

static void expect_caller(const char *name, uint64_t pc, uint64_t sp, uint64_t fp)
{
	if (world_step() != UNWIND_GO_ON)
		fail_msg("%s: the walk ended, reason %d", name, world.reason);
	if (world.pc != pc || world.sp != sp || world.fp != fp)
		fail_msg("%s: pc %#" PRIx64 " sp %#" PRIx64 " fp %#" PRIx64 ", not %#" PRIx64
			 " %#" PRIx64 " %#" PRIx64,
			 name, (uint64_t)world.pc, (uint64_t)world.sp, (uint64_t)world.fp, pc, sp,
			 fp);
	assert_int_equal(world.leaf, 0);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_COMPILED);
	assert_int_equal(world_out[1], SEGMENT_OF_CODE);
}

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
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_case(&cases[i], IN_BODY);
}

/* C2's and C1's stub to which a return poll goes: all three of its instructions. */
static void test_poll_stub(void **state)
{
	static const char lea[] = "4c 8d 15 11 22 33 44", mov[] = "4d 89 97 58 03 00 00",
			  jmp[] = "e9 11 22 33 44";
	char behind[128], at[128];
	struct leaf_case row = { "lea", "90", at, 8, ENTRY };

	(void)state;
	snprintf(at, sizeof(at), "%s %s %s", lea, mov, jmp);
	expect_case(&row, IN_BODY);
	row = (struct leaf_case){ "mov", lea, at, 8, ENTRY };
	snprintf(at, sizeof(at), "%s %s", mov, jmp);
	expect_case(&row, IN_BODY);
	snprintf(behind, sizeof(behind), "%s %s", lea, mov);
	row = (struct leaf_case){ "jmp", behind, jmp, 8, ENTRY };
	expect_case(&row, IN_BODY);
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
	world_stack[SP_WORD + 12] = world.rbx = world.leaf_regs[3] = RA_OF(800);
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
		expect_caller("first pushes", RA_OF(900), world_word(SP_WORD + 13), 0x1234);
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

/* Pops right behind a return address take off what was pushed for the call. */
static void test_pops_behind_call(void **state)
{
	unsigned int top = SP_WORD + 8;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	put_hex(RA_OF(top - 1), "41 5a 58 90");
	expect_caller("two pops", RA_OF(top - 1), world_word(top + 2), RA_OF(top - 2));
}

/* A barrier's stub saved registers below the frame before it called native code. */
static void test_saved_below_frame(void **state)
{
	unsigned int top = SP_WORD + 8;

	(void)state;
	leaf_begin(IN_BODY, "90", "48 8b 44 24 08 48 81 c4 40 01 00 00 e9 11 22 33 44", 8);
	for (unsigned int i = SP_WORD; i < SP_WORD + 40 + 7; i++)
		world_stack[i] = 1;
	world.leaf = 0;
	world.native = 1;
	world_stack[top + 40 - 2] = 0x7777;
	expect_caller("add", RA_OF(top + 40 - 1), world_word(top + 40), 0x7777);
}

/* JDK 8 saves all registers to call SharedRuntime::dsin(): the code before the call, and behind it. */
#define SAVES	 "48 81 ec 00 01 00 00 c5 fa 7f 04 24 48 83 ec 08 dd 1c 24 "
#define CALLS	 "f7 c4 0f 00 00 00 0f 84 12 00 00 00 48 83 ec 08 e8 7a 10 0f 18 "
#define RETURNS	 "48 83 c4 08 e9 05 00 00 00 e8 6c 10 0f 18 c5 fb 11 04 24 dd 04 24 "
#define RESTORES "48 83 c4 08 c5 fa 6f 04 24 48 81 c4 00 01 00 00 4c 8b 3c 24 "
#define ENDS	 "48 8b 44 24 78 48 81 c4 80 00 00 00 dd 1c 24 48 83 ec 10"

/* All words look like return addresses: the frame begins where nothing is left to be taken off. */
static void test_trigonometry(void **state)
{
	static const struct {
		const char *at;
		unsigned int words; /* below the frame */
	} cases[] = {
		{ SAVES CALLS RETURNS RESTORES ENDS, 16 },
		{ CALLS RETURNS RESTORES ENDS, 16 + 32 + 1 },
		{ RESTORES ENDS, 16 + 32 + 1 },
		{ ENDS, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned int odd = cases[i].words & 1, top = SP_WORD + odd + cases[i].words + 8;

		leaf_begin(IN_BODY, "90", cases[i].at, 8);
		world.sp += 8ULL * odd;
		expect_caller("leaf", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
	}
	for (unsigned int i = 0; i < 2; i++) {
		unsigned int top = SP_WORD + 16 + 32 + 2 + 8;

		leaf_begin(IN_BODY, "90", RETURNS RESTORES ENDS, 8);
		world.leaf = 0;
		world.native = 1;
		world.jvm.sender_sp_slot = -1;
		/* In %rbp is what an interpreted frame left there. */
		world_stack[SP_WORD + 7] = i;
		world.fp = world_word(SP_WORD + 20);
		world_stack[SP_WORD + 19] = world_word(SP_WORD + 24);
		expect_caller("caller", RA_OF(top - 1), world_word(top), RA_OF(top - 2));
	}
}

/* An address in the interpreter is a return address only where its frame pointer is below it. */
static void test_saved_interpreter_address(void **state)
{
	unsigned int top = SP_WORD + 16 + 8;

	(void)state;
	for (unsigned int native = 0; native < 2; native++) {
		leaf_begin(IN_BODY, "90", ENDS, 8);
		for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
			world_stack[i] = 1;
		world.jvm.interpreter_start = RA_OF(0);
		world.jvm.interpreter_end = RA_OF(500);
		world_stack[SP_WORD + 7] = world_stack[top - 1] = RA_OF(2);
		world_stack[top - 2] = world_word(top + 9);
		world.leaf = !native;
		world.native = native != 0;
		expect_caller("saved", RA_OF(2), world_word(top), world_word(top + 9));
	}
}

/* What a call of this code, or the frame pointer, says needs no look ahead. */
static void test_certain_frame(void **state)
{
	unsigned int top = SP_WORD + 8;
	uint64_t ra = RA_OF(top - 1);
	int32_t displacement = (int32_t)(CODE_OF(SEGMENT_OF_CODE) - ra);

	(void)state;
	for (unsigned int native = 0; native < 2; native++) {
		leaf_begin(IN_BODY, "90", ENDS, 8);
		put_hex(ra - 5, "e8");
		memcpy(world_heap + (ra - 4 - HEAP_AT), &displacement, 4);
		world.leaf = !native;
		world.native = native != 0;
		expect_caller("call", ra, world_word(top), RA_OF(top - 2));
	}
	leaf_begin(IN_BODY, "90", ENDS, 8);
	world.fp = world_word(top - 2);
	world.leaf = 0;
	world.native = 1;
	expect_caller("frame pointer", ra, world_word(top), RA_OF(top - 2));
}

/* C1's forward_exception takes over another stub's frame while it restores all registers. */
static void test_other_stubs_frame(void **state)
{
	unsigned int fp = SP_WORD + 16;

	(void)state;
	leaf_begin(IN_BODY, "48 81 c4 f0 03 00 00", "4c 8b 3c 24 4c 8b 74 24 08", 144);
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 1;
	world.fp = world_word(fp);
	world_stack[fp] = 0x7777;
	world_stack[fp + 1] = RA_OF(fp + 1);
	expect_caller("leaf", RA_OF(fp + 1), world_word(fp + 2), 0x7777);
}

/* A word of alignment is below the frame, whose place %rbp says. */
static void test_aligned_for_call(void **state)
{
	unsigned int top = SP_WORD + 8;
	int16_t never = -1;

	(void)state;
	leaf_begin(IN_BODY, "90", "90", 8);
	world.sp -= 8;
	world_stack[top - 2] = 0x7777;
	world.fp = world_word(top - 2);
	world.leaf = 0;
	world.native = 1;
	expect_caller("and $-16", RA_OF(top - 1), world_word(top), 0x7777);
	/* The deoptimisation blob's frame when it unpacks: above are interpreted frames of any size. */
	for (unsigned int odd = 0; odd < 2; odd++) {
		leaf_begin(IN_BODY, "90", "90", 8);
		memcpy(world_heap + (BLOB_AT(SEGMENT_OF_CODE) - HEAP_AT) + FIELD_COMPLETE, &never,
		       2);
		world.sp -= 8 + 8 * odd;
		world_stack[top - 2 - odd] = RA_OF(7);
		world_stack[top - 3 - odd] = world_word(top + 10); /* an old word */
		world.fp = world_word(top - 2 - odd);
		world.leaf = 0;
		world.native = 1;
		expect_caller("deopt", RA_OF(top - 1 - odd), world_word(top - odd), RA_OF(7));
	}
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
		cmocka_unit_test(test_pops_behind_call),
		cmocka_unit_test(test_saved_below_frame),
		cmocka_unit_test(test_trigonometry),
		cmocka_unit_test(test_saved_interpreter_address),
		cmocka_unit_test(test_certain_frame),
		cmocka_unit_test(test_other_stubs_frame),
		cmocka_unit_test(test_aligned_for_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
