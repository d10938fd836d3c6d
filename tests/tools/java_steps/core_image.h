/* SPDX-License-Identifier: Apache-2.0 */
/* A core file of a process that runs on but for one thread, as debuggers read it. */
#ifndef HOSTPROF_TESTS_CORE_IMAGE_H
#define HOSTPROF_TESTS_CORE_IMAGE_H

#include <stdint.h>
#include <sys/user.h>

/*
 * REGS: of the stopped thread TID, the only one in the file. All that is mapped readable is in it
 * but the text of files. -errno.
 */
int core_image_write(const char *path, uint32_t pid, uint32_t tid,
		     const struct user_regs_struct *regs);

#endif
