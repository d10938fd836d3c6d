/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_PROCESS_MAPPING_H
#define HOSTPROF_PROCESS_MAPPING_H

#include <stdint.h>

#include "base/file_key.h"

/* An executable mapping. */
struct mapping {
	uint64_t start; /* process addresses, start..end */
	uint64_t end;
	uint64_t pgoff;	     /* file offset of start, bytes */
	struct file_key key; /* inode 0: not a file */
	char *path; /* owned; "/usr/lib/…", "[vdso]", "" for anonymous, "/memfd:…", "… (deleted)" */
};

#endif
