/* SPDX-License-Identifier: Apache-2.0 */
/* The ring buffers that carry samples, one per cpu. */
#ifndef HOSTPROF_CAPTURE_RINGS_H
#define HOSTPROF_CAPTURE_RINGS_H

#include <stddef.h>

#include "base/err.h"
#include "capture/cpu_list.h"
#include "wire.h"

struct rings;
struct sideband;

struct rings_handler {
	void (*miss)(const struct wire_miss *miss, void *data);
	void (*sample)(const struct wire_sample *sample, void *data);
	void (*span)(const struct wire_span *span, void *data);
	void (*lock_begin)(const struct wire_lock_begin *begin, void *data);
	/* A record that no check passes: all that is known of it. */
	void (*invalid)(const void *record, size_t len, void *data);
	void *data;
};

/*
 * A ring of RING_BYTES for every cpu of the list, and an array of rings with room for POSSIBLE cpus, which the program is to have. Who
 * empties them is there.
 */
int rings_open(unsigned int possible, uint32_t ring_bytes, const struct cpu_list *cpus,
	       struct rings **ret_rings, struct err *err);
/* Borrowed. */
int rings_array_fd(const struct rings *rings);
/* Put the rings into the array. The kernel takes 10 ms for that. */
int rings_publish(struct rings *rings, struct err *err);
void rings_free(struct rings *rings);
DEFINE_CLEANUP(struct rings *, rings_free);

/* The same for a cpu that came online later; one that has a ring keeps it. */
int rings_add(struct rings *rings, unsigned int cpu, struct err *err);

/* Who empties the rings looks after SIDEBAND, too (ring_pump.h), which is borrowed until it is taken out. */
void rings_add_side(struct rings *rings, struct sideband *sideband);
void rings_remove_side(struct rings *rings, const struct sideband *sideband);

/* As ring_pump_fd(), ring_pump_rings_fd() and ring_pump_taker_waits(). */
int rings_fd(const struct rings *rings);
int rings_edge_fd(const struct rings *rings);
void rings_taker_waits(struct rings *rings, bool waits);
uint64_t rings_bytes(const struct rings *rings);
/* What of them is mapped here: their data twice, one behind the other, so that a record at the end goes on. */
uint64_t rings_mapped_bytes(const struct rings *rings);

/* Deliver every record by what it is; of one ring in the order in which they came. */
void rings_drain(struct rings *rings, const struct rings_handler *handler);

/* What one record is, to its callback. */
void rings_deliver(const struct rings_handler *handler, const void *data, size_t len);

#endif
