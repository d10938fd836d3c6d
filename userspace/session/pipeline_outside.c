/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_outside.h"

#include <errno.h>

#include "session/alloc/alloc_outside.h"
#include "session/pipeline_apply.h"

static int add_place(enum wire_trigger trigger, const struct process *process, const char *path,
		     uint64_t offset, struct err *err, void *data)
{
	struct pipeline *pipeline = data;
	const struct capture_place place = { .trigger = trigger,
					     .pid = process->pid,
					     .generation = process->serial,
					     .path = path,
					     .offset = offset };

	return capture_add_place(pipeline->capture, &place, err);
}

static int set_tlab(uint32_t tgid, const struct wire_tlab *tlab, void *data)
{
	struct pipeline *pipeline = data;

	return capture_set_tlab(pipeline->capture, tgid, tlab);
}

static void tell_unseen(struct pipeline *pipeline, const struct process *process,
			const struct err *err)
{
	char why[sizeof(err->text) + sizeof(err->hint) + 4];

	snprintf(why, sizeof(why), "%s%s%s", err->text, err->hint[0] ? "; " : "", err->hint);
	profile_add_counter(&pipeline->profile, "alloc.not-seen", why, 1);
	if (pipeline->unseen)
		pipeline->unseen(process->pid, why);
}

static void try_open(struct pipeline *pipeline, struct outside_jvm *target)
{
	const struct alloc_outside_ops ops = { add_place, set_tlab, pipeline };
	struct process *process = target->process;
	struct jvm *jvm = jvm_table_get(pipeline->jvms, process);
	struct err err = { 0 };
	int r;

	if (process->exited || !jvm)
		return;
	/* One source of each: the agent, as long as it may become one. */
	if (pipeline->samples_allocations && !agents_has_failed(pipeline->agents, process))
		return;
	r = alloc_outside_open(&ops, process, jvm, pipeline->outside_interval, false, &err);
	if (r == -EAGAIN)
		return;
	target->tried = true;
	target->seen = r == 0;
	if (target->probed)
		pipeline->alloc_sources--;
	if (r < 0)
		tell_unseen(pipeline, process, &err);
	else
		pipeline->alloc_sources++;
}

static struct outside_jvm *find(const struct pipeline *pipeline, const struct process *process)
{
	struct outside_jvm *at;

	vec_for_each (at, &pipeline->outside)
		if (at->process == process)
			return at;
	return NULL;
}

void pipeline_add_jvm(struct pipeline *pipeline, struct process *process)
{
	struct outside_jvm target = { .process = process };
	bool wanted = pipeline_is_target(pipeline, process);

	if (!pipeline->outside_interval || !wanted || find(pipeline, process)) {
		agents_add(pipeline->agents, process, wanted);
		return;
	}
	vec_push(&pipeline->outside, target);
	agents_add(pipeline->agents, process, wanted);
	try_open(pipeline, find(pipeline, process));
}

void pipeline_outside_poll(struct pipeline *pipeline)
{
	struct outside_jvm *at;

	vec_for_each (at, &pipeline->outside)
		if (!at->tried)
			try_open(pipeline, at);
}

bool pipeline_outside_sees(const struct pipeline *pipeline, const struct process *process)
{
	const struct outside_jvm *target = find(pipeline, process);

	return target && target->seen;
}

/* What the sampler of an older JVM misjudges is seen beside it; where that cannot be, it stays as it is. */
static void open_beside(struct pipeline *pipeline, struct outside_jvm *target, struct jvm *jvm)
{
	const struct alloc_outside_ops ops = { add_place, set_tlab, pipeline };
	struct err ignored = { 0 };

	/* The agent follows the objects that it tells of, and no others. */
	if (pipeline->live_mode != LIVE_OFF || !alloc_outside_mends(jvm))
		return;
	target->beside = alloc_outside_open(&ops, target->process, jvm, pipeline->outside_interval,
					    true, &ignored) == 0;
}

void pipeline_outside_note_probed(struct pipeline *pipeline, const struct process *process,
				  struct jvm *jvm)
{
	struct outside_jvm *target = find(pipeline, process);

	if (target && target->probed)
		return;
	if (target) {
		target->probed = true;
		open_beside(pipeline, target, jvm);
	}
	pipeline->alloc_sources++;
}

void pipeline_outside_forget(struct pipeline *pipeline, struct process *process)
{
	const struct alloc_outside_ops ops = { add_place, set_tlab, pipeline };
	struct outside_jvm *target = find(pipeline, process);

	if (!target)
		return;
	if (target->seen || target->beside)
		alloc_outside_close(&ops, process);
	*target = pipeline->outside.items[--pipeline->outside.len];
}
