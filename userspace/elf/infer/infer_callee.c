// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_callee.h"

#include <stdbool.h>

#include "base/macros.h"

#define BIT(reg) (1U << (reg))
/* Instructions of it that are looked at. */
#define MAX_CALLEE 256

struct callee {
	uint32_t writes;
	int64_t begin, reaches; /* where its jumps lead, at most */
};

/* False: it does something that is none of such a function's. */
static bool look_at(struct callee *callee, const struct infer_insn *insn)
{
	switch (insn->kind) {
	case INFER_PAD:
	case INFER_COMPARE:
	case INFER_STORE: return true;
	case INFER_PLAIN: callee->writes |= insn->writes; return true;
	case INFER_MOVE:
	case INFER_LEA:
	case INFER_CONST:
	case INFER_LOAD: callee->writes |= BIT(insn->reg); return true;
	case INFER_BRANCH:
		callee->reaches = MAX(callee->reaches, (int64_t)insn->value);
		return insn->value >= callee->begin;
	case INFER_RETURN: return insn->value == 0;
	default: return false;
	}
}

/* Which registers it writes, from instruction AT on; false: it cannot be told. */
static bool find_writes(const struct infer_code *code, size_t at, uint32_t *ret_writes)
{
	struct callee callee = { .begin = code->v.items[at].at };
	size_t end = MIN(code->v.len, at + MAX_CALLEE);

	for (; at < end; at++) {
		const struct infer_insn *insn = &code->v.items[at];

		if (!look_at(&callee, insn))
			return false;
		if (insn->kind == INFER_RETURN && callee.reaches <= (int64_t)insn->at)
			break;
	}
	*ret_writes = callee.writes;
	return at < end && !(callee.writes & BIT(DWARF_RSP));
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
