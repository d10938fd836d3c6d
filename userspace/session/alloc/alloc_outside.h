/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of a JVM without an agent: probes at HotSpot's AllocTracer in its libjvm, and for the BPF program where its
 * threads keep their TLABs' books.
 */
#ifndef HOSTPROF_SESSION_ALLOC_OUTSIDE_H
#define HOSTPROF_SESSION_ALLOC_OUTSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/jvm.h"
#include "process/process.h"
#include "wire.h"

/* What it needs of a capture; each answers 0 or a negative errno. */
struct alloc_outside_ops {
	/* Probe OFFSET of the file PATH in this process. */
	int (*add_place)(enum wire_trigger trigger, const struct process *process, const char *path,
			 uint64_t offset, struct err *err, void *data);
	/* What the program is to know of process TGID; NULL: nothing any more. */
	int (*set_tlab)(uint32_t tgid, const struct wire_tlab *tlab, void *data);
	void *data;
};

/*
 * See the allocations of JVM, which is PROCESS, from now on: a sample every INTERVAL bytes. -EAGAIN: it is still
 * starting; -ENODATA: its libjvm was stripped, and err names the debug file; -EOPNOTSUPP: it is too old.
 * BESIDE_AGENT: an agent tells of the others, in the middle of TLABs.
 */
int alloc_outside_open(const struct alloc_outside_ops *ops, const struct process *process,
		       struct jvm *jvm, uint64_t interval, bool beside_agent, struct err *err);

/* Whether HotSpot's sampler misjudges the objects that AllocTracer tells of (bpf/sample/between.h). */
bool alloc_outside_mends(struct jvm *jvm);

/* The process has gone, or an agent tells of it. Its probes are the caller's to close. */
void alloc_outside_close(const struct alloc_outside_ops *ops, const struct process *process);

#endif
