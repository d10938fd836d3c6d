/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/heap/java_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "jvm/heap/java_thread_read.h"

/* A collection of a large heap takes longer; then names are missing. */
#define PAUSE_US   2000
#define MAX_PAUSES 100
/* So often the list of threads is read; each time it may be replaced meanwhile. */
#define MAX_LISTS 10

/* As threads come and go the list is replaced, and the old one is soon somebody else's memory (share/runtime/threadSMR.cpp). */
static int read_list(const struct java_thread_layout *l, struct java_thread_list *list)
{
	uint64_t before, after;
	int r = 0;

	for (int i = 0; i < MAX_LISTS; i++) {
		if (i)
			usleep(PAUSE_US);
		r = vm_memory_read_u64(l->memory, l->list_at, &before);
		if (!r)
			r = java_thread_list_read(l, UINT64_MAX, list);
		if (!r)
			r = vm_memory_read_u64(l->memory, l->list_at, &after);
		if (!r && before == after)
			break;
	}
	return r;
}

static void add(const struct java_thread_layout *layout, const struct java_thread_at *at,
		unsigned int *pauses, struct java_threads *threads)
{
	struct java_thread_read read = { .at = *at };
	struct java_thread thread = { .tid = at->tid };

	java_thread_read(layout, &read, 1);
	while (read.result == -EAGAIN && *pauses < MAX_PAUSES) {
		++*pauses;
		usleep(PAUSE_US);
		java_thread_read(layout, &read, 1);
	}
	thread.name = read.name;
	/* It may have ended meanwhile, and its memory be another's. */
	if (read.result != -ESRCH)
		vec_push(&threads->items, thread);
}

void java_threads_release(struct java_threads *threads)
{
	for (size_t i = 0; i < threads->items.len; i++)
		free(threads->items.items[i].name);
	vec_release(&threads->items);
}

int java_threads_read(const struct vmstructs *vs, const struct jvm_layout *layout,
		      struct java_threads *ret_threads)
{
	struct java_threads threads = { 0 };
	struct java_thread_list list = { 0 };
	struct java_thread_layout where;
	const struct java_thread_at *at;
	unsigned int pauses = 0;
	int r = java_thread_layout_read(vs, layout, &where);

	if (!r)
		r = read_list(&where, &list);
	if (!r)
		vec_for_each (at, &list.items)
			add(&where, at, &pauses, &threads);
	java_thread_list_release(&list);
	if (!r)
		*ret_threads = threads;
	return r;
}
