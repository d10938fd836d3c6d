/* SPDX-License-Identifier: Apache-2.0 */
/* What leads to receivers' classes and to what is compiled, by the JVM's own description. */
#include "test.h"

#include "fake_threads.h"
#include "jvm/shown/jvm_compiling.h"
#include "jvm/shown/jvm_receiver.h"

#define THREADS	      4
#define PTHREAD_BYTES 1536
#define BLOB_NAME     40
/* What all have in common, what some have, and where a mark of their own lies. */
#define SELF	0x310
#define ARG	0x208
#define FAR_END (UINT64_MAX >> 1)

static struct wire_receiver receiver;
static struct wire_compiling compiling;
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
	assert_int_equal(receiver.place, WIRE_KLASS_WIDE);
	assert_int_equal(receiver.blob_name, BLOB_NAME);
	fake_vm_release(&w.vm);
	assert_int_equal(receiver_of(17), 0);
	assert_int_equal(receiver.place, WIRE_KLASS_NARROW);
	assert_true(receiver.base == FAKE_BASE);
	assert_int_equal(receiver.shift, CLASS_SHIFT);
	fake_vm_release(&w.vm);
	assert_int_equal(receiver_of(25), 0);
	assert_int_equal(receiver.place, WIRE_KLASS_COMPACT);
	assert_int_equal(receiver.mark_shift, HEADER_SHIFT);
	w.layout.blob_name = JVM_LAYOUT_ABSENT;
	assert_int_equal(jvm_receiver_read(w.vm.vs, &w.layout, &receiver), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

static void put_pthread(unsigned int which, unsigned int offset, uint64_t value)
{
	fake_put_u64(memory(), pthreads[which] + offset, value);
}

/* COUNT threads that have noted where they are, of a JVM of RELEASE. */
static void begin_threads(uint32_t release, unsigned int count)
{
	begin(release);
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

static int look(void)
{
	memset(&compiling, 0, sizeof(compiling));
	return jvm_compiling_read(w.vm.vs, FAR_END, &compiling);
}

static void the_word_of_all_threads(void **state)
{
	static const uint32_t releases[] = { 8, 17, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		begin_threads(releases[i], THREADS);
		assert_int_equal(look(), 0);
		assert_int_equal(compiling.self, SELF);
		assert_int_equal(compiling.stack_base, 824);
		assert_int_equal(compiling.stack_size, 832);
		assert_int_equal(compiling.env, 2016);
		assert_int_equal(compiling.task, 112);
		assert_int_equal(compiling.method, 8);
		assert_int_equal(compiling.osr_bci, 24);
		fake_vm_release(&w.vm);
	}
}

static void threads_that_do_not_agree(void **state)
{
	(void)state;
	begin_threads(17, THREADS);
	put_pthread(THREADS - 1, SELF, w.threads[0]);
	assert_int_equal(look(), -EAGAIN);
	assert_int_equal(compiling.self, 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(the_word_of_all_threads),
		cmocka_unit_test(threads_that_do_not_agree),
		cmocka_unit_test(fields_that_are_missing),
	};

	return cmocka_run_group_tests_name("jvm_shown", tests, NULL, NULL);
}
