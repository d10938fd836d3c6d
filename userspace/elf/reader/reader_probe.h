/* SPDX-License-Identifier: Apache-2.0 */
/* Where probes and breakpoints are in a file of somebody else's, asked of this thread's reader. */
#ifndef HOSTPROF_ELF_READER_READER_PROBE_H
#define HOSTPROF_ELF_READER_READER_PROBE_H

#include "elf/reader/reader.h"

/* What the file FD calls NAME; up to LIMIT_BYTES of sections are read for that, for as long as the symbols of a file may take. */
int reader_objects(int fd, const char *name, uint64_t limit_bytes,
		   struct reader_objects *ret_objects, struct err *err);

/* The places of its probe NAME of PROVIDER, likewise. */
int reader_usdt(int fd, const char *provider, const char *name, uint64_t limit_bytes,
		struct reader_usdt *ret_usdt, struct err *err);

#endif
