/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * A walk that ended for want of tables is handed to userspace: registers and a copy of the stack,
 * in a record just before the sample's own.
 */
#ifndef HOSTPROF_BPF_SAMPLE_MISS_H
#define HOSTPROF_BPF_SAMPLE_MISS_H

#include "hotspot/frozen.h"
#include "native/probed.h"
#include "native/row.h"
#include "sample/emit.h"
#include "sample/space.h"
#include "sample/user_regs.h"
#include "unwind/find.h"

/* What is tried when the ring has no room for more: the frames of most stacks. */
#define MISS_SMALL_COPY 8192
/* So much is copied of a stack whose end is not known. */
#define MISS_BLIND_COPY 65536
/* At the very top a walk wants at most the return address of _start's caller. */
#define MISS_TOP_BYTES 64
/* More than this is the end of the stack, and no buffer on it. */
#define MISS_MAX_HOLE 131072
/*
 * A copy has a time budget of its own, as long as its walk's, and takes as long again to be put into the ring. What the walk
 * has left would be little of a deep stack, whose copy is long. The clock is asked every 32 KiB, and not for the first two: these
 * hold most stacks, and userspace reads on where a copy ends (unwind/stack_rest.c), if the thread has not gone on by then.
 */
#define MISS_STRIDE	 8
#define MISS_LEAST_TURNS 16
/* Pages that WIRE_MISS_MAX_COPY bytes lie in, and the one below the stack pointer. */
#define MISS_COPY_TURNS (WIRE_MISS_MAX_COPY / WIRE_PAGE_BYTES + 2)

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"

struct miss_buffer {
	wire_u32 busy;
	wire_u32 reached;      /* bytes of the copy that were tried */
	wire_u64 begin_ns;     /* of this one; here, as the stack is short */
	struct wire_miss miss; /* its copy[] is the next member */
	/*
	 * It holds miss_copy_bytes, and a page more, so that the verifier need not know that a
	 * piece ends where the copy does; and what is copied of the heap.
	 */
	wire_u8 room[WIRE_MISS_MAX_COPY + WIRE_MISS_HEAP_BYTES + WIRE_PAGE_BYTES];
};

#pragma clang diagnostic pop

/*
 * One for each cpu that was online at the start, as most machines could have many more than they
 * have; one that came later shares. A per-cpu map's values end at 32 KiB. Loaded with room for
 * miss_copy_bytes only.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* miss_buffer_count */
	__uint(key_size, sizeof(wire_u32));
	__uint(value_size, sizeof(struct miss_buffer));
} miss_buffers SEC(".maps");

/* Where a copy ends when AT may be the end of the stack that SP points into. */
static __always_inline wire_u64 miss_nearer(wire_u64 top, wire_u64 at, wire_u64 sp)
{
	wire_u64 most = sp - WIRE_MISS_BELOW + miss_copy_bytes;

	if (at <= sp || at - sp > MAIN_STACK_BYTES)
		return top;
	return at < most ? at : most;
}

/*
 * Where the copy may end. The main thread's stack ends at mm->start_stack (fs/binfmt_elf.c: where
 * argc is); that of a thread of the C library at its control block (glibc's allocatestack.c and
 * musl's pthread_create.c put it at the top), to which %fs points. What lies above other stacks
 * (a goroutine's) is not theirs.
 */
static __always_inline wire_u64 miss_top(struct task_struct *task, wire_u64 sp)
{
	wire_u64 top = sp - WIRE_MISS_BELOW + MISS_BLIND_COPY;

	top = miss_nearer(top, BPF_CORE_READ(task, mm, start_stack) + MISS_TOP_BYTES, sp);
	return miss_nearer(top, task->thread.fsbase, sp);
}

/*
 * What stands for a page of the copy that is not there: a buffer on the stack that was not written
 * yet. As a return address or a register it ends a walk as a bad one.
 */
static const wire_u8 miss_hole[WIRE_PAGE_BYTES] = { [0 ... WIRE_PAGE_BYTES - 1] = 0xff };

struct miss_copy {
	struct miss_buffer *b;
	wire_u64 top;
	wire_u64 until_ns;
};

static __always_inline bool miss_is_late(wire_u32 turn, const struct miss_copy *copy)
{
	if (turn < MISS_LEAST_TURNS || turn % MISS_STRIDE || bpf_ktime_get_ns() <= copy->until_ns)
		return false;
	counter_add(WIRE_COUNTER_MISSES_CUT, 1);
	return true;
}

/*
 * Copy one page's piece of what is left up to top. How far it came is in the buffer, as the
 * verifier would follow a variable through every turn.
 */
static long miss_copy_turn(wire_u32 turn, struct miss_copy *copy)
{
	struct miss_buffer *b = copy->b;
	wire_u32 reached = b->reached, piece;
	wire_u64 from = b->miss.copy_at + reached;

	if (from >= copy->top || reached >= miss_copy_bytes || miss_is_late(turn, copy))
		return 1;
	piece = WIRE_PAGE_BYTES - (from & (WIRE_PAGE_BYTES - 1));
	if (piece > copy->top - from)
		piece = copy->top - from;
	UNWIND_OPAQUE(piece);
	if (piece > WIRE_PAGE_BYTES)
		return 1;
	if (!bpf_probe_read_user(b->room + reached, piece, (const void *)from)) {
		b->miss.copy_bytes = b->reached = reached + piece;
		return 0;
	}
	/*
	 * The first pages may be missing: the one below the stack pointer where a stack's mapping
	 * begins, and others while the thread is in the page fault that brings them.
	 */
	if (!reached) {
		b->miss.copy_at += piece;
		return 0;
	}
	bpf_probe_read_kernel(b->room + reached, piece, miss_hole);
	b->reached = reached + piece;
	return b->reached - b->miss.copy_bytes > MISS_MAX_HOLE;
}

/* The copy ends with a page that is there. */
static __always_inline void miss_copy_stack(struct miss_buffer *b, wire_u64 sp, wire_u64 top,
					    wire_u64 until_ns)
{
	struct miss_copy copy = { .b = b, .top = top, .until_ns = until_ns };

	b->miss.copy_at = sp - WIRE_MISS_BELOW;
	b->miss.copy_bytes = 0;
	b->reached = 0;
	bpf_loop(MISS_COPY_TURNS, miss_copy_turn, &copy, 0);
}

struct miss_returns {
	struct miss_buffer *b;
	struct return_instance *entered;
};

static long miss_undo_turn(wire_u32 turn, struct miss_returns *returns)
{
	struct return_instance *entered = returns->entered;
	wire_u64 at, address;

	if (!entered)
		return 1;
	at = BPF_CORE_READ(entered, stack) - returns->b->miss.copy_at;
	address = BPF_CORE_READ(entered, orig_ret_vaddr);
	returns->entered = BPF_CORE_READ(entered, next);
	UNWIND_OPAQUE(at);
	if (at < miss_copy_bytes - sizeof(address))
		__builtin_memcpy(returns->b->room + at, &address, sizeof(address));
	return 0;
}

/* Puts true return addresses into the copy, in place of return probes' (native/probed.h). */
static __always_inline void miss_undo_returns(struct miss_buffer *b, struct task_struct *task)
{
	struct miss_returns returns = { .b = b, .entered = probed_first_return(task) };

	if (returns.entered)
		bpf_loop(PROBED_MAX_RETURNS, miss_undo_turn, &returns, 0);
}

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

static __always_inline void miss_fill(struct wire_miss *miss, struct scratch *s,
				      struct task_struct *task)
{
	struct unwind_cursor *c = &s->cursor;

	miss->kind = WIRE_MISS;
	miss->leaf = c->leaf;
	miss->exact = c->exact;
	miss->linked = c->linked;
	miss->time_ns = s->sample.time_ns;
	miss->tgid = s->sample.tgid;
	miss->tid = s->sample.tid;
	miss->pc = c->pc;
	miss->at_entry = c->at_entry;
	miss->guessed = c->guessed;
	miss->stack_top = c->stack_top;
	miss->trampoline = c->trampoline;
	miss_fill_regs(miss, c);
	miss_fill_java(miss, c);
	miss->exec_pages = BPF_CORE_READ(task, mm, exec_vm);
	miss->code_bytes = 0;
	if (c->leaf && !bpf_probe_read_user(miss->code, WIRE_MISS_CODE_BYTES,
					    (const void *)(c->pc - WIRE_MISS_CODE_BEHIND)))
		miss->code_bytes = WIRE_MISS_CODE_BYTES;
}

/* A large copy takes at most the first half of the ring: it is there for samples. */
static __always_inline wire_u64 miss_bound(void *ring, wire_u64 sp, wire_u64 top)
{
	wire_u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	wire_u64 half = bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 2;
	wire_u64 from = sp - WIRE_MISS_BELOW, room = MISS_SMALL_COPY;

	if (half > used + room)
		room = half - used;
	return top - from > room ? from + room : top;
}

/* --- a virtual thread's frames in the heap ---------------------------------------------------- */

/* One piece is no longer: a hundred interpreted frames. */
#define MISS_HEAP_PIECE 16384
/* Of a Continuation's fields. */
#define MISS_CONT_BYTES 128

/* Behind what is there of the stack and the heap. False: it cannot be read, or is too long. */
static __noinline bool miss_add_piece(struct miss_buffer *b, wire_u64 at, wire_u32 bytes)
{
	wire_u32 used = b->miss.heap_bytes, index = b->miss.heap_count, from = b->miss.copy_bytes;

	UNWIND_OPAQUE(used);
	UNWIND_OPAQUE(index);
	UNWIND_OPAQUE(from);
	UNWIND_OPAQUE(bytes);
	if (from > miss_copy_bytes || index >= WIRE_MISS_HEAP_PIECES || bytes > MISS_HEAP_PIECE ||
	    used > WIRE_MISS_HEAP_BYTES - MISS_HEAP_PIECE ||
	    bpf_probe_read_user(b->room + from + used, bytes, (const void *)at))
		return false;
	b->miss.heap[index].at = at;
	b->miss.heap[index].bytes = bytes;
	b->miss.heap[index].pad = 0;
	b->miss.heap_bytes = used + bytes;
	b->miss.heap_count = index + 1;
	return true;
}

/* The fields of the chunk at CHUNK and its frames; the next older one, 0: none, or nothing more is to be had. */
static __noinline wire_u64 miss_add_chunk(struct miss_buffer *b, struct unwind_cursor *c,
					  wire_u64 chunk)
{
	struct frozen_walk *f = &c->frozen_at;
	wire_u64 bytes;

	f->sp = f->end = 0;
	if (!frozen_open(c, NULL, chunk) || !miss_add_piece(b, chunk, c->jvm.chunks.stack))
		return 0;
	/* Below the frames is what the youngest one's callee would have saved. */
	bytes = f->sp < f->end ? f->end - f->sp + 16 : 0;
	if (bytes > MISS_HEAP_PIECE)
		bytes = MISS_HEAP_PIECE;
	return bytes && !miss_add_piece(b, f->sp - 16, bytes) ? 0 : f->parent;
}

/*
 * What userspace needs to go on at the return barrier as this would: the heap has gone on by then. Nothing, where
 * the walk has left these frames behind, or ended in Java code: who called native code last is not known then (frozen_twice()). The bytes.
 */
static __noinline wire_u32 miss_copy_heap(struct miss_buffer *b, struct unwind_cursor *c)
{
	wire_u64 cont, chunk;
	wire_u32 bytes;

	b->miss.heap_bytes = b->miss.heap_count = 0;
	if (!b->miss.cont_entry || b->miss.cont_entry < c->sp || !c->jvm.chunks.klass_mask ||
	    compiled_is_at_pc(c) || c->jvm.chunks.tail > MISS_CONT_BYTES - 8)
		return 0;
	c->frozen_at.entry = b->miss.cont_entry;
	chunk = frozen_tail(c, NULL);
	if (!chunk ||
	    bpf_probe_read_user(&cont, 8, (const void *)(c->frozen_at.entry + FROZEN_ENTRY_CONT)) ||
	    !miss_add_piece(b, cont, c->jvm.chunks.tail + 8))
		return 0;
	for (int i = 0; i < WIRE_MISS_HEAP_PIECES / 2 && chunk; i++)
		chunk = miss_add_chunk(b, c, chunk);
	bytes = b->miss.heap_bytes;
	UNWIND_OPAQUE(bytes);
	return bytes <= WIRE_MISS_HEAP_BYTES ? bytes : 0;
}

/* The last quarter of a ring is for samples: one whose stack is cut is more than none. */
static __always_inline bool miss_has_room(void *ring)
{
	wire_u64 used = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);

	return used < bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4 * 3;
}

static __always_inline int miss_send(struct miss_buffer *b, struct scratch *s,
				     struct task_struct *task, void *ring)
{
	wire_u64 sp = s->cursor.sp, until_ns = bpf_ktime_get_ns() + settings.budget_ns;
	wire_u32 bytes;

	miss_fill(&b->miss, s, task);
	miss_copy_stack(b, sp, miss_bound(ring, sp, miss_top(task, sp)), until_ns);
	bytes = b->miss.copy_bytes;
	UNWIND_OPAQUE(bytes);
	if (bytes > miss_copy_bytes)
		return -1;
	miss_undo_returns(b, task);
	bytes += miss_copy_heap(b, &s->cursor);
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
	struct miss_buffer *b = bpf_map_lookup_elem(&miss_buffers, &buffer);
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
	r = miss_send(b, s, task, ring);
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
