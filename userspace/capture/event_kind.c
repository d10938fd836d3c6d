/* SPDX-License-Identifier: Apache-2.0 */
/* Of what kind an event is, and which programs it needs. */
#include "capture/event.h"

#include <linux/perf_event.h>
#include <stddef.h>

bool capture_event_is_clock(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_PERF && event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CPU_CLOCK ||
		event->config == PERF_COUNT_SW_TASK_CLOCK);
}

bool capture_event_is_breakpoint(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_PERF && event->type == PERF_TYPE_BREAKPOINT;
}

bool capture_event_is_function(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_UPROBE;
}

bool capture_event_is_at_entry(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_UPROBE && !event->usdt.name[0] &&
	       !event->probe.is_return && !event->probe.plus;
}

bool capture_event_is_alloc(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_ALLOC_AGENT;
}

bool capture_event_is_lock(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_LOCK_AGENT;
}

bool capture_event_is_native_lock(const struct capture_event *event)
{
	return event->only_locks;
}

bool capture_event_is_kernel_lock(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_KERNEL_LOCK;
}

bool capture_event_is_safepoint(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_SAFEPOINT;
}

bool capture_event_is_jit(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_JIT;
}

bool capture_event_is_malloc(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_MALLOC;
}

bool capture_event_is_wall(const struct capture_event *event)
{
	return event->is_wall;
}

bool capture_event_has_waits(const struct capture_event *event)
{
	return event->is_wall || event->trigger == WIRE_TRIGGER_OFFCPU;
}

bool capture_event_has_virtual_waits(const struct capture_event *event)
{
	return capture_event_has_waits(event) && !event->only_locks;
}

const struct capture_event *capture_event_find(const struct capture_event *events,
					       unsigned int count,
					       bool (*is_such)(const struct capture_event *event))
{
	for (unsigned int i = 0; i < count; i++)
		if (is_such(&events[i]))
			return &events[i];
	return NULL;
}

bool capture_event_needs(const struct capture_event *event, enum wire_trigger trigger)
{
	if (capture_event_is_alloc(event))
		return trigger >= WIRE_TRIGGER_ALLOC_AGENT;
	if (capture_event_is_malloc(event))
		return trigger >= WIRE_TRIGGER_MALLOC && trigger <= WIRE_TRIGGER_MALLOC_SESSION;
	if (trigger >= WIRE_TRIGGER_LOCK_AGENT && trigger <= WIRE_TRIGGER_LOCK_WAKER)
		return capture_event_is_lock(event);
	if (trigger == WIRE_TRIGGER_JIT_SWITCH)
		return capture_event_is_jit(event);
	if (trigger == WIRE_TRIGGER_KERNEL_LOCK_BEGIN)
		return capture_event_is_kernel_lock(event);
	if (trigger >= WIRE_TRIGGER_OFFCPU && trigger <= WIRE_TRIGGER_OFFCPU_WAKER)
		return capture_event_has_waits(event);
	if (trigger == WIRE_TRIGGER_OFFCPU_YIELD)
		return capture_event_has_virtual_waits(event);
	if (trigger == WIRE_TRIGGER_OFFCPU_PARKED)
		return event->is_wall;
	return trigger == event->trigger;
}
