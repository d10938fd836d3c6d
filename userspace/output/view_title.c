/* SPDX-License-Identifier: Apache-2.0 */
#include "output/view_title.h"

void view_format_title(struct strbuf *sb, const struct profile *p,
		       const struct view_options *options)
{
	const char *host = profile_get_string(p, p->host);

	if (options->title)
		strbuf_addstr(sb, options->title);
	else if (*host)
		strbuf_addf(sb, "Flame graph of %s", host);
	else
		strbuf_addstr(sb, "Flame graph");
}
