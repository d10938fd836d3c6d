/* SPDX-License-Identifier: Apache-2.0 */
/* What a reader may do: next to nothing; capabilities(7), seccomp(2), setrlimit(2). */
#ifndef HOSTPROF_ELF_READER_READER_RIGHTS_H
#define HOSTPROF_ELF_READER_READER_RIGHTS_H

#include <stdint.h>

/*
 * Of this process, for good: its user and groups (none that anybody has, if it may), all capabilities, other programs, memory but MEMORY_BYTES
 * more than it has, and all system calls but those that memory, files that it is given, and calls take. Ends it when the system
 * calls cannot be given up: then it must not read.
 */
void reader_rights_give_up(uint64_t memory_bytes);

#endif
