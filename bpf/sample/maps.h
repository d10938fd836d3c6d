/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* What is sampled, and maps of the BPF programs. Sizes that depend on the host are set before loading. */
#ifndef HOSTPROF_BPF_SAMPLE_MAPS_H
#define HOSTPROF_BPF_SAMPLE_MAPS_H

#include "sample/bucket.h"
#include "sample/tick.h"
#include "unwind/cursor.h"
#include "unwind/table_maps.h"

/* By event index: its ticks are timers of the cpu, and weigh nanoseconds. */
const volatile bool event_is_clock[WIRE_MAX_EVENTS];
/* Its waits are samples, too. */
const volatile bool event_is_wall[WIRE_MAX_EVENTS];
/* Its samples are taken at the first instruction of a function. */
const volatile bool event_at_entry[WIRE_MAX_EVENTS];
/* --cpu: a bit for each, with settings.filter_cpus. */
const volatile wire_u64 cpus_wanted[WIRE_MAX_CPUS / 64];
/* The event of a trigger that is attached by itself: its program has no cookie before Linux 6.10. */
const volatile wire_u32 trigger_event[WIRE_TRIGGER_COUNT];
/* Nothing is sampled before. Timers run from when they are opened, so that they are out of step by then. */
volatile bool sampling;
/* CLOCK_MONOTONIC when that began: of a thread that was made later all the run time is ours. */
volatile wire_u64 sampling_since_ns;
/* A reader is woken when a ring holds this much; it looks at times anyway. */
const volatile wire_u32 ring_wakeup_bytes = 16384;
/* So much of a stack is copied; a miss_buffer has room for it. */
const volatile wire_u32 miss_copy_bytes = WIRE_MISS_MAX_COPY;
const volatile wire_u32 miss_buffer_count = 1;

/* One ring per cpu, made by userspace for the cpus that are online. */
struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1); /* possible cpus */
	__type(key, wire_u32);
	__array(values, struct ring);
} rings SEC(".maps");

/*
 * The record under construction. A sample can interrupt another program of ours on the same cpu
 * (a probe, a tracepoint), so that there is one per level of nesting. By cpu and level: a per-cpu
 * map's values end at 32 KiB, and 2,048 interpreted frames take 80.
 */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-variable-sized-type-not-at-end"

struct scratch {
	struct unwind_cursor cursor;
	struct pt_regs regs;
	struct wire_sample sample; /* its words[] are the next member */
	wire_u64 words[UNWIND_OUT_WORDS + WIRE_NAME_WORDS(WIRE_TEXT_BYTES)];
};

#pragma clang diagnostic pop

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_SCRATCH_LEVELS); /* times possible cpus */
	__type(key, wire_u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

struct cpu_state {
	wire_u32 busy[WIRE_SCRATCH_LEVELS]; /* 1: this scratch record is in use */
	wire_u32 pad;
	struct rq *rq; /* the scheduler's run queue of this cpu; NULL until looked for */
	struct bucket misses;
	struct bucket offcpu_misses; /* they would leave nothing for the clock */
	wire_u64 woken_at;	     /* up to where the reader of the ring was last told to read */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct cpu_state);
} cpu_states SEC(".maps");

/* What is kept of each thread that a clock has sampled: see tick_take(). */
struct task_clock {
	wire_u64 seen_ns[WIRE_MAX_EVENTS];
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct task_clock);
} task_clocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_COUNTER_SLOTS);
	__type(key, wire_u32);
	__type(value, wire_u64);
} counters SEC(".maps");

/* tgid -> start time of that process, or 0 until it is first seen. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_TARGETS);
	__type(key, wire_u32);
	__type(value, wire_u64);
} targets SEC(".maps");

/* By wire_space.jvm: a layout that is not its process's own any more is not found. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WIRE_MAX_JVMS);
	__type(key, wire_u32);
	__type(value, struct wire_jvm);
} jvms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024); /* process generations with losses between two looks */
	__type(key, struct wire_lost_key);
	__type(value, struct wire_lost);
} lost SEC(".maps");

static __always_inline void counter_add(wire_u32 which, wire_u64 n)
{
	wire_u32 key = which;
	wire_u64 *counter = bpf_map_lookup_elem(&counters, &key);

	if (counter)
		*counter += n;
}

#endif
