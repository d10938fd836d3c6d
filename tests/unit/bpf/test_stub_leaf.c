// SPDX-License-Identifier: Apache-2.0
/* The leaf in stubs and adapters, which have no frame size, and stubs that call on. */
#include "test.h"

#include "stub_world.h"

static void test_frameless(void **state)
{
	(void)state;
	BEGIN("\x90", "\x90");
	world_stack[SP_WORD] = RA;
	expect_caller(RA, SP_WORD + 1, 0x1234);
	BEGIN("\x90", "\xc3"); /* ret: whatever [sp] is */
	world_stack[SP_WORD] = RA;
	world_stack[SP_WORD + 1] = OLD_RA;
	expect_caller(RA, SP_WORD + 1, 0x1234);
}

static void test_pushed_frame_pointer(void **state)
{
	(void)state;
	BEGIN("\x90", "\x90");
	world_stack[SP_WORD + 1] = RA;
	expect_caller(RA, SP_WORD + 2, 0x10 + SP_WORD);
}

/* By %rbp, with registers below it over an old return address. */
static void test_frame_pointer(void **state)
{
	(void)state;
	BEGIN("\x90", "\x90");
	world.fp = world_word(SP_WORD + 20);
	world_stack[SP_WORD + 21] = RA;
	put_call(RA, CODE_OF(STUBS) + 64);
	world_stack[SP_WORD + 2] = OLD_RA;
	put_call(OLD_RA, CODE_OF(STUBS) + 32);
	expect_caller(RA, SP_WORD + 22, 0x10 + SP_WORD + 20);
}

/* The stub that was called has jumped to one in front of it, with its frame. */
static void test_frame_of_another_stub(void **state)
{
	(void)state;
	for (unsigned int enters = 0; enters < 2; enters++) {
		BEGIN("\x90", "\x90");
		world.fp = world_word(SP_WORD + 20);
		world_stack[SP_WORD + 21] = RA;
		put_call(RA, STUB_PC + 64);
		if (enters)
			put(STUB_PC + 64, "\x55\x48\x8b\xec", 4);
		world_stack[SP_WORD + 2] = OLD_RA;
		put_call(OLD_RA, CODE_OF(STUBS) + 32);
		if (enters)
			expect_caller(RA, SP_WORD + 22, 0x10 + SP_WORD + 20);
		else
			expect_caller(OLD_RA, SP_WORD + 3, world_word(SP_WORD + 20));
	}
}

/* Compiled code leaves an interpreted frame's address in %rbp: that came through a stub as well. */
static void test_other_frame_pointer(void **state)
{
	(void)state;
	for (unsigned int enters = 0; enters < 2; enters++) {
		BEGIN("\x90", "\x90");
		world.fp = world_word(SP_WORD + 20);
		world_stack[SP_WORD] = RA;
		put_call(RA, CODE_OF(STUBS) + 32);
		world_stack[SP_WORD + 21] = OLD_RA;
		put_call(OLD_RA, CODE_OF(STUBS) + 64);
		if (enters) {
			put(CODE_OF(STUBS) + 64, "\x55\x48\x8b\xec", 4);
			expect_caller(OLD_RA, SP_WORD + 22, 0x10 + SP_WORD + 20);
		} else {
			expect_caller(RA, SP_WORD + 1, world_word(SP_WORD + 20));
		}
	}
}

/* The call leads to a changing inline cache, which jumps here: nearer than an older frame's. */
static void test_inline_cache(void **state)
{
	int32_t displacement = (int32_t)(CODE_OF(STUBS) + 32 - (CODE_OF(OTHER) + 32 + 15));

	(void)state;
	BEGIN("\x90", "\x90");
	put_call(RA, CODE_OF(OTHER) + 32);
	put(CODE_OF(OTHER) + 32, "\x48\xb8\1\2\3\4\5\6\7\0\xe9", 11);
	put(CODE_OF(OTHER) + 32 + 11, &displacement, 4);
	world_stack[SP_WORD] = RA;
	world_stack[SP_WORD + 4] = OLD_RA;
	put_call(OLD_RA, CODE_OF(STUBS) + 32);
	expect_caller(RA, SP_WORD + 1, 0x1234);
}

/* Registers are pushed: the word is taken whose call leads to a place in front of pc. */
static void test_scan(void **state)
{
	(void)state;
	BEGIN("\x90", "\x90");
	world_stack[SP_WORD + 2] = OLD_RA;
	put_call(OLD_RA, STUB_PC + 64);
	world_stack[SP_WORD + 4] = RA;
	put_call(RA, CODE_OF(STUBS) + 32);
	expect_caller(RA, SP_WORD + 5, 0x1234);
}

static void test_called_by_native_code(void **state)
{
	(void)state;
	/* The fixture's native code cannot be read; a return address in the stack's piece can. */
	BEGIN("\x90", "\x90");
	world_stack[SP_WORD] = world_word(10);
	world_stack[9] = 0xd0ff000000000000; /* call *%rax */
	world_stack[SP_WORD + 1] = OLD_RA;
	expect_caller(world_word(10), SP_WORD + 1, 0x1234);
	BEGIN("\x90", "\x90");
	world_stack[SP_WORD] = world_word(10);
	world_stack[9] = 0x17ff410000000000; /* call *(%r15): SafeFetchN() of JDK 11 */
	world_stack[SP_WORD + 1] = OLD_RA;
	expect_caller(world_word(10), SP_WORD + 1, 0x1234);
	/* get_cpu_info: push %rbp; mov %rdi,%rbp; push %rbx; push %rsi; pushf; pop %rax; push %rax. */
	BEGIN("\x55\x48\x8b\xef\x53\x56\x9c\x58\x50", "\x48\x8b\xc8");
	world_stack[SP_WORD + 4] = world_word(10);
	world_stack[9] = 0xd0ff000000000000;
	expect_caller(world_word(10), SP_WORD + 5, 0x10 + SP_WORD + 3);
	/* The same, where it was called by the address in %rax, and %rsi has it too. */
	BEGIN("\x55\x48\x8b\xef\x53\x56\x9c", "\x58\x50\x48\x8b\xc8");
	world_stack[SP_WORD + 1] = world.leaf_regs[DWARF_RAX] = STUB_PC - 7;
	world_stack[SP_WORD + 4] = world_word(10);
	world_stack[9] = 0xd0ff000000000000;
	expect_caller(world_word(10), SP_WORD + 5, 0x10 + SP_WORD + 3);
}

/* The nmethod entry barrier has -1 above its frame. */
static void test_entry_barrier(void **state)
{
	(void)state;
	BEGIN("\x68\xff\xff\xff\xff", "\x55\x48\x8b\xec");
	world_stack[SP_WORD] = ~0ULL;
	world_stack[SP_WORD + 1] = RA;
	expect_caller(RA, SP_WORD + 2, 0x1234);
	BEGIN("\x68\xff\xff\xff\xff\x55", "\x48\x8b\xec");
	world_stack[SP_WORD + 1] = ~0ULL;
	world_stack[SP_WORD + 2] = RA;
	expect_caller(RA, SP_WORD + 3, 0x10 + SP_WORD);
	BEGIN("\x6a\xff\x55", "\x48\x8b\xec");
	world_stack[SP_WORD + 1] = ~0ULL;
	world_stack[SP_WORD + 2] = RA;
	expect_caller(RA, SP_WORD + 3, 0x10 + SP_WORD);
	/* pop %rdi; leave; add $8,%rsp */
	BEGIN("\x5f\xc9", "\x48\x83\xc4\x08\xc3");
	world_stack[SP_WORD] = ~0ULL;
	world_stack[SP_WORD + 1] = RA;
	expect_caller(RA, SP_WORD + 2, 0x1234);
	BEGIN("\x90", "\x90");
	world.leaf = 0; /* it calls on */
	world.fp = world_word(SP_WORD + 20);
	world_stack[SP_WORD + 21] = ~0ULL;
	world_stack[SP_WORD + 22] = RA;
	expect_caller(RA, SP_WORD + 23, 0x10 + SP_WORD + 20);
}

/* In the frame of who called one may lie what another one has left: at its first instruction, and at its last. */
static void test_cookie_of_another_barrier(void **state)
{
	(void)state;
	for (unsigned int way = 0; way < 3; way++) {
		if (way == 0)
			BEGIN("\xcc", "\x68\xff\xff\xff\xff\x55");
		else if (way == 1)
			BEGIN("\xcc", "\x6a\xff\x55");
		else
			BEGIN("\xc9\x48\x83\xc4\x08", "\xc3");
		world_stack[SP_WORD] = RA;
		world_stack[SP_WORD + 1] = ~0ULL;
		world_stack[SP_WORD + 2] = OLD_RA;
		expect_caller(RA, SP_WORD + 1, 0x1234);
	}
}

/*
 * Its method is not entered any more: the cookie says where the caller's return address is. Also at
 * the end: add; pop; leave; test %rsp,(%rsp); mov (%rsp),%rsp; jmp *-8(%rsp) (JDK 28).
 */
static void test_left_barrier(void **state)
{
	static const char end[] = "\x5f\xc9\x48\x85\x24\x24\x48\x8b\x24\x24\xff\x64\x24\xf8";

	(void)state;
	for (unsigned int leaf = 0; leaf < 2; leaf++) {
		BEGIN("\x90", "\x90");
		world.leaf = (uint8_t)leaf;
		world.fp = world_word(SP_WORD + 20);
		world_stack[SP_WORD + 21] = world_word(SP_WORD + 30);
		world_stack[SP_WORD + 22] = OLD_RA;
		world_stack[SP_WORD + 30] = RA;
		expect_caller(RA, SP_WORD + 31, 0x10 + SP_WORD + 20);
	}
	for (size_t at = 2; at <= 10; at += 4) {
		stub_begin(end, at, end + at, sizeof(end) - 1 - at);
		world_stack[SP_WORD] = at < 10 ? world_word(SP_WORD + 10) : RA;
		world_stack[SP_WORD + 1] = OLD_RA;
		world_stack[SP_WORD + 10] = RA;
		expect_caller(RA, SP_WORD + (at < 10 ? 11 : 1), 0x1234);
	}
}

/*
 * Shenandoah's barrier in C1's stub, JDK 28: push %rbp; mov %rsp,%rbp; sub $0x150,%rsp within the
 * frame, whose %rbp is word 20 above sp. As a leaf at its first two instructions, and behind; calling.
 */
static void test_frame_within_frame(void **state)
{
	static const char enter[] = "\x55\x48\x8b\xec\x48\x81\xec\x50\x01\x00\x00\x48\x89\x04\x24";
	static const size_t at[] = { 0, 1, 11, 11 };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		stub_begin(enter, at[i], enter + at[i], sizeof(enter) - 1 - at[i]);
		put_call(RA, CODE_OF(STUBS));
		world.leaf = i < 3;
		world.fp = world.leaf_regs[DWARF_RBP] = world_word(SP_WORD + (i < 2 ? 20 : 10));
		world_stack[SP_WORD + 10] = world_word(SP_WORD + 20);
		world_stack[SP_WORD + 20] = 0x7777;
		world_stack[SP_WORD + 21] = RA;
		expect_caller(RA, SP_WORD + 22, 0x7777);
	}
}

/* c2i of JDK 17: pop %rax; mov %rsp,%r13; sub; mov %rax,(%rsp). */
static void test_popped(void **state)
{
	(void)state;
	BEGIN("\x58", "\x4c\x8b\xec\x48\x83\xec\x20");
	world.leaf_regs[DWARF_RAX] = RAX_RA;
	world_stack[SP_WORD] = OLD_RA;
	expect_caller(RAX_RA, SP_WORD, 0x1234);
	BEGIN("\x58\x4c\x8b\xec\x48\x83\xec\x20", "\x48\x89\x04\x24");
	world.leaf_regs[DWARF_RAX] = RAX_RA;
	world.leaf_regs[DWARF_R13] = world_word(SENDER);
	world_stack[SP_WORD] = OLD_RA;
	expect_caller(RAX_RA, SENDER, 0x1234);
	/* Of JDK 25: lea 8(%rsp),%r13; pop %rax; sub; push %rax. */
	BEGIN("\x4c\x8d\x6c\x24\x08\x58\x48\x83\xec\x10", "\x50");
	world.leaf_regs[DWARF_RAX] = RAX_RA;
	world.leaf_regs[DWARF_R13] = world_word(SENDER);
	world_stack[SP_WORD] = OLD_RA;
	expect_caller(RAX_RA, SENDER, 0x1234);
}

/* i2c of JDK 17: mov (%rsp),%rax; mov %rsp,%r11; sub $32,%rsp; and $-16,%rsp; push %rax. */
static void test_copied(void **state)
{
	static const char code[] =
		"\x48\x8b\x04\x24\x4c\x8b\xdc\x48\x83\xec\x20\x48\x83\xe4\xf0\x50";
	static const unsigned int lowered[] = { 11, 15 };

	(void)state;
	BEGIN("\x48\x8b\x04\x24\x4c\x8b\xdc\x48\x83\xe4\xf0", "\x50");
	world.leaf_regs[DWARF_RAX] = RAX_RA;
	world_stack[SP_WORD] = OLD_RA;
	expect_caller(RAX_RA, SP_WORD, 0x1234);
	for (size_t i = 0; i < ARRAY_SIZE(lowered); i++) {
		stub_begin(code, lowered[i], code + lowered[i], sizeof(code) - 1 - lowered[i]);
		world.leaf_regs[DWARF_RAX] = RAX_RA;
		world_stack[SP_WORD] = OLD_RA;
		expect_caller(RAX_RA, SP_WORD, 0x1234);
	}
	/* Not yet. */
	stub_begin(code, 7, code + 7, sizeof(code) - 1 - 7);
	world.leaf_regs[DWARF_RAX] = RAX_RA;
	world_stack[SP_WORD] = RA;
	expect_caller(RA, SP_WORD + 1, 0x1234);
}

/* Between pop %rdx and jmp *%rbx: C1's unwind_exception of JDK 17, the stub that forwards exceptions. */
static void test_in_rdx(void **state)
{
	static const char forward[] = "\x5a\x49\x8b\x47\x08\x49\xc7\x47\x08\0\0\0\0\xff\xe3";
	static const unsigned int at[] = { 1, 5, 13 };

	(void)state;
	BEGIN("\x49\x8b\xc6\x5a", "\xff\xe3");
	world.leaf_regs[DWARF_RDX] = RAX_RA;
	world_stack[SP_WORD] = world_stack[SP_WORD + 1] = OLD_RA;
	expect_caller(RAX_RA, SP_WORD, 0x1234);
	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		stub_begin(forward, at[i], forward + at[i], sizeof(forward) - 1 - at[i]);
		world.leaf_regs[DWARF_RDX] = RAX_RA;
		world_stack[SP_WORD] = world_stack[SP_WORD + 1] = OLD_RA;
		expect_caller(RAX_RA, SP_WORD, 0x1234);
	}
	/* At the pop. */
	BEGIN("\x49\x8b\xc6", "\x5a\xff\xe3");
	world.leaf_regs[DWARF_RDX] = RAX_RA;
	world_stack[SP_WORD] = RA;
	expect_caller(RA, SP_WORD + 1, 0x1234);
}

/* Where an adapter copies arguments %r13 is the caller's stack pointer; elsewhere any value. */
static void test_sender_sp(void **state)
{
	(void)state;
	BEGIN("\x58\x4c\x8b\xec\x48\x83\xec\x20\x48\x89\x04\x24", "\x48\x89\x74\x24\x08");
	world_stack[SP_WORD] = RA;
	world.leaf_regs[DWARF_R13] = world_word(SENDER);
	expect_caller(RA, SENDER, 0x1234);
	BEGIN("\x90", "\x48\x89\x74\x24\x08");
	world_stack[SP_WORD] = RA;
	world_stack[SP_WORD + 1 + 7] = OLD_RA; /* the frame behind it checks out */
	world.leaf_regs[DWARF_R13] = world_word(SENDER);
	expect_caller(RA, SP_WORD + 1, 0x1234);
}

/* d2l_fixup: the caller has pushed a word and pops the result; %r13 is an old adapter's. */
static void test_sender_has_pushed(void **state)
{
	(void)state;
	BEGIN("\x90", "\x48\x89\x74\x24\x08");
	put(RA, "\x58\x90", 2);
	world_stack[SP_WORD] = RA;
	world_stack[SP_WORD + 2 + 7] = OLD_RA;
	world_stack[SENDER + 7] = OLD_RA;
	world.leaf_regs[DWARF_R13] = world_word(SENDER);
	expect_caller(RA, SP_WORD + 2, 0x1234);
}

/* An adapter that called native code to have its caller patched. */
static void test_adapter_calls(void **state)
{
	(void)state;
	BEGIN("\x90", "\x90");
	world.leaf = 0;
	world.r13 = world_word(SP_WORD + 30);
	world_stack[SP_WORD + 30] = RA;
	put_call(RA, CODE_OF(STUBS) + 32);
	expect_caller(RA, SP_WORD + 31, 0x1234);
}

/*
 * The same where the call leads to a stub of the caller's own, or was patched: by the bytes behind
 * the call, and as the leaf by what is ahead.
 */
static void patch_begin(const char *at, size_t len)
{
	stub_begin("\x90", 1, at, len);
	world.r13 = world.leaf_regs[DWARF_R13] = world_word(SP_WORD + 30);
	world_stack[SP_WORD + 30] = RA;
	put_call(RA, CODE_OF(CALLER_SEGMENT) + 256);
	/* %rbp is the call stub's, and an old word is on the stack. */
	world.fp = world_word(SP_WORD + 40);
	world_stack[SP_WORD + 41] = NATIVE_AT + 64;
}

#define PATCH_BEGIN(at) patch_begin(at, sizeof(at) - 1)

static void test_adapter_patches(void **state)
{
	(void)state;
	PATCH_BEGIN("\xc5\xf8\x77\x48\x0f\xae\x0c\x24");
	world.leaf = 0;
	expect_caller(RA, SP_WORD + 31, world_word(SP_WORD + 40));
	PATCH_BEGIN("\x48\x0f\xae\x0c\x24");
	world.leaf = 0;
	expect_caller(RA, SP_WORD + 31, world_word(SP_WORD + 40));
	/* sub $8,%rsp; ... fxsave (%rsp) */
	PATCH_BEGIN("\x48\x83\xec\x08\x48\x89\x44\x24\x78\x48\x0f\xae\x04\x24");
	world_stack[SP_WORD] = OLD_RA;
	expect_caller(RA, SP_WORD + 31, world_word(SP_WORD + 40));
	/* popf; mov %r13,%rsp: at each */
	for (unsigned int i = 0; i < 2; i++) {
		PATCH_BEGIN("\x9d\x49\x8b\xe5");
		world.pc += i;
		world_stack[SP_WORD] = OLD_RA;
		expect_caller(RA, SP_WORD + 31, world_word(SP_WORD + 40));
	}
	/* Not yet: mov %rsp,%r13; mov (%rsp),%rax; and $-16,%rsp; ... fxsave. */
	PATCH_BEGIN("\x4c\x8b\xec\x48\x8b\x04\x24\x48\x83\xe4\xf0\x48\x0f\xae\x04\x24");
	world_stack[SP_WORD] = OLD_RA;
	expect_caller(OLD_RA, SP_WORD + 1, world_word(SP_WORD + 40));
}

/* Through a vtable stub, below an interpreted frame at %rbp that was called through the same CODE. */
static void enter_again(const char *code)
{
	put(CODE_OF(STUBS), code, 8);
	world_stack[SP_WORD] = RA;
	world.fp = world_word(SP_WORD + 20);
	world_stack[SP_WORD + 21] = OLD_RA;
	put_call(OLD_RA, CODE_OF(STUBS) + 32);
}

static void test_adapter_entered_again(void **state)
{
	(void)state;
	/* JDK 25, cmpq $0,0x48(%rbx) */
	BEGIN("\x90", "\x48\x83\x7b\x48\x00");
	enter_again("\x4c\x8b\xdc\x58\x48\x83\xe4\xf0");
	expect_caller(RA, SP_WORD + 1, world_word(SP_WORD + 20));
	/* JDK 17, behind sub $32,%rsp; mov %rax,(%rsp) */
	BEGIN("\x58\x4c\x8b\xec\x48\x83\xec\x20\x48\x89\x04\x24", "\x89\x74\x24\x18");
	enter_again("\x48\x8b\x04\x24\x4c\x8b\xdc\x48");
	world.leaf_regs[DWARF_R13] = world_word(SENDER);
	expect_caller(RA, SENDER, world_word(SP_WORD + 20));
	BEGIN("\x90", "\x48\x83\x7b\x48\x00"); /* any other stub */
	enter_again("\x48\x8b\x04\x24\x4c\x8b\xec\x48");
	expect_caller(OLD_RA, SP_WORD + 22, 0x10 + SP_WORD + 20);
}

/* C1's unwind_exception has no frame when it calls on, or a word of alignment. */
static void test_stub_calls(void **state)
{
	(void)state;
	for (unsigned int words = 0; words < 2; words++) {
		BEGIN("\x90", "\x90");
		world.leaf = 0;
		world_stack[SP_WORD + words] = RA;
		expect_caller(RA, SP_WORD + words + 1, 0x1234);
	}
}

/* The call stub before and behind the call: its caller is native, old words don't count. */
static void test_call_stub_leaf(void **state)
{
	(void)state;
	for (int i = -1; i < 2; i += 2) {
		BEGIN("\x90", "\x90");
		world.jvm.call_stub_return = STUB_PC + (uint64_t)(i * 40);
		world.fp = world_word(SP_WORD + 20);
		world_stack[SP_WORD] = world.jvm.call_stub_return;
		world_stack[SP_WORD + 21] = NATIVE_AT + 64;
		expect_caller(NATIVE_AT + 64, SP_WORD + 22, 0x10 + SP_WORD + 20);
	}
}

static void test_nothing_fits(void **state)
{
	(void)state;
	BEGIN("\x90", "\x90");
	assert_int_equal(world_step(), UNWIND_STOP);
	assert_int_equal(world.reason, UNWIND_JAVA_FRAME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frameless),
		cmocka_unit_test(test_pushed_frame_pointer),
		cmocka_unit_test(test_frame_pointer),
		cmocka_unit_test(test_frame_of_another_stub),
		cmocka_unit_test(test_other_frame_pointer),
		cmocka_unit_test(test_inline_cache),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_called_by_native_code),
		cmocka_unit_test(test_entry_barrier),
		cmocka_unit_test(test_cookie_of_another_barrier),
		cmocka_unit_test(test_left_barrier),
		cmocka_unit_test(test_frame_within_frame),
		cmocka_unit_test(test_popped),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_in_rdx),
		cmocka_unit_test(test_sender_sp),
		cmocka_unit_test(test_sender_has_pushed),
		cmocka_unit_test(test_adapter_calls),
		cmocka_unit_test(test_adapter_patches),
		cmocka_unit_test(test_adapter_entered_again),
		cmocka_unit_test(test_stub_calls),
		cmocka_unit_test(test_call_stub_leaf),
		cmocka_unit_test(test_nothing_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
