/* SPDX-License-Identifier: Apache-2.0 */
#include "session/malloc/malloc_kept.h"

#include "base/clock.h"

#define SETTLE_NS NSEC_PER_SEC
/* A sample is applied when it was held back; one that is younger may still come, or its function return. */
#define YOUNG_NS (5 * NSEC_PER_SEC)
#define CROWDED	 (WIRE_MALLOC_MOST_KEPT / 2)

void malloc_kept_release(struct malloc_kept *kept)
{
	live_objects_release(&kept->objects);
}

static void put_ids(const struct capture_kept *known, struct hmap *ids)
{
	const uint64_t *id;

	vec_for_each (id, &known->ids)
		hmap_put(ids, *id, 1);
}

/* Of the time that an id has the first bits are missing; it may be later than NOW_NS. */
static bool is_young(uint64_t id, uint64_t now_ns)
{
	uint64_t age_ns = now_ns + YOUNG_NS - (id >> WIRE_MALLOC_ID_SHIFT);

	return (age_ns & (UINT64_MAX >> WIRE_MALLOC_ID_SHIFT)) < 2 * YOUNG_NS;
}

/* What BPF need not know any more. */
static void drop_others(const struct malloc_kept *kept, struct capture *capture,
			const struct capture_kept *known, uint64_t now_ns)
{
	struct hmap ours = HMAP_INIT;
	uint64_t value;

	live_objects_put_ids(&kept->objects, &ours);
	for (size_t i = 0; i < known->keys.len; i++) {
		uint64_t id = known->ids.items[i];

		if (!codemap_live_keeps(id, kept->level) ||
		    (!is_young(id, now_ns) && !hmap_get(&ours, id, &value)))
			capture_drop_kept(capture, &known->keys.items[i]);
	}
	hmap_release(&ours);
}

void malloc_kept_settle(struct malloc_kept *kept, struct capture *capture, uint64_t now_ns)
{
	struct capture_kept known;
	struct hmap ids = HMAP_INIT;

	if (!kept->is_on || now_ns - kept->settled_ns < SETTLE_NS)
		return;
	kept->settled_ns = now_ns;
	/* What could not be read is not gone. */
	if (capture_get_kept(capture, &known) == 0) {
		put_ids(&known, &ids);
		live_objects_retain(&kept->objects, &ids, now_ns - YOUNG_NS);
		if (known.ids.len > CROWDED && kept->level < LIVE_OBJECTS_MOST_LEVELS)
			live_objects_thin_all(&kept->objects, ++kept->level);
		drop_others(kept, capture, &known, now_ns);
	}
	hmap_release(&ids);
	capture_kept_release(&known);
}

void malloc_kept_tell(struct malloc_kept *kept, const struct capture *capture, uint64_t now_ns,
		      uint32_t event, struct profile *profile,
		      void (*added)(uint64_t serial, size_t first, void *data), void *data)
{
	struct capture_kept known;
	struct hmap ids = HMAP_INIT;

	if (!kept->is_on)
		return;
	kept->unread = capture_get_kept(capture, &known) < 0;
	put_ids(&known, &ids);
	live_objects_thin_all(&kept->objects, kept->level);
	live_objects_tell_kept(&kept->objects, &ids, now_ns, event, profile, added, data);
	hmap_release(&ids);
	capture_kept_release(&known);
}
