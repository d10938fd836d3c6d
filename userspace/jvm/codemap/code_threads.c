/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/code_threads.h"
#include "jvm/java_name.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"

/* Names are cut here; the kernel's own have 15 bytes. */
#define THREAD_NAME_MAX 1024

struct code_thread {
	struct code_thread *older; /* owned */
	uint64_t begin_ns;
	uint64_t end_ns; /* UINT64_MAX while it lives */
	uint64_t java_tid;
	char name[];
};

/* What malloc() needs for a block itself. */
#define BLOCK_HEAD_BYTES 16

static size_t thread_bytes(const struct code_thread *t)
{
	return sizeof(*t) + strlen(t->name) + 1 + BLOCK_HEAD_BYTES;
}

/* Free T and all that are older. */
static void free_chain(struct code_threads *threads, struct code_thread *t)
{
	while (t) {
		struct code_thread *older = t->older;

		threads->bytes -= thread_bytes(t);
		free(t);
		t = older;
	}
}

void code_threads_release(struct code_threads *threads)
{
	uint64_t tid, value;
	size_t at = 0;

	while (hmap_next(&threads->by_tid, &at, &tid, &value))
		free_chain(threads, hmap_find_ptr(&threads->by_tid, tid));
	hmap_release(&threads->by_tid);
}

size_t code_threads_bytes(const struct code_threads *threads)
{
	return threads->bytes + hmap_bytes(&threads->by_tid);
}

static void add_thread(struct code_threads *threads, const struct codemap_event *e,
		       struct code_thread *newest)
{
	_cleanup_strbuf_ struct strbuf name = STRBUF_INIT;
	struct code_thread *t;

	java_name_add_text(&name, e->thread.name.data, MIN(e->thread.name.len, THREAD_NAME_MAX));
	t = xcalloc(1, sizeof(*t) + name.len + 1);
	memcpy(t->name, strbuf_str(&name), name.len);
	t->begin_ns = e->flags & CODEMAP_FLAG_REPLAYED && !newest ? 0 : e->time_ns;
	t->end_ns = UINT64_MAX;
	t->java_tid = e->thread.java_tid;
	t->older = newest;
	threads->bytes += thread_bytes(t);
	hmap_put_ptr(&threads->by_tid, e->thread.tid, t);
}

/* Does a replay say again what is known? It may also bring another name, Thread.setName(). */
static bool is_known(const struct code_thread *newest, const struct codemap_event *e)
{
	return e->flags & CODEMAP_FLAG_REPLAYED && newest && newest->end_ns == UINT64_MAX &&
	       newest->java_tid == e->thread.java_tid &&
	       strlen(newest->name) == e->thread.name.len &&
	       !memcmp(newest->name, e->thread.name.data, e->thread.name.len);
}

void code_threads_add(struct code_threads *threads, const struct codemap_event *e)
{
	struct code_thread *newest = hmap_find_ptr(&threads->by_tid, e->thread.tid);

	if (is_known(newest, e))
		return;
	if (newest && newest->end_ns > e->time_ns)
		newest->end_ns = e->time_ns;
	if (e->kind == CODEMAP_THREAD)
		add_thread(threads, e, newest);
}

/* Drop what is never asked for; false when nothing of the tid is left. */
static bool prune(struct code_threads *threads, struct code_thread *newest, uint64_t horizon_ns)
{
	if (newest->end_ns < horizon_ns) {
		free_chain(threads, newest);
		return false;
	}
	if (newest->begin_ns < horizon_ns) {
		free_chain(threads, newest->older);
		newest->older = NULL;
	}
	return true;
}

void code_threads_expire(struct code_threads *threads, uint64_t horizon_ns)
{
	VEC(uint64_t) gone = VEC_INIT;
	uint64_t tid, value;
	size_t at = 0;

	while (hmap_next(&threads->by_tid, &at, &tid, &value))
		if (!prune(threads, hmap_find_ptr(&threads->by_tid, tid), horizon_ns))
			vec_push(&gone, tid);
	for (size_t i = 0; i < gone.len; i++)
		hmap_remove(&threads->by_tid, gone.items[i]);
	vec_release(&gone);
}

const char *code_threads_find(const struct code_threads *threads, uint32_t tid, uint64_t time_ns,
			      uint64_t *ret_java_tid)
{
	const struct code_thread *t = hmap_find_ptr(&threads->by_tid, tid);

	for (; t; t = t->older) {
		/* A thread runs a moment before and after it is reported. */
		if (time_ns >= t->begin_ns || (!t->older && t->begin_ns - time_ns < 1000000000)) {
			*ret_java_tid = t->java_tid;
			return t->name;
		}
	}
	return NULL;
}
