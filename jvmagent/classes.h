/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ids of classes, for the records that name one. Which classes the consumer knows is written on the classes
 * themselves, as their JVMTI tags: an id goes with its class, and no other class has it ever. So nothing is
 * kept here, however many there are.
 */
#ifndef HOSTPROF_AGENT_CLASSES_H
#define HOSTPROF_AGENT_CLASSES_H

#include <jvmti.h>
#include <stdint.h>

struct agent;

struct classes {
	uint64_t next;	/* atomic; ids go on over all activations, as tags do. 0: none yet */
	uint64_t first; /* atomic: the consumer was told of ids from this one on */
};

/* Every class is named anew. */
void classes_begin(struct agent *a);
/* The events are off: the classes forget their ids. */
void classes_end(struct agent *a);

/* Of CLASS, published before this returns. 0: it could not be named. Needs can_tag_objects. */
uint64_t classes_id(struct agent *a, jclass class);

#endif
