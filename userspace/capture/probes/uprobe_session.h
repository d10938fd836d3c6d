/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions whose calls one program sees, and, of calls that it says 0 to, their returns (BPF_TRACE_UPROBE_SESSION, Linux 6.13): a call
 * that does not matter costs one trap, and nothing is put on its stack. One link has all functions of a file, which end together: each probe of
 * perf's waits for the kernel on its own, some 70 ms.
 */
#ifndef HOSTPROF_CAPTURE_PROBES_UPROBE_SESSION_H
#define HOSTPROF_CAPTURE_PROBES_UPROBE_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/*
 * Of a program that is to be loaded: enum bpf_attach_type in newer headers. The second one's sees calls only, and says 0. Of a session that is another
 * process's the kernel takes 0 for the answer (uprobe_prog_run() in kernel/trace/bpf_trace.c): where several processes share a file each call of
 * each would have its return probed.
 */
#define UPROBE_SESSION_ATTACH_TYPE 57
#define UPROBE_MULTI_ATTACH_TYPE   48

/* Has this kernel got it? It is tried with a program that does nothing. */
bool uprobe_session_works(void);

struct uprobe_session {
	const char *path; /* of the file, as this process opens it */
	uint32_t pid;	  /* of the only process; 0: all that map the file */
	uint32_t count;
	bool is_multi;		 /* the program was loaded with UPROBE_MULTI_ATTACH_TYPE */
	const uint64_t *offsets; /* of the functions' first instructions */
	const uint64_t *cookies; /* what the program is told of each */
};

/* A link, which is to be closed, or a negative errno. */
int uprobe_session_open(int prog_fd, const struct uprobe_session *session);

#endif
