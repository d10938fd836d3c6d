// SPDX-License-Identifier: Apache-2.0
/*
 * Busy in the dynamic linker: opens itself as a library again and again (built with -shared) or
 * runs (built with -DMAIN); each call of the library is bound when it is first made.
 */
#ifdef MAIN
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)(atof(argc > 2 ? argv[2] : "2") * CLOCKS_PER_SEC);

	while (clock() < end) {
		void *library = dlopen(argv[1], RTLD_LAZY);
		int (*call)(void) = library ? (int (*)(void))dlsym(library, "call_all") : NULL;

		if (!call || call() < 0)
			return 1;
		dlclose(library);
	}
	return 0;
}
#else
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int call_all(void);

int call_all(void)
{
	char text[64] = "some text", *copy = strdup(text), *end;
	time_t at = time(NULL);
	struct tm tm;
	long sum = strtol(text, &end, 10) + atoi(text) + getpid() + getuid() + toupper(text[0]);

	sum += strcasecmp(text, copy) + strncmp(text, copy, 3) + (strstr(text, "xt") != NULL);
	sum += (strpbrk(text, "xyz") != NULL) + (long)strcspn(text, "e") + (long)strspn(text, "so");
	sum += gmtime_r(&at, &tm)->tm_year + (long)timegm(&tm) + labs(sum) + abs((int)sum);
	sum += (memmem(text, 9, "te", 2) != NULL) + (long)strnlen(text, 64) +
	       (getenv("HOME") != NULL);
	free(copy);
	return (int)(sum & 1);
}
#endif
