// SPDX-License-Identifier: Apache-2.0
/* java/lang/VirtualThread.java, JDK 21 to 28. */
#include "jvm/continuation/virtual_waiters.h"

#include <errno.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "jvm/continuation/virtual_list.h"

/* VirtualThread.state; what is asked of it stands above these bits (SUSPENDED). */
#define STATE_MASK	   0xff
#define STATE_PARKED	   4
#define STATE_TIMED_PARKED 7
#define STATE_BLOCKED	   13
#define STATE_WAIT	   16
#define STATE_TIMED_WAIT   18

/* Read in one go. */
#define LOOKED_AT 256

/* WIRE_CAUSE_NONE: it runs, or could. */
static enum wire_cause cause_of(uint32_t state)
{
	switch (state & STATE_MASK) {
	case STATE_PARKED:
	case STATE_TIMED_PARKED: return WIRE_CAUSE_PARK;
	case STATE_BLOCKED:
	case STATE_WAIT:
	case STATE_TIMED_WAIT: return WIRE_CAUSE_MONITOR_ENTER;
	default: return WIRE_CAUSE_NONE;
	}
}

bool virtual_waiter_take(const struct virtual_layout *l, uint64_t address, const uint8_t *object,
			 struct virtual_waiter *ret)
{
	uint64_t word = virtual_field(object, l->of_thread.at, 8);

	if ((word & l->of_thread.mask) != l->of_thread.value ||
	    virtual_reference(l, object, l->carrier))
		return false;
	*ret = (struct virtual_waiter){
		.object = address,
		.cont = virtual_reference(l, object, l->cont),
		.name = virtual_reference(l, object, l->threads.name),
		.id = virtual_field(object, l->threads.id, 8),
		.cause = cause_of((uint32_t)virtual_field(object, l->state, 4)),
	};
	return ret->cause != WIRE_CAUSE_NONE && ret->cont && ret->id;
}

uint32_t virtual_waiter_bytes(const struct virtual_layout *l)
{
	uint32_t last = MAX(MAX(l->state, l->carrier), MAX(l->cont, (uint32_t)l->of_thread.at));

	return MAX(last, MAX(l->threads.name, l->threads.id)) + 8;
}

static int look_at_batch(const struct virtual_layout *l, const uint64_t *objects,
			 unsigned int count, struct virtual_waiters *waiters)
{
	uint32_t bytes = virtual_waiter_bytes(l);
	_cleanup_free_ uint8_t *data = xmalloc((size_t)count * bytes);
	struct vm_gather g;
	int r;

	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		vm_gather_add(&g, objects[i], data + (size_t)i * bytes, bytes);
	r = vm_gather_read(&g, l->threads.memory);
	for (unsigned int i = 0; !r && i < count; i++) {
		struct virtual_waiter waiter;

		if (virtual_waiter_take(l, objects[i], data + (size_t)i * bytes, &waiter))
			vec_push(&waiters->items, waiter);
	}
	return r;
}

static int look_at_all(const struct virtual_layout *l, const struct virtual_objects *objects,
		       uint64_t deadline_ns, struct virtual_waiters *waiters)
{
	unsigned int count;
	int r = 0;

	for (size_t at = 0; !r && at < objects->at.len; at += count) {
		count = (unsigned int)MIN(objects->at.len - at, (size_t)LOOKED_AT);
		r = clock_now_ns() < deadline_ns
			    ? look_at_batch(l, objects->at.items + at, count, waiters)
			    : -ETIMEDOUT;
	}
	return r;
}

/* A list that was cut is one, too. */
static int list_and_look(const struct virtual_layout *l, uint32_t draw, uint64_t deadline_ns,
			 struct virtual_waiters *waiters)
{
	struct virtual_objects objects = { .at = VEC_INIT };
	int cut = virtual_list_read(l, draw, deadline_ns, &objects), r = cut;

	waiters->chance = objects.chance;
	if (!cut || cut == -E2BIG || cut == -ETIMEDOUT)
		r = look_at_all(l, &objects, deadline_ns, waiters);
	vec_release(&objects.at);
	return r < 0 ? r : cut;
}

int virtual_waiters_find(const struct virtual_layout *l, uint32_t draw, uint64_t deadline_ns,
			 struct virtual_waiters *waiters)
{
	uint32_t after;
	int r = heap_pause_look(&l->threads.pause, l->threads.memory, &waiters->pauses), error;

	waiters->items.len = 0;
	if (r < 0)
		return r;
	r = list_and_look(l, draw, deadline_ns, waiters);
	error = heap_pause_look(&l->threads.pause, l->threads.memory, &after);
	if (!error && after != waiters->pauses)
		error = -EAGAIN;
	if (error < 0)
		waiters->items.len = 0;
	return error < 0 ? error : r;
}
