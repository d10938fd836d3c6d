/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/view_text.h"

#include <string.h>

#include "base/units.h"
#include "output/text/text_page.h"
#include "profile/event_ratio.h"
#include "profile/event_sum.h"
#include "profile/filter.h"
#include "profile/quality.h"

#define DEFAULT_TOP 20

/* With the header, the headings and a last line of the caller 24 lines. */
#define SUMMARY_PROCESSES 5
#define SUMMARY_METHODS	  8

/* "; also recorded: page-faults (--event)" */
static void add_other_events(struct strbuf *line, const struct text_page *page)
{
	const struct profile *p = page->p;
	bool any = false;

	for (uint32_t id = 0; id < intern_len(&p->events); id++) {
		const char *name = profile_get_string(p, profile_get_event(p, id)->name);

		if (id == page->event)
			continue;
		strbuf_addf(line, "%s%s", any ? ", " : "; also recorded: ", name);
		any = true;
	}
	if (any)
		strbuf_addstr(line, " (--event)");
}

/* "cpu: 12,345 samples (124 s) in 10 s on build7", "alloc: 12 samples (4 MB, 77 objects) in …" */
static void put_samples(const struct text_page *page)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	const struct profile *p = page->p;
	struct event_sum sums;

	if (page->event == PROFILE_NONE) {
		text_put_line(page, 0, "no events");
		return;
	}
	sums = event_sum_of(p, page->event);
	strbuf_addf(&line, "%s: ", profile_get_string(p, profile_get_event(p, page->event)->name));
	units_format_count(&line, sums.samples);
	strbuf_addstr(&line, sums.samples == 1 ? " sample (" : " samples (");
	units_format_value(&line, sums.weight, page->unit);
	if (sums.objects) {
		strbuf_addstr(&line, ", ");
		units_format_count(&line, sums.objects);
		strbuf_addstr(&line, sums.objects == 1 ? " object" : " objects");
	}
	strbuf_addstr(&line, ") in ");
	units_format_duration(&line, p->duration_ns);
	if (p->host)
		strbuf_addf(&line, " on %s", profile_get_string(p, p->host));
	if (page->options->event != PROFILE_NONE)
		add_other_events(&line, page);
	text_put_line(page, 0, strbuf_str(&line));
}

static void put_trust(const struct text_page *page)
{
	struct profile_quality sum = profile_quality_sum(page->p, page->event, PROFILE_NONE);
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;

	if (!sum.samples && !sum.lost)
		return;
	strbuf_addstr(&line, "complete stacks: ");
	profile_format_share(&line, sum.complete, sum.samples);
	strbuf_addstr(&line, ", lost samples: ");
	units_format_count(&line, sum.lost);
	if (sum.lost) {
		strbuf_addstr(&line, " (");
		units_format_value(&line, sum.lost_weight, page->unit);
		strbuf_addstr(&line, ")");
	}
	text_put_line(page, 0, strbuf_str(&line));
}

/* How many samples bytes were taken by says nothing of them, nor does it of times that differ. */
static bool samples_differ(const struct profile *p, uint32_t id)
{
	const struct profile_event *event = id != PROFILE_NONE ? profile_get_event(p, id) : NULL;
	const char *unit = event ? profile_get_string(p, event->unit) : "";

	return !strcmp(unit, "bytes") || (!strcmp(unit, "nanoseconds") && !event->period);
}

struct ratio_lines {
	const struct text_page *page;
	uint32_t count;
};

static void put_ratio(const char *sentence, void *data)
{
	struct ratio_lines *lines = data;

	text_put_line(lines->page, 0, sentence);
	lines->count++;
}

/* What events say together; returns how many lines these are. */
static uint32_t put_ratios(const struct text_page *page)
{
	struct ratio_lines lines = { page, 0 };

	event_ratios_for_each(page->p, put_ratio, &lines);
	return lines.count;
}

/* Build the page's tree of EVENT; the caller releases it. */
static void page_init(struct text_page *page, const struct profile *p,
		      const struct view_options *options, uint32_t event, FILE *out,
		      struct calltree *ret_tree)
{
	struct calltree_options tree_options;

	*page = (struct text_page){ .p = p, .options = options, .tree = ret_tree, .out = out };
	page->top = options->top ? options->top : DEFAULT_TOP;
	page->event = event;
	page->unit = "count";
	if (page->event != PROFILE_NONE)
		page->unit = profile_get_string(p, profile_get_event(p, page->event)->unit);
	page->in_unit = options->total || samples_differ(p, page->event);
	view_tree_options(options, &tree_options);
	tree_options.event = event;
	tree_options.count = !page->in_unit;
	tree_options.by_process = true;
	tree_options.plain = true;
	calltree_build(p, &tree_options, ret_tree);
}

static void put_title(const struct view_options *options, FILE *out)
{
	const struct text_page page = { .out = out };

	if (options->title)
		text_put_line(&page, 0, options->title);
}

static void put_section(const struct profile *p, const struct view_options *options, uint32_t event,
			bool is_first, FILE *out)
{
	struct calltree tree;
	struct text_page page;

	page_init(&page, p, options, event, out, &tree);
	put_samples(&page);
	put_trust(&page);
	if (is_first)
		put_ratios(&page);
	text_put_methods(&page);
	text_put_processes(&page);
	text_put_stacks(&page);
	text_put_threads(&page);
	calltree_release(&tree);
}

/* Whether EVENT is shown beside FIRST, when none was chosen. */
static bool is_another(const struct profile *p, const struct view_options *options, uint32_t first,
		       uint32_t event)
{
	return options->event == PROFILE_NONE && event != first && event_sum_of(p, event).samples;
}

static void put_quality(const struct profile *p, const struct view_options *options, FILE *out)
{
	struct text_page page = { .p = p, .options = options, .out = out };

	page.top = options->top ? options->top : DEFAULT_TOP;
	text_put_quality(&page);
}

int view_text_write(const struct profile *p, const struct view_options *options, FILE *out,
		    struct err *err)
{
	uint32_t first = profile_filter_event(p, options->event);

	(void)err;
	put_title(options, out);
	put_section(p, options, first, true, out);
	for (uint32_t event = 0; event < intern_len(&p->events); event++) {
		if (!is_another(p, options, first, event))
			continue;
		fputc('\n', out);
		put_section(p, options, event, false, out);
	}
	put_quality(p, options, out);
	return 0;
}

/* The other events' sums; returns how many lines these are. */
static uint32_t put_other_sums(const struct text_page *shown)
{
	const struct profile *p = shown->p;
	struct text_page page = *shown;
	uint32_t lines = 0;

	for (page.event = 0; page.event < intern_len(&p->events); page.event++) {
		if (!is_another(p, page.options, shown->event, page.event))
			continue;
		page.unit = profile_get_string(p, profile_get_event(p, page.event)->unit);
		put_samples(&page);
		lines++;
	}
	return lines;
}

int view_text_write_summary(const struct profile *p, const struct view_options *options, FILE *out,
			    struct err *err)
{
	uint32_t others;
	struct calltree tree;
	struct text_page page;

	(void)err;
	page_init(&page, p, options, profile_filter_event(p, options->event), out, &tree);
	put_title(options, out);
	put_samples(&page);
	others = put_other_sums(&page);
	others += put_ratios(&page);
	put_trust(&page);
	page.top = SUMMARY_PROCESSES;
	text_put_processes(&page);
	page.top = SUMMARY_METHODS - MIN(others, SUMMARY_METHODS / 2);
	text_put_methods(&page);
	calltree_release(&tree);
	return 0;
}
