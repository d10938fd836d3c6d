// SPDX-License-Identifier: Apache-2.0
#include "jvm/continuation/virtual_list.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

#define MAX_THREADS 65536
#define MAX_PLACES  (1U << 24)
/* Of so many places of tables, or more, some are looked at, chosen one by one: threads that were made together are beside each other (VirtualThread.hashCode()). */
#define LOOKED_AT 16384
/* Read at once: of a table, and nodes. */
#define TABLE_BYTES 65536
#define BATCH	    VM_MEMORY_MAX_SPANS
/* A node's fields lie in so many bytes: a number and three references. */
#define NODE_BYTES 48

/* A set's table. */
struct table {
	uint64_t address;
	uint32_t places;
};

struct list {
	const struct virtual_layout *layout;
	uint64_t deadline_ns;
	VEC(struct table) tables;
	uint64_t places; /* of all of them */
	uint32_t shift;	 /* one place of 2^shift is looked at */
	uint32_t draw;
};

/* --- references ------------------------------------------------------------------------------- */

static size_t reference_bytes(const struct list *list)
{
	return java_objects_reference_bytes(&list->layout->threads.objects);
}

static uint64_t address_of(const struct list *list, uint64_t reference)
{
	return java_objects_address(&list->layout->threads.objects, reference);
}

/* The address that the reference at ADDRESS means; 0: null. */
static int read_reference(const struct list *list, uint64_t address, uint64_t *ret)
{
	uint64_t reference = 0;
	int r = vm_memory_read(list->layout->threads.memory, address, &reference,
			       reference_bytes(list));

	*ret = r < 0 ? 0 : address_of(list, reference);
	return r;
}

/* The same at OFFSET in each of COUNT objects, in one call. */
static int read_fields(const struct list *list, const uint64_t *objects, unsigned int count,
		       uint32_t offset, uint64_t *values)
{
	struct vm_gather g;
	int r;

	vm_gather_init(&g);
	memset(values, 0, count * sizeof(values[0]));
	for (unsigned int i = 0; i < count; i++)
		vm_gather_add(&g, objects[i] + offset, &values[i], reference_bytes(list));
	r = vm_gather_read(&g, list->layout->threads.memory);
	for (unsigned int i = 0; !r && i < count; i++)
		values[i] = address_of(list, values[i]);
	return r;
}

/* --- a set ------------------------------------------------------------------------------------ */

/* A table's own nodes have a negative hash: they have moved, or have a tree of what is met too often, which threads are not. */
static void take_node(const struct list *list, const uint8_t *bytes, uint32_t from,
		      struct virtual_objects *keys, struct virtual_objects *next)
{
	const struct virtual_layout *l = list->layout;
	uint64_t key = virtual_reference(l, bytes, l->key - from);
	uint64_t follows = virtual_reference(l, bytes, l->next - from);

	if ((int32_t)virtual_field(bytes, l->hash - from, sizeof(int32_t)) < 0)
		return;
	if (key)
		vec_push(&keys->at, key);
	if (follows)
		vec_push(&next->at, follows);
}

static int take_batch(const struct list *list, const uint64_t *nodes, unsigned int count,
		      struct virtual_objects *keys, struct virtual_objects *next)
{
	const struct virtual_layout *l = list->layout;
	uint32_t from = MIN(l->hash, MIN(l->key, l->next));
	uint32_t bytes = MAX(l->hash, MAX(l->key, l->next)) + 8 - from;
	_cleanup_free_ uint8_t *data = xcalloc(count, NODE_BYTES);
	struct vm_gather g;
	int r;

	if (bytes > NODE_BYTES)
		return -EOPNOTSUPP;
	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		vm_gather_add(&g, nodes[i] + from, data + (size_t)i * NODE_BYTES, bytes);
	r = vm_gather_read(&g, l->threads.memory);
	for (unsigned int i = 0; !r && i < count; i++)
		take_node(list, data + (size_t)i * NODE_BYTES, from, keys, next);
	return r;
}

/* The keys of NODES, and of those that come after them. */
static int take_nodes(const struct list *list, struct virtual_objects *nodes,
		      struct virtual_objects *keys)
{
	unsigned int count;
	int r = 0;

	for (size_t at = 0; !r && at < nodes->at.len; at += count) {
		uint64_t batch[BATCH];

		count = (unsigned int)MIN(nodes->at.len - at, (size_t)BATCH);

		if (nodes->at.len > MAX_THREADS || keys->at.len > MAX_THREADS)
			return -E2BIG;
		if (clock_now_ns() >= list->deadline_ns)
			return -ETIMEDOUT;
		/* What follows them comes behind them. */
		memcpy(batch, nodes->at.items + at, count * sizeof(batch[0]));
		r = take_batch(list, batch, count, keys, nodes);
	}
	return r;
}

/* It is the table's address that tells those of several tables apart. */
static bool is_chosen(const struct list *list, uint64_t place)
{
	return !(virtual_list_draw(place, list->draw) & ((1U << list->shift) - 1));
}

/* The first nodes of those of TABLE's places that are looked at. */
static int take_places(const struct list *list, const struct table *table,
		       struct virtual_objects *nodes)
{
	uint32_t each = (uint32_t)reference_bytes(list), most = TABLE_BYTES / each;
	_cleanup_free_ uint8_t *data = xmalloc(TABLE_BYTES);
	uint64_t at = table->address + list->layout->elements;
	int r = 0;

	for (uint32_t from = 0; !r && from < table->places; from += most) {
		uint32_t part = MIN(table->places - from, most);

		if (clock_now_ns() >= list->deadline_ns)
			return -ETIMEDOUT;
		r = vm_memory_read(list->layout->threads.memory, at + (uint64_t)from * each, data,
				   (size_t)part * each);
		for (uint32_t i = 0; !r && i < part; i++) {
			uint64_t reference = 0;

			memcpy(&reference, data + (size_t)i * each, each);
			if (reference && is_chosen(list, at + from + i))
				vec_push(&nodes->at, address_of(list, reference));
		}
	}
	return r;
}

/* The keys of those. */
static int take_table(const struct list *list, const struct table *table,
		      struct virtual_objects *keys)
{
	struct virtual_objects nodes = { .at = VEC_INIT };
	int r = take_places(list, table, &nodes);

	if (!r)
		r = take_nodes(list, &nodes, keys);
	vec_release(&nodes.at);
	return r;
}

/* The table of the set at SET; 0: it is not there yet. */
static int find_table(const struct list *list, uint64_t set, struct table *ret)
{
	const struct virtual_layout *l = list->layout;
	uint64_t map = 0;
	int r = 0;

	*ret = (struct table){ 0 };
	if (set)
		r = read_reference(list, set + l->map, &map);
	if (!r && map)
		r = read_reference(list, map + l->table, &ret->address);
	if (!r && ret->address)
		r = vm_memory_read(l->threads.memory, ret->address + l->threads.array_len,
				   &ret->places, sizeof(ret->places));
	return !r && ret->places > MAX_PLACES ? -E2BIG : r;
}

/* --- who has one ------------------------------------------------------------------------------ */

static int find_root(const struct list *list, const struct virtual_root *root, struct table *ret)
{
	uint64_t mirror, set;
	int r;

	*ret = (struct table){ 0 };
	if (!root->mirror_at)
		return 0;
	/* Handles of classes are whole addresses. */
	r = vm_memory_read_u64(list->layout->threads.memory, root->mirror_at, &mirror);
	if (!r)
		r = read_reference(list, mirror + root->offset, &set);
	return r < 0 ? r : find_table(list, set, ret);
}

static void add_table(struct list *list, const struct table *table)
{
	if (!table->places)
		return;
	vec_push(&list->tables, *table);
	list->places += table->places;
}

/* The threads of the container at ADDRESS, if it is of a kind that is known. */
static int find_container(struct list *list, uint64_t address)
{
	const struct virtual_layout *l = list->layout;

	for (size_t i = 0; i < VIRTUAL_CONTAINERS; i++) {
		const struct virtual_container *of = &l->containers[i];
		struct table table;
		uint64_t word, set;
		int r;

		if (!of->word.mask)
			continue;
		r = vm_memory_read_u64(l->threads.memory, address + of->word.at, &word);
		if (!r && (word & of->word.mask) != of->word.value)
			continue;
		if (!r)
			r = read_reference(list, address + of->set, &set);
		if (!r)
			r = find_table(list, set, &table);
		if (!r)
			add_table(list, &table);
		return r;
	}
	return 0;
}

/* Of references to containers, of which some may have gone. */
static int find_containers(struct list *list, const struct virtual_objects *references)
{
	uint64_t containers[BATCH];
	unsigned int count;
	int r = 0;

	for (size_t at = 0; !r && at < references->at.len; at += count) {
		count = (unsigned int)MIN(references->at.len - at, (size_t)BATCH);
		if (clock_now_ns() >= list->deadline_ns)
			return -ETIMEDOUT;
		r = read_fields(list, references->at.items + at, count, list->layout->referent,
				containers);
		for (unsigned int i = 0; !r && i < count; i++)
			if (containers[i])
				r = find_container(list, containers[i]);
	}
	return r;
}

static int find_tables(struct list *list)
{
	struct virtual_objects references = { .at = VEC_INIT };
	struct table table;
	int r = find_root(list, &list->layout->of_threads, &table);

	if (!r)
		add_table(list, &table);
	if (!r)
		r = find_root(list, &list->layout->of_containers, &table);
	if (!r)
		r = take_table(list, &table, &references);
	if (!r)
		r = find_containers(list, &references);
	vec_release(&references.at);
	return r;
}

int virtual_list_read(const struct virtual_layout *layout, uint32_t draw, uint64_t deadline_ns,
		      struct virtual_objects *objects)
{
	struct list list = { .layout = layout, .deadline_ns = deadline_ns, .draw = draw };
	int r = find_tables(&list);

	while (list.places >> list.shift > LOOKED_AT)
		list.shift++;
	objects->chance = 1U << list.shift;
	for (size_t i = 0; !r && i < list.tables.len; i++)
		r = take_table(&list, &list.tables.items[i], objects);
	vec_release(&list.tables);
	return r;
}
