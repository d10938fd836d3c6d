// SPDX-License-Identifier: Apache-2.0
#include "session/alloc/alloc_probes.h"

#include <errno.h>

#include "jvm/attach/attach_loaded.h"
#include "process/exec_maps.h"
#include "symbolize/probe_find.h"
#include "wall/wall.h"

/* jvmagent/alloc.h */
#define ALLOC_FUNCTION "hostprof_alloc"

struct probing {
	struct capture *capture;
	const struct process *process;
	enum wire_trigger trigger;
	const char *function;
	struct err *err;
	int failure; /* of the last one that failed */
	bool opened; /* one was */
};

/*
 * By its mapping a file is found in whatever mount namespace it is, and after its path has gone. The
 * kernel reads the page that it puts a probe into: that of a file that was looked at.
 */
static int probe_library(struct probing *p, const struct mapping *m)
{
	_cleanup_close_ int fd = -1;
	char path[WALL_LINK_BYTES];
	const struct probe_request request = { .library = path, .function = p->function };
	struct capture_place at = { .trigger = p->trigger,
				    .pid = p->process->pid,
				    .generation = p->process->serial,
				    .path = path };
	int r;

	wall_link(p->process->pid, m->start, m->end, path);
	fd = wall_open(p->process->pid, path);
	if (fd < 0)
		return err_sys(p->err, fd, "cannot open the agent of process %u", p->process->pid);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = probe_find_quickly(fd, &request, &at.offset, p->err);
	if (r == -ENOENT)
		return err_set(p->err, -EOPNOTSUPP,
			       "its agent is of an older hostprof, which has no %s()", p->function);
	if (r < 0)
		return r;
	return capture_add_place(p->capture, &at, p->err);
}

static void try_mapping(const struct exec_map *map, void *data)
{
	struct probing *p = data;
	int r;

	if (!attach_loaded_is_agent(map->m.path))
		return;
	r = probe_library(p, &map->m);
	p->opened |= r == 0;
	if (r < 0)
		p->failure = r;
}

int agent_probes_open(struct capture *capture, const struct process *process,
		      enum wire_trigger trigger, const char *function, struct err *err)
{
	struct probing p = { .capture = capture,
			     .process = process,
			     .trigger = trigger,
			     .function = function,
			     .err = err,
			     .failure = -ENODATA };
	char path[64];
	int r;

	err_set(err, -ENODATA, "process %u has a code map, and no agent's library", process->pid);
	snprintf(path, sizeof(path), "/proc/%u/maps", process->pid);
	r = exec_maps_read(process->pid, path, try_mapping, &p);
	if (r < 0)
		return err_sys(err, r, "cannot read the mappings of process %u", process->pid);
	return p.opened ? 0 : p.failure;
}

int alloc_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	return agent_probes_open(capture, process, WIRE_TRIGGER_ALLOC_AGENT, ALLOC_FUNCTION, err);
}

uint32_t alloc_probes_interval(const struct capture_options *options)
{
	const struct capture_event *event =
		capture_event_find(options->events, options->event_count, capture_event_is_alloc);

	return event ? (uint32_t)event->period : 0;
}
