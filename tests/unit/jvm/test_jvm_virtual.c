/* SPDX-License-Identifier: Apache-2.0 */
/* What leads to a virtual thread's name, by the JVM's own description. */
#include "test.h"

#include "fake_threads.h"
#include "jvm/continuation/jvm_virtual.h"

static struct wire_virtual found;

static int read_it(void)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(w.vm.vs));

	return jvm_virtual_read(w.vm.vs, &w.layout, pages, &found);
}

/* Those of RELEASE, whose chunks are known. */
static int read_of(uint32_t release)
{
	begin(release);
	w.layout.wire.chunks.klass_mask = UINT32_MAX;
	open_vm();
	return read_it();
}

static int read_again(void)
{
	vmstructs_close(w.vm.vs);
	open_vm();
	memset(&found, 7, sizeof(found));
	return read_it();
}

static void expect_not(int error)
{
	static const struct wire_virtual none;

	assert_int_equal(read_again(), error);
	assert_memory_equal(&found, &none, sizeof(none));
}

static void the_fields(void **state)
{
	(void)state;
	assert_int_equal(read_of(21), 0);
	assert_true(found.pause_active == w.heap + GC_ACTIVE);
	assert_true(found.pause_count == w.heap + GC_COUNT);
	assert_true(found.klass == (w.virtual_klass - FAKE_BASE) >> CLASS_SHIFT);
	assert_true(found.string_klass == (w.string_klass - FAKE_BASE) >> CLASS_SHIFT);
	assert_int_equal(found.vthread, THREAD_VIRTUAL);
	assert_int_equal(found.stack_base, THREAD_STACK);
	assert_int_equal(found.stack_size, THREAD_STACK + 8);
	assert_int_equal(found.id, THREAD_ID);
	assert_int_equal(found.name, NAME);
	assert_int_equal(found.value, VALUE);
	assert_int_equal(found.coder, CODER);
	assert_int_equal(found.array_len, 12);
	assert_int_equal(found.array_data, 16);
	fake_vm_release(&w.vm);
}

static void compact_headers(void **state)
{
	(void)state;
	assert_int_equal(read_of(25), 0);
	assert_true(found.klass == ((w.virtual_klass - FAKE_BASE) >> CLASS_SHIFT) << HEADER_SHIFT);
	assert_int_equal(found.array_len, 8);
	assert_int_equal(found.array_data, 12);
	fake_vm_release(&w.vm);
}

static void what_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(read_of(21), 0);
	/* Its class is there when the JVM has started. */
	fake_put_u64(memory(), w.classes + 100 * 8, w.string_klass);
	expect_not(-EAGAIN);
	fake_put_u64(memory(), w.classes + 100 * 8, w.virtual_klass);
	/* Another one's name begins alike, or is as long. */
	fake_put_u64(memory(), w.virtual_klass + KLASS_NAME, add_symbol("java/lang/VirtualThreaD"));
	expect_not(-EAGAIN);
	fake_put_u64(memory(), w.virtual_klass + KLASS_NAME,
		     add_symbol("java/lang/VirtualThreads"));
	expect_not(-EAGAIN);
	fake_put_u64(memory(), w.virtual_klass + KLASS_NAME, add_symbol("java/lang/VirtualThread"));
	assert_int_equal(read_again(), 0);
	w.layout.wire.chunks.klass_mask = 0;
	expect_not(-EOPNOTSUPP);
	w.layout.wire.chunks.klass_mask = UINT32_MAX;
	w.no_stack_size = true;
	expect_not(-EOPNOTSUPP);
	w.no_stack_size = false;
	put_flag("UseShenandoahGC", 1);
	expect_not(-EOPNOTSUPP);
	fake_vm_release(&w.vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_fields),
		cmocka_unit_test(compact_headers),
		cmocka_unit_test(what_is_not_there),
	};

	return cmocka_run_group_tests_name("jvm_virtual", tests, NULL, NULL);
}
