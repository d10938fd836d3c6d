/* SPDX-License-Identifier: Apache-2.0 */
/* What leads to receivers' classes, to what is compiled and to what threads park for, by the JVM's own description. */
#include "test.h"

#include "fake_threads.h"
#include "jvm/shown/jvm_compiling.h"
#include "jvm/shown/jvm_own_thread.h"
#include "jvm/shown/jvm_parking.h"
#include "jvm/shown/jvm_receiver.h"

#define THREADS	      4
#define PTHREAD_BYTES 1536
#define BLOB_NAME     40
/* What all have in common, what some have, and where a mark of their own lies. */
#define SELF	0x310
#define ARG	0x208
#define FAR_END (UINT64_MAX >> 1)

static struct wire_receiver receiver;
static struct wire_own_thread own;
static struct wire_parking parking;
static uint64_t pthreads[THREADS];

static int receiver_of(uint32_t release)
{
	begin(release);
	w.layout.blob_name = BLOB_NAME;
	open_vm();
	return jvm_receiver_read(w.vm.vs, &w.layout, &receiver);
}

static void classes(void **state)
{
	(void)state;
	assert_int_equal(receiver_of(8), 0);
	assert_int_equal(receiver.object.place, WIRE_KLASS_WIDE);
	assert_int_equal(receiver.blob_name, BLOB_NAME);
	fake_vm_release(&w.vm);
	assert_int_equal(receiver_of(17), 0);
	assert_int_equal(receiver.object.place, WIRE_KLASS_NARROW);
	assert_true(receiver.object.base == FAKE_BASE);
	assert_int_equal(receiver.object.shift, CLASS_SHIFT);
	fake_vm_release(&w.vm);
	assert_int_equal(receiver_of(25), 0);
	assert_int_equal(receiver.object.place, WIRE_KLASS_COMPACT);
	assert_int_equal(receiver.object.mark_shift, HEADER_SHIFT);
	w.layout.blob_name = JVM_LAYOUT_ABSENT;
	assert_int_equal(jvm_receiver_read(w.vm.vs, &w.layout, &receiver), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

static void put_pthread(unsigned int which, unsigned int offset, uint64_t value)
{
	fake_put_u64(memory(), pthreads[which] + offset, value);
}

/* COUNT threads that have noted where they are, of a JVM of RELEASE. */
static void begin_threads_of(uint32_t release, unsigned int count, bool no_vthread)
{
	begin(release);
	w.no_vthread = no_vthread;
	for (unsigned int i = 0; i < count; i++) {
		add_thread(11 + (int32_t)i, 0);
		pthreads[i] = fake_alloc(memory(), PTHREAD_BYTES);
		fake_put_u64(memory(), word_at(w.threads[i] + THREAD_OS) + OS_PTHREAD, pthreads[i]);
		put_pthread(i, SELF, w.threads[i]);
		/* The main thread was not made by the JVM. */
		if (i)
			put_pthread(i, ARG, w.threads[i]);
	}
	list_threads();
	open_vm();
}

static void begin_threads(uint32_t release, unsigned int count)
{
	begin_threads_of(release, count, false);
}

static int look(void)
{
	memset(&own, 0, sizeof(own));
	return jvm_own_thread_read(w.vm.vs, FAR_END, &own);
}

static void the_word_of_all_threads(void **state)
{
	static const uint32_t releases[] = { 8, 17, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		begin_threads(releases[i], THREADS);
		assert_int_equal(look(), 0);
		assert_int_equal(own.self, SELF);
		assert_int_equal(own.stack_base, THREAD_STACK);
		assert_int_equal(own.stack_size, THREAD_STACK + 8);
		fake_vm_release(&w.vm);
	}
}

static void threads_that_do_not_agree(void **state)
{
	(void)state;
	begin_threads(17, THREADS);
	put_pthread(THREADS - 1, SELF, w.threads[0]);
	assert_int_equal(look(), -EAGAIN);
	assert_int_equal(own.self, 0);
	put_pthread(THREADS - 1, SELF, w.threads[THREADS - 1]);
	assert_int_equal(look(), 0);
	/* One that begins has none yet, and is not asked. */
	fake_put_u64(memory(), word_at(w.threads[1] + THREAD_OS) + OS_PTHREAD, 0);
	assert_int_equal(look(), 0);
	fake_put_u64(memory(), word_at(w.threads[2] + THREAD_OS) + OS_PTHREAD, 0);
	assert_int_equal(look(), -EAGAIN);
	fake_vm_release(&w.vm);
	begin_threads(17, 2);
	assert_int_equal(look(), -EAGAIN);
	fake_vm_release(&w.vm);
}

static void fields_that_are_missing(void **state)
{
	(void)state;
	begin(17);
	w.no_stack_size = true;
	open_vm();
	assert_int_equal(look(), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

static void what_is_compiled(void **state)
{
	struct wire_compiling compiling;

	(void)state;
	begin(17);
	open_vm();
	assert_int_equal(jvm_compiling_read(w.vm.vs, &compiling), 0);
	assert_int_equal(compiling.env, 2016);
	assert_int_equal(compiling.task, 112);
	assert_int_equal(compiling.method, 8);
	assert_int_equal(compiling.osr_bci, 24);
	fake_vm_release(&w.vm);
}

static void what_a_task_says(void **state)
{
	struct wire_compile_task task = { 0 };

	(void)state;
	begin(17);
	open_vm();
	assert_int_equal(jvm_compile_task_read(w.vm.vs, &task), 0);
	assert_int_equal(task.level, 40);
	assert_int_equal(task.id, 16);
	assert_int_equal(task.osr_bci, 24);
	fake_vm_release(&w.vm);
	begin(17);
	w.no_comp_level = true;
	open_vm();
	assert_int_equal(jvm_compile_task_read(w.vm.vs, &task), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

static int parking_of(uint32_t release)
{
	begin_threads(release, THREADS);
	memset(&parking, 0, sizeof(parking));
	return jvm_parking_read(w.vm.vs, &w.layout, FAR_END, &parking);
}

/* Its current thread, whose field it is; a handle or not, a reference of 8 bytes or of 4. */
static void what_threads_park_for(void **state)
{
	(void)state;
	assert_int_equal(parking_of(25), 0);
	assert_int_equal(parking.blocker.thread_object, 904);
	assert_int_equal(parking.blocker.field, BLOCKER);
	assert_true(parking.blocker.has_handle);
	assert_int_equal(parking.blocker.oop_bytes, 4);
	assert_true(parking.blocker.oop_base == FAKE_BASE);
	assert_int_equal(parking.blocker.oop_shift, NARROW_SHIFT);
	assert_int_equal(parking.own.self, SELF);
	assert_int_equal(parking.object.place, WIRE_KLASS_COMPACT);
	assert_true(parking.start_ns == 0);
	fake_vm_release(&w.vm);
	assert_int_equal(parking_of(8), 0);
	assert_false(parking.blocker.has_handle);
	assert_int_equal(parking.blocker.oop_bytes, 8);
	assert_int_equal(parking.object.place, WIRE_KLASS_WIDE);
	fake_vm_release(&w.vm);
}

static void who_has_no_virtual_threads(void **state)
{
	(void)state;
	/* Too few to tell of themselves. */
	begin_threads_of(17, 1, true);
	assert_int_equal(jvm_parking_read(w.vm.vs, &w.layout, FAR_END, &parking), -EAGAIN);
	fake_vm_release(&w.vm);
	begin_threads_of(17, THREADS, true);
	assert_int_equal(jvm_parking_read(w.vm.vs, &w.layout, FAR_END, &parking), 0);
	assert_int_equal(parking.blocker.thread_object, THREAD_OBJECT);
	fake_vm_release(&w.vm);
}

/* By place; by number from JDK 24 on; not at all, for a time, from 21 on. */
static void who_has_a_monitor(void **state)
{
	static const uint32_t releases[] = { 8, 17, 21, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		assert_int_equal(parking_of(releases[i]), 0);
		assert_int_equal(parking.owner.pending, THREAD_PENDING);
		assert_int_equal(parking.owner.monitor_owner, 64);
		assert_int_equal(parking.owner.os_thread, THREAD_OS);
		assert_int_equal(parking.owner.os_tid, OS_TID);
		assert_int_equal(parking.owner.has_ids, releases[i] >= 24);
		assert_int_equal(parking.owner.is_anonymous, releases[i] >= 21);
		fake_vm_release(&w.vm);
	}
}

static void who_has_a_lock(void **state)
{
	(void)state;
	assert_int_equal(parking_of(17), 0);
	assert_true(parking.owner.synchronizer == w.synchronizer_klass);
	assert_int_equal(parking.owner.supers, 56);
	assert_int_equal(parking.owner.exclusive, EXCLUSIVE);
	assert_int_equal(parking.owner.eetop, EETOP);
	assert_int_equal(parking.owner.thread_id, THREAD_ID);
	/* Its class is not there: what threads park for is known all the same. */
	fake_put_u64(memory(), w.classes + 101 * 8, 0);
	assert_int_equal(jvm_parking_read(w.vm.vs, &w.layout, FAR_END, &parking), 0);
	assert_true(parking.owner.synchronizer == 0);
	assert_int_equal(parking.blocker.field, BLOCKER);
	fake_vm_release(&w.vm);
}

static void begin_z(bool no_monitors)
{
	begin_threads(17, THREADS);
	fake_vm_release(&w.vm);
	put_flag("UseZGC", true);
	w.no_monitors = no_monitors;
	open_vm();
}

/* Objects move while Java runs: monitors do not. */
static void who_cannot_be_read(void **state)
{
	(void)state;
	begin_z(false);
	assert_int_equal(jvm_parking_read(w.vm.vs, &w.layout, FAR_END, &parking), 0);
	assert_int_equal(parking.blocker.field, 0);
	assert_true(parking.owner.synchronizer == 0);
	assert_int_equal(parking.owner.pending, THREAD_PENDING);
	assert_int_equal(parking.own.self, SELF);
	fake_vm_release(&w.vm);
	begin_z(true);
	assert_int_equal(jvm_parking_read(w.vm.vs, &w.layout, FAR_END, &parking), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(the_word_of_all_threads),
		cmocka_unit_test(threads_that_do_not_agree),
		cmocka_unit_test(fields_that_are_missing),
		cmocka_unit_test(what_is_compiled),
		cmocka_unit_test(what_a_task_says),
		cmocka_unit_test(what_threads_park_for),
		cmocka_unit_test(who_has_no_virtual_threads),
		cmocka_unit_test(who_has_a_monitor),
		cmocka_unit_test(who_has_a_lock),
		cmocka_unit_test(who_cannot_be_read),
	};

	return cmocka_run_group_tests_name("jvm_shown", tests, NULL, NULL);
}
