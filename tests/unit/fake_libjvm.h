/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In place of jvm/layout/libjvm.c and of its file's symbols: a library that exports the VMStructs of a
 * fabricated JVM, whose memory is put into this process, so that it is read as a process's is.
 */
#ifndef HOSTPROF_TESTS_FAKE_LIBJVM_H
#define HOSTPROF_TESTS_FAKE_LIBJVM_H

/* Where nothing is mapped unasked. */
#define FAKE_BASE 0x200000000000ULL

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jvm/layout/libjvm.h"
#include "jvm_fixture.h"

#define BARRIER_SYMBOL "_ZN12StubRoutines19_cont_returnBarrierE"
#define ENTER_SYMBOL   "_ZN17ContinuationEntry10_return_pcE"

static struct fake_library {
	const struct fake_jvm *jvm; /* whose VMStructs it exports */
	uint64_t bias;
	uint64_t inode;		 /* of its file */
	int answer;		 /* of opening it */
	const char *missing;	 /* a symbol that it does not have */
	uint64_t barrier, enter; /* where its symbols of these names lie; 0: it has none */
	/* Before the symbols are looked up for the TURN-th time. */
	void (*before)(unsigned int turn);
	unsigned int opened, closed, turns;
} fake_library;

int libjvm_open(uint32_t pid, const struct mapping *mapping, struct libjvm *ret_lib,
		struct err *err)
{
	(void)pid, (void)mapping;
	if (fake_library.answer)
		return err_set(err, fake_library.answer, "answer %d", -fake_library.answer);
	fake_library.opened++;
	ret_lib->bias = fake_library.bias;
	ret_lib->id = (struct file_id){ .major = 8, .inode = fake_library.inode };
	return 0;
}

void libjvm_close(struct libjvm *lib)
{
	(void)lib;
	fake_library.closed++;
}

bool libjvm_is_path(const char *path, size_t len)
{
	(void)path, (void)len;
	return true;
}

static int fake_symbol(const char *name, uint64_t *ret_address)
{
	const struct fake_library *lib = &fake_library;

	if (!strcmp(name, vmtables_symbol_names[0]) && ++fake_library.turns && lib->before)
		lib->before(lib->turns);
	if (lib->missing && !strcmp(name, lib->missing))
		return -ENODATA;
	if (!strcmp(name, BARRIER_SYMBOL) || !strcmp(name, ENTER_SYMBOL)) {
		*ret_address = !strcmp(name, ENTER_SYMBOL) ? lib->enter : lib->barrier;
		return *ret_address ? 0 : -ENODATA;
	}
	for (unsigned int i = 0; i < VM_SYMBOL_COUNT; i++)
		if (!strcmp(name, vmtables_symbol_names[i])) {
			*ret_address = lib->jvm->vm.symbols[i] - lib->bias;
			return 0;
		}
	return -ENODATA;
}

int libjvm_find_symbols(const struct libjvm *lib, const char *const *names, unsigned int count,
			uint64_t *ret_addresses)
{
	(void)lib;
	for (unsigned int i = 0; i < count; i++)
		if (fake_symbol(names[i], &ret_addresses[i]) < 0)
			ret_addresses[i] = READER_NOT_THERE;
	return 0;
}

/* What F has in its memory is this process's, until it is shown anew. */
static inline void fake_library_show(const struct fake_jvm *f)
{
	void *at = mmap((void *)(uintptr_t)FAKE_BASE, FAKE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	assert_true((uintptr_t)at == FAKE_BASE);
	memcpy(at, f->vm.fake.bytes, FAKE_BYTES);
	fake_library.jvm = f;
}

static inline void fake_library_hide(void)
{
	munmap((void *)(uintptr_t)FAKE_BASE, FAKE_BYTES);
	memset(&fake_library, 0, sizeof(fake_library));
}

/* A JVM of RELEASE in a library of its own. */
static inline struct fake_jvm *fake_library_new(uint32_t release)
{
	struct fake_jvm *f = fake_jvm_fill(release, false);

	fake_library_hide();
	fake_library.inode = 1;
	fake_library_show(f);
	return f;
}

/* A change of the JVM that hostprof can see. */
static inline void fake_library_put(struct fake_jvm *f, uint64_t address, uint64_t value)
{
	fake_put_u64(&f->vm.fake, address, value);
	memcpy((void *)(uintptr_t)address, &value, sizeof(value));
}

#endif
