/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a hostile JVM's virtual threads are said to be, and what they run: the boot loader's classes, their names, fields and mirrors. The input's
 * first byte chooses a fabricated JVM, the rest changes it (heap_changes.h).
 */
#include "heap_changes.h"

#include "fake_boot_classes.h"
#include "jvm/continuation/jvm_yielding.h"
#include "jvm/continuation/virtual_layout.h"

#define CONTINUATION_CLASS 103

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void load_containers(void)
{
	static const struct field registry[] = { { "CONTAINER_REGISTRY", "Ljava/util/Set;", 116,
						   false } };
	static const struct field shared[] = { { "virtualThreads", "Ljava/util/Set;", 32, false } };

	fake_put_u64(memory(), load_root() + KLASS_MIRROR, 0x4711);
	fake_put_u64(memory(), load("jdk/internal/vm/ThreadContainers", registry, 1) + KLASS_MIRROR,
		     0x4712);
	load_executor();
	load("jdk/internal/vm/SharedThreadContainer", shared, 1);
}

/* One of those that the JVM knows by itself. */
static void add_continuation(void)
{
	static const struct field target[] = { { "target", "Ljava/lang/Runnable;", 20, false } };
	uint64_t klass = add_klass(target, 1);

	fake_put_u64(memory(), klass + KLASS_NAME, add_symbol("jdk/internal/vm/Continuation"));
	fake_put_u64(memory(), w.classes + CONTINUATION_CLASS * 8, klass);
}

static void make_jvm(uint32_t release)
{
	begin_classes(release);
	add_continuation();
	load_containers();
	load_sets();
	load("p/Other", NULL, 0);
	end_classes();
}

/* What is found is looked for in each object. */
static void check(const struct virtual_layout *l)
{
	const uint32_t offsets[] = { l->state, l->carrier, l->cont, l->map,	l->table,
				     l->hash,  l->key,	   l->next, l->referent };

	for (size_t i = 0; i < ARRAY_SIZE(offsets); i++)
		assert_true(offsets[i] && offsets[i] < UINT16_MAX);
	assert_true(l->elements >= 12 && l->elements <= 24);
	assert_true(l->threads.id && l->threads.has_coder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t releases[] = { 21, 25 };
	struct virtual_layout found;
	struct wire_yielding yielding;

	if (size < 3)
		return 0;
	make_jvm(releases[data[0] % ARRAY_SIZE(releases)]);
	changes_begin();
	open_classes();
	changes_apply(data, size);
	if (virtual_layout_read(w.vm.vs, &w.layout, &found) == 0) {
		check(&found);
		if (jvm_yielding_read(w.vm.vs, &w.layout, &found.threads, &yielding) == 0)
			assert_true(yielding.klass && yielding.target && yielding.id);
	}
	fake_vm_release(&w.vm);
	return 0;
}
