/* SPDX-License-Identifier: Apache-2.0 */
#include "output/view.h"

#include <string.h>

#include "output/html/view_html.h"
#include "output/pprof/view_pprof.h"
#include "output/svg/view_svg.h"
#include "output/text/view_text.h"
#include "output/view_collapsed.h"

const struct view_format view_formats[] = {
	{ .name = "jfr",
	  .extension = ".jfr",
	  .summary = "recording, for report, jfr and JMC",
	  .binary = true },
	{ .name = "html",
	  .extension = ".html",
	  .summary = "flame graph to look around in",
	  .write = view_html_write },
	{ .name = "svg",
	  .extension = ".svg",
	  .summary = "flame graph as a picture",
	  .write = view_svg_write },
	{ .name = "pprof",
	  .extension = ".pb.gz",
	  .summary = "for go tool pprof",
	  .binary = true,
	  .write = view_pprof_write },
	{ .name = "collapsed",
	  .extension = ".collapsed",
	  .summary = "one line per stack",
	  .write = view_collapsed_write },
	{ .name = "txt",
	  .extension = ".txt",
	  .summary = "tables: methods, stacks, processes, threads",
	  .write = view_text_write },
	{ .name = NULL },
};

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), end_len = strlen(end);

	return len >= end_len && !strcmp(s + len - end_len, end);
}

const struct view_format *view_format_find(const char *name, const char *path)
{
	const struct view_format *best = NULL;

	for (const struct view_format *f = view_formats; f->name; f++) {
		if (name) {
			if (!strcmp(f->name, name))
				return f;
			continue;
		}
		if (ends_with(path, f->extension) &&
		    (!best || strlen(f->extension) > strlen(best->extension)))
			best = f;
	}
	return best;
}
