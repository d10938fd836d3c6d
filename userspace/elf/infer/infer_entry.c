// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_entry.h"

#include <stdbool.h>

#include "base/macros.h"
#include "elf/infer/infer_code.h"

#define BIT(reg) (1U << (reg))
/* What a probe wants to know: the stack, and the arguments of the functions that are probed. */
#define WANTED (BIT(DWARF_RSP) | BIT(DWARF_RDI) | BIT(DWARF_RSI) | BIT(DWARF_RDX) | BIT(DWARF_RCX))

/* Only forms without prefixes but the one of a push's upper registers. */
static bool is_cheap(const struct infer_insn *insn, const uint8_t *code)
{
	const uint8_t *at = code + insn->at;

	switch (insn->len) {
	case 1: return at[0] == 0x90 || (at[0] & 0xf8) == 0x50;
	case 2: return (at[0] & 0xf0) == 0x70 || (at[0] == 0x41 && (at[1] & 0xf8) == 0x50);
	case 6: return at[0] == 0x0f && (at[1] & 0xf0) == 0x80;
	default: return false;
	}
}

/* Is it the same before and behind it, as far as a probe sees? */
static bool is_harmless(const struct infer_insn *insn)
{
	switch (insn->kind) {
	case INFER_PAD:
	case INFER_COMPARE: return true;
	case INFER_PLAIN: return !(insn->writes & WANTED) && !insn->count;
	case INFER_MOVE:
	case INFER_LEA:
	case INFER_CONST: return !(BIT(insn->reg) & WANTED);
	default: return false;
	}
}

static bool is_reached_again(const struct infer_code *code, uint32_t at)
{
	const struct infer_insn *insn;

	vec_for_each (insn, &code->v)
		if ((insn->kind == INFER_BRANCH || insn->kind == INFER_JUMP ||
		     insn->kind == INFER_CALL) &&
		    insn->value > 0 && (uint32_t)insn->value <= at)
			return true;
	return false;
}

static uint32_t find_cheap(const struct infer_code *code, const uint8_t *bytes)
{
	const struct infer_insn *insn;

	vec_for_each (insn, &code->v) {
		if (insn->at > INFER_ENTRY_FAR)
			break;
		if (is_cheap(insn, bytes))
			return is_reached_again(code, insn->at) ? 0 : insn->at;
		if (!is_harmless(insn))
			break;
	}
	return 0;
}

uint32_t infer_entry_probe(const uint8_t *bytes, size_t len)
{
	struct infer_code code = { 0 };
	uint32_t at;

	infer_code_read(bytes, MIN(len, (size_t)INFER_ENTRY_BYTES), &code);
	at = find_cheap(&code, bytes);
	infer_code_release(&code);
	return at;
}
