/* SPDX-License-Identifier: Apache-2.0 */
/* Who has a lock: what a sample or a monitor tells becomes a thread. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "jvm/jvm_private.h"
#include "jvm/shown/lock_owner_find.h"
#include "process/proc.h"

/* Of the loop's time, for each JVM: to look at 2,000 threads takes a millisecond. */
static const struct name_allowance allowance = { 10 * NSEC_PER_MSEC, 20 };
#define LOOK_NS (5 * NSEC_PER_MSEC)

/* --- tids of a pid namespace ------------------------------------------------------------------ */

static bool is_thread(struct jvm *jvm, uint32_t tid, uint32_t ns_tid)
{
	return tid && jvm_ns_tid(jvm, tid) == ns_tid;
}

static uint32_t look_for_tid(struct jvm *jvm, uint32_t ns_tid, uint64_t until_ns)
{
	uint32_t found = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", jvm->pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	for (struct dirent *entry; !found && clock_now_ns() < until_ns && (entry = readdir(dir));) {
		uint32_t tid = (uint32_t)strtoul(entry->d_name, NULL, 10);

		if (is_thread(jvm, tid, ns_tid))
			found = tid;
	}
	closedir(dir);
	return found;
}

/* The host's number of the JVM's own NS_TID; 0: it has gone, or there was no time. */
static uint32_t host_tid(struct jvm *jvm, uint32_t ns_tid, uint64_t until_ns)
{
	jvm_learn_tids(jvm);
	return jvm->same_tids ? ns_tid : look_for_tid(jvm, ns_tid, until_ns);
}

/* --- owners ----------------------------------------------------------------------------------- */

static uint64_t thread_of(struct jvm *jvm, uint32_t ns_tid, uint64_t until_ns)
{
	uint32_t tid = ns_tid ? host_tid(jvm, ns_tid, until_ns) : 0;

	return tid ? WIRE_OWNER(TID, tid) : 0;
}

static uint64_t find_place(struct jvm *jvm, uint64_t place, uint64_t until_ns)
{
	struct lock_owner_found found;

	if (lock_owner_find_place(jvm->vs, place, until_ns, &found) < 0)
		return 0;
	return thread_of(jvm, found.tid, until_ns);
}

/* Whose number no thread has by now is a virtual one that waits, most likely, or has ended. */
static uint64_t find_number(struct jvm *jvm, uint64_t number, uint64_t until_ns)
{
	struct lock_owner_found found;
	uint64_t known;

	if (lru_get(&jvm->owner_tids, number, &known))
		return thread_of(jvm, (uint32_t)known, until_ns);
	if (lock_owner_find_number(jvm->vs, number, until_ns, &found) < 0)
		return 0;
	if (!found.tid || found.is_virtual)
		return WIRE_OWNER(NUMBER, number);
	/* Numbers are given once. */
	lru_put(&jvm->owner_tids, number, found.tid, 0);
	return thread_of(jvm, found.tid, until_ns);
}

static uint64_t find(struct jvm *jvm, uint64_t owner, uint64_t until_ns)
{
	uint64_t value = owner & WIRE_OWNER_VALUE_MASK;

	switch (owner >> WIRE_OWNER_KIND_SHIFT) {
	case WIRE_OWNER_TID: return thread_of(jvm, (uint32_t)value, until_ns);
	case WIRE_OWNER_NUMBER: return find_number(jvm, value, until_ns);
	case WIRE_OWNER_VIRTUAL: return WIRE_OWNER(NUMBER, value);
	case WIRE_OWNER_PLACE: return find_place(jvm, value, until_ns);
	default: return 0;
	}
}

static bool may_look(struct jvm *jvm, uint64_t now_ns)
{
	return jvm_has_layout(jvm) && name_time_is_left_of(&jvm->owner_time, &allowance, now_ns);
}

uint64_t jvm_find_owner(struct jvm *jvm, uint64_t owner)
{
	uint64_t begin_ns = clock_now_ns(), found;

	if (!may_look(jvm, begin_ns))
		return 0;
	found = find(jvm, owner, begin_ns + LOOK_NS);
	name_time_take(&jvm->owner_time, clock_now_ns() - begin_ns);
	return found;
}

uint64_t jvm_find_anonymous_owner(struct jvm *jvm, const struct wire_lock_begin *begin)
{
	struct lock_owner_found found = { 0 };
	uint64_t begin_ns = clock_now_ns(), until_ns = begin_ns + LOOK_NS, thread;

	if (!may_look(jvm, begin_ns))
		return 0;
	if (lock_owner_find_anonymous(jvm->vs, begin->monitor, until_ns, &found) < 0)
		found.tid = 0;
	thread = thread_of(jvm, found.tid, until_ns);
	name_time_take(&jvm->owner_time, clock_now_ns() - begin_ns);
	return thread;
}
