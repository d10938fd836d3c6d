// SPDX-License-Identifier: Apache-2.0
#include "cmd/event_args.h"

#include <errno.h>
#include <string.h>

#include "elf/reader/reader.h"
#include "symbolize/probe_find.h"
#include "wall/wall.h"

/* All processes' mappings may be looked through, and libraries of anybody. The recording has a wall of its own, later. */
static int find_behind_wall(const struct probe_request *request, struct probe_place *ret_place,
			    struct err *err)
{
	int r = wall_begin(&reader_trade, NULL, err);

	if (r < 0)
		return r;
	reader_set_memory(PROBE_FIND_BYTES);
	r = probe_find(request, ret_place, err);
	reader_end();
	wall_end();
	return r;
}

static int find_probe(const struct event_args *args, struct uprobe *probe, struct err *err)
{
	const struct probe_request request = { .library = probe->library,
					       .function = probe->function,
					       .plus = probe->plus,
					       .pids = args->pids,
					       .pid_count = args->pid_count };
	struct probe_place place;
	int r = find_behind_wall(&request, &place, err);

	if (r < 0)
		return r;
	snprintf(probe->path, sizeof(probe->path), "%s", place.path);
	probe->offset = place.offset;
	return 0;
}

/* "alloc" and "alloc=64k" are one event. */
static int check_twice(const struct capture_event *events, size_t last, struct err *err)
{
	for (size_t i = 0; i < last; i++)
		if (!strcmp(events[i].name, events[last].name))
			return err_set(err, -EINVAL, "-e: %s is there twice", events[last].name);
	return 0;
}

int event_args_parse(const struct event_args *args, struct capture_event *ret_events,
		     struct err *err)
{
	for (size_t i = 0; i < args->count; i++) {
		struct capture_event *event = &ret_events[i];
		int r = capture_event_parse(args->names[i], args->freq_hz, event, err);

		if (r == 0)
			r = check_twice(ret_events, i, err);
		if (r == 0 && event->trigger == WIRE_TRIGGER_UPROBE)
			r = find_probe(args, &event->probe, err);
		if (r < 0)
			return r;
	}
	return 0;
}
