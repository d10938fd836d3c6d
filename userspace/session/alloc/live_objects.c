/* SPDX-License-Identifier: Apache-2.0 */
#include "session/alloc/live_objects.h"

#include "base/clock.h"
#include "profile/profile_copy.h"

struct live_jvm {
	uint64_t serial;
	uint32_t level;
	VEC(struct live_object) objects;
	struct hmap by_id; /* index in `objects` */
};

static struct live_jvm *find_jvm(const struct live_objects *all, uint64_t serial)
{
	for (size_t i = 0; i < all->jvms.len; i++)
		if (all->jvms.items[i]->serial == serial)
			return all->jvms.items[i];
	return NULL;
}

static struct live_jvm *get_jvm(struct live_objects *all, uint64_t serial)
{
	struct live_jvm *jvm = find_jvm(all, serial);

	if (jvm)
		return jvm;
	jvm = xcalloc(1, sizeof(*jvm));
	jvm->serial = serial;
	vec_push(&all->jvms, jvm);
	return jvm;
}

static void free_jvm(struct live_jvm *jvm)
{
	vec_release(&jvm->objects);
	hmap_release(&jvm->by_id);
	free(jvm);
}

void live_objects_set_limit(struct live_objects *all, uint64_t bytes)
{
	all->room = MAX(bytes / LIVE_OBJECTS_EACH_BYTES, 1);
}

void live_objects_release(struct live_objects *all)
{
	for (size_t i = 0; i < all->jvms.len; i++)
		free_jvm(all->jvms.items[i]);
	vec_release(&all->jvms);
}

void live_objects_forget(struct live_objects *all, uint64_t serial)
{
	for (size_t i = all->jvms.len; i-- > 0;) {
		if (all->jvms.items[i]->serial != serial)
			continue;
		free_jvm(all->jvms.items[i]);
		vec_remove(&all->jvms, i, 1);
	}
}

static void remove_at(struct live_jvm *jvm, size_t at)
{
	struct live_object *last = &jvm->objects.items[jvm->objects.len - 1];

	hmap_remove(&jvm->by_id, jvm->objects.items[at].id);
	if (at != jvm->objects.len - 1) {
		hmap_put(&jvm->by_id, last->id, at);
		jvm->objects.items[at] = *last;
	}
	jvm->objects.len--;
}

static void set_level(struct live_jvm *jvm, uint32_t level)
{
	jvm->level = MAX(jvm->level, MIN(level, LIVE_OBJECTS_MOST_LEVELS));
	for (size_t i = jvm->objects.len; i-- > 0;)
		if (!codemap_live_keeps(jvm->objects.items[i].id, jvm->level))
			remove_at(jvm, i);
}

void live_objects_thin(struct live_objects *all, uint64_t serial, uint32_t level)
{
	struct live_jvm *jvm = find_jvm(all, serial);

	if (jvm && level > jvm->level)
		set_level(jvm, level);
}

/* What others have is not taken from them before they get more. */
static size_t share_of_one(const struct live_objects *all)
{
	size_t room = all->room ? all->room : LIVE_OBJECTS_MOST_BYTES / LIVE_OBJECTS_EACH_BYTES;

	return MIN(LIVE_OBJECTS_MAX_OF_ONE, MAX(room / all->jvms.len, 1));
}

void live_objects_add(struct live_objects *all, uint64_t serial, const struct live_object *object)
{
	struct live_jvm *jvm = get_jvm(all, serial);
	uint64_t at;

	while (jvm->objects.len >= share_of_one(all) && jvm->level < LIVE_OBJECTS_MOST_LEVELS)
		set_level(jvm, jvm->level + 1);
	if (jvm->objects.len >= share_of_one(all) || !codemap_live_keeps(object->id, jvm->level) ||
	    hmap_get(&jvm->by_id, object->id, &at))
		return;
	hmap_put(&jvm->by_id, object->id, jvm->objects.len);
	vec_push(&jvm->objects, *object);
}

void live_objects_add_sample(struct live_objects *all, uint64_t serial, uint64_t id,
			     const struct profile_sample *sample)
{
	const struct live_object object = {
		.id = id,
		.time_ns = sample->time_ns,
		.weight = sample->weight,
		.objects = sample->objects,
		.stack = sample->stack,
		.thread = sample->thread,
	};

	if (id)
		live_objects_add(all, serial, &object);
}

uint32_t live_objects_event(struct profile *profile, const char *name)
{
	struct profile_event row = { .name = profile_string(profile, name),
				     .unit = profile_string(profile, "bytes") };

	return profile_event(profile, &row);
}

void live_objects_drop(struct live_objects *all, uint64_t serial, uint64_t id)
{
	struct live_jvm *jvm = find_jvm(all, serial);
	uint64_t at;

	if (jvm && hmap_get(&jvm->by_id, id, &at))
		remove_at(jvm, at);
}

/* Few stacks are those of many objects. */
static uint32_t move_one(struct hmap *moved, uint32_t id, const struct profile *from,
			 struct profile *to,
			 uint32_t (*copy)(struct profile *, const struct profile *, uint32_t))
{
	uint64_t there;

	if (hmap_get(moved, id, &there))
		return (uint32_t)there;
	there = copy(to, from, id);
	hmap_put(moved, id, there);
	return (uint32_t)there;
}

void live_objects_move(struct live_objects *all, const struct profile *from, struct profile *to)
{
	struct hmap stacks = HMAP_INIT, threads = HMAP_INIT;

	for (size_t i = 0; i < all->jvms.len; i++) {
		struct live_object *object;

		vec_for_each (object, &all->jvms.items[i]->objects) {
			object->stack =
				move_one(&stacks, object->stack, from, to, profile_copy_stack);
			object->thread =
				move_one(&threads, object->thread, from, to, profile_copy_thread);
		}
	}
	hmap_release(&stacks);
	hmap_release(&threads);
}

static void add_sample(const struct live_object *object, uint32_t age, uint32_t level,
		       uint32_t event, struct profile *profile)
{
	const struct profile_sample sample = {
		.time_ns = object->time_ns,
		.weight = object->weight << level,
		.objects = object->objects << level,
		.count = 1,
		.event = event,
		.stack = object->stack,
		.thread = object->thread,
		.state = STATE_UNKNOWN,
		.age = age,
	};

	profile_add(profile, &sample);
}

uint32_t live_objects_tell(struct live_objects *all, uint64_t serial,
			   const struct codemap_object *alive, size_t count, uint32_t level,
			   uint32_t event, struct profile *profile)
{
	struct live_jvm *jvm = find_jvm(all, serial);
	uint32_t told = 0;
	uint64_t at;

	if (!jvm)
		return 0;
	set_level(jvm, level);
	for (size_t i = 0; i < count; i++) {
		if (!hmap_get(&jvm->by_id, alive[i].id, &at))
			continue;
		add_sample(&jvm->objects.items[at], alive[i].age, jvm->level, event, profile);
		/* Whoever says it twice is not believed twice. */
		remove_at(jvm, at);
		told++;
	}
	return told;
}

void live_objects_thin_all(struct live_objects *all, uint32_t level)
{
	for (size_t i = 0; i < all->jvms.len; i++)
		if (level > all->jvms.items[i]->level)
			set_level(all->jvms.items[i], level);
}

void live_objects_put_ids(const struct live_objects *all, struct hmap *ids)
{
	const struct live_object *object;

	for (size_t i = 0; i < all->jvms.len; i++)
		vec_for_each (object, &all->jvms.items[i]->objects)
			hmap_put(ids, object->id, 1);
}

static void retain(struct live_jvm *jvm, const struct hmap *kept, uint64_t before_ns)
{
	uint64_t value;

	for (size_t i = jvm->objects.len; i-- > 0;) {
		const struct live_object *object = &jvm->objects.items[i];

		if (object->time_ns < before_ns && !hmap_get(kept, object->id, &value))
			remove_at(jvm, i);
	}
}

void live_objects_retain(struct live_objects *all, const struct hmap *kept, uint64_t before_ns)
{
	for (size_t i = 0; i < all->jvms.len; i++)
		retain(all->jvms.items[i], kept, before_ns);
}

void live_objects_tell_kept(struct live_objects *all, const struct hmap *kept, uint64_t now_ns,
			    uint32_t event, struct profile *profile,
			    void (*added)(uint64_t jvm, size_t first, void *data), void *data)
{
	for (size_t i = 0; i < all->jvms.len; i++) {
		const struct live_jvm *jvm = all->jvms.items[i];
		size_t first = profile->samples.len;
		const struct live_object *object;
		uint64_t value;

		vec_for_each (object, &jvm->objects) {
			uint64_t age_ns = now_ns - MIN(object->time_ns, now_ns);

			if (hmap_get(kept, object->id, &value))
				add_sample(object, (uint32_t)(age_ns / NSEC_PER_SEC), jvm->level,
					   event, profile);
		}
		added(jvm->serial, first, data);
	}
}
