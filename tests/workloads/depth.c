/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: depth FRAMES SECONDS
 * Burns CPU at the end of a stack of exactly FRAMES frames: thread_root, then the level_N in an order
 * that looks random and is always the same, then burn. Their call frame information and their frame
 * pointers say the same, so that a walk by either finds the same frames; they differ in size and in
 * the registers that they save.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define LEVELS 40
/* thread_root, call_down and burn are not of the level_N. */
#define OTHER_FRAMES 3

static volatile uint64_t sink;

typedef uint64_t level_fn(uint64_t left, uint64_t state);

static level_fn *const levels[LEVELS];

/* Does not end: this generator never comes to zero. */
__attribute__((noipa)) static uint64_t burn(uint64_t x)
{
	do {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		sink = x;
	} while (x);
	return x;
}

static inline __attribute__((always_inline)) uint64_t next_level(uint64_t left, uint64_t state)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return left ? levels[(state >> 33) % LEVELS](left - 1, state) : burn(state);
}

/* A level with WORDS words of its own that saves the registers named after them; two calls in each. */
#define LEVEL(n, words, ...)                                                            \
	__attribute__((noipa)) static uint64_t level_##n(uint64_t left, uint64_t state) \
	{                                                                               \
		uint64_t room[words];                                                   \
                                                                                        \
		__asm__ volatile("" : : "r"(room) : "memory", ##__VA_ARGS__);           \
		if (state & 1 << 20)                                                    \
			room[0] = next_level(left, state) ^ (n);                        \
		else                                                                    \
			room[0] = next_level(left, state + (n)) + 1;                    \
		__asm__ volatile("" : : "r"(room) : "memory");                          \
		return room[0];                                                         \
	}

/* Five of a kind, from one word to thirty. */
#define LEVELS_OF(tens, ...)              \
	LEVEL(tens##0, 1, ##__VA_ARGS__)  \
	LEVEL(tens##1, 2, ##__VA_ARGS__)  \
	LEVEL(tens##2, 4, ##__VA_ARGS__)  \
	LEVEL(tens##3, 10, ##__VA_ARGS__) \
	LEVEL(tens##4, 30, ##__VA_ARGS__)

LEVELS_OF(1)
LEVELS_OF(2, "rbx")
LEVELS_OF(3, "r12")
LEVELS_OF(4, "rbx", "r12")
LEVELS_OF(5, "r13", "r14")
LEVELS_OF(6, "rbx", "r15")
LEVELS_OF(7, "r12", "r13", "r14", "r15")
LEVELS_OF(8, "rbx", "r12", "r13", "r14", "r15")

#define FIVE_LEVELS(tens) \
	level_##tens##0, level_##tens##1, level_##tens##2, level_##tens##3, level_##tens##4

static level_fn *const levels[LEVELS] = { FIVE_LEVELS(1), FIVE_LEVELS(2), FIVE_LEVELS(3),
					  FIVE_LEVELS(4), FIVE_LEVELS(5), FIVE_LEVELS(6),
					  FIVE_LEVELS(7), FIVE_LEVELS(8) };

/* The first frame, for both kinds of walk: no return address, and no frame pointer. */
_Noreturn void thread_root(uint64_t left);

__asm__(".text\n"
	".globl thread_root\n"
	".type thread_root, @function\n"
	"thread_root:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"xorl %ebp, %ebp\n"
	"andq $-16, %rsp\n"
	"call call_down\n"
	"ud2\n"
	".cfi_endproc\n"
	".size thread_root, . - thread_root\n");

__attribute__((noipa, used)) void call_down(uint64_t left);

__attribute__((noipa, used)) void call_down(uint64_t left)
{
	sink = next_level(left, 1);
}

static void time_is_over(int number)
{
	(void)number;
	_exit(0);
}

int main(int argc, char **argv)
{
	int frames = argc > 1 ? atoi(argv[1]) : 100, seconds = argc > 2 ? atoi(argv[2]) : 1;
	struct itimerval end = { .it_value = { .tv_sec = seconds } };

	if (frames < OTHER_FRAMES || seconds <= 0)
		return 2;
	signal(SIGALRM, time_is_over);
	setitimer(ITIMER_REAL, &end, NULL);
	puts("ready");
	fflush(stdout);
	thread_root((uint64_t)(frames - OTHER_FRAMES));
}
