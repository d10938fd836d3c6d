/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A walk that ended for want of tables is handed to userspace: registers and a copy of the stack,
 * in a record just before the sample's own.
 */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_MISS_H
#define HOSTPROF_BPF_SAMPLE_MISS_MISS_H

#include "native/row.h"
#include "sample/emit.h"
#include "sample/miss/miss_beyond.h"
#include "sample/miss/miss_copy.h"
#include "sample/miss/miss_heap.h"
#include "sample/miss/miss_left.h"
#include "sample/miss/miss_unpacking.h"
#include "sample/space.h"
#include "unwind/find.h"

static __always_inline void miss_fill_regs(struct wire_miss *miss, const struct unwind_cursor *c)
{
	miss->regs_kept = c->regs_kept;
	if (c->regs_kept)
		__builtin_memcpy(miss->regs, c->leaf_regs, sizeof(miss->regs));
	else
		__builtin_memset(miss->regs, 0, sizeof(miss->regs));
	miss->regs[DWARF_RBX] = c->rbx;
	miss->regs[DWARF_RBP] = c->fp;
	miss->regs[DWARF_RSP] = c->sp;
	miss->regs[DWARF_R13] = c->r13;
	miss->regs[DWARF_R15] = c->r15;
}

/* The thread's anchor and continuation as they are now; userspace walks later. */
static __always_inline void miss_fill_java(struct wire_miss *miss, struct unwind_cursor *c)
{
	miss->jvm = c->jvm_serial;
	miss->thread = 0;
	miss->cont_entry = 0;
	miss->unpacking = WIRE_MISS_UNKNOWN;
	miss->anchor[0] = miss->anchor[1] = miss->anchor[2] = 0;
	if (!c->jvm.serial)
		return;
	miss->thread = tables_thread(c);
	if (miss->thread && c->jvm.thread_cont_entry != WIRE_JVM_ABSENT)
		memory_read(NULL, &miss->cont_entry, 8, miss->thread + c->jvm.thread_cont_entry);
	if (miss->thread && c->jvm.thread_anchor != WIRE_JVM_ABSENT) {
		wire_u64 at = miss->thread + c->jvm.thread_anchor;

		memory_read(NULL, &miss->anchor[0], 8, at + c->jvm.anchor_sp);
		memory_read(NULL, &miss->anchor[1], 8, at + c->jvm.anchor_pc);
		memory_read(NULL, &miss->anchor[2], 8, at + c->jvm.anchor_fp);
	}
}

MISS_ALONE miss_fill_walk(struct unwind_cursor *c, wire_u32 buffer)
{
	struct miss_buffer *b = miss_buffer_at(buffer);
	struct wire_miss *miss;

	if (!b || !c)
		return 0;
	miss = &b->miss;
	miss->leaf = c->leaf;
	miss->exact = c->exact;
	miss->linked = c->linked;
	miss->pc = c->pc;
	miss->at_entry = c->at_entry;
	miss->guessed = c->guessed;
	miss->stack_top = c->stack_top;
	miss->tls = c->tls;
	miss->trampoline = c->trampoline;
	miss_fill_regs(miss, c);
	miss_fill_java(miss, c);
	miss->code_bytes = 0;
	if (c->leaf && !bpf_probe_read_user(miss->code, WIRE_MISS_CODE_BYTES,
					    (const void *)(c->pc - WIRE_MISS_CODE_BEHIND)))
		miss->code_bytes = WIRE_MISS_CODE_BYTES;
	miss->heap_bytes = miss->heap_count = miss->beyond_bytes = miss->beyond_count = 0;
	return 0;
}

static __always_inline void miss_fill(struct miss_buffer *b, wire_u32 buffer, struct scratch *s,
				      struct task_struct *task)
{
	struct wire_miss *miss = &b->miss;

	miss->kind = WIRE_MISS;
	miss->time_ns = s->sample.time_ns;
	miss->tgid = s->sample.tgid;
	miss->tid = s->sample.tid;
	miss->exec_pages = BPF_CORE_READ(task, mm, exec_vm);
	miss_fill_walk(&s->cursor, buffer);
}

/* The last quarter of a ring is for samples: one whose stack is cut is more than none. */
static __always_inline bool miss_has_room(void *ring)
{
	wire_u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return used < bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4 * 3;
}

static __always_inline int miss_send(struct miss_buffer *b, wire_u32 buffer, struct scratch *s,
				     struct task_struct *task, void *ring)
{
	wire_u64 until_ns = bpf_ktime_get_ns() + settings.budget_ns, most = miss_most(ring);
	wire_u32 bytes;

	miss_fill(b, buffer, s, task);
	miss_copy_stack(&s->cursor, buffer, most, until_ns);
	miss_undo_returns(b, task);
	if (s->cursor.jvm.serial) {
		miss_copy_unpacking(&s->cursor, buffer);
		miss_copy_heap(&s->cursor, buffer);
	} else {
		miss_copy_left(&s->cursor, buffer);
	}
	miss_copy_beyond(buffer, most);
	bytes = b->miss.copy_bytes + b->miss.heap_bytes + b->miss.beyond_bytes;
	UNWIND_OPAQUE(bytes);
	if (bytes > miss_copy_bytes + WIRE_MISS_HEAP_BYTES)
		return -1;
	bytes += sizeof(b->miss);
	b->miss.size = bytes;
	/* The sample that follows wakes the reader. */
	return bpf_ringbuf_output(ring, &b->miss, bytes, BPF_RB_NO_WAKEUP);
}

/* Of who leaves its cpu, or who wakes another thread. */
static __always_inline bool miss_is_of_wait(const struct wire_sample *sample)
{
	return sample->flags & WIRE_SAMPLE_OPEN || sample->waker;
}

static __always_inline struct bucket *miss_bucket(struct cpu_state *state,
						  const struct wire_sample *sample)
{
	return miss_is_of_wait(sample) ? &state->offcpu_misses : &state->misses;
}

static __always_inline bool miss_has_token(struct cpu_state *state,
					   const struct wire_sample *sample)
{
	wire_u64 burst = miss_is_of_wait(sample) ? BUCKET_BURST_OFFCPU : BUCKET_BURST;

	return bucket_take(miss_bucket(state, sample), burst, sample->time_ns);
}

/* Not inline: its words are not on the stack below the walk. */
static __noinline int miss_try(struct scratch *s, struct cpu_state *state, struct task_struct *task)
{
	wire_u32 cpu = s->sample.cpu, buffer = cpu % miss_buffer_count;
	struct miss_buffer *b = miss_buffer_at(buffer);
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	int r;

	/*
	 * Busy: this sample interrupted another one at just this, that one's thread left the cpu, or
	 * another cpu has the same buffer.
	 */
	if (!ring || !b || !miss_has_room(ring) || !miss_has_token(state, &s->sample))
		return -1;
	if (__sync_lock_test_and_set(&b->busy, 1))
		return -1;
	b->begin_ns = bpf_ktime_get_ns();
	r = miss_send(b, buffer, s, task, ring);
	counter_add(WIRE_COUNTER_MISSES_BYTES, b->miss.copy_bytes);
	bucket_pay(miss_bucket(state, &s->sample), bpf_ktime_get_ns() - b->begin_ns);
	counter_add(WIRE_COUNTER_MISSES_NS, bpf_ktime_get_ns() - b->begin_ns);
	*(volatile wire_u32 *)&b->busy = 0;
	return r;
}

/* Ends a walk that missed; the sample says whether its rest is on the way. */
static __always_inline void miss_emit(struct scratch *s, struct cpu_state *state,
				      struct task_struct *task)
{
	struct unwind_cursor *c = &s->cursor;

	if (miss_try(s, state, task)) {
		counter_add(WIRE_COUNTER_MISSES_DROPPED, 1);
		return;
	}
	counter_add(WIRE_COUNTER_MISSES, 1);
	s->sample.flags |= WIRE_SAMPLE_RESUMED;
	if (c->serial && c->reason == UNWIND_NO_ROWS && !find_in_range(c, find_address(c)))
		space_count_stray(s);
}

#endif
