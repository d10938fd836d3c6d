/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The consumer's end of an agent's shared memory (jvmagent/codemap.h). Only the header page is
 * mapped; records are read with pread(), so that a JVM's ring does not count as our memory.
 * Everything in it is hostile: the memory must be sealed against shrinking before it is mapped.
 */
#ifndef HOSTPROF_JVM_CODEMAP_CODEMAP_READER_H
#define HOSTPROF_JVM_CODEMAP_CODEMAP_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "jvm/codemap/codemap_record.h"

struct codemap_reader {
	int fd;			       /* owned, -1 closed */
	struct codemap_header *header; /* owned mapping of the first page; NULL closed */
	uint32_t header_bytes;
	uint32_t ring_bytes;
	uint64_t tail;
	int64_t clock_offset_ns; /* the JVM's CLOCK_MONOTONIC minus ours (time namespaces) */
	uint32_t seq;		 /* command_seq of our last command */
	bool leased;
};

#define CODEMAP_READER_INIT \
	{                   \
		.fd = -1    \
	}

/* The largest record and some more. */
#define CODEMAP_READ_BYTES (CODEMAP_MAX_RECORD_BYTES + (64U << 10))

/* Find and open the code map of a process. -ENODATA: it has none. The lease is not taken. */
int codemap_reader_open(uint32_t pid, struct codemap_reader *ret_reader, struct err *err);

/* As codemap_reader_open(), for a memfd that is at hand; the reader takes FD when it succeeds. */
int codemap_reader_open_fd(int fd, struct codemap_reader *ret_reader, struct err *err);
void codemap_reader_close(struct codemap_reader *reader);

/* Take the lease and skip what was written for others. -EBUSY (err names the pid). */
int codemap_reader_take_lease(struct codemap_reader *reader, uint64_t now_ns, struct err *err);
/* False: it had lapsed and is another's now; then it is given up without touching the memory. */
bool codemap_reader_renew_lease(struct codemap_reader *reader, uint64_t now_ns);
/* Events off and the lease given back. */
void codemap_reader_release_lease(struct codemap_reader *reader);

/* The least length of a wait for a lock, for the next command that wants them. */
void codemap_reader_set_lock_least(struct codemap_reader *reader, uint64_t least_ns);
/* Are waits for locks told now? */
bool codemap_reader_tells_locks(const struct codemap_reader *reader);

/* The mean bytes between two samples of allocations, for the next command that wants them. */
void codemap_reader_set_interval(struct codemap_reader *reader, uint32_t interval);
/* Are such samples taken now? */
bool codemap_reader_samples(const struct codemap_reader *reader);
/* The command was carried out; then the agent is older than such samples, or the JVM has none. */
bool codemap_reader_is_done(const struct codemap_reader *reader);

/* Ask for COMMAND (enum codemap_command) with WANT (enum codemap_want bits). */
void codemap_reader_command(struct codemap_reader *reader, uint32_t command, uint32_t want);

/* Did the agent let go of the memory, or turn off the events that we asked for? */
bool codemap_reader_is_closed(const struct codemap_reader *reader);
bool codemap_reader_events_off(const struct codemap_reader *reader);

/* What one turn may take of it. */
struct codemap_budget {
	uint64_t bytes;
	uint64_t until_ns; /* of clock_now_ns(); at least one record is handed out */
};

/*
 * Hand the records written by now to FN, times in our clock; no more than BUDGET allows, where it is
 * not NULL. BUFFER holds CODEMAP_READ_BYTES and is 8-byte aligned. 0: that was all; 1: there are
 * more; -EBADMSG: the memory holds no valid records, close it.
 */
int codemap_reader_drain(struct codemap_reader *reader, void *buffer,
			 const struct codemap_budget *budget,
			 void (*fn)(const struct codemap_event *event, void *data), void *data);

#endif
