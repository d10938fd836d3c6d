/* SPDX-License-Identifier: Apache-2.0 */
#include "session/locks/lock_owners.h"

void lock_owners_put(struct lock_owners *owners, uint32_t tid, uint64_t begin_ns, uint64_t owner)
{
	if (owner)
		owners->waits[owners->next++ % LOCK_OWNERS_MOST] =
			(struct lock_owners_wait){ begin_ns, owner, tid, 0 };
}

uint64_t lock_owners_take(struct lock_owners *owners, uint32_t tid, uint64_t begin_ns)
{
	for (uint32_t i = 1; begin_ns && i <= LOCK_OWNERS_MOST; i++) {
		struct lock_owners_wait *wait =
			&owners->waits[(owners->next - i) % LOCK_OWNERS_MOST];

		if (wait->begin_ns != begin_ns || wait->tid != tid)
			continue;
		wait->begin_ns = 0;
		return wait->owner;
	}
	return 0;
}
