/* SPDX-License-Identifier: Apache-2.0 */
/* Classes that the boot loader has, in the JVM of fake_threads.h: what leads to its virtual threads. Included once per test. */
#ifndef HOSTPROF_TESTS_FAKE_BOOT_CLASSES_H
#define HOSTPROF_TESTS_FAKE_BOOT_CLASSES_H

#include "fake_threads.h"

#define KLASS_LOADER	80
#define KLASS_NEXT	88
#define KLASS_MIRROR	96
#define LOADER_CLASSES	56
#define CLASS_BYTES	104
#define REFERENCE_CLASS 102

static uint64_t last_class, object_klass;

/* A class of the boot loader, loaded after those that are there. */
static inline uint64_t load(const char *name, const struct field *fields, unsigned int count)
{
	uint64_t klass = add_klass(fields, count), more = fake_alloc(memory(), CLASS_BYTES);

	assert_true(more >= klass + 64);
	fake_put_u64(memory(), klass + KLASS_NAME, add_symbol(name));
	fake_put_u64(memory(), klass + KLASS_NEXT, last_class);
	last_class = klass;
	return klass;
}

static inline void load_sets(void)
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

static inline uint64_t load_root(void)
{
	static const struct field fields[] = { { "VTHREADS", "Ljava/util/Set;", 112, false } };

	return load("jdk/internal/vm/ThreadContainers$RootContainer$TrackingRootContainer", fields,
		    1);
}

static inline uint64_t load_executor(void)
{
	static const struct field fields[] = { { "threads", "Ljava/util/Set;", 28, false } };

	return load("java/util/concurrent/ThreadPerTaskExecutor", fields, 1);
}

/* The JVM of RELEASE with its own classes; what was loaded comes with it. */
static inline void begin_classes(uint32_t release)
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

static inline void open_classes(void)
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

/* All of them are loaded. */
static inline void end_classes(void)
{
	uint64_t loader = fake_alloc(memory(), 64);

	fake_put_u64(memory(), object_klass + KLASS_LOADER, loader);
	fake_put_u64(memory(), loader + LOADER_CLASSES, last_class);
}

#endif
