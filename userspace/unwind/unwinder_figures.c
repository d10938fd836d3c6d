// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

#include "unwind/unwinder_private.h"

struct figure {
	const char *name;
	uint64_t value;
};

struct failed_sink {
	unwinder_figure_fn fn;
	void *data;
};

static void report_failed(const char *path, const char *why, uint64_t pages, void *data)
{
	const struct failed_sink *sink = data;
	char detail[512];

	snprintf(detail, sizeof(detail), "%s: %s", path, why);
	sink->fn("unwind.file-not-read", detail, pages, sink->data);
}

void unwinder_for_each_figure(const struct unwinder *unwinder, unwinder_figure_fn fn, void *data)
{
	struct failed_sink sink = { fn, data };
	struct unwind_spaces_stats spaces;
	struct unwind_jvms_stats jvms;
	struct row_store_stats rows;
	size_t files, open;

	unwind_spaces_get_stats(unwinder->spaces, &spaces);
	unwind_jvms_get_stats(unwinder->jvms, &jvms);
	row_store_get_stats(unwinder->rows, &rows);
	unwind_files_count(unwinder->files, &files, &open);
	const struct figure figures[] = {
		{ "unwind.misses-finished-at-once", unwinder->at_once },
		{ "unwind.misses-finished-late", unwinder->late_count },
		{ "unwind.misses-unfinished", unwinder->unfinished },
#define WIRE_WALK_COUNTER(name, field, figure, text) { figure, unwinder->field },
#include "wire_counters.def"
		{ "unwind.exits-no-time", code_exits_refused(unwinder->exits) },
		{ "unwind.stacks-continued", stack_rest_count(unwinder->rest) },
		{ "unwind.files", files },
		{ "unwind.pages", rows.pages },
		{ "unwind.pages-made", unwinder->pages_made },
		{ "unwind.rows-made", unwinder->rows_made },
		{ "unwind.pages-made-ns", unwinder->make_ns },
		{ "unwind.pages-evicted", rows.pages_evicted },
		{ "unwind.rules", rows.rules_used },
		{ "unwind.rules-exhausted", rows.rules_exhausted },
		{ "unwind.spaces", spaces.store.spaces },
		{ "unwind.spaces-evicted", spaces.store.evicted },
		{ "unwind.mappings-read", spaces.reads },
		{ "unwind.mappings-read-ns", spaces.read_ns },
		{ "unwind.jvms", jvms.known },
		{ "unwind.jvms-read", jvms.reads },
		{ "unwind.jvms-read-ns", jvms.read_ns },
		{ "unwind.jvms-waited-for", jvms.waits },
		{ "unwind.jvms-changed", jvms.changes },
		{ "unwind.far-blobs", jvms.far_blobs },
	};

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (figures[i].value)
			fn(figures[i].name, "", figures[i].value, data);
	unwind_files_for_each_failed(unwinder->files, report_failed, &sink);
}
