/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's end of the shared memory (codemap.h). What the consumer writes there is not
 * trusted: a wrong tail makes the ring look full, nothing else.
 */
#ifndef HOSTPROF_AGENT_RING_H
#define HOSTPROF_AGENT_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "codemap.h"

struct ring {
	int fd;			       /* owned, -1 closed */
	struct codemap_header *header; /* owned mapping of header and data; NULL closed */
	uint8_t *data;
	pthread_mutex_t lock; /* guards what follows, and the writing of a record */
	uint64_t head;
	uint64_t records;
	uint64_t gap_dropped; /* not yet announced */
	uint64_t gap_ns;      /* when the first of them was lost */
};

/* Make the memfd and map it. 0 or -1. */
int ring_open(struct ring *ring);
/*
 * Get all of its memory now, before anything is published: where memory is short (strict
 * overcommit), a page that is missing at its first use would be a SIGBUS. False: there is none.
 */
bool ring_allocate(const struct ring *ring);
/* Nobody may use the ring any more. Tells the consumer that this memory is dead. */
void ring_close(struct ring *ring);

/*
 * Take the lock and make room for a record of SIZE bytes (rounded up to 8). SPARE bytes must stay
 * free. Returns the record with its header filled, to be finished by ring_commit(), or NULL (not
 * locked) when there is no room.
 */
struct codemap_record *ring_reserve(struct ring *ring, uint16_t kind, uint32_t size,
				    uint64_t time_ns, uint32_t spare);
void ring_commit(struct ring *ring, const struct codemap_record *record);

/* Count a record as lost; the next one that fits is preceded by a GAP. */
void ring_drop(struct ring *ring, uint64_t time_ns);
/* Announce lost records now, if there is room. */
void ring_announce_gap(struct ring *ring);

/* Does a consumer hold the lease? */
bool ring_has_consumer(const struct ring *ring, uint64_t now_ns);

#endif
