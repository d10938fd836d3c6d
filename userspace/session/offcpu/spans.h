/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of threads that left their cpu, until they are back. A sample and the record of its length come by different
 * rings: each waits here for the other, by thread and time.
 */
#ifndef HOSTPROF_SESSION_SPANS_H
#define HOSTPROF_SESSION_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hmap.h"
#include "wire.h"

/* Half of a wait, or all of it. */
struct span_wait {
	struct wire_sample *sample; /* owned; NULL: its length came first */
	struct wire_miss *miss;	    /* owned; NULL: its walk is finished */
	bool is_woken;		    /* its thread runs again, or could */
	struct wire_span span;
	uint64_t since_ns; /* when it came */
};

struct spans {
	struct hmap waits;	  /* to struct span_wait *, owned */
	uint64_t bytes;		  /* of samples and misses */
	size_t lonely;		  /* lengths whose samples have not come */
	uint64_t lonely_since_ns; /* where there are such: none came before this */
	uint64_t limit_bytes;	  /* beyond it samples are kept without their stacks */
	uint64_t cut;		  /* how many these were */
};

void spans_release(struct spans *spans);

/*
 * SAMPLE and MISS (malloc'd; MISS may be NULL) are taken over. The wait, which the caller takes over when its length
 * was there already, else NULL.
 */
struct span_wait *spans_open(struct spans *spans, struct wire_sample *sample,
			     struct wire_miss *miss, uint64_t now_ns);
/* The wait when its sample was there already, taken over; else NULL. */
struct span_wait *spans_close(struct spans *spans, const struct wire_span *span, uint64_t now_ns);

/* The next wait whose sample is there, taken out; NULL: none is left. *AT is 0 at first. */
struct span_wait *spans_take_open(struct spans *spans, size_t *at);
/* Forget lengths that came before BEFORE_NS: their samples were lost, or refused. */
void spans_expire(struct spans *spans, uint64_t before_ns);

void span_wait_free(struct span_wait *wait);

#endif
