/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes as the kernel has them now, by pid: some hundred milliseconds ahead of the registry,
 * whose state is that of the samples. What follows the kernel, as tables of BPF do, is attached
 * here (process/book.h). Only pids that something is attached to have an entry, and those that
 * have execed lately.
 */
#ifndef HOSTPROF_PROCESS_LIVE_PROCESSES_H
#define HOSTPROF_PROCESS_LIVE_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "process/book.h"

struct live_process {
	uint32_t pid;
	uint64_t exec_ns; /* when it last began another program; 0: not lately */
	struct attachments attached;
};

/* All 0: none. */
struct live_processes {
	struct hmap by_pid; /* struct live_process, owned */
};

/* What is attached yet is left alone. */
void live_processes_release(struct live_processes *live);

/* NULL: nothing is known of it. */
struct live_process *live_processes_find(const struct live_processes *live, uint32_t pid);
/* Made when there is none. */
struct live_process *live_processes_get(struct live_processes *live, uint32_t pid);

/* It runs another program since then; what was attached to the old one is detached by its books. */
void live_processes_note_exec(struct live_processes *live, uint32_t pid, uint64_t time_ns);
/* The pid is free; its books have detached all. */
void live_processes_note_exit(struct live_processes *live, uint32_t pid);

/* At TIME_NS the process was another program than it is now. */
bool live_processes_execed_since(const struct live_processes *live, uint32_t pid, uint64_t time_ns);

/* Forget what nobody asks for any more: the record of an exit may be lost. Call every ten seconds. */
void live_processes_tidy(struct live_processes *live, uint64_t now_ns);

#endif
