/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Waits: a thread's time off the cpus. Its stack is sent when it leaves (WIRE_SAMPLE_OPEN), and how long it
 * was gone when it is back (struct wire_span), or it is looked up at the end (struct wire_offcpu).
 */
#ifndef HOSTPROF_WIRE_OFFCPU_H
#define HOSTPROF_WIRE_OFFCPU_H

/* Threads whose waits are followed at one time, as long as they live: so many times those that there are as a recording begins, from and to. */
#define WIRE_OFFCPU_TIMES_THREADS 8
#define WIRE_OFFCPU_LEAST_THREADS 8192
#define WIRE_OFFCPU_MOST_THREADS  32768
/* Places where a thread waits, of which it is known how long that takes. */
#define WIRE_OFFCPU_SITES 4
/* A stack is taken with a chance of 2^-halved. */
#define WIRE_OFFCPU_MOST_HALVED 16
/* Steps of places (bpf/sample/offcpu.h): how often one is doubled where short waits are not wanted, and the shortest. */
#define WIRE_OFFCPU_STEP_DOUBLED  6
#define WIRE_OFFCPU_LEAST_STEP_NS 10000ULL
/*
 * Stacks that a cpu walks in 100 ms at most, some percent of its time, and all of a host together, which one thread of ours puts together;
 * and what a cpu may walk however many there are.
 */
#define WIRE_OFFCPU_MOST_WALKS	400
#define WIRE_OFFCPU_HOST_WALKS	800
#define WIRE_OFFCPU_LEAST_WALKS 10

/* What came of a stack when its thread left. */
enum wire_offcpu_fate {
	WIRE_OFFCPU_THINNED, /* it was not walked */
	WIRE_OFFCPU_WALKED,  /* it is being walked just now */
	WIRE_OFFCPU_SENT,
	WIRE_OFFCPU_LOST, /* for a reason: this number and more, by enum wire_loss */
};

/* The average length of waits that were not walked has so many bits behind the point. */
#define WIRE_OFFCPU_SKIPPED_SHIFT 8

/* What ended a wait (--waker): wire_sample.waker of the sample of who did it. */
enum wire_waker {
	WIRE_WAKER_NONE, /* of no waker: the sample is one of another kind */
	WIRE_WAKER_THREAD,
	WIRE_WAKER_INTERRUPT, /* whose thread has nothing to do with it; its user frames are not there */
	WIRE_WAKER_UNSURE, /* an interrupt's second half, or nobody knows: frames of the kernel tell */
	WIRE_WAKER_COUNT
};

struct wire_offcpu_site {
	wire_u64 square; /* of how long waits here are, on the average: bpf/sample/offcpu.h */
	wire_u32 key;	 /* of the place; 0: none */
	wire_u32 waits;	 /* of the first few hundred how many there were */
	wire_u64
		skipped; /* of -e nativelock: how long those are on the average that were not walked */
	wire_u32 skips; /* of the first few hundred of them how many there were */
	wire_u32 pad;
	wire_s64
		owed_ns; /* of -e wall: waited, and not in the weights of samples; of places that were here before, too */
};

/* By tid. */
struct wire_offcpu {
	wire_u64 start_ns; /* the thread's; another one of its tid has another */
	wire_u64 out_ns;   /* when it left, CLOCK_MONOTONIC; 0: it runs */
	wire_u64 woken_ns; /* when it was woken since then; 0: not */
	wire_u64 run_ns;   /* how long it had run when it left */
	struct wire_offcpu_site sites[WIRE_OFFCPU_SITES];
	wire_u8 site; /* where it waits */
	wire_u8 next; /* whose place a new one takes */
	wire_u8 halved;
	wire_u8 fate;  /* enum wire_offcpu_fate */
	wire_u8 state; /* enum wire_state */
	wire_u8 cause; /* enum wire_cause, where its stack was walked */
	wire_u8 pad[2];
};

/* Of the LENGTH_NS for which it was gone, how long it could have run. */
static inline wire_u64 wire_offcpu_queued(const struct wire_offcpu *thread, wire_u64 length_ns)
{
	wire_u64 asleep_ns = thread->woken_ns - thread->out_ns;

	if (thread->state == WIRE_STATE_QUEUED)
		return length_ns;
	if (thread->woken_ns <= thread->out_ns || asleep_ns > length_ns)
		return 0;
	return length_ns - asleep_ns;
}

/* What a wait of -e wall weighs that the end of the recording ends: with all that is owed to its place. */
static inline wire_u64 wire_offcpu_last_weight(const struct wire_offcpu *thread, wire_u64 length_ns)
{
	wire_s64 owed_ns = thread->sites[thread->site % WIRE_OFFCPU_SITES].owed_ns;
	wire_s64 weight = (wire_s64)length_ns + owed_ns;

	return weight > 0 ? (wire_u64)weight : 0;
}

/* What a wait of -e nativelock weighs that was walked with a chance of 2^-HALVED: itself, and the others as those were that were not (bpf/sample/offcpu.h). */
static inline wire_u64 wire_offcpu_typical_weight(const struct wire_offcpu_site *site,
						  wire_u64 length_ns, wire_u32 halved)
{
	wire_u64 other_ns = site->skips ? site->skipped >> WIRE_OFFCPU_SKIPPED_SHIFT : length_ns;

	return length_ns + other_ns * ((1ULL << (halved & 31)) - 1);
}

/* The thread of a sample that is WIRE_SAMPLE_OPEN runs again. */
struct wire_span {
	wire_u32 size;
	wire_u16 kind; /* WIRE_SPAN */
	wire_u8 event;
	wire_u8 halved;
	wire_u64 time_ns;   /* as of the sample */
	wire_u64 length_ns; /* 0: it was too short to be wanted */
	wire_u64 queued_ns; /* of that, from when it was woken */
	wire_u64 weight_ns; /* of the sample: the length by its chance, about */
	wire_u32 tgid;
	wire_u32 tid;
};

/* Words of struct pt_regs (arch/x86/include/asm/ptrace.h), which is user ABI, and where some of them lie. */
#define WIRE_PARKED_REGS    21
#define WIRE_PARKED_DI	    14
#define WIRE_PARKED_ORIG_AX 15
#define WIRE_PARKED_IP	    16
#define WIRE_PARKED_CS	    17
#define WIRE_PARKED_SP	    19

/*
 * A thread that was off the cpus when sampling began, as the program that is shown all threads tells of it. What it
 * entered the kernel with, for userspace to walk.
 */
struct wire_parked {
	wire_u32 size; /* of the whole record in bytes */
	wire_u32 tgid;
	wire_u32 tid;
	wire_u32 exec_id;
	wire_u64 since_ns; /* sampling began: its book's out_ns */
	wire_u64 start_ns; /* the process's */
	wire_u64 cgroup_id;
	wire_u64 stack_top;  /* mm->start_stack; 0: it has no memory */
	wire_u64 exec_pages; /* mm->exec_vm */
	wire_u64 regs[WIRE_PARKED_REGS];
	wire_u32 kernel_frames;
	wire_u8 state;	  /* enum wire_state */
	wire_u8 cause;	  /* enum wire_cause */
	wire_u8 has_regs; /* they could be read */
	wire_u8 pad;
	char comm[16];
	wire_u64 words[]; /* kernel addresses, leaf first */
};

_Static_assert(sizeof(struct wire_offcpu) == 32 + 40 * WIRE_OFFCPU_SITES + 8, "wire_offcpu");
_Static_assert(sizeof(struct wire_span) == 48, "wire_span");
_Static_assert(sizeof(struct wire_parked) == 248, "wire_parked");

#endif
