/* SPDX-License-Identifier: Apache-2.0 */
/* Who had the monitors that did not tell, as it was found out when a wait for one began; until the wait's sample asks. */
#ifndef HOSTPROF_SESSION_LOCK_OWNERS_H
#define HOSTPROF_SESSION_LOCK_OWNERS_H

#include <stdint.h>

/* Waits that are under way at one time; more than that are known of the newest. */
#define LOCK_OWNERS_MOST 1024

struct lock_owners_wait {
	uint64_t begin_ns; /* 0: none */
	uint64_t owner;	   /* WIRE_OWNER() */
	uint32_t tid, pad;
};

/* Needs no release. */
struct lock_owners {
	struct lock_owners_wait waits[LOCK_OWNERS_MOST];
	uint32_t next;
};

void lock_owners_put(struct lock_owners *owners, uint32_t tid, uint64_t begin_ns, uint64_t owner);
/* 0: not known. It is forgotten. */
uint64_t lock_owners_take(struct lock_owners *owners, uint32_t tid, uint64_t begin_ns);

#endif
