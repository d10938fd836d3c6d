/* SPDX-License-Identifier: Apache-2.0 */
/* Which agent library a JVM has mapped; it may be another build's, from another path. */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_LOADED_H
#define HOSTPROF_JVM_ATTACH_ATTACH_LOADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * By the text of /proc/PID/maps: WANTED when it is mapped, else another library of ours, as the
 * process names it. -ENODATA: none is.
 */
int attach_loaded_parse(const char *maps, size_t len, const char *wanted, char *ret_path,
			size_t size);

/* The same of a process. */
int attach_loaded_find(uint32_t pid, const char *wanted, char *ret_path, size_t size);

/* Is the file, as /proc/PID/maps names it, such a library, of whatever build? */
bool attach_loaded_is_agent(const char *path);

#endif
