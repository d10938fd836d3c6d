/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a piece of code takes while it runs: the highest resident set since peak_begin(). */
#ifndef HOSTPROF_TESTS_PEAK_MEMORY_H
#define HOSTPROF_TESTS_PEAK_MEMORY_H

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#define MIB (1UL << 20)

static inline size_t peak_resident(const char *name)
{
	FILE *f = fopen("/proc/self/status", "re");
	size_t kib = 0;
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0)
			sscanf(line + strlen(name), "%zu", &kib);
	fclose(f);
	return kib * 1024;
}

/* Documentation/filesystems/proc.rst: 5 resets the highest resident set. */
static inline size_t peak_begin(void)
{
	FILE *f;

	malloc_trim(0);
	f = fopen("/proc/self/clear_refs", "we");
	assert_non_null(f);
	fputs("5", f);
	fclose(f);
	return peak_resident("VmRSS:");
}

/* More than there was at the beginning, which returned BEGAN; 0 with a sanitizer, which keeps what was freed. */
static inline size_t peak_end(size_t began)
{
	size_t peak = peak_resident("VmHWM:");

#ifdef __SANITIZE_ADDRESS__
	peak = 0;
#endif
	return peak > began ? peak - began : 0;
}

#endif
