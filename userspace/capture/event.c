// SPDX-License-Identifier: Apache-2.0
#include "capture/event.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "capture/events/cache_event.h"
#include "capture/events/pmu_event.h"
#include "capture/probes/contention.h"
#include "capture/probes/tracepoint.h"

#define ALLOC_NAME	 "alloc"
#define MALLOC_NAME	 "malloc"
#define OFFCPU_NAME	 "offcpu"
#define WALL_NAME	 "wall"
#define LOCK_NAME	 "lock"
#define NATIVE_LOCK_NAME "nativelock"
#define SAFEPOINT_NAME	 "safepoint"
#define KERNEL_LOCK_NAME "kernellock"
#define JIT_NAME	 "jit"
#define CLASSLOAD_NAME	 "classload"
#define GC_NAME		 "gc"

/* The core PMU registers itself under one of these names (arch/x86/events/core.c). */
bool capture_has_pmu(void)
{
	return access("/sys/bus/event_source/devices/cpu", F_OK) == 0 ||
	       access("/sys/bus/event_source/devices/cpu_core", F_OK) == 0;
}

/* "r1a8": a raw event of the core PMU, in hex as `perf list` and the vendors' manuals give it. */
static int event_parse_raw(const char *name, uint64_t *ret_config)
{
	char *end;

	if (name[0] != 'r' || !name[1] || strspn(name + 1, "0123456789abcdefABCDEF") > 16)
		return -EINVAL;
	errno = 0;
	*ret_config = strtoull(name + 1, &end, 16);
	/* strtoull() takes blanks and signs; strspn above has counted digits only. */
	if (errno || *end || strspn(name + 1, "0123456789abcdefABCDEF") != strlen(name + 1))
		return -EINVAL;
	return 0;
}

static int event_unknown(const char *name, struct err *err)
{
	_cleanup_strbuf_ struct strbuf known = STRBUF_INIT;

	for (const struct capture_event_row *row = capture_event_rows; row->name; row++)
		if (row->help)
			strbuf_addf(&known, "%s%s", known.len ? ", " : "", row->name);
	err_set(err, -EINVAL, "unknown event '%s'", name);
	return err_hint(err, "known events: %s; see: hostprof help events", strbuf_str(&known));
}

static void event_set_clock(struct capture_event *event, uint32_t freq_hz)
{
	event->type = PERF_TYPE_SOFTWARE;
	event->config = PERF_COUNT_SW_CPU_CLOCK;
	event->period = NSEC_PER_SEC / freq_hz;
	event->freq_hz = 0;
	snprintf(event->unit, sizeof(event->unit), "nanoseconds");
}

static int event_lookup(const char *name, struct capture_event *event)
{
	for (const struct capture_event_row *row = capture_event_rows; row->name; row++) {
		if (row->is_form || strcmp(name, row->name) != 0)
			continue;
		event->type = row->type;
		event->config = row->config;
		event->period = row->period;
		snprintf(event->unit, sizeof(event->unit), "%s", row->unit);
		return 0;
	}
	event->type = PERF_TYPE_RAW;
	snprintf(event->unit, sizeof(event->unit), "count");
	if (event_parse_raw(name, &event->config) == 0)
		return 0;
	event->type = PERF_TYPE_HW_CACHE;
	return cache_event_parse(name, &event->config);
}

/* WORD, or "WORD=…". */
static bool event_is_word(const char *name, const char *word)
{
	size_t len = strlen(word);

	return strncmp(name, word, len) == 0 && (name[len] == 0 || name[len] == '=');
}

/* What is sampled by bytes: "alloc" or "alloc=64k". */
static const struct bytes_event {
	const char *name;
	enum wire_trigger trigger;
	bool may_be_0; /* every call */
} bytes_events[] = {
	{ ALLOC_NAME, WIRE_TRIGGER_ALLOC_AGENT, false },
	{ MALLOC_NAME, WIRE_TRIGGER_MALLOC, true },
};

static const struct bytes_event *event_find_bytes(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(bytes_events); i++)
		if (event_is_word(name, bytes_events[i].name))
			return &bytes_events[i];
	return NULL;
}

static int event_parse_bytes(const struct bytes_event *kind, const char *name,
			     struct capture_event *event, struct err *err)
{
	const char *interval = name + strlen(kind->name);

	event->trigger = kind->trigger;
	event->period = CAPTURE_ALLOC_INTERVAL;
	event->freq_hz = 0;
	snprintf(event->name, sizeof(event->name), "%s", kind->name);
	snprintf(event->unit, sizeof(event->unit), "bytes");
	if (!*interval)
		return 0;
	if (units_parse_bytes(interval + 1, &event->period) == 0 &&
	    ((event->period >= CAPTURE_MIN_ALLOC_INTERVAL &&
	      event->period <= CAPTURE_MAX_ALLOC_INTERVAL) ||
	     (kind->may_be_0 && !event->period)))
		return 0;
	err_set(err, -EINVAL, "'%s' does not say after how many bytes a sample is due", name);
	return err_hint(err, "intervals go from 1k to 1G, as in %s=64k%s", kind->name,
			kind->may_be_0 ? "; 0: each call" : "");
}

/* What is sampled by the length of waits: "offcpu" or "offcpu=10us"; a bare number would be seconds, "0" is all of them. */
static const struct waits_event {
	const char *name;
	enum wire_trigger trigger;
	uint64_t least_ns;
	bool only_locks;
} waits_events[] = {
	{ OFFCPU_NAME, WIRE_TRIGGER_OFFCPU, CAPTURE_OFFCPU_LEAST_NS, false },
	{ NATIVE_LOCK_NAME, WIRE_TRIGGER_OFFCPU, CAPTURE_LOCK_LEAST_NS, true },
	{ LOCK_NAME, WIRE_TRIGGER_LOCK_AGENT, CAPTURE_LOCK_LEAST_NS, false },
	{ SAFEPOINT_NAME, WIRE_TRIGGER_SAFEPOINT, 0, false },
	{ KERNEL_LOCK_NAME, WIRE_TRIGGER_KERNEL_LOCK, CAPTURE_LOCK_LEAST_NS, false },
	{ JIT_NAME, WIRE_TRIGGER_JIT, 0, false },
	{ GC_NAME, WIRE_TRIGGER_GC, 0, false },
};

static const struct waits_event *event_find_waits(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(waits_events); i++)
		if (event_is_word(name, waits_events[i].name))
			return &waits_events[i];
	return NULL;
}

static int event_parse_waits(const struct waits_event *kind, const char *name,
			     struct capture_event *event, struct err *err)
{
	const char *least = name + strlen(kind->name);

	event->trigger = kind->trigger;
	event->least_ns = kind->least_ns;
	event->only_locks = kind->only_locks;
	event->freq_hz = 0;
	snprintf(event->name, sizeof(event->name), "%s", kind->name);
	snprintf(event->unit, sizeof(event->unit), "nanoseconds");
	if (*least && (units_parse_duration(least + 1, &event->least_ns) < 0 ||
		       event->least_ns > CAPTURE_MAX_OFFCPU_LEAST_NS)) {
		err_set(err, -EINVAL, "'%s' does not say how long a wait must be", name);
		return err_hint(err, "from 0 (all of them) to 60s, as in %s=10ms", kind->name);
	}
	return kind->trigger == WIRE_TRIGGER_KERNEL_LOCK ? contention_check(err) : 0;
}

/* "wall" or "wall=20ms": the cpu clock, with all waits beside it. */
static int event_parse_wall(const char *name, struct capture_event *event, struct err *err)
{
	const char *interval = name + strlen(WALL_NAME);

	event_set_clock(event, 1);
	event->is_wall = true;
	event->period = CAPTURE_WALL_INTERVAL_NS;
	snprintf(event->name, sizeof(event->name), WALL_NAME);
	if (!*interval)
		return 0;
	if (units_parse_duration(interval + 1, &event->period) == 0 &&
	    event->period <= NSEC_PER_SEC && event->period >= NSEC_PER_SEC / CAPTURE_MAX_FREQ_HZ)
		return 0;
	err_set(err, -EINVAL, "'%s' does not say how much time a sample stands for", name);
	return err_hint(err, "from 50us to 1s, as in wall=20ms");
}

/* Of an address it is known where it is. */
static int event_parse_breakpoint(const char *name, struct capture_event *event, struct err *err)
{
	struct breakpoint *breakpoint = &event->breakpoint;
	int r = breakpoint_parse(name, breakpoint, err);

	event->type = PERF_TYPE_BREAKPOINT;
	if (r < 0 || breakpoint->symbol[0])
		return r;
	return breakpoint_add_place(breakpoint, breakpoint->address, 0, err);
}

/* What happens at a place: a sample each time. */
static int event_parse_probe(const char *name, struct capture_event *event, struct err *err)
{
	event->period = 1;
	event->freq_hz = 0;
	snprintf(event->unit, sizeof(event->unit), "count");
	if (breakpoint_is_name(name))
		return event_parse_breakpoint(name, event, err);
	if (uprobe_is_name(name)) {
		event->trigger = WIRE_TRIGGER_UPROBE;
		return uprobe_parse(name, &event->probe, err);
	}
	if (usdt_is_name(name)) {
		event->trigger = WIRE_TRIGGER_UPROBE;
		return usdt_parse(name, &event->usdt, err);
	}
	if (kprobe_is_name(name)) {
		event->trigger = WIRE_TRIGGER_KPROBE;
		return kprobe_parse(name, &event->kprobe, err);
	}
	event->trigger = WIRE_TRIGGER_TRACEPOINT;
	event->type = PERF_TYPE_TRACEPOINT;
	return tracepoint_parse(name, &event->config, err);
}

/* "cpu/event=0x3c/": its terms may say the period, too. */
static int event_parse_pmu(const char *name, struct capture_event *event, struct err *err)
{
	struct pmu_event pmu;
	int r = pmu_event_parse(name, &pmu, err);

	if (r < 0)
		return r;
	event->type = pmu.type;
	event->config = pmu.configs[0];
	memcpy(event->more_configs, pmu.configs + 1, sizeof(event->more_configs));
	event->period = pmu.period;
	snprintf(event->unit, sizeof(event->unit), "count");
	return 0;
}

/* Each one that a JVM loads. */
static int event_parse_classload(struct capture_event *event)
{
	event->trigger = WIRE_TRIGGER_CLASS_LOAD;
	event->freq_hz = 0;
	event->period = 1;
	snprintf(event->unit, sizeof(event->unit), "count");
	return 0;
}

static int event_parse_name(const char *name, struct capture_event *event, struct err *err)
{
	const struct bytes_event *bytes = event_find_bytes(name);
	const struct waits_event *waits = event_find_waits(name);

	if (bytes)
		return event_parse_bytes(bytes, name, event, err);
	if (waits)
		return event_parse_waits(waits, name, event, err);
	if (event_is_word(name, WALL_NAME))
		return event_parse_wall(name, event, err);
	if (!strcmp(name, CLASSLOAD_NAME))
		return event_parse_classload(event);
	if (strchr(name, ':'))
		return event_parse_probe(name, event, err);
	if (pmu_event_is_name(name))
		return event_parse_pmu(name, event, err);
	if (event_lookup(name, event) < 0)
		return event_unknown(name, err);
	if (event->type == PERF_TYPE_HW_CACHE && !capture_has_pmu()) {
		err_set(err, -EOPNOTSUPP, "there is no hardware counter (PMU) here for '%s'", name);
		return err_hint(err, "virtual machines often have none");
	}
	return 0;
}

/* --- periods ---------------------------------------------------------------------------------- */

static bool event_takes_commas(const char *name)
{
	return uprobe_is_name(name) || usdt_is_name(name);
}

/* What is behind the equals sign is an interval, or a least length. */
static bool event_has_own_value(const char *name)
{
	return event_find_bytes(name) || event_find_waits(name) || event_is_word(name, WALL_NAME);
}

/* Where "=PERIOD" begins, NULL: there is none. Equals signs before a PMU's last slash are its terms'; allocations have an interval. */
static const char *event_find_period(const char *name)
{
	const char *slash = strrchr(name, '/');

	if (event_takes_commas(name) || event_has_own_value(name))
		return NULL;
	return strchr(slash ? slash : name, '=');
}

static bool event_may_have_period(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_PERF;
}

/* TEXT is behind the equals sign; a clock's is a time. */
static int event_set_period(struct capture_event *event, const char *text, struct err *err)
{
	bool is_clock = capture_event_is_clock(event);

	if (!event_may_have_period(event))
		return err_set(err, -EINVAL, "'%s' has no period: each one is a sample",
			       event->name);
	if ((is_clock ? units_parse_duration : units_parse_count)(text, &event->period) < 0 ||
	    !event->period) {
		err_set(err, -EINVAL, "'%s' is no period of '%s'", text, event->name);
		return err_hint(err, is_clock ? "periods of clocks are times: cpu=1ms"
					      : "periods are numbers: cycles=1000000, cycles=1M");
	}
	if (is_clock &&
	    (event->period > NSEC_PER_SEC || event->period < NSEC_PER_SEC / CAPTURE_MAX_FREQ_HZ))
		return err_set(err, -EINVAL, "'%s': periods of clocks go from 50us to 1s", text);
	return 0;
}

/* A frequency is for what has no period. */
static void event_settle_rate(struct capture_event *event, uint32_t freq_hz)
{
	bool is_core = event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_RAW;

	if (is_core && !capture_has_pmu()) {
		event->fell_back = true;
		event_set_clock(event, freq_hz);
	} else if (capture_event_is_clock(event) && !event->period) {
		event->period = NSEC_PER_SEC / freq_hz;
		event->freq_hz = 0;
	} else if (event->period && event->type != PERF_TYPE_SOFTWARE) {
		event->freq_hz = 0;
	}
}

int capture_event_parse(const char *name, uint32_t freq_hz, struct capture_event *ret_event,
			struct err *err)
{
	const char *period = event_find_period(name);
	size_t len = period ? (size_t)(period - name) : strlen(name);
	struct capture_event event = { .freq_hz = freq_hz };
	int r;

	if (freq_hz < 1 || freq_hz > CAPTURE_MAX_FREQ_HZ)
		return err_set(err, -EINVAL, "sampling frequency %u Hz is not within 1 to %u",
			       freq_hz, CAPTURE_MAX_FREQ_HZ);
	if (len >= sizeof(event.name))
		return event_unknown(name, err);
	snprintf(event.name, sizeof(event.name), "%.*s", (int)len, name);
	r = event_parse_name(event_has_own_value(name) ? name : event.name, &event, err);
	if (r == 0 && period)
		r = event_set_period(&event, period + 1, err);
	if (r < 0)
		return r;
	if (event.trigger == WIRE_TRIGGER_PERF)
		event_settle_rate(&event, freq_hz);
	*ret_event = event;
	return 0;
}

size_t capture_event_len(const char *list)
{
	size_t len = strcspn(list, ",/");
	const char *end;

	if (event_takes_commas(list))
		return strlen(list);
	if (list[len] != '/' || breakpoint_is_name(list))
		return strcspn(list, ",");
	end = strchr(list + len + 1, '/');
	return end ? (size_t)(end - list) + strcspn(end, ",") : strlen(list);
}
