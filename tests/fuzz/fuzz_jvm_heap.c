/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is learnt of a hostile JVM's heap and threads beside their names: where virtual threads are and run, classes by their address, who has a
 * lock. The input's first byte chooses a fabricated JVM, the rest changes it (heap_changes.h).
 */
#include "heap_changes.h"

#include "base/clock.h"
#include "fake_virtual.h"
#include "jvm/continuation/jvm_virtual.h"
#include "jvm/continuation/jvm_yielding.h"
#include "jvm/names/klass_names.h"
#include "jvm/shown/lock_owner_find.h"

#define THREADS	       3
#define MAX_NAME_BYTES 65536
#define LOOK_NS	       NSEC_PER_SEC

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t monitor;

/* Each with a stack of its own, a number, a virtual thread, and the lock of one object. */
static void make_jvm(uint32_t release)
{
	uint64_t object, handle;

	begin_virtual(release);
	object = add_object(w.string_klass);
	handle = fake_add(memory(), &object, sizeof(object));
	for (uint32_t i = 0; i < THREADS; i++) {
		uint64_t current = add_thread(11 + (int32_t)i, 0);
		uint32_t top = THREAD_LOCKS + 24;

		fake_put_u64(memory(), w.threads[i] + THREAD_STACK, 0x7f1000000000 + (i << 20));
		fake_put_u64(memory(), w.threads[i] + THREAD_STACK + 8, 0x10000);
		fake_put_u64(memory(), w.threads[i] + THREAD_OWNER_ID, 100 + i);
		fake_put_u64(memory(), w.threads[i] + THREAD_VIRTUAL,
			     fake_add(memory(), &current, sizeof(current)));
		fake_put(memory(), w.threads[i] + THREAD_LOCKS, &top, sizeof(top));
		fake_put_u64(memory(), w.threads[i] + THREAD_LOCKS + 16, object);
	}
	monitor = fake_alloc(memory(), 80);
	fake_put_u64(memory(), monitor + MONITOR_OBJECT, handle);
	fake_put_u64(memory(), monitor + MONITOR_OWNER, WIRE_MONITOR_ANONYMOUS);
	list_threads();
}

static void find_owners(void)
{
	struct lock_owner_found found;
	uint64_t deadline_ns = clock_now_ns() + LOOK_NS;

	(void)lock_owner_find_place(w.vm.vs, w.threads[1], deadline_ns, &found);
	(void)lock_owner_find_place(w.vm.vs, 0x7f1000000000 + 0x1fff0, deadline_ns, &found);
	(void)lock_owner_find_number(w.vm.vs, 102, deadline_ns, &found);
	(void)lock_owner_find_anonymous(w.vm.vs, monitor, deadline_ns, &found);
}

static void name_classes(void)
{
	const uint64_t classes[] = { w.virtual_klass, w.synchronizer_klass, w.string_klass };
	struct klass_names *names = klass_names_new(vmstructs_memory(w.vm.vs), &w.layout);
	const char *name;

	for (size_t i = 0; i < 2 * ARRAY_SIZE(classes); i++)
		if (klass_names_read(names, classes[i % ARRAY_SIZE(classes)], &name) == 0)
			assert_true(name[0] && strlen(name) <= MAX_NAME_BYTES);
	klass_names_free(names);
}

static void learn(void)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(w.vm.vs));
	struct java_thread_layout threads;
	struct wire_yielding yielding;
	struct virtual_layout where;
	struct wire_virtual virtual;

	(void)jvm_virtual_read(w.vm.vs, &w.layout, pages, &virtual);
	(void)virtual_layout_read(w.vm.vs, &w.layout, &where);
	if (java_thread_layout_read(w.vm.vs, &w.layout, &threads) == 0)
		(void)jvm_yielding_read(w.vm.vs, &w.layout, &threads, &yielding);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t releases[] = { 17, 21, 25 };

	if (size < 3)
		return 0;
	make_jvm(releases[data[0] % ARRAY_SIZE(releases)]);
	changes_begin();
	changes_apply(data, size);
	learn();
	name_classes();
	find_owners();
	fake_vm_release(&w.vm);
	return 0;
}
