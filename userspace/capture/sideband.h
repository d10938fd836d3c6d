/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The side-band of one cpu: a perf event that counts nothing and records mmap (executable ones),
 * exec, comm, fork and exit of all processes, with times in CLOCK_MONOTONIC. The reader is woken
 * by every record, since the file of a process that lives for milliseconds has to be opened now.
 */
#ifndef HOSTPROF_CAPTURE_SIDEBAND_H
#define HOSTPROF_CAPTURE_SIDEBAND_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum side_kind {
	SIDE_MMAP,
	SIDE_COMM,
	SIDE_EXEC,
	SIDE_FORK,
	SIDE_EXIT,
	SIDE_LOST,
	SIDE_THROTTLE, /* of an event whose output is the side-band's ring: the kernel stopped it */
	SIDE_UNTHROTTLE,
	SIDE_KINDS,
};

/* One side-band record, decoded. Pointers live only inside the callback. */
struct side_event {
	enum side_kind kind;
	uint64_t time_ns;
	uint32_t pid, tid;	   /* FORK: the child's */
	uint32_t ppid, ptid;	   /* FORK: the parent's */
	uint64_t addr, len, pgoff; /* MMAP */
	uint32_t major, minor;	   /* MMAP: device of the file */
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
	const char *name; /* MMAP: path; COMM, EXEC: comm */
	uint64_t lost;	  /* LOST: records; 0: nobody knows how many */
};

struct sideband;

/* Open and enable. -ENODEV when the cpu is offline. */
int sideband_open(unsigned int cpu, struct sideband **ret_sideband, struct err *err);
void sideband_free(struct sideband *sideband);
DEFINE_CLEANUP(struct sideband *, sideband_free);

int sideband_fd(const struct sideband *sideband);
size_t sideband_bytes(const struct sideband *sideband);

/*
 * How long the event has been counting, up to now. One whose cpu went offline stands still, also when the
 * cpu is back. 0 or -errno.
 */
int sideband_enabled_ns(const struct sideband *sideband, uint64_t *ret_ns);

/*
 * Beside who drains, from another thread: of a ring that fills up take out what is there, for the next sideband_drain(), if no more
 * than ROOM bytes are held then. Returns how many bytes nobody has drained yet, in the ring and out of it.
 */
size_t sideband_relieve(struct sideband *sideband, size_t room);

/* Deliver what has come, in its order. The ring is free again before the first is. Returns the records that the kernel had to drop. */
uint64_t sideband_drain(struct sideband *sideband,
			void (*fn)(const struct side_event *event, void *data), void *data);

/*
 * Decode one record (struct perf_event_header and what follows, LEN bytes). Names are borrowed
 * from it. -ENODATA for kinds that we don't use, -EBADMSG when it is too short for its kind.
 */
int sideband_decode(const void *record, size_t len, struct side_event *ret_event);

#endif
