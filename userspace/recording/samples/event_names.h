/* SPDX-License-Identifier: Apache-2.0 */
/* The events that have types of their own in a file, and the reasons that tell their types from each other. */
#ifndef HOSTPROF_RECORDING_SAMPLES_EVENT_NAMES_H
#define HOSTPROF_RECORDING_SAMPLES_EVENT_NAMES_H

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
/* jdk.Compilation; its reason is by profile/compilation_reason.h. */
#define JFR_JIT_EVENT "jit"
/* jdk.GCPhasePause; its reason is the cause. */
#define JFR_GC_EVENT "gc"
/* jdk.ClassDefine. */
#define JFR_CLASSLOAD_EVENT "classload"
/* The reason of bpf/wire_states.def that is a part of it. */
#define JFR_OFF_CPU "off the cpu"
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

#endif
