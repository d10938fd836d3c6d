/* SPDX-License-Identifier: Apache-2.0 */
/* How far the recording can be trusted: how stacks ended, what was lost, what was not read. */
#include "output/text/text_page.h"

#include "base/units.h"
#include "profile/quality.h"

#define REASON_PREFIX	   "unwind."
#define EXPLANATION_INDENT 12

static const struct {
	const char *id;
	const char *text;
} reasons[] = {

#define UNWIND_REASON(name, id, whole, text) { id, text },
#include "unwind_reasons.def"
#undef UNWIND_REASON
};

static const char *explain_reason(const char *id)
{
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(reasons[i].id, id))
			return reasons[i].text;
	return "";
}

/* A counter with its texts at hand, for sorting. */
struct entry {
	const char *name;
	const char *detail;
	uint64_t value;
};

static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int order;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	order = strcmp(a->name, b->name);
	return order ? order : strcmp(a->detail, b->detail);
}

static bool is_reason(const char *name)
{
	return !strncmp(name, REASON_PREFIX, strlen(REASON_PREFIX));
}

/* The counters that are unwind reasons, or those that are not; caller frees. */
static struct entry *collect_entries(const struct profile *p, bool want_reasons, size_t *ret_len)
{
	struct entry *entries = xcalloc(p->counters.len + 1, sizeof(*entries));
	const struct profile_counter *c;
	size_t len = 0;

	vec_for_each (c, &p->counters) {
		const char *name = profile_get_string(p, c->name);

		if (is_reason(name) == want_reasons)
			entries[len++] =
				(struct entry){ name, profile_get_string(p, c->detail), c->value };
	}
	qsort(entries, len, sizeof(*entries), compare_entries);
	*ret_len = len;
	return entries;
}

static void put_reason(const struct text_page *page, uint64_t value, uint64_t whole, const char *id)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT, cell = STRBUF_INIT;

	text_format_share(&cell, value, whole);
	strbuf_addf(&line, "%9s", strbuf_str(&cell));
	strbuf_reset(&cell);
	units_format_count(&cell, value);
	strbuf_addf(&line, " %11s  ", strbuf_str(&cell));
	text_put_row(page, &line, id);
	if (*explain_reason(id))
		text_put_line(page, EXPLANATION_INDENT, explain_reason(id));
}

static void put_reasons(const struct text_page *page, const struct profile_quality *sum)
{
	size_t len;
	_cleanup_free_ struct entry *entries = collect_entries(page->p, true, &len);

	if (!sum->samples)
		return;
	fprintf(page->out, "\nHow stacks ended, all events\n");
	put_reason(page, sum->complete, sum->samples, "complete");
	for (size_t i = 0; i < len; i++)
		put_reason(page, entries[i].value, sum->samples,
			   entries[i].name + strlen(REASON_PREFIX));
}

static void put_counters(const struct text_page *page)
{
	size_t len;
	_cleanup_free_ struct entry *entries = collect_entries(page->p, false, &len);
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT, cell = STRBUF_INIT, text = STRBUF_INIT;

	if (len)
		fprintf(page->out, "\nWhat was missed\n");
	for (size_t i = 0; i < MIN(len, (size_t)page->top); i++) {
		strbuf_reset(&line);
		strbuf_reset(&cell);
		units_format_count(&cell, entries[i].value);
		strbuf_reset(&text);
		strbuf_addf(&line, "%21s  ", strbuf_str(&cell));
		strbuf_addf(&text, "%s %s", entries[i].name, entries[i].detail);
		text_put_row(page, &line, strbuf_str(&text));
	}
	text_put_more(page, len);
}

void text_put_quality(const struct text_page *page)
{
	struct profile_quality sum = profile_quality_sum(page->p, PROFILE_NONE, PROFILE_NONE);

	put_reasons(page, &sum);
	put_counters(page);
}
