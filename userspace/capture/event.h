/* SPDX-License-Identifier: Apache-2.0 */
/* What -e names: parsing "cpu", "cycles", "page-faults", "uprobe:…", … into an event. */
#ifndef HOSTPROF_CAPTURE_EVENT_H
#define HOSTPROF_CAPTURE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "capture/events/breakpoint.h"
#include "capture/events/pmu_field.h"
#include "capture/probes/kprobe.h"
#include "capture/probes/uprobe.h"
#include "capture/probes/usdt.h"
#include "wire.h"

#define CAPTURE_MAX_FREQ_HZ    20000
#define CAPTURE_MAX_EVENT_NAME 512
/* Mean bytes between two samples of allocations: of a thread, by HotSpot's own default and within its int. */
#define CAPTURE_ALLOC_INTERVAL	   (512ULL << 10)
#define CAPTURE_MIN_ALLOC_INTERVAL (1ULL << 10)
#define CAPTURE_MAX_ALLOC_INTERVAL (1ULL << 30)
/* Waits that are wanted, by default and at most. */
#define CAPTURE_OFFCPU_LEAST_NS	    1000000ULL
#define CAPTURE_MAX_OFFCPU_LEAST_NS 60000000000ULL
/* Of wall: what a sample stands for, about. */
#define CAPTURE_WALL_INTERVAL_NS 10000000ULL
#define CAPTURE_LOCK_LEAST_NS	 10000ULL

struct capture_event {
	char name
		[CAPTURE_MAX_EVENT_NAME]; /* as typed: "cpu"; of "alloc=64k", "cycles=1M" the name */
	char unit[16];			  /* of the weight: "nanoseconds", "count" or "bytes" */
	uint32_t type;			  /* perf_event_attr.type */
	uint64_t config;
	uint64_t more_configs[PMU_CONFIGS - 1]; /* config1, config2 */
	uint64_t period;  /* fixed period in the event's unit; 0: by frequency */
	uint32_t freq_hz; /* what was asked for; of use with period 0 */
	bool fell_back;	  /* a PMU event was asked for and there is no PMU: this is cpu-clock */
	uint64_t
		least_ns; /* of "offcpu", "nativelock", "lock", "kernellock", "safepoint", "jit" and "gc": what is shorter is left out */
	bool only_locks;  /* of "nativelock": no other waits */
	bool is_wall;	  /* a clock's samples, and waits of all lengths */
	enum wire_trigger trigger;
	struct uprobe probe;	      /* of WIRE_TRIGGER_UPROBE, but of a USDT probe: */
	struct usdt usdt;	      /* its name is "" in others */
	struct kprobe kprobe;	      /* of WIRE_TRIGGER_KPROBE */
	struct breakpoint breakpoint; /* of PERF_TYPE_BREAKPOINT */
};

/*
 * One event by name, sampled FREQ_HZ times a second. "cpu" is cpu-clock with a fixed period of
 * 1e9 / FREQ_HZ ns; what the kernel counts itself (page-faults, …) has a fixed period too, whatever
 * FREQ_HZ is. "=PERIOD" behind the name of a counter, a clock or a breakpoint is its period. A hardware event where there is no PMU becomes
 * cpu-clock with fell_back set (the caller says so); one of a cache, or of a PMU by name, is refused. A probe (uprobe:LIB:FUNC[+OFF],
 * uretprobe:LIB:FUNC, usdt:LIB:PROVIDER:NAME, kprobe:FUNC[+OFF], kretprobe:FUNC), a breakpoint (mem:SYMBOL[+OFF][/LEN][:rwx]) and a tracepoint
 * (GROUP:NAME) weigh 1 each time; where a probe's function or a breakpoint's symbol is, the caller looks up. "alloc[=INTERVAL]" and "malloc[=INTERVAL]" have the mean
 * interval of their samples as period, in bytes; that of malloc may be 0, each call; "offcpu[=MIN]", "nativelock[=MIN]", "lock[=MIN]", "kernellock[=MIN]", "safepoint[=MIN]", "jit[=MIN]" and "gc[=MIN]" the least length of what they tell of; "wall[=INTERVAL]" is a clock, and waits. -EINVAL names the known events;
 * -EOPNOTSUPP: the kernel has no such; -ENOENT: there is no tracefs, or no such tracepoint.
 */
int capture_event_parse(const char *name, uint32_t freq_hz, struct capture_event *ret_event,
			struct err *err);

/*
 * The bytes of the first name of LIST, up to a comma. Commas within the slashes of a PMU's event are its own, and from the name of a
 * probe in a file on, as libraries and functions may have such.
 */
size_t capture_event_len(const char *list);

/* Functions between which a process's samples are wanted (a probe each: capture_event_is_function()); NULL: from the start, to the end. */
struct capture_window {
	const struct capture_event *begin, *end;
};

/* What -e takes: a name, or a form of names. */
struct capture_event_row {
	const char *name;
	const char *unit; /* of the weight */
	const char *help; /* its line of `hostprof help events`; NULL: another's line names it */
	uint32_t type;	  /* perf_event_attr.type; of a name */
	uint64_t config;
	uint64_t period;     /* 0: by frequency */
	bool is_form;	     /* parsed, not compared */
	const char *example; /* of a form one that tells whether it works; NULL: none does */
};

/* All of them; the last one has no name. */
extern const struct capture_event_row capture_event_rows[];

/* cpu-clock or task-clock: a timer of fixed period, weights in ns. */
bool capture_event_is_clock(const struct capture_event *event);

/* mem:…, of a symbol or an address. */
bool capture_event_is_breakpoint(const struct capture_event *event);

/* Is it a user function's call, its return, or a place in it: uprobe:, uretprobe:, usdt:? */
bool capture_event_is_function(const struct capture_event *event);

/* Are its samples taken at the first instruction of a function, which a probe hides? */
bool capture_event_is_at_entry(const struct capture_event *event);

/* Allocations of JVMs: their places are found while it runs (capture_add_place()). */
bool capture_event_is_alloc(const struct capture_event *event);

/* Waits for locks of JVMs, likewise. */
bool capture_event_is_lock(const struct capture_event *event);

/* Waits for mutexes and read-write locks of native code: offcpu's, of which the others are left out. */
bool capture_event_is_native_lock(const struct capture_event *event);

/* Waits for locks of the kernel's own. */
bool capture_event_is_kernel_lock(const struct capture_event *event);

/* JVMs that stop their threads, likewise. */
bool capture_event_is_safepoint(const struct capture_event *event);

/* What JVMs compile, likewise. */
bool capture_event_is_jit(const struct capture_event *event);

/* Native memory: its places are found while it runs, too. */
bool capture_event_is_malloc(const struct capture_event *event);

/* Time of threads on and off the cpus: it has waits, as offcpu has. */
bool capture_event_is_wall(const struct capture_event *event);
bool capture_event_has_waits(const struct capture_event *event);
/* Those of virtual threads without a carrier, too. */
bool capture_event_has_virtual_waits(const struct capture_event *event);

/* The first of COUNT EVENTS that IS_SUCH; NULL: none is. */
const struct capture_event *capture_event_find(const struct capture_event *events,
					       unsigned int count,
					       bool (*is_such)(const struct capture_event *event));

/* Has EVENT samples that TRIGGER's program takes? Those of allocations come from several. */
bool capture_event_needs(const struct capture_event *event, enum wire_trigger trigger);

/* Is there a hardware PMU for cycles, cache-misses, rNNN, …? Many virtual machines have none. */
bool capture_has_pmu(void);

#endif
