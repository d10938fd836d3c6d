/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each thread of a JVM notes its Thread* with pthread_setspecific() (os/posix/threadLocalStorage_posix.cpp, JDK 8 to 28: for
 * signal handlers), in memory that the C library has at a fixed distance from the thread pointer, which pthread_t is in glibc
 * and musl. That distance is where all of the threads that the JVM lists have their own address.
 */
#include "jvm/shown/jvm_own_thread.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/heap/java_thread_list.h"

/* Of glibc's struct pthread, the keys of its first block (nptl/descr.h); musl's lie above its own. */
#define SELF_BYTES 1536
#define SELF_WORDS (SELF_BYTES / 8)
/* What so many agree on is no chance. A JVM has five when it has started; each is three reads. */
#define LEAST_THREADS 3
#define MOST_THREADS  5

/* The words from the thread pointer on of the thread AT; false: it has none, or has gone. */
static bool read_words(const struct java_thread_layout *l, uint64_t pthread_at, uint64_t at,
		       uint64_t words[SELF_WORDS])
{
	uint64_t os, pthread;

	return vm_memory_read_u64(l->memory, at + l->thread_os, &os) == 0 &&
	       vm_memory_read_u64(l->memory, os + pthread_at, &pthread) == 0 &&
	       vm_memory_read(l->memory, pthread, words, SELF_BYTES) == 0;
}

/* The word at which all of LIST have their address; 0: none. */
static uint16_t find_word(const struct java_thread_layout *l, uint64_t pthread_at,
			  const struct java_thread_list *list)
{
	bool may[SELF_WORDS];
	uint64_t words[SELF_WORDS];
	unsigned int threads = 0;
	size_t at = 0;

	memset(may, true, sizeof(may));
	for (size_t i = 0; i < list->items.len && threads < MOST_THREADS; i++) {
		uint64_t thread = list->items.items[i].address;

		if (!read_words(l, pthread_at, thread, words))
			continue;
		threads++;
		for (size_t word = 0; word < SELF_WORDS; word++)
			may[word] = may[word] && words[word] == thread;
	}
	while (at < SELF_WORDS && !may[at])
		at++;
	return threads < LEAST_THREADS || at == SELF_WORDS ? 0 : (uint16_t)(at * 8);
}

int jvm_own_thread_read(const struct vmstructs *vs, uint64_t deadline_ns,
			struct wire_own_thread *ret_own)
{
	struct java_thread_list list = { .items = VEC_INIT };
	struct wire_own_thread own = { 0 };
	struct java_thread_layout l;
	uint64_t pthread_at;
	int r = vmstructs_near_offset(vs, "JavaThread", "_stack_base", &own.stack_base);

	if (!r)
		r = vmstructs_near_offset(vs, "JavaThread", "_stack_size", &own.stack_size);
	if (!r && vmstructs_field_offset(vs, "OSThread", "_pthread_id", &pthread_at) < 0)
		r = -EOPNOTSUPP;
	if (!r)
		r = java_thread_layout_read_list(vs, &l);
	if (!r)
		r = java_thread_list_read(&l, deadline_ns, &list);
	if (!r)
		own.self = find_word(&l, pthread_at, &list);
	java_thread_list_release(&list);
	if (r < 0)
		return r;
	if (!own.self)
		return -EAGAIN;
	*ret_own = own;
	return 0;
}
