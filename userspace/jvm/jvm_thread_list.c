/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_thread_list.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "jvm/heap/java_threads.h"
#include "jvm/java_name.h"
#include "jvm/layout/jvm_layout_read.h"
#include "process/proc.h"

void jvm_threads_release(struct jvm_threads *threads)
{
	for (size_t i = 0; i < threads->items.len; i++)
		free(threads->items.items[i].name);
	vec_release(&threads->items);
}

/* The tid that the JVM knows; 0 when the thread has gone. */
static uint32_t read_ns_tid(uint32_t pid, uint32_t tid)
{
	struct proc_status status;

	return proc_read_thread_status(pid, tid, &status) < 0 ? 0 : status.ns_pid;
}

static char *take_name(struct java_threads *threads, uint32_t ns_tid)
{
	for (size_t i = 0; i < threads->items.len; i++)
		if (threads->items.items[i].tid == ns_tid)
			return TAKE_PTR(threads->items.items[i].name);
	return NULL;
}

static void add_task(uint32_t pid, uint32_t tid, struct java_threads *java,
		     struct jvm_threads *threads)
{
	_cleanup_strbuf_ struct strbuf comm = STRBUF_INIT, clean = STRBUF_INIT;
	struct jvm_thread_info info = { .tid = tid };
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/comm", pid, tid);
	if (file_read(path, 4096, &comm) < 0)
		return;
	java_name_add_text(&clean, strbuf_str(&comm), comm.len ? comm.len - 1 : 0);
	snprintf(info.comm, sizeof(info.comm), "%.15s", strbuf_str(&clean));
	info.name = take_name(java, read_ns_tid(pid, tid));
	vec_push(&threads->items, info);
}

static int by_tid(const void *a, const void *b)
{
	const struct jvm_thread_info *x = a, *y = b;

	return (x->tid > y->tid) - (x->tid < y->tid);
}

static int list_tasks(uint32_t pid, struct java_threads *java, struct jvm_threads *threads,
		      struct err *err)
{
	const struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return err_set(err, -ESRCH, "there is no process %u", pid);
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			add_task(pid, (uint32_t)strtoul(entry->d_name, NULL, 10), java, threads);
	closedir(dir);
	if (threads->items.len)
		qsort(threads->items.items, threads->items.len, sizeof(*threads->items.items),
		      by_tid);
	return 0;
}

int jvm_threads_list(uint32_t pid, struct jvm_threads *ret_threads, struct err *err)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	_cleanup_(java_threads_release) struct java_threads java = { 0 };
	struct jvm_threads threads = { 0 };
	struct jvm_layout layout;
	int r = vmstructs_open(NULL, pid, NULL, &vs, err);

	if (!r)
		r = jvm_layout_read(vs, &layout, err);
	if (r < 0)
		return r;
	r = java_threads_read(vs, &layout, &java);
	if (r == -EOPNOTSUPP)
		err_set(&threads.why_not, r,
			"process %u: its collector moves objects while it runs, or it does not tell where names are; only the kernel's are shown",
			pid);
	else if (r < 0)
		err_sys(&threads.why_not, r, "cannot read the names of process %u's threads", pid);
	r = list_tasks(pid, &java, &threads, err);
	if (r < 0) {
		jvm_threads_release(&threads);
		return r;
	}
	*ret_threads = threads;
	return 0;
}
