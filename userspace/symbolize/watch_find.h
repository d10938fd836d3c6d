/* SPDX-License-Identifier: Apache-2.0 */
/* Where a process has a symbol in its memory: what a breakpoint watches. */
#ifndef HOSTPROF_SYMBOLIZE_WATCH_FIND_H
#define HOSTPROF_SYMBOLIZE_WATCH_FIND_H

#include <stdint.h>

#include "base/err.h"

/*
 * SYMBOL is looked for in .dynsym and .symtab of all files that process PID maps as code. Of several the program's own global one counts, as
 * it does for the dynamic linker. -ENOENT: no file has it, or the process has gone; -EINVAL: it is at several places (the sentence
 * has them), or at one of each thread.
 */
int watch_find(uint32_t pid, const char *symbol, uint64_t *ret_address, struct err *err);

#endif
