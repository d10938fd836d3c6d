/* SPDX-License-Identifier: Apache-2.0 */
/* What leads to a JVM's virtual threads, by the names of classes that the boot loader has. */
#include "test.h"

#include "fake_threads.h"
#include "jvm/continuation/virtual_layout.h"

#define KLASS_LOADER	80
#define KLASS_NEXT	88
#define KLASS_MIRROR	96
#define LOADER_CLASSES	56
#define CLASS_BYTES	104
#define REFERENCE_CLASS 102

static struct virtual_layout found;
static uint64_t last_class, object_klass;

/* A class of the boot loader, loaded after those that are there. */
static uint64_t load(const char *name, const struct field *fields, unsigned int count)
{
	uint64_t klass = add_klass(fields, count), more = fake_alloc(memory(), CLASS_BYTES);

	assert_true(more >= klass + 64);
	fake_put_u64(memory(), klass + KLASS_NAME, add_symbol(name));
	fake_put_u64(memory(), klass + KLASS_NEXT, last_class);
	last_class = klass;
	return klass;
}

static void load_sets(void)
{
	static const struct field map[] = {
		{ "table", "[Ljava/util/concurrent/ConcurrentHashMap$Node;", 52, false }
	};
	static const struct field view[] = { { "map", "Ljava/util/concurrent/ConcurrentHashMap;",
					       12, false } };
	static const struct field node[] = {
		{ "hash", "I", 12, false },
		{ "key", "Ljava/lang/Object;", 16, false },
		{ "next", "Ljava/util/concurrent/ConcurrentHashMap$Node;", 24, false }
	};

	load("java/util/concurrent/ConcurrentHashMap", map, ARRAY_SIZE(map));
	load("java/util/concurrent/ConcurrentHashMap$CollectionView", view, ARRAY_SIZE(view));
	load("java/util/concurrent/ConcurrentHashMap$Node", node, ARRAY_SIZE(node));
}

static uint64_t load_root(void)
{
	static const struct field fields[] = { { "VTHREADS", "Ljava/util/Set;", 112, false } };

	return load("jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer", fields,
		    1);
}

static uint64_t load_executor(void)
{
	static const struct field fields[] = { { "threads", "Ljava/util/Set;", 28, false } };

	return load("java/util/concurrent/ThreadPerTaskExecutor", fields, 1);
}

/* The JVM of RELEASE with its own classes; what was loaded comes with it. */
static void begin_classes(uint32_t release)
{
	static const struct field reference[] = { { "referent", "Ljava/lang/Object;", 12, false } };
	static const struct field thread[] = { { "state", "I", 60, false },
					       { "carrierThread", "Ljava/lang/Thread;", 44, false },
					       { "cont", "Ljdk/internal/vm/Continuation;", 52,
						 false } };

	begin(release);
	w.layout.wire.chunks.klass_mask = UINT32_MAX;
	last_class = 0;
	object_klass = add_klass(NULL, 0);
	(void)fake_alloc(memory(), CLASS_BYTES);
	fake_put_u64(memory(), w.classes, object_klass);
	w.virtual_klass = add_klass(thread, ARRAY_SIZE(thread));
	fake_put_u64(memory(), w.virtual_klass + KLASS_NAME, add_symbol("java/lang/VirtualThread"));
	fake_put_u64(memory(), w.classes + 100 * 8, w.virtual_klass);
	fake_put_u64(memory(), w.classes + REFERENCE_CLASS * 8,
		     add_klass(reference, ARRAY_SIZE(reference)));
	fake_put_u64(memory(), word_at(w.classes + REFERENCE_CLASS * 8) + KLASS_NAME,
		     add_symbol("java/lang/ref/Reference"));
}

static void open_classes(void)
{
	const struct fake_type types[] = { { "JVMFlag", FLAG_BYTES } };
	const struct fake_type ints[] = { { "FieldInfo::FieldFlags::_ff_initialized", 0 },
					  { "markWord::klass_shift", HEADER_SHIFT } };
	const struct fake_field fields[] = {
		{ "Klass", "_class_loader_data", KLASS_LOADER, 0 },
		{ "Klass", "_next_link", KLASS_NEXT, 0 },
		{ "Klass", "_java_mirror", KLASS_MIRROR, 0 },
		{ "ClassLoaderData", "_klasses", LOADER_CLASSES, 0 },
	};
	struct told told = { .count = 0 };

	tell_references(&told);
	tell_classes(&told);
	tell_threads(&told);
	tell(&told, fields, ARRAY_SIZE(fields));
	fake_vm_fill(&w.vm, told.fields, told.count, types, ARRAY_SIZE(types));
	fake_vm_add_pairs(&w.vm, VM_INTS, ints, ARRAY_SIZE(ints));
	assert_int_equal(vmstructs_open_memory(&memory()->memory, w.vm.symbols, &w.vm.vs), 0);
}

static int read_layout(void)
{
	uint64_t loader = fake_alloc(memory(), 64);

	fake_put_u64(memory(), object_klass + KLASS_LOADER, loader);
	fake_put_u64(memory(), loader + LOADER_CLASSES, last_class);
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
