/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source: share/runtime/{javaThread,osThread,objectMonitor}.hpp, JDK 8 to 28; share/oops/klass.hpp and
 * java/util/concurrent/locks/AbstractOwnableSynchronizer.java, JDK 17 to 28.
 */
#include "jvm/shown/jvm_lock_owner.h"

#include <errno.h>
#include <string.h>

#include "jvm/continuation/jvm_classes.h"
#include "jvm/heap/java_fields.h"

#define SYNCHRONIZER "java/util/concurrent/locks/AbstractOwnableSynchronizer"
#define OWNER_FIELD  "exclusiveOwnerThread"

static bool find(const struct vmstructs *vs, const char *type, const char *field,
		 uint16_t *ret_offset)
{
	return vmstructs_near_offset(vs, type, field, ret_offset) == 0;
}

/* _owner is a number where JavaThreads have one for it. */
static bool has_ids(const struct vmstructs *vs)
{
	uint64_t offset;

	return vmstructs_field_offset(vs, "JavaThread", "_monitor_owner_id", &offset) == 0;
}

void jvm_lock_owner_read(const struct vmstructs *vs, struct wire_lock_owner *ret_owner)
{
	struct wire_lock_owner owner = { 0 };
	uint64_t lock_stack;

	memset(ret_owner, 0, sizeof(*ret_owner));
	if ((!find(vs, "JavaThread", "_current_pending_monitor", &owner.pending) &&
	     !find(vs, "Thread", "_current_pending_monitor", &owner.pending)) ||
	    !find(vs, "ObjectMonitor", "_owner", &owner.monitor_owner) ||
	    (!find(vs, "JavaThread", "_osthread", &owner.os_thread) &&
	     !find(vs, "Thread", "_osthread", &owner.os_thread)) ||
	    !find(vs, "OSThread", "_thread_id", &owner.os_tid))
		return;
	owner.has_ids = has_ids(vs);
	owner.is_anonymous =
		vmstructs_field_offset(vs, "JavaThread", "_lock_stack", &lock_stack) == 0;
	*ret_owner = owner;
}

int jvm_lock_owner_add_locks(const struct vmstructs *vs, const struct jvm_layout *layout,
			     const struct java_thread_layout *threads,
			     struct wire_lock_owner *owner)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(threads->memory);
	uint64_t klass;
	uint32_t field;
	uint16_t supers;
	int r = jvm_classes_find(vs, layout, pages, SYNCHRONIZER, &klass);

	if (!r)
		r = java_fields_find(vs, layout, pages, klass, OWNER_FIELD, "Ljava/lang/Thread;",
				     &field);
	if (r < 0)
		return r;
	if (!owner->os_tid || !threads->id || field > JVM_LAYOUT_MAX_STRUCT ||
	    !find(vs, "Klass", "_primary_supers[0]", &supers))
		return -EOPNOTSUPP;
	/* Object is the first one, and comes before it. */
	owner->supers = supers + sizeof(uint64_t);
	owner->exclusive = (uint16_t)field;
	owner->eetop = (uint16_t)threads->eetop;
	owner->thread_id = (uint16_t)threads->id;
	owner->synchronizer = klass;
	return 0;
}
