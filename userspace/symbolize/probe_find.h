/* SPDX-License-Identifier: Apache-2.0 */
/* Names to addresses: which file a probe's library is, and where in it the function begins. */
#ifndef HOSTPROF_SYMBOLIZE_PROBE_FIND_H
#define HOSTPROF_SYMBOLIZE_PROBE_FIND_H

#include <limits.h>
#include <stdint.h>

#include "base/err.h"

struct probe_request {
	const char *library;  /* a path, or file name or soname of what a process maps as code */
	const char *function; /* as the symbol tables have it: C++ mangled */
	uint64_t plus;	      /* bytes */
	const uint32_t *pids; /* whose libraries are looked through; NULL and 0: of all processes */
	unsigned int pid_count;
};

struct probe_place {
	char path[PATH_MAX]; /* by which this process opens the file, now */
	uint64_t offset;     /* in the file */
};

/*
 * The function is looked for in .dynsym, .symtab, .gnu_debugdata and the debug file. -ENOENT: no such library
 * or function; -EINVAL: more than one, or one that cannot be probed. The sentence says which.
 */
int probe_find(const struct probe_request *request, struct probe_place *ret_place, struct err *err);

/* Of one USDT probe. */
#define PROBE_USDT_PLACES 64

struct probe_usdt {
	char path[PATH_MAX];
	unsigned int count;

	struct probe_usdt_place {
		uint64_t offset;    /* in the file */
		uint64_t semaphore; /* likewise; 0: it has none */
	} places[PROBE_USDT_PLACES];
};

/*
 * The places of probe REQUEST->function of PROVIDER, by the notes of the request's library. -ENOENT: no such library or probe; -EINVAL: they are
 * too many, or not in its code; -EBADMSG: it is no ELF file.
 */
int probe_find_usdt(const struct probe_request *request, const char *provider,
		    struct probe_usdt *ret_usdt, struct err *err);

/* Its offset in the file FD (borrowed), which the request's library is, on the event loop: no debug file is looked for. */
int probe_find_quickly(int fd, const struct probe_request *request, uint64_t *ret_offset,
		       struct err *err);

/* Addresses that a reader needs for what probe_find() may have it read. */
#define PROBE_FIND_BYTES (4ULL << 30)
/* Of the one file that the user named, before anything is recorded: the symbols of a browser. */
#define PROBE_READ_BYTES (1ULL << 30)

#endif
