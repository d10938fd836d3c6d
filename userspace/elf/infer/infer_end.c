// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_end.h"

#include "base/macros.h"
#include "elf/infer/infer_code.h"

static size_t find_end(const struct infer_code *code)
{
	const struct infer_insn *insn;
	int64_t reaches = 0;

	vec_for_each (insn, &code->v) {
		if (insn->kind == INFER_STOP)
			return 0;
		/* A jump forward may be one to another function, which is then taken for a part of this. */
		if (infer_code_ends(insn, &reaches))
			return insn->at + insn->len;
	}
	return 0;
}

size_t infer_function_end(const uint8_t *code, size_t len)
{
	struct infer_code decoded = { 0 };
	size_t end;

	infer_code_read(code, MIN(len, (size_t)INFER_END_BYTES), &decoded);
	end = find_end(&decoded);
	infer_code_release(&decoded);
	return end;
}
