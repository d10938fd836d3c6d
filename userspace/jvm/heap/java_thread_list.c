/* SPDX-License-Identifier: Apache-2.0 */
/* share/runtime/{threadSMR,javaThread,osThread}.hpp; JDK 8 to 11 chain threads, later ones list them. */
#include "jvm/heap/java_thread_list.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"

#define MAX_THREADS 65536
/* Read in one call. */
#define BATCH VM_MEMORY_MAX_SPANS

void java_thread_list_release(struct java_thread_list *list)
{
	vec_release(&list->items);
	vec_release(&list->spans);
	vec_release(&list->data);
}

struct java_trail java_thread_list_trail(const struct java_thread_list *list)
{
	if (!list->has_trail)
		return (struct java_trail){ .count = 0 };
	return (struct java_trail){ list->spans.items, list->data.items, (uint32_t)list->spans.len,
				    (uint32_t)list->data.len };
}

/* It was read, and led on. */
static void note(struct java_thread_list *list, const struct vm_span *spans, unsigned int count)
{
	for (unsigned int i = 0; list->has_trail && i < count; i++) {
		const struct java_trail_span span = { spans[i].address, (uint32_t)spans[i].len };
		const uint8_t *bytes = spans[i].data;

		list->has_trail = list->spans.len < JAVA_TRAIL_MOST_SPANS &&
				  spans[i].len <= JAVA_TRAIL_MOST_BYTES - list->data.len;
		if (!list->has_trail)
			return;
		vec_push(&list->spans, span);
		for (uint32_t at = 0; at < span.len; at++)
			vec_push(&list->data, bytes[at]);
	}
}

static int read_noted(const struct java_thread_layout *l, const struct vm_gather *g,
		      struct java_thread_list *list)
{
	int r = vm_gather_read(g, l->memory);

	if (!r)
		note(list, g->spans, g->count);
	return r;
}

static uint32_t read_tid(const struct java_thread_layout *l, uint64_t thread)
{
	uint64_t os;
	int32_t tid;

	if (vm_memory_read_u64(l->memory, thread + l->thread_os, &os) < 0 ||
	    vm_memory_read(l->memory, os + l->os_tid, &tid, sizeof(tid)) < 0)
		return 0;
	return tid > 0 ? (uint32_t)tid : 0;
}

static void add(struct java_thread_list *list, uint64_t address, int32_t tid)
{
	const struct java_thread_at at = { address, (uint32_t)tid };

	if (tid > 0)
		vec_push(&list->items, at);
}

/* All of them at once; -EFAULT: one ended meanwhile, or has not begun. */
static int add_batch(const struct java_thread_layout *l, const uint64_t *addresses,
		     unsigned int count, struct java_thread_list *list)
{
	struct vm_gather g;
	uint64_t os[BATCH];
	int32_t tids[BATCH];
	int r;

	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		VM_GATHER(&g, addresses[i] + l->thread_os, os[i]);
	r = read_noted(l, &g, list);
	g.count = 0;
	for (unsigned int i = 0; !r && i < count; i++)
		VM_GATHER(&g, os[i] + l->os_tid, tids[i]);
	if (!r)
		r = read_noted(l, &g, list);
	for (unsigned int i = 0; !r && i < count; i++)
		add(list, addresses[i], tids[i]);
	return r;
}

static int add_all(const struct java_thread_layout *l, const uint64_t *addresses, size_t count,
		   uint64_t deadline_ns, struct java_thread_list *list)
{
	for (unsigned int n; count && clock_now_ns() < deadline_ns; addresses += n, count -= n) {
		int r;

		n = (unsigned int)MIN(count, BATCH);
		r = add_batch(l, addresses, n, list);
		if (r < 0 && r != -EFAULT)
			return r;
		list->has_trail &= !r;
		for (unsigned int i = 0; r && i < n; i++)
			add(list, addresses[i], (int32_t)read_tid(l, addresses[i]));
	}
	list->has_trail &= !count;
	return 0;
}

/* Each thread leads to the next; one that ended while it was looked at leads nowhere. */
static int walk(const struct java_thread_layout *l, uint64_t deadline_ns, uint64_t thread,
		struct java_thread_list *list)
{
	VEC(uint64_t) addresses = VEC_INIT;
	struct vm_gather g;
	int r = 0;

	while (!r && thread && addresses.len < MAX_THREADS && clock_now_ns() < deadline_ns) {
		uint64_t next = 0;

		vec_push(&addresses, thread);
		vm_gather_init(&g);
		VM_GATHER(&g, thread + l->next, next);
		r = read_noted(l, &g, list);
		thread = next;
	}
	list->has_trail &= !r && !thread;
	if (!r || r == -EFAULT)
		r = add_all(l, addresses.items, addresses.len, deadline_ns, list);
	vec_release(&addresses);
	return r;
}

static int read_list(const struct java_thread_layout *l, uint64_t deadline_ns, uint64_t at,
		     struct java_thread_list *list)
{
	_cleanup_free_ uint64_t *addresses = NULL;
	struct vm_gather g;
	uint64_t items;
	uint32_t count;
	int r;

	vm_gather_init(&g);
	VM_GATHER(&g, at + l->list_len, count);
	VM_GATHER(&g, at + l->list_items, items);
	r = read_noted(l, &g, list);
	if (r < 0)
		return r;
	if (count > MAX_THREADS)
		return -EBADMSG;
	addresses = xcalloc(count + 1, sizeof(*addresses));
	g.count = 0;
	if (count)
		vm_gather_add(&g, items, addresses, count * sizeof(*addresses));
	r = read_noted(l, &g, list);
	return r < 0 ? r : add_all(l, addresses, count, deadline_ns, list);
}

int java_thread_list_read(const struct java_thread_layout *l, uint64_t deadline_ns,
			  struct java_thread_list *list)
{
	struct vm_gather g;
	uint64_t first = 0;
	int r;

	vm_gather_init(&g);
	list->items.len = list->spans.len = list->data.len = 0;
	list->has_trail = true;
	VM_GATHER(&g, l->list_at, first);
	r = read_noted(l, &g, list);
	if (!r && first)
		r = l->is_chain ? walk(l, deadline_ns, first, list)
				: read_list(l, deadline_ns, first, list);
	list->has_trail &= !r;
	return r;
}
