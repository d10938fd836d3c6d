/* SPDX-License-Identifier: Apache-2.0 */
/* The page that text tables are written to: what they share, and lines that fit its width. */
#ifndef HOSTPROF_OUTPUT_TEXT_TEXT_PAGE_H
#define HOSTPROF_OUTPUT_TEXT_TEXT_PAGE_H

#include <stdint.h>
#include <stdio.h>

#include "base/strbuf.h"
#include "output/calltree.h"
#include "output/view_options.h"
#include "profile/profile.h"

#define TEXT_COLUMNS 100

struct text_page {
	const struct profile *p; /* borrowed, as all here */
	const struct view_options *options;
	const struct calltree *tree; /* with a process level */
	FILE *out;
	uint32_t event; /* PROFILE_NONE when the profile has none */
	const char *unit;
	bool in_unit; /* values are the event's unit, and not samples */
	uint32_t top; /* rows of a table */
};

/*
 * Append S in at most COLUMNS columns: what is too long is cut in the middle ("com.acme...place"),
 * control characters, which could steer a terminal, become '?'.
 */
void text_fit(struct strbuf *sb, const char *s, uint32_t columns);

/* Write CELLS (ASCII) and S, which is cut to what is left of TEXT_COLUMNS, as one line. */
void text_put_row(const struct text_page *page, const struct strbuf *cells, const char *s);

/* Write S as one line of at most TEXT_COLUMNS columns, the first INDENT of them blank. */
void text_put_line(const struct text_page *page, uint32_t indent, const char *s);

/* Append "16.67 %", rounded; for completeness there is profile_format_share(). */
void text_format_share(struct strbuf *sb, uint64_t part, uint64_t whole);

/* Append PART of WHOLE and the value, right-aligned: the first columns of most tables. */
void text_format_row(struct strbuf *sb, const struct text_page *page, uint64_t part,
		     uint64_t whole);

/* "(12 more)" when there are more than the table has rows. */
void text_put_more(const struct text_page *page, size_t count);

/* The tables; each begins with an empty line and a heading, and is left out when it has no row. */
void text_put_methods(const struct text_page *page);
void text_put_stacks(const struct text_page *page);
void text_put_processes(const struct text_page *page);
void text_put_threads(const struct text_page *page);
void text_put_quality(const struct text_page *page);

#endif
