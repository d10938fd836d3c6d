// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_callee.h"

#include <stdbool.h>

#include "base/macros.h"

#define BIT(reg) (1U << (reg))
/* Instructions of it that are looked at. */
#define MAX_CALLEE 256

/* Of a function that begins at BEGIN. False: it does something that is none of such a function's. */
static bool look_at(const struct infer_insn *insn, int64_t begin, uint32_t *writes)
{
	switch (insn->kind) {
	case INFER_PAD:
	case INFER_COMPARE:
	case INFER_STORE: return true;
	case INFER_PLAIN: *writes |= insn->writes; return true;
	case INFER_MOVE:
	case INFER_LEA:
	case INFER_CONST:
	case INFER_LOAD: *writes |= BIT(insn->reg); return true;
	case INFER_BRANCH: return insn->value >= begin;
	case INFER_RETURN: return insn->value == 0;
	default: return false;
	}
}

/* Which registers it writes, from instruction AT on; false: it cannot be told. */
static bool find_writes(const struct infer_code *code, size_t at, uint32_t *ret_writes)
{
	const int64_t begin = code->v.items[at].at;
	size_t end = MIN(code->v.len, at + MAX_CALLEE);
	int64_t reaches = 0;

	*ret_writes = 0;
	for (; at < end; at++) {
		const struct infer_insn *insn = &code->v.items[at];

		if (!look_at(insn, begin, ret_writes))
			return false;
		if (infer_code_ends(insn, &reaches))
			break;
	}
	return at < end && !(*ret_writes & BIT(DWARF_RSP));
}

void infer_callees_note(struct infer_code *code)
{
	struct infer_insn *insn;
	uint32_t writes;

	vec_for_each (insn, &code->v) {
		int64_t at = insn->kind == INFER_CALL && insn->value >= 0
				     ? infer_code_find(code, insn->value)
				     : -1;

		if (at < 0 || !find_writes(code, (size_t)at, &writes))
			continue;
		insn->count = 1;
		insn->writes = (uint16_t)writes;
	}
}
