// SPDX-License-Identifier: Apache-2.0
#include "cmd/event_args.h"

#include <errno.h>
#include <string.h>

#include "elf/reader/reader.h"
#include "symbolize/probe_find.h"
#include "symbolize/watch_find.h"
#include "wall/wall.h"

_Static_assert(USDT_MAX_PLACES == PROBE_USDT_PLACES, "places of a USDT probe");

static int find_probe(const struct event_args *args, struct uprobe *probe, struct err *err)
{
	const struct probe_request request = { .library = probe->library,
					       .function = probe->function,
					       .plus = probe->plus,
					       .pids = args->pids,
					       .pid_count = args->pid_count };
	struct probe_place place;
	int r = probe_find(&request, &place, err);

	if (r < 0)
		return r;
	snprintf(probe->path, sizeof(probe->path), "%s", place.path);
	probe->offset = place.offset;
	return 0;
}

static int find_usdt(const struct event_args *args, struct usdt *probe, struct err *err)
{
	const struct probe_request request = { .library = probe->library,
					       .function = probe->name,
					       .pids = args->pids,
					       .pid_count = args->pid_count };
	struct probe_usdt found;
	int r = probe_find_usdt(&request, probe->provider, &found, err);

	if (r < 0)
		return r;
	snprintf(probe->path, sizeof(probe->path), "%s", found.path);
	for (unsigned int i = 0; i < found.count; i++)
		probe->places[i] =
			(struct usdt_place){ found.places[i].offset, found.places[i].semaphore };
	probe->count = found.count;
	return 0;
}

/* A symbol's address is each process's own. */
static int find_breakpoint(const struct event_args *args, struct capture_event *event,
			   struct err *err)
{
	int r = 0;

	if (!args->pid_count) {
		err_set(err, -EINVAL, "'%s' needs -p: where a symbol is, is each process's own",
			event->name);
		return err_hint(err, "of an address, mem:0x…, it is known");
	}
	for (unsigned int i = 0; i < args->pid_count && r == 0; i++) {
		uint64_t address;

		r = watch_find(args->pids[i], event->breakpoint.symbol, &address, err);
		if (r == 0)
			r = breakpoint_add_place(&event->breakpoint, address, args->pids[i], err);
	}
	return r;
}

static int find_places(const struct event_args *args, struct capture_event *event, struct err *err)
{
	if (event->trigger != WIRE_TRIGGER_UPROBE)
		return find_breakpoint(args, event, err);
	return event->usdt.name[0] ? find_usdt(args, &event->usdt, err)
				   : find_probe(args, &event->probe, err);
}

/* Is there anything to look up? An address is known. */
static bool wants_places(const struct capture_event *event)
{
	return event->trigger == WIRE_TRIGGER_UPROBE ||
	       (capture_event_is_breakpoint(event) && !event->breakpoint.count);
}

/* All processes' mappings may be looked through, and libraries of anybody. The recording has a wall of its own, later. */
static int find_behind_wall(const struct event_args *args, struct capture_event *event,
			    struct err *err)
{
	int r = wall_begin(&reader_trade, NULL, err);

	if (r < 0)
		return r;
	reader_set_memory(PROBE_FIND_BYTES);
	r = find_places(args, event, err);
	reader_end();
	wall_end();
	return r;
}

/* Of two events that have waits: what one has the other has, too. */
static int refuse_both(const struct capture_event *a, const struct capture_event *b,
		       struct err *err)
{
	const struct capture_event *locks = capture_event_is_native_lock(a) ? a : b;
	const struct capture_event *all = locks == a ? b : a;

	err_set(err, -EINVAL, "-e: %s does not go with %s", b->name, a->name);
	if (!capture_event_is_native_lock(locks))
		return err_hint(err, "wall has all that offcpu has");
	return err_hint(err, "%s has what %s has, as [mutex] and [rwlock]", all->name, locks->name);
}

/* "alloc" and "alloc=64k" are one event, and one program tells of all waits. */
static int check_twice(const struct capture_event *events, size_t last, struct err *err)
{
	for (size_t i = 0; i < last; i++) {
		if (!strcmp(events[i].name, events[last].name))
			return err_set(err, -EINVAL, "-e: %s is there twice", events[last].name);
		if (capture_event_has_waits(&events[i]) && capture_event_has_waits(&events[last]))
			return refuse_both(&events[i], &events[last], err);
	}
	return 0;
}

static int parse_edge(const struct event_args *args, const char *option, const char *name,
		      struct capture_event *event, struct err *err)
{
	int r = capture_event_parse(name, args->freq_hz, event, err);

	if (r < 0)
		return r;
	if (!capture_event_is_function(event)) {
		err_set(err, -EINVAL, "%s: '%s' is no function that a process comes to", option,
			name);
		return err_hint(err,
				"uprobe:LIB:FUNC, uretprobe:LIB:FUNC or usdt:LIB:PROVIDER:NAME");
	}
	return find_behind_wall(args, event, err);
}

/* Waits begin and end at times of their own. */
static int check_window(const struct event_args *args, const struct capture_event *events,
			struct err *err)
{
	for (size_t i = 0; i < args->count; i++)
		if (capture_event_has_waits(&events[i]))
			return err_set(err, -EINVAL, "--begin and --end do not go with %s",
				       events[i].name);
	return 0;
}

int event_args_parse_window(const struct event_args *args, const struct capture_event *events,
			    struct event_window_args *window, struct capture_window *ret_window,
			    struct err *err)
{
	static const char *const options[2] = { "--begin", "--end" };
	const struct capture_event *edges[2] = { NULL, NULL };
	int r = 0;

	for (size_t i = 0; i < 2 && r == 0; i++) {
		if (!window->names[i])
			continue;
		r = check_window(args, events, err);
		if (r == 0)
			r = parse_edge(args, options[i], window->names[i], &window->events[i], err);
		edges[i] = &window->events[i];
	}
	*ret_window = (struct capture_window){ edges[0], edges[1] };
	return r;
}

int event_args_parse(const struct event_args *args, struct capture_event *ret_events,
		     struct err *err)
{
	for (size_t i = 0; i < args->count; i++) {
		struct capture_event *event = &ret_events[i];
		int r = capture_event_parse(args->names[i], args->freq_hz, event, err);

		if (r == 0)
			r = check_twice(ret_events, i, err);
		if (r == 0 && wants_places(event))
			r = find_behind_wall(args, event, err);
		if (r < 0)
			return r;
	}
	return 0;
}
