/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The state of one user stack walk, and how it moves. A step *decides* where the caller is: which
 * words of the stack are the return address and the saved frame pointer, where the caller's stack
 * pointer is. What a caller can be depends on the kind of frame, so cursor_enter(), row_step(),
 * compiled_enter() and anchor_enter() each check that, and all end in cursor_move(); behind a signal
 * it is cursor_resume(). Nothing else changes pc, but for a look at another frame, which
 * gives back what it found.
 */
#ifndef HOSTPROF_BPF_UNWIND_CURSOR_H
#define HOSTPROF_BPF_UNWIND_CURSOR_H

#include "unwind/memory.h"

/* Words that a walk may write after the kernel frames; see struct wire_sample. */
#define UNWIND_OUT_WORDS (WIRE_MAX_KERNEL_FRAMES + WIRE_MAX_USER_WORDS)

/* The last user address with 4-level paging; nothing is mapped above unless asked for by address. */
#define UNWIND_USER_END 0x7ffffffff000ULL
/* Nothing is mapped below (vm.mmap_min_addr is 64 KiB, 4 KiB at the least). */
#define UNWIND_USER_BEGIN 4096ULL
/*
 * A frame is smaller than this. Code without frame pointers leaves any value in the register; one
 * that points up but not near is no frame. Thread stacks are 8 MB, buffers on them rarely 1 MB.
 */
#define UNWIND_MAX_FRAME_BYTES (1ULL << 20)

#define UNWIND_CODE_BEHIND 8
#define UNWIND_CODE_BYTES  32 /* around the leaf's pc: 8 behind and 24 from it on */
/*
 * The stack is read in pieces of this many words: one read of 2 KiB costs as much as three of one
 * frame and holds ten to forty of them.
 */
#define UNWIND_WINDOW_WORDS 256
/* Around a leaf's pc in Java code: to its exit sequences behind, and to its prologue's end. */
#define UNWIND_TEXT_BEHIND 64
#define UNWIND_TEXT_BYTES  176
/* A piece begins this far below the word that was missing: slots of an interpreted frame. */
#define UNWIND_WINDOW_BELOW 72

/* An interpreted frame, and the way to its caller. */
struct interpreted_frame {
	wire_u64 method, bcp, sender_sp, fp, ra;
};

/* A walk through the frames of a virtual thread in the heap: hotspot/frozen.h. */
struct frozen_walk {
	wire_u64 entry, fp; /* where it goes on behind them: stack pointer, and %rbp */
	wire_u64 pc, sp;    /* the next frame's */
	wire_u64 link;	    /* where its callee saved %rbp */
	wire_u64 end;	    /* of the chunk's frames */
	wire_u64 parent;    /* the next chunk; 0: none */
	wire_u64 young[2];  /* the pc that called native code, and its caller's (0: to come) */
	wire_u64 pcs[2];    /* of all Java frames from these on, mixed */
	wire_u32 count[2];  /* their number */
	wire_u32 skip;	    /* frames of the chunk that were on the stack, too, and are to come */
	wire_u64 skipped, wanted; /* pcs of those that were skipped, and what they must be */
	wire_u64 room; /* bytes of the stack that wait for frames of the chunk; 0: none does */
	wire_u64
		taken_to; /* frames below this are no more the chunk's, and on no stack yet; 0: all are the chunk's */
	wire_u32 taken_from; /* words that were written when the first of these came */
	wire_u32 taken;	     /* number of those that were written */
	wire_u32 chunks;     /* that were opened */
	wire_u8 inside;
	wire_u8 live;	/* the heap is that of the sample's time */
	wire_u8 cut;	/* the next chunk cannot be read */
	wire_u8 yields; /* the thread itself seems to be in doYield(); young[1] called it */
	wire_u8 chunk[WIRE_CHUNK_BYTES]; /* the fields of the last one */
};

/* The virtual thread that the thread runs: hotspot/virtual.h. Other texts have the name's place in samples of threads that run none. */
struct virtual_thread {
	wire_u64
		object; /* a VirtualThread whose sample this is, though the thread may not run it yet; 0: not known */
	wire_u64 id; /* 0: none, or not known */
	wire_u32 name_bytes;
	wire_u32 name_width;
	wire_u8 name[WIRE_TEXT_BYTES];
};

/* What was read of an interpreted frame's method. */
struct seen_method {
	wire_u64 method, const_method, identity;
	wire_u64 symbol, word; /* of its class's name, and the part of it that never changes */
};

/* What a look at another frame changes; not on the stack, of which 6.1 has 512 bytes in all. */
struct compiled_kept {
	struct wire_hot_code seen;
	wire_u64 blob, pc, sp;
	wire_u8 leaf, exact;
};

#define UNWIND_SEEN_METHODS 8 /* a power of two */

struct unwind_cursor {
	wire_u64 pc;
	wire_u64 sp;
	wire_u64 fp;
	/* Callee-saved registers: ld.so finds frames by %rbx, HotSpot's steps want the others. */
	wire_u64 rbx;
	wire_u64 r13;	      /* in the interpreter: the live bytecode pointer */
	wire_u64 r15;	      /* in Java code: the thread */
	wire_u64 deadline_ns; /* for the loop that drives the steps */
	wire_u64 stack_top;   /* of the main thread's: where argc is; 0: not known */
	wire_u64 tls;	      /* where the thread's %fs points; 0: not known */
	wire_u32 frames;
	wire_u32 max_frames;
	wire_u32 begin;	 /* first word of this walk in `out` */
	wire_u32 words;	 /* words of `out` that are used, kernel frames included */
	wire_u8 leaf;	 /* pc is where the thread itself is: the code bytes there tell its frame */
	wire_u8 exact;	 /* pc is no return address: WIRE_FRAME_EXACT */
	wire_u8 linked;	 /* fp is known to be a caller's */
	wire_u8 guessed; /* a frame pointer was followed in code of which nothing is known */
	wire_u8 made;	 /* pc's code has no file: it was made while the program ran */
	wire_u8 reason;	 /* enum unwind_reason, valid once a step returned UNWIND_STOP */
	wire_u8 missed;	 /* it stopped for want of tables; the cursor stands where to go on */
	wire_u8 elsewhere; /* it has left the stack that it began on, for one that this was left for */
	wire_u8 listed;	   /* the space is known to hold all ranges: what is outside is no code */
	wire_u8 regs_kept; /* by row from the leaf on: leaf_regs may still be this frame's */
	wire_u8 nested;	   /* walks of its cpu that it interrupted: see tables_keep_hot() */
	wire_u8 uncached; /* and may be interrupted by one that was not: it reads no cache of the cpu */
	wire_u8 new_code; /* a frame is of code that no sample has shown before: its name may be gone soon */
	wire_u8 at_entry; /* the leaf's pc is its function's first instruction, whatever its bytes say */
	wire_u32 serial, first, count; /* of the process's space; serial 0: it has none yet */
	wire_u32 now_s;		       /* CLOCK_MONOTONIC seconds, for used_s and the hot cache */
	wire_u32 tick;		       /* WIRE_TICK_SHIFT */
	struct wire_range range;       /* the last one that was needed; start == end: none */
	wire_u32 row_frames, inferred_frames, hot_frames, fp_frames, jit_frames,
		read_frames; /* by wire_counters.def */
	wire_u32 java_frames, java_hot_frames, anchors, frozen, frozen_frames; /* the same */
	wire_u32 receivers, receivers_unknown, compiling, compiling_unknown;   /* the same */
	wire_u32 jvm_serial; /* of the space: 0, a JVM's, or WIRE_JVM_PENDING */
	struct wire_jvm jvm; /* serial 0: none, or not known yet */
	wire_u64 thread;     /* the JavaThread; 0: not known */
	wire_u64
		java_r15; /* of the first Java frame: what may be the thread; 0: there is none yet */
	wire_u64 leaf_sp; /* where the walk began */
	/* The JavaFrameAnchor that leads on when native code cannot be walked; 0: none. */
	wire_u64 anchor_at;
	wire_u64 anchor[3]; /* the thread's own: sp, pc, fp */
	wire_u8 has_anchor; /* it is that of the sample's time; else it is read when it is needed */
	wire_u8 anchor_own; /* the thread's own may lead on */
	wire_u8 native;	    /* the frame before was no Java frame */
	wire_u8 seen_here;  /* `seen` is the method of this frame */
	wire_u8 unpacks; /* above a blob that may put interpreted frames in place: the next one's number, from 1 on; hotspot/unpacking.h */
	wire_u8 unpacking_next,
		unpacking_end; /* of these the numbers, from 0 on, that are on no stack yet, and will be written */
	wire_u8 unpacking_live; /* what the thread knows of these is that of the sample's time */
	/* The last blob that was too many hops away, and what was looked for. */
	wire_u64 far_pc, far_blob;
	struct wire_hot_code compiled_seen; /* of the last frame in a blob, in this walk */
	struct compiled_kept
		compiled_kept; /* while another frame is looked at: compiled_checks_out() */
	wire_u64
		trampoline; /* where return probes let functions return to: native/probed.h; 0: none */
	wire_u64 no_trampoline; /* a return address that was looked at: recursion has many such */

	struct seen_method seen; /* the last interpreted method */
	/* Others of this walk, by a hash of their address. */
	struct seen_method methods[UNWIND_SEEN_METHODS];

	struct interpreted_frame interpreted; /* the one at pc */
	struct frozen_walk frozen_at;
	struct virtual_thread virtual_thread;
	wire_u64 receiver,
		receiver_identity; /* Klass* of the object that a leaf's stub calls: hotspot/receiver.h */

	wire_u64 window_at;		     /* address of window[0]; 0: empty */
	wire_u64 loaded;		     /* by cursor_load_far() */
	wire_u64 leaf_regs[DWARF_REGISTERS]; /* while `regs_kept` is set */
	/* Read buffers; a BPF stack has 512 bytes. */
	wire_u64 context[17]; /* the registers in a ucontext */
	wire_u64 window[UNWIND_WINDOW_WORDS];
	wire_u8 code[UNWIND_CODE_BYTES];
	wire_u64 blob_at; /* address of the code blob whose beginning is in `blob`; 0: none */
	wire_u8 blob[WIRE_BLOB_BYTES];
	wire_u8 text[UNWIND_TEXT_BYTES];
};

enum unwind_verdict { UNWIND_GO_ON = 0, UNWIND_STOP = 1 };

/* How to get to the caller. */
struct unwind_rule {
	wire_u64 cfa;	/* the caller's stack pointer */
	wire_u64 ra_at; /* address of the return address */
	wire_u64 fp_at; /* address of the saved frame pointer; 0: it is still in the register */
};

/* Hide where a value came from, so that the check below is made on the value that is used. */
#define UNWIND_OPAQUE(variable) __asm__ volatile("" : "+r"(variable))

/*
 * TURN(i, CTX) for i from 0 to TURNS - 1, until one returns other than 0. In BPF the verifier looks at one
 * turn, whatever their number is.
 */
#ifdef __bpf__
#define unwind_loop(turns, turn, ctx) ((void)bpf_loop(turns, turn, ctx, 0))
#else
#define unwind_loop(turns, turn, ctx)                                       \
	do {                                                                \
		for (wire_u32 i_ = 0; i_ < (turns) && !turn(i_, ctx); i_++) \
			;                                                   \
	} while (0)
#endif

#ifdef __bpf__

/*
 * x_alone(), which this makes, is what BPF calls for x(). The verifier looks once at a function that
 * is not static, and would follow the branches of x() anew on every way to it. But it takes nothing
 * for granted there: what is pointed to may be NULL (then the result is NONE), an index is checked
 * again, and the result may be any number: the macro x() leaves the bits that count. `memory` is
 * nothing in BPF and is not handed on.
 */
#define UNWIND_ALONE(type, name, params, is_there, args, none) \
	__attribute__((noinline)) type name##_alone params     \
	{                                                      \
		return (is_there) ? (type)name args : (none);  \
	}

/* The same of x(c, at), where FIRST <= at < END. */
#define UNWIND_ALONE_AT(type, name, first, end, none)                                     \
	__attribute__((noinline)) type name##_alone(struct unwind_cursor *c, wire_u32 at) \
	{                                                                                 \
		UNWIND_OPAQUE(at);                                                        \
		if (!c || at >= (end))                                                    \
			return none;                                                      \
		UNWIND_OPAQUE(at);                                                        \
		return at < (first) ? (none) : (type)name(c, at);                         \
	}

#endif

static inline enum unwind_verdict cursor_stop(struct unwind_cursor *c, enum unwind_reason reason)
{
	c->reason = reason;
	return UNWIND_STOP;
}

/* The registers that are carried on from frame to frame, out of the leaf's. */
static inline void cursor_take_leaf_regs(struct unwind_cursor *c)
{
	c->rbx = c->leaf_regs[DWARF_RBX];
	c->fp = c->leaf_regs[DWARF_RBP];
	c->r13 = c->leaf_regs[DWARF_R13];
	c->r15 = c->leaf_regs[DWARF_R15];
}

/* For the caches: code and metadata lie at distances of which many are multiples of each other. */
static inline wire_u32 cursor_hash(wire_u64 address)
{
	return (wire_u32)((address * 0x9e3779b97f4a7c15ULL) >> 32);
}

static inline bool cursor_is_user(wire_u64 address)
{
	return address >= UNWIND_USER_BEGIN && address < UNWIND_USER_END;
}

/* Append one word. The bound is checked on a local copy so that the verifier can follow it. */
static inline enum unwind_verdict cursor_put(struct unwind_cursor *c, wire_u64 *out, wire_u64 word)
{
	wire_u32 at = c->words;

	UNWIND_OPAQUE(at);
	if (at >= UNWIND_OUT_WORDS)
		return UNWIND_STOP;
	out[at] = word;
	c->words = at + 1;
	return UNWIND_GO_ON;
}

/* Append the frame at pc: its address word; KIND says how many words the caller adds after it. */
static inline enum unwind_verdict cursor_put_frame(struct unwind_cursor *c, wire_u64 *out,
						   enum wire_frame_kind kind, wire_u32 words)
{
	wire_u64 word = (c->pc & WIRE_FRAME_ADDRESS_MASK) | (wire_u64)kind << WIRE_FRAME_KIND_SHIFT;

	if (c->frames >= c->max_frames || c->words - c->begin + words > WIRE_MAX_USER_WORDS)
		return cursor_stop(c, UNWIND_DEPTH);
	if (c->exact)
		word |= WIRE_FRAME_EXACT;
	c->frames++;
	return cursor_put(c, out, word);
}

/* Stand in another frame, or at another pc of this one; the caller of this has checked them. */
static inline void cursor_move(struct unwind_cursor *c, wire_u64 pc, wire_u64 sp, wire_u64 fp)
{
	c->pc = pc;
	c->sp = sp;
	c->fp = fp;
	c->leaf = 0;
	c->exact = 0;
}

/* Stand where a signal interrupted the thread: all registers are in c->leaf_regs. */
static inline void cursor_resume(struct unwind_cursor *c, wire_u64 pc, wire_u64 sp)
{
	c->pc = pc;
	c->sp = sp;
	cursor_take_leaf_regs(c);
	c->at_entry = 0;
	c->linked = 0; /* the frame pointer's register is any value again */
	c->guessed = 0;
	c->leaf = 1;
	c->regs_kept = 1;
	c->exact = 1;
}

/* Go to the caller: its registers are known now. */
static inline enum unwind_verdict cursor_enter(struct unwind_cursor *c, wire_u64 pc, wire_u64 sp,
					       wire_u64 fp)
{
	if (pc == 0)
		return cursor_stop(c, UNWIND_NO_START);
	if (!cursor_is_user(pc))
		return cursor_stop(c, UNWIND_BAD_RETURN);
	/* A stack that does not shrink would be walked for ever. */
	if (sp <= c->sp)
		return cursor_stop(c, UNWIND_FP_BAD);
	cursor_move(c, pc, sp, fp);
	c->regs_kept = 0;
	return UNWIND_GO_ON;
}

/* A word that is not in the window: it becomes one of the next; into c->loaded. */
static inline enum unwind_verdict cursor_load_far(struct unwind_cursor *c,
						  struct unwind_memory *memory, wire_u64 address)
{
	if (!cursor_is_user(address))
		return cursor_stop(c, UNWIND_PAGE);
	c->window_at = address - UNWIND_WINDOW_BELOW;
	if (memory_read_stack(memory, c->window, sizeof(c->window), c->window_at)) {
		/* Near the stack's end, or beside a page that is not there: just the word. */
		c->window_at = 0;
		if (memory_read_stack(memory, &c->window[UNWIND_WINDOW_BELOW / 8], 8, address))
			return cursor_stop(c, UNWIND_PAGE);
	}
	c->loaded = c->window[UNWIND_WINDOW_BELOW / 8];
	return UNWIND_GO_ON;
}

#ifdef __bpf__

UNWIND_ALONE(enum unwind_verdict, cursor_load_far, (struct unwind_cursor * c, wire_u64 address), c,
	     (c, NULL, address), UNWIND_STOP)

#define cursor_load_far(c, memory, address) (cursor_load_far_alone(c, address) & UNWIND_STOP)

#endif

/* One aligned word of the stack. */
static inline enum unwind_verdict cursor_load(struct unwind_cursor *c, struct unwind_memory *memory,
					      wire_u64 address, wire_u64 *ret_word)
{
	wire_u64 at = (address - c->window_at) / 8;

	if (address & 7)
		return cursor_stop(c, UNWIND_FP_BAD);
	UNWIND_OPAQUE(at);
	/* Small numbers would be found in an empty window, which is at 0. */
	if (at < UNWIND_WINDOW_WORDS && address >= UNWIND_USER_BEGIN) {
		*ret_word = c->window[at];
		return UNWIND_GO_ON;
	}
	if (cursor_load_far(c, memory, address))
		return UNWIND_STOP;
	*ret_word = c->loaded;
	return UNWIND_GO_ON;
}

static inline enum unwind_verdict cursor_execute(struct unwind_cursor *c,
						 struct unwind_memory *memory,
						 const struct unwind_rule *rule)
{
	wire_u64 ra, fp = c->fp;

	if (!cursor_is_user(rule->ra_at) || !cursor_is_user(rule->cfa))
		return cursor_stop(c, UNWIND_FP_BAD);
	if (rule->fp_at) {
		if (cursor_load(c, memory, rule->fp_at, &fp))
			return UNWIND_STOP;
		c->linked = 1;
	}
	if (cursor_load(c, memory, rule->ra_at, &ra))
		return UNWIND_STOP;
	return cursor_enter(c, ra, rule->cfa, fp);
}

#endif
