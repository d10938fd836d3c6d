/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: handled SECONDS [altstack]
 * A timer's signal handler burns on top of whatever was interrupted: qsort, memcpy, strlen and the
 * program's own leaf; with "altstack" on a stack of its own.
 */
#include "known.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>

#define NUMBERS	   4096
#define TEXT_BYTES (256 << 10)

static int numbers[NUMBERS];
static char text[TEXT_BYTES], copy[TEXT_BYTES];

KNOWN static void handler_burn(uint64_t rounds)
{
	known_spin(rounds);
}

static void handler(int number)
{
	handler_burn(1000000 + (uint64_t)number);
	known_sink++;
}

KNOWN static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

KNOWN static void work_sort(void)
{
	uint64_t x = known_sink | 1;

	for (int i = 0; i < NUMBERS; i++) {
		x = x * 6364136223846793005ULL + 1;
		numbers[i] = (int)(x >> 33);
	}
	qsort(numbers, NUMBERS, sizeof(numbers[0]), compare);
	known_sink++;
}

KNOWN static void work_copy(void)
{
	for (int i = 0; i < 20; i++) {
		memcpy(copy, text, sizeof(copy));
		__asm__ volatile("" ::"r"(copy) : "memory");
	}
	known_sink++;
}

KNOWN static void work_strlen(void)
{
	for (int i = 0; i < 20; i++) {
		__asm__ volatile("" ::"r"(text) : "memory");
		known_sink += strlen(text);
	}
}

KNOWN static void work_leaf(void)
{
	known_spin(200000);
	known_sink++;
}

static void take_signals(int on_a_stack)
{
	struct sigaction action = { .sa_handler = handler };
	struct itimerval every = { { 0, 2000 }, { 0, 2000 } };
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };

	if (on_a_stack) {
		sigaltstack(&stack, NULL);
		action.sa_flags = SA_ONSTACK;
	}
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);

	memset(text, 'x', sizeof(text) - 1);
	take_signals(argc > 2 && !strcmp(argv[2], "altstack"));
	puts("ready");
	while (known_goes_on(end_ns)) {
		work_sort();
		work_copy();
		work_strlen();
		work_leaf();
	}
	return known_done();
}
