/* SPDX-License-Identifier: Apache-2.0 */
/* Which thread of a JVM has a lock: by a place, by a number, by its own lock stack. */
#include "test.h"

#include <errno.h>

#include "fake_threads.h"
#include "jvm/shown/lock_owner_find.h"

#define THREADS	  3
#define FAR_END	  (UINT64_MAX >> 1)
#define STACK(i)  (0x7f1000000000ULL + 0x100000ULL * ((i) + 1)) /* the end of it */
#define STACK_LEN 0x10000ULL
#define FIRST_TID 11

static struct lock_owner_found found;
static uint64_t monitor, object;

/* What a JavaThread has at OFFSET. */
static void put_thread(unsigned int which, unsigned int offset, uint64_t value)
{
	fake_put_u64(memory(), w.threads[which] + offset, value);
}

/* LockStack::_top counts from the JavaThread on. */
static void put_lock_stack(unsigned int which, unsigned int count, const uint64_t *objects)
{
	uint32_t top = THREAD_LOCKS + 16 + 8 * count;

	fake_put(memory(), w.threads[which] + THREAD_LOCKS, &top, sizeof(top));
	for (unsigned int i = 0; i < 8; i++)
		put_thread(which, THREAD_LOCKS + 16 + 8 * i, objects[i]);
}

static void begin_jvm(uint32_t release)
{
	const uint64_t nothing[8] = { 0 };
	uint64_t handle;

	begin(release);
	w.no_vthread = release < 21;
	for (unsigned int i = 0; i < THREADS; i++) {
		uint64_t current = add_thread(FIRST_TID + (int32_t)i, 0);

		put_thread(i, THREAD_STACK, STACK(i));
		put_thread(i, THREAD_STACK + 8, STACK_LEN);
		put_thread(i, THREAD_OWNER_ID, 100 + i);
		put_thread(i, THREAD_VIRTUAL, fake_add(memory(), &current, 8));
		put_lock_stack(i, 0, nothing);
	}
	object = fake_alloc(memory(), OBJECT_BYTES);
	handle = fake_add(memory(), &object, 8);
	monitor = fake_alloc(memory(), 80);
	fake_put_u64(memory(), monitor + MONITOR_OBJECT, handle);
	fake_put_u64(memory(), monitor + MONITOR_OWNER, WIRE_MONITOR_ANONYMOUS);
	list_threads();
	open_vm();
	found = (struct lock_owner_found){ .tid = 99, .is_virtual = true };
}

static void expect_found(unsigned int tid)
{
	assert_int_equal(found.tid, tid);
	assert_false(found.is_virtual);
}

static int at_place(uint64_t place)
{
	return lock_owner_find_place(w.vm.vs, place, FAR_END, &found);
}

static void by_place(void **state)
{
	static const uint32_t releases[] = { 8, 17 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		begin_jvm(releases[i]);
		assert_int_equal(at_place(w.threads[1]), 0);
		expect_found(FIRST_TID + 1);
		assert_int_equal(at_place(STACK(2) - 8), 0);
		expect_found(FIRST_TID + 2);
		assert_int_equal(at_place(STACK(2) - STACK_LEN), 0);
		expect_found(FIRST_TID + 2);
		assert_int_equal(at_place(STACK(2) - STACK_LEN - 1), 0);
		expect_found(0);
		assert_int_equal(at_place(STACK(2)), 0);
		expect_found(0);
		fake_vm_release(&w.vm);
	}
}

static void by_number(void **state)
{
	(void)state;
	begin_jvm(25);
	assert_int_equal(lock_owner_find_number(w.vm.vs, 101, FAR_END, &found), 0);
	expect_found(FIRST_TID + 1);
	assert_int_equal(lock_owner_find_number(w.vm.vs, 103, FAR_END, &found), 0);
	expect_found(0);
	fake_vm_release(&w.vm);
	begin_jvm(17);
	assert_int_equal(lock_owner_find_number(w.vm.vs, 101, FAR_END, &found), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

/* The number is that of whom the carrier runs. */
static void a_virtual_one(void **state)
{
	uint64_t other;

	(void)state;
	begin_jvm(25);
	other = fake_alloc(memory(), OBJECT_BYTES);
	put_thread(1, THREAD_VIRTUAL, fake_add(memory(), &other, 8));
	assert_int_equal(lock_owner_find_number(w.vm.vs, 101, FAR_END, &found), 0);
	assert_int_equal(found.tid, FIRST_TID + 1);
	assert_true(found.is_virtual);
	fake_vm_release(&w.vm);
}

static int anonymous(void)
{
	return lock_owner_find_anonymous(w.vm.vs, monitor, FAR_END, &found);
}

static void by_lock_stack(void **state)
{
	const uint64_t others[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	uint64_t stack[8] = { 0x30, object, 0x40 };

	(void)state;
	begin_jvm(25);
	stack[1] = object;
	put_lock_stack(1, 8, others);
	put_lock_stack(2, 2, stack);
	assert_int_equal(anonymous(), 0);
	expect_found(FIRST_TID + 2);
	/* What lies above its top is of old. */
	put_lock_stack(2, 1, stack);
	assert_int_equal(anonymous(), 0);
	expect_found(0);
	/* A top that cannot be: no more than there is. */
	put_lock_stack(2, 5000, stack);
	assert_int_equal(anonymous(), 0);
	expect_found(FIRST_TID + 2);
	fake_vm_release(&w.vm);
}

static void who_has_given_it_back(void **state)
{
	uint64_t stack[8] = { 0 };

	(void)state;
	begin_jvm(25);
	stack[0] = object;
	put_lock_stack(2, 1, stack);
	fake_put_u64(memory(), monitor + MONITOR_OWNER, 100);
	assert_int_equal(anonymous(), -ESTALE);
	fake_put_u64(memory(), monitor + MONITOR_OWNER, WIRE_MONITOR_ANONYMOUS);
	assert_int_equal(anonymous(), 0);
	expect_found(FIRST_TID + 2);
	/* The object has gone. */
	fake_put_u64(memory(), word_at(monitor + MONITOR_OBJECT), 0);
	assert_int_equal(anonymous(), -ESTALE);
	fake_vm_release(&w.vm);
	begin_jvm(17);
	assert_int_equal(anonymous(), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

/* One has ended since they were listed: the others are looked at. */
static void one_that_has_ended(void **state)
{
	(void)state;
	begin_jvm(17);
	/* Of its memory only the begin is there yet. */
	fake_put_u64(memory(), FAKE_BASE + FAKE_BYTES - 64 + THREAD_OS,
		     word_at(w.threads[1] + THREAD_OS));
	w.threads[1] = FAKE_BASE + FAKE_BYTES - 64;
	list_threads();
	assert_int_equal(at_place(STACK(2) - 8), 0);
	expect_found(FIRST_TID + 2);
	fake_vm_release(&w.vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_place),
		cmocka_unit_test(by_number),
		cmocka_unit_test(a_virtual_one),
		cmocka_unit_test(by_lock_stack),
		cmocka_unit_test(who_has_given_it_back),
		cmocka_unit_test(one_that_has_ended),
	};

	return cmocka_run_group_tests_name("lock_owner_find", tests, NULL, NULL);
}
