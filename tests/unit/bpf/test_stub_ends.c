// SPDX-License-Identifier: Apache-2.0
/* The leaf in a stub, question by question: what the bytes at pc say, and who its sender is. */
#include "test.h"

#include "stub_world.h"

#define FP (SP_WORD + 20)

/* BEHIND and AT are bytes right before pc and from there on. */
static void begin_at(const char *behind, size_t behind_len, const char *at, size_t at_len)
{
	stub_begin(behind, behind_len, at, at_len);
	assert_int_equal(compiled_look(&world, &world_memory), UNWIND_GO_ON);
	assert_int_equal(compiled_read_text(&world, &world_memory), UNWIND_GO_ON);
	world.window_at = 0;
}

#define AT(behind, at) begin_at(behind, sizeof(behind) - 1, at, sizeof(at) - 1)

static void put_word(unsigned int word, uint64_t value)
{
	world_stack[word] = value;
	world.window_at = 0;
}

/* --- the return address by the bytes at pc ---------------------------------------------------- */

static void expect_decided(unsigned int word)
{
	uint64_t at = stub_decide(&world, &world_memory);

	assert_true(at == (word ? world_word(word) : 0));
}

static void what_the_bytes_say(void **state)
{
	(void)state;
	AT("\x90", "\xc3");
	expect_decided(SP_WORD);
	AT("\x90", "\x5d\xc3");
	expect_decided(SP_WORD + 1);
	AT("\x55", "\x48\x8b\xec");
	expect_decided(SP_WORD + 1);
	AT("\x90", "\x90");
	expect_decided(0);
	/* The end of a barrier that was left: at each of its last three instructions. */
	AT("\x90", "\x48\x85\x24\x24\x48\x8b\x24\x24");
	put_word(SP_WORD, world_word(200));
	put_word(200, RA);
	expect_decided(200);
	AT("\x90", "\x48\x8b\x24\x24\xff\x64\x24\xf8");
	put_word(SP_WORD, world_word(200));
	put_word(200, RA);
	expect_decided(200);
	AT("\x90", "\xff\x64\x24\xf8");
	put_word(SP_WORD, world_word(200));
	expect_decided(SP_WORD);
}

/* %rbp is the stub's, and there is no return address where the bytes say. */
static void a_frame_that_is_this_stubs(void **state)
{
	(void)state;
	AT("\x90", "\xc3");
	world.fp = world_word(FP);
	put_word(FP + 1, RA);
	put_call(RA, CODE_OF(STUBS) + 32);
	assert_true(stub_is_within(&world, &world_memory, world_word(SP_WORD)));
	put_word(SP_WORD, OLD_RA);
	assert_false(stub_is_within(&world, &world_memory, world_word(SP_WORD)));
	put_word(SP_WORD, 0x10);
	put_call(RA, STUB_PC + 8);
	assert_false(stub_is_within(&world, &world_memory, world_word(SP_WORD)));
	put_call(RA, CODE_OF(STUBS) + 32);
	assert_false(stub_is_within(&world, &world_memory, STACK_AT - 8));
	world.sp = world.fp + 8;
	assert_false(stub_is_within(&world, &world_memory, world_word(SP_WORD)));
}

/* --- the sender ------------------------------------------------------------------------------- */

/* Behind the return address at SP_WORD, or where %r13 says: R13 words above sp. */
static unsigned int sender_word(unsigned int r13, int is_one, int other_is)
{
	AT("\x90", "\x48\x89\x74\x24\x08");
	put_word(SP_WORD + 1 + 7, is_one ? OLD_RA : 0x33);
	put_word(SP_WORD + r13 + 7, other_is ? OLD_RA : 0x33);
	world.leaf_regs[DWARF_R13] = world_word(SP_WORD + r13);
	return (unsigned int)((stub_sender_sp(&world, &world_memory, RA, world_word(SP_WORD + 1)) -
			       world_word(SP_WORD)) /
			      8);
}

static void who_has_sent(void **state)
{
	(void)state;
	assert_int_equal(sender_word(6, 0, 1), 6);
	assert_int_equal(sender_word(6, 1, 1), 1);
	assert_int_equal(sender_word(6, 1, 0), 1);
	assert_int_equal(sender_word(6, 0, 0), 1);
	/* 255 words of arguments at most, and never below. */
	assert_int_equal(sender_word(511, 0, 1), 511);
	assert_int_equal(sender_word(512, 0, 1), 1);
	sender_word(6, 0, 1);
	world.leaf_regs[DWARF_R13] = world_word(SP_WORD);
	assert_true(stub_sender_sp(&world, &world_memory, RA, world_word(SP_WORD + 1)) ==
		    world_word(SP_WORD + 1));
	/* What the caller takes off behind the call is not the sender's. */
	sender_word(6, 0, 1);
	put(RA, "\x58\x90", 2);
	put_word(SP_WORD + 2 + 7, OLD_RA);
	assert_true(stub_sender_sp(&world, &world_memory, RA, world_word(SP_WORD + 1)) ==
		    world_word(SP_WORD + 1));
	/* An adapter to the interpreter has noted it. */
	AT("\x58\x4c\x8b\xec\x48\x83\xec\x20\x48\x89\x04\x24", "\x48\x89\x74\x24\x08");
	put_word(SP_WORD + 1 + 7, OLD_RA);
	world.leaf_regs[DWARF_R13] = world_word(SP_WORD + 6);
	assert_true(stub_sender_sp(&world, &world_memory, RA, world_word(SP_WORD + 1)) ==
		    world_word(SP_WORD + 6));
}

/* --- the call stub ---------------------------------------------------------------------------- */

static int is_call_stub(int64_t from_return, uint64_t ra)
{
	AT("\x90", "\x90");
	world.jvm.call_stub_return = STUB_PC - (uint64_t)from_return;
	world.fp = world_word(FP);
	put_word(FP + 1, ra);
	return stub_is_call_stub(&world, &world_memory);
}

static void the_call_stub(void **state)
{
	(void)state;
	assert_true(is_call_stub(0, NATIVE_AT + 64));
	assert_true(is_call_stub(-320, NATIVE_AT + 64));
	assert_false(is_call_stub(-321, NATIVE_AT + 64));
	assert_true(is_call_stub(159, NATIVE_AT + 64));
	assert_false(is_call_stub(160, NATIVE_AT + 64));
	assert_false(is_call_stub(0, RA));
	assert_false(is_call_stub(0, 64));
	is_call_stub(0, NATIVE_AT + 64);
	world.sp = world.fp + 8;
	assert_false(stub_is_call_stub(&world, &world_memory));
}

/* --- registers -------------------------------------------------------------------------------- */

/* pop %rdx; mov d(%r15),%rax; movq $0,d(%r15); jmp *%rbx: each byte counts, wherever pc is. */
static void a_return_address_in_rdx(void **state)
{
	static const uint8_t code[] = { 0x5a, 0x49, 0x8b, 0x47, 0x08, 0x49, 0xc7, 0x47,
					0x08, 0,    0,	  0,	0,    0xff, 0xe3 };

	/* The bytes that say so. */
	static const struct {
		unsigned int at;
		const char *bytes;
	} cases[] = {
		{ 1, "\x01\x02\x03\x04" },
		{ 5, "\x01\x02\x03\x04\x06\x07\x08" },
		{ 13, "\x01\x06\x07\x08\x0e\x0f" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t text[64];

		memset(text, 0, sizeof(text));
		memcpy(text + 20, code, sizeof(code));
		assert_true(stub_has_rdx(text + 20 + cases[i].at));
		for (const char *byte = cases[i].bytes; *byte; byte++) {
			text[20 + *byte - 1] ^= 0xff;
			if (stub_has_rdx(text + 20 + cases[i].at))
				fail_msg("pc %u: byte %d does not matter", cases[i].at, *byte);
			text[20 + *byte - 1] ^= 0xff;
		}
	}
	assert_true(stub_has_rdx((const uint8_t *)"\x5a\xff\xe3" + 1));
	assert_false(stub_has_rdx((const uint8_t *)"\x5a\xff\xe2" + 1));
}

/* With a moved sp %r13 is the sender's; it is not asked whether it fits. */
static void what_an_adapter_popped(void **state)
{
	(void)state;
	for (int moved = 0; moved < 2; moved++) {
		AT("\x90", "\x90");
		put_word(SP_WORD + 7, OLD_RA); /* the frame that begins at sp checks out */
		world.leaf_regs[DWARF_RAX] = RA;
		world.leaf_regs[DWARF_R13] = world_word(SP_WORD + 6);
		assert_int_equal(stub_enter_popped(&world, &world_memory, moved), UNWIND_GO_ON);
		assert_true(world.pc == RA && world.fp == 0x1234);
		assert_true(world.sp == world_word(SP_WORD + (moved ? 6 : 0)));
	}
	AT("\x90", "\x90");
	world.leaf_regs[DWARF_RAX] = RA;
	world.leaf_regs[DWARF_R13] = 3;
	assert_int_equal(stub_enter_popped(&world, &world_memory, 1), UNWIND_GO_ON);
	assert_true(world.sp == world_word(SP_WORD));
}

/* The words around a return address: a frame pointer that was pushed, or a whole frame. */
static void what_is_around_a_return_address(void **state)
{
	static const unsigned int words[] = { SP_WORD, SP_WORD + 1, SP_WORD + 5, FP + 1 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		AT("\x90", "\x90");
		world.fp = world_word(FP);
		put_word(words[i], RA);
		assert_int_equal(stub_follow(&world, &world_memory, world_word(words[i])),
				 UNWIND_GO_ON);
		assert_true(world.pc == RA && world.sp == world_word(words[i] + 1));
		assert_true(world.fp == (i == 1	  ? 0x10 + SP_WORD
					 : i == 3 ? 0x10 + FP
						  : world_word(FP)));
	}
	AT("\x90", "\x90");
	assert_int_equal(stub_follow(&world, &world_memory, STACK_AT - 8), UNWIND_STOP);
}

/* --- adapters --------------------------------------------------------------------------------- */

static void how_an_adapter_begins(void **state)
{
	static const struct {
		const char *code;
		unsigned int bytes;
	} cases[] = { { "\x4c\x8b\xdc\x58\x90\x90\x90\x90", 4 },
		      { "\x48\x8b\x04\x24\x4c\x8b\xdc\x90", 7 } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AT("\x90", "\x90");
		put(CODE_OF(STUBS), cases[i].code, 8);
		assert_true(stub_in_adapter(&world, &world_memory));
		for (unsigned int byte = 0; byte < 8; byte++) {
			world_heap[CODE_OF(STUBS) - HEAP_AT + byte] ^= 0xff;
			assert_int_equal(stub_in_adapter(&world, &world_memory),
					 byte >= cases[i].bytes);
			world_heap[CODE_OF(STUBS) - HEAP_AT + byte] ^= 0xff;
		}
		assert_false(stub_is_adapter_leaf(&world, &world_memory));
		put_word(SP_WORD, RA);
		assert_true(stub_is_adapter_leaf(&world, &world_memory));
	}
	world.jvm.code_begin_kind = WIRE_CODE_BEGIN_POINTER;
	assert_false(stub_in_adapter(&world, &world_memory));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_bytes_say),
		cmocka_unit_test(a_frame_that_is_this_stubs),
		cmocka_unit_test(who_has_sent),
		cmocka_unit_test(the_call_stub),
		cmocka_unit_test(a_return_address_in_rdx),
		cmocka_unit_test(what_an_adapter_popped),
		cmocka_unit_test(what_is_around_a_return_address),
		cmocka_unit_test(how_an_adapter_begins),
	};

	return cmocka_run_group_tests_name("stub_ends", tests, NULL, NULL);
}
