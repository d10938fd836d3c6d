// SPDX-License-Identifier: Apache-2.0
/* What -e takes, as hostprof help events explains it. */
#include <linux/perf_event.h>

#include "capture/event.h"
#include "capture/events/pmu_field.h"

/*
 * What the kernel counts by itself gets fixed periods. Asked for a frequency it looks for one (perf_adjust_period() in kernel/events/core.c), which after
 * a burst lasts for minutes; and a sample says that which begins with it: weights came out thirty times too big. So a busy host,
 * with 300,000 page faults or 50,000 context switches a second, has some thousand samples.
 */
#define FAULT_PERIOD	 64
#define SWITCH_PERIOD	 16
#define MIGRATION_PERIOD 4

#define SOFTWARE(name, every) \
	.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_##name, .period = (every)
#define HARDWARE(name) .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_##name

const struct capture_event_row capture_event_rows[] = {
	{ "cpu", "nanoseconds",
	  "CPU time, by timers on each cpu (the default); cpu-clock is the same",
	  SOFTWARE(CPU_CLOCK, 0) },
	{ "cpu-clock", "nanoseconds", SOFTWARE(CPU_CLOCK, 0) },
	{ "task-clock", "nanoseconds", "the same by the clock of tasks", SOFTWARE(TASK_CLOCK, 0) },
	{ "page-faults", "count", "also minor-faults, major-faults; faults is the same",
	  SOFTWARE(PAGE_FAULTS, FAULT_PERIOD) },
	{ "minor-faults", "count", SOFTWARE(PAGE_FAULTS_MIN, FAULT_PERIOD) },
	{ "major-faults", "count", SOFTWARE(PAGE_FAULTS_MAJ, 1) },
	{ "faults", "count", SOFTWARE(PAGE_FAULTS, FAULT_PERIOD) },
	{ "context-switches", "count",
	  "times that a thread left its cpu (cs); also cpu-migrations (migrations), cgroup-switches",
	  SOFTWARE(CONTEXT_SWITCHES, SWITCH_PERIOD) },
	{ "cs", "count", SOFTWARE(CONTEXT_SWITCHES, SWITCH_PERIOD) },
	{ "cpu-migrations", "count", SOFTWARE(CPU_MIGRATIONS, MIGRATION_PERIOD) },
	{ "migrations", "count", SOFTWARE(CPU_MIGRATIONS, MIGRATION_PERIOD) },
	{ "cgroup-switches", "count", SOFTWARE(CGROUP_SWITCHES, SWITCH_PERIOD) },
	{ "alignment-faults", "count",
	  "what the kernel did in place of the cpu; also emulation-faults",
	  SOFTWARE(ALIGNMENT_FAULTS, 1) },
	{ "emulation-faults", "count", SOFTWARE(EMULATION_FAULTS, 1) },
	{ "cycles", "count",
	  "(cpu-cycles); also instructions, cache-references, cache-misses, branches (branch-instructions), "
	  "branch-misses, ref-cycles, bus-cycles, "
	  "stalled-cycles-frontend, stalled-cycles-backend",
	  HARDWARE(CPU_CYCLES) },
	{ "cpu-cycles", "count", HARDWARE(CPU_CYCLES) },
	{ "instructions", "count", HARDWARE(INSTRUCTIONS) },
	{ "cache-references", "count", HARDWARE(CACHE_REFERENCES) },
	{ "cache-misses", "count", HARDWARE(CACHE_MISSES) },
	{ "branches", "count", HARDWARE(BRANCH_INSTRUCTIONS) },
	{ "branch-instructions", "count", HARDWARE(BRANCH_INSTRUCTIONS) },
	{ "branch-misses", "count", HARDWARE(BRANCH_MISSES) },
	{ "ref-cycles", "count", HARDWARE(REF_CPU_CYCLES) },
	{ "bus-cycles", "count", HARDWARE(BUS_CYCLES) },
	{ "stalled-cycles-frontend", "count", HARDWARE(STALLED_CYCLES_FRONTEND) },
	{ "stalled-cycles-backend", "count", HARDWARE(STALLED_CYCLES_BACKEND) },
	{ "CACHE-OP", "count",
	  "L1-dcache, L1-icache, LLC, dTLB, iTLB, branch or node, and -loads, -load-misses, -stores, -store-misses, "
	  "-prefetches, -prefetch-misses (LLC-load-misses)",
	  .is_form = true },
	{ "alloc[=INTERVAL]", "bytes",
	  "what JVMs allocate, a sample every INTERVAL bytes of a thread (default 512k)",
	  .is_form = true, .example = "alloc" },
	{ "malloc[=INTERVAL]", "bytes",
	  "native memory: malloc() and its kin, mmap(); likewise, every call with malloc=0",
	  .is_form = true, .example = "malloc" },
	{ "offcpu[=MIN]", "nanoseconds",
	  "time that threads are off the cpus, and why: waits of at least MIN (default 1ms)",
	  .is_form = true, .example = "offcpu" },
	{ "wall[=INTERVAL]", "nanoseconds",
	  "time of all threads, on and off the cpus: a sample about every INTERVAL of each (default 10ms)",
	  .is_form = true, .example = "wall" },
	{ "lock[=MIN]", "nanoseconds",
	  "time that Java threads wait for monitors, in Object.wait() and parked (java.util.concurrent), by class: waits of at least MIN (default 10us)",
	  .is_form = true, .example = "lock" },
	{ "nativelock[=MIN]", "nanoseconds",
	  "time that threads wait for mutexes and read-write locks of native code: waits of at least MIN (default 10us)",
	  .is_form = true, .example = "nativelock" },
	{ "kernellock[=MIN]", "nanoseconds",
	  "time that threads wait for locks of the kernel's own, by kind: waits of at least MIN (default 10us)",
	  .is_form = true, .example = "kernellock" },
	{ "safepoint[=MIN]", "nanoseconds",
	  "time that JVMs stop their threads, by operation (GC pauses among them): stops of at least MIN (default all)",
	  .is_form = true, .example = "safepoint" },
	{ "jit[=MIN]", "nanoseconds",
	  "time that JVMs take to compile methods, by method, compiler and tier: compilations of at least MIN (default all)",
	  .is_form = true, .example = "jit" },
	{ "gc[=MIN]", "nanoseconds",
	  "time that collectors stop JVMs' threads, by operation and cause: pauses of at least MIN (default all)",
	  .is_form = true, .example = "gc" },
	{ "classload", "count", "classes that JVMs load, by class, and who loads them",
	  .is_form = true, .example = "classload" },
	{ "rNNN", "count", "a raw event of the core PMU, in hexadecimal", .is_form = true,
	  .example = "r0" },
	{ "PMU/TERM/", "count",
	  "an event of a PMU by its fields, with commas, or its name, as in " PMU_SYSFS
	  " (cpu/event=0x3c,umask=0x0/, cpu/mem-loads/)",
	  .is_form = true },
	{ "mem:SYMBOL[+OFF][/LEN][:rwx]", "count",
	  "a variable of the processes of -p is read or written (:w written, :x a function is run), or an address (mem:0x…)",
	  .is_form = true },
	{ "uprobe:LIB:FUNC[+OFF]", "count",
	  "a function of a library or program is called, or its instruction at OFF bytes is reached",
	  .is_form = true, .example = "uprobe:lib:f" },
	{ "uretprobe:LIB:FUNC", "count", "it returns; the stack is its caller's", .is_form = true,
	  .example = "uretprobe:lib:f" },
	{ "usdt:LIB:PROVIDER:NAME", "count",
	  "a probe that a library or program has in itself is reached (usdt:libjvm.so:hotspot:gc__begin)",
	  .is_form = true, .example = "usdt:lib:provider:name" },
	{ "kprobe:FUNC[+OFF]", "count",
	  "a function of the kernel is called; kretprobe:FUNC: it returns", .is_form = true,
	  .example = "kprobe:vfs_read" },
	{ "kretprobe:FUNC", "count", .is_form = true, .example = "kretprobe:vfs_read" },
	{ "GROUP:NAME", "count",
	  "a tracepoint of the kernel, as in /sys/kernel/tracing/events (sched:sched_switch)",
	  .is_form = true, .example = "sched:sched_switch" },
	{ "EVENT=PERIOD", "count",
	  "a counter, clock or mem: with a sample at every PERIOD of them, whatever -F says (cycles=1M, cpu=1ms, page-faults=1)",
	  .is_form = true },
	{ .name = NULL },
};
