/* SPDX-License-Identifier: Apache-2.0 */
#include "output/text/text_page.h"

#include "base/units.h"

#define SHARE_COLUMNS 9
#define VALUE_COLUMNS 11

/* One column per UTF-8 character: its continuation bytes take none. */
static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static uint32_t count_columns(const char *s)
{
	uint32_t n = 0;

	for (; *s; s++)
		n += begins_character(*s);
	return n;
}

/* Append the characters FROM..TO of S. */
static void add_characters(struct strbuf *sb, const char *s, uint32_t from, uint32_t to)
{
	uint32_t seen = 0;

	for (; *s; s++) {
		seen += begins_character(*s);
		if (seen > from && seen <= to)
			strbuf_addch(sb, *s == '\n' ? '?' : *s);
	}
}

void text_fit(struct strbuf *sb, const char *s, uint32_t columns)
{
	uint32_t len = count_columns(s), head;
	size_t from = sb->len;

	if (len <= columns) {
		add_characters(sb, s, 0, len);
	} else if (columns > 3) {
		/* The end of a name says more than its beginning. */
		head = (columns - 3) / 3;
		add_characters(sb, s, 0, head);
		strbuf_addstr(sb, "...");
		add_characters(sb, s, len - (columns - 3 - head), len);
	}
	strbuf_disarm(sb, from);
}

void text_put_row(const struct text_page *page, const struct strbuf *cells, const char *s)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	text_fit(&text, s, TEXT_COLUMNS - MIN((uint32_t)cells->len, TEXT_COLUMNS));
	fprintf(page->out, "%s%s\n", strbuf_str(cells), strbuf_str(&text));
}

void text_put_line(const struct text_page *page, uint32_t indent, const char *s)
{
	_cleanup_strbuf_ struct strbuf cells = STRBUF_INIT;

	strbuf_addf(&cells, "%*s", (int)indent, "");
	text_put_row(page, &cells, s);
}

/* Append VALUE of the shown event: samples, or its unit. */
static void format_value(struct strbuf *sb, const struct text_page *page, uint64_t value)
{
	if (page->in_unit)
		units_format_value(sb, value, page->unit);
	else
		units_format_count(sb, value);
}

void text_format_share(struct strbuf *sb, uint64_t part, uint64_t whole)
{
	unsigned int hundredths;

	if (!whole) {
		strbuf_addch(sb, '-');
		return;
	}
	hundredths = (unsigned int)(((unsigned __int128)part * 10000 + whole / 2) / whole);
	strbuf_addf(sb, "%u.%02u %%", hundredths / 100, hundredths % 100);
}

static void add_right(struct strbuf *sb, const struct strbuf *text, int columns)
{
	strbuf_addf(sb, "%*s", columns, strbuf_str(text));
}

void text_format_row(struct strbuf *sb, const struct text_page *page, uint64_t part, uint64_t whole)
{
	_cleanup_strbuf_ struct strbuf cell = STRBUF_INIT;

	text_format_share(&cell, part, whole);
	add_right(sb, &cell, SHARE_COLUMNS);
	strbuf_reset(&cell);
	format_value(&cell, page, part);
	add_right(sb, &cell, VALUE_COLUMNS + 1);
}

void text_put_more(const struct text_page *page, size_t count)
{
	if (count > page->top)
		fprintf(page->out, "%*s(%zu more)\n", SHARE_COLUMNS + VALUE_COLUMNS + 3, "",
			count - page->top);
}
