/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/view_text.h"

#include "base/units.h"
#include "output/text/text_page.h"
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

/* "cpu: 12,345 samples (124 s) in 10 s on build7" */
static void put_samples(const struct text_page *page)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	const struct profile *p = page->p;
	const struct profile_event *e;
	uint64_t count = 0, weight = 0;
	const struct profile_sample *s;

	if (page->event == PROFILE_NONE) {
		text_put_line(page, 0, "no events");
		return;
	}
	vec_for_each (s, &p->samples) {
		if (s->event != page->event)
			continue;
		count += s->count;
		weight += s->weight;
	}
	e = profile_get_event(p, page->event);
	strbuf_addf(&line, "%s: ", profile_get_string(p, e->name));
	units_format_count(&line, count);
	strbuf_addstr(&line, count == 1 ? " sample (" : " samples (");
	units_format_value(&line, weight, page->unit);
	strbuf_addstr(&line, ") in ");
	units_format_duration(&line, p->duration_ns);
	if (p->host)
		strbuf_addf(&line, " on %s", profile_get_string(p, p->host));
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

static void put_header(const struct text_page *page)
{
	if (page->options->title)
		text_put_line(page, 0, page->options->title);
	put_samples(page);
	put_trust(page);
}

/* Build the page's tree; the caller releases it. */
static void page_init(struct text_page *page, const struct profile *p,
		      const struct view_options *options, FILE *out, struct calltree *ret_tree)
{
	struct calltree_options tree_options;

	*page = (struct text_page){ .p = p, .options = options, .tree = ret_tree, .out = out };
	page->top = options->top ? options->top : DEFAULT_TOP;
	page->event = profile_filter_event(p, options->event);
	page->unit = "count";
	if (page->event != PROFILE_NONE)
		page->unit = profile_get_string(p, profile_get_event(p, page->event)->unit);
	view_tree_options(options, &tree_options);
	tree_options.by_process = true;
	tree_options.plain = true;
	calltree_build(p, &tree_options, ret_tree);
}

int view_text_write(const struct profile *p, const struct view_options *options, FILE *out,
		    struct err *err)
{
	struct calltree tree;
	struct text_page page;

	(void)err;
	page_init(&page, p, options, out, &tree);
	put_header(&page);
	text_put_methods(&page);
	text_put_processes(&page);
	text_put_stacks(&page);
	text_put_threads(&page);
	text_put_quality(&page);
	calltree_release(&tree);
	return 0;
}

int view_text_write_summary(const struct profile *p, const struct view_options *options, FILE *out,
			    struct err *err)
{
	struct calltree tree;
	struct text_page page;

	(void)err;
	page_init(&page, p, options, out, &tree);
	put_header(&page);
	page.top = SUMMARY_PROCESSES;
	text_put_processes(&page);
	page.top = SUMMARY_METHODS;
	text_put_methods(&page);
	calltree_release(&tree);
	return 0;
}
