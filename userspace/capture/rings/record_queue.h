/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records as the rings gave them, in their order. A thread whose tables are still made sends a copy of its
 * stack each time that it is sampled, and but for the part that it works in just now the next copy has the
 * same bytes: what ends like an earlier one of that thread is kept once.
 */
#ifndef HOSTPROF_CAPTURE_RINGS_RECORD_QUEUE_H
#define HOSTPROF_CAPTURE_RINGS_RECORD_QUEUE_H

#include <stddef.h>
#include <stdint.h>

/* Threads whose copies are looked at. */
#define RECORD_QUEUE_THREADS 32

/* Of a thread the stack that later ones are compared to, which is there whole. */
struct queued_stack {
	uint32_t tid;	 /* 0: none */
	uint64_t top;	 /* its end in the process */
	size_t end, len; /* in the queue */
};

/* All 0: empty. */
struct record_queue {
	uint8_t *data; /* owned */
	size_t len;    /* bytes that it takes */
	size_t room;
	struct queued_stack stacks[RECORD_QUEUE_THREADS];
};

/* Behind the others; RECORD is copied. */
void record_queue_push(struct record_queue *queue, const void *record, size_t len);

/* Hand all to FN, whose they are while it runs, as they were and aligned to 8. */
void record_queue_give(const struct record_queue *queue,
		       void (*fn)(const void *record, size_t len, void *data), void *data);

/* It is empty; memory that was much is not kept. */
void record_queue_clear(struct record_queue *queue);
void record_queue_release(struct record_queue *queue);

#endif
