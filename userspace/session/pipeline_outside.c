/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_outside.h"

#include <errno.h>

#include "base/clock.h"
#include "process/proc.h"
#include "session/alloc/alloc_outside.h"
#include "session/alloc/alloc_probes.h"
#include "session/locks/lock_probes.h"
#include "session/probes/jvm_phases.h"

/* How often it is looked whether JVMs have become targets: each costs some 10 us. */
#define STRANGERS_NS (500 * NSEC_PER_MSEC)

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

	/* One that has gone allocates no more. */
	if (err->code == -ESRCH)
		return;
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

/* The registry's cgroup may be the parent's: who starts a container's program moves it there before the exec. */
static bool is_target(const struct pipeline *pipeline, const struct process *process)
{
	_cleanup_free_ char *cgroup = NULL;

	if (pipeline->options->cgroup_path)
		(void)proc_read_cgroup(process->pid, &cgroup);
	return capture_is_target(pipeline->capture, process->pid, cgroup ? cgroup : "");
}

static struct outside_jvm *find(const struct pipeline *pipeline, const struct process *process)
{
	struct outside_jvm *at;

	vec_for_each (at, &pipeline->outside)
		if (at->process == process)
			return at;
	return NULL;
}

static void tell_unseen_phase(enum jvm_phase phase, const struct err *err, void *data)
{
	struct pipeline *pipeline = data;

	profile_add_counter(&pipeline->profile, jvm_phase_counter(phase), err->text, 1);
}

static void tell_unseen_yields(const struct err *err, void *data)
{
	struct pipeline *pipeline = data;

	if (pipeline->samples_locks)
		profile_add_counter(&pipeline->profile, "lock.virtual-parks-not-seen", err->text,
				    1);
	if (pipeline->samples_waits)
		profile_add_counter(&pipeline->profile, "offcpu.virtual-not-seen", err->text, 1);
}

void pipeline_outside_watch_parks(struct pipeline *pipeline)
{
	const struct virtual_yields_unseen unseen = { tell_unseen_yields, pipeline };
	const struct virtual_yields_wanted wanted = { pipeline->samples_locks,
						      pipeline->samples_waits };

	lock_parks_init(&pipeline->parks, pipeline->capture, pipeline->jvms, wanted, &unseen);
}

/* Its own probes are there from its first instruction on, whatever it says of itself. */
static void probe_parks(struct pipeline *pipeline, struct process *process)
{
	struct err err = { 0 };
	int r;

	if (!pipeline->samples_locks && !pipeline->samples_waits)
		return;
	r = lock_parks_add(&pipeline->parks, process, &err);
	/* One that has gone parks no more. */
	if (r == -ESRCH || r == -ENOENT)
		return;
	if (r < 0)
		profile_add_counter(&pipeline->profile, "lock.parks-not-seen", err.text, 1);
	else if (r == 0)
		pipeline->sees_locks |= pipeline->samples_locks;
}

static void want_jvm(struct pipeline *pipeline, struct process *process)
{
	struct outside_jvm target = { .process = process };
	bool is_new = pipeline->outside_interval && !find(pipeline, process);

	jvm_phases_add(&pipeline->phases, process, tell_unseen_phase, pipeline);
	probe_parks(pipeline, process);
	/* Its agent may be opened, and so be known of, in agents_add(). */
	if (is_new)
		vec_push(&pipeline->outside, target);
	agents_add(pipeline->agents, process, true);
	if (is_new)
		try_open(pipeline, find(pipeline, process));
}

static void forget_stranger(struct pipeline *pipeline, const struct process *process)
{
	for (size_t i = pipeline->strangers.len; i-- > 0;)
		if (pipeline->strangers.items[i] == process)
			vec_remove(&pipeline->strangers, i, 1);
}

void pipeline_add_jvm(struct pipeline *pipeline, struct process *process)
{
	forget_stranger(pipeline, process);
	if (is_target(pipeline, process)) {
		want_jvm(pipeline, process);
		return;
	}
	agents_add(pipeline->agents, process, false);
	if (pipeline->options->cgroup_path)
		vec_push(&pipeline->strangers, process);
}

/* A process may be moved into the cgroup at any time, and nobody tells of it. */
static void look_at_strangers(struct pipeline *pipeline)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - pipeline->strangers_ns < STRANGERS_NS)
		return;
	pipeline->strangers_ns = now_ns;
	for (size_t i = pipeline->strangers.len; i-- > 0;)
		if (!pipeline->strangers.items[i]->exited &&
		    is_target(pipeline, pipeline->strangers.items[i]))
			pipeline_add_jvm(pipeline, pipeline->strangers.items[i]);
}

void pipeline_outside_poll(struct pipeline *pipeline)
{
	struct outside_jvm *at;

	if (pipeline->strangers.len)
		look_at_strangers(pipeline);
	vec_for_each (at, &pipeline->outside)
		if (!at->tried)
			try_open(pipeline, at);
	lock_parks_poll(&pipeline->parks, clock_now_ns());
	jvm_phases_poll(&pipeline->phases, clock_now_ns());
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

/* Without it there are no monitors; allocations may be seen all the same. */
static void probe_locks(struct pipeline *pipeline, const struct process *process)
{
	struct err err = { 0 };

	if (!pipeline->samples_locks)
		return;
	/* An older agent tells of no begin: nobody knows who has a monitor then. */
	if (lock_probes_open_begin(pipeline->capture, process, &err) < 0)
		profile_add_counter(&pipeline->profile, "lock.owners-not-seen", err.text, 1);
	if (lock_probes_open(pipeline->capture, process, &err) < 0)
		profile_add_counter(&pipeline->profile, "lock.not-seen", err.text, 1);
	else
		pipeline->sees_locks = true;
}

void pipeline_outside_tell_locks(struct pipeline *pipeline)
{
	uint32_t count = jvm_table_without_locks(pipeline->jvms);

	if (count)
		profile_add_counter(&pipeline->profile, "lock.not-seen", "JVMs whose agent cannot",
				    count);
}

int pipeline_outside_probe(struct process *process, struct jvm *jvm, void *data, struct err *err)
{
	struct pipeline *pipeline = data;
	int r;

	probe_locks(pipeline, process);
	if (!pipeline->samples_allocations || pipeline_outside_sees(pipeline, process))
		return 0;
	r = alloc_probes_open(pipeline->capture, process, err);
	if (r == 0)
		pipeline_outside_note_probed(pipeline, process, jvm);
	return r;
}

/* The kernel knows JVMs by their pids, and this one's may be another's by now. */
static bool has_pid_seen(const struct pipeline *pipeline, uint32_t pid)
{
	const struct outside_jvm *at;

	vec_for_each (at, &pipeline->outside)
		if (at->process->pid == pid && (at->seen || at->beside))
			return true;
	return false;
}

void pipeline_outside_forget(struct pipeline *pipeline, struct process *process)
{
	const struct alloc_outside_ops ops = { add_place, set_tlab, pipeline };
	struct outside_jvm *target = find(pipeline, process);
	bool was_seen;

	forget_stranger(pipeline, process);
	lock_parks_forget(&pipeline->parks, process);
	jvm_phases_forget(&pipeline->phases, process);
	if (!target)
		return;
	was_seen = target->seen || target->beside;
	*target = pipeline->outside.items[--pipeline->outside.len];
	if (was_seen && !has_pid_seen(pipeline, process->pid))
		alloc_outside_close(&ops, process);
}
