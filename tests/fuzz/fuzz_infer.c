/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows inferred from machine code that somebody made. The first byte says whether a function begins at the first byte, how the code is
 * aligned and how many functions are known (4 bits), the next ones where (2 bytes each, from the last one on); all else is code.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "elf/infer/infer_flow.h"

#define MAX_ENTRIES 15
#define CODE	    0x401000ULL

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool condition)
{
	if (!condition)
		abort();
}

static void check_slot(uint32_t slot, uint32_t lost)
{
	expect(slot <= lost);
}

/* A rule that walks can follow; whoever reads it knows that it was inferred. */
static void check_rule(const struct wire_rule *rule)
{
	expect(rule->kind < WIRE_RULE_KIND_COUNT);
	if (rule->kind != WIRE_RULE_CFA && rule->kind != WIRE_RULE_DEREF) {
		expect(rule->kind == WIRE_RULE_NONE || rule->kind == WIRE_RULE_SIGNAL ||
		       rule->kind == WIRE_RULE_END);
		return;
	}
	expect(rule->cfa_index == WIRE_INFERRED);
	expect(rule->cfa_reg < DWARF_REGISTERS && rule->home_reg < DWARF_REGISTERS);
	check_slot(rule->rbp_slot, WIRE_RBP_SLOT_LOST);
	check_slot(rule->rbx_slot, WIRE_SLOT_LOST);
	check_slot(rule->r13_slot, WIRE_SLOT_LOST);
	check_slot(rule->r15_slot, WIRE_SLOT_LOST);
}

static void check_rows(const struct infer_piece *piece, const struct infer_rows_found *rows)
{
	for (size_t i = 0; i < rows->v.len; i++) {
		const struct infer_row *row = &rows->v.items[i];

		expect(row->at < piece->len && (i ? row->at > row[-1].at : row->at == 0));
		expect(!i || memcmp(&row->rule, &row[-1].rule, sizeof(row->rule)) != 0);
		check_rule(&row->rule);
	}
}

/* Where instructions begin, and what they lead to, lies in the code. */
static void check_code(const struct infer_piece *piece)
{
	struct infer_code code = { VEC_INIT, VEC_INIT };
	size_t end = 0;

	infer_code_read(piece->bytes, piece->len, &code);
	for (size_t i = 0; i < code.v.len; i++) {
		const struct infer_insn *insn = &code.v.items[i];

		expect(insn->at == end && insn->len > 0 && insn->kind <= INFER_STOP);
		expect(infer_code_find(&code, (int64_t)end) == (int64_t)i);
		end += insn->len;
	}
	expect(end == piece->len);
	infer_code_release(&code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t entries[MAX_ENTRIES], last = 0;
	struct infer_rows_found rows = { VEC_INIT };
	struct infer_piece piece = { .entries = entries };
	size_t count;

	if (size < 1)
		return 0;
	count = MIN((size_t)data[0] & MAX_ENTRIES, (size - 1) / 2);
	piece.begins = data[0] & 0x80;
	piece.address = CODE + (data[0] >> 4 & 7);
	for (size_t i = 0; i < count; i++) {
		last += (uint32_t)(data[1 + 2 * i] | data[2 + 2 * i] << 8);
		entries[i] = last;
	}
	piece.bytes = data + 1 + 2 * count;
	piece.len = size - 1 - 2 * count;
	/* Known functions lie in the code. */
	while (piece.entry_count < count && entries[piece.entry_count] < piece.len)
		piece.entry_count++;
	/* Where none begins at the first byte the second half of them is but pointed to. */
	if (!piece.begins) {
		piece.pointed_count = piece.entry_count / 2;
		piece.entry_count -= piece.pointed_count;
		piece.pointed = entries + piece.entry_count;
	}
	check_code(&piece);
	infer_flow_rows(&piece, &rows);
	check_rows(&piece, &rows);
	vec_release(&rows.v);
	return 0;
}
