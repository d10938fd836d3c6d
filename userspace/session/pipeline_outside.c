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

/* True: it is done with, seen or not. */
static bool try_open(struct pipeline *pipeline, struct process *process)
{
	const struct alloc_outside_ops ops = { add_place, set_tlab, pipeline };
	struct jvm *jvm = jvm_table_get(pipeline->jvms, process);
	struct err err = { 0 };
	int r;

	if (process->exited || !jvm)
		return true;
	r = alloc_outside_open(&ops, process, jvm, pipeline->outside_interval, &err);
	if (r == -EAGAIN)
		return false;
	if (r < 0)
		tell_unseen(pipeline, process, &err);
	else
		pipeline->alloc_sources++;
	return true;
}

void pipeline_add_jvm(struct pipeline *pipeline, struct process *process)
{
	bool wanted = pipeline_is_target(pipeline, process);

	agents_add(pipeline->agents, process, wanted);
	if (pipeline->outside_interval && wanted && !try_open(pipeline, process))
		vec_push(&pipeline->outside_waiting, process);
}

static void remove_waiting(struct pipeline *pipeline, size_t at)
{
	struct process **items = pipeline->outside_waiting.items;

	items[at] = items[--pipeline->outside_waiting.len];
}

void pipeline_outside_poll(struct pipeline *pipeline)
{
	for (size_t i = pipeline->outside_waiting.len; i-- > 0;)
		if (try_open(pipeline, pipeline->outside_waiting.items[i]))
			remove_waiting(pipeline, i);
}

void pipeline_outside_forget(struct pipeline *pipeline, struct process *process)
{
	const struct alloc_outside_ops ops = { add_place, set_tlab, pipeline };

	for (size_t i = pipeline->outside_waiting.len; i-- > 0;)
		if (pipeline->outside_waiting.items[i] == process)
			remove_waiting(pipeline, i);
	if (pipeline->outside_interval)
		alloc_outside_close(&ops, process);
}
