// SPDX-License-Identifier: Apache-2.0
/* What instructions do to registers and the stack, as the walk needs it. */
#include "infer_fixture.h"

static struct infer_code code;

static const struct infer_insn *read_case(const uint8_t *begin, const uint8_t *end, size_t count)
{
	infer_code_read(begin, (size_t)(end - begin), &code);
	assert_int_equal(code.v.len, count);
	return code.v.items;
}

#define READ(name, count) read_case(name##_begin, name##_end, count)

static void expect_insn(const struct infer_insn *insn, enum infer_kind kind, uint8_t reg,
			uint8_t base, int32_t value)
{
	assert_int_equal(insn->kind, kind);
	assert_int_equal(insn->reg, reg);
	assert_int_equal(insn->base, base);
	assert_int_equal(insn->value, value);
}

INFER_CASE(
	values,
	"mov %rsp,%rbp\n lea -16(%rbp),%rsp\n add $24,%rsp\n sub $0x12345,%rsp\n and $-32,%rsp\n mov $7,%eax\n"
	"xor %ebp,%ebp\n mov %r13,8(%rsp)\n mov -8(%rbp),%r15\n cmp %r11,%rsp\n");

static void of_values(void **state)
{
	const struct infer_insn *insn = READ(values, 10);

	(void)state;
	expect_insn(&insn[0], INFER_MOVE, DWARF_RBP, DWARF_RSP, 0);
	expect_insn(&insn[1], INFER_LEA, DWARF_RSP, DWARF_RBP, -16);
	expect_insn(&insn[2], INFER_LEA, DWARF_RSP, DWARF_RSP, 24);
	expect_insn(&insn[3], INFER_LEA, DWARF_RSP, DWARF_RSP, -0x12345);
	expect_insn(&insn[4], INFER_ALIGN, DWARF_RSP, DWARF_RSP, -32);
	expect_insn(&insn[5], INFER_CONST, DWARF_RAX, INFER_NO_REG, 7);
	expect_insn(&insn[6], INFER_CONST, DWARF_RBP, INFER_NO_REG, 0);
	expect_insn(&insn[7], INFER_STORE, DWARF_R13, DWARF_RSP, 8);
	expect_insn(&insn[8], INFER_LOAD, DWARF_R15, DWARF_RBP, -8);
	expect_insn(&insn[9], INFER_COMPARE, DWARF_RSP, DWARF_R11, 0);
}

INFER_CASE(
	stack,
	"push %r12\n push $5\n push (%rax)\n pop %rbx\n pop (%rax)\n pushf\n leave\n enter $48,$0\n enter $8,$1\n pushw %ax\n");

static void of_the_stack(void **state)
{
	const struct infer_insn *insn = READ(stack, 10);

	(void)state;
	assert_true(insn[0].kind == INFER_PUSH && insn[0].reg == DWARF_R12);
	assert_true(insn[1].kind == INFER_PUSH && insn[1].reg == INFER_NO_REG);
	assert_true(insn[2].kind == INFER_PUSH && insn[2].reg == INFER_NO_REG);
	assert_true(insn[3].kind == INFER_POP && insn[3].reg == DWARF_RBX);
	assert_true(insn[4].kind == INFER_POP && insn[4].reg == INFER_NO_REG);
	assert_true(insn[5].kind == INFER_PUSH && insn[5].reg == INFER_NO_REG);
	assert_int_equal(insn[6].kind, INFER_LEAVE);
	assert_true(insn[7].kind == INFER_ENTER && insn[7].value == 48);
	/* a display of frames, and words of 16 bits: whatever that is */
	assert_int_equal(insn[8].kind, INFER_STOP);
	assert_int_equal(insn[9].kind, INFER_STOP);
}

INFER_CASE(
	flow,
	".Lfrom: call .Lto\n jne .Lto\n jmp .Lfrom\n jmp *%rax\n call *8(%rbx)\n jrcxz .Lfrom\n .Lto: ret\n ret $16\n"
	"syscall\n ud2\n hlt\n int3\n call . + 0x100000\n");

static void of_the_way(void **state)
{
	const struct infer_insn *insn = READ(flow, 13);
	const int32_t to = (int32_t)insn[6].at;

	(void)state;
	assert_true(insn[0].kind == INFER_CALL && insn[0].value == to);
	assert_true(insn[1].kind == INFER_BRANCH && insn[1].value == to && insn[1].reg == 1);
	assert_true(insn[2].kind == INFER_JUMP && insn[2].value == 0);
	assert_true(insn[3].kind == INFER_JUMP && insn[3].value == INFER_ANYWHERE);
	assert_true(insn[4].kind == INFER_CALL && insn[4].value == INFER_ANYWHERE);
	assert_true(insn[5].kind == INFER_BRANCH && insn[5].value == 0 && insn[5].reg == 0);
	assert_true(insn[6].kind == INFER_RETURN && insn[6].value == 0);
	assert_true(insn[7].kind == INFER_RETURN && insn[7].value == 16);
	assert_int_equal(insn[8].kind, INFER_SYSCALL);
	for (int i = 9; i < 12; i++)
		assert_int_equal(insn[i].kind, INFER_STOP);
	assert_true(insn[12].kind == INFER_CALL && insn[12].value == INFER_OUTSIDE);
	assert_int_equal(infer_code_find(&code, to), 6);
	assert_int_equal(infer_code_find(&code, to - 1), -1);
	assert_int_equal(infer_code_find(&code, 1 << 20), -1);
}

INFER_CASE(
	plain,
	"mul %rcx\n xchg %rbx,%rbp\n movl $1,4(%rsp)\n mov %ebx,%ebp\n lea (%rsp,%rax,8),%rsp\n movaps %xmm0,16(%rsp)\n"
	"mov %rsp,%fs:(%rax)\n mov %fs:8,%rsp\n rep movsb\n nopl (%rax)\n lea 1f(%rip),%rbx\n 1:\n");

static void of_whatever_else(void **state)
{
	const struct infer_insn *insn = READ(plain, 11);

	(void)state;
	for (int i = 0; i < 9; i++)
		assert_int_equal(insn[i].kind, INFER_PLAIN);
	assert_int_equal(insn[0].writes, 1U << DWARF_RAX | 1U << DWARF_RDX);
	assert_int_equal(insn[1].writes, 1U << DWARF_RBX | 1U << DWARF_RBP);
	assert_true(insn[2].base == DWARF_RSP && insn[2].value == 4 && insn[2].count == 4);
	assert_int_equal(insn[3].writes, 1U << DWARF_RBP);
	assert_int_equal(insn[4].writes, 1U << DWARF_RSP);
	assert_true(insn[5].base == DWARF_RSP && insn[5].value == 16 && insn[5].count == 16);
	assert_int_equal(insn[6].base, INFER_NO_REG);
	assert_int_equal(insn[7].writes, 1U << DWARF_RSP);
	assert_int_equal(insn[8].writes, 1U << DWARF_RCX | 1U << DWARF_RSI | 1U << DWARF_RDI);
	assert_int_equal(insn[9].kind, INFER_PAD);
	assert_int_equal(insn[10].writes, 1U << DWARF_RBX);
}

static void what_is_cut(void **state)
{
	static const uint8_t cut[] = { 0x90, 0x48, 0x81, 0xec, 0x00 }, bad[] = { 0x06, 0xc3 };
	const struct infer_insn *insn;

	(void)state;
	insn = read_case(cut, cut + 1, 1);
	assert_int_equal(insn[0].kind, INFER_PAD);
	infer_code_read(cut, sizeof(cut), &code);
	assert_int_equal(code.v.items[1].kind, INFER_STOP);
	assert_int_equal(code.v.items[1].len, 1);
	insn = read_case(bad, bad + 2, 2);
	assert_int_equal(insn[0].kind, INFER_STOP);
	assert_int_equal(insn[1].kind, INFER_RETURN);
	read_case(bad, bad, 0);
}

/* Kinds and lengths of the instructions that begin with these bytes. */
static void expect_read(const uint8_t *bytes, size_t len, const uint8_t (*wanted)[2], size_t count)
{
	infer_code_read(bytes, len, &code);
	assert_int_equal(code.v.len, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(code.v.items[i].kind, wanted[i][0]);
		assert_int_equal(code.v.items[i].len, wanted[i][1]);
	}
}

/* Between functions they are none, of whatever number; elsewhere they are what they say, but two that write nowhere that is known. */
static void zeros(void **state)
{
	static const uint8_t between[] = { 0xc3, 0, 0, 0, 0x53 },
			     behind_jump[] = { 0xff, 0xe0, 0, 0x53 }, first[] = { 0, 0x53 },
			     behind_call[] = { 0xff, 0xd0, 0, 0, 0, 0x53 },
			     added[] = { 0xff, 0xd0, 0x00, 0x4b, 0x10 },
			     within[] = { 0x53, 0, 0, 0x53 }, last[] = { 0xff, 0xd0, 0 };
	static const uint8_t r[][2] = { { INFER_RETURN, 1 },
					{ INFER_STOP, 1 },
					{ INFER_STOP, 1 },
					{ INFER_STOP, 1 },
					{ INFER_PUSH, 1 } };
	static const uint8_t j[][2] = { { INFER_JUMP, 2 }, { INFER_STOP, 1 }, { INFER_PUSH, 1 } };
	static const uint8_t f[][2] = { { INFER_STOP, 1 }, { INFER_PUSH, 1 } };
	static const uint8_t c[][2] = { { INFER_CALL, 2 },
					{ INFER_STOP, 1 },
					{ INFER_STOP, 1 },
					{ INFER_STOP, 1 },
					{ INFER_PUSH, 1 } };
	static const uint8_t a[][2] = { { INFER_CALL, 2 }, { INFER_PLAIN, 3 } };
	static const uint8_t w[][2] = { { INFER_PUSH, 1 }, { INFER_STOP, 2 }, { INFER_PUSH, 1 } };
	static const uint8_t l[][2] = { { INFER_CALL, 2 }, { INFER_STOP, 1 } };

	(void)state;
	expect_read(between, sizeof(between), r, ARRAY_SIZE(r));
	expect_read(behind_jump, sizeof(behind_jump), j, ARRAY_SIZE(j));
	expect_read(first, sizeof(first), f, ARRAY_SIZE(f));
	expect_read(behind_call, sizeof(behind_call), c, ARRAY_SIZE(c));
	expect_read(added, sizeof(added), a, ARRAY_SIZE(a));
	expect_read(within, sizeof(within), w, ARRAY_SIZE(w));
	expect_read(last, sizeof(last), l, ARRAY_SIZE(l));
}

static int forget(void **state)
{
	(void)state;
	infer_code_release(&code);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_values),   cmocka_unit_test(of_the_stack),
		cmocka_unit_test(of_the_way),  cmocka_unit_test(of_whatever_else),
		cmocka_unit_test(what_is_cut), cmocka_unit_test(zeros),
	};

	return cmocka_run_group_tests(tests, NULL, forget);
}
