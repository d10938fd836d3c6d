// SPDX-License-Identifier: Apache-2.0
#include "session/locks/lock_parks.h"

#include <errno.h>

#include "base/clock.h"
#include "session/locks/lock_probes.h"

/* A JVM that starts knows nothing of itself yet; one whose threads cannot be told is asked in vain. */
#define WAIT_NS	    (20 * NSEC_PER_MSEC)
#define MAX_WAIT_NS (10 * NSEC_PER_SEC)

void lock_parks_init(struct lock_parks *parks, struct capture *capture, struct jvm_table *jvms)
{
	*parks = (struct lock_parks){ .capture = capture, .jvms = jvms };
}

void lock_parks_release(struct lock_parks *parks)
{
	vec_release(&parks->items);
}

static struct lock_parks_jvm *find(const struct lock_parks *parks, const struct process *process)
{
	struct lock_parks_jvm *at;

	vec_for_each (at, &parks->items)
		if (at->process == process)
			return at;
	return NULL;
}

static int publish(struct lock_parks *parks, struct process *process)
{
	struct jvm *jvm = jvm_table_get(parks->jvms, process);
	struct wire_parking parking;
	int r = jvm ? jvm_get_parking(jvm, &parking) : -EAGAIN;

	return r < 0 ? r : capture_set_parking(parks->capture, process->pid, &parking);
}

static void ask(struct lock_parks *parks, struct lock_parks_jvm *of, uint64_t now_ns)
{
	int r = publish(parks, of->process);

	of->is_known = r == 0 || r == -EOPNOTSUPP;
	of->wait_ns = of->wait_ns ? MIN(2 * of->wait_ns, MAX_WAIT_NS) : WAIT_NS;
	of->retry_ns = now_ns + of->wait_ns;
}

int lock_parks_add(struct lock_parks *parks, struct process *process, struct err *err)
{
	/* Its waits are told, whatever they are for. */
	const struct wire_parking nothing_known = { 0 };
	struct lock_parks_jvm fresh = { .process = process };
	int r;

	if (find(parks, process))
		return 0;
	r = capture_set_parking(parks->capture, process->pid, &nothing_known);
	if (r < 0)
		return err_sys(err, r, "cannot note the JVM of process %u", process->pid);
	r = lock_probes_open_parks(parks->capture, process, err);
	/* Who has its monitors can be found out all the same. */
	ask(parks, &fresh, clock_now_ns());
	vec_push(&parks->items, fresh);
	return r;
}

void lock_parks_poll(struct lock_parks *parks, uint64_t now_ns)
{
	struct lock_parks_jvm *at;

	vec_for_each (at, &parks->items)
		if (!at->is_known && !at->process->exited && now_ns >= at->retry_ns)
			ask(parks, at, now_ns);
}

/* BPF knows JVMs by their pids, and this one's may be another's by now. */
static bool has_pid(const struct lock_parks *parks, uint32_t pid)
{
	const struct lock_parks_jvm *at;

	vec_for_each (at, &parks->items)
		if (at->process->pid == pid)
			return true;
	return false;
}

void lock_parks_forget(struct lock_parks *parks, const struct process *process)
{
	struct lock_parks_jvm *of = find(parks, process);

	if (!of)
		return;
	*of = parks->items.items[--parks->items.len];
	if (!has_pid(parks, process->pid))
		(void)capture_set_parking(parks->capture, process->pid, NULL);
}
