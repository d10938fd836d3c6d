/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Every struct that crosses the kernel line: ring-buffer records, map keys and values, settings.
 * Fixed-width types, explicit padding. The kernel's words: tgid is what users call pid.
 */
#ifndef HOSTPROF_WIRE_H
#define HOSTPROF_WIRE_H

#ifndef __bpf__
#include <stdbool.h>
#include <stdint.h>
typedef int8_t wire_s8;
typedef int16_t wire_s16;
typedef uint8_t wire_u8;
typedef uint16_t wire_u16;
typedef uint32_t wire_u32;
typedef uint64_t wire_u64;
typedef int32_t wire_s32;
typedef int64_t wire_s64;
#else
typedef __s8 wire_s8;
typedef __s16 wire_s16;
typedef __u8 wire_u8;
typedef __u16 wire_u16;
typedef __u32 wire_u32;
typedef __u64 wire_u64;
typedef __s32 wire_s32;
typedef __s64 wire_s64;
#endif

/* The kernel's own limit on a stack that bpf_get_stack() returns (kernel.perf_event_max_stack). */
#define WIRE_MAX_KERNEL_FRAMES 127
/* --max-depth goes up to this. */
#define WIRE_MAX_USER_FRAMES	 2048
#define WIRE_DEFAULT_USER_FRAMES 1024
/* Interpreted frames take most. */
#define WIRE_MAX_USER_WORDS (WIRE_MAX_USER_FRAMES * WIRE_INTERPRETED_WORDS)
/* Samples that may be nested on one cpu. */
#define WIRE_SCRATCH_LEVELS 3
#define WIRE_COMM_LEN	    16
#define WIRE_MAX_EVENTS	    16
#define WIRE_MAX_TARGETS    4096
#define WIRE_MAX_JVMS	    512
/* Timers that make one clock on each cpu; see bpf/sample/tick.h. */
#define WIRE_CLOCK_TIMERS 4

/* Cpus that --cpu may name. */
#define WIRE_MAX_CPUS 8192

/* What a perf event's program is told by its attachment: which event, and the process that it is about (0: any). */
#define WIRE_COOKIE(event, tgid)  ((event) | (wire_u64)(tgid) << 32)
#define WIRE_COOKIE_EVENT(cookie) ((wire_u32)(cookie))
#define WIRE_COOKIE_TGID(cookie)  ((wire_u32)((cookie) >> 32))

/* enum unwind_reason: UNWIND_DONE, UNWIND_PAGE, … */
enum unwind_reason {

#define UNWIND_REASON(name, id, whole, text) UNWIND_##name,
#include "unwind_reasons.def"
#undef UNWIND_REASON
	UNWIND_REASON_COUNT
};

/* What makes samples due, each with a program of its own: WIRE_TRIGGER_PERF, … */
enum wire_trigger {

#define WIRE_TRIGGER(name, program, runs) WIRE_TRIGGER_##name,
#include "wire_triggers.def"
#undef WIRE_TRIGGER
	WIRE_TRIGGER_COUNT
};

/*
 * What the thread was doing while the sample's weight passed, and why: both by wire_states.def.
 * Clocks, counters and probes say WIRE_STATE_RUNNING and WIRE_CAUSE_NONE.
 */
enum wire_state {

#define WIRE_STATE(name, id, text) WIRE_STATE_##name,
#include "wire_states.def"
#undef WIRE_STATE
	WIRE_STATE_COUNT
};

enum wire_cause {

#define WIRE_CAUSE(name, id, text) WIRE_CAUSE_##name,
#include "wire_states.def"
#undef WIRE_CAUSE
	WIRE_CAUSE_COUNT
};

enum wire_record_kind {
	WIRE_SAMPLE = 1,
	WIRE_MISS = 2,	     /* struct wire_miss in wire_rows.h */
	WIRE_SPAN = 3,	     /* struct wire_span in wire_offcpu.h */
	WIRE_LOCK_BEGIN = 4, /* struct wire_lock_begin in wire_parking.h */
};

/* Bits of wire_sample.flags. */
#define WIRE_SAMPLE_RESUMED 1 /* its struct wire_miss came just before; userspace finishes it */
#define WIRE_SAMPLE_STALE   2 /* the process's executable mappings are others than in its space */
/* Of an allocation seen from outside: the object opened a new TLAB, or got its room beside them. */
#define WIRE_SAMPLE_NEW_TLAB	 4
#define WIRE_SAMPLE_OUTSIDE_TLAB 8
/* The agent's, and its weight is what it stands for (bpf/sample/between.h). */
#define WIRE_SAMPLE_WEIGHED 16
/* Of native memory: it has no class (bpf/sample/malloc.h). */
#define WIRE_SAMPLE_NATIVE 32
/* Its thread left the cpu: what it weighs follows in a struct wire_span. */
#define WIRE_SAMPLE_OPEN 64
/* Of a wait for a lock (bpf/sample/locks/lock.h, park.h). */
#define WIRE_SAMPLE_LOCK 128

/* In the place of a class: the thread that parked has said of nothing that it waits for it. */
#define WIRE_PARKED_FOR_NOTHING 1

/*
 * A user frame is one word, or more when its kind says so. Bits 0..55 hold the address, bit 59 is
 * set when the address is exact (the thread's own pc, or one that a signal interrupted) and not a
 * return address, bits 60..63 hold the kind. Bit 58 is userspace's: an interpreted frame of a walk
 * that it has finished late, which was not on the stack any more when its method was read.
 */
#define WIRE_FRAME_ADDRESS_MASK ((1ULL << 56) - 1)
#define WIRE_FRAME_LATE		(1ULL << 58)
#define WIRE_FRAME_EXACT	(1ULL << 59)
#define WIRE_FRAME_KIND_SHIFT	60

enum wire_frame_kind {
	WIRE_FRAME_CODE = 0,	    /* 1 word: an address in a file or in JIT code */
	WIRE_FRAME_INTERPRETED = 1, /* 5 words: address, Method*, ConstMethod*, bytecode pointer,
				       the identity of its class */
	WIRE_FRAME_COMPILED = 2,    /* 2 words: an address in a JVM's code blob, and in the low 32
				       bits the compile id of the nmethod (of a stub: any number);
				       WIRE_COMPILED_ENTERING */
	WIRE_FRAME_MARK = 3,	    /* 1 word: no frame; the address is an enum wire_mark */
	WIRE_FRAME_RECEIVER =
		4, /* 3 words: no frame; the address of the stub whose frame comes next, the
				       Klass* of the object that it calls, the identity of that class */
	WIRE_FRAME_COMPILING =
		5, /* 5 words as of an interpreted one: no frame, and the stack's first words. What
				       the thread compiles; the address is 1 + its bytecode index of an OSR, or 0 */
	WIRE_FRAME_KIND_COUNT
};

/* What a stack says between two frames. */
enum wire_mark {
	WIRE_MARK_FROZEN = 1, /* here lie a virtual thread's frames that are in the heap */
	WIRE_MARK_ANCHOR = 2, /* native frames could not be walked: the JVM's own note led on */
	WIRE_MARK_COUNT
};

/* What stands behind a sample's words. */
enum wire_text {
	WIRE_TEXT_NAME,	       /* of a virtual thread, if anything */
	WIRE_TEXT_OPERATION,   /* of a JVM, for which it stopped */
	WIRE_TEXT_COMPILATION, /* a struct wire_compilation and its names */
	WIRE_TEXT_CLASS_LOAD,  /* a struct wire_class_load and its name */
	WIRE_TEXT_GC,	       /* a struct wire_gc_pause */
	WIRE_TEXT_COUNT
};

/* The words that a name, or another text, of BYTES takes. */
#define WIRE_NAME_WORDS(bytes) (((bytes) + 7) / 8)

#define WIRE_INTERPRETED_WORDS 5
#define WIRE_COMPILED_WORDS    2
#define WIRE_RECEIVER_WORDS    3

/*
 * In the second word of compiled code: its frame is not complete at the address, so that nothing inlined has begun there, whatever the debug
 * information of the next place has.
 */
#define WIRE_COMPILED_ENTERING (1ULL << 32)

/* The words of a frame whose first one is WORD; 0: of no kind that there is. */
static inline wire_u32 wire_frame_words(wire_u64 word)
{
	switch (word >> WIRE_FRAME_KIND_SHIFT) {
	case WIRE_FRAME_CODE:
	case WIRE_FRAME_MARK: return 1;
	case WIRE_FRAME_COMPILING:
	case WIRE_FRAME_INTERPRETED: return WIRE_INTERPRETED_WORDS;
	case WIRE_FRAME_RECEIVER: return WIRE_RECEIVER_WORDS;
	case WIRE_FRAME_COMPILED: return WIRE_COMPILED_WORDS;
	}
	return 0;
}

/* Which class it is, of all that ever had these addresses: its name's Symbol* and first word. */
#define WIRE_CLASS_IDENTITY(symbol, word, mask) (((word) & (mask)) ^ (symbol))

/*
 * And which method of its class: a retransformed one leaves its place to another. IDS is the word
 * in its ConstMethod from the code's size on: that, the indexes of name and signature, and a number
 * that changes when the method becomes obsolete.
 */
#define WIRE_METHOD_IDENTITY(class_identity, ids) \
	((class_identity) ^ (((ids)&0xffffffffffffULL) * 0x9e3779b97f4a7c15ULL))

struct wire_sample {
	wire_u32 size;	  /* of the whole record in bytes */
	wire_u16 kind;	  /* enum wire_record_kind */
	wire_u8 event;	  /* index of the -e that fired */
	wire_u8 reason;	  /* enum unwind_reason: why the user stack ended */
	wire_u64 time_ns; /* CLOCK_MONOTONIC */
	wire_u64 weight;  /* the period: what this sample stands for, in the event's unit */
	wire_u64
		start_ns; /* the process's start time, CLOCK_MONOTONIC (group leader's start_time) */
	wire_u64 cgroup_id; /* cgroup v2 id, the inode number of its directory */
	wire_u32 tgid;
	wire_u32 tid;
	wire_u32 exec_id; /* task_struct.self_exec_id: grows with every exec */
	wire_u16 cpu;
	wire_u8 in_user; /* 1: the cpu ran user code when the sample was taken */
	wire_u8 flags;	 /* WIRE_SAMPLE_… */
	wire_u16 kernel_frames;
	wire_u16 user_words;
	wire_u16 user_frames;
	wire_u8 state; /* enum wire_state */
	wire_u8 cause; /* enum wire_cause: why it is in this state */
	/*
	 * Of an allocation; 0 of other events. Native memory has size and interval, and no class but WIRE_MALLOC_PAGES. Else: either flag WIRE_SAMPLE_…_TLAB: seen from outside, the
	 * class is a Klass*, the interval the new TLAB's bytes. Neither: the agent's, its class id
	 * (codemap.h) and the sampling interval in force. The agent's weight is near, and
	 * userspace weighs it anew, but where it is WIRE_SAMPLE_WEIGHED; that from outside is what it is (bpf/sample/tlab.h).
	 *
	 * Of a wait for a lock the class is that of the object (the agent's id), the size the wait's nanoseconds, the interval how
	 * many such waits it stands for, and the object's number its identity hash. Where the thread had parked (WIRE_CAUSE_PARK) the class is a Klass*, or
	 * WIRE_PARKED_FOR_NOTHING, and the object's number its address. Of a safepoint the interval is the part of its
	 * nanoseconds until the threads had stopped, and the object's number that until they went on. Of a wait for a lock of the kernel's the class
	 * is an enum wire_contention_field, the size 0, the interval how many it stands for, and the object's number the lock's address. Of what is
	 * unmounted size and interval are as of a wait for a lock.
	 *
	 * Of a waker the object's number is when the thread that it woke had left: the time_ns of that one's sample; but of one that ended a wait for a
	 * lock, whose wait_number is that of the wait's own sample.
	 */
	wire_u64 alloc_class;
	wire_u64 alloc_size;	 /* bytes of the object */
	wire_u64 alloc_interval; /* bytes */
	wire_u64
		alloc_object; /* the agent's id of the object, which it follows to its end, or BPF's of native memory; 0: it is not followed */
	wire_u64 lock_owner;  /* of a wait for a lock who had it: WIRE_OWNER(); else 0 */
	wire_u64 virtual_id;  /* of the Java virtual thread that ran; 0: none, or not known */
	wire_u16
		name_bytes; /* of its name, or of what `text` says, which stands behind the words; 0: there is none */
	wire_u8 name_width; /* bytes of a char: 1, Latin-1, or 2, UTF-16 */
	wire_u8 waker; /* enum wire_waker: it is the stack of who ended another thread's wait, and weighs nothing */
	wire_u32 woken_tid; /* then that thread's; else 0 */
	wire_u8 text;	    /* enum wire_text */
	wire_u8 unmounted; /* 1: a virtual thread was without a carrier for the weight's time, and has come back (-e offcpu, wall) */
	wire_u8 pad[2];
	wire_u32
		wait_number; /* of a wait for a lock, of which wakers are told: the thread's how many-th it is; 0: nobody tells */
	char comm[WIRE_COMM_LEN];
	/* Kernel addresses, then user words, both leaf first; then the name, filled up to whole words. */
	wire_u64 words[];
};

/* Is SAMPLE's class the address of one, which may be unloaded, and not the agent's id? */
static inline bool wire_sample_has_klass(const struct wire_sample *sample)
{
	if (sample->flags & WIRE_SAMPLE_LOCK)
		return sample->cause == WIRE_CAUSE_PARK;
	return sample->flags & (WIRE_SAMPLE_NEW_TLAB | WIRE_SAMPLE_OUTSIDE_TLAB);
}

/* What BPF counts beside samples: one slot each in a per-cpu array. */
enum wire_counter {

#define WIRE_COUNTER(name, id, figure, text) WIRE_COUNTER_##name,
#include "wire_counters.def"
	WIRE_COUNTER_COUNT
};

/*
 * Behind them two of each event of a counter, by its index: how often it overflowed while samples were taken, and what it had
 * counted then (the sum of its periods). The kernel may run no program when one overflows.
 */
#define WIRE_COUNTER_OVERFLOWS(event) (WIRE_COUNTER_COUNT + 2 * (event))
#define WIRE_COUNTER_SEEN(event)      (WIRE_COUNTER_COUNT + 2 * (event) + 1)
#define WIRE_COUNTER_SLOTS	      (WIRE_COUNTER_COUNT + 2 * WIRE_MAX_EVENTS)

/* Why a sample was dropped. */
enum wire_loss {

#define WIRE_LOSS(name, id, text) WIRE_LOSS_##name,
#include "wire_losses.def"
#undef WIRE_LOSS
	WIRE_LOSS_COUNT
};

/* Dropped samples per process generation, event and reason. */
struct wire_lost_key {
	wire_u32 tgid;
	wire_u32 exec_id;
	wire_u64 start_ns;
	wire_u32 event;
	wire_u32 why; /* enum wire_loss */
};

struct wire_lost {
	wire_u64 count;
	wire_u64 weight;
	char comm[WIRE_COMM_LEN];
};

/* What a place tells its program (WIRE_TRIGGER(…, PLACES)): the event, whose index is below the shift, and of which form the place is. */
#define WIRE_PLACE_FORM_SHIFT 8
#define WIRE_PLACE_COOKIE(event, form) \
	((wire_u64)(event) | (wire_u64)(form) << WIRE_PLACE_FORM_SHIFT)

#include "wire_class_load.h"
#include "wire_compilation.h"
#include "wire_contention.h"
#include "wire_gc.h"
#include "wire_jvm.h"
#include "wire_malloc.h"
#include "wire_offcpu.h"
#include "wire_parking.h"
#include "wire_phases.h"
#include "wire_rows.h"
#include "wire_tlab.h"
#include "wire_usdt.h"

/* Settings, written once into the program's read-only data before loading. */
struct wire_settings {
	wire_u64 budget_ns; /* time budget of one user walk */
	wire_u64 cgroup_id; /* 0: any */
	wire_u32 cgroup_level;
	wire_u32 max_user_frames;
	wire_u32 self_tgid;	 /* hostprof itself, which is not sampled */
	wire_u8 filter_tgids;	 /* 1: only processes in the target map */
	wire_u8 follow_children; /* 1: children of targets become targets */
	wire_u8 exclude_user;	 /* --all-kernel */
	wire_u8 exclude_kernel;	 /* --all-user */
	wire_u8 include_idle;
	wire_u8 frame_pointers_only; /* --unwind fp: no unwind tables, no misses */
	wire_u8 filter_cpus;	     /* 1: only samples of the cpus_wanted */
	wire_u8 pad;
};

_Static_assert(sizeof(struct wire_sample) == 144, "wire_sample header");
_Static_assert(sizeof(struct wire_lost_key) == 24, "wire_lost_key");
_Static_assert(sizeof(struct wire_lost) == 32, "wire_lost");
_Static_assert(sizeof(struct wire_settings) == 40, "wire_settings");

#endif
