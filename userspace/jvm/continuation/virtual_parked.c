// SPDX-License-Identifier: Apache-2.0
/* java/lang/{VirtualThread,Thread,String}.java; share/oops/instanceStackChunkKlass.hpp; JDK 21 to 28. */
#include "jvm/continuation/virtual_parked.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/continuation/virtual_list.h"
#include "jvm/continuation/virtual_waiters.h"

/* Read in one go. */
#define READ_AT_ONCE 16
/* The heap may be collected while it is read. */
#define TRIES	 64
#define PAUSE_US 2000
/* Words of a chunk's stack, and bytes of its youngest frames, which are read: far more than most have. */
#define MAX_WORDS	 (1U << 20)
#define MAX_FRAME_BYTES	 65536
#define MAX_STRING_CHARS (1U << 20)

struct reading {
	const struct virtual_layout *layout;
	const struct virtual_parked_wanted *wanted;
	uint32_t draw; /* of virtual_list_read() */
	struct virtual_waiters waiters;
};

void virtual_parked_list_release(struct virtual_parked_list *list)
{
	for (size_t i = 0; i < list->items.len; i++)
		free(list->items.items[i].data);
	vec_release(&list->items);
}

/* --- what is read of one ---------------------------------------------------------------------- */

struct job {
	const struct virtual_waiter *waiter;
	struct virtual_parked parked;
	int result; /* 0: so far, so good */
	uint64_t tail, klass_word, value;
	uint64_t chunk; /* the next one to be read; 0: none */
	uint32_t
		frames_from; /* where in `data` those of the chunk that was read last are to come, or `bytes` */
	uint32_t len; /* of the name's array */
	uint8_t coder;
	uint8_t fields[WIRE_CHUNK_BYTES];     /* of the newest chunk, again */
	uint8_t object[VIRTUAL_OBJECT_BYTES]; /* the thread, again */
};

/* The place of COUNT bytes more. */
static uint8_t *add_piece(struct job *j, uint64_t address, uint32_t bytes)
{
	struct virtual_parked *p = &j->parked;

	p->pieces[p->piece_count++] = (struct wire_piece){ .at = address, .bytes = bytes };
	p->data = xrealloc(p->data, p->bytes + bytes);
	p->bytes += bytes;
	return p->data + p->bytes - bytes;
}

static void add_way(const struct virtual_layout *l, struct job *j, struct vm_gather *g)
{
	size_t each = java_objects_reference_bytes(&l->threads.objects);

	vm_gather_add(g, j->waiter->cont + l->chunks.tail, &j->tail, each);
	if (!j->waiter->name)
		return;
	VM_GATHER(g, j->waiter->name + l->threads.of_string.at, j->klass_word);
	vm_gather_add(g, j->waiter->name + l->threads.value, &j->value, each);
	VM_GATHER(g, j->waiter->name + l->threads.coder, j->coder);
}

static int take_way(const struct virtual_layout *l, struct job *j)
{
	const struct java_objects *objects = &l->threads.objects;

	j->chunk = j->parked.chunk = java_objects_address(objects, j->tail);
	j->value = java_objects_address(objects, j->value);
	if ((j->klass_word & l->threads.of_string.mask) != l->threads.of_string.value)
		j->value = 0;
	return j->chunk ? 0 : -ENODATA;
}

/* The fields of the next chunk. */
static void add_chunk(const struct virtual_layout *l, struct job *j, struct vm_gather *g)
{
	j->frames_from = j->parked.bytes;
	if (j->chunk)
		vm_gather_add(g, j->chunk, add_piece(j, j->chunk, l->chunks.stack),
			      l->chunks.stack);
}

static void add_length(const struct virtual_layout *l, struct job *j, struct vm_gather *g)
{
	add_chunk(l, j, g);
	if (j->value)
		VM_GATHER(g, j->value + l->threads.array_len, j->len);
}

static uint32_t chunk_u32(const uint8_t *fields, uint16_t offset)
{
	return (uint32_t)virtual_field(fields, offset, 4);
}

/* Where its frames are, as frozen_open() of bpf/hotspot/frozen.h has it. False: it is none that is understood. */
static bool find_frames(const struct wire_chunks *c, const uint8_t *fields, uint32_t *ret_sp,
			uint32_t *ret_bytes)
{
	uint32_t size = chunk_u32(fields, c->size), sp = chunk_u32(fields, c->sp), bottom;

	if ((virtual_field(fields, c->klass_at, 8) & c->klass_mask) != c->klass)
		return false;
	bottom = c->bottom != WIRE_JVM_ABSENT ? chunk_u32(fields, c->bottom)
					      : size - chunk_u32(fields, c->argsize);
	if (size > MAX_WORDS || sp > size || bottom > size || (sp < bottom && sp < 2))
		return false;
	/* Below the frames is what the youngest one's callee would have saved. */
	*ret_bytes = sp < bottom ? MIN(8 * (bottom - sp + 2), (uint32_t)MAX_FRAME_BYTES) : 0;
	*ret_sp = sp;
	return true;
}

static int take_chunk(const struct virtual_layout *l, struct job *j)
{
	const uint8_t *fields = j->parked.data + j->frames_from;
	uint64_t chunk = j->chunk;
	uint32_t sp, bytes;

	if (!chunk)
		return 0;
	if (!find_frames(&l->chunks, fields, &sp, &bytes))
		return -EAGAIN;
	j->chunk = virtual_reference(l, fields, l->chunks.parent);
	j->frames_from = j->parked.bytes;
	if (bytes)
		(void)add_piece(j, chunk + l->chunks.stack + 8ULL * sp - 16, bytes);
	if (j->parked.piece_count == ARRAY_SIZE(j->parked.pieces))
		j->chunk = 0;
	return 0;
}

static int take_length(const struct virtual_layout *l, struct job *j)
{
	if (j->len > MAX_STRING_CHARS)
		return -EAGAIN;
	j->parked.name_width = j->coder ? 2 : 1;
	j->parked.name_bytes = (uint16_t)MIN(j->len, (uint32_t)WIRE_NAME_BYTES);
	return take_chunk(l, j);
}

static void add_frames(const struct virtual_layout *l, struct job *j, struct vm_gather *g)
{
	struct virtual_parked *p = &j->parked;

	(void)l;
	if (j->frames_from < p->bytes)
		vm_gather_add(g, p->pieces[p->piece_count - 1].at, p->data + j->frames_from,
			      p->bytes - j->frames_from);
}

static void add_chars(const struct virtual_layout *l, struct job *j, struct vm_gather *g)
{
	add_frames(l, j, g);
	if (j->value && j->parked.name_bytes)
		vm_gather_add(g, j->value + l->threads.array_data, j->parked.name,
			      j->parked.name_bytes);
}

/* Does it still wait where it did, after all has been read? */
static void add_again(const struct virtual_layout *l, struct job *j, struct vm_gather *g)
{
	vm_gather_add(g, j->waiter->object, j->object, virtual_waiter_bytes(l));
	vm_gather_add(g, j->parked.chunk, j->fields, l->chunks.stack);
}

static int take_again(const struct virtual_layout *l, struct job *j)
{
	struct virtual_waiter now;

	if (!virtual_waiter_take(l, j->waiter->object, j->object, &now) ||
	    now.id != j->waiter->id || memcmp(j->fields, j->parked.data, l->chunks.stack) != 0)
		return -ESRCH;
	j->parked.id = now.id;
	j->parked.cause = now.cause;
	return 0;
}

/* What a step reads of a thread, and what follows from it. Frames come in a step of their own, as their place moves when a piece is added. */
static const struct {
	void (*add)(const struct virtual_layout *l, struct job *j, struct vm_gather *g);
	int (*take)(const struct virtual_layout *l, struct job *j);
} steps[] = {
	{ add_way, take_way },	   { add_length, take_length }, { add_chars, NULL },
	{ add_chunk, take_chunk }, { add_frames, NULL },	{ add_chunk, take_chunk },
	{ add_frames, NULL },	   { add_again, take_again },
};

/* A step for all that have come so far. */
static int take_step(const struct reading *r, struct job *jobs, unsigned int count,
		     unsigned int step)
{
	struct vm_gather g;
	int error;

	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		if (!jobs[i].result)
			steps[step].add(r->layout, &jobs[i], &g);
	error = vm_gather_read(&g, r->layout->threads.memory);
	for (unsigned int i = 0; !error && i < count; i++)
		if (!jobs[i].result && steps[step].take)
			jobs[i].result = steps[step].take(r->layout, &jobs[i]);
	return error;
}

static int read_jobs(const struct reading *r, struct job *jobs, unsigned int count)
{
	uint32_t pauses;
	int error = 0;

	for (size_t i = 0; !error && i < ARRAY_SIZE(steps); i++)
		error = take_step(r, jobs, count, (unsigned int)i);
	if (!error)
		error = heap_pause_look(&r->layout->threads.pause, r->layout->threads.memory,
					&pauses);
	return !error && pauses != r->waiters.pauses ? -EAGAIN : error;
}

static void begin_jobs(struct job *jobs, const struct virtual_waiter *waiters, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		free(jobs[i].parked.data);
		memset(&jobs[i], 0, sizeof(jobs[i]));
		jobs[i].waiter = &waiters[i];
	}
}

static void keep_jobs(struct job *jobs, unsigned int count, struct virtual_parked_list *list)
{
	for (unsigned int i = 0; i < count; i++) {
		if (jobs[i].result) {
			list->unread++;
			continue;
		}
		vec_push(&list->items, jobs[i].parked);
		list->bytes += sizeof(jobs[i].parked) + jobs[i].parked.bytes;
		jobs[i].parked.data = NULL;
	}
}

/* -EFAULT: the memory of one is not there, and who that is shows when each is read alone. */
static int read_batch(const struct reading *r, struct job *jobs,
		      const struct virtual_waiter *waiters, unsigned int count,
		      struct virtual_parked_list *list)
{
	int error;

	begin_jobs(jobs, waiters, count);
	error = read_jobs(r, jobs, count);
	if (!error)
		keep_jobs(jobs, count, list);
	if (error != -EFAULT)
		return error;
	if (count == 1) {
		list->unread++;
		return 0;
	}
	error = 0;
	for (unsigned int i = 0; !error && i < count; i++)
		error = read_batch(r, jobs, waiters + i, 1, list);
	return error;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
	const struct virtual_waiter *first = a, *second = b;

	return first->place < second->place ? -1 : first->place > second->place;
}

static bool is_known(const struct virtual_parked_list *list, uint64_t id)
{
	for (size_t i = 0; i < list->items.len; i++)
		if (list->items.items[i].id == id)
			return true;
	return false;
}

/* In an order that is by their numbers alone, so that a second try goes on where the first one has stopped; without those that are there. */
static void choose(struct reading *r, struct virtual_parked_list *list)
{
	size_t kept = 0, most = r->wanted->most - MIN(list->items.len, r->wanted->most);

	list->unread = 0;
	list->waiting = r->waiters.items.len * r->waiters.chance;
	for (size_t i = 0; i < r->waiters.items.len; i++) {
		struct virtual_waiter waiter = r->waiters.items.items[i];

		if (is_known(list, waiter.id))
			continue;
		waiter.place = virtual_list_draw(waiter.id, r->draw);
		r->waiters.items.items[kept++] = waiter;
	}
	r->waiters.items.len = kept;
	if (kept)
		qsort(r->waiters.items.items, kept, sizeof(r->waiters.items.items[0]), by_place);
	r->waiters.items.len = MIN(kept, most);
}

static int read_chosen(struct reading *r, struct virtual_parked_list *list)
{
	_cleanup_free_ struct job *jobs = xcalloc(READ_AT_ONCE, sizeof(*jobs));
	unsigned int count;
	int error = 0;

	for (size_t at = 0; !error && at < r->waiters.items.len; at += count) {
		count = (unsigned int)MIN(r->waiters.items.len - at, (size_t)READ_AT_ONCE);
		if (list->bytes > r->wanted->bytes)
			error = -E2BIG;
		else if (clock_now_ns() >= r->wanted->deadline_ns)
			error = -ETIMEDOUT;
		else
			error = read_batch(r, jobs, r->waiters.items.items + at, count, list);
	}
	for (size_t i = 0; i < READ_AT_ONCE; i++)
		free(jobs[i].parked.data);
	return error;
}

static int try_all(struct reading *r, struct virtual_parked_list *list)
{
	int cut = virtual_waiters_find(r->layout, r->draw, r->wanted->deadline_ns, &r->waiters);
	int error;

	if (cut < 0 && cut != -E2BIG && cut != -ETIMEDOUT)
		return cut;
	choose(r, list);
	error = read_chosen(r, list);
	return error < 0 ? error : cut;
}

int virtual_parked_read(const struct virtual_layout *layout,
			const struct virtual_parked_wanted *wanted,
			struct virtual_parked_list *list)
{
	struct reading reading = {
		.layout = layout,
		.wanted = wanted,
		.draw = (uint32_t)(clock_now_ns() * 0x9e3779b97f4a7c15ULL >> 32),
	};
	int r = -ETIMEDOUT;

	if (virtual_waiter_bytes(layout) > VIRTUAL_OBJECT_BYTES ||
	    layout->chunks.stack > WIRE_CHUNK_BYTES)
		return -EOPNOTSUPP;
	for (int i = 0; i < TRIES && clock_now_ns() < wanted->deadline_ns; i++) {
		r = try_all(&reading, list);
		/* A place that is gone: it has moved. */
		if (r != -EAGAIN && r != -EFAULT)
			break;
		usleep(PAUSE_US);
	}
	vec_release(&reading.waiters.items);
	return r;
}
