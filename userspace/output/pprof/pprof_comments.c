/* SPDX-License-Identifier: Apache-2.0 */
#include "output/pprof/pprof_comments.h"

#include <inttypes.h>

#include "output/pprof/pb.h"
#include "output/pprof/pprof_fields.h"
#include "profile/quality.h"

/* A comment per counter; a run that could not read a thousand files needs no list of them all. */
#define MAX_COUNTERS 200

struct comments {
	struct pprof_tables *tables; /* borrowed */
	struct strbuf *out;	     /* borrowed */
	struct strbuf text;
};

/* Write the text and empty it. */
static void end_comment(struct comments *c)
{
	uint64_t id = pprof_string(c->tables, strbuf_str(&c->text));

	pb_add_packed(c->out, PROFILE_COMMENT, &id, 1);
	strbuf_reset(&c->text);
}

static void write_origin(struct comments *c)
{
	const struct profile *p = c->tables->profile;

	if (p->host) {
		strbuf_addf(&c->text, "host: %s", profile_get_string(p, p->host));
		end_comment(c);
	}
	if (p->command) {
		strbuf_addf(&c->text, "command: %s", profile_get_string(p, p->command));
		end_comment(c);
	}
}

static void write_quality(struct comments *c, uint32_t event)
{
	struct profile_quality sum = profile_quality_sum(c->tables->profile, event, PROFILE_NONE);

	strbuf_addstr(&c->text, "complete stacks: ");
	profile_format_share(&c->text, sum.complete, sum.samples);
	strbuf_addf(&c->text, " (%" PRIu64 " of %" PRIu64 " samples)", sum.complete, sum.samples);
	end_comment(c);
	strbuf_addf(&c->text, "lost samples: %" PRIu64 " (weight %" PRIu64 ")", sum.lost,
		    sum.lost_weight);
	end_comment(c);
}

static void write_counters(struct comments *c)
{
	const struct profile *p = c->tables->profile;
	size_t shown = MIN(p->counters.len, (size_t)MAX_COUNTERS);

	for (size_t i = 0; i < shown; i++) {
		const struct profile_counter *counter = &p->counters.items[i];
		const char *detail = profile_get_string(p, counter->detail);

		strbuf_addf(&c->text, "%s%s%s: %" PRIu64, profile_get_string(p, counter->name),
			    *detail ? " " : "", detail, counter->value);
		end_comment(c);
	}
	if (shown < p->counters.len) {
		strbuf_addf(&c->text, "(%zu more counters)", p->counters.len - shown);
		end_comment(c);
	}
}

void pprof_comments_write(struct pprof_tables *t, uint32_t event, struct strbuf *out)
{
	struct comments c = { .tables = t, .out = out };

	write_origin(&c);
	write_quality(&c, event);
	write_counters(&c);
	strbuf_release(&c.text);
}
