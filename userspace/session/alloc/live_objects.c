/* SPDX-License-Identifier: Apache-2.0 */
#include "session/alloc/live_objects.h"

#include "base/clock.h"
#include "profile/profile_copy.h"

struct live_owner {
	uint64_t serial;
	uint32_t level;
	VEC(struct live_object) objects;
	struct hmap by_id; /* index in `objects` */
};

static struct live_owner *find_owner(const struct live_objects *all, uint64_t serial)
{
	for (size_t i = 0; i < all->owners.len; i++)
		if (all->owners.items[i]->serial == serial)
			return all->owners.items[i];
	return NULL;
}

static struct live_owner *get_owner(struct live_objects *all, uint64_t serial)
{
	struct live_owner *owner = find_owner(all, serial);

	if (owner)
		return owner;
	owner = xcalloc(1, sizeof(*owner));
	owner->serial = serial;
	vec_push(&all->owners, owner);
	return owner;
}

static void free_owner(struct live_owner *owner)
{
	vec_release(&owner->objects);
	hmap_release(&owner->by_id);
	free(owner);
}

void live_objects_set_limit(struct live_objects *all, uint64_t bytes)
{
	all->room = MAX(bytes / LIVE_OBJECTS_EACH_BYTES, 1);
}

void live_objects_release(struct live_objects *all)
{
	for (size_t i = 0; i < all->owners.len; i++)
		free_owner(all->owners.items[i]);
	vec_release(&all->owners);
}

void live_objects_forget(struct live_objects *all, uint64_t serial)
{
	for (size_t i = all->owners.len; i-- > 0;) {
		if (all->owners.items[i]->serial != serial)
			continue;
		free_owner(all->owners.items[i]);
		vec_remove(&all->owners, i, 1);
	}
}

static void remove_at(struct live_owner *owner, size_t at)
{
	struct live_object *last = &owner->objects.items[owner->objects.len - 1];

	hmap_remove(&owner->by_id, owner->objects.items[at].id);
	if (at != owner->objects.len - 1) {
		hmap_put(&owner->by_id, last->id, at);
		owner->objects.items[at] = *last;
	}
	owner->objects.len--;
}

static void set_level(struct live_owner *owner, uint32_t level)
{
	owner->level = MAX(owner->level, MIN(level, LIVE_OBJECTS_MOST_LEVELS));
	for (size_t i = owner->objects.len; i-- > 0;)
		if (!codemap_live_keeps(owner->objects.items[i].id, owner->level))
			remove_at(owner, i);
}

void live_objects_thin(struct live_objects *all, uint64_t serial, uint32_t level)
{
	struct live_owner *owner = find_owner(all, serial);

	if (owner && level > owner->level)
		set_level(owner, level);
}

/* What others have is not taken from them before they get more. */
static size_t share_of_one(const struct live_objects *all)
{
	size_t room = all->room ? all->room : LIVE_OBJECTS_MOST_BYTES / LIVE_OBJECTS_EACH_BYTES;

	return MIN(LIVE_OBJECTS_MAX_OF_ONE, MAX(room / all->owners.len, 1));
}

void live_objects_add(struct live_objects *all, uint64_t serial, const struct live_object *object)
{
	struct live_owner *owner = get_owner(all, serial);
	uint64_t at;

	while (owner->objects.len >= share_of_one(all) && owner->level < LIVE_OBJECTS_MOST_LEVELS)
		set_level(owner, owner->level + 1);
	if (owner->objects.len >= share_of_one(all) ||
	    !codemap_live_keeps(object->id, owner->level) ||
	    hmap_get(&owner->by_id, object->id, &at))
		return;
	hmap_put(&owner->by_id, object->id, owner->objects.len);
	vec_push(&owner->objects, *object);
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
	struct live_owner *owner = find_owner(all, serial);
	uint64_t at;

	if (owner && hmap_get(&owner->by_id, id, &at))
		remove_at(owner, at);
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

	for (size_t i = 0; i < all->owners.len; i++) {
		struct live_object *object;

		vec_for_each (object, &all->owners.items[i]->objects) {
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
	struct live_owner *owner = find_owner(all, serial);
	uint32_t told = 0;
	uint64_t at;

	if (!owner)
		return 0;
	set_level(owner, level);
	for (size_t i = 0; i < count; i++) {
		if (!hmap_get(&owner->by_id, alive[i].id, &at))
			continue;
		add_sample(&owner->objects.items[at], alive[i].age, owner->level, event, profile);
		/* Whoever says it twice is not believed twice. */
		remove_at(owner, at);
		told++;
	}
	return told;
}

void live_objects_thin_all(struct live_objects *all, uint32_t level)
{
	for (size_t i = 0; i < all->owners.len; i++)
		if (level > all->owners.items[i]->level)
			set_level(all->owners.items[i], level);
}

void live_objects_put_ids(const struct live_objects *all, struct hmap *ids)
{
	const struct live_object *object;

	for (size_t i = 0; i < all->owners.len; i++)
		vec_for_each (object, &all->owners.items[i]->objects)
			hmap_put(ids, object->id, 1);
}

static void retain(struct live_owner *owner, const struct hmap *kept, uint64_t before_ns)
{
	uint64_t value;

	for (size_t i = owner->objects.len; i-- > 0;) {
		const struct live_object *object = &owner->objects.items[i];

		if (object->time_ns < before_ns && !hmap_get(kept, object->id, &value))
			remove_at(owner, i);
	}
}

/* Who has nothing left takes no room and no time of the others': processes may come and go. */
void live_objects_retain(struct live_objects *all, const struct hmap *kept, uint64_t before_ns)
{
	for (size_t i = all->owners.len; i-- > 0;) {
		struct live_owner *owner = all->owners.items[i];

		retain(owner, kept, before_ns);
		if (owner->objects.len)
			continue;
		free_owner(owner);
		vec_remove(&all->owners, i, 1);
	}
}

void live_objects_tell_kept(struct live_objects *all, const struct hmap *kept, uint64_t now_ns,
			    uint32_t event, struct profile *profile,
			    void (*added)(uint64_t serial, size_t first, void *data), void *data)
{
	for (size_t i = 0; i < all->owners.len; i++) {
		const struct live_owner *owner = all->owners.items[i];
		size_t first = profile->samples.len;
		const struct live_object *object;
		uint64_t value;

		vec_for_each (object, &owner->objects) {
			uint64_t age_ns = now_ns - MIN(object->time_ns, now_ns);

			if (hmap_get(kept, object->id, &value))
				add_sample(object, (uint32_t)(age_ns / NSEC_PER_SEC), owner->level,
					   event, profile);
		}
		added(owner->serial, first, data);
	}
}
