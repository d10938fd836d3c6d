// SPDX-License-Identifier: Apache-2.0
/* Where functions are probed: where the kernel need not step over an instruction, and nothing has changed since the entry. */
#include "infer_fixture.h"

#include "elf/infer/infer_entry.h"

#define PROBE(name) infer_entry_probe(name##_begin, (size_t)(name##_end - name##_begin))

INFER_CASE(at_once, "push %r12\n test %rdi,%rdi\n je .Lat_once\n .Lat_once: ret\n");
INFER_CASE(tested, "test %rdi,%rdi\n je .Ltested\n push %rbp\n nop\n .Ltested: ret\n");
INFER_CASE(far_branch, "test %rdi,%rdi\n je .Lfar\n .skip 200,0x90\n .Lfar: ret\n");
INFER_CASE(marked, "endbr64\n push %r15\n ret\n");
INFER_CASE(moved, "mov %rdi,%rax\n xor %r8d,%r8d\n cmp $5,%rsi\n push %rbx\n ret\n");
INFER_CASE(argument, "mov %rsi,%rdi\n push %rbx\n ret\n");
INFER_CASE(count, "xor %ecx,%ecx\n push %rbx\n ret\n");
INFER_CASE(room, "sub $24,%rsp\n nop\n ret\n");
INFER_CASE(stored, "mov %rdi,-8(%rsp)\n push %rbx\n ret\n");
INFER_CASE(loop, "xor %eax,%eax\n .Lloop: nop\n inc %rax\n cmp $5,%rax\n jne .Lloop\n ret\n");
INFER_CASE(loop_before, "endbr64\n .Lbefore: mov %r8,%r9\n push %rbx\n pop %rbx\n jmp .Lbefore\n");
INFER_CASE(leaves, "mov %rdi,%rax\n ret\n");
INFER_CASE(stepped, "mov %rdi,%rax\n pushw %ax\n nop\n ret\n");
INFER_CASE(wide, ".rept 12\n mov %r8,%r9\n .endr\n push %rbx\n ret\n");

static void where(void **state)
{
	(void)state;
	assert_int_equal(PROBE(at_once), 0);
	assert_int_equal(PROBE(tested), 3);
	assert_int_equal(PROBE(far_branch), 3);
	assert_int_equal(PROBE(marked), 4);
	assert_int_equal(PROBE(moved), 10);
}

static void only_at_the_entry(void **state)
{
	(void)state;
	assert_int_equal(PROBE(argument), 0);
	assert_int_equal(PROBE(count), 0);
	assert_int_equal(PROBE(room), 0);
	assert_int_equal(PROBE(stored), 0);
	assert_int_equal(PROBE(loop), 0);
	assert_int_equal(PROBE(loop_before), 0);
	assert_int_equal(PROBE(leaves), 0);
	assert_int_equal(PROBE(stepped), 0);
	assert_int_equal(PROBE(wide), 0);
	assert_int_equal(infer_entry_probe(tested_begin, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where),
		cmocka_unit_test(only_at_the_entry),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
