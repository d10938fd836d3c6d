/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_locks.h"

static struct jvm *jvm_of(struct pipeline *pipeline, struct process *process)
{
	return process ? jvm_table_get(pipeline->jvms, process) : NULL;
}

void pipeline_locks_begin(const struct wire_lock_begin *begin, void *data)
{
	struct pipeline *pipeline = data;
	struct jvm *jvm = jvm_of(pipeline, registry_find_complete(pipeline->registry, begin->tgid));

	if (jvm)
		lock_owners_put(&pipeline->owners, begin->tid, begin->begin_ns,
				jvm_find_anonymous_owner(jvm, begin));
}

static uint32_t tid_of(uint64_t owner)
{
	return owner >> WIRE_OWNER_KIND_SHIFT == WIRE_OWNER_TID ? (uint32_t)owner : 0;
}

uint64_t pipeline_locks_find(struct pipeline *pipeline, struct process *process,
			     const struct wire_sample *sample)
{
	struct jvm *jvm = jvm_of(pipeline, process);
	uint64_t owner = sample->lock_owner;

	if (!jvm || !owner)
		return 0;
	if (owner >> WIRE_OWNER_KIND_SHIFT == WIRE_OWNER_ANONYMOUS)
		owner = lock_owners_take(&pipeline->owners, sample->tid,
					 owner & WIRE_OWNER_VALUE_MASK);
	else
		owner = jvm_find_owner(jvm, owner);
	if (tid_of(owner))
		jvm_note_thread(jvm, tid_of(owner), true, sample->time_ns);
	if (!owner)
		profile_add_counter(&pipeline->profile, "lock.owners-not-found", "", 1);
	return owner;
}

uint32_t pipeline_locks_owner(struct pipeline *pipeline, struct ledger_entry *entry,
			      struct jvm *jvm, const struct wire_sample *sample)
{
	uint64_t owner = sample->lock_owner, java_tid = owner & WIRE_OWNER_VALUE_MASK;
	struct symbolized thread = { .is_virtual = !tid_of(owner) };
	const char *name = PROFILE_VIRTUAL_THREAD;

	if (!owner || !jvm)
		return 0;
	if (!thread.is_virtual)
		name = jvm_thread_name(jvm, tid_of(owner), sample->time_ns, &java_tid);
	/* Of one without a name nothing would be said. */
	if (!name || !*name)
		return 0;
	thread.java_tid = (uint32_t)java_tid;
	thread.thread_name = profile_string(&pipeline->profile, name);
	return 1 + ledger_profile_thread(entry, &pipeline->profile, tid_of(owner), &thread);
}
