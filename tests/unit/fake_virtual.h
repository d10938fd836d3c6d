/* SPDX-License-Identifier: Apache-2.0 */
/* Virtual threads in the heap of fake_threads.h, in Java's lists of them, with chunks of their frames. */
#ifndef HOSTPROF_TESTS_FAKE_VIRTUAL_H
#define HOSTPROF_TESTS_FAKE_VIRTUAL_H

#include "base/clock.h"
#include "fake_threads.h"
#include "jvm/continuation/virtual_parked.h"

/* Where fields lie in objects of OBJECT_BYTES, behind any header. */
#define SET_MAP		16
#define MAP_TABLE	20
#define NODE_HASH	16
#define NODE_KEY	20
#define NODE_NEXT	28
#define REFERENT	16
#define CONTAINER_SET	20
#define VIRTUAL_STATE	28
#define VIRTUAL_ON	32
#define VIRTUAL_CONT	36
#define CONT_TAIL	16
#define CHUNK_SIZE	16
#define CHUNK_SP	20
#define CHUNK_BOTTOM	24
#define CHUNK_PARENT	28
#define CHUNK_STACK	48
#define CHUNK_WORDS	20
#define STATE_IS_PARKED 4

static struct virtual_layout layout;
static uint64_t chunk_klass, root_mirror, registry_mirror, executor_klass;

static inline struct java_klass_word klass_word(uint64_t klass)
{
	struct java_klass_word word;

	assert_int_equal(java_objects_klass_word(&layout.threads.objects, klass, &word), 0);
	return word;
}

/* What a static field at 16 of a class's mirror refers to; nothing yet. */
static inline struct virtual_root add_root(uint64_t *ret_mirror)
{
	*ret_mirror = add_object(w.string_klass);
	return (struct virtual_root){ fake_add(memory(), ret_mirror, 8), 16 };
}

/* The JVM of RELEASE, whose lists are empty. */
static inline void begin_virtual(uint32_t release)
{
	struct java_klass_word word;

	begin(release);
	w.layout.wire.chunks.klass_mask = UINT32_MAX;
	open_vm();
	memset(&layout, 0, sizeof(layout));
	list_threads();
	assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout.threads), 0);
	chunk_klass = add_klass(NULL, 0);
	executor_klass = add_klass(NULL, 0);
	word = klass_word(chunk_klass);
	layout.chunks = (struct wire_chunks){ .klass_mask = word.mask,
					      .klass = word.value,
					      .klass_at = word.at,
					      .oop_base = FAKE_BASE,
					      .oop_bytes = w.narrow ? 4 : 8,
					      .oop_shift = NARROW_SHIFT,
					      .tail = CONT_TAIL,
					      .parent = CHUNK_PARENT,
					      .size = CHUNK_SIZE,
					      .sp = CHUNK_SP,
					      .bottom = CHUNK_BOTTOM,
					      .stack = CHUNK_STACK };
	layout.of_thread = klass_word(w.virtual_klass);
	layout.state = VIRTUAL_STATE;
	layout.carrier = VIRTUAL_ON;
	layout.cont = VIRTUAL_CONT;
	layout.of_threads = add_root(&root_mirror);
	layout.of_containers = add_root(&registry_mirror);
	layout.containers[VIRTUAL_EXECUTOR] =
		(struct virtual_container){ klass_word(executor_klass), CONTAINER_SET };
	layout.referent = REFERENT;
	layout.map = SET_MAP;
	layout.table = MAP_TABLE;
	layout.hash = NODE_HASH;
	layout.key = NODE_KEY;
	layout.next = NODE_NEXT;
	layout.elements = w.compact ? 12 : 16;
}

static inline uint64_t add_table(uint32_t places)
{
	uint64_t table = fake_alloc(memory(), layout.elements + 4ULL * places);

	fake_put(memory(), table + layout.threads.array_len, &places, 4);
	return table;
}

static inline void put_place(uint64_t table, uint32_t place, uint64_t node)
{
	put_reference(table + layout.elements + 4ULL * place, node);
}

static inline uint64_t add_node(uint64_t key, uint64_t next)
{
	uint64_t node = add_object(w.string_klass);

	put_reference(node + NODE_KEY, key);
	if (next)
		put_reference(node + NODE_NEXT, next);
	return node;
}

/* A set whose map has TABLE; 0: it has none. */
static inline uint64_t add_set(uint64_t table)
{
	uint64_t set = add_object(w.string_klass), map = add_object(w.string_klass);

	put_reference(set + SET_MAP, map);
	if (table)
		put_reference(map + MAP_TABLE, table);
	return set;
}

/* A set of COUNT keys, each in a place of its own, with an empty one behind each. */
static inline uint64_t add_set_of(const uint64_t *keys, uint32_t count)
{
	uint64_t table = add_table(2 * count);

	for (uint32_t i = 0; i < count; i++)
		put_place(table, 2 * i, add_node(keys[i], 0));
	return add_set(table);
}

/* A weak reference to CONTAINER; 0: that has gone. */
static inline uint64_t add_weak(uint64_t container)
{
	uint64_t reference = add_object(w.string_klass);

	if (container)
		put_reference(reference + REFERENT, container);
	return reference;
}

/* A chunk whose frames are the words from SP to CHUNK_WORDS: their number, and this one's. */
static inline uint64_t add_chunk(uint32_t sp, uint64_t parent)
{
	uint64_t chunk = fake_alloc(memory(), CHUNK_STACK + 8 * CHUNK_WORDS);
	const uint32_t words = CHUNK_WORDS;

	if (w.compact)
		fake_put_u64(memory(), chunk, layout.chunks.klass | 1);
	else
		fake_put(memory(), chunk + 8, &layout.chunks.klass, 4);
	fake_put(memory(), chunk + CHUNK_SIZE, &words, 4);
	fake_put(memory(), chunk + CHUNK_SP, &sp, 4);
	fake_put(memory(), chunk + CHUNK_BOTTOM, &words, 4);
	if (parent)
		put_reference(chunk + CHUNK_PARENT, parent);
	for (uint32_t i = 0; i < CHUNK_WORDS; i++)
		fake_put_u64(memory(), chunk + CHUNK_STACK + 8ULL * i, chunk + i);
	return chunk;
}

/* The virtual thread ID in STATE. */
static inline uint64_t add_virtual(uint64_t id, uint32_t state, uint64_t name, uint64_t chunk)
{
	uint64_t thread = add_object(w.virtual_klass), cont = add_object(w.string_klass);

	fake_put_u64(memory(), thread + THREAD_ID, id);
	fake_put(memory(), thread + VIRTUAL_STATE, &state, 4);
	put_reference(thread + VIRTUAL_CONT, cont);
	if (name)
		put_reference(thread + NAME, name);
	if (chunk)
		put_reference(cont + CONT_TAIL, chunk);
	return thread;
}

/* THREADS belong to no container. */
static inline void put_root(const uint64_t *threads, uint32_t count)
{
	put_reference(root_mirror + 16, add_set_of(threads, count));
}

#endif
