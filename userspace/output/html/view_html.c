/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flamegraph.html holds placeholders, "{{title}}", that are replaced here. Its content security
 * policy allows only what carries the page's nonce: a hash of the profile, which nobody who could
 * only choose a name in it knows beforehand. So equal profiles still give equal pages.
 */
#include "output/html/view_html.h"

#include <inttypes.h>

#include "base/hmap.h"
#include "output/html/embedded.h"
#include "output/html/html_data.h"
#include "output/markup.h"
#include "output/view_title.h"

struct page {
	FILE *out;	     /* borrowed */
	struct strbuf title; /* escaped */
	struct strbuf data;
};

static void put_title(const struct page *page)
{
	fputs(strbuf_str(&page->title), page->out);
}

static void put_nonce(const struct page *page)
{
	fprintf(page->out, "%016" PRIx64, hash_bytes(page->data.buf, page->data.len));
}

static void put_style(const struct page *page)
{
	struct embedded style = embedded_style();

	fwrite(style.data, 1, style.len, page->out);
}

static void put_script(const struct page *page)
{
	struct embedded script = embedded_script();

	fwrite(script.data, 1, script.len, page->out);
}

/* RFC 4648, base 64. */
static void encode_group(const uint8_t *in, size_t len, char *out)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	uint32_t bits = (uint32_t)in[0] << 16;

	if (len > 1)
		bits |= (uint32_t)in[1] << 8;
	if (len > 2)
		bits |= in[2];
	out[0] = digits[bits >> 18];
	out[1] = digits[bits >> 12 & 63];
	out[2] = len > 1 ? digits[bits >> 6 & 63] : '=';
	out[3] = len > 2 ? digits[bits & 63] : '=';
}

static void put_data(const struct page *page)
{
	const uint8_t *bytes = (const uint8_t *)page->data.buf;
	char line[4 * 1024];
	size_t filled = 0;

	for (size_t at = 0; at < page->data.len; at += 3) {
		encode_group(bytes + at, MIN(page->data.len - at, 3), line + filled);
		filled += 4;
		if (filled == sizeof(line)) {
			fwrite(line, 1, filled, page->out);
			filled = 0;
		}
	}
	fwrite(line, 1, filled, page->out);
}

static const struct {
	const char *name;
	void (*put)(const struct page *page);
} placeholders[] = {
	{ "{{title}}", put_title },   { "{{nonce}}", put_nonce }, { "{{style}}", put_style },
	{ "{{script}}", put_script }, { "{{data}}", put_data },
};

/* Put what stands for the placeholder at AT; returns its length, 0 when there is none. */
static size_t put_placeholder(const struct page *page, const char *at, size_t left)
{
	for (size_t i = 0; i < ARRAY_SIZE(placeholders); i++) {
		size_t len = strlen(placeholders[i].name);

		if (left >= len && !memcmp(at, placeholders[i].name, len)) {
			placeholders[i].put(page);
			return len;
		}
	}
	return 0;
}

static void expand(const struct page *page, struct embedded template)
{
	const char *end = template.data + template.len;

	for (const char *at = template.data; at < end;) {
		size_t done = *at == '{' ? put_placeholder(page, at, (size_t)(end - at)) : 0;

		if (!done)
			putc(*at, page->out);
		at += done ? done : 1;
	}
}

int view_html_write(const struct profile *p, const struct view_options *options, FILE *out,
		    struct err *err)
{
	_cleanup_strbuf_ struct strbuf title = STRBUF_INIT;
	struct page page = { .out = out };
	int r;

	view_format_title(&title, p, options);
	markup_escape(&page.title, strbuf_str(&title), title.len);
	r = html_data_build(p, options, strbuf_str(&title), &page.data, err);
	if (!r)
		expand(&page, embedded_page());
	strbuf_release(&page.data);
	strbuf_release(&page.title);
	return r;
}
