// SPDX-License-Identifier: Apache-2.0
/*
 * Native memory of which a test knows how much it is, and where: mallocs exact|many|leak|freed TURNS. It says "ready", and runs when
 * it reads a line, with a pause behind the first turn in which unwind tables can be made; it prints of each function how many objects of how many
 * bytes it took ("by_malloc 1000 1001000"), "done", and ends when its input does.
 *
 * exact: each way to ask for memory, in a function of its own, with a size of its own.
 * many: three sizes far apart, in two threads.
 * leak: of two functions one keeps what it takes; freed: neither does.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

/* What is freed is not seen to be of no use. */
static void drop(void *volatile memory)
{
	free(memory);
}

NOINLINE void by_malloc(void)
{
	drop(malloc(1001));
}

NOINLINE void by_calloc(void)
{
	drop(calloc(7, 303));
}

/* The first one is new (where some jump to malloc()), the second one moves. */
NOINLINE void by_realloc(void)
{
	void *volatile memory = NULL;

	memory = realloc(memory, 3003);
	drop(realloc(memory, 5005));
}

NOINLINE void by_posix_memalign(void)
{
	void *memory;

	if (posix_memalign(&memory, 64, 7007) == 0)
		drop(memory);
}

NOINLINE void by_aligned_alloc(void)
{
	drop(aligned_alloc(64, 8256));
}

/* glibc has nothing to align here, and jumps to malloc(). */
NOINLINE void by_memalign(void)
{
	drop(memalign(16, 9009));
}

/* An allocator asks for pages of the kernel for this. */
NOINLINE void by_large(void)
{
	drop(malloc(40000011));
}

NOINLINE void by_large_memalign(void)
{
	drop(memalign(4096, 41000011));
}

NOINLINE void by_mmap(void)
{
	void *memory =
		mmap(NULL, 40960, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	munmap(memory, 40960);
}

/* No memory yet. */
NOINLINE void by_reserve(void)
{
	void *memory = mmap(NULL, 1UL << 30, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			    -1, 0);

	munmap(memory, 1UL << 30);
}

/* The C library's own call. */
NOINLINE void by_strdup(void)
{
	static char text[1234];

	memset(text, 'a', sizeof(text) - 1);
	drop(strdup(text));
}

NOINLINE void by_small(void)
{
	drop(malloc(100));
}

NOINLINE void by_medium(void)
{
	drop(malloc(65536));
}

NOINLINE void by_huge(void)
{
	drop(malloc(2000000));
}

static void *volatile kept[100000];
static unsigned int kept_count;

NOINLINE void by_keeping(void)
{
	kept[kept_count++ % 100000] = malloc(50000);
}

NOINLINE void by_dropping(void)
{
	drop(malloc(60000));
}

/* Taken here, moved, and freed elsewhere. */
NOINLINE void by_moving(void)
{
	drop(realloc(malloc(30000), 70000));
}

static const struct way {
	const char *mode, *name;
	void (*take)(void);
	unsigned long bytes, objects; /* of one turn */
	unsigned long part;	      /* of the turns, each so many-th */
} ways[] = {
	{ "exact", "by_malloc", by_malloc, 1001, 1, 1 },
	{ "exact", "by_calloc", by_calloc, 2121, 1, 1 },
	{ "exact", "by_realloc", by_realloc, 3003 + 5005, 2, 1 },
	{ "exact", "by_posix_memalign", by_posix_memalign, 7007, 1, 1 },
	{ "exact", "by_aligned_alloc", by_aligned_alloc, 8256, 1, 1 },
	{ "exact", "by_memalign", by_memalign, 9009, 1, 1 },
	{ "exact", "by_large", by_large, 40000011, 1, 1 },
	{ "exact", "by_large_memalign", by_large_memalign, 41000011, 1, 1 },
	{ "exact", "by_mmap", by_mmap, 40960, 1, 1 },
	{ "exact", "by_reserve", by_reserve, 0, 0, 1 },
	{ "exact", "by_strdup", by_strdup, 1234, 1, 1 },
	{ "many", "by_small", by_small, 100, 1, 1 },
	{ "many", "by_medium", by_medium, 65536, 1, 10 },
	{ "many", "by_huge", by_huge, 2000000, 1, 500 },
	{ "leak", "by_keeping", by_keeping, 50000, 1, 2 },
	{ "leak", "by_dropping", by_dropping, 60000, 1, 1 },
	{ "leak", "by_moving", by_moving, 100000, 2, 1 },
	{ "freed", "by_dropping", by_dropping, 60000, 1, 1 },
	{ "freed", "by_moving", by_moving, 100000, 2, 1 },
};

#define WAYS (sizeof(ways) / sizeof(ways[0]))

static const char *mode;
static unsigned long turns;

/* Not so fast that there were too many samples: a pause behind the first turn, and one behind each 100. */
static void rest(unsigned long turn)
{
	if (turn == 0)
		usleep(1000000);
	else if (turn % 100 == 0)
		usleep(1000);
}

static void *thread_run(void *unused)
{
	(void)unused;
	for (unsigned long turn = 0; turn < turns; turn++) {
		for (unsigned int i = 0; i < WAYS; i++)
			if (!strcmp(ways[i].mode, mode) && turn % ways[i].part == 0)
				ways[i].take();
		rest(turn);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned int threads;
	pthread_t ids[2];

	mode = argc > 1 ? argv[1] : "exact";
	turns = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	threads = strcmp(mode, "many") ? 1 : 2;
	puts("ready");
	fflush(stdout);
	getchar();
	for (unsigned int i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, thread_run, NULL);
	for (unsigned int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	for (unsigned int i = 0; i < WAYS; i++) {
		unsigned long times = threads * ((turns + ways[i].part - 1) / ways[i].part);

		if (!strcmp(ways[i].mode, mode))
			printf("%s %lu %lu\n", ways[i].name, times * ways[i].objects,
			       times * ways[i].bytes);
	}
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
