/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread has a lock, where its monitor tells a place or a number, or not at all. Everything read is hostile. */
#ifndef HOSTPROF_JVM_SHOWN_LOCK_OWNER_FIND_H
#define HOSTPROF_JVM_SHOWN_LOCK_OWNER_FIND_H

#include "jvm/layout/vmstructs.h"

struct lock_owner_found {
	uint32_t tid;	 /* in the JVM's pid namespace; 0: no thread of the JVM's has it */
	bool is_virtual; /* it runs a virtual thread, whose lock it is */
};

/* The JavaThread at PLACE, or in whose stack that lies. Threads are looked at until DEADLINE_NS; errors of the read, and -EOPNOTSUPP. */
int lock_owner_find_place(const struct vmstructs *vs, uint64_t place, uint64_t deadline_ns,
			  struct lock_owner_found *ret_found);

/* Who has NUMBER as the owner of monitors. */
int lock_owner_find_number(const struct vmstructs *vs, uint64_t number, uint64_t deadline_ns,
			   struct lock_owner_found *ret_found);

/*
 * Who has the object of the ObjectMonitor at MONITOR on its lock stack. That did not tell its owner yet when all had been read, or
 * -ESTALE. It stays where it is as long as somebody waits for it.
 */
int lock_owner_find_anonymous(const struct vmstructs *vs, uint64_t monitor, uint64_t deadline_ns,
			      struct lock_owner_found *ret_found);

#endif
