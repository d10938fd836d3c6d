// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_rows.h"

#include <string.h>

static const struct wire_rule no_rule = { .kind = WIRE_RULE_NONE };

void cfi_rows_put(struct cfi_rows *rows, uint32_t offset, const struct wire_rule *rule)
{
	if (rows->v.len && rows->v.items[rows->v.len - 1].offset == offset)
		rows->v.len--;
	if (rows->v.len && memcmp(&rows->v.items[rows->v.len - 1].rule, rule, sizeof(*rule)) == 0)
		return;
	vec_push(&rows->v, ((struct cfi_row){ (uint16_t)offset, *rule }));
}

/* OVER's rows where it has any, UNDER's elsewhere. */
static struct cfi_rows merge_rows(const struct cfi_rows *under, const struct cfi_rows *over)
{
	struct cfi_rows result = { VEC_INIT };
	size_t u = 0, o = 0;

	while (u < under->v.len || o < over->v.len) {
		uint32_t at_u = u < under->v.len ? under->v.items[u].offset : WIRE_PAGE_BYTES;
		uint32_t at_o = o < over->v.len ? over->v.items[o].offset : WIRE_PAGE_BYTES;
		const struct wire_rule *rule = &no_rule;

		u += at_u <= at_o;
		o += at_o <= at_u;
		if (o > 0)
			rule = &over->v.items[o - 1].rule;
		if (rule->kind == WIRE_RULE_NONE && u > 0)
			rule = &under->v.items[u - 1].rule;
		cfi_rows_put(&result, MIN(at_u, at_o), rule);
	}
	return result;
}

static void replace_rows(struct cfi_rows *rows, struct cfi_rows by)
{
	vec_release(&rows->v);
	*rows = by;
}

void cfi_rows_lay_over(struct cfi_rows *under, const struct cfi_rows *over)
{
	replace_rows(under, merge_rows(under, over));
}

void cfi_rows_fill(struct cfi_rows *over, const struct cfi_rows *under)
{
	replace_rows(over, merge_rows(under, over));
}
