// SPDX-License-Identifier: Apache-2.0
#include "session/offcpu/native_locks.h"

#include "symbolize/waits/wait.h"

bool native_locks_want(struct native_locks *locks, const struct profile *profile,
		       const struct wire_sample *sample, uint32_t stack)
{
	enum wire_cause cause = wait_cause(profile, stack, sample->cause);

	if (cause == WIRE_CAUSE_MUTEX || cause == WIRE_CAUSE_RWLOCK)
		return true;
	locks->others[cause]++;
	return false;
}

void native_locks_for_each(const struct native_locks *locks,
			   void (*fn)(const char *reason, uint64_t samples, void *data), void *data)
{
	for (unsigned int cause = 0; cause < WIRE_CAUSE_COUNT; cause++)
		if (locks->others[cause])
			fn(wait_reason((enum wire_cause)cause), locks->others[cause], data);
}
