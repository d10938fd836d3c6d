/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/heap/java_thread_trail.h"

#include <string.h>

#include "base/cache/thread_scratch.h"

/* Its spans say it. */
#define TOO_LONG (JAVA_TRAIL_SPANS + 1)
/* Before and behind what is read: is a collection under way, and how many were there? */
#define PAUSES	    2
#define PAUSE_SPANS 2
#define CALL_BYTES  (32U << 10)

void java_thread_trail_add(struct java_thread_trail *trail, const struct vm_span *spans,
			   unsigned int count)
{
	for (unsigned int i = 0; i < count; i++) {
		if (trail->spans >= JAVA_TRAIL_SPANS ||
		    spans[i].len > sizeof(trail->data) - trail->bytes) {
			trail->spans = TOO_LONG;
			return;
		}
		memcpy(trail->data + trail->bytes, spans[i].data, spans[i].len);
		trail->span[trail->spans++] =
			(struct java_trail_span){ spans[i].address, (uint32_t)spans[i].len };
		trail->bytes += (uint32_t)spans[i].len;
	}
}

size_t java_thread_trail_bytes(const struct java_thread_trail *trail)
{
	return offsetof(struct java_thread_trail, data) + trail->bytes;
}

/* Of one JVM. */
struct pause {
	uint8_t active[PAUSES];
	uint32_t collections[PAUSES];
};

/* Of one call. */
struct batch {
	struct vm_gather gather;
	struct vm_part parts[VM_MEMORY_MAX_PARTS];
	struct pause pauses[VM_MEMORY_MAX_PARTS]; /* of each part */
	unsigned int part_count;
	uint32_t bytes;
	uint8_t data[CALL_BYTES];
};

struct java_trail java_thread_trail_whole(const struct java_thread_trail *trail)
{
	if (!trail || trail->spans > JAVA_TRAIL_SPANS)
		return (struct java_trail){ .count = 0 };
	return (struct java_trail){ trail->span, trail->data, trail->spans, trail->bytes };
}

static void add_pause(struct batch *batch, const struct java_thread_layout *layout,
		      unsigned int which)
{
	struct pause *pause = &batch->pauses[batch->part_count - 1];

	VM_GATHER(&batch->gather, layout->pause.active_at, pause->active[which]);
	VM_GATHER(&batch->gather, layout->pause.count_at, pause->collections[which]);
}

static void begin_part(struct batch *batch, const struct java_thread_layout *layout)
{
	batch->parts[batch->part_count++] = (struct vm_part){
		.memory = layout->memory,
		.spans = batch->gather.spans + batch->gather.count,
	};
	add_pause(batch, layout, 0);
}

/* Spans are read in their order, so that the two looks stand around the others. */
static void end_part(struct batch *batch, const struct java_thread_layout *layout)
{
	struct vm_part *part = &batch->parts[batch->part_count - 1];

	add_pause(batch, layout, 1);
	part->count = (unsigned int)(batch->gather.spans + batch->gather.count - part->spans);
}

_Static_assert(JAVA_TRAIL_MOST_SPANS + PAUSES * PAUSE_SPANS <= VM_MEMORY_MAX_SPANS &&
		       JAVA_TRAIL_MOST_BYTES <= CALL_BYTES,
	       "a call has room for each");

static bool has_room(const struct batch *batch, const struct java_trail *trail, bool begins)
{
	/* Of the part that ends, and both of one that begins. */
	unsigned int spans = trail->count + (begins ? 3 : 1) * PAUSE_SPANS;

	return batch->gather.count + spans <= VM_MEMORY_MAX_SPANS &&
	       batch->part_count + begins <= VM_MEMORY_MAX_PARTS &&
	       trail->bytes <= sizeof(batch->data) - batch->bytes;
}

static void add_trail(struct batch *batch, const struct java_trail *trail)
{
	for (uint32_t i = 0; i < trail->count; i++) {
		vm_gather_add(&batch->gather, trail->spans[i].address, batch->data + batch->bytes,
			      trail->spans[i].len);
		batch->bytes += trail->spans[i].len;
	}
}

/* As many of them as fit into one call; how many these are. */
static size_t plan_batch(struct batch *batch, const struct java_trail_look *looks, size_t count)
{
	const struct java_thread_layout *layout = NULL;
	size_t n = 0;

	for (; n < count; n++) {
		if (!looks[n].trail.count)
			continue;
		if (!has_room(batch, &looks[n].trail, looks[n].layout != layout))
			break;
		if (looks[n].layout != layout) {
			if (layout)
				end_part(batch, layout);
			layout = looks[n].layout;
			begin_part(batch, layout);
		}
		add_trail(batch, &looks[n].trail);
	}
	if (layout)
		end_part(batch, layout);
	return n;
}

static bool was_quiet(const struct batch *batch, unsigned int part)
{
	const struct pause *pause = &batch->pauses[part];

	return batch->parts[part].result == 0 && !pause->active[0] && !pause->active[1] &&
	       pause->collections[0] == pause->collections[1];
}

static void compare(const struct batch *batch, struct java_trail_look *looks, size_t count)
{
	const struct java_thread_layout *layout = NULL;
	unsigned int parts = 0;
	uint32_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct java_trail *trail = &looks[i].trail;

		looks[i].same = false;
		if (!trail->count)
			continue;
		parts += looks[i].layout != layout;
		layout = looks[i].layout;
		looks[i].same = was_quiet(batch, parts - 1) &&
				!memcmp(batch->data + at, trail->data, trail->bytes);
		at += trail->bytes;
	}
}

void java_thread_trails_check(struct java_trail_look *looks, size_t count)
{
	static struct thread_scratch scratch;
	struct batch *batch = thread_scratch_get(&scratch, sizeof(*batch));
	size_t n;

	for (; count; looks += n, count -= n) {
		vm_gather_init(&batch->gather);
		batch->part_count = batch->bytes = 0;
		n = plan_batch(batch, looks, count);
		vm_memory_read_parts(batch->parts, batch->part_count);
		compare(batch, looks, n);
	}
}
