/* SPDX-License-Identifier: Apache-2.0 */
/* Where HotSpot's library lies in a process, and the file behind it. */
#ifndef HOSTPROF_JVM_LAYOUT_LIBJVM_H
#define HOSTPROF_JVM_LAYOUT_LIBJVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/reader/reader_file.h"
#include "process/process.h"
#include "wall/file_id.h"

struct libjvm {
	int fd;			 /* owned, -1 when closed */
	struct reader_file file; /* owned */
	uint64_t bias;		 /* process address less the file's own virtual address */
	struct file_id id;	 /* of the file */
};

#define LIBJVM_INIT      \
	{                \
		.fd = -1 \
	}

/*
 * Open the library that process PID has mapped. MAPPING is one of its mappings, or NULL to look in
 * /proc/PID/maps. -ENODATA: none is mapped; -ESTALE: the mapped file is out of reach.
 */
int libjvm_open(uint32_t pid, const struct mapping *mapping, struct libjvm *ret_lib,
		struct err *err);
void libjvm_close(struct libjvm *lib);

/* The file's own addresses of COUNT symbols, READER_NOT_THERE where it has none of the name. */
int libjvm_find_symbols(const struct libjvm *lib, const char *const *names, unsigned int count,
			uint64_t *ret_addresses);

/* "/usr/lib/…/libjvm.so", "… (deleted)"? */
bool libjvm_is_path(const char *path, size_t len);

/* Its first mapping in PROCESS, borrowed; NULL: there is none. */
const struct mapping *libjvm_find_mapping(const struct process *process);

#endif
