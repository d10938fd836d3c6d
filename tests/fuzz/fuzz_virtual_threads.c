/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual threads that wait in a hostile heap: lists, tables, threads, chunks and names that somebody made. The input's first byte chooses a fabricated
 * JVM with all of these, the rest changes it (heap_changes.h). What comes out must be within what was wanted, and whole.
 */
#include "heap_changes.h"

#include "base/clock.h"
#include "fake_virtual.h"

#define THREADS	  6
#define MOST	  4
#define BYTES	  8192
#define ONE_BYTES (VIRTUAL_PARKED_CHUNKS * (WIRE_CHUNK_BYTES + 65536))
/* Read together. */
#define AT_ONCE 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some in no container, some in one; in places of their own, and in chains. */
static void make_jvm(uint32_t release)
{
	uint64_t threads[THREADS], executor, reference, table;

	begin_virtual(release);
	for (uint32_t i = 0; i < THREADS; i++)
		threads[i] = add_virtual(10 + i, i % 2 ? 4 : 16, add_string("a-name", 6, 1 + i % 2),
					 add_chunk(8 + i, i > 3 ? add_chunk(4, 0) : 0));
	put_root(threads, 2);
	table = add_table(4);
	put_place(table, 1, add_node(threads[2], add_node(threads[3], add_node(threads[4], 0))));
	put_place(table, 2, add_node(threads[5], 0));
	executor = add_object(executor_klass);
	put_reference(executor + CONTAINER_SET, add_set(table));
	reference = add_weak(executor);
	put_reference(registry_mirror + 16, add_set_of(&reference, 1));
}

static void check(const struct virtual_parked *p)
{
	uint64_t bytes = 0;

	assert_true(p->id && p->data && p->piece_count &&
		    p->piece_count <= 2 * VIRTUAL_PARKED_CHUNKS);
	assert_true(p->pieces[0].at == p->chunk);
	for (uint32_t i = 0; i < p->piece_count; i++)
		bytes += p->pieces[i].bytes;
	assert_true(bytes == p->bytes && bytes <= ONE_BYTES);
	assert_true(p->name_bytes <= WIRE_NAME_BYTES);
	assert_true(p->cause == WIRE_CAUSE_PARK || p->cause == WIRE_CAUSE_MONITOR_ENTER);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t releases[] = { 21, 25 };
	struct virtual_parked_wanted wanted = { MOST, BYTES, 0 };
	struct virtual_parked_list list = { .items = VEC_INIT };
	struct vm_memory changing;

	if (size < 3)
		return 0;
	make_jvm(releases[data[0] % ARRAY_SIZE(releases)]);
	changes_begin();
	changing = memory()->memory;
	layout.threads.memory = &changing;
	changes_apply(data, size);
	/* Tries that find nothing but change are few: each of them waits. */
	wanted.deadline_ns = clock_now_ns() + 3 * NSEC_PER_MSEC;
	(void)virtual_parked_read(&layout, &wanted, &list);
	assert_true(list.items.len <= MOST);
	assert_true(list.bytes <= BYTES + AT_ONCE * (ONE_BYTES + sizeof(struct virtual_parked)));
	assert_true(virtual_parked_weight(&list) * (double)list.items.len <= 65536.0 * 1024);
	for (size_t i = 0; i < list.items.len; i++)
		check(&list.items.items[i]);
	virtual_parked_list_release(&list);
	fake_vm_release(&w.vm);
	return 0;
}
