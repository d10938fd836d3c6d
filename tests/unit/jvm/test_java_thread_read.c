/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "base/clock.h"
#include "fake_threads.h"
#include "jvm/heap/java_thread_read.h"

static void read_some(struct java_thread_read *found, unsigned int count)
{
	struct java_thread_layout layout;

	assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout), 0);
	for (unsigned int i = 0; i < count; i++)
		found[i].at = (struct java_thread_at){ w.threads[i], 11 + i };
	java_thread_read(&layout, found, count);
}

static void expect_read(struct java_thread_read *read, const char *name)
{
	assert_int_equal(read->result, 0);
	assert_string_equal(read->name, name);
	assert_int_equal(read->id, 1000 + read->at.tid);
	free(read->name);
	read->name = NULL;
}

/* What is wrong with one is no other's loss. */
static void several_at_once(void **state)
{
	struct java_thread_read found[4] = { 0 };

	(void)state;
	begin(25);
	add_thread(11, add_string("first", 5, 1));
	add_thread(12, 0);
	add_thread(13, add_string("", 0, 1));
	add_thread(14, add_string(u"\u65e5", 2, 2));
	list_threads();
	open_vm();
	read_some(found, 4);
	expect_read(&found[0], "first");
	assert_int_equal(found[1].result, -ENODATA);
	expect_read(&found[2], "");
	expect_read(&found[3], "\xe6\x97\xa5");
	/* Its OSThread is not there: the other three are read each alone. */
	fake_put_u64(memory(), w.threads[1] + THREAD_OS, 0x10);
	read_some(found, 4);
	expect_read(&found[0], "first");
	assert_int_equal(found[1].result, -EAGAIN);
	expect_read(&found[3], "\xe6\x97\xa5");
	free(found[2].name);
	/* It has ended, another one has its place. */
	put_tid(0, 99);
	read_some(found, 1);
	assert_int_equal(found[0].result, -ESRCH);
	assert_null(found[0].name);
	fake_vm_release(&w.vm);
}

/* The thread ends after its name was read. */
static int end_thread(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	int r = fake_read(m, spans, count);

	if (!r && has_read(spans, count, "once"))
		put_tid(0, 99);
	return r;
}

static void a_thread_that_ends(void **state)
{
	struct java_thread_read found[1] = { 0 };

	(void)state;
	begin(17);
	add_thread(11, add_string("once", 4, 1));
	memory()->memory.read = end_thread;
	list_threads();
	open_vm();
	read_some(found, 1);
	assert_int_equal(found[0].result, -ESRCH);
	fake_vm_release(&w.vm);
}

static void what_is_not_there(void **state)
{
	struct java_thread_layout layout;
	struct java_thread_read found[1] = { 0 };

	(void)state;
	begin(17);
	open_vm();
	assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout), 0);
	java_thread_read(&layout, found, 1);
	assert_int_equal(found[0].result, -ESRCH);
	fake_vm_release(&w.vm);
}

/* Who chains threads without an end takes no more than the time that there is. */
static void a_chain_without_an_end(void **state)
{
	struct java_thread_layout layout;
	struct java_thread_list list = { 0 };
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	begin(8);
	add_thread(11, 0);
	list_threads();
	fake_put_u64(memory(), w.threads[0] + THREAD_NEXT, w.threads[0]);
	open_vm();
	assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout), 0);
	assert_int_equal(java_thread_list_read(&layout, 0, &list), 0);
	assert_int_equal(list.items.len, 0);
	assert_int_equal(java_thread_list_read(&layout, begin_ns + NSEC_PER_SEC, &list), 0);
	assert_in_range(list.items.len, 1, 65536);
	java_thread_list_release(&list);
	fake_vm_release(&w.vm);
}

static bool is_same(const struct java_thread_layout *layout, const struct java_thread_list *list)
{
	struct java_trail_look look = { layout, java_thread_list_trail(list), false };

	java_thread_trails_check(&look, 1);
	return look.same;
}

/* Each byte that led to the threads. */
static void the_way_to_the_list(void **state)
{
	static const uint32_t releases[] = { 8, 17 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		struct java_thread_layout layout;
		struct java_thread_list list = { 0 };

		begin(releases[i]);
		for (uint32_t k = 0; k < 3; k++)
			add_thread(11 + k, 0);
		list_threads();
		open_vm();
		assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout), 0);
		assert_false(is_same(&layout, &list));
		assert_int_equal(java_thread_list_read(&layout, UINT64_MAX, &list), 0);
		assert_int_equal(list.items.len, 3);
		assert_true(is_same(&layout, &list));
		assert_int_equal(list.spans.len, releases[i] == 8 ? 1 + 3 * 3 : 4 + 2 * 3);
		for (size_t n = 0; n < list.spans.len; n++) {
			uint8_t *byte = memory()->bytes + (list.spans.items[n].address - FAKE_BASE);

			for (uint32_t k = 0; k < list.spans.items[n].len; k++) {
				byte[k] ^= 1;
				assert_false(is_same(&layout, &list));
				byte[k] ^= 1;
			}
		}
		assert_true(is_same(&layout, &list));
		/* Of one that was read in part nothing is known. */
		assert_int_equal(java_thread_list_read(&layout, 0, &list), 0);
		assert_false(is_same(&layout, &list));
		java_thread_list_release(&list);
		fake_vm_release(&w.vm);
	}
}

/* More than one look has room for. */
static void a_way_that_is_too_long(void **state)
{
	struct java_thread_layout layout;
	struct java_thread_list list = { 0 };
	uint64_t many, array;

	(void)state;
	begin(17);
	add_thread(11, 0);
	many = aligned(32);
	array = aligned(300 * sizeof(uint64_t));
	for (uint32_t i = 0; i < 300; i++)
		fake_put_u64(memory(), array + i * sizeof(uint64_t), w.threads[0]);
	fake_put_u64(memory(), many + 16, array);
	fake_put_u64(memory(), w.first_thread, many);
	open_vm();
	assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout), 0);
	for (uint32_t count = 252; count <= 300; count += 2) {
		fake_put(memory(), many + 4, &count, sizeof(count));
		assert_int_equal(java_thread_list_read(&layout, UINT64_MAX, &list), 0);
		assert_int_equal(list.items.len, count);
		assert_int_equal(is_same(&layout, &list), 4 + 2 * count <= JAVA_TRAIL_MOST_SPANS);
	}
	java_thread_list_release(&list);
	fake_vm_release(&w.vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(several_at_once),     cmocka_unit_test(a_thread_that_ends),
		cmocka_unit_test(what_is_not_there),   cmocka_unit_test(a_chain_without_an_end),
		cmocka_unit_test(the_way_to_the_list), cmocka_unit_test(a_way_that_is_too_long),
	};

	return cmocka_run_group_tests_name("java_thread_read", tests, NULL, NULL);
}
