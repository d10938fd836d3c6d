// SPDX-License-Identifier: Apache-2.0
/* Rows inferred from functions in assembly: frames of every kind, and what must not be believed. */
#include "infer_fixture.h"

INFER_CASE(pushes,
	   "push %rbx\n sub $32,%rsp\n mov %rdi,%rbx\n call *%rax\n add $32,%rsp\n pop %rbx\n ret");

static void saved_by_pushes(void **state)
{
	(void)state;
	INFER_EXPECT(pushes, "rsp+8\n"
			     "rsp+16 rbx 2\n"
			     "rsp+48 rbx 2\n"
			     "rsp+16 rbx 2\n"
			     "rsp+8\n");
}

INFER_CASE(
	moves,
	"sub $40,%rsp\n mov %rbp,32(%rsp)\n mov %r13,24(%rsp)\n xor %ebp,%ebp\n xor %r13d,%r13d\n"
	"call *%rax\n mov 24(%rsp),%r13\n mov 32(%rsp),%rbp\n add $40,%rsp\n ret");

static void saved_by_moves(void **state)
{
	(void)state;
	INFER_EXPECT(moves, "rsp+8\n"
			    "rsp+48\n"
			    "rsp+48 rbp 2\n"
			    "rsp+48 rbp 2 r13 3\n"
			    "rsp+8\n");
}

INFER_CASE(
	framed,
	"endbr64\n push %rbp\n mov %rsp,%rbp\n push %r15\n sub %rax,%rsp\n and $-16,%rsp\n call *%rcx\n"
	"lea -8(%rbp),%rsp\n pop %r15\n pop %rbp\n ret");

static void as_much_as_wanted_below_a_frame_pointer(void **state)
{
	(void)state;
	INFER_EXPECT(framed, "rsp+8\n"
			     "rsp+16 rbp 2\n"
			     "rbp+16 rbp 2\n"
			     "rbp+16 rbp 2 r15 3\n"
			     "rbp+16 rbp 2\n"
			     "rsp+8\n");
}

INFER_CASE(entered,
	   "enter $32,$0\n mov %rbx,-8(%rbp)\n xor %ebx,%ebx\n mov -8(%rbp),%rbx\n leave\n ret");

static void by_enter_and_leave(void **state)
{
	(void)state;
	INFER_EXPECT(entered, "rsp+8\n"
			      "rbp+16 rbp 2\n"
			      "rbp+16 rbp 2 rbx 3\n"
			      "rsp+8\n");
}

INFER_CASE(
	realigned,
	"push %rbx\n mov %rsp,%rax\n sub $232,%rsp\n and $-32,%rsp\n mov %rax,224(%rsp)\n xor %eax,%eax\n"
	"call *%rcx\n mov 224(%rsp),%rsp\n pop %rbx\n ret");

static void the_old_stack_pointer_in_a_word(void **state)
{
	(void)state;
	INFER_EXPECT(realigned, "rsp+8\n"
				"rsp+16 rbx 2\n"
				"rsp+248 rbx 2\n"
				"rax+16 rbx 2\n"
				"*(rsp+224)+16 rbx 2\n"
				"rsp+16 rbx 2\n"
				"rsp+8\n");
}

/* gcc's way: the CFA is kept below a frame pointer that is aligned itself. */
INFER_CASE(
	drap,
	"lea 8(%rsp),%r10\n and $-32,%rsp\n push -8(%r10)\n push %rbp\n mov %rsp,%rbp\n push %r10\n push %rbx\n"
	"sub $96,%rsp\n xor %r10d,%r10d\n call *%rax\n add $96,%rsp\n pop %rbx\n pop %r10\n pop %rbp\n lea -8(%r10),%rsp\n ret");

static void aligned_below_its_frame_pointer(void **state)
{
	(void)state;
	INFER_EXPECT(drap, "rsp+8\n"
			   "r10+0\n"
			   "r10+0 rbp 2 below rbp\n"
			   "*(rbp-8)+0 rbp 2 below rbp\n"
			   "*(rbp-8)+0 rbp 2 rbx 4 below rbp\n"
			   "*(rbp-8)+0 rbp 2 below rbp\n"
			   "r10+0 rbp 2 below rbp\n"
			   "r10+0\n"
			   "rsp+8\n");
}

INFER_CASE(
	probed,
	"lea -16384(%rsp),%r11\n .Lprobe: sub $4096,%rsp\n orq $0,(%rsp)\n cmp %r11,%rsp\n jne .Lprobe\n"
	"sub $64,%rsp\n call *%rax\n add $16448,%rsp\n ret");

static void a_loop_that_touches_pages(void **state)
{
	(void)state;
	INFER_EXPECT(probed, "rsp+8\n"
			     "r11+16392\n"
			     "rsp+16392\n"
			     "rsp+16456\n"
			     "rsp+8\n");
}

INFER_CASE(forgotten, "push %rbx\n mov %rsp,%rax\n and $-32,%rsp\n call *%rcx\n inc %ecx\n hlt");

static void a_call_takes_registers(void **state)
{
	(void)state;
	INFER_EXPECT(forgotten, "rsp+8\n"
				"rsp+16 rbx 2\n"
				"rax+16 rbx 2\n"
				"none\n");
}

/* exit(2), and another function behind it */
INFER_CASE(
	ended,
	"push %rbx\n sub $8,%rsp\n mov $60,%eax\n syscall\n sub $24,%rsp\n call *%rax\n add $24,%rsp\n ret");

static void behind_a_system_call_that_does_not_return(void **state)
{
	(void)state;
	INFER_EXPECT(ended, "rsp+8\n"
			    "rsp+16 rbx 2\n"
			    "rsp+24 rbx 2\n"
			    "rsp+8\n"
			    "rsp+32\n"
			    "rsp+8\n");
}

/* One way returns as it should, another one does not: the jump has not led here. */
INFER_CASE(
	doubtful,
	"push %rbx\n jmp *%rax\n nop\n test %edi,%edi\n je .Ldoubt\n pop %rbx\n ret\n .Ldoubt: push %rax\n ret");

static void a_place_that_fits_only_in_part(void **state)
{
	(void)state;
	INFER_EXPECT(doubtful, "rsp+8\n"
			       "rsp+16 rbx 2\n"
			       "none\n");
}

/* Two ways to one place with different depths: nothing is said there, nor behind. */
INFER_CASE(differing,
	   "push %rbx\n test %edi,%edi\n je .Lover\n push %rax\n .Lover: call *%rax\n jmp .Lover");

static void ways_that_differ(void **state)
{
	(void)state;
	INFER_EXPECT(differing, "rsp+8\n"
				"rsp+16 rbx 2\n"
				"none\n");
}

INFER_CASE(unbalanced, "push %rbx\n sub $8,%rsp\n call *%rax\n pop %rbx\n ret");

static void one_that_returns_elsewhere_is_not_believed(void **state)
{
	(void)state;
	INFER_EXPECT(unbalanced, "none\n");
}

/* The return address is a number that was pushed: as a resolver goes on. */
INFER_CASE(pushed, "push %rbx\n pop %rbx\n push %rax\n ret");
INFER_CASE(replaced, "push %rbx\n pop %rbx\n mov %rax,(%rsp)\n ret");

static void one_that_returns_to_another_address_is_not_believed(void **state)
{
	(void)state;
	INFER_EXPECT(pushed, "none\n");
	INFER_EXPECT(replaced, "none\n");
}

/* GHC's code: the stack pointer is that of who entered it, and nothing returns. */
INFER_CASE(
	haskell,
	"lea -24(%rbp),%rax\n cmp %r15,%rax\n jb .Lgc\n add $16,%r12\n mov %rbx,8(%r12)\n add $-24,%rbp\n jmp *(%rbp)\n"
	".Lgc: jmp *-16(%r13)\n nop\n sub $8,%rsp\n mov %rbx,%rdi\n call *%rax\n add $8,%rsp\n jmp *(%rbp)");

/* musl's wrapper_cmp. By memory, or by a register that other conventions keep things in, it may be anything. */
INFER_CASE(one_jump, "jmp *%rdx");
INFER_CASE(one_jump_by_memory, "jmp *(%rbp)");
INFER_CASE(one_jump_by_another, "jmp *%rbx");
INFER_CASE(a_later_jump, "mov %rdi,%rax\n jmp *%rax");

static void a_function_that_is_one_jump(void **state)
{
	(void)state;
	infer_expect(one_jump_begin, one_jump_end, "rsp+8\n");
	infer_expect(one_jump_by_memory_begin, one_jump_by_memory_end, "none\n");
	infer_expect(one_jump_by_another_begin, one_jump_by_another_end, "none\n");
	infer_expect(a_later_jump_begin, a_later_jump_end, "none\n");
}

static void code_without_calls_and_returns_is_not_believed(void **state)
{
	(void)state;
	INFER_EXPECT(haskell, "none\n");
}

INFER_CASE(
	jumps,
	"push %r13\n push %rbp\n push %rbx\n mov %rdi,%rbx\n .Lnext: movslq (%rbp,%rax,4),%rax\n add %rbp,%rax\n jmp *%rax\n"
	"inc %edi\n jmp .Lnext\n sub $16,%rsp\n call *%rbx\n add $16,%rsp\n jmp .Lnext\n"
	"pop %rbx\n pop %rbp\n pop %r13\n ret");

static void what_a_table_of_jumps_leads_to(void **state)
{
	(void)state;
	INFER_EXPECT(jumps, "rsp+8\n"
			    "rsp+16 r13 2\n"
			    "rsp+24 rbp 3 r13 2\n"
			    "rsp+32 rbp 3 rbx 4 r13 2\n"
			    "rsp+48 rbp 3 rbx 4 r13 2\n"
			    "rsp+32 rbp 3 rbx 4 r13 2\n"
			    "rsp+24 rbp 3 r13 2\n"
			    "rsp+16 r13 2\n"
			    "rsp+8\n");
}

/* The call does not return: padding, and another function behind it. */
INFER_CASE(
	aborting,
	"push %rbx\n test %edi,%edi\n je .Labort\n pop %rbx\n ret\n .Labort: call .Labort_it\n .balign 16\n"
	"sub $24,%rsp\n call *%rax\n add $24,%rsp\n ret\n .balign 16\n .Labort_it: hlt");

static void behind_a_call_that_does_not_return(void **state)
{
	(void)state;
	INFER_EXPECT(aborting, "rsp+8\n"
			       "rsp+16 rbx 2\n"
			       "rsp+8\n"
			       "rsp+16 rbx 2\n"
			       "none\n"
			       "rsp+8\n"
			       "rsp+32\n"
			       "rsp+8\n"
			       "none\n");
}

/* A call that ends where functions begin mostly returns. */
INFER_CASE(aligned,
	   "push %rbx\n push %rbp\n sub $8,%rsp\n mov %rdi,%rbx\n mov $1,%eax\n call *%rax\n"
	   "call *%rbx\n .Lself: jmp .Lself");

static void behind_a_call_that_ends_where_functions_begin(void **state)
{
	(void)state;
	assert_int_equal(aligned_end - aligned_begin, 16 + 4);
	INFER_EXPECT(aligned, "rsp+8\n"
			      "rsp+16 rbx 2\n"
			      "rsp+24 rbp 3 rbx 2\n"
			      "rsp+32 rbp 3 rbx 2\n");
}

/* Behind it no function can begin, as that would give up more than it has: Pascal's methods are reached by tables alone. */
#define REACHED_BY_A_TABLE "ret\n .balign 16,0\n "
#define ENDS_ALIGNED	   " .balign 16,0x99\n " /* cdq */
INFER_CASE(by_adding, REACHED_BY_A_TABLE "lea -8(%rsp),%rsp\n" ENDS_ALIGNED
					 ".skip 14,0x99\n call *%rax\n lea 8(%rsp),%rsp\n ret");
INFER_CASE(by_popping, REACHED_BY_A_TABLE "cdq\n push %rbx\n" ENDS_ALIGNED
					  ".skip 14,0x99\n call *%rax\n cdq\n pop %rbx\n ret");
INFER_CASE(by_leaving, REACHED_BY_A_TABLE "cdq\n push %rbp\n mov %rsp,%rbp\n" ENDS_ALIGNED
					  ".skip 14,0x99\n call *%rax\n leave\n ret");
/* Another one does begin there. */
INFER_CASE(by_none, "cdq\n sub $8,%rsp\n" ENDS_ALIGNED
		    ".skip 14,0x99\n call *%rax\n push $1\n pop %rax\n ret");

static void behind_a_call_no_function_begins(void **state)
{
	(void)state;
	INFER_EXPECT(by_adding, "rsp+8\n"
				"none\n"
				"rsp+8\n"
				"rsp+16\n"
				"rsp+8\n");
	INFER_EXPECT(by_popping, "rsp+8\n"
				 "none\n"
				 "rsp+8\n"
				 "rsp+16 rbx 2\n"
				 "rsp+8\n");
	INFER_EXPECT(by_leaving, "rsp+8\n"
				 "none\n"
				 "rsp+8\n"
				 "rsp+16 rbp 2\n"
				 "rbp+16 rbp 2\n"
				 "rsp+8\n");
	INFER_EXPECT(by_none, "none\n"
			      "rsp+8\n"
			      "rsp+16\n"
			      "rsp+8\n");
}

INFER_CASE(tail,
	   "push %rbx\n mov %rdi,%rbx\n call *%rdi\n pop %rbx\n jmp .Ltail_to\n .balign 16\n"
	   "call .Ltail_to\n .balign 16\n .Ltail_to: sub $8,%rsp\n call *%rax\n add $8,%rsp\n ret");

static void a_jump_to_another_function(void **state)
{
	(void)state;
	INFER_EXPECT(tail, "rsp+8\n"
			   "rsp+16 rbx 2\n"
			   "rsp+8\n"
			   "none\n"
			   "rsp+8\n"
			   "rsp+16\n"
			   "rsp+8\n");
}

/* musl 1.2.3, src/signal/x86_64/restore.s */
INFER_CASE(restore, "nop\n mov $15,%rax\n syscall\n ret");

static void a_signal_handlers_way_back(void **state)
{
	(void)state;
	INFER_EXPECT(restore, "signal\n"
			      "rsp+8\n");
}

/* musl 1.2.3, src/thread/x86_64/clone.s */
INFER_CASE(
	cloned,
	"xor %eax,%eax\n mov $56,%al\n mov 8(%rsp),%r10\n syscall\n test %eax,%eax\n jnz .Lparent\n"
	"xor %ebp,%ebp\n pop %rdi\n call *%r9\n mov %eax,%edi\n xor %eax,%eax\n mov $60,%al\n syscall\n hlt\n"
	".Lparent: ret");

static void a_thread_begins(void **state)
{
	(void)state;
	INFER_EXPECT(cloned, "rsp+8\n"
			     "rsp+8 rbp lost\n"
			     "end\n"
			     "rsp+8\n");
}

/* musl 1.2.3, src/process/x86_64/vfork.s */
INFER_CASE(vforked, "pop %rdx\n mov $58,%eax\n syscall\n push %rdx\n mov %rax,%rdi\n ret");

static void the_return_address_in_a_register(void **state)
{
	(void)state;
	INFER_EXPECT(vforked, "rsp+8\n"
			      "rsp+0 in rdx\n"
			      "rsp+8\n");
}

INFER_CASE(overwritten,
	   "push %rbx\n xor %ebx,%ebx\n movl $1,4(%rsp)\n call *%rax\n pop %rbx\n ret");

static void a_saved_register_that_is_overwritten(void **state)
{
	(void)state;
	INFER_EXPECT(overwritten, "rsp+8\n"
				  "rsp+16 rbx 2\n"
				  "rsp+16 rbx lost\n"
				  "rsp+8 rbx lost\n");
}

/* Below the stack pointer a register is safe up to the next call. */
INFER_CASE(
	red_zone,
	"mov %rbx,-8(%rsp)\n xor %ebx,%ebx\n inc %eax\n sub $40,%rsp\n call *%rax\n xor %edi,%edi\n add $40,%rsp\n mov -8(%rsp),%rbx\n ret");
INFER_CASE(red_zone_lost, "mov %rbx,-8(%rsp)\n xor %ebx,%ebx\n call *%rax\n inc %eax\n ret");

static void below_the_stack_pointer(void **state)
{
	(void)state;
	INFER_EXPECT(red_zone, "rsp+8\n"
			       "rsp+8 rbx 2\n"
			       "rsp+48 rbx 2\n"
			       "rsp+8 rbx lost\n");
	INFER_EXPECT(red_zone_lost, "rsp+8\n"
				    "rsp+8 rbx 2\n"
				    "rsp+8 rbx lost\n");
}

static void nothing_and_nonsense(void **state)
{
	static const uint8_t zeros[64], nonsense[] = { 0x06, 0xff, 0xff, 0x0f, 0x0b };

	(void)state;
	infer_expect(zeros, zeros, "");
	infer_expect(zeros, zeros + sizeof(zeros), "none\n");
	infer_expect(nonsense, nonsense + sizeof(nonsense), "none\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(saved_by_pushes),
		cmocka_unit_test(saved_by_moves),
		cmocka_unit_test(as_much_as_wanted_below_a_frame_pointer),
		cmocka_unit_test(by_enter_and_leave),
		cmocka_unit_test(the_old_stack_pointer_in_a_word),
		cmocka_unit_test(aligned_below_its_frame_pointer),
		cmocka_unit_test(a_loop_that_touches_pages),
		cmocka_unit_test(a_call_takes_registers),
		cmocka_unit_test(behind_a_system_call_that_does_not_return),
		cmocka_unit_test(a_place_that_fits_only_in_part),
		cmocka_unit_test(ways_that_differ),
		cmocka_unit_test(one_that_returns_elsewhere_is_not_believed),
		cmocka_unit_test(one_that_returns_to_another_address_is_not_believed),
		cmocka_unit_test(a_function_that_is_one_jump),
		cmocka_unit_test(code_without_calls_and_returns_is_not_believed),
		cmocka_unit_test(what_a_table_of_jumps_leads_to),
		cmocka_unit_test(behind_a_call_that_does_not_return),
		cmocka_unit_test(behind_a_call_that_ends_where_functions_begin),
		cmocka_unit_test(behind_a_call_no_function_begins),
		cmocka_unit_test(a_jump_to_another_function),
		cmocka_unit_test(a_signal_handlers_way_back),
		cmocka_unit_test(a_thread_begins),
		cmocka_unit_test(the_return_address_in_a_register),
		cmocka_unit_test(a_saved_register_that_is_overwritten),
		cmocka_unit_test(below_the_stack_pointer),
		cmocka_unit_test(nothing_and_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
