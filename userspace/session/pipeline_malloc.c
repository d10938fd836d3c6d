/* SPDX-License-Identifier: Apache-2.0 */
#include "session/pipeline_malloc.h"

#include "base/clock.h"
#include "base/strbuf.h"
#include "session/malloc/malloc_nested.h"
#include "session/pipeline_books.h"
#include "session/pipeline_show.h"

void pipeline_malloc_init(struct pipeline *pipeline)
{
	malloc_probes_init(&pipeline->malloc, pipeline->options, pipeline->options->follow_memory);
	pipeline->kept.is_on = pipeline->options->follow_memory;
	if (pipeline->kept.is_on)
		live_objects_set_limit(&pipeline->kept.objects, pipeline->plan.object_bytes);
}

static bool wants(const struct pipeline *pipeline, const struct process *process)
{
	return pipeline->malloc.shared || capture_is_target(pipeline->capture, process->pid,
							    process->cgroup ? process->cgroup : "");
}

void pipeline_malloc_add(struct process *process, void *data)
{
	struct pipeline *pipeline = data;
	const struct mapping *m;

	if (!pipeline->malloc.is_on || !wants(pipeline, process))
		return;
	vec_for_each (m, &process->mappings)
		malloc_probes_note(&pipeline->malloc, pipeline->capture, process->pid,
				   process->serial, m);
}

static void note(struct pipeline *pipeline, const struct side_event *event, uint64_t generation)
{
	_cleanup_free_ char *path = xstrdup(event->name);
	const struct mapping m = pipeline_books_mapping(event, path);

	malloc_probes_note(&pipeline->malloc, pipeline->capture, event->pid, generation, &m);
}

/* One probe is that of all processes: the sooner the better. */
void pipeline_malloc_maps_now(struct pipeline *pipeline, const struct side_event *event)
{
	if (pipeline->malloc.is_on && pipeline->malloc.shared)
		note(pipeline, event, 0);
}

/* It is this process's, and goes with it. */
void pipeline_malloc_maps(struct pipeline *pipeline, const struct side_event *event)
{
	const struct process *process;

	if (!pipeline->malloc.is_on || pipeline->malloc.shared)
		return;
	process = registry_find(pipeline->registry, event->pid);
	if (process && wants(pipeline, process))
		note(pipeline, event, process->serial);
}

bool pipeline_malloc_hides(const struct pipeline *pipeline, struct process *process,
			   const struct wire_sample *sample)
{
	return sample->flags & WIRE_SAMPLE_NATIVE && process &&
	       malloc_is_nested(&pipeline->malloc.files, process, sample);
}

bool pipeline_malloc_drops(struct pipeline *pipeline, struct process *process,
			   const struct wire_sample *sample)
{
	bool is = pipeline_malloc_hides(pipeline, process, sample);

	pipeline->malloc_nested += is;
	return is;
}

/* --- what is not given back --- */

void pipeline_malloc_add_event(struct pipeline *pipeline)
{
	if (pipeline->kept.is_on)
		pipeline->kept_event = live_objects_event(&pipeline->profile, "malloc-live");
}

void pipeline_malloc_note(struct pipeline *pipeline, const struct process *process,
			  const struct wire_sample *sample, const struct profile_sample *row)
{
	if (pipeline->kept.is_on && process)
		live_objects_add_sample(&pipeline->kept.objects, process->serial,
					sample->alloc_object, row);
}

void pipeline_malloc_forget(struct pipeline *pipeline, const struct process *process)
{
	if (!pipeline->options->pid_count)
		live_objects_forget(&pipeline->kept.objects, process->serial);
}

struct shown {
	struct pipeline *pipeline;
	uint64_t serial;
	size_t first;
};

static void show_one(struct process *process, void *data)
{
	const struct shown *shown = data;
	const struct ledger_entry *entry = NULL;

	if (process->serial == shown->serial)
		entry = ledger_find(&shown->pipeline->ledger, process);
	if (entry)
		pipeline_show_live(shown->pipeline, entry, shown->first);
}

/* A stream is told of those that are there yet: of others it has heard the end. */
static void show(uint64_t serial, size_t first, void *data)
{
	struct pipeline *pipeline = data;
	struct shown shown = { pipeline, serial, first };

	if (pipeline->sinks.one_by_one)
		registry_for_each(pipeline->registry, show_one, &shown);
}

void pipeline_malloc_tell(struct pipeline *pipeline)
{
	malloc_kept_tell(&pipeline->kept, pipeline->capture, clock_now_ns(), pipeline->kept_event,
			 &pipeline->profile, show, pipeline);
}

/* --- figures --- */

static void add(struct pipeline *pipeline, const char *figure, const char *detail, uint64_t value)
{
	if (value)
		profile_add_counter(&pipeline->profile, figure, detail, value);
}

void pipeline_malloc_write(struct pipeline *pipeline)
{
	const struct malloc_probes *probes = &pipeline->malloc;
	_cleanup_strbuf_ struct strbuf why = STRBUF_INIT;

	strbuf_addstr(&why, probes->failure.text);
	strbuf_disarm(&why, 0);
	add(pipeline, "malloc.files", "", probes->probed);
	add(pipeline, "malloc.not-probed", strbuf_str(&why), probes->failed);
	add(pipeline, "malloc.nested-samples", "", pipeline->malloc_nested);
	add(pipeline, "malloc.unread", "", pipeline->kept.unread);
	add(pipeline, "limits.malloc-files", "", probes->files.refused);
}
