/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tid of a Java thread: JavaThread -> OSThread -> _thread_id. Source:
 * src/hotspot/share/runtime/{thread,javaThread,osThread}.hpp; _osthread is a JavaThread's in the
 * tables of JDK 8 to 21 and a Thread's from 25 on.
 */
#include "jvm/jvm_private.h"
#include "jvm/layout/vm_memory.h"

static bool find_offsets(const struct vmstructs *vs, uint64_t *ret_osthread, uint64_t *ret_tid)
{
	if (vmstructs_field_offset(vs, "JavaThread", "_osthread", ret_osthread) &&
	    vmstructs_field_offset(vs, "Thread", "_osthread", ret_osthread))
		return false;
	return !vmstructs_field_offset(vs, "OSThread", "_thread_id", ret_tid);
}

/* In the JVM's pid namespace; 0 when it cannot be told. */
static uint32_t read_tid(const struct vmstructs *vs, uint64_t java_thread)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t osthread_at, tid_at, osthread;
	int32_t tid;

	if (!find_offsets(vs, &osthread_at, &tid_at) ||
	    vm_memory_read_u64(memory, java_thread + osthread_at, &osthread) ||
	    vm_memory_read(memory, osthread + tid_at, &tid, sizeof(tid)))
		return 0;
	return tid > 0 ? (uint32_t)tid : 0;
}

void jvm_take_event(const struct codemap_event *event, void *data)
{
	struct jvm *jvm = data;
	struct codemap_event thread;

	if (event->kind == CODEMAP_GONE || event->kind == CODEMAP_LIVE ||
	    event->kind == CODEMAP_LIVE_END) {
		jvm_live_take(jvm, event);
		return;
	}
	if (event->kind != CODEMAP_THREAD_SEEN) {
		codemap_store_add(jvm->store, event);
		return;
	}
	thread = *event;
	thread.kind = CODEMAP_THREAD;
	thread.thread.tid = jvm->vs ? read_tid(jvm->vs, event->thread.java_thread) : 0;
	if (thread.thread.tid)
		codemap_store_add(jvm->store, &thread);
}
