/* SPDX-License-Identifier: Apache-2.0 */
#include "output/html/html_data.h"

#include <errno.h>
#include <zlib.h>

#include "base/json.h"
#include "output/html/html_columns.h"
#include "profile/event_ratio.h"
#include "profile/filter.h"
#include "profile/frame_kind.h"

/* Browsers stay quick with this many boxes, and a page of them has about 4 MB. */
#define MAX_NODES 600000

static const struct {
	const char *id, *text;
} unwind_reasons[] = {

#define UNWIND_REASON(name, reason_id, whole, explanation) { reason_id, explanation },
#include "unwind_reasons.def"
#undef UNWIND_REASON
};

static void add_kind(struct json *j, const char *id, const char *title, const char *color,
		     const char *dark)
{
	json_object_begin(j, NULL);
	json_str(j, "id", id);
	json_str(j, "title", title);
	json_str(j, "color", color);
	json_str(j, "dark", dark);
	json_object_end(j);
}

static void add_kinds(struct json *j)
{
	json_array_begin(j, "kinds");
	for (int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		const struct frame_kind_info *info = frame_kind_info((enum frame_kind)kind);

		add_kind(j, info->id, info->title, info->color, info->color_dark);
	}
	add_kind(j, "level", "Process or thread", "#d5dae3", "#3b414e");
	json_array_end(j);
}

static void add_reasons(struct json *j)
{
	json_object_begin(j, "reasons");
	for (size_t i = 0; i < ARRAY_SIZE(unwind_reasons); i++)
		json_str(j, unwind_reasons[i].id, unwind_reasons[i].text);
	json_object_end(j);
}

static void add_names(struct json *j, const struct html_columns *columns)
{
	json_array_begin(j, "names");
	for (uint32_t i = 0; i < intern_len(&columns->names); i++) {
		size_t len;
		const char *name = intern_get(&columns->names, i, &len);

		json_strn(j, NULL, name, len);
	}
	json_array_end(j);
}

static void add_labels(struct json *j, const struct html_columns *columns)
{
	static const char *const keys[] = { "name", "kind", "module" };

	json_object_begin(j, "labels");
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		json_array_begin(j, keys[k]);
		for (uint32_t i = 0; i < intern_len(&columns->labels); i++) {
			const struct html_label *label = intern_get(&columns->labels, i, NULL);
			uint32_t values[] = { label->name, label->kind, label->module };

			json_u64(j, NULL, values[k]);
		}
		json_array_end(j);
	}
	json_object_end(j);
}

static void add_event(struct json *j, const struct profile *p, const struct html_tree *tree)
{
	struct profile_event none = { 0 };
	const struct profile_event *event =
		tree->event < intern_len(&p->events) ? profile_get_event(p, tree->event) : &none;

	json_object_begin(j, NULL);
	json_u64(j, "id", tree->event);
	json_str(j, "name", profile_get_string(p, event->name));
	json_str(j, "unit", profile_get_string(p, event->unit));
	json_u64(j, "period", tree->period);
	json_bool(j, "objects", tree->has_objects);
	json_u64(j, "nodes", tree->nodes);
	json_u64(j, "pruned_nodes", tree->pruned_nodes);
	json_u64(j, "pruned_below", tree->pruned_below);
	json_array_begin(j, "processes");
	for (size_t i = 0; i < tree->processes.len; i++)
		json_i64(j, NULL,
			 tree->processes.items[i] == PROFILE_NONE
				 ? -1
				 : (int64_t)tree->processes.items[i]);
	json_array_end(j);
	json_object_end(j);
}

static void add_process(struct json *j, const struct profile *p,
			const struct profile_process *process)
{
	json_object_begin(j, NULL);
	json_u64(j, "pid", process->pid);
	json_str(j, "name", profile_get_string(p, process->name));
	json_str(j, "exe", profile_get_string(p, process->exe));
	json_str(j, "container", profile_get_string(p, process->container_id));
	if (process->container_name)
		json_str(j, "container_name", profile_get_string(p, process->container_name));
	if (process->container_image)
		json_str(j, "container_image", profile_get_string(p, process->container_image));
	json_str(j, "jvm", profile_get_string(p, process->jvm_version));
	json_str(j, "main", profile_get_string(p, process->main_class));
	json_object_end(j);
}

static void add_quality(struct json *j, const struct profile *p)
{
	const struct profile_quality *q;
	const struct profile_counter *c;

	json_array_begin(j, "quality");
	vec_for_each (q, &p->quality) {
		json_object_begin(j, NULL);
		json_u64(j, "process", q->process);
		json_u64(j, "event", q->event);
		json_u64(j, "samples", q->samples);
		json_u64(j, "complete", q->complete);
		json_u64(j, "lost", q->lost);
		json_object_end(j);
	}
	json_array_end(j);
	json_array_begin(j, "counters");
	vec_for_each (c, &p->counters) {
		json_object_begin(j, NULL);
		json_str(j, "name", profile_get_string(p, c->name));
		json_str(j, "detail", profile_get_string(p, c->detail));
		json_u64(j, "value", c->value);
		json_object_end(j);
	}
	json_array_end(j);
}

struct ratio_list {
	struct json *json;
	bool has_begun;
};

static void add_ratio(const char *sentence, void *data)
{
	struct ratio_list *list = data;

	if (!list->has_begun)
		json_array_begin(list->json, "ratios");
	list->has_begun = true;
	json_str(list->json, NULL, sentence);
}

/* Pages of most recordings have none. */
static void add_ratios(struct json *j, const struct profile *p)
{
	struct ratio_list list = { j, false };

	event_ratios_for_each(p, add_ratio, &list);
	if (list.has_begun)
		json_array_end(j);
}

static void add_meta(struct json *j, const struct profile *p, const struct view_options *options,
		     const char *title)
{
	json_str(j, "title", title);
	json_str(j, "program", "hostprof " HOSTPROF_VERSION);
	json_str(j, "host", profile_get_string(p, p->host));
	json_str(j, "command", profile_get_string(p, p->command));
	json_u64(j, "start_ms", p->start_wall_ns / 1000000);
	json_u64(j, "duration_ns", p->duration_ns);
	json_bool(j, "threads", options->threads);
	json_bool(j, "reverse", options->reverse);
	add_ratios(j, p);
}

static void format_json(const struct profile *p, const struct view_options *options,
			const char *title, const struct html_columns *columns, struct strbuf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object_begin(&j, NULL);
	add_meta(&j, p, options, title);
	add_kinds(&j);
	add_reasons(&j);
	json_array_begin(&j, "events");
	for (size_t i = 0; i < columns->trees.len; i++)
		add_event(&j, p, &columns->trees.items[i]);
	json_array_end(&j);
	json_array_begin(&j, "processes");
	for (uint32_t i = 0; i < intern_len(&p->processes); i++)
		add_process(&j, p, profile_get_process(p, i));
	json_array_end(&j);
	add_quality(&j, p);
	add_names(&j, columns);
	add_labels(&j, columns);
	json_object_end(&j);
}

static bool has_samples(const struct profile *p, uint32_t event)
{
	const struct profile_sample *s;

	vec_for_each (s, &p->samples)
		if (s->event == event)
			return true;
	return false;
}

static void add_tree(const struct profile *p, struct calltree_options *options, uint32_t event,
		     struct html_columns *columns)
{
	struct calltree tree;

	options->event = event;
	calltree_build(p, options, &tree);
	html_columns_add(columns, p, &tree, event);
	calltree_release(&tree);
}

/* The chosen event, or all that have samples; there is always one tree, be it empty. */
static void add_trees(const struct profile *p, const struct view_options *options,
		      struct html_columns *columns)
{
	struct calltree_options tree_options;

	view_tree_options(options, &tree_options);
	tree_options.by_process = true;
	tree_options.by_thread = options->threads;
	tree_options.count = false;
	if (options->event != PROFILE_NONE) {
		add_tree(p, &tree_options, options->event, columns);
		return;
	}
	for (uint32_t event = 0; event < intern_len(&p->events); event++)
		if (has_samples(p, event))
			add_tree(p, &tree_options, event, columns);
	if (!columns->trees.len)
		add_tree(p, &tree_options, profile_filter_event(p, PROFILE_NONE), columns);
}

static int deflate_parts(const struct strbuf *json, const struct strbuf *columns,
			 struct strbuf *out, struct err *err)
{
	uint8_t length[4] = { (uint8_t)json->len, (uint8_t)(json->len >> 8),
			      (uint8_t)(json->len >> 16), (uint8_t)(json->len >> 24) };
	_cleanup_strbuf_ struct strbuf whole = STRBUF_INIT;
	uLongf size;

	strbuf_add(&whole, length, sizeof(length));
	strbuf_add(&whole, strbuf_str(json), json->len);
	strbuf_add(&whole, strbuf_str(columns), columns->len);
	size = compressBound(whole.len);
	strbuf_grow(out, size + 1);
	if (compress2((Bytef *)out->buf + out->len, &size, (const Bytef *)whole.buf, whole.len,
		      Z_DEFAULT_COMPRESSION) != Z_OK)
		return err_set(err, -ENOMEM, "cannot compress the page's data");
	out->len += size;
	return 0;
}

int html_data_build(const struct profile *p, const struct view_options *options, const char *title,
		    struct strbuf *out, struct err *err)
{
	_cleanup_strbuf_ struct strbuf json = STRBUF_INIT;
	_cleanup_(html_columns_release) struct html_columns columns;

	html_columns_init(&columns, MAX_NODES);
	columns.min_percent = options->min_percent;
	add_trees(p, options, &columns);
	format_json(p, options, title, &columns, &json);
	return deflate_parts(&json, &columns.bytes, out, err);
}
