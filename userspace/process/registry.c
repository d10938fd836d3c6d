// SPDX-License-Identifier: Apache-2.0
/*
 * What is read from /proc is newer than the events that are still under way, and that does no
 * harm: a fork or exec event replaces it by the exact state of that moment, and mmap events that
 * it holds already are added again.
 */
#include "process/registry.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/hmap.h"
#include "process/mappings.h"
#include "process/proc.h"
#include "process/process_memory.h"

/* A thread runs on for a moment after its exit record; later samples mean somebody lives. */
#define EXIT_GRACE_NS (100 * NSEC_PER_MSEC)
/* Its broker may be back by then (wall/suspects.h). */
#define RETRY_NS (100 * NSEC_PER_MSEC)
/* Of an exit nobody tells only where the first thread ended before the others. */
#define LOOK_AT_ALL_NS (60 * NSEC_PER_SEC)

struct entry {
	struct process process;
	uint64_t exit_ns;
	uint32_t losses;   /* the registry's when its mappings were read */
	uint64_t retry_ns; /* of mappings that could not be read in time; 0: they were */
	bool detailed;	   /* exe and cgroup were read for this generation */
};

struct registry {
	struct hmap by_pid;	     /* pid → owned struct entry: its newest generation */
	VEC(struct entry *) orphans; /* owned: exited, and the pid was given to another since */
	VEC(uint32_t)
	exited; /* the pids of those that exited, some of them more than once, or that are there again */
	VEC(uint32_t) undetailed; /* pids that the snapshot left without exe and cgroup */
	uint64_t next_serial;
	uint32_t losses;    /* checks before which side-band records were lost */
	bool lost;	    /* some since the last check */
	uint64_t looked_ns; /* at all of them, whether they are there */
};

/* "" where there is no room for it. */
static void set_text(char **text, const char *value)
{
	uint64_t own_bytes = 0;
	char *kept = process_text_ref(value, &own_bytes);

	process_text_unref(*text);
	*text = kept ? kept : process_text_ref("", &own_bytes);
}

static void entry_free(struct entry *entry)
{
	if (!entry)
		return;
	mappings_clear(&entry->process);
	process_text_unref(entry->process.exe);
	process_text_unref(entry->process.cgroup);
	free(entry);
}

/* The pid of OLD has gone to another: it must have exited by TIME_NS. */
static void make_orphan(struct registry *registry, struct entry *old, uint64_t time_ns)
{
	if (!old->process.exited)
		old->exit_ns = time_ns;
	old->process.exited = true;
	vec_push(&registry->orphans, old);
}

/* A new entry under PID; one that was there becomes an orphan. */
static struct entry *entry_add(struct registry *registry, uint32_t pid, uint64_t time_ns)
{
	struct entry *entry = xcalloc(1, sizeof(*entry));
	struct entry *old = hmap_find_ptr(&registry->by_pid, pid);

	if (old)
		make_orphan(registry, old, time_ns);
	entry->process.pid = pid;
	entry->process.serial = registry->next_serial++;
	entry->losses = registry->losses;
	set_text(&entry->process.exe, "");
	set_text(&entry->process.cgroup, "");
	hmap_put_ptr(&registry->by_pid, pid, entry);
	return entry;
}

static void set_exited(struct registry *registry, struct entry *entry, uint64_t time_ns)
{
	entry->process.exited = true;
	entry->exit_ns = time_ns;
	vec_push(&registry->exited, entry->process.pid);
}

static void set_comm(struct process *process, const char *comm)
{
	size_t len = strnlen(comm, sizeof(process->comm) - 1);

	memcpy(process->comm, comm, len);
	memset(process->comm + len, 0, sizeof(process->comm) - len);
}

struct registry *registry_new(void)
{
	struct registry *registry = xcalloc(1, sizeof(*registry));

	registry->next_serial = 1;
	return registry;
}

void registry_free(struct registry *registry)
{
	uint64_t pid, value;
	size_t at = 0;

	if (!registry)
		return;
	while (hmap_next(&registry->by_pid, &at, &pid, &value))
		entry_free(hmap_find_ptr(&registry->by_pid, pid));
	for (size_t i = 0; i < registry->orphans.len; i++)
		entry_free(registry->orphans.items[i]);
	vec_release(&registry->orphans);
	vec_release(&registry->exited);
	vec_release(&registry->undetailed);
	hmap_release(&registry->by_pid);
	free(registry);
}

/* Executable path, cgroup and container; what cannot be read keeps the value it has. */
static void entry_read_details(struct entry *entry)
{
	struct process *process = &entry->process;
	_cleanup_free_ char *exe = NULL, *cgroup = NULL;

	entry->detailed = true;
	if (process->exe[0] == '\0' && proc_read_exe(process->pid, &exe) == 0)
		set_text(&process->exe, exe);
	if (proc_read_cgroup(process->pid, &cgroup) == 0) {
		set_text(&process->cgroup, cgroup);
		container_id_from_cgroup(process->cgroup, process->container_id);
	}
}

/*
 * The same for one that the snapshot left without, and that is still the program it was: nobody
 * else has the pid, no exec was seen.
 */
static void entry_complete(struct entry *entry)
{
	if (!entry->detailed && !entry->process.exited && entry->process.begin_ns == 0)
		entry_read_details(entry);
}

/* On a busy host the broker may wait too long for a process's memory. */
static void entry_read_mappings(struct entry *entry, uint64_t time_ns)
{
	int r = mappings_read(&entry->process);

	entry->retry_ns = r == -ETIMEDOUT || r == -EBUSY || r == -ECHILD ? time_ns + RETRY_NS : 0;
}

/* All but the details from /proc; a negative errno when the process is gone. */
static int entry_read(struct entry *entry, uint64_t time_ns)
{
	struct proc_stat stat;
	int r = proc_read_stat(entry->process.pid, &stat);

	if (r < 0)
		return r;
	entry->process.ppid = stat.ppid;
	entry->process.start_ns = stat.start_ns;
	set_comm(&entry->process, stat.comm);
	entry_read_mappings(entry, time_ns);
	return 0;
}

void registry_fork(struct registry *registry, uint64_t time_ns, uint32_t pid, uint32_t ppid)
{
	struct entry *child;
	struct process *parent;

	if (pid == ppid) /* a thread */
		return;
	parent = registry_get(registry, ppid, time_ns);
	child = entry_add(registry, pid, time_ns);
	child->process.ppid = ppid;
	child->process.start_ns = child->process.begin_ns = time_ns;
	memcpy(child->process.comm, parent->comm, sizeof(parent->comm));
	set_text(&child->process.exe, parent->exe);
	set_text(&child->process.cgroup, parent->cgroup);
	memcpy(child->process.container_id, parent->container_id, sizeof(parent->container_id));
	mappings_copy(&child->process, parent);
}

void registry_exec(struct registry *registry, uint64_t time_ns, uint32_t pid, const char *comm)
{
	struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);
	struct process *process;

	if (!entry)
		entry = entry_add(registry, pid, time_ns);
	process = &entry->process;
	process->exec_count++;
	process->serial = registry->next_serial++;
	process->begin_ns = time_ns;
	process->exited = false;
	entry->detailed = false;
	set_comm(process, comm);
	set_text(&process->exe, ""); /* the first file mapped, see registry_mmap() */
	mappings_clear(process);
}

void registry_comm(struct registry *registry, uint32_t pid, uint32_t tid, const char *comm)
{
	struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);

	if (entry && pid == tid)
		set_comm(&entry->process, comm);
}

void registry_mmap(struct registry *registry, uint64_t time_ns, uint32_t pid,
		   const struct mapping *mapping)
{
	struct process *process = registry_find_complete(registry, pid);

	if (!process)
		process = registry_get(registry, pid, time_ns);
	mappings_add(process, mapping);
	/* execve() maps the program itself before its interpreter (fs/binfmt_elf.c) */
	if (process->exe[0] == '\0' && mapping->path && mapping->path[0] == '/' &&
	    mapping->key.inode != 0)
		set_text(&process->exe, mapping->path);
}

void registry_exit(struct registry *registry, uint64_t time_ns, uint32_t pid)
{
	struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);

	if (entry && !entry->process.exited)
		set_exited(registry, entry, time_ns);
}

void registry_note_loss(struct registry *registry)
{
	registry->lost = true;
}

static void look_at_all(struct registry *registry, uint64_t time_ns)
{
	uint64_t pid, value;
	size_t at = 0;

	registry->looked_ns = time_ns;
	while (hmap_next(&registry->by_pid, &at, &pid, &value))
		if (pid != 0 && !proc_is_there((uint32_t)pid))
			registry_exit(registry, time_ns, (uint32_t)pid);
}

void registry_check(struct registry *registry, uint64_t time_ns)
{
	if (registry->lost || time_ns - registry->looked_ns >= LOOK_AT_ALL_NS)
		look_at_all(registry, time_ns);
	registry->losses += registry->lost;
	registry->lost = false;
}

struct process *registry_find(struct registry *registry, uint32_t pid)
{
	struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);

	return entry ? &entry->process : NULL;
}

struct process *registry_find_complete(struct registry *registry, uint32_t pid)
{
	struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);

	if (!entry)
		return NULL;
	entry_complete(entry);
	return &entry->process;
}

/* A pid that is not known: from /proc, or an empty process that will expire. */
static struct entry *entry_add_from_proc(struct registry *registry, uint32_t pid, uint64_t time_ns)
{
	struct entry *entry = entry_add(registry, pid, time_ns);

	if (pid == 0) {
		set_comm(&entry->process, "swapper");
		entry->detailed = true;
	} else if (entry_read(entry, time_ns) < 0) {
		set_exited(registry, entry, time_ns);
		entry->detailed = true;
	}
	return entry;
}

static int snapshot_one(uint32_t pid, void *data)
{
	struct registry *registry = data;

	if (!hmap_find_ptr(&registry->by_pid, pid)) {
		(void)entry_add_from_proc(registry, pid, clock_now_ns());
		vec_push(&registry->undetailed, pid);
	}
	return 0;
}

int registry_snapshot(struct registry *registry, struct err *err)
{
	int r = proc_for_each_pid(snapshot_one, registry);

	return r < 0 ? err_sys(err, r, "cannot list the processes in /proc") : 0;
}

void registry_complete(struct registry *registry, size_t count)
{
	for (; count > 0 && registry->undetailed.len > 0; count--) {
		uint32_t pid = registry->undetailed.items[--registry->undetailed.len];

		(void)registry_find_complete(registry, pid);
	}
	if (registry->undetailed.len == 0)
		vec_release(&registry->undetailed);
}

/*
 * A sample of a process that exited a while ago: the fork record of the pid's next owner was lost,
 * or only the main thread has ended.
 */
static struct entry *entry_recheck(struct registry *registry, struct entry *entry, uint64_t time_ns)
{
	struct proc_stat stat;

	if (proc_read_stat(entry->process.pid, &stat) < 0) {
		entry->exit_ns = time_ns; /* not again for every sample */
		return entry;
	}
	if (stat.start_ns > entry->exit_ns)
		return entry_add_from_proc(registry, entry->process.pid, time_ns);
	entry->process.exited = false;
	return entry;
}

struct process *registry_get(struct registry *registry, uint32_t pid, uint64_t time_ns)
{
	struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);

	if (!entry)
		entry = entry_add_from_proc(registry, pid, time_ns);
	else if (entry->process.exited && time_ns > entry->exit_ns + EXIT_GRACE_NS)
		entry = entry_recheck(registry, entry, time_ns);
	if (!entry->detailed)
		entry_read_details(entry);
	if ((entry->losses != registry->losses ||
	     (entry->retry_ns && time_ns >= entry->retry_ns)) &&
	    !entry->process.exited)
		entry_read_mappings(entry, time_ns);
	entry->losses = registry->losses;
	return &entry->process;
}

typedef void (*gone_fn)(struct process *process, void *data);

static void entry_expire(struct entry *entry, gone_fn gone, void *data)
{
	if (gone)
		gone(&entry->process, data);
	entry_free(entry);
}

static void expire_orphans(struct registry *registry, uint64_t time_ns, gone_fn gone, void *data)
{
	size_t kept = 0;

	for (size_t i = 0; i < registry->orphans.len; i++) {
		struct entry *entry = registry->orphans.items[i];

		if (entry->exit_ns < time_ns)
			entry_expire(entry, gone, data);
		else
			registry->orphans.items[kept++] = entry;
	}
	registry->orphans.len = kept;
}

void registry_expire(struct registry *registry, uint64_t time_ns, gone_fn gone, void *data)
{
	size_t kept = 0;

	expire_orphans(registry, time_ns, gone, data);
	for (size_t i = 0; i < registry->exited.len; i++) {
		uint32_t pid = registry->exited.items[i];
		struct entry *entry = hmap_find_ptr(&registry->by_pid, pid);

		if (!entry || !entry->process.exited)
			continue;
		if (entry->exit_ns >= time_ns) {
			registry->exited.items[kept++] = pid;
			continue;
		}
		hmap_remove(&registry->by_pid, pid);
		entry_expire(entry, gone, data);
	}
	registry->exited.len = kept;
}

void registry_for_each(struct registry *registry, void (*fn)(struct process *p, void *data),
		       void *data)
{
	uint64_t pid, value;
	size_t at = 0;

	while (hmap_next(&registry->by_pid, &at, &pid, &value))
		fn(registry_find(registry, (uint32_t)pid), data);
}
