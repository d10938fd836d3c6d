// SPDX-License-Identifier: Apache-2.0
/*
 * The program whose stacks are recorded in tests/data/stacks: no C library, so that every frame
 * up to _start keeps a frame pointer, and its own signal trampoline. Built by record_stack.py.
 */
typedef unsigned long word;

struct sigaction_kernel {
	void (*handler)(int);
	word flags;
	void (*restorer)(void);
	word mask;
};

#define SA_RESTORER 0x04000000
#define SIGUSR1	    10

volatile word sink;

/* gdb knows a trampoline by this name. */
void __restore_rt(void);
__asm__(".p2align 4\n.globl __restore_rt\n.type __restore_rt, @function\n"
	"__restore_rt: mov $15, %rax\n syscall\n");

static long call3(long number, long a, long b, long c)
{
	long ret;
	register long r10 __asm__("r10") = 8;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

__attribute__((noinline)) void handler_leaf(int signo)
{
	sink += (word)signo;
}

__attribute__((noinline)) void handler(int signo)
{
	handler_leaf(signo);
	sink++;
}

__attribute__((noinline)) void leaf(word n)
{
	volatile word local[4] = { n, n, n, n };

	sink += local[n & 3];
}

__attribute__((noinline)) void recurse(word n)
{
	if (n)
		recurse(n - 1);
	else
		leaf(n);
	sink++;
}

__attribute__((noinline)) void interrupted(void)
{
	long pid = call3(39, 0, 0, 0); /* getpid */

	call3(62, pid, SIGUSR1, 0); /* kill */
	sink++;
}

__attribute__((noinline)) void top(void)
{
	struct sigaction_kernel action = { handler, SA_RESTORER, __restore_rt, 0 };

	call3(13, SIGUSR1, (long)&action, 0); /* rt_sigaction */
	recurse(8);
	interrupted();
	call3(60, 0, 0, 0); /* exit */
}

void _start(void);
__asm__(".globl _start\n.type _start, @function\n"
	"_start: .cfi_startproc\n .cfi_undefined rip\n xor %ebp, %ebp\n and $-16, %rsp\n"
	" call top\n hlt\n .cfi_endproc\n");
