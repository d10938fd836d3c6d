/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neutral model: every event of every kind ends as a stack, a weight, a time and labels.
 * It is what a recording is written from and what every view is made of; a writer needs nothing
 * else. No I/O here.
 *
 * A profile owns everything that it refers to. Tables only grow; an entry's index is its id and
 * stays good until profile_release(). Equal entries get the same id. String id 0 is "", waker id 0 nobody.
 */
#ifndef HOSTPROF_PROFILE_PROFILE_H
#define HOSTPROF_PROFILE_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hmap.h"
#include "base/vec.h"

#define PROFILE_NONE UINT32_MAX /* "no such entry" for every id */

/* What code a frame is; names, colours and suffixes: frame_kind_info() in profile/frame_kind.h. */
enum frame_kind {
	FRAME_NATIVE, /* user code with or without a symbol */
	FRAME_CPP,    /* user code whose symbol is C++ (libjvm's own frames too) */
	FRAME_KERNEL,
	FRAME_JAVA_INTERPRETED,
	FRAME_JAVA_C1,
	FRAME_JAVA_JIT,	     /* C2, or JIT code of an unknown tier */
	FRAME_JAVA_INLINED,  /* inlined into the next frame root-wards that is not inlined */
	FRAME_STUB,	     /* code the JVM made: stubs, adapters, the interpreter itself */
	FRAME_JIT_OTHER,     /* JIT code of another runtime, named by /tmp/perf-PID.map */
	FRAME_CLASS,	     /* allocation profiles: the class, dotted, as the leaf: "byte[]" */
	FRAME_CLASS_OUTSIDE, /* the same, of an object that is known to lie outside a TLAB */
	FRAME_MARK,	     /* "[unwind: reason]", "[thread start]": not code */
	FRAME_INLINED,	     /* user code, inlined as FRAME_JAVA_INLINED is */
	FRAME_RECEIVER, /* the class, dotted, of the object that the stub next root-wards calls: no code */
	FRAME_COMPILING, /* the Java method that the thread compiles, as the root: no code of it runs */
	FRAME_KIND_COUNT
};

/* A file (or pseudo file) that code came from. */
struct profile_mapping {
	uint32_t path;	   /* string; "/usr/lib/libc.so.6", "[kernel]", "[vdso]", "[JIT]" */
	uint32_t build_id; /* string, lower-case hex; 0 when it has none */
	uint64_t start;	   /* the file's own virtual addresses of its text, start..limit */
	uint64_t limit;
	uint64_t offset; /* file offset of start */
};

struct profile_frame {
	uint32_t name; /* string; native: symbol or "" when there is none; Java: method name only */
	uint32_t class_name; /* string; Java: dotted class "java.lang.Thread"; an allocated class,
			      * "byte[]", or a receiver's, which have no `name`; else 0 */
	uint32_t file;	     /* string; source file, 0 when unknown */
	uint32_t mapping;    /* mapping id or PROFILE_NONE */
	uint64_t
		address; /* native: the file's own virtual address (of the call for callers); kernel: the address; Java: 0 */
	int32_t line;  /* 0 when unknown */
	int32_t bci;   /* Java bytecode index; -1 when unknown */
	uint32_t kind; /* enum frame_kind */
	uint32_t into; /* native without a symbol: how far into its function the address is; 0 also
			* when nobody knows where that begins */
	uint32_t descriptor; /* string; Java: the method's, "(I)V"; 0 when unknown */
	uint32_t pad;
};

/* Frames leaf first. */
struct profile_stack {
	const uint32_t *frames; /* borrowed from the profile; frame ids */
	uint32_t len;
};

/* A process generation: (pid, start time, exec count). */
struct profile_process {
	uint32_t pid;
	uint32_t exec_count;
	uint64_t start_ns;	  /* CLOCK_MONOTONIC; 0 when unknown */
	uint32_t name;		  /* string; comm */
	uint32_t exe;		  /* string; path of the executable, 0 unknown */
	uint32_t container_id;	  /* string; 64 hex digits or 0 */
	uint32_t cgroup;	  /* string; path or 0 */
	uint32_t jvm_version;	  /* string; 0 when not a JVM */
	uint32_t main_class;	  /* string; 0 when not a JVM or unknown */
	uint32_t container_name;  /* string; what its runtime calls the container, or 0 */
	uint32_t container_image; /* string; what that was made of, or 0 */
};

/* See thread_groups.h; the kernel's tids are less. */
#define PROFILE_TID_GROUP UINT32_MAX

/* Java's virtual threads need not have a name. */
#define PROFILE_VIRTUAL_THREAD "VirtualThread"

struct profile_thread {
	uint32_t process;    /* process id */
	uint32_t tid;	     /* PROFILE_TID_GROUP: of several threads */
	uint32_t name;	     /* string; the full Java thread name where known, else comm */
	uint32_t java_tid;   /* java.lang.Thread id, 0 when none or unknown */
	uint32_t is_virtual; /* 1: of Java's virtual ones; the tid is its carrier's */
};

/* An event kind, "cpu" or "cycles". */
struct profile_event {
	uint32_t name;	 /* string */
	uint32_t unit;	 /* string; "nanoseconds", "count", "bytes" */
	uint64_t period; /* nominal weight of one sample, 0 when it varies */
};

enum thread_state {
	STATE_RUNNING_USER,
	STATE_RUNNING_KERNEL,
	STATE_SLEEPING,
	STATE_UNKNOWN,
	STATE_BLOCKED, /* asleep where signals do not wake it */
	STATE_QUEUED,  /* it waits for a cpu */
	STATE_STOPPED,
};

/* Who has ended a thread's wait. */
struct profile_waker {
	uint32_t thread; /* PROFILE_NONE: none has, an interrupt */
	uint32_t
		stack; /* of that time; of an interrupt, which has come over some other code, only its own */
};

struct profile_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC; the first one's, when several are merged */
	uint64_t weight;  /* in the event's unit */
	uint64_t count;	  /* samples that were merged into this one */
	uint64_t objects; /* of an allocation event: what the weight stands for; else 0 */
	uint32_t event;
	uint32_t stack;
	uint32_t thread;
	uint32_t state; /* enum thread_state */
	uint32_t age;	/* of what is still alive: collections it has survived; else 0 */
	/* Of a wait, a safepoint or a compilation; else 0. */
	uint32_t chance; /* it is one of so many: its length is weight / chance */
	uint64_t
		queued; /* of the weight: it could have run, but others did; of a compilation: it was off the cpus */
	uint32_t reason; /* string: why it waited; what for, by whom */
	uint32_t waker;	 /* waker id; 0: nobody woke it, or it was not asked who */
	uint32_t
		identity; /* of a lock: its identity hash, of what a thread parked for an eighth of its address, 0: not known, of a compilation its number in the JVM's log; else 0 */
	uint32_t
		owner; /* of a lock: 1 + the thread that had it when the wait began, 0: not known; else 0 */
};

/* What happened to one process generation while recording; the quality statement. */
struct profile_quality {
	uint32_t process;
	uint32_t event;
	uint64_t samples;     /* taken */
	uint64_t complete;    /* of these, stacks that have all frames up to the thread's first */
	uint64_t weight;      /* of the samples taken */
	uint64_t lost;	      /* samples that did not fit into the ring */
	uint64_t lost_weight; /* their weight */
};

/* A count by name for the whole run: unwind reasons, decoder trouble, files not read in time. */
struct profile_counter {
	uint32_t name;	 /* string; "unwind.page-not-resident", "symbols.file-vanished" */
	uint32_t detail; /* string; a file name or "" */
	uint64_t value;
};

/* Where a sample is by what it is merged by: eight bytes a slot, for millions of samples. */
struct profile_sample_index {
	uint64_t *slots; /* owned; half the hash, then index + 1; 0 = free */
	size_t mask;	 /* slots - 1 */
	size_t len;
};

struct profile {
	struct intern strings, mappings, frames, stacks, processes, threads, events, wakers;
	VEC(struct profile_sample) samples;
	struct profile_sample_index sample_index; /* of profile_add_batch() */
	VEC(struct profile_quality) quality;
	struct hmap quality_index; /* of profile_add_quality() */
	VEC(struct profile_counter) counters;
	struct hmap counter_index; /* of profile_add_counter() */
	uint64_t start_wall_ns;	   /* CLOCK_REALTIME when the recording began */
	uint64_t start_ns;	   /* the same moment on CLOCK_MONOTONIC */
	uint64_t duration_ns;
	bool tells_wakers; /* samples of waits may have one */
	uint32_t host;	   /* string; nodename */
	uint32_t command;  /* string; the command line that made it */
};

void profile_init(struct profile *p);
void profile_release(struct profile *p);
/* What the tables take of memory. */
size_t profile_table_bytes(const struct profile *p);

uint32_t profile_string(struct profile *p, const char *s);
uint32_t profile_strn(struct profile *p, const char *s, size_t len);
uint32_t profile_mapping(struct profile *p, const struct profile_mapping *m);
uint32_t profile_frame(struct profile *p, const struct profile_frame *f);
uint32_t profile_stack(struct profile *p, const uint32_t *frames, uint32_t len);
uint32_t profile_process(struct profile *p, const struct profile_process *proc);
uint32_t profile_thread(struct profile *p, const struct profile_thread *t);
uint32_t profile_event(struct profile *p, const struct profile_event *e);
uint32_t profile_waker(struct profile *p, const struct profile_waker *w);

/* Borrowed entries by id. */
const char *profile_get_string(const struct profile *p, uint32_t id);
const struct profile_mapping *profile_get_mapping(const struct profile *p, uint32_t id);
const struct profile_frame *profile_get_frame(const struct profile *p, uint32_t id);
struct profile_stack profile_get_stack(const struct profile *p, uint32_t id);
const struct profile_process *profile_get_process(const struct profile *p, uint32_t id);
const struct profile_thread *profile_get_thread(const struct profile *p, uint32_t id);
const struct profile_event *profile_get_event(const struct profile *p, uint32_t id);
/* NULL: nobody. */
const struct profile_waker *profile_get_waker(const struct profile *p, uint32_t id);

/* Frame FRAME gets a name and a kind afterwards; profile_frame() does not find it as it was, or is, any more. */
void profile_name_frame(struct profile *p, uint32_t frame, uint32_t name, enum frame_kind kind);

/* Append one sample as it is. */
void profile_add(struct profile *p, const struct profile_sample *s);

/*
 * Add each of COUNT <= PROFILE_BATCH samples to the one with the same event, stack, thread,
 * state and age, or append it.
 */
#define PROFILE_BATCH 32
void profile_add_batch(struct profile *p, const struct profile_sample *samples, size_t count);

/* Indexes of all samples, those of one stack side by side in their order; caller frees. */
uint32_t *profile_order_by_stack(const struct profile *p);

/* Forget the samples, keep the tables. */
void profile_clear_samples(struct profile *p);

/* Add V to the entry of its (process, event), or append. */
void profile_add_quality(struct profile *p, const struct profile_quality *v);
void profile_add_counter(struct profile *p, const char *name, const char *detail, uint64_t value);

#endif
