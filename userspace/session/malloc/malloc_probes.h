/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where processes ask for native memory: probes of the functions of every file that has such ones, in each process that is
 * chosen, or at once in all that map it.
 */
#ifndef HOSTPROF_SESSION_MALLOC_PROBES_H
#define HOSTPROF_SESSION_MALLOC_PROBES_H

#include <stdbool.h>

#include "base/err.h"
#include "capture/capture.h"
#include "process/process.h"
#include "session/malloc/malloc_files.h"

struct malloc_probes {
	struct malloc_files files;
	bool is_on; /* an event wants them */
	bool shared; /* a file's in all processes, so that one which begins is probed from its first call on */
	bool frees;	    /* also functions that take memory back */
	uint64_t probed;    /* files, or files of processes */
	uint64_t failed;    /* likewise, which could not be probed */
	struct err failure; /* the first one's */
};

/* What OPTIONS want. FREES: what is given back matters. */
void malloc_probes_init(struct malloc_probes *probes, const struct capture_options *options,
			bool frees);
void malloc_probes_release(struct malloc_probes *probes);

/* PROCESS maps M: probe its functions, if it has some and they are not. */
void malloc_probes_note(struct malloc_probes *probes, struct capture *capture, uint32_t pid,
			uint64_t generation, const struct mapping *m);

#endif
