// SPDX-License-Identifier: Apache-2.0
/* The part of capture that is in processes: probes that are found, and opened, while it runs. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macros.h"
#include "capture/capture_private.h"
#include "capture/probes/uprobe_session.h"

static const struct capture_event *find_event(const struct capture *c, enum wire_trigger trigger,
					      unsigned int *ret_index)
{
	for (unsigned int i = 0; i < c->event_options.count; i++) {
		*ret_index = i;
		if (capture_event_needs(&c->events[i], trigger))
			return &c->events[i];
	}
	return NULL;
}

static bool is_there(const struct capture *c, const struct capture_probe *probe)
{
	for (size_t i = 0; i < c->places.len; i++) {
		const struct capture_probe *known = &c->places.items[i];

		if (known->pid == probe->pid && known->generation == probe->generation &&
		    known->device == probe->device && known->inode == probe->inode &&
		    known->offset == probe->offset && known->trigger == probe->trigger)
			return true;
	}
	return false;
}

/* What PROBE is to be by PLACE. 1: it is there, or nobody wants it. */
static int prepare(const struct capture *c, const struct capture_place *place,
		   struct capture_probe *probe, unsigned int *ret_event, struct err *err)
{
	struct stat st;

	*probe = (struct capture_probe){ .trigger = place->trigger,
					 .pid = place->pid,
					 .generation = place->generation,
					 .offset = place->offset,
					 .fd = -1 };
	if (!find_event(c, place->trigger, ret_event))
		return 1;
	if (stat(place->path, &st) < 0)
		return err_sys(err, -errno, "cannot open a library of process %u", place->pid);
	probe->device = st.st_dev;
	probe->inode = st.st_ino;
	return is_there(c, probe);
}

int capture_add_place(struct capture *c, const struct capture_place *place, struct err *err)
{
	struct perf_place open = { .trigger = place->trigger,
				   .form = place->form,
				   .pid = place->pid,
				   .cpu = c->shared_cpu };
	struct capture_probe probe;
	struct uprobe uprobe;
	int r = prepare(c, place, &probe, &open.event, err);

	if (r)
		return MIN(r, 0);
	r = uprobe_at(place->path, place->offset, place->is_return, &uprobe, err);
	if (r < 0)
		return r;
	open.probe = &uprobe;
	r = perf_event_open_place(&c->event_options, &open, &probe.fd, &probe.link, err);
	if (r == 0)
		vec_push(&c->places, probe);
	return r;
}

bool capture_has_sessions(const struct capture *c)
{
	return c->has_sessions;
}

int capture_add_functions(struct capture *c, const struct capture_place *file,
			  const struct capture_function *functions, uint32_t count, struct err *err)
{
	uint64_t offsets[CAPTURE_MAX_FUNCTIONS], cookies[CAPTURE_MAX_FUNCTIONS];
	const struct uprobe_session session = { .path = file->path,
						.pid = file->pid,
						.count = count,
						.is_multi = file->trigger == WIRE_TRIGGER_MALLOC,
						.offsets = offsets,
						.cookies = cookies };
	struct capture_probe probe;
	unsigned int event;
	int r = prepare(c, file, &probe, &event, err);

	if (r)
		return MIN(r, 0);
	if (count > CAPTURE_MAX_FUNCTIONS)
		return err_set(err, -E2BIG, "%u functions of a file are too many", count);
	for (uint32_t i = 0; i < count; i++) {
		offsets[i] = functions[i].offset;
		cookies[i] = WIRE_PLACE_COOKIE(event, functions[i].form);
	}
	probe.link = uprobe_session_open(c->event_options.prog_fds[file->trigger], &session);
	if (probe.link < 0)
		return err_sys(err, probe.link, "cannot probe process %u", file->pid);
	vec_push(&c->places, probe);
	return 0;
}

static void close_probe(const struct capture_probe *probe)
{
	close(probe->link);
	if (probe->fd >= 0)
		close(probe->fd);
}

void capture_drop_places(struct capture *c, uint32_t pid, uint64_t generation)
{
	size_t kept = 0;

	for (size_t i = 0; i < c->places.len; i++) {
		const struct capture_probe probe = c->places.items[i];

		if (probe.pid == pid && probe.generation == generation)
			close_probe(&probe);
		else
			c->places.items[kept++] = probe;
	}
	c->places.len = kept;
}

void capture_close_places(struct capture *c)
{
	for (size_t i = 0; i < c->places.len; i++)
		close_probe(&c->places.items[i]);
	vec_release(&c->places);
}
