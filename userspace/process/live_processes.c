// SPDX-License-Identifier: Apache-2.0
#include "process/live_processes.h"

#include "base/clock.h"

/* No sample is held back for so long. */
#define EXEC_KEPT_NS (60 * NSEC_PER_SEC)

void live_processes_release(struct live_processes *live)
{
	uint64_t pid, value;
	size_t at = 0;

	while (hmap_next(&live->by_pid, &at, &pid, &value))
		free(hmap_find_ptr(&live->by_pid, pid));
	hmap_release(&live->by_pid);
}

struct live_process *live_processes_find(const struct live_processes *live, uint32_t pid)
{
	return hmap_find_ptr(&live->by_pid, pid);
}

struct live_process *live_processes_get(struct live_processes *live, uint32_t pid)
{
	struct live_process *process = live_processes_find(live, pid);

	if (process)
		return process;
	process = xcalloc(1, sizeof(*process));
	process->pid = pid;
	hmap_put_ptr(&live->by_pid, pid, process);
	return process;
}

static void drop_if_empty(struct live_processes *live, struct live_process *process)
{
	if (process->exec_ns || process->attached.first)
		return;
	hmap_remove(&live->by_pid, process->pid);
	free(process);
}

void live_processes_note_exec(struct live_processes *live, uint32_t pid, uint64_t time_ns)
{
	live_processes_get(live, pid)->exec_ns = time_ns;
}

void live_processes_note_exit(struct live_processes *live, uint32_t pid)
{
	struct live_process *process = live_processes_find(live, pid);

	if (!process)
		return;
	process->exec_ns = 0;
	drop_if_empty(live, process);
}

bool live_processes_execed_since(const struct live_processes *live, uint32_t pid, uint64_t time_ns)
{
	const struct live_process *process = live_processes_find(live, pid);

	return process && process->exec_ns > time_ns;
}

void live_processes_tidy(struct live_processes *live, uint64_t now_ns)
{
	VEC(struct live_process *) all = VEC_INIT; /* the table must not change during the walk */
	uint64_t pid, value;
	size_t at = 0;

	while (hmap_next(&live->by_pid, &at, &pid, &value))
		vec_push(&all, live_processes_find(live, (uint32_t)pid));
	for (size_t i = 0; i < all.len; i++) {
		if (now_ns > all.items[i]->exec_ns && now_ns - all.items[i]->exec_ns > EXEC_KEPT_NS)
			all.items[i]->exec_ns = 0;
		drop_if_empty(live, all.items[i]);
	}
	vec_release(&all);
}
