// SPDX-License-Identifier: Apache-2.0
#include "session/locks/lock_parks.h"

#include "session/locks/lock_probes.h"

static int publish(struct jvm *jvm, const struct process *process, void *data)
{
	struct lock_parks *parks = data;
	struct wire_parking parking;
	int r = jvm_get_parking(jvm, &parking);

	return r < 0 ? r : capture_set_parking(parks->capture, process->pid, &parking);
}

static void drop(uint32_t pid, void *data)
{
	struct lock_parks *parks = data;

	(void)capture_set_parking(parks->capture, pid, NULL);
}

void lock_parks_init(struct lock_parks *parks, struct capture *capture, struct jvm_table *jvms,
		     struct virtual_yields_wanted wanted,
		     const struct virtual_yields_unseen *unseen)
{
	const struct jvm_watch_ops ops = { publish, drop, parks, JVM_WATCH_WAIT_NS };

	parks->capture = capture;
	jvm_watch_init(&parks->watch, &ops, jvms);
	virtual_yields_init(&parks->yields, capture, jvms, wanted, unseen);
}

void lock_parks_release(struct lock_parks *parks)
{
	jvm_watch_release(&parks->watch);
	jvm_watch_release(&parks->yields.watch);
}

int lock_parks_add(struct lock_parks *parks, struct process *process, struct err *err)
{
	/* Its waits are told, whatever they are for. */
	const struct wire_parking nothing_known = { 0 };
	int r;

	if (jvm_watch_has(&parks->watch, process))
		return 1;
	r = capture_set_parking(parks->capture, process->pid, &nothing_known);
	if (r < 0)
		return err_sys(err, r, "cannot note the JVM of process %u", process->pid);
	if (parks->yields.wanted.locks)
		r = lock_probes_open_parks(parks->capture, process, err);
	/* Who has its monitors can be found out all the same. */
	jvm_watch_add(&parks->watch, process);
	jvm_watch_add(&parks->yields.watch, process);
	return r;
}

void lock_parks_poll(struct lock_parks *parks, uint64_t now_ns)
{
	jvm_watch_poll(&parks->watch, now_ns);
	jvm_watch_poll(&parks->yields.watch, now_ns);
}

void lock_parks_forget(struct lock_parks *parks, const struct process *process)
{
	jvm_watch_forget(&parks->watch, process);
	jvm_watch_forget(&parks->yields.watch, process);
}
