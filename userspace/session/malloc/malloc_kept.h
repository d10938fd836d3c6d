/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native memory that was sampled and not given back yet. BPF knows where it is, and forgets what is freed; the samples are kept
 * here. Once a second one is held to the other: what BPF does not know any more has gone, and what nobody here knows (it was
 * dropped, or its process counts no more) it need not know. When there is too much, all is thinned by the ids (codemap_live_keeps()).
 */
#ifndef HOSTPROF_SESSION_MALLOC_KEPT_H
#define HOSTPROF_SESSION_MALLOC_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/capture.h"
#include "session/alloc/live_objects.h"

struct malloc_kept {
	struct live_objects objects;
	bool is_on;
	uint32_t level;	     /* of all */
	uint64_t settled_ns; /* when it was done last */
	bool unread;	     /* at the end BPF did not say all that it knows */
};

void malloc_kept_release(struct malloc_kept *kept);

/* Hold one to the other, when it is time to. */
void malloc_kept_settle(struct malloc_kept *kept, struct capture *capture, uint64_t now_ns);

/* Make samples of EVENT of all that is there; see live_objects_tell_kept(). */
void malloc_kept_tell(struct malloc_kept *kept, const struct capture *capture, uint64_t now_ns,
		      uint32_t event, struct profile *profile,
		      void (*added)(uint64_t serial, size_t first, void *data), void *data);

#endif
