/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: scattered SECONDS [MS [FRAMES]]
 * Burns CPU for MS (20) milliseconds on every one of 4,096 pages of code, each described by its own
 * call frame information and never returned to: code of which a profiler knows nothing yet.
 * Below main() are FRAMES (0) calls of large_frame(), whose buffer of 320 KB is written in two places only.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PAGES	   4096
#define PAGE_BYTES 4096
/* No page follows its neighbour. */
#define STRIDE	     1021
#define TURNS	     50000
#define BUFFER_BYTES (320 << 10)

extern char code_pages[];

/* One function at the begin of each page: turns its argument down to zero. */
__asm__(".text\n"
	".p2align 12\n"
	".globl code_pages\n"
	"code_pages:\n"
	".rept 4096\n"
	".cfi_startproc\n"
	"pushq %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbx, -16\n"
	"movq %rdi, %rbx\n"
	"1: decq %rbx\n"
	"jnz 1b\n"
	"popq %rbx\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".p2align 12\n"
	".endr\n");

static double now_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

__attribute__((noipa)) static void burn_page(unsigned int page, double until)
{
	void (*turn_down)(uint64_t) =
		(void (*)(uint64_t))(uintptr_t)(code_pages + (size_t)page * PAGE_BYTES);

	while (now_seconds() < until)
		turn_down(TURNS);
}

__attribute__((noipa)) static void burn_pages(double until, double ms)
{
	for (unsigned int i = 0; i < PAGES && now_seconds() < until; i++)
		burn_page(i * STRIDE % PAGES, now_seconds() + ms / 1e3);
}

__attribute__((noipa)) static void large_frame(int more, double until, double ms)
{
	volatile char buffer[BUFFER_BYTES];

	buffer[BUFFER_BYTES / 2] = buffer[BUFFER_BYTES / 2 + 2 * PAGE_BYTES] = 1;
	if (more > 1)
		large_frame(more - 1, until, ms);
	else
		burn_pages(until, ms);
	buffer[BUFFER_BYTES / 2] = 0;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1, ms = argc > 2 ? atof(argv[2]) : 20;
	int frames = argc > 3 ? atoi(argv[3]) : 0;
	double until = now_seconds() + seconds;

	puts("ready");
	fflush(stdout);
	if (frames > 0)
		large_frame(frames, until, ms);
	else
		burn_pages(until, ms);
	return 0;
}
