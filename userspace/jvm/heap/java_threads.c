/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/heap/java_threads.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "jvm/heap/java_thread_read.h"

/* A collection of a large heap takes longer; then names are missing. */
#define PAUSE_US   2000
#define MAX_PAUSES 100

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
		r = java_thread_list_read(&where, UINT64_MAX, &list);
	if (!r)
		vec_for_each (at, &list.items)
			add(&where, at, &pauses, &threads);
	vec_release(&list.items);
	if (!r)
		*ret_threads = threads;
	return r;
}
