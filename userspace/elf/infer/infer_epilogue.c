// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_epilogue.h"

#include <stdbool.h>
#include <string.h>

enum { LEAVE = 0xc9, POP_RBP = 0x5d, RET = 0xc3 };

/* The frame is where %rbp says, in which the caller's was saved. */
static bool is_framed(const struct wire_rule *rule)
{
	return rule->kind == WIRE_RULE_CFA && rule->cfa_reg == DWARF_RBP && rule->cfa_offset == 16;
}

/* Bytes that look like it in the middle of an instruction do no harm: no thread stands there. */
static bool is_return(const uint8_t *code, size_t at)
{
	return code[at] == RET && at > 0 && (code[at - 1] == LEAVE || code[at - 1] == POP_RBP);
}

static void put_returns(struct cfi_rows *over, uint32_t at, const uint8_t *code, size_t from,
			size_t end)
{
	const struct wire_rule bare = { .kind = WIRE_RULE_CFA,
					.cfa_reg = DWARF_RSP,
					.cfa_offset = 8,
					.ra_slot = 1,
					.cfa_index = WIRE_INFERRED };
	const struct wire_rule none = { .kind = WIRE_RULE_NONE };
	const uint8_t *found;

	for (; (found = memchr(code + from, RET, end - from)); from++) {
		from = (size_t)(found - code);
		if (!is_return(code, from))
			continue;
		cfi_rows_put(over, at + (uint32_t)from, &bare);
		if (at + from + 1 < WIRE_PAGE_BYTES)
			cfi_rows_put(over, at + (uint32_t)from + 1, &none);
	}
}

void infer_epilogues(struct cfi_rows *rows, uint32_t at, const uint8_t *code, size_t len)
{
	const uint32_t end = at + (uint32_t)len;
	struct cfi_rows over = { VEC_INIT };

	cfi_rows_put(&over, 0, &(struct wire_rule){ .kind = WIRE_RULE_NONE });
	for (size_t i = 0; i < rows->v.len; i++) {
		const struct cfi_row *row = &rows->v.items[i];
		uint32_t next = i + 1 < rows->v.len ? row[1].offset : WIRE_PAGE_BYTES;
		uint32_t low = MAX(row->offset, at), high = MIN(next, end);

		if (low < high && is_framed(&row->rule))
			put_returns(&over, at, code, low - at, high - at);
	}
	if (over.v.len > 1)
		cfi_rows_lay_over(rows, &over);
	vec_release(&over.v);
}
