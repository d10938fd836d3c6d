/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side-band records and samples from many rings, handed on in time order. Each ring is ordered in
 * itself, and everything older than the watermark has arrived; so what lies below the watermark
 * can be taken out in order.
 */
#ifndef HOSTPROF_SESSION_MERGE_H
#define HOSTPROF_SESSION_MERGE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/capture.h"

/* What hurrying sinks were shown of a sample; ids of the profile's tables. */
struct merge_shown {
	uint64_t id; /* of the sample, as it arrived: 1, 2, … */
	uint32_t stack, thread_name;
	uint32_t tables_serial; /* that the ids are of */
	bool is_shown;
};

/* Of a sample of a thread that was off the cpus; all 0 of others. */
struct merge_wait {
	uint64_t length_ns;
	uint64_t queued_ns; /* of that, for a cpu */
	uint32_t halved;    /* it was one of 2^halved */
	bool is_woken;	    /* it was ended, and not by the end of the recording */
};

struct merge_item {
	uint64_t time_ns; /* its place in the order */
	/* One of the two. */
	struct side_event *side;
	struct wire_sample *sample;
	struct wire_miss *miss;	  /* owned: the sample's walk is yet to be finished; else NULL */
	struct merge_shown shown; /* of a sample */
	struct merge_wait wait;	  /* likewise */
	bool again;		  /* there was no time for it when it arrived */
	/* What came lies behind it; a sample that was finished since then is a block of its own. */
	alignas(8) char room[];
};

/* What is compared lies side by side. */
struct merge_slot {
	uint64_t time_ns;
	uint64_t
		order; /* of arrival, for equal times; side-band first: it tells what the sample saw */
	struct merge_item *item; /* owned */
};

struct merge_queue {
	VEC(struct merge_slot) heap;
	uint64_t next_seq;
	uint64_t bytes;	    /* held in samples, misses and side-band records */
	size_t again_count; /* items that are marked so */
};

void merge_release(struct merge_queue *queue);

/* A copy of what a ring delivered. */
void merge_push_side(struct merge_queue *queue, const struct side_event *event);
/*
 * A copy of SAMPLE; MISS (malloc'd; may be NULL) is taken over. AGAIN: merge_walk_again() is to try it. The
 * item, of which nothing was shown, is borrowed until it is dropped.
 */
struct merge_item *merge_push_sample(struct merge_queue *queue, const struct wire_sample *sample,
				     struct wire_miss *miss, bool again);
/* The same of a wait (NULL: it is none), whose place is at its end. */
struct merge_item *merge_push_wait(struct merge_queue *queue, const struct wire_sample *sample,
				   struct wire_miss *miss, bool again,
				   const struct merge_wait *wait);

/* The oldest item, borrowed; NULL when empty. */
struct merge_item *merge_peek(const struct merge_queue *queue);

/* The item's walk is finished: SAMPLE (taken over) stands for its sample and its miss. */
void merge_finish(struct merge_queue *queue, struct merge_item *item, struct wire_sample *sample);
/* Its walk will not be finished: the stack ends as BPF has left it. */
void merge_forget_miss(struct merge_queue *queue, struct merge_item *item);
/* It cannot be finished before its time. */
void merge_keep_for_later(struct merge_queue *queue, struct merge_item *item);

/* Nor can those of this process: it runs another program now. */
void merge_keep_process_for_later(struct merge_queue *queue, uint32_t tgid);

/*
 * Call FN with the items to be tried again, the newest first, until it returns false. It may do
 * nothing to the queue but merge_finish() and merge_keep_for_later() its item.
 */
void merge_walk_again(struct merge_queue *queue, bool (*fn)(struct merge_item *item, void *data),
		      void *data);

/* Take the oldest item out, and free it. */
void merge_drop_oldest(struct merge_queue *queue);

#endif
