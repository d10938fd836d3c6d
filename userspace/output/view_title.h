/* SPDX-License-Identifier: Apache-2.0 */
/* What stands above a flame graph. */
#ifndef HOSTPROF_OUTPUT_VIEW_TITLE_H
#define HOSTPROF_OUTPUT_VIEW_TITLE_H

#include "base/strbuf.h"
#include "output/view_options.h"
#include "profile/profile.h"

/* Append --title, or one made from the host's name. */
void view_format_title(struct strbuf *sb, const struct profile *p,
		       const struct view_options *options);

#endif
