/* SPDX-License-Identifier: Apache-2.0 */
/* Java's lists of its virtual threads, and what a heap may have in their place. */
#include "test.h"

#include "fake_virtual.h"
#include "jvm/continuation/virtual_list.h"

static struct virtual_objects found;

static int read_list(uint32_t draw)
{
	vec_release(&found.at);
	found = (struct virtual_objects){ .at = VEC_INIT };
	return virtual_list_read(&layout, draw, clock_now_ns() + 10 * NSEC_PER_SEC, &found);
}

static void expect_found(const uint64_t *wanted, size_t count)
{
	assert_int_equal(read_list(0), 0);
	assert_int_equal(found.at.len, count);
	assert_int_equal(found.chance, 1);
	for (size_t i = 0; i < count; i++)
		assert_true(found.at.items[i] == wanted[i]);
}

static uint64_t thread_of(uint64_t id)
{
	return add_virtual(id, STATE_IS_PARKED, 0, 0);
}

static void end(void)
{
	vec_release(&found.at);
	fake_vm_release(&w.vm);
}

static void those_of_none(void **state)
{
	(void)state;
	for (uint32_t release = 21; release <= 25; release += 4) {
		begin_virtual(release);
		expect_found(NULL, 0);
		const uint64_t threads[] = { thread_of(1), thread_of(2), thread_of(3) };

		put_root(threads, 3);
		expect_found(threads, 3);
		/* A set may have no table yet. */
		put_reference(root_mirror + 16, add_set(0));
		expect_found(NULL, 0);
		end();
	}
}

/* Who shares a place comes after who had it first. */
static void chains(void **state)
{
	const uint64_t keys[] = { FAKE_BASE + 0x100, FAKE_BASE + 0x108, FAKE_BASE + 0x110 };
	uint64_t table, moved;
	const int32_t hash = -1;

	(void)state;
	begin_virtual(21);
	table = add_table(4);
	put_place(table, 3, add_node(keys[0], add_node(keys[1], add_node(keys[2], 0))));
	put_reference(root_mirror + 16, add_set(table));
	expect_found(keys, 3);
	/* A table's own node has no thread, and leads nowhere. */
	moved = add_node(keys[1], add_node(keys[2], 0));
	fake_put(memory(), moved + NODE_HASH, &hash, 4);
	put_place(table, 1, moved);
	expect_found(keys, 3);
	end();
}

static void those_of_executors(void **state)
{
	(void)state;
	begin_virtual(25);
	const uint64_t threads[] = { thread_of(1), thread_of(2), thread_of(3) };
	uint64_t executor = add_object(executor_klass), other = add_object(w.string_klass),
		 empty = add_object(executor_klass);

	put_reference(executor + CONTAINER_SET, add_set_of(threads + 1, 2));
	/* One of another class has something else there. */
	put_reference(other + CONTAINER_SET, add_set_of(threads, 1));
	const uint64_t registry[] = { add_weak(0), add_weak(other), add_weak(executor),
				      add_weak(empty) };

	put_root(threads, 1);
	put_reference(registry_mirror + 16, add_set_of(registry, 4));
	expect_found(threads, 3);
	/* Its class was never loaded. */
	layout.containers[VIRTUAL_EXECUTOR].word.mask = 0;
	expect_found(threads, 1);
	layout.of_threads.mirror_at = 0;
	expect_found(NULL, 0);
	end();
}

static void no_end(void **state)
{
	uint64_t table, node;

	(void)state;
	begin_virtual(21);
	table = add_table(2);
	node = add_node(FAKE_BASE + 0x100, 0);
	put_reference(node + NODE_NEXT, node);
	put_place(table, 0, node);
	put_reference(root_mirror + 16, add_set(table));
	assert_int_equal(read_list(0), -E2BIG);
	assert_true(found.at.len <= 65536 + VM_MEMORY_MAX_SPANS);
	end();
}

static void what_is_not_there(void **state)
{
	const uint32_t many = (1U << 24) + 1;
	const uint64_t threads[] = { FAKE_BASE + 0x100 };
	uint64_t table;

	(void)state;
	begin_virtual(21);
	table = add_table(4);
	put_reference(root_mirror + 16, add_set(table));
	fake_put(memory(), table + layout.threads.array_len, &many, 4);
	assert_int_equal(read_list(0), -E2BIG);
	put_root(threads, 1);
	assert_int_equal(read_list(0), 0);
	vec_release(&found.at);
	found = (struct virtual_objects){ .at = VEC_INIT };
	assert_int_equal(virtual_list_read(&layout, 0, clock_now_ns(), &found), -ETIMEDOUT);
	put_reference(root_mirror + 16, FAKE_BASE + 8 * (uint64_t)FAKE_BYTES);
	assert_int_equal(read_list(0), -EFAULT);
	layout.key = layout.hash + 64;
	put_root(threads, 1);
	assert_int_equal(read_list(0), -EOPNOTSUPP);
	end();
}

/* Of tables for many a part is looked at, another one each time; it stands for all. */
static void a_part(void **state)
{
	enum { SETS = 8, PLACES = 4096, DRAWS = 64 };

	uint64_t table, executors[SETS], at_once = 0;
	uint64_t node;
	unsigned int seen = 0;

	(void)state;
	begin_virtual(21);
	table = add_table(PLACES);
	node = add_node(FAKE_BASE + 0x100, 0);
	put_place(table, 77, node);
	for (size_t i = 0; i < SETS; i++) {
		uint64_t executor = add_object(executor_klass);

		put_reference(executor + CONTAINER_SET, add_set(table));
		executors[i] = add_weak(executor);
	}
	put_reference(registry_mirror + 16, add_set_of(executors, SETS));
	for (uint32_t draw = 0; draw < DRAWS; draw++) {
		assert_int_equal(read_list(draw * 0x9e3779b9U), 0);
		assert_int_equal(found.chance, 2);
		seen += found.at.len != 0;
	}
	assert_in_range(seen, DRAWS / 4, 3 * DRAWS / 4);
	for (uint32_t i = 0; i < PLACES; i++)
		put_place(table, i, node);
	assert_int_equal(read_list(1), 0);
	at_once = found.at.len * found.chance;
	assert_in_range(at_once, SETS * PLACES * 95 / 100, SETS * PLACES * 105 / 100);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_none),      cmocka_unit_test(chains),
		cmocka_unit_test(those_of_executors), cmocka_unit_test(no_end),
		cmocka_unit_test(what_is_not_there),  cmocka_unit_test(a_part),
	};

	return cmocka_run_group_tests_name("virtual_list", tests, NULL, NULL);
}
