/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: ends SECONDS MODE
 * For SECONDS of its CPU time: a busy machine takes as many samples of it.
 * Where a stack ends and where it only seems to. Of the assembly here nothing says how it is unwound.
 *
 * Cut: main -> ends_run -> MODE -> ends_leaf, where a walk from ends_leaf finds no more than MODE.
 *   ends_zeroes   clears %rbp and calls on, as code that counts in %rbp
 *   ends_indirect the same by a register
 *   ends_plants   %rbp leads to a frame without a return address
 *   ends_misleads %rbp leads to a frame of ends_planted(), which nobody called
 * Whole, since nothing is above them:
 *   ends_context  makecontext()'s function
 *   ends_fiber    the first function on a stack of its own, without a return address
 *   ends_clone    a thread that is made as musl makes them
 *   ends_threads  such threads, one after the other, that do next to nothing
 */
#include "known.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>

#define STACK_BYTES (256U << 10)

void ends_zeroes(void (*fn)(void));
void ends_indirect(void (*fn)(void));
void ends_plants(void (*fn)(void));
void ends_misleads(void (*fn)(void));
void ends_switch(void *stack, void (*fn)(void));
int ends_clone(void (*fn)(void), void *stack, int flags);
int ends_described(void (*fn)(void), void *stack, int flags);
void ends_planted(void);

__asm__(".text\n"
	".type ends_zeroes, @function\n"
	"ends_zeroes:\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	call ends_leaf\n"
	"	pop %rbp\n"
	"	ret\n"
	".size ends_zeroes, . - ends_zeroes\n"
	".type ends_indirect, @function\n"
	"ends_indirect:\n"
	"	push %rbp\n"
	"	xor %ebp, %ebp\n"
	"	call *%rdi\n"
	"	mov %eax, %edi\n"
	"	pop %rbp\n"
	"	ret\n"
	".size ends_indirect, . - ends_indirect\n"
	".type ends_plants, @function\n"
	"ends_plants:\n"
	"	push %rbp\n"
	"	push $0\n"
	"	push $0\n"
	"	mov %rsp, %rbp\n"
	"	sub $16, %rsp\n"
	"	call *%rdi\n"
	"	add $32, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size ends_plants, . - ends_plants\n"
	".type ends_misleads, @function\n"
	"ends_misleads:\n"
	"	push %rbp\n"
	"	sub $64, %rsp\n"
	"	movq $0, 56(%rsp)\n"
	"	movq $0, 48(%rsp)\n"
	"	movq $0, 40(%rsp)\n"
	"	movq $0, 32(%rsp)\n"
	"	movq $0, 24(%rsp)\n"
	"	lea ends_planted + 16(%rip), %rax\n"
	"	mov %rax, 16(%rsp)\n"
	"	movq $0, 8(%rsp)\n"
	"	lea 8(%rsp), %rbp\n"
	"	call *%rdi\n"
	"	add $64, %rsp\n"
	"	pop %rbp\n"
	"	ret\n"
	".size ends_misleads, . - ends_misleads\n"
	/* What nobody calls, with rows: its return address would be at %rsp. */
	".type ends_planted, @function\n"
	"ends_planted:\n"
	"	.cfi_startproc\n"
	"	.skip 32, 0x90\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size ends_planted, . - ends_planted\n"
	/* To FN on STACK, never back. */
	".type ends_switch, @function\n"
	"ends_switch:\n"
	"	lea -8(%rdi), %rsp\n"
	"	movq $0, (%rsp)\n"
	"	xor %ebp, %ebp\n"
	"	jmp *%rsi\n"
	".size ends_switch, . - ends_switch\n"
	/* musl's clone.s, with fewer arguments. */
	".type ends_clone, @function\n"
	"ends_clone:\n"
	"	sub $8, %rsi\n"
	"	mov %rdi, %r9\n"
	"	mov %rdx, %rdi\n"
	"	mov $56, %eax\n"
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	xor %r8d, %r8d\n"
	"	syscall\n"
	"	test %eax, %eax\n"
	"	jnz 1f\n"
	"	xor %ebp, %ebp\n"
	"	pop %rdi\n"
	"	call *%r9\n"
	"	mov %eax, %edi\n"
	"	xor %eax, %eax\n"
	"	mov $60, %al\n"
	"	syscall\n"
	"	hlt\n"
	"1:	ret\n"
	".size ends_clone, . - ends_clone\n"
	/* The same with records that, as glibc's and Go's, tell of who called it in the thread, too. */
	".type ends_described, @function\n"
	"ends_described:\n"
	"	.cfi_startproc\n"
	"	sub $8, %rsi\n"
	"	mov %rdi, %r9\n"
	"	mov %rdx, %rdi\n"
	"	mov $56, %eax\n"
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	xor %r8d, %r8d\n"
	"	syscall\n"
	"	test %eax, %eax\n"
	"	jz ends_begin\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size ends_described, . - ends_described\n"
	".type ends_begin, @function\n"
	"ends_begin:\n"
	"	.cfi_startproc\n"
	"	.cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	pop %rdi\n"
	"	call *%r9\n"
	"	mov %eax, %edi\n"
	"	xor %eax, %eax\n"
	"	mov $60, %al\n"
	"	syscall\n"
	"	hlt\n"
	"	.cfi_endproc\n"
	".size ends_begin, . - ends_begin\n");

static uint64_t end_ns;

static int goes_on(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns;
}

KNOWN void ends_leaf(void)
{
	known_spin(2000000);
}

/* Its frames are found by rows, and %rbp is what it was. */
KNOWN static void ends_middle(void)
{
	ends_leaf();
	known_sink++;
}

static const struct {
	const char *name;
	void (*run)(void (*fn)(void));
} modes[] = {
	{ "ends_zeroes", ends_zeroes },
	{ "ends_indirect", ends_indirect },
	{ "ends_plants", ends_plants },
	{ "ends_misleads", ends_misleads },
};

KNOWN static void ends_run(size_t mode)
{
	modes[mode].run(ends_leaf);
	known_sink++;
}

KNOWN static void ends_first(void)
{
	while (goes_on())
		ends_middle();
	exit(known_done());
}

static void *new_stack(void)
{
	return mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void run_context(void)
{
	static ucontext_t context;

	getcontext(&context);
	context.uc_stack.ss_sp = new_stack();
	context.uc_stack.ss_size = STACK_BYTES;
	context.uc_link = NULL;
	makecontext(&context, ends_first, 0);
	setcontext(&context);
}

/* A process beside this one, in its memory. */
static void run_clone(void)
{
	char *top = (char *)new_stack() + STACK_BYTES;
	int pid = ends_clone(ends_first, top, CLONE_VM | SIGCHLD);

	waitpid(pid, NULL, 0);
}

static volatile int threads_ended;

static void end_thread(void)
{
	threads_ended = 1;
}

/* In turn on two stacks: a thread that has ended leaves its own a moment later. */
static void run_threads(void)
{
	const int flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
	char *tops[] = { (char *)new_stack() + STACK_BYTES, (char *)new_stack() + STACK_BYTES };

	for (int i = 0; goes_on(); i++) {
		threads_ended = 0;
		if (ends_described(end_thread, tops[i % 2], flags) > 0)
			while (!threads_ended)
				sched_yield();
	}
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";

	end_ns = known_end_of_ns(CLOCK_PROCESS_CPUTIME_ID, argc, argv);
	if (!strcmp(mode, "ends_context"))
		run_context();
	else if (!strcmp(mode, "ends_fiber"))
		ends_switch((char *)new_stack() + STACK_BYTES, ends_first);
	else if (!strcmp(mode, "ends_clone"))
		run_clone();
	else if (!strcmp(mode, "ends_threads"))
		run_threads();
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		while (!strcmp(mode, modes[i].name) && goes_on())
			ends_run(i);
	return 0;
}
