/* SPDX-License-Identifier: Apache-2.0 */
#include "session/malloc/malloc_probes.h"

#include <unistd.h>

#include "wall/wall.h"

/* So many processes have probes of their own: each takes some dozens. */
#define MAX_OWN 32

void malloc_probes_init(struct malloc_probes *probes, const struct capture_options *options,
			bool frees)
{
	*probes = (struct malloc_probes){
		.is_on = capture_event_find(options->events, options->event_count,
					    capture_event_is_malloc) != NULL,
		.frees = frees,
		/* What follows its children has to be there when they begin. */
		.shared = !options->pid_count || options->follow_children || options->cgroup_path ||
			  options->pid_count > MAX_OWN,
	};
}

void malloc_probes_release(struct malloc_probes *probes)
{
	malloc_files_release(&probes->files);
}

static bool is_wanted(const struct malloc_probes *probes, const struct malloc_place *place)
{
	return place->form != WIRE_MALLOC_FORMS &&
	       (probes->frees || place->form != WIRE_MALLOC_FREE);
}

/* Where its result is known: only when somebody wants it, and no exception leaves it (malloc_may_return()). */
static int add_return(const struct malloc_probes *probes, struct capture *capture,
		      struct capture_place at, struct err *err)
{
	if (!probes->frees || at.form == WIRE_MALLOC_FREE || at.form == WIRE_MALLOC_NEW)
		return 0;
	at.trigger = WIRE_TRIGGER_MALLOC_RETURN;
	at.is_return = true;
	return capture_add_place(capture, &at, err);
}

/* Those of FILE that only take memory back, or the others. */
static int add_some(const struct malloc_probes *probes, struct capture *capture,
		    const struct malloc_file *file, struct capture_place at, bool frees,
		    struct err *err)
{
	const struct malloc_place *place;
	int r = 0;

	vec_for_each (place, &file->places) {
		if (!is_wanted(probes, place) || (place->form == WIRE_MALLOC_FREE) != frees)
			continue;
		at.form = place->form;
		at.offset = place->probe;
		r = add_return(probes, capture, at, err);
		if (r == 0)
			r = capture_add_place(capture, &at, err);
		if (r < 0)
			return r;
	}
	return r;
}

static int add_all_at_once(const struct malloc_probes *probes, struct capture *capture,
			   const struct malloc_file *file, struct capture_place at, struct err *err)
{
	struct capture_function functions[MALLOC_FUNCTIONS];
	const struct malloc_place *place;
	uint32_t count = 0;

	vec_for_each (place, &file->places)
		if (is_wanted(probes, place))
			functions[count++] = (struct capture_function){ place->form, place->probe };
	if (probes->frees)
		at.trigger = WIRE_TRIGGER_MALLOC_SESSION;
	return capture_add_functions(capture, &at, functions, count, err);
}

/* What is given is not seen before it is seen when it is given back, or it seemed to leak. */
static int add_places(const struct malloc_probes *probes, struct capture *capture,
		      const struct malloc_file *file, struct capture_place at, struct err *err)
{
	int r;

	if (capture_has_sessions(capture))
		return add_all_at_once(probes, capture, file, at, err);
	r = add_some(probes, capture, file, at, true, err);
	return r < 0 ? r : add_some(probes, capture, file, at, false, err);
}

/* By its mapping: a descriptor. */
static int open_file(uint32_t pid, const struct mapping *m, struct err *err)
{
	char path[WALL_LINK_BYTES];
	int fd;

	wall_link(pid, m->start, m->end, path);
	fd = wall_open(pid, path);
	return fd < 0 ? err_sys(err, fd, "cannot open %s of process %u", m->path, pid) : fd;
}

void malloc_probes_note(struct malloc_probes *probes, struct capture *capture, uint32_t pid,
			uint64_t generation, const struct mapping *m)
{
	struct malloc_file *file = malloc_files_get(&probes->files, pid, m);
	struct capture_place at = { .trigger = WIRE_TRIGGER_MALLOC };
	_cleanup_close_ int fd = -1;
	struct err err = { 0 };
	char path[64];

	if (!file || (probes->shared && file->probed))
		return;
	fd = open_file(pid, m, &err);
	/* Where this process has gone, or its file cannot be opened in time, the next one that maps it is asked. */
	file->probed = fd >= 0;
	/* The kernel reads the pages that it puts probes into: those of a file that was looked at. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	at.path = path;
	if (!probes->shared) {
		at.pid = pid;
		at.generation = generation;
	}
	if (fd >= 0 && add_places(probes, capture, file, at, &err) == 0) {
		probes->probed++;
		return;
	}
	if (!probes->failed++)
		probes->failure = err;
}
