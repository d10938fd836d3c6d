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

/* Past this many, those that the last chunk did not have are forgotten. */
#define JFR_STABLE_MAX 65536

struct jfr_stable_table {
	struct intern names;
	VEC(uint32_t) keys; /* by id in `names` */
	uint32_t next_key;  /* none is given twice */
};

struct jfr_stable {
	struct jfr_stable_table classes; /* names */
	struct jfr_stable_table threads; /* struct thread_identity and the name */
};

void jfr_stable_init(struct jfr_stable *stable);
void jfr_stable_release(struct jfr_stable *stable);

/* The key of a name, from 0 on. */
uint32_t jfr_stable_key(struct jfr_stable_table *table, const void *name, size_t len);

/*
 * A chunk with these keys has ended. A table that has outgrown JFR_STABLE_MAX keeps only them; what
 * comes back after it was forgotten has another key then.
 */
void jfr_stable_trim(struct jfr_stable_table *table, const uint32_t *used, size_t count);

#endif
