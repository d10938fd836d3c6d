// SPDX-License-Identifier: Apache-2.0
/* What is known of a call's function: which registers it writes, if it is so simple that this can be told. */
#include "test.h"

#include "elf/infer/infer_callee.h"
#include "infer_fixture.h"

#define RAX (1U << DWARF_RAX)
#define RCX (1U << DWARF_RCX)
#define RDX (1U << DWARF_RDX)
#define RSI (1U << DWARF_RSI)

/* A call and a return, and what is called behind them. */
#define CALLED(name, text) INFER_CASE(name, "call 1f\n ret\n 1: " text)

CALLED(all_kinds,
       "mov %rdi,%rax\n mov $4,%ecx\n lea 8(%rdi),%rdx\n mov (%rdi),%rsi\n cmp %rax,%rdi\n mov %rax,(%rdi)\n nop\n ret");
CALLED(vectors, "paddd %xmm0,%xmm1\n movdqa %xmm1,16(%rsp)\n ret");
CALLED(rounds, "2: dec %ecx\n jne 2b\n ret");
CALLED(two_ends, "test %eax,%eax\n je 2f\n inc %ecx\n ret\n 2: inc %edx\n ret");
CALLED(calls_on, "call *%rax\n ret");
CALLED(pushes, "push %rax\n pop %rcx\n ret");
CALLED(jumps, "jmp *%rax");
CALLED(moves_the_stack, "lea 8(%rsp),%rsp\n ret");
CALLED(takes_arguments, "inc %eax\n ret $8");
CALLED(goes_out, "test %eax,%eax\n je all_kinds_begin\n ret");
CALLED(has_no_end, "inc %eax");
CALLED(is_long, ".rept 255\n inc %eax\n .endr\n ret");
CALLED(is_too_long, ".rept 256\n inc %eax\n .endr\n ret");

static const struct infer_insn *note(struct infer_code *code, const uint8_t *begin,
				     const uint8_t *end)
{
	infer_code_read(begin, (size_t)(end - begin), code);
	infer_callees_note(code);
	assert_int_equal(code->v.items[0].kind, INFER_CALL);
	return &code->v.items[0];
}

static void expect_writes(const uint8_t *begin, const uint8_t *end, uint32_t writes)
{
	struct infer_code code = { 0 };
	const struct infer_insn *call = note(&code, begin, end);

	assert_int_equal(call->count, 1);
	assert_int_equal(call->writes, writes);
	infer_code_release(&code);
}

static void expect_unknown(const uint8_t *begin, const uint8_t *end)
{
	struct infer_code code = { 0 };

	assert_int_equal(note(&code, begin, end)->count, 0);
	infer_code_release(&code);
}

static void which_registers(void **state)
{
	(void)state;
	expect_writes(all_kinds_begin, all_kinds_end, RAX | RCX | RDX | RSI);
	expect_writes(vectors_begin, vectors_end, 0);
	expect_writes(rounds_begin, rounds_end, RCX);
	expect_writes(two_ends_begin, two_ends_end, RCX | RDX);
	expect_writes(is_long_begin, is_long_end, RAX);
}

static void what_cannot_be_told(void **state)
{
	static const struct {
		const uint8_t *begin, *end;
	} cases[] = {
		{ calls_on_begin, calls_on_end },
		{ pushes_begin, pushes_end },
		{ jumps_begin, jumps_end },
		{ moves_the_stack_begin, moves_the_stack_end },
		{ takes_arguments_begin, takes_arguments_end },
		{ goes_out_begin, goes_out_end },
		{ has_no_end_begin, has_no_end_end },
		{ is_too_long_begin, is_too_long_end },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_unknown(cases[i].begin, cases[i].end);
}

/* The old stack pointer in a register that any other call may take (libx264). */
INFER_CASE(
	keeps,
	"mov %rsp,%rcx\n and $-32,%rsp\n sub $96,%rsp\n call 1f\n inc %eax\n mov %rcx,%rsp\n ret\n"
	"1: inc %eax\n ret");
INFER_CASE(
	loses,
	"mov %rsp,%rcx\n and $-32,%rsp\n sub $96,%rsp\n call 1f\n inc %eax\n mov %rcx,%rsp\n ret\n"
	"1: inc %ecx\n ret");

static void a_stack_pointer_that_is_kept(void **state)
{
	(void)state;
	INFER_EXPECT(keeps, "rsp+8\n"
			    "rcx+8\n"
			    "rsp+8\n");
	INFER_EXPECT(loses, "none\n"
			    "rsp+8\n");
}

/* A call that ends just where functions begin, of one that is known to return, and of one that may not. */
#define AT_A_MULTIPLE(callee) \
	"1: " callee "\n .balign 16\n .rept 11\n cdq\n .endr\n call 1b\n inc %eax\n ret"
INFER_CASE(comes_back, AT_A_MULTIPLE("inc %eax\n ret"));
INFER_CASE(may_not_come_back, AT_A_MULTIPLE("call *%rax\n ret"));

static void a_call_that_ends_where_functions_begin(void **state)
{
	(void)state;
	INFER_EXPECT(comes_back, "rsp+8\n"
				 "none\n"
				 "rsp+8\n");
	INFER_EXPECT(may_not_come_back, "rsp+8\n"
					"none\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(which_registers),
		cmocka_unit_test(what_cannot_be_told),
		cmocka_unit_test(a_stack_pointer_that_is_kept),
		cmocka_unit_test(a_call_that_ends_where_functions_begin),
	};

	return cmocka_run_group_tests_name("infer_callee", tests, NULL, NULL);
}
