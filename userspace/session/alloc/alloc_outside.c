/* SPDX-License-Identifier: Apache-2.0 */
#include "session/alloc/alloc_outside.h"

#include <errno.h>

#include "jvm/layout/alloc_tracer.h"
#include "jvm/layout/libjvm.h"
#include "wall/wall.h"

static int find_tracer(const struct process *process, const struct mapping *mapping,
		       struct jvm *jvm, struct alloc_tracer *ret_tracer, struct err *err)
{
	_cleanup_(libjvm_close) struct libjvm lib = LIBJVM_INIT;
	int r = libjvm_open(process->pid, mapping, &lib, err);

	return r < 0 ? r
		     : alloc_tracer_find(&lib, process->pid, mapping->path,
					 jvm_feature_release(jvm), ret_tracer, err);
}

/* JDK 25 samples by a thread's count of bytes, those outside TLABs among them. */
#define SAMPLES_BY_COUNT 25
/* Since 2020 what an object reached beyond its sample's place no longer counts. */
#define SAMPLES_ANEW 15

bool alloc_outside_mends(struct jvm *jvm)
{
	uint32_t feature = jvm_feature_release(jvm);

	return feature && feature < SAMPLES_BY_COUNT;
}

int alloc_outside_open(const struct alloc_outside_ops *ops, const struct process *process,
		       struct jvm *jvm, uint64_t interval, bool beside_agent, struct err *err)
{
	const struct mapping *mapping = libjvm_find_mapping(process);
	struct alloc_tracer tracer;
	struct wire_tlab tlab;
	_cleanup_close_ int fd = -1;
	char path[WALL_LINK_BYTES];
	int r;

	if (!mapping)
		return err_set(err, -ENODATA, "process %u is no JVM", process->pid);
	r = jvm_get_tlab(jvm, &tlab, err);
	if (!r)
		r = find_tracer(process, mapping, jvm, &tracer, err);
	if (r < 0)
		return r;
	wall_link(process->pid, mapping->start, mapping->end, path);
	fd = wall_open(process->pid, path);
	if (fd < 0)
		return err_sys(err, fd, "cannot open libjvm of process %u", process->pid);
	/* The kernel reads the page that it puts a probe into: that of a file that was looked at. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	tlab.interval = interval;
	tlab.agent = beside_agent;
	tlab.reaches = jvm_feature_release(jvm) < SAMPLES_ANEW;
	r = ops->set_tlab(process->pid, &tlab, ops->data);
	if (r < 0)
		return err_sys(err, r, "cannot see allocations of process %u", process->pid);
	r = ops->add_place(WIRE_TRIGGER_ALLOC_NEW_TLAB, process, path, tracer.new_tlab, err,
			   ops->data);
	if (!r)
		r = ops->add_place(WIRE_TRIGGER_ALLOC_OUTSIDE, process, path, tracer.outside_tlab,
				   err, ops->data);
	if (r < 0)
		alloc_outside_close(ops, process);
	return r;
}

void alloc_outside_close(const struct alloc_outside_ops *ops, const struct process *process)
{
	(void)ops->set_tlab(process->pid, NULL, ops->data);
}
