/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "fake_threads.h"
#include "jvm/heap/java_threads.h"

static struct java_threads found;

/* List the threads, and read them. */
static int finish(void)
{
	list_threads();
	open_vm();
	return java_threads_read(w.vm.vs, &w.layout, &found);
}

static void end(void)
{
	java_threads_release(&found);
	fake_vm_release(&w.vm);
}

static void expect_thread(unsigned int at, uint32_t tid, const char *name)
{
	assert_true(at < found.items.len);
	assert_int_equal(found.items.items[at].tid, tid);
	if (name)
		assert_string_equal(found.items.items[at].name, name);
	else
		assert_null(found.items.items[at].name);
}

static void chars_of_jdk_8(void **state)
{
	(void)state;
	begin(8);
	add_thread(11, add_string(u"a-long-name-of-a-thread", 46, 2));
	add_thread(12, add_string(u"\u65e5\xd83d\xde00", 6, 2));
	assert_int_equal(finish(), 0);
	assert_int_equal(found.items.len, 2);
	expect_thread(0, 11, "a-long-name-of-a-thread");
	expect_thread(1, 12, "\xe6\x97\xa5\xf0\x9f\x98\x80");
	end();
}

static void bytes_of_later_ones(void **state)
{
	static const uint32_t releases[] = { 17, 21, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		begin(releases[i]);
		add_thread(11, add_string("a-long-name-of-a-thread", 23, 1));
		add_thread(12, add_string("\xe4", 1, 1));
		add_thread(13, add_string(u"\u65e5x", 4, 2));
		add_thread(14, add_string("", 0, 1));
		assert_int_equal(finish(), 0);
		assert_int_equal(found.items.len, 4);
		expect_thread(0, 11, "a-long-name-of-a-thread");
		expect_thread(1, 12, "\xc3\xa4");
		expect_thread(2, 13, "\xe6\x97\xa5x");
		expect_thread(3, 14, "");
		end();
	}
}

/* What is not proven to be a thread's name is none. */
static void names_that_are_none(void **state)
{
	uint64_t string, other, object;
	uint32_t thread_class;

	(void)state;
	begin(17);
	string = add_string("name", 4, 1);
	other = add_string("none", 4, 1);
	thread_class = (uint32_t)((w.thread_klass - FAKE_BASE) >> CLASS_SHIFT);
	fake_put(memory(), other + 8, &thread_class, 4);
	add_thread(11, 0);
	object = add_thread(12, string);
	fake_put_u64(memory(), object + EETOP, w.threads[0]);
	add_thread(13, other);
	add_thread(0, string);
	assert_int_equal(finish(), 0);
	assert_int_equal(found.items.len, 3);
	expect_thread(0, 11, NULL);
	expect_thread(1, 12, NULL);
	expect_thread(2, 13, NULL);
	end();
}

/* Where a reference is, and what it is as soon as "once" was read. */
static uint64_t moved_at, moved_to;
static unsigned int reads, ends_at;

static int move_string(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	int r = fake_read(m, spans, count);

	reads++;
	if (!r && has_read(spans, count, "once")) {
		put_reference(moved_at, moved_to);
		collect(1);
	}
	return r;
}

/* By a collection, between its two looks. */
static void a_string_that_moves(void **state)
{
	(void)state;
	begin(17);
	moved_to = add_string("then", 4, 1);
	moved_at = add_thread(11, add_string("once", 4, 1)) + NAME;
	memory()->memory.read = move_string;
	assert_int_equal(finish(), 0);
	expect_thread(0, 11, "then");
	end();
}

/* The list that takes the place of the one whose address has just been read, 0: none; and what the old one's length is then. */
static uint64_t next_list;
static uint32_t old_length;
/* Its address is read twice: to know whether it is another one afterwards, and by who reads the list. */
static unsigned int looks;

static int replace_list(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	int r = fake_read(m, spans, count);

	if (!r && spans[0].address == w.first_thread && next_list && ++looks == 2) {
		fake_put(memory(), word_at(w.first_thread) + 4, &old_length, 4);
		fake_put_u64(memory(), w.first_thread, next_list);
		next_list = 0;
	}
	return r;
}

/* The old one is another's memory, or is still there, without who has begun. */
static void a_list_that_is_replaced(void **state)
{
	static const uint32_t lengths[] = { 1U << 30, 1 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		begin(17);
		add_thread(11, add_string("one", 3, 1));
		add_thread(12, add_string("two", 3, 1));
		list_threads();
		next_list = word_at(w.first_thread);
		old_length = lengths[i];
		looks = 0;
		memory()->memory.read = replace_list;
		assert_int_equal(finish(), 0);
		assert_int_equal(next_list, 0);
		assert_int_equal(found.items.len, 2);
		expect_thread(1, 12, "two");
		end();
	}
}

/* Meanwhile references may lead to what is not there yet: here to other strings. */
static int end_collection(const struct vm_memory *m, const struct vm_span *spans,
			  unsigned int count)
{
	const uint8_t none = 0;

	if (++reads == ends_at) {
		put_reference(moved_at, moved_to);
		collect(2);
		fake_put(memory(), w.heap + GC_ACTIVE, &none, 1);
	}
	return fake_read(m, spans, count);
}

static void a_collection_that_is_under_way(void **state)
{
	const uint8_t active = 1;

	(void)state;
	for (uint32_t release = 17; release <= 21; release += 4) {
		begin(release);
		moved_to = add_string("own", 3, 1);
		moved_at = add_thread(11, add_string("another's", 9, 1)) + NAME;
		fake_put(memory(), w.heap + GC_ACTIVE, &active, 1);
		memory()->memory.read = end_collection;
		ends_at = UINT32_MAX;
		assert_int_equal(finish(), 0);
		expect_thread(0, 11, NULL);
		java_threads_release(&found);
		ends_at = reads + 60;
		assert_int_equal(java_threads_read(w.vm.vs, &w.layout, &found), 0);
		expect_thread(0, 11, "own");
		end();
	}
}

/* Without a heap there are no objects. */
static void a_jvm_that_starts(void **state)
{
	(void)state;
	begin(17);
	fake_put_u64(memory(), w.heap_at, 0);
	assert_int_equal(finish(), -EAGAIN);
	end();
	begin(17);
	fake_put_u64(memory(), w.string_klass_at, 0);
	assert_int_equal(finish(), -EAGAIN);
	end();
}

static void collectors_that_move_objects(void **state)
{
	static const char *const collectors[] = { "UseZGC", "UseShenandoahGC" };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		begin(17);
		put_flag(collectors[i], 1);
		add_thread(11, add_string("name", 4, 1));
		assert_int_equal(finish(), -EOPNOTSUPP);
		end();
		begin(17);
		put_flag(collectors[i], 0);
		assert_int_equal(finish(), 0);
		end();
	}
}

static void impossible_numbers(void **state)
{
	const uint32_t many = 1U << 30;
	uint64_t string;

	(void)state;
	begin(17);
	string = add_string("name", 4, 1);
	add_thread(11, string);
	fake_put(memory(), string + OBJECT_BYTES + 12, &many, 4);
	assert_int_equal(finish(), 0);
	expect_thread(0, 11, NULL);
	end();
	begin(17);
	fake_put(memory(), w.oop_shift, &many, 4);
	assert_int_equal(finish(), -EBADMSG);
	end();
	begin(17);
	w.thread_count = many;
	assert_int_equal(finish(), -EBADMSG);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chars_of_jdk_8),
		cmocka_unit_test(bytes_of_later_ones),
		cmocka_unit_test(names_that_are_none),
		cmocka_unit_test(a_string_that_moves),
		cmocka_unit_test(a_list_that_is_replaced),
		cmocka_unit_test(a_collection_that_is_under_way),
		cmocka_unit_test(a_jvm_that_starts),
		cmocka_unit_test(collectors_that_move_objects),
		cmocka_unit_test(impossible_numbers),
	};

	return cmocka_run_group_tests_name("java_threads", tests, NULL, NULL);
}
