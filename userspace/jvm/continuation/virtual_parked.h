/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait without a carrier, with their names and their frames, read from outside while the JVM runs. Each is read between two looks at
 * whether objects move (heap_pause.h), and counts when it waits before and after.
 */
#ifndef HOSTPROF_JVM_CONTINUATION_VIRTUAL_PARKED_H
#define HOSTPROF_JVM_CONTINUATION_VIRTUAL_PARKED_H

#include "base/vec.h"
#include "jvm/continuation/virtual_layout.h"
#include "wire.h"

/* Fields and frames of so many chunks, the newest first; older frames are left out, as in BPF's misses. */
#define VIRTUAL_PARKED_CHUNKS (WIRE_MISS_HEAP_PIECES / 2)

struct virtual_parked {
	uint64_t id;
	enum wire_cause
		cause;	/* WIRE_CAUSE_PARK, or WIRE_CAUSE_MONITOR_ENTER, also of Object.wait() */
	uint64_t chunk; /* the address of the newest one */
	struct wire_piece pieces[2 * VIRTUAL_PARKED_CHUNKS];
	uint32_t piece_count;
	uint32_t bytes;
	uint8_t *data; /* owned: the pieces, one after the other */
	/* As in struct wire_sample. */
	uint8_t name_width;
	uint16_t name_bytes;
	uint8_t name[WIRE_NAME_BYTES];
};

struct virtual_parked_list {
	VEC(struct virtual_parked) items;
	uint64_t bytes;	  /* of all items */
	uint64_t waiting; /* how many there were, as far as is known */
	uint64_t unread;  /* who was chosen by chance, too, and has gone on meanwhile */
};

/* For how many each item stands. */
static inline double virtual_parked_weight(const struct virtual_parked_list *list)
{
	uint64_t chosen = list->items.len + list->unread;

	return chosen ? (double)list->waiting / (double)chosen : 0;
}

void virtual_parked_list_release(struct virtual_parked_list *list);

/* What is asked for. */
struct virtual_parked_wanted {
	uint32_t most;	/* items; of more some are chosen by chance */
	uint64_t bytes; /* of all items, or a few more */
	uint64_t deadline_ns;
};

/*
 * LIST is empty. -EAGAIN: the heap changes too fast; -ETIMEDOUT; -E2BIG: there were more bytes than are wanted, or as virtual_list_read() says; -EOPNOTSUPP:
 * objects are not as any JVM's. What was read until then is there, and stands for all.
 */
int virtual_parked_read(const struct virtual_layout *layout,
			const struct virtual_parked_wanted *wanted,
			struct virtual_parked_list *list);

#endif
