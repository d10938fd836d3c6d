/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of processes and threads. */
#include "output/text/text_page.h"

#include "base/units.h"
#include "profile/filter.h"
#include "profile/quality.h"
#include "profile/roots.h"
#include "profile/title.h"

struct row {
	const char *title; /* borrowed from struct rows */
	uint32_t process;  /* one of those with this title */
	uint64_t value;
	struct profile_quality quality;
	struct root_sum roots;
};

/* Rows by title: generations of a process that are called the same are one row. */
struct rows {
	struct intern titles; /* index of a row */
	VEC(struct row) items;
	struct strbuf scratch;
};

static void rows_release(struct rows *rows)
{
	intern_release(&rows->titles);
	vec_release(&rows->items);
	strbuf_release(&rows->scratch);
}

/* The row of the title in scratch; good until the next one is found. */
static struct row *find_row(struct rows *rows, uint32_t process)
{
	bool is_new;
	uint32_t id =
		intern_put(&rows->titles, strbuf_str(&rows->scratch), rows->scratch.len, &is_new);

	if (is_new) {
		struct row row = { .title = intern_get(&rows->titles, id, NULL),
				   .process = process };

		vec_push(&rows->items, row);
	}
	return &rows->items.items[id];
}

/* The sum per thread, and last of samples without one; caller frees. */
static uint64_t *sum_threads(const struct text_page *page)
{
	const struct profile_filter filter = { page->options->all_user, page->options->all_kernel };
	const struct profile *p = page->p;
	uint64_t *sums = xcalloc(intern_len(&p->threads) + 1, sizeof(*sums));
	const struct profile_sample *s;

	vec_for_each (s, &p->samples) {
		struct profile_stack stack = profile_get_stack(p, s->stack);

		if (s->event != page->event)
			continue;
		if (stack.len && !profile_filter_stack(p, &filter, stack).len)
			continue;
		sums[MIN(s->thread, intern_len(&p->threads))] +=
			page->in_unit ? s->weight : s->count;
	}
	return sums;
}

static int compare_rows(const void *pa, const void *pb)
{
	const struct row *a = pa, *b = pb;

	if (a->value != b->value)
		return a->value < b->value ? 1 : -1;
	return strcmp(a->title, b->title);
}

static uint64_t sort_rows(struct rows *rows)
{
	uint64_t whole = 0;
	const struct row *row;

	vec_for_each (row, &rows->items)
		whole += row->value;
	if (rows->items.len)
		qsort(rows->items.items, rows->items.len, sizeof(*row), compare_rows);
	return whole;
}

/* Every thread's sum under its process or, with BY_THREAD, under its own title. */
static void collect_rows(const struct text_page *page, bool by_thread, struct rows *rows)
{
	_cleanup_free_ uint64_t *sums = sum_threads(page);
	uint32_t count = intern_len(&page->p->threads);

	for (uint32_t i = 0; i <= count; i++) {
		uint32_t thread = i < count ? i : PROFILE_NONE;
		uint32_t process = profile_process_of(page->p, thread);

		if (!sums[i])
			continue;
		strbuf_reset(&rows->scratch);
		profile_format_process(&rows->scratch, page->p, process);
		if (by_thread) {
			strbuf_addch(&rows->scratch, ' ');
			profile_format_thread(&rows->scratch, page->p, thread);
		}
		find_row(rows, process)->value += sums[i];
	}
}

/* Processes that only lost samples get a row too. */
static void collect_quality(const struct text_page *page, struct rows *rows)
{
	const struct profile_quality *q;
	struct profile_roots roots;

	profile_roots_init(&roots, page->p);
	vec_for_each (q, &page->p->quality) {
		struct root_sum root = profile_roots_get(&roots, page->event, q->process);
		struct row *row;

		if (q->event != page->event)
			continue;
		strbuf_reset(&rows->scratch);
		profile_format_process(&rows->scratch, page->p, q->process);
		row = find_row(rows, q->process);
		row->quality.samples += q->samples;
		row->quality.complete += q->complete;
		row->quality.lost += q->lost;
		row->roots.stacks += root.stacks;
		row->roots.starts += root.starts;
	}
	profile_roots_release(&roots);
}

/* What the process is, beyond its name: a JVM's main class and version, a container. */
static void add_remarks(struct strbuf *sb, const struct profile *p, uint32_t process)
{
	const struct profile_process *proc;

	if (process == PROFILE_NONE)
		return;
	proc = profile_get_process(p, process);
	if (proc->main_class)
		strbuf_addf(sb, " %s", profile_get_string(p, proc->main_class));
	if (proc->jvm_version)
		strbuf_addf(sb, " (JVM %s)", profile_get_string(p, proc->jvm_version));
	if (proc->container_name)
		strbuf_addf(sb, " in %s", profile_get_string(p, proc->container_name));
	else if (proc->container_id)
		strbuf_addf(sb, " in %.12s", profile_get_string(p, proc->container_id));
}

static void put_process(const struct text_page *page, const struct row *row, uint64_t whole)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT, cell = STRBUF_INIT, text = STRBUF_INIT;

	text_format_row(&line, page, row->value, whole);
	profile_format_share(&cell, row->quality.complete, row->quality.samples);
	strbuf_addf(&line, " %9s", strbuf_str(&cell));
	strbuf_reset(&cell);
	profile_format_share(&cell, row->roots.starts, row->roots.stacks);
	strbuf_addf(&line, " %9s", strbuf_str(&cell));
	strbuf_reset(&cell);
	units_format_count(&cell, row->quality.lost);
	strbuf_addf(&line, " %9s  ", strbuf_str(&cell));
	strbuf_addstr(&text, row->title);
	add_remarks(&text, page->p, row->process);
	text_put_row(page, &line, strbuf_str(&text));
}

void text_put_processes(const struct text_page *page)
{
	_cleanup_(rows_release) struct rows rows = { .items = VEC_INIT };
	uint64_t whole;

	collect_rows(page, false, &rows);
	collect_quality(page, &rows);
	whole = sort_rows(&rows);
	if (rows.items.len)
		fprintf(page->out, "\nProcesses\n%9s %11s %9s %9s %9s  %s\n", "share",
			page->in_unit ? "total" : "samples", "complete", "starts", "lost",
			"process");
	for (size_t i = 0; i < MIN(rows.items.len, (size_t)page->top); i++)
		put_process(page, &rows.items.items[i], whole);
	text_put_more(page, rows.items.len);
}

void text_put_threads(const struct text_page *page)
{
	_cleanup_(rows_release) struct rows rows = { .items = VEC_INIT };
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	uint64_t whole;

	collect_rows(page, true, &rows);
	whole = sort_rows(&rows);
	if (rows.items.len)
		fprintf(page->out, "\nThreads\n%9s %11s  %s\n", "share",
			page->in_unit ? "total" : "samples", "process and thread");
	for (size_t i = 0; i < MIN(rows.items.len, (size_t)page->top); i++) {
		strbuf_reset(&line);
		text_format_row(&line, page, rows.items.items[i].value, whole);
		strbuf_addstr(&line, "  ");
		text_put_row(page, &line, rows.items.items[i].title);
	}
	text_put_more(page, rows.items.len);
}
