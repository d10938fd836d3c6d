/* SPDX-License-Identifier: Apache-2.0 */
/* What has a name is opened, and closed at once; of forms one that is to be had everywhere is tried. */
#include "cmd/list/list_events.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/json.h"
#include "base/vec.h"
#include "capture/cpu_list.h"
#include "capture/event.h"
#include "capture/events/cache_event.h"
#include "capture/events/pmu_event.h"
#include "capture/perf_events.h"
#include "capture/preflight/preflight.h"

#define ANY_FREQ_HZ 99

struct listed {
	char name[128];
	const char *unit;
	struct err why; /* code 0: it works */
};

struct list {
	VEC(struct listed) rows;
	unsigned int cpu; /* on which is tried */
	bool may_open;
};

static unsigned int first_cpu(void)
{
	_cleanup_(cpu_list_release) struct cpu_list online = { 0 };
	unsigned int cpu = 0;

	if (cpu_list_read_online(&online) < 0)
		return 0;
	while (cpu + 1 < online.size && !online.has[cpu])
		cpu++;
	return cpu;
}

static void add(struct list *list, const char *name, const char *unit, const struct err *why)
{
	struct listed row = { .unit = unit, .why = *why };

	snprintf(row.name, sizeof(row.name), "%s", name);
	vec_push(&list->rows, row);
}

/*
 * What is wrong with TRY, in words: the kernel's number for it says less than what perf_event_try() makes of it. Where nothing may be
 * opened it is known what is missing.
 */
static void try_event(const struct list *list, const char *try, struct err *why)
{
	struct capture_event event;
	struct err said;

	*why = (struct err){ 0 };
	if (capture_event_parse(try, ANY_FREQ_HZ, &event, why) < 0)
		return;
	if (event.fell_back)
		err_set(why, -EOPNOTSUPP, "no hardware counter here: sampled by the cpu clock");
	else if (!list->may_open)
		err_set(why, -EPERM, "not permitted: hostprof doctor says what is missing");
	else if (event.trigger == WIRE_TRIGGER_PERF && perf_event_try(&event, list->cpu, &said) < 0)
		err_set(why, said.code, "%s", said.hint[0] ? said.hint : said.text);
}

static void add_tried(struct list *list, const char *name, const char *try, const char *unit)
{
	struct err why;

	try_event(list, try, &why);
	add(list, name, unit, &why);
}

static void add_names(struct list *list)
{
	struct cache_event cache;

	for (const struct capture_event_row *row = capture_event_rows; row->name; row++)
		if (!row->is_form)
			add_tried(list, row->name, row->name, row->unit);
	for (unsigned int i = 0; cache_event_get(i, &cache); i++)
		add_tried(list, cache.name, cache.name, "count");
}

static void add_pmu_event(const char *name, void *data)
{
	add_tried(data, name, name, "count");
}

/* Our own memory is as good as any. */
static void add_breakpoint(struct list *list)
{
	static volatile long watched;
	char try[64];

	snprintf(try, sizeof(try), "mem:0x%lx/8:w", (unsigned long)(uintptr_t)&watched);
	add_tried(list, "mem:SYMBOL[+OFF][/LEN][:rwx]", try, "count");
}

static void add_forms(struct list *list)
{
	for (const struct capture_event_row *row = capture_event_rows; row->name; row++)
		if (row->example)
			add_tried(list, row->name, row->example, row->unit);
	add_breakpoint(list);
}

static void put_json(struct strbuf *out, const struct list *list)
{
	const struct listed *row;
	struct json j;

	json_init(&j, out, true);
	json_array_begin(&j, NULL);
	vec_for_each (row, &list->rows) {
		json_object_begin(&j, NULL);
		json_str(&j, "name", row->name);
		json_str(&j, "unit", row->unit);
		json_bool(&j, "works", !row->why.code);
		if (row->why.code)
			json_str(&j, "why", row->why.text);
		if (row->why.code && row->why.hint[0])
			json_str(&j, "hint", row->why.hint);
		json_object_end(&j);
	}
	json_array_end(&j);
}

static void put_rows(struct strbuf *out, const struct list *list, bool works)
{
	const struct listed *row;

	vec_for_each (row, &list->rows) {
		if (!row->why.code != works)
			continue;
		if (works)
			strbuf_addf(out, "  %-30s%s\n", row->name, row->unit);
		else
			strbuf_addf(out, "  %-30s%s%s%s\n", row->name, row->why.text,
				    row->why.hint[0] ? ": " : "", row->why.hint);
	}
}

static void put_table(struct strbuf *out, const struct list *list)
{
	strbuf_addstr(out, "To be had here:\n");
	put_rows(out, list, true);
	strbuf_addstr(out, "Not to be had:\n");
	put_rows(out, list, false);
	strbuf_addstr(out, "hostprof help events explains them.\n");
}

void list_events(struct strbuf *out, bool as_json)
{
	struct list list = { .rows = VEC_INIT,
			     .cpu = first_cpu(),
			     .may_open = preflight_may_open_events() };

	add_names(&list);
	pmu_event_for_each(add_pmu_event, &list);
	add_forms(&list);
	(as_json ? put_json : put_table)(out, &list);
	vec_release(&list.rows);
}
