// SPDX-License-Identifier: Apache-2.0
/* The step functions in their userspace seat: recorded stacks, and memories made to mislead. */
#include "test.h"

#include "base/macros.h"
#include "recorded_stack.h"
#include "walk_copy.h"

#ifndef TEST_DATA
#define TEST_DATA "tests/data"
#endif

static struct walk_result result;

static void walk_recording(const char *name, struct recorded_stack *s)
{
	char path[256];
	struct unwind_memory memory = { .read = recorded_read, .data = s };

	snprintf(path, sizeof(path), TEST_DATA "/stacks/%s.stack", name);
	if (recorded_load(path, s) < 0)
		fail_msg("%s cannot be read; run from the top of the tree", path);
	walk_stack(&s->request, &memory, &result);
}

static void expect_gdb_frames(const char *name, size_t frames)
{
	static struct recorded_stack s;

	walk_recording(name, &s);
	assert_int_equal(s.frame_count, frames);
	if (result.frames != frames)
		fail_msg("%s: %u frames, gdb has %zu; the walk ended with reason %d", name,
			 result.frames, frames, result.reason);
	assert_int_equal(result.word_count, frames);
	for (size_t i = 0; i < frames; i++)
		if ((result.words[i] & WIRE_FRAME_ADDRESS_MASK) != s.frames[i])
			fail_msg("%s: frame %zu is %#" PRIx64 ", gdb says %#" PRIx64, name, i,
				 result.words[i] & WIRE_FRAME_ADDRESS_MASK, s.frames[i]);
	assert_int_equal(result.reason, UNWIND_DONE);
	assert_true(result.words[0] & WIRE_FRAME_EXACT);
}

static void test_recorded_body(void **state)
{
	(void)state;
	expect_gdb_frames("body", 12);
}

static void test_recorded_prologue(void **state)
{
	(void)state;
	expect_gdb_frames("entry", 12);
	expect_gdb_frames("pushed", 12);
}

static void test_recorded_return(void **state)
{
	(void)state;
	expect_gdb_frames("ret", 12);
}

/* Through a signal frame; the interrupted pc is exact, the frames around it are not. */
static void test_recorded_signal(void **state)
{
	(void)state;
	expect_gdb_frames("handler", 6);
	assert_false(result.words[1] & WIRE_FRAME_EXACT);
	assert_false(result.words[2] & WIRE_FRAME_EXACT);
	assert_true(result.words[3] & WIRE_FRAME_EXACT);
	assert_false(result.words[4] & WIRE_FRAME_EXACT);
	expect_gdb_frames("handler_entry", 6);
}

static void test_depth_limit(void **state)
{
	static struct recorded_stack s;
	struct unwind_memory memory = { .read = recorded_read, .data = &s };

	(void)state;
	walk_recording("body", &s);
	s.request.max_frames = 5;
	walk_stack(&s.request, &memory, &result);
	assert_int_equal(result.frames, 5);
	assert_int_equal(result.reason, UNWIND_DEPTH);
	/* A stack that has exactly the limit is whole. */
	s.request.max_frames = 12;
	walk_stack(&s.request, &memory, &result);
	assert_int_equal(result.reason, UNWIND_DONE);
}

/* A stack of words at 0x7000_0000_0000, code that is no pattern at 0x40_0000. */
#define STACK_AT 0x700000000000ULL
#define CODE_AT	 0x400000ULL

struct fake {
	uint64_t stack[1024];
	uint8_t code[256];
	struct walk_piece pieces[2];
	struct walk_copy copy;
};

static struct unwind_memory fake_init(struct fake *f)
{
	memset(f, 0, sizeof(*f));
	memset(f->code, 0x90, sizeof(f->code));
	f->pieces[0] = (struct walk_piece){ STACK_AT, sizeof(f->stack), (uint8_t *)f->stack };
	f->pieces[1] = (struct walk_piece){ CODE_AT, sizeof(f->code), f->code };
	f->copy = (struct walk_copy){ f->pieces, 2 };
	return walk_memory_of_copy(&f->copy);
}

static struct walk_request fake_request(uint64_t sp_word, uint64_t fp)
{
	return (struct walk_request){
		.pc = CODE_AT + 64,
		.regs = { [DWARF_RSP] = STACK_AT + 8 * sp_word, [DWARF_RBP] = fp },
		.exact = true,
	};
}

static void walk_expect(const struct walk_request *request, struct unwind_memory *memory,
			uint32_t frames, enum unwind_reason reason)
{
	walk_stack(request, memory, &result);
	assert_int_equal(result.frames, frames);
	assert_int_equal(result.reason, reason);
}

static void test_hostile_chains(void **state)
{
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, STACK_AT + 8 * 16);

	(void)state;
	f.stack[17] = CODE_AT + 8;
	f.stack[16] = STACK_AT + 8 * 16; /* to itself */
	walk_expect(&request, &memory, 2, UNWIND_FP_BAD);
	f.stack[16] = STACK_AT + 8 * 8; /* down */
	walk_expect(&request, &memory, 2, UNWIND_FP_BAD);
	f.stack[16] = STACK_AT + 8 * 20 + 4; /* not aligned */
	walk_expect(&request, &memory, 2, UNWIND_FP_BAD);
	f.stack[16] = ~7ULL; /* wraps around */
	walk_expect(&request, &memory, 2, UNWIND_FP_BAD);
	f.stack[16] = STACK_AT + (2ULL << 20); /* too far to be a frame */
	walk_expect(&request, &memory, 2, UNWIND_FP_BAD);
	f.stack[16] = STACK_AT + sizeof(f.stack); /* nothing is there */
	walk_expect(&request, &memory, 2, UNWIND_PAGE);
	f.stack[16] = STACK_AT + sizeof(f.stack) - 8; /* half of the pair is there */
	walk_expect(&request, &memory, 2, UNWIND_PAGE);
	f.stack[16] = 0; /* no frame pointer: nothing says that the thread began here */
	walk_expect(&request, &memory, 2, UNWIND_NO_START);
}

static void test_hostile_returns(void **state)
{
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, STACK_AT + 8 * 16);

	(void)state;
	f.stack[16] = STACK_AT + 8 * 32;
	walk_expect(&request, &memory, 1, UNWIND_NO_START); /* return address 0 */
	f.stack[17] = 0xffffffff81000000ULL;
	walk_expect(&request, &memory, 1, UNWIND_BAD_RETURN);
	f.stack[17] = 17;
	walk_expect(&request, &memory, 1, UNWIND_BAD_RETURN);
}

/* Zero in the leaf's register is no proof that this is the outermost frame. */
static void test_leaf_without_frame_pointer(void **state)
{
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, 0);

	(void)state;
	walk_expect(&request, &memory, 1, UNWIND_FP_END);
	request.regs[DWARF_RBP] = 1;
	walk_expect(&request, &memory, 1, UNWIND_FP_BAD);
	/* The code may be gone, the stack still there. */
	request.pc = 0x10000000;
	request.regs[DWARF_RBP] = STACK_AT + 8;
	walk_expect(&request, &memory, 1, UNWIND_NO_START);
	request.regs[DWARF_RSP] = 0xffff888000000000ULL;
	walk_expect(&request, &memory, 1, UNWIND_FP_BAD);
}

/* A call to endbr64; jmp f, where f has no frame: _Copy_arrayof_conjoint_jints() of libjvm.so. */
static void test_leaf_behind_a_jump(void **state)
{
	static const uint8_t call[] = { 0xe8, 0x06, 0, 0, 0 };
	static const uint8_t jump[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xe9, 0x1b, 0, 0, 0 };
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, STACK_AT + 8 * 16);

	(void)state;
	memcpy(f.code + 16, call, sizeof(call)); /* to 27 */
	memcpy(f.code + 27, jump, sizeof(jump)); /* to 63 */
	request.pc = CODE_AT + 64;
	f.stack[0] = CODE_AT + 21;
	f.stack[16] = STACK_AT + 8 * 32;
	f.stack[17] = CODE_AT + 100;
	walk_stack(&request, &memory, &result);
	assert_int_equal(result.frames, 3);
	assert_true((result.words[1] & WIRE_FRAME_ADDRESS_MASK) == CODE_AT + 21);
	/* Elsewhere. */
	f.code[27 + 5] = 0x40;
	walk_stack(&request, &memory, &result);
	assert_int_equal(result.frames, 2);
}

/* The longest chain that fits, longer than a window and deeper than any limit. */
static void test_long_chain(void **state)
{
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, STACK_AT);

	(void)state;
	for (size_t i = 0; i + 3 < ARRAY_SIZE(f.stack); i += 2) {
		f.stack[i] = STACK_AT + 8 * (i + 2);
		f.stack[i + 1] = CODE_AT + i;
	}
	walk_stack(&request, &memory, &result);
	assert_int_equal(result.frames, 512);
	assert_int_equal(result.reason, UNWIND_NO_START);
	request.max_frames = 100;
	walk_expect(&request, &memory, 100, UNWIND_DEPTH);
}

struct leaf_case {
	const char *what;
	uint8_t code[32]; /* from pc - 8 on */
	enum leaf_state state;
	uint32_t size;
};

#define BEHIND() 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90

static const struct leaf_case leaf_cases[] = {
	{ "body", { BEHIND(), 0x48, 0x89, 0xc3 }, LEAF_BODY, 0 },
	{ "endbr64; push",
	  { BEHIND(), 0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5 },
	  LEAF_ENTRY,
	  0 },
	{ "endbr64 of a landing pad",
	  { BEHIND(), 0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x89, 0xc3 },
	  LEAF_BODY,
	  0 },
	{ "push; mov", { BEHIND(), 0x55, 0x48, 0x89, 0xe5 }, LEAF_ENTRY, 0 },
	{ "push of an argument", { BEHIND(), 0x55, 0x53, 0x48, 0x89 }, LEAF_BODY, 0 },
	{ "mov after push",
	  { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x89, 0xe5 },
	  LEAF_PUSHED,
	  0 },
	{ "HotSpot: bang",
	  { BEHIND(), 0x89, 0x84, 0x24, 0x00, 0xc0, 0xfe, 0xff, 0x55 },
	  LEAF_ENTRY,
	  0 },
	{ "HotSpot: push",
	  { BEHIND(), 0x55, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xec, 0x20 },
	  LEAF_ENTRY,
	  0 },
	{ "HotSpot: mov",
	  { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x8b, 0xec },
	  LEAF_PUSHED,
	  0 },
	{ "HotSpot: sub without mov",
	  { 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x55, 0x48, 0x83, 0xec, 0x20 },
	  LEAF_PUSHED,
	  0 },
	{ "HotSpot: no bang, before sub",
	  { BEHIND(), 0x48, 0x81, 0xec, 0x28, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x20 },
	  LEAF_ENTRY,
	  0 },
	{ "HotSpot: no bang, before store",
	  { 0x90, 0x48, 0x81, 0xec, 0x28, 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x20 },
	  LEAF_ALLOCATED,
	  0x20 },
	{ "HotSpot: no bang, after store",
	  { 0, 0, 0, 0x48, 0x89, 0x6c, 0x24, 0x20, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xc5, 0x20 },
	  LEAF_STORED,
	  0x20 },
	{ "HotSpot: no bang, after long store",
	  { 0x48, 0x89, 0xac, 0x24, 0x00, 0x01, 0, 0, 0x48, 0x8b, 0xec, 0x48, 0x81, 0xc5, 0, 1 },
	  LEAF_STORED,
	  0x100 },
	{ "HotSpot: no bang, before add",
	  { 0, 0, 0, 0, 0x20, 0x48, 0x8b, 0xec, 0x48, 0x83, 0xc5, 0x20 },
	  LEAF_STORED,
	  0x20 },
	{ "pop; ret", { BEHIND(), 0x5d, 0xc3 }, LEAF_PUSHED, 0 },
	{ "pop; pop", { BEHIND(), 0x5d, 0x41, 0x5c, 0xc3 }, LEAF_BODY, 0 },
	{ "ret", { BEHIND(), 0xc3 }, LEAF_ENTRY, 0 },
	{ "leave", { BEHIND(), 0xc9, 0xc3 }, LEAF_BODY, 0 },
	{ "JDK 8: pop; poll", { BEHIND(), 0x5d, 0x85, 0x05, 1, 2, 3, 4, 0xc3 }, LEAF_PUSHED, 0 },
	{ "JDK 8: poll", { BEHIND(), 0x85, 0x05, 1, 2, 3, 4, 0xc3 }, LEAF_ENTRY, 0 },
	{ "a test that is no poll", { BEHIND(), 0x85, 0x05, 1, 2, 3, 4, 0x90 }, LEAF_BODY, 0 },
	{ "JDK 11: poll",
	  { BEHIND(), 0x4d, 0x8b, 0x97, 8, 1, 0, 0, 0x41, 0x85, 0x02, 0xc3 },
	  LEAF_ENTRY,
	  0 },
	{ "JDK 11: second half", { BEHIND(), 0x41, 0x85, 0x02, 0xc3 }, LEAF_ENTRY, 0 },
	{ "JDK 17: pop; vzeroupper; poll",
	  { BEHIND(), 0x5d, 0xc5, 0xf8, 0x77, 0x49, 0x3b, 0xa7, 0x38, 3, 0, 0, 0x0f, 0x87, 1, 2, 3,
	    4, 0xc3 },
	  LEAF_PUSHED,
	  0 },
	{ "JDK 17: poll",
	  { BEHIND(), 0x49, 0x3b, 0xa7, 0x38, 3, 0, 0, 0x0f, 0x87, 1, 2, 3, 4, 0xc3 },
	  LEAF_ENTRY,
	  0 },
	{ "JDK 25: poll",
	  { BEHIND(), 0x49, 0x3b, 0x67, 0x28, 0x0f, 0x87, 1, 2, 3, 4, 0xc3 },
	  LEAF_ENTRY,
	  0 },
	{ "JDK 17: second half", { BEHIND(), 0x0f, 0x87, 1, 2, 3, 4, 0xc3 }, LEAF_ENTRY, 0 },
	{ "a branch that is no poll", { BEHIND(), 0x0f, 0x87, 1, 2, 3, 4, 0x90 }, LEAF_BODY, 0 },
	{ "PLT entry", { BEHIND(), 0xff, 0x25, 1, 2, 3, 4 }, LEAF_ENTRY, 0 },
	{ "glibc's clone3()",
	  { BEHIND(), 0x48, 0x85, 0xc0, 0x7c, 0x18, 0x74, 0x01, 0xc3, 0x31, 0xed },
	  LEAF_CLONED,
	  0 },
	{ "a test that is no clone()",
	  { BEHIND(), 0x48, 0x85, 0xc0, 0x7c, 0x18, 0x74, 0x01, 0xc9 },
	  LEAF_BODY,
	  0 },
	{ "glibc's system call",
	  { BEHIND(), 0x48, 0x3d, 0, 0xf0, 0xff, 0xff, 0x77, 0x12, 0xc3 },
	  LEAF_ENTRY,
	  0 },
};

static void test_leaf_states(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(leaf_cases); i++) {
		const struct leaf_case *c = &leaf_cases[i];
		struct leaf_frame leaf;

		leaf_decide(c->code + UNWIND_CODE_BEHIND, &leaf);
		if (leaf.state != c->state)
			fail_msg("%s: state %d, expected %d", c->what, leaf.state, c->state);
		if (c->size && leaf.size != c->size)
			fail_msg("%s: size %u, expected %u", c->what, leaf.size, c->size);
	}
}

/* In the parent the C library's clone() returns; the child has 0 in %rax and no caller. */
static void test_leaf_in_clone(void **state)
{
	static const uint8_t after_syscall[] = { 0x48, 0x85, 0xc0, 0x7c, 0x18, 0x74, 0x01, 0xc3 };
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(4, 1);

	(void)state;
	memcpy(f.code + 64, after_syscall, sizeof(after_syscall));
	f.stack[4] = CODE_AT + 9;
	request.exact = false;
	request.regs[DWARF_RAX] = (uint64_t)-38; /* as the kernel has it while the call runs */
	walk_expect(&request, &memory, 2, UNWIND_FP_BAD);
	assert_int_equal(result.words[1], CODE_AT + 9);
	request.regs[DWARF_RAX] = 0;
	walk_expect(&request, &memory, 1, UNWIND_DONE);
}

/*
 * HotSpot's fixed slots (JDK 11 and later). Method, ConstMethod, ConstantPool, Klass and Symbol lie
 * in the stack piece, too, 10 words from each other.
 */
static const struct wire_jvm jvm = { .code_start = CODE_AT,
				     .code_end = CODE_AT + 256,
				     .interpreter_start = CODE_AT + 128,
				     .interpreter_end = CODE_AT + 256,
				     .method_const_method = 16,
				     .const_method_constants = 8,
				     .pool_holder = 24,
				     .klass_name = 32,
				     .symbol_mask = 0xffffffff00000000ULL,
				     .method_slot = -3,
				     .bcp_slot = -8,
				     .sender_sp_slot = -1 };

static uint64_t stack_word(size_t at)
{
	return STACK_AT + 8 * at;
}

static void fake_interpreted(struct fake *f, size_t fp, size_t method, uint64_t ra)
{
	f->stack[fp - 3] = stack_word(method);
	f->stack[method + 2] = stack_word(method + 10);	     /* Method._constMethod */
	f->stack[method + 10 + 1] = stack_word(method + 20); /* ConstMethod._constants */
	f->stack[method + 20 + 3] = stack_word(method + 30); /* ConstantPool._pool_holder */
	f->stack[method + 30 + 4] = stack_word(method + 40); /* Klass._name */
	f->stack[method + 40] = 0x1122334455667788ULL;
	f->stack[fp - 8] = 0xbc000 + fp;
	f->stack[fp - 1] = stack_word(fp + 4);
	f->stack[fp + 1] = ra;
}

static void expect_interpreted(const uint64_t *words, uint64_t address, size_t method, uint64_t bcp)
{
	assert_true(words[0] == (address | 1ULL << WIRE_FRAME_KIND_SHIFT));
	assert_true(words[1] == stack_word(method));
	assert_true(words[2] == stack_word(method + 10));
	assert_true(words[3] == bcp);
	assert_true(words[4] == (stack_word(method + 40) ^ 0x1122334400000000ULL));
}

static void test_interpreted(void **state)
{
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, stack_word(20));

	(void)state;
	fake_interpreted(&f, 20, 500, CODE_AT + 200);
	f.stack[20] = stack_word(40);
	fake_interpreted(&f, 40, 600, CODE_AT + 9);
	f.stack[40] = 0;
	request.pc = CODE_AT + 130;
	request.regs[DWARF_R13] = stack_word(510) + 51;
	request.jvm = &jvm;
	walk_expect(&request, &memory, 3, UNWIND_NO_START);
	assert_int_equal(result.word_count, 2 * WIRE_INTERPRETED_WORDS + 1);
	/* The leaf's bytecode pointer is live in r13, if it is one of this method. */
	expect_interpreted(&result.words[0], (CODE_AT + 130) | WIRE_FRAME_EXACT, 500,
			   stack_word(510) + 51);
	expect_interpreted(&result.words[5], CODE_AT + 200, 600, 0xbc000 + 40);
	assert_int_equal(result.words[10], CODE_AT + 9);
	request.regs[DWARF_R13] = 0xabcdef;
	walk_expect(&request, &memory, 3, UNWIND_NO_START);
	assert_true(result.words[3] == 0xbc000 + 20);
}

static void test_interpreted_hostile(void **state)
{
	static struct fake f;
	struct unwind_memory memory = fake_init(&f);
	struct walk_request request = fake_request(0, STACK_AT + 8 * 20);

	(void)state;
	request.pc = CODE_AT + 130;
	request.jvm = &jvm;
	fake_interpreted(&f, 20, 500, CODE_AT + 9);
	f.stack[17] = 0x123457; /* no Method*: the frame stays, unnamed */
	f.stack[19] = 8;	/* a sender's sp below the frame */
	walk_expect(&request, &memory, 2, UNWIND_NO_START);
	assert_int_equal(result.words[2], 0);
	assert_int_equal(result.words[4], 0);
	request.regs[DWARF_RBP] = 0x1234;
	walk_expect(&request, &memory, 1, UNWIND_FP_BAD);
	assert_int_equal(result.word_count, WIRE_INTERPRETED_WORDS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_recorded_body),
		cmocka_unit_test(test_recorded_prologue),
		cmocka_unit_test(test_recorded_return),
		cmocka_unit_test(test_recorded_signal),
		cmocka_unit_test(test_depth_limit),
		cmocka_unit_test(test_hostile_chains),
		cmocka_unit_test(test_hostile_returns),
		cmocka_unit_test(test_leaf_without_frame_pointer),
		cmocka_unit_test(test_leaf_behind_a_jump),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_leaf_states),
		cmocka_unit_test(test_leaf_in_clone),
		cmocka_unit_test(test_interpreted),
		cmocka_unit_test(test_interpreted_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
