// SPDX-License-Identifier: Apache-2.0
#include "session/probes/jvm_watch.h"

#include <errno.h>

#include "base/clock.h"

/* A JVM that starts knows nothing of itself yet; one whose threads cannot be told is asked in vain, and more and more seldom. */
#define WAIT_NS (20 * NSEC_PER_MSEC)

void jvm_watch_init(struct jvm_watch *watch, const struct jvm_watch_ops *ops,
		    struct jvm_table *jvms)
{
	*watch = (struct jvm_watch){ .ops = *ops, .jvms = jvms };
}

void jvm_watch_release(struct jvm_watch *watch)
{
	vec_release(&watch->items);
}

static struct jvm_watched *find(const struct jvm_watch *watch, const struct process *process)
{
	struct jvm_watched *at;

	vec_for_each (at, &watch->items)
		if (at->process == process)
			return at;
	return NULL;
}

bool jvm_watch_has(const struct jvm_watch *watch, const struct process *process)
{
	return find(watch, process) != NULL;
}

static void ask(struct jvm_watch *watch, struct jvm_watched *of, uint64_t now_ns)
{
	struct jvm *jvm = jvm_table_get(watch->jvms, of->process);
	int r = jvm ? watch->ops.publish(jvm, of->process, watch->ops.data) : -EAGAIN;

	of->is_known = r == 0 || r == -EOPNOTSUPP;
	of->wait_ns = of->wait_ns ? MIN(2 * of->wait_ns, watch->ops.most_wait_ns) : WAIT_NS;
	of->retry_ns = now_ns + of->wait_ns;
}

void jvm_watch_add(struct jvm_watch *watch, struct process *process)
{
	struct jvm_watched fresh = { .process = process };

	ask(watch, &fresh, clock_now_ns());
	vec_push(&watch->items, fresh);
}

void jvm_watch_poll(struct jvm_watch *watch, uint64_t now_ns)
{
	struct jvm_watched *at;

	vec_for_each (at, &watch->items)
		if (!at->is_known && !at->process->exited && now_ns >= at->retry_ns)
			ask(watch, at, now_ns);
}

/* BPF knows JVMs by their pids, and this one's may be another's by now. */
static bool has_pid(const struct jvm_watch *watch, uint32_t pid)
{
	const struct jvm_watched *at;

	vec_for_each (at, &watch->items)
		if (at->process->pid == pid)
			return true;
	return false;
}

void jvm_watch_forget(struct jvm_watch *watch, const struct process *process)
{
	struct jvm_watched *of = find(watch, process);

	if (!of)
		return;
	*of = watch->items.items[--watch->items.len];
	if (watch->ops.drop && !has_pid(watch, process->pid))
		watch->ops.drop(process->pid, watch->ops.data);
}
