/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Empties the rings while the event loop is at something else: a thread that copies records into a
 * queue of bounded size and does nothing more. The loop may be busy for some ten milliseconds (a
 * process that is new, names, a file to be written); a ring has room for no more than seven of the
 * largest stack copies, and one of the side-band for what a hundred programs do that start. While the loop waits, and little
 * comes, it is the loop that rings wake, if it goes before others, and the thread sleeps: else each record that is to be looked at would wake both.
 */
#ifndef HOSTPROF_CAPTURE_RING_PUMP_H
#define HOSTPROF_CAPTURE_RING_PUMP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* What is queued at most, but for one record, and as much of the side-band; then rings fill up. With half of it copies of stacks are dropped where two JVMs are met. */
#define RING_PUMP_BYTES (8U * 1024 * 1024)

struct ring_buffer;
struct ring_pump;
struct sideband;

/* One that knows no ring. */
struct ring_pump *ring_pump_new(void);
void ring_pump_free(struct ring_pump *pump);
DEFINE_CLEANUP(struct ring_pump *, ring_pump_free);

/* Add ring FD to what is emptied. On an error nothing has changed. */
int ring_pump_add(struct ring_pump *pump, int fd);

/*
 * Look at SIDEBAND, too, ten to fifty times a second unless the one who drains it waits for it, and relieve it when it fills up; its records wait
 * there for who drains it. It is borrowed until it is taken out.
 */
void ring_pump_add_side(struct ring_pump *pump, struct sideband *sideband);
void ring_pump_remove_side(struct ring_pump *pump, const struct sideband *sideband);

/* When there is a ring. The thread is as urgent as the one that calls, as that is now. */
int ring_pump_start(struct ring_pump *pump, struct err *err);

/* Readable when the thread has taken records out of rings. */
int ring_pump_fd(const struct ring_pump *pump);
/* When there is a ring: has an edge (EPOLLET) when one of them is to be emptied. Borrowed. */
int ring_pump_rings_fd(const struct ring_pump *pump);

/*
 * Who takes waits for both descriptors from now on, or is at something else: after five milliseconds of that the thread looks after
 * rings and side-bands. Until the first call he is at something else.
 */
void ring_pump_taker_waits(struct ring_pump *pump, bool waits);

/*
 * Hand every record that is there to RECORD, those of one ring in their order. The bytes are
 * aligned to 8, and RECORD's while it runs.
 */
void ring_pump_take(struct ring_pump *pump,
		    void (*record)(const void *record, size_t len, void *data), void *data);

#endif
