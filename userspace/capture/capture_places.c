// SPDX-License-Identifier: Apache-2.0
/* The part of capture that is in processes: probes that are found, and opened, while it runs. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/capture_private.h"

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
		    known->offset == probe->offset)
			return true;
	}
	return false;
}

int capture_add_place(struct capture *c, const struct capture_place *place, struct err *err)
{
	struct capture_probe probe = { .trigger = place->trigger,
				       .pid = place->pid,
				       .generation = place->generation,
				       .offset = place->offset };
	struct perf_place open = { .trigger = place->trigger, .pid = place->pid };
	struct uprobe uprobe;
	struct stat st;
	int r;

	if (!find_event(c, place->trigger, &open.event))
		return 0;
	if (stat(place->path, &st) < 0)
		return err_sys(err, -errno, "cannot open a library of process %u", place->pid);
	probe.device = st.st_dev;
	probe.inode = st.st_ino;
	if (is_there(c, &probe))
		return 0;
	r = uprobe_at(place->path, place->offset, &uprobe, err);
	if (r < 0)
		return r;
	open.probe = &uprobe;
	r = perf_event_open_place(&c->event_options, &open, &probe.fd, &probe.link, err);
	if (r == 0)
		vec_push(&c->places, probe);
	return r;
}

static void close_probe(const struct capture_probe *probe)
{
	close(probe->link);
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
