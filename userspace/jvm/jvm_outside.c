/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a JVM's allocations and locks from outside: its threads' TLABs, what they park for, its classes' names. */
#include <errno.h>

#include "base/clock.h"
#include "jvm/continuation/jvm_yielding.h"
#include "jvm/continuation/virtual_parked.h"
#include "jvm/jvm_private.h"
#include "jvm/layout/jvm_tlab.h"
#include "jvm/perf/jvm_perf.h"
#include "jvm/shown/jvm_compiling.h"
#include "jvm/shown/jvm_parking.h"

/* To list threads; of 2,000 it takes a millisecond. */
#define LIST_NS (10 * NSEC_PER_MSEC)
/* share/gc/shared/collectedHeap.cpp */
#define GC_CAUSE "sun.gc.cause"

int jvm_get_tlab(struct jvm *jvm, struct wire_tlab *ret_tlab, struct err *err)
{
	if (!jvm_has_layout(jvm) && !jvm->no_layout)
		return err_set(err, -EAGAIN, "the JVM of process %u is still starting", jvm->pid);
	if (!jvm->has_layout)
		return err_set(err, -EOPNOTSUPP, "the JVM of process %u cannot be read", jvm->pid);
	return jvm_tlab_read(jvm->vs, jvm->layout.feature_release, ret_tlab, err);
}

int jvm_get_parking(struct jvm *jvm, struct wire_parking *ret_parking)
{
	if (!jvm_has_layout(jvm))
		return jvm->no_layout ? -EOPNOTSUPP : -EAGAIN;
	return jvm_parking_read(jvm->vs, &jvm->layout, clock_now_ns() + LIST_NS, ret_parking);
}

int jvm_get_yield_code(struct jvm *jvm, uint64_t start, uint64_t end,
		       struct jvm_yield_code *ret_code)
{
	if (!jvm_has_layout(jvm))
		return jvm->no_layout ? -EOPNOTSUPP : -EAGAIN;
	return jvm_yield_code_find(jvm->vs, &jvm->layout, start, end, ret_code);
}

int jvm_read_parked(struct jvm *jvm, const struct virtual_parked_wanted *wanted,
		    struct virtual_parked_list *list)
{
	struct virtual_layout layout;
	int r;

	if (!jvm_has_layout(jvm))
		return jvm->no_layout ? -EOPNOTSUPP : -EAGAIN;
	r = virtual_layout_read(jvm->vs, &jvm->layout, &layout);
	return r < 0 ? r : virtual_parked_read(&layout, wanted, list);
}

int jvm_get_phases(struct jvm *jvm, bool wants_cause, struct wire_phases *ret_phases)
{
	int r = 0;

	if (!jvm_has_layout(jvm))
		return jvm->no_layout ? -EOPNOTSUPP : -EAGAIN;
	(void)jvm_compile_task_read(jvm->vs, &ret_phases->compile_task);
	if (wants_cause)
		r = jvm_perf_read(vmstructs_memory(jvm->vs), jvm->pid, GC_CAUSE,
				  &ret_phases->gc_cause_at);
	/* It has none, nor will have one. */
	return r == -ENODATA || r == -EBADMSG ? 0 : r;
}

uint32_t jvm_feature_release(struct jvm *jvm)
{
	return jvm_has_layout(jvm) ? jvm->layout.feature_release : 0;
}

const char *jvm_read_class(struct jvm *jvm, uint64_t klass, uint64_t time_ns)
{
	const char *name;

	if (!jvm_has_layout(jvm) || klass_names_read_as_of(jvm->klasses, klass, time_ns, &name) < 0)
		return NULL;
	return name;
}

const char *jvm_find_class(struct jvm *jvm, uint64_t klass)
{
	const char *name;

	if (!jvm_has_layout(jvm) || klass_names_find(jvm->klasses, klass, &name) < 0)
		return NULL;
	return name;
}
