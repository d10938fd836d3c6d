/* SPDX-License-Identifier: Apache-2.0 */
/* Code in assembly, as bytes of a test, and the rows that are inferred from it as text. */
#ifndef HOSTPROF_TESTS_INFER_FIXTURE_H
#define HOSTPROF_TESTS_INFER_FIXTURE_H

#include "test.h"

#include <string.h>

#include "base/strbuf.h"
#include "elf/infer/infer_flow.h"

/* NAME_begin up to NAME_end, which is never run; labels are .L…. */
#define INFER_CASE(name, text)                                                       \
	__asm__(".pushsection .text\n.balign 64\n" #name "_begin:\n" text "\n" #name \
		"_end:\n.popsection\n");                                             \
	extern const uint8_t name##_begin[] __asm__(#name "_begin"),                 \
		name##_end[] __asm__(#name "_end")

static const char *const infer_names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
					   "r8",  "r9",	 "r10", "r11", "r12", "r13", "r14", "r15" };

static inline void infer_add_slot(struct strbuf *text, const char *name, uint32_t slot,
				  uint32_t lost)
{
	if (slot == lost)
		strbuf_addf(text, " %s lost", name);
	else if (slot)
		strbuf_addf(text, " %s %u", name, slot);
}

static inline void infer_add_rule(struct strbuf *text, const struct wire_rule *rule)
{
	if (rule->kind == WIRE_RULE_CFA) {
		strbuf_addf(text, "%s%+d", infer_names[rule->cfa_reg], rule->cfa_offset);
	} else if (rule->kind == WIRE_RULE_DEREF) {
		strbuf_addf(text, "*(%s%+d)%+d", infer_names[rule->cfa_reg], rule->cfa_offset,
			    8 * rule->cfa_add);
	} else {
		static const char *const kinds[WIRE_RULE_KIND_COUNT] = {
			[WIRE_RULE_NONE] = "none",
			[WIRE_RULE_END] = "end",
			[WIRE_RULE_SIGNAL] = "signal",
		};

		strbuf_addf(text, "%s", kinds[rule->kind]);
		return;
	}
	assert_int_equal(rule->cfa_index, WIRE_INFERRED);
	if (rule->ra_slot != 1)
		strbuf_addf(text, " in %s", infer_names[rule->ra_slot & 15]);
	infer_add_slot(text, "rbp", rule->rbp_slot, WIRE_RBP_SLOT_LOST);
	infer_add_slot(text, "rbx", rule->rbx_slot, WIRE_SLOT_LOST);
	infer_add_slot(text, "r13", rule->r13_slot, WIRE_SLOT_LOST);
	infer_add_slot(text, "r15", rule->r15_slot, WIRE_SLOT_LOST);
	if (rule->home_reg)
		strbuf_addf(text, " below %s", infer_names[rule->home_reg]);
}

/* Rows one a line: the rule, without its place. */
static inline void infer_text_of(const struct infer_piece *piece, struct strbuf *text)
{
	struct infer_rows_found rows = { VEC_INIT };
	const struct infer_row *row;
	uint32_t last = 0;

	infer_flow_rows(piece, &rows);
	vec_for_each (row, &rows.v) {
		assert_true(row == rows.v.items ? row->at == 0 : row->at > last);
		last = row->at;
		infer_add_rule(text, &row->rule);
		strbuf_addch(text, '\n');
	}
	vec_release(&rows.v);
}

static inline void infer_expect(const uint8_t *begin, const uint8_t *end, const char *wanted)
{
	const uint32_t first = 0;
	const struct infer_piece piece = { .bytes = begin,
					   .len = (size_t)(end - begin),
					   .entries = &first,
					   .entry_count = 1,
					   .address = 0x1000 };
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	infer_text_of(&piece, &text);
	assert_string_equal(strbuf_str(&text), wanted);
}

#define INFER_EXPECT(name, wanted) infer_expect(name##_begin, name##_end, wanted)

#endif
