/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the file behind a mapping of a process. */
#ifndef HOSTPROF_ELF_IMAGE_OPEN_H
#define HOSTPROF_ELF_IMAGE_OPEN_H

#include <stdint.h>

#include "base/file_key.h"

/* The file that is mapped at start..end of PID; a descriptor, or a negative errno. */
int image_open_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path);

#endif
