/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spends its time in and below musl, which has no call frame information, and is built without any itself. Each
 * way has functions of its own, so that test_no_cfi.py knows which frames a stack must have: musl_calls SECONDS
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone))
/* No call is the last thing that a function does. */
#define STAYS __asm__ volatile("" ::: "memory")

static volatile unsigned int sink;
static int numbers[512];

OWN void burn(unsigned int turns)
{
	for (unsigned int i = 0; i < turns; i++)
		sink += i * i;
	STAYS;
}

OWN int sort_compare(const void *a, const void *b)
{
	burn(20);
	return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

OWN void sort_some(void)
{
	for (int i = 0; i < 512; i++)
		numbers[i] = i * 7919 % 509;
	qsort(numbers, 512, sizeof(numbers[0]), sort_compare);
	STAYS;
}

OWN void tree_visit(const void *node, VISIT visit, int depth)
{
	(void)node;
	(void)visit;
	burn(50 + (unsigned int)depth);
	STAYS;
}

OWN void tree_free(void *node)
{
	(void)node;
	burn(20);
	STAYS;
}

OWN int tree_compare(const void *a, const void *b)
{
	burn(5);
	return (a > b) - (a < b);
}

OWN void grow_tree(void)
{
	void *root = NULL;

	for (int i = 0; i < 200; i++)
		tsearch(&numbers[i * 37 % 200], &root, tree_compare);
	twalk(root, tree_visit);
	tdestroy(root, tree_free);
	STAYS;
}

OWN ssize_t cookie_write(void *cookie, const char *text, size_t len)
{
	(void)cookie;
	burn(30 + (unsigned int)text[0] % 4);
	return (ssize_t)len;
}

OWN void print_some(void)
{
	const cookie_io_functions_t functions = { .write = cookie_write };
	FILE *file = fopencookie(NULL, "w", functions);

	setvbuf(file, NULL, _IOLBF, 64);
	for (int i = 0; i < 60; i++)
		fprintf(file, "%d %s %.6f %lx\n", i, "text", i / 7.0, (unsigned long)i << 40);
	fclose(file);
	STAYS;
}

OWN void scan_some(void)
{
	double sum = 0, value;
	char text[64], word[16];
	int number;

	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "%.17g word%d %d", i * 1.37e5, i, i);
		if (sscanf(text, "%lf %15s %d", &value, word, &number) == 3)
			sum += value + strtod(text, NULL);
	}
	sink += (unsigned int)sum;
	STAYS;
}

OWN void match_some(void)
{
	regex_t regex;

	regcomp(&regex, "(a|b)*c[0-9]+(xyz|uvw)", REG_EXTENDED);
	for (int i = 0; i < 20; i++)
		sink += (unsigned int)regexec(&regex, "ababababacababc1234567uvx abac99uvw", 0,
					      NULL, 0);
	regfree(&regex);
	STAYS;
}

OWN void allocate_some(void)
{
	void *blocks[64];

	for (int turn = 0; turn < 20; turn++) {
		for (int i = 0; i < 64; i++)
			blocks[i] = calloc(1, (size_t)(i * 97 % 2000) + 1);
		for (int i = 0; i < 64; i++)
			free(blocks[i * 29 % 64]);
	}
	STAYS;
}

OWN void copy_some(void)
{
	static char from[60000], to[60000];

	for (int i = 1; i < 40; i++) {
		memcpy(to, from + i, sizeof(from) - 64);
		memset(from, i, (size_t)i * 31);
		memmove(to + 3, to, 4000);
		sink += (unsigned int)strlen(to) + (unsigned int)memcmp(to, from, 3000);
	}
	STAYS;
}

OWN void on_signal(int number)
{
	burn(3000 + (unsigned int)number);
	STAYS;
}

OWN void raise_some(void)
{
	raise(SIGUSR1);
	STAYS;
}

static volatile int over;

OWN void once(void)
{
	sort_some();
	grow_tree();
	print_some();
	scan_some();
	match_some();
	allocate_some();
	copy_some();
	STAYS;
}

OWN void *in_thread(void *data)
{
	while (!over)
		once();
	return data;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);
	pthread_t thread;

	signal(SIGUSR1, on_signal);
	pthread_create(&thread, NULL, in_thread, NULL);
	while (time(NULL) < end) {
		once();
		raise_some();
	}
	over = 1;
	pthread_join(thread, NULL);
	return 0;
}
