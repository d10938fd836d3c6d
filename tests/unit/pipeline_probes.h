/* SPDX-License-Identifier: Apache-2.0 */
/* Where the JVMs of a pipeline that is made up are probed (pipeline_parts.h). */
#ifndef HOSTPROF_TESTS_PIPELINE_PROBES_H
#define HOSTPROF_TESTS_PIPELINE_PROBES_H

#include "pipeline_notes.h"
#include "session/alloc/alloc_outside.h"
#include "session/alloc/alloc_probes.h"
#include "session/locks/lock_parks.h"
#include "session/locks/lock_probes.h"
#include "session/probes/jvm_phases.h"

void jvm_phases_init(struct jvm_phases *phases, struct capture *capture, struct jvm_table *jvms,
		     uint32_t wanted)
{
	(void)jvms;
	*phases = (struct jvm_phases){ .capture = capture, .wanted = wanted };
}

void jvm_phases_release(struct jvm_phases *phases)
{
	(void)phases;
}

void jvm_phases_add(struct jvm_phases *phases, struct process *process,
		    void (*unseen)(enum jvm_phase phase, const struct err *err, void *data),
		    void *data)
{
	struct err err = { 0 };

	if (!phases->wanted)
		return;
	note("probe the phases of %u", number(process->pid));
	if (parts.phases_probed < 0) {
		err_set(&err, parts.phases_probed, "no probes");
		unseen(JVM_PHASE_SAFEPOINT, &err, data);
	} else {
		phases->seen = phases->wanted;
	}
}

void jvm_phases_poll(struct jvm_phases *phases, uint64_t now_ns)
{
	(void)phases;
	parts.phases_polled_ns = now_ns;
}

void jvm_phases_forget(struct jvm_phases *phases, const struct process *process)
{
	if (phases->wanted)
		note("no more of %u's phases", number(process->pid));
}

int lock_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	assert_non_null(capture);
	note("probe the locks of %u", number(process->pid));
	return parts.lock_probed < 0 ? err_set(err, parts.lock_probed, "no function") : 0;
}

int lock_probes_open_begin(struct capture *capture, const struct process *process, struct err *err)
{
	assert_non_null(capture);
	note("probe the begins of %u", number(process->pid));
	return parts.lock_begin_probed < 0 ? err_set(err, parts.lock_begin_probed, "older") : 0;
}

int lock_parks_add(struct lock_parks *parks, struct process *process, struct err *err)
{
	assert_non_null(parks->capture);
	note("see %u park", number(process->pid));
	parts.parks_added = true;
	return parts.parks_seen < 0 ? err_set(err, parts.parks_seen, "no probes")
				    : parts.parks_seen;
}

void virtual_yields_for_each(const struct virtual_yields *yields,
			     void (*fn)(struct jvm *jvm, const struct process *process, void *data),
			     void *data)
{
	(void)yields, (void)fn, (void)data;
	note("all virtual threads");
}

void lock_parks_poll(struct lock_parks *parks, uint64_t now_ns)
{
	(void)parks;
	parts.parks_polled_ns = now_ns;
}

void lock_parks_forget(struct lock_parks *parks, const struct process *process)
{
	(void)parks;
	if (parts.parks_added)
		note("no more of %u's parks", number(process->pid));
}

void lock_parks_init(struct lock_parks *parks, struct capture *capture, struct jvm_table *jvms,
		     struct virtual_yields_wanted wanted,
		     const struct virtual_yields_unseen *unseen)
{
	(void)jvms;
	parks->yields.wanted = wanted;
	parks->yields.unseen = *unseen;
	parks->capture = capture;
}

void lock_parks_release(struct lock_parks *parks)
{
	(void)parks;
}

int alloc_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	assert_non_null(capture);
	note("probe the agent of %u", number(process->pid));
	return parts.probed < 0 ? err_set(err, parts.probed, "no agent") : 0;
}

int alloc_outside_open(const struct alloc_outside_ops *ops, const struct process *process,
		       struct jvm *jvm, uint64_t interval, bool beside_agent, struct err *err)
{
	assert_true(ops && jvm);
	note("see allocations of %u by %" PRIu64 "%s", number(process->pid), interval,
	     beside_agent ? " beside its agent" : "");
	return parts.outside ? err_set(err, parts.outside, "no symbols") : 0;
}

bool alloc_outside_mends(struct jvm *jvm)
{
	(void)jvm;
	return parts.sampler_is_old;
}

void alloc_outside_close(const struct alloc_outside_ops *ops, const struct process *process)
{
	assert_non_null(ops);
	note("see none of %u", number(process->pid));
}

#endif
