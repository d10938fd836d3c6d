/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What agents say of the objects that they follow (codemap.h): which they follow no more, and, asked at the
 * end of a run, which are alive. A JVM is told by its process's serial.
 */
#ifndef HOSTPROF_JVM_JVM_LIVE_H
#define HOSTPROF_JVM_JVM_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jvm/jvm.h"

struct codemap_object;

/* Have the agents of JVMs whose code maps are opened from now on follow the objects that they sample. */
void jvm_table_follow_objects(struct jvm_table *table);

/*
 * Hand out what was told until UNTIL_NS: an object that is not followed any more (ID), and the level of the
 * agent's table (ID 0).
 */
typedef void (*jvm_gone_fn)(uint64_t serial, uint64_t id, uint32_t level, void *data);
void jvm_table_take_gone(struct jvm_table *table, uint64_t until_ns, jvm_gone_fn fn, void *data);

/* Ask all of them which objects are alive, after a full collection if COLLECT; wait until UNTIL_NS. */
void jvm_table_ask_live(struct jvm_table *table, bool collect, uint64_t until_ns);
/* All have answered, or cannot any more, or it is too late. */
bool jvm_table_told_live(const struct jvm_table *table, uint64_t now_ns);

/* The answer of each JVM that was asked; ALIVE NULL: none came in time. */
struct jvm_live_report {
	uint32_t pid;
	uint64_t serial;
	const struct codemap_object *alive; /* borrowed from the table */
	size_t count;
	uint32_t level;
};

void jvm_table_for_each_live(const struct jvm_table *table,
			     void (*fn)(const struct jvm_live_report *report, void *data),
			     void *data);

#endif
