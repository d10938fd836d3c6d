/* SPDX-License-Identifier: Apache-2.0 */
/* share/runtime/{threadSMR,javaThread,osThread}.hpp, java/lang/{Thread,String}.java, JDK 8 to 28. */
#include "jvm/heap/java_thread_read.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "jvm/java_name.h"

/* Of a name; longer ones are cut. */
#define MAX_CHARS	 512
#define MAX_STRING_CHARS (1U << 20)

/* One that is being read, step by step. */
struct job {
	struct java_thread_read *read;
	unsigned int first, end; /* spans of this step */
	uint64_t os, handle, object;
	uint64_t eetop, string, value; /* the last two: references as they are in objects */
	uint64_t klass_word;
	int32_t tid;
	uint32_t len; /* of the array, then chars that are wanted */
	uint8_t coder, width;
	uint8_t chars[2 * MAX_CHARS];
};

/* --- steps ------------------------------------------------------------------------------------ */

static void add_reference(const struct java_thread_layout *l, struct vm_gather *g, uint64_t at,
			  uint64_t *reference)
{
	*reference = 0;
	vm_gather_add(g, at, reference, java_objects_reference_bytes(&l->objects));
}

static void add_thread(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->read->at.address + l->thread_os, j->os);
	vm_gather_add(g, j->read->at.address + l->thread_object,
		      l->has_handles ? &j->handle : &j->object, 8);
}

static int take_thread(const struct java_thread_layout *l, struct job *j)
{
	if (!j->os)
		return -ESRCH;
	return (l->has_handles ? j->handle : j->object) ? 0 : -ENODATA;
}

static void add_object(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->os + l->os_tid, j->tid);
	if (l->has_handles)
		VM_GATHER(g, j->handle, j->object);
}

static int take_object(const struct java_thread_layout *l, struct job *j)
{
	(void)l;
	if (j->tid <= 0 || (uint32_t)j->tid != j->read->at.tid)
		return -ESRCH;
	return j->object ? 0 : -ENODATA;
}

static void add_fields(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->object + l->eetop, j->eetop);
	add_reference(l, g, j->object + l->name, &j->string);
	j->read->id = 0;
	if (l->id)
		VM_GATHER(g, j->object + l->id, j->read->id);
}

static int take_fields(const struct java_thread_layout *l, struct job *j)
{
	/* Its own object says which thread it is. */
	if (j->eetop != j->read->at.address)
		return -EAGAIN;
	j->string = java_objects_address(&l->objects, j->string);
	return j->string ? 0 : -ENODATA;
}

static void add_string(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->string + l->of_string.at, j->klass_word);
	add_reference(l, g, j->string + l->value, &j->value);
	if (l->has_coder)
		VM_GATHER(g, j->string + l->coder, j->coder);
}

static int take_string(const struct java_thread_layout *l, struct job *j)
{
	if ((j->klass_word & l->of_string.mask) != l->of_string.value)
		return -EAGAIN;
	j->value = java_objects_address(&l->objects, j->value);
	j->width = l->has_coder && !j->coder ? 1 : 2;
	return j->value ? 0 : -ENODATA;
}

static void add_length(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->value + l->array_len, j->len);
}

static int take_length(const struct java_thread_layout *l, struct job *j)
{
	if (j->len > MAX_STRING_CHARS)
		return -EAGAIN;
	/* That of bytes where there is a coder. */
	if (l->has_coder)
		j->len /= j->width;
	j->len = MIN(j->len, MAX_CHARS);
	return 0;
}

static void add_chars(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	if (j->len)
		vm_gather_add(g, j->value + l->array_data, j->chars, (size_t)j->len * j->width);
}

/* Is it still that thread, after all has been read? */
static void add_os_again(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->read->at.address + l->thread_os, j->os);
}

static int take_os_again(const struct java_thread_layout *l, struct job *j)
{
	(void)l;
	return j->os ? 0 : -ESRCH;
}

static void add_tid_again(const struct java_thread_layout *l, struct job *j, struct vm_gather *g)
{
	VM_GATHER(g, j->os + l->os_tid, j->tid);
}

/* What a step reads of a thread, and what follows from it. */
static const struct {
	void (*add)(const struct java_thread_layout *l, struct job *j, struct vm_gather *g);
	int (*take)(const struct java_thread_layout *l, struct job *j);
} steps[] = {
	{ add_thread, take_thread },	 { add_object, take_object },
	{ add_fields, take_fields },	 { add_string, take_string },
	{ add_length, take_length },	 { add_chars, NULL },
	{ add_os_again, take_os_again }, { add_tid_again, take_object },
};

/* --- reading ---------------------------------------------------------------------------------- */

static bool has_any(const struct job *jobs, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!jobs[i].read->result)
			return true;
	return false;
}

static void add_step(const struct java_thread_layout *l, struct job *j, unsigned int step,
		     struct vm_gather *g)
{
	j->first = g->count;
	if (!j->read->result)
		steps[step].add(l, j, g);
	j->end = g->count;
}

static void end_step(const struct java_thread_layout *l, struct job *j, unsigned int step,
		     const struct vm_gather *g)
{
	if (j->read->trail)
		java_thread_trail_add(j->read->trail, g->spans + j->first, j->end - j->first);
	if (!j->read->result && steps[step].take)
		j->read->result = steps[step].take(l, j);
}

/* A step for all that have come so far. An error is that of the one whose memory is not there: of whom nobody knows. */
static int take_step(const struct java_thread_layout *l, struct job *jobs, unsigned int count,
		     unsigned int step)
{
	struct vm_gather g = { .count = 0 };
	int r;

	for (unsigned int i = 0; i < count; i++)
		add_step(l, &jobs[i], step, &g);
	r = vm_gather_read(&g, l->memory);
	for (unsigned int i = 0; !r && i < count; i++)
		end_step(l, &jobs[i], step, &g);
	return r;
}

static int take_steps(const struct java_thread_layout *l, struct job *jobs, unsigned int count)
{
	uint32_t before, after;
	int r;

	if (!has_any(jobs, count))
		return 0;
	r = heap_pause_look(&l->pause, l->memory, &before);
	for (unsigned int i = 0; !r && i < ARRAY_SIZE(steps); i++)
		r = take_step(l, jobs, count, i);
	if (!r)
		r = heap_pause_look(&l->pause, l->memory, &after);
	return !r && before != after ? -EAGAIN : r;
}

static void finish(struct job *j, int r)
{
	struct java_thread_read *read = j->read;

	if (!read->result)
		read->result = r;
	if (!read->result) {
		struct strbuf name = STRBUF_INIT;

		java_name_add_chars(&name, j->chars, j->width, j->len);
		read->name = strbuf_take(&name);
	}
}

static int read_batch(const struct java_thread_layout *l, struct job *jobs,
		      struct java_thread_read *reads, unsigned int count)
{
	int r;

	for (unsigned int i = 0; i < count; i++) {
		reads[i].result = reads[i].at.address ? 0 : -ESRCH;
		reads[i].name = NULL;
		if (reads[i].trail)
			reads[i].trail->spans = reads[i].trail->bytes = 0;
		jobs[i].read = &reads[i];
	}
	r = take_steps(l, jobs, count);
	/* What moved may have answered anything, "no name" included. */
	for (unsigned int i = 0; r == -EAGAIN && i < count; i++)
		reads[i].result = -EAGAIN;
	for (unsigned int i = 0; r != -EFAULT && i < count; i++)
		finish(&jobs[i], r);
	return r;
}

void java_thread_read(const struct java_thread_layout *l, struct java_thread_read *reads,
		      unsigned int count)
{
	_cleanup_free_ struct job *jobs = xcalloc(JAVA_THREAD_READS, sizeof(*jobs));
	unsigned int n;

	for (; count; reads += n, count -= n) {
		n = MIN(count, JAVA_THREAD_READS);
		if (read_batch(l, jobs, reads, n) != -EFAULT)
			continue;
		/* One's memory is not there: who it is shows when each is read alone. */
		for (unsigned int i = 0; i < n; i++)
			if (read_batch(l, jobs, reads + i, 1) == -EFAULT)
				reads[i].result = -EAGAIN;
	}
}
