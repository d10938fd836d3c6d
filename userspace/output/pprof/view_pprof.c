/* SPDX-License-Identifier: Apache-2.0 */
/* Layout: proto/profile.proto of google/pprof; readers insist on strings, not on an order. */
#include "output/pprof/view_pprof.h"

#include "output/gzip.h"
#include "output/pprof/pb.h"
#include "output/pprof/pprof_comments.h"
#include "output/pprof/pprof_fields.h"
#include "output/pprof/pprof_tables.h"
#include "profile/filter.h"
#include "profile/frame_kind.h"

/* Bytes collected before they are compressed. */
#define FLUSH_BYTES (64UL * 1024)

/* A range of a buffer that all entries share; made when first asked for. */
struct slice {
	size_t at;
	uint32_t len;
	bool made;
};

struct writer {
	const struct profile *p;
	const struct view_options *options;
	struct pprof_tables tables;
	struct gzip gz;
	struct strbuf out;
	struct strbuf body;    /* of the sample being written */
	struct strbuf label;   /* scratch */
	uint32_t *value_index; /* by event: index of its first value, PROFILE_NONE: not shown */
	bool *has_objects;     /* by event: its first value is objects, and not samples */
	VEC(uint64_t) values;  /* of one sample; two per shown event */
	struct slice *stacks;  /* by stack id, in location_ids */
	VEC(uint64_t) location_ids;
	struct slice *threads; /* by thread id, in labels */
	struct strbuf labels;  /* label fields, encoded */
};

static void flush(struct writer *w, size_t limit)
{
	if (w->out.len <= limit)
		return;
	gzip_write(&w->gz, w->out.buf, w->out.len);
	strbuf_reset(&w->out);
}

static bool is_inlined(const struct profile *p, uint32_t frame)
{
	uint32_t kind = profile_get_frame(p, frame)->kind;

	return kind == FRAME_JAVA_INLINED || kind == FRAME_INLINED;
}

/* Inlined methods and the frame that holds them are one location. */
static void add_locations(struct writer *w, struct profile_stack stack)
{
	uint32_t begin = 0;

	for (uint32_t i = 0; i < stack.len; i++) {
		if (i + 1 < stack.len && is_inlined(w->p, stack.frames[i]))
			continue;
		vec_push(&w->location_ids,
			 pprof_location(&w->tables, stack.frames + begin, i + 1 - begin));
		begin = i + 1;
	}
}

/* False when the filter leaves nothing of the stack. */
static bool get_locations(struct writer *w, uint32_t stack_id, struct slice *ret_slice)
{
	const struct profile_filter filter = { w->options->all_user, w->options->all_kernel };
	struct profile_stack whole = profile_get_stack(w->p, stack_id);
	struct slice *slice = &w->stacks[stack_id];

	if (!slice->made) {
		slice->made = true;
		slice->at = w->location_ids.len;
		add_locations(w, profile_filter_stack(w->p, &filter, whole));
		slice->len = (uint32_t)(w->location_ids.len - slice->at);
	}
	*ret_slice = *slice;
	return slice->len || !whole.len;
}

static void add_str_label(struct writer *w, const char *key, const char *value)
{
	if (!*value)
		return;
	strbuf_reset(&w->label);
	pb_add_u64(&w->label, LABEL_KEY, pprof_string(&w->tables, key));
	pb_add_u64(&w->label, LABEL_STR, pprof_string(&w->tables, value));
	pb_add_element(&w->labels, SAMPLE_LABEL, w->label.buf, w->label.len);
}

static void add_num_label(struct writer *w, const char *key, uint64_t value)
{
	strbuf_reset(&w->label);
	pb_add_u64(&w->label, LABEL_KEY, pprof_string(&w->tables, key));
	pb_add_u64(&w->label, LABEL_NUM, value);
	pb_add_element(&w->labels, SAMPLE_LABEL, w->label.buf, w->label.len);
}

static void add_labels(struct writer *w, const struct profile_thread *t)
{
	if (t->process != PROFILE_NONE) {
		const struct profile_process *proc = profile_get_process(w->p, t->process);

		add_num_label(w, "pid", proc->pid);
		add_str_label(w, "comm", profile_get_string(w->p, proc->name));
		add_str_label(w, "container_id", profile_get_string(w->p, proc->container_id));
		add_str_label(w, "container_name", profile_get_string(w->p, proc->container_name));
		add_str_label(w, "container_image",
			      profile_get_string(w->p, proc->container_image));
	}
	if (t->tid != PROFILE_TID_GROUP)
		add_num_label(w, "tid", t->tid);
	add_str_label(w, "thread", profile_get_string(w->p, t->name));
	if (t->is_virtual)
		add_num_label(w, "virtual_thread", t->java_tid);
}

static struct slice get_labels(struct writer *w, uint32_t thread)
{
	struct slice *slice;

	if (thread == PROFILE_NONE)
		return (struct slice){ 0 };
	slice = &w->threads[thread];
	if (!slice->made) {
		slice->made = true;
		slice->at = w->labels.len;
		add_labels(w, profile_get_thread(w->p, thread));
		slice->len = (uint32_t)(w->labels.len - slice->at);
	}
	return *slice;
}

static void write_sample(struct writer *w, const struct profile_sample *s)
{
	uint32_t first = w->value_index[s->event];
	struct slice stack, labels;

	if (first == PROFILE_NONE || !get_locations(w, s->stack, &stack))
		return;
	labels = get_labels(w, s->thread);
	w->values.items[first] = w->has_objects[s->event] ? s->objects : s->count;
	w->values.items[first + 1] = s->weight;
	strbuf_reset(&w->body);
	pb_add_packed(&w->body, SAMPLE_LOCATION_ID, w->location_ids.items + stack.at, stack.len);
	pb_add_packed(&w->body, SAMPLE_VALUE, w->values.items, w->values.len);
	strbuf_add(&w->body, w->labels.buf + labels.at, labels.len);
	pb_add_element(&w->out, PROFILE_SAMPLE, w->body.buf, w->body.len);
	w->values.items[first] = w->values.items[first + 1] = 0;
	flush(w, FLUSH_BYTES);
}

/* By stack: equal ones side by side compress to half the size in less than half the time. */
static void write_samples(struct writer *w)
{
	_cleanup_free_ uint32_t *order = profile_order_by_stack(w->p);

	for (size_t i = 0; i < w->p->samples.len; i++)
		write_sample(w, &w->p->samples.items[order[i]]);
}

static void write_value_type(struct writer *w, uint32_t field, const char *type, const char *unit)
{
	strbuf_reset(&w->body);
	pb_add_u64(&w->body, VALUE_TYPE_TYPE, pprof_string(&w->tables, type));
	pb_add_u64(&w->body, VALUE_TYPE_UNIT, pprof_string(&w->tables, unit));
	pb_add_element(&w->out, field, w->body.buf, w->body.len);
}

static bool *find_shown_events(const struct writer *w)
{
	uint32_t first = profile_filter_event(w->p, w->options->event);
	bool *shown = xcalloc(intern_len(&w->p->events) + 1, sizeof(*shown));
	const struct profile_sample *s;
	bool any = false;

	if (w->options->event == PROFILE_NONE) {
		vec_for_each (s, &w->p->samples)
			any = shown[s->event] = true;
	}
	if (!any && first != PROFILE_NONE)
		shown[first] = true;
	return shown;
}

/* The names that Go's heap profiles have given to objects and bytes; pprof's readers know them. */
static const struct heap_types {
	const char *event, *objects, *space;
} heap_types[] = {
	{ "alloc", "alloc_objects", "alloc_space" },
	{ "live", "inuse_objects", "inuse_space" },
	{ "malloc", "malloc_objects", "malloc_space" },
	{ "malloc-live", "malloc_inuse_objects", "malloc_inuse_space" },
};

static const struct heap_types *find_heap_types(const char *event)
{
	for (size_t i = 0; i < ARRAY_SIZE(heap_types); i++)
		if (!strcmp(heap_types[i].event, event))
			return &heap_types[i];
	return NULL;
}

/* Every shown event has two values; PLAIN: its samples are called so, and not after the event. */
static void write_event_types(struct writer *w, uint32_t event, bool plain)
{
	const struct profile_event *e = profile_get_event(w->p, event);
	const char *name = profile_get_string(w->p, e->name);
	const char *unit = profile_get_string(w->p, e->unit);
	const struct heap_types *heap = find_heap_types(name);
	const char *value = heap ? heap->space : name;
	_cleanup_strbuf_ struct strbuf count = STRBUF_INIT;

	if (heap)
		strbuf_addstr(&count, heap->objects);
	else
		strbuf_addf(&count, "%s%ssamples", plain ? "" : name, plain ? "" : "_");
	write_value_type(w, PROFILE_SAMPLE_TYPE, strbuf_str(&count), "count");
	write_value_type(w, PROFILE_SAMPLE_TYPE, value, unit);
	if (!w->values.len) {
		write_value_type(w, PROFILE_PERIOD_TYPE, value, unit);
		pb_add_u64(&w->out, PROFILE_PERIOD, e->period);
		pb_add_u64(&w->out, PROFILE_DEFAULT_SAMPLE_TYPE, pprof_string(&w->tables, value));
	}
	w->has_objects[event] = heap;
	w->value_index[event] = (uint32_t)w->values.len;
	vec_push(&w->values, 0);
	vec_push(&w->values, 0);
}

/* The event whose samples are just "samples": CPU time, else the first that has no objects. */
static uint32_t find_plain_event(const struct writer *w, const bool *shown)
{
	uint32_t first = PROFILE_NONE;

	for (uint32_t event = 0; event < intern_len(&w->p->events); event++) {
		const char *name = profile_get_string(w->p, profile_get_event(w->p, event)->name);

		if (!shown[event] || find_heap_types(name))
			continue;
		if (!strcmp(name, "cpu"))
			return event;
		if (first == PROFILE_NONE)
			first = event;
	}
	return first;
}

static void write_types(struct writer *w)
{
	_cleanup_free_ bool *shown = find_shown_events(w);
	uint32_t plain = find_plain_event(w, shown);

	for (uint32_t event = 0; event < intern_len(&w->p->events); event++) {
		w->value_index[event] = PROFILE_NONE;
		if (shown[event])
			write_event_types(w, event, event == plain);
	}
}

static void writer_init(struct writer *w, const struct profile *p,
			const struct view_options *options)
{
	*w = (struct writer){ .p = p, .options = options };
	pprof_tables_init(&w->tables, p, options->annotate);
	w->tables.names = options->names;
	w->value_index = xcalloc(intern_len(&p->events) + 1, sizeof(*w->value_index));
	w->has_objects = xcalloc(intern_len(&p->events) + 1, sizeof(*w->has_objects));
	w->stacks = xcalloc(intern_len(&p->stacks) + 1, sizeof(*w->stacks));
	w->threads = xcalloc(intern_len(&p->threads) + 1, sizeof(*w->threads));
}

static void writer_release(struct writer *w)
{
	free(w->threads);
	free(w->stacks);
	free(w->has_objects);
	free(w->value_index);
	vec_release(&w->location_ids);
	vec_release(&w->values);
	strbuf_release(&w->labels);
	strbuf_release(&w->label);
	strbuf_release(&w->body);
	strbuf_release(&w->out);
	pprof_tables_release(&w->tables);
}

int view_pprof_write(const struct profile *p, const struct view_options *options, FILE *out,
		     struct err *err)
{
	struct writer w;
	int r;

	writer_init(&w, p, options);
	r = gzip_init(&w.gz, out, err);
	if (!r) {
		write_types(&w);
		pb_add_u64(&w.out, PROFILE_TIME_NANOS, p->start_wall_ns);
		pb_add_u64(&w.out, PROFILE_DURATION_NANOS, p->duration_ns);
		pprof_comments_write(&w.tables, options->event, &w.out);
		write_samples(&w);
		pprof_tables_write(&w.tables, &w.out);
		flush(&w, 0);
		gzip_finish(&w.gz);
		gzip_release(&w.gz);
	}
	writer_release(&w);
	return r;
}
