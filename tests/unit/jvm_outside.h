/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM of a fabricated library that is read from outside, and how long that takes. Included once per test. */
#ifndef HOSTPROF_TESTS_JVM_OUTSIDE_H
#define HOSTPROF_TESTS_JVM_OUTSIDE_H

#include <sys/uio.h>

#include "fake_clock.h"
#include "fake_libjvm.h"
#include "jvm/jvm_private.h"

#define MS NSEC_PER_MSEC

struct world {
	struct fake_jvm *f;
	struct jvm *jvm;
};

static inline int setup_of(void **state, uint32_t release)
{
	const struct mapping libjvm = { .path = (char *)(uintptr_t) "/nowhere/libjvm.so" };
	struct world *w = calloc(1, sizeof(*w));

	fake_begin();
	w->f = fake_library_new(release);
	w->jvm = jvm_new((uint32_t)getpid(), &libjvm, NULL);
	w->jvm->id = 7;
	*state = w;
	return 0;
}

static inline int setup(void **state)
{
	return setup_of(state, 25);
}

static inline int setup_17(void **state)
{
	return setup_of(state, 17);
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	jvm_free(w->jvm);
	fake_library_hide();
	fake_jvm_free(w->f);
	free(w);
	return 0;
}

/* Reading the memory of a process takes this long. */
static uint64_t read_takes_ns;

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long count,
			 const struct iovec *remote, unsigned long remote_count,
			 unsigned long flags)
{
	fake_advance(read_takes_ns);
	return syscall(SYS_process_vm_readv, pid, local, count, remote, remote_count, flags);
}

#endif
