/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/heap/java_thread_trail.h"

#include <string.h>

#include "base/alloc.h"

/* Its spans say it. */
#define TOO_LONG (JAVA_TRAIL_SPANS + 1)
/* Before and behind what is read: is a collection under way, and how many were there? */
#define PAUSE_SPANS 2
#define CALL_BYTES  (16U << 10)

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

/* Of one call. */
struct look {
	struct vm_gather gather;
	uint8_t active[PAUSE_SPANS];
	uint32_t collections[PAUSE_SPANS];
	uint32_t bytes;
	uint8_t data[CALL_BYTES];
};

static void add_pause(struct look *look, const struct heap_pause *pause, unsigned int which)
{
	VM_GATHER(&look->gather, pause->active_at, look->active[which]);
	VM_GATHER(&look->gather, pause->count_at, look->collections[which]);
}

static bool is_known(const struct java_thread_trail *trail)
{
	return trail && trail->spans && trail->spans <= JAVA_TRAIL_SPANS;
}

static bool has_room(const struct look *look, const struct java_thread_trail *trail)
{
	return look->gather.count + trail->spans + PAUSE_SPANS <= VM_MEMORY_MAX_SPANS &&
	       trail->bytes <= sizeof(look->data) - look->bytes;
}

static void add_trail(struct look *look, const struct java_thread_trail *trail)
{
	for (uint32_t i = 0; i < trail->spans; i++) {
		vm_gather_add(&look->gather, trail->span[i].address, look->data + look->bytes,
			      trail->span[i].len);
		look->bytes += trail->span[i].len;
	}
}

/* Spans are read in their order, so that the two looks stand around the others. */
static bool take(struct look *look, const struct java_thread_layout *layout)
{
	add_pause(look, &layout->pause, 1);
	return vm_gather_read(&look->gather, layout->memory) == 0 && !look->active[0] &&
	       !look->active[1] && look->collections[0] == look->collections[1];
}

/* As many of them as fit into one call; how many these are. */
static unsigned int check_some(const struct java_thread_layout *layout,
			       const struct java_thread_trail *const *trails, unsigned int count,
			       struct look *look, bool *ret_same)
{
	unsigned int n = 0;
	uint32_t at = 0;
	bool taken;

	look->gather.count = look->bytes = 0;
	add_pause(look, &layout->pause, 0);
	for (; n < count && (!is_known(trails[n]) || has_room(look, trails[n])); n++)
		if (is_known(trails[n]))
			add_trail(look, trails[n]);
	taken = look->bytes && take(look, layout);
	for (unsigned int i = 0; i < n; i++) {
		ret_same[i] = taken && is_known(trails[i]) &&
			      !memcmp(look->data + at, trails[i]->data, trails[i]->bytes);
		at += is_known(trails[i]) ? trails[i]->bytes : 0;
	}
	return n;
}

void java_thread_trail_check(const struct java_thread_layout *layout,
			     const struct java_thread_trail *const *trails, unsigned int count,
			     bool *ret_same)
{
	_cleanup_free_ struct look *look = xmalloc(sizeof(*look));
	unsigned int n;

	for (; count; trails += n, ret_same += n, count -= n)
		n = check_some(layout, trails, count, look, ret_same);
}
