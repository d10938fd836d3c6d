/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What must keep its key over all chunks, because the JDK's views group by it (jdk/jfr/internal/
 * query/Histogram.java, JDK 25): classes and threads.
 */
#ifndef HOSTPROF_RECORDING_WRITE_STABLE_H
#define HOSTPROF_RECORDING_WRITE_STABLE_H

#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"

/* Of each table: some five thousand names. Past that those go that no chunk has had for the longest time, and never one of the last chunk. */
#define JFR_STABLE_BYTES (512U << 10)

struct jfr_stable_name {
	uint32_t key;
	uint32_t used; /* the last chunk that had it, as counted by `chunks` */
};

struct jfr_stable_table {
	struct intern names;
	VEC(struct jfr_stable_name) about; /* by id in `names` */
	uint32_t next_key;		   /* none is given twice */
	uint32_t chunks;
};

struct jfr_stable {
	struct jfr_stable_table classes; /* names */
	struct jfr_stable_table threads; /* struct thread_identity and the name */
};

void jfr_stable_init(struct jfr_stable *stable);
void jfr_stable_release(struct jfr_stable *stable);

/* The key of a name that this chunk has, from 0 on. */
uint32_t jfr_stable_key(struct jfr_stable_table *table, const void *name, size_t len);

/* A chunk has ended. What comes back after it was forgotten has another key then. */
void jfr_stable_end_chunk(struct jfr_stable *stable);

#endif
