/* SPDX-License-Identifier: Apache-2.0 */
/* What is read of one file of code; made on a worker thread, without touching the cache. */
#ifndef HOSTPROF_ELF_IMAGE_CONTENT_H
#define HOSTPROF_ELF_IMAGE_CONTENT_H

#include "elf/symbols.h"

struct image_content {
	char build_id[BUILD_ID_BYTES];
	VEC(struct elf_segment) segments;
	struct symbols symbols;
	char *failure;	/* owned sentence; NULL when it was read */
	char *left_out; /* owned sentence: symbols that were too large to be read; NULL: none */
};

/*
 * Have a reader read the file FD, named PATH by process PID (both for messages and for debug files beside it).
 * A file that is no ELF file is empty content, not a failure: JITs map such. Symbol tables that
 * would take more than LIMIT_BYTES while they are read are left out.
 */
void image_content_read(int fd, uint32_t pid, const char *path, size_t limit_bytes,
			struct image_content *ret_content);
void image_content_read_memory(const void *data, size_t len, const char *name,
			       struct image_content *ret_content);
void image_content_release(struct image_content *content);
/* Symbols and messages only: addresses in the file and its build id are still known. */
void image_content_forget(struct image_content *content);

/* sprintf into content->failure. */
void image_content_fail(struct image_content *content, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
