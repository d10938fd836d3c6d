/* SPDX-License-Identifier: Apache-2.0 */
/* What leads to a JVM's virtual threads, by the names of classes that the boot loader has. */
#include "test.h"

#include "fake_boot_classes.h"
#include "jvm/continuation/virtual_layout.h"

static struct virtual_layout found;

static int read_layout(void)
{
	end_classes();
	open_classes();
	memset(&found, 0, sizeof(found));
	return virtual_layout_read(w.vm.vs, &w.layout, &found);
}

static void all_of_it(void **state)
{
	(void)state;
	for (uint32_t release = 21; release <= 25; release += 4) {
		uint64_t root, executor;

		begin_classes(release);
		root = load_root();
		load_sets();
		load("p/Other", NULL, 0);
		executor = load_executor();
		fake_put_u64(memory(), root + KLASS_MIRROR, 0x4711);
		assert_int_equal(read_layout(), 0);
		assert_int_equal(found.state, 60);
		assert_int_equal(found.carrier, 44);
		assert_int_equal(found.cont, 52);
		assert_int_equal(found.map, 12);
		assert_int_equal(found.table, 52);
		assert_int_equal(found.hash, 12);
		assert_int_equal(found.key, 16);
		assert_int_equal(found.next, 24);
		assert_int_equal(found.referent, 12);
		assert_int_equal(found.elements, release == 21 ? 16 : 12);
		assert_true(found.of_threads.mirror_at == 0x4711);
		assert_int_equal(found.of_threads.offset, 112);
		assert_int_equal(found.containers[VIRTUAL_EXECUTOR].set, 28);
		assert_true(found.containers[VIRTUAL_EXECUTOR].word.value ==
			    ((executor - FAKE_BASE) >> CLASS_SHIFT)
				    << (w.compact ? HEADER_SHIFT : 0));
		/* Nobody has made these. */
		assert_true(found.of_containers.mirror_at == 0);
		assert_true(found.containers[VIRTUAL_SHARED].word.mask == 0);
		fake_vm_release(&w.vm);
	}
}

/* Whole references lie behind an array's length where 8 bytes are aligned. */
static void elements(void **state)
{
	(void)state;
	begin_classes(25);
	load_sets();
	put_flag("UseCompressedOops", 0);
	fake_put(memory(), word_at(w.flag_array), &(uint8_t){ 0 }, 1);
	assert_int_equal(read_layout(), 0);
	assert_false(found.threads.objects.narrow_oops);
	assert_int_equal(found.elements, 16);
	fake_vm_release(&w.vm);
}

static void what_is_not_there(void **state)
{
	(void)state;
	/* The JVM is starting. */
	begin_classes(21);
	assert_int_equal(read_layout(), -EAGAIN);
	fake_vm_release(&w.vm);
	/* Its heap is not read. */
	begin_classes(21);
	load_sets();
	w.layout.wire.chunks.klass_mask = 0;
	assert_int_equal(read_layout(), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
	/* Other fields than those that are known. */
	begin_classes(21);
	load_sets();
	load("jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer", NULL, 0);
	assert_int_equal(read_layout(), -EOPNOTSUPP);
	fake_vm_release(&w.vm);
	/* Classes without an end, and one that is nowhere. */
	begin_classes(21);
	load_sets();
	fake_put_u64(memory(), last_class + KLASS_NEXT, last_class);
	assert_int_equal(read_layout(), -E2BIG);
	fake_vm_release(&w.vm);
	begin_classes(21);
	fake_put_u64(memory(), load("p/Other", NULL, 0) + KLASS_NEXT, FAKE_BASE + 2 * FAKE_BYTES);
	assert_int_equal(read_layout(), -EFAULT);
	fake_vm_release(&w.vm);
	begin_classes(21);
	fake_put_u64(memory(), load("p/Other", NULL, 0) + KLASS_NEXT, last_class + 4);
	assert_int_equal(read_layout(), -EBADMSG);
	fake_vm_release(&w.vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(elements),
		cmocka_unit_test(what_is_not_there),
	};

	return cmocka_run_group_tests_name("virtual_layout", tests, NULL, NULL);
}
