/* SPDX-License-Identifier: Apache-2.0 */
/* Our events (recording/types.h) as bytes. Strings must be in the pools: jfr_pools_update(). */
#ifndef HOSTPROF_RECORDING_WRITE_EVENTS_H
#define HOSTPROF_RECORDING_WRITE_EVENTS_H

#include "base/strbuf.h"
#include "profile/profile.h"
#include "recording/write_pools.h"

/*
 * The event kinds that become jdk.ExecutionSample, jdk.ObjectAllocationSample and
 * profiler.LiveObject, hostprof.OffCpuSample, profiler.WallClockSample, profiler.NativeLock, hostprof.KernelLock, and waits for locks; all others are hostprof.EventSample.
 */
#define JFR_CPU_EVENT	      "cpu"
#define JFR_ALLOC_EVENT	      "alloc"
#define JFR_LIVE_EVENT	      "live"
#define JFR_MALLOC_EVENT      "malloc"
#define JFR_OFFCPU_EVENT      "offcpu"
#define JFR_WALL_EVENT	      "wall"
#define JFR_LOCK_EVENT	      "lock"
#define JFR_NATIVE_LOCK_EVENT "nativelock"
#define JFR_KERNEL_LOCK_EVENT "kernellock"
/* jdk.ExecuteVMOperation, and jdk.SafepointBegin and jdk.SafepointEnd of what it took to get there and back. */
#define JFR_SAFEPOINT_EVENT "safepoint"
/* The reason of bpf/wire_states.def that has a part of other waits, too. */
#define JFR_RUN_QUEUE "run queue"
/* Of that file, too: what makes a wait for a lock a jdk.JavaMonitorEnter, a jdk.JavaMonitorWait, a jdk.ThreadPark. */
#define JFR_BY_ENTER "monitor enter"
#define JFR_BY_WAIT  "Object.wait"
#define JFR_BY_PARK  "park"
/* Objects lie at multiples of 8: the identity of one that a thread parked for is so much of its address. */
#define JFR_ADDRESS_SHIFT 3
/* What makes a safepoint's sample one of these. */
#define JFR_REACHING "reaching safepoint"
#define JFR_LEAVING  "leaving safepoint"

void jfr_put_samples(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p);

/* hostprof.Recording. */
void jfr_put_recording(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       uint64_t time_ns);

/* hostprof.Event, hostprof.Process and hostprof.Mapping of the entries from FIRST on. */
void jfr_put_event_kinds(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
			 uint32_t first, uint64_t time_ns);
void jfr_put_processes(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		       uint32_t first, uint64_t time_ns);
void jfr_put_mappings(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		      uint32_t first, uint64_t time_ns);

/* hostprof.Quality and hostprof.Counter. */
void jfr_put_quality(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		     uint64_t time_ns);
void jfr_put_counters(struct strbuf *out, const struct jfr_pools *pools, const struct profile *p,
		      uint64_t time_ns);

#endif
