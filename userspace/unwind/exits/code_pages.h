/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of processes that is code: who looks at how a piece of it returns looks at its neighbours soon, and each read is a
 * call of a broker's. So it is read in pieces of some pages, of which the last ones are kept for 50 ms.
 */
#ifndef HOSTPROF_UNWIND_EXITS_CODE_PAGES_H
#define HOSTPROF_UNWIND_EXITS_CODE_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whose code it is, and how it is read: exactly LEN bytes, 0 or a negative errno. */
struct code_source {
	uint32_t pid;
	int (*read)(const void *data, uint64_t address, void *dst, size_t len);
	const void *data; /* borrowed */
};

struct code_pages;

struct code_pages *code_pages_new(void);
void code_pages_free(struct code_pages *pages);

/* Up to LEN bytes, which are fewer than a page, from ADDRESS on into DST; how many there are. NOW_NS is CLOCK_MONOTONIC. */
size_t code_pages_read(struct code_pages *pages, const struct code_source *source, uint64_t address,
		       uint64_t now_ns, uint8_t *dst, size_t len);

/* Forget what was read of the process before NOW_NS: code may have been made since. False: there is no such. */
bool code_pages_drop(struct code_pages *pages, uint32_t pid, uint64_t now_ns);

#endif
