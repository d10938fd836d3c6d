/* SPDX-License-Identifier: Apache-2.0 */
/* Source: share/runtime/javaThread.hpp, java/lang/Thread.java, JDK 8 to 28. */
#include "jvm/shown/jvm_parking.h"

#include <errno.h>

#include "jvm/continuation/jvm_yielding.h"
#include "jvm/heap/java_thread_layout.h"
#include "jvm/shown/jvm_lock_owner.h"
#include "jvm/shown/jvm_own_thread.h"

/* Thread.currentThread() of a carrier is the virtual thread that it runs: a field of its own from JDK 21 on, a handle. */
static uint64_t current_thread(const struct vmstructs *vs, const struct java_thread_layout *l)
{
	uint64_t offset;

	return vmstructs_field_offset(vs, "JavaThread", "_vthread", &offset) < 0 ? l->thread_object
										 : offset;
}

static struct wire_blocker make_blocker(const struct vmstructs *vs,
					const struct java_thread_layout *l)
{
	return (struct wire_blocker){
		.oop_base = l->objects.oop_base,
		.thread_object = (uint16_t)current_thread(vs, l),
		.field = (uint16_t)l->blocker,
		.has_handle = l->has_handles,
		.oop_bytes = java_objects_reference_bytes(&l->objects),
		.oop_shift = l->objects.oop_shift,
	};
}

/* What is in the heap, where the collector lets it be read. */
static int add_objects(const struct vmstructs *vs, const struct jvm_layout *layout,
		       struct wire_parking *parking)
{
	struct java_thread_layout l;
	int r = java_thread_layout_read(vs, layout, &l);

	if (r < 0)
		return r;
	if (!l.blocker || current_thread(vs, &l) > JVM_LAYOUT_MAX_STRUCT)
		return -EOPNOTSUPP;
	parking->object = java_objects_wire(&l.objects);
	parking->blocker = make_blocker(vs, &l);
	/* That threads wait for a lock is one thing, who has it another. */
	(void)jvm_lock_owner_add_locks(vs, layout, &l, &parking->owner);
	(void)jvm_yielding_read(vs, layout, &l, &parking->yielding);
	return 0;
}

int jvm_parking_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		     uint64_t deadline_ns, struct wire_parking *ret_parking)
{
	struct wire_parking parking = { 0 };
	int r = jvm_own_thread_read(vs, deadline_ns, &parking.own);

	if (r < 0)
		return r;
	jvm_lock_owner_read(vs, &parking.owner);
	r = add_objects(vs, layout, &parking);
	if (r < 0 && (r != -EOPNOTSUPP || !parking.owner.pending))
		return r;
	*ret_parking = parking;
	return 0;
}
