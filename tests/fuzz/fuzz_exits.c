/* SPDX-License-Identifier: Apache-2.0 */
/* Code of another process: where it returns. The input is the code, over and over, but for its last bytes, which say where it begins. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/exits/code_exits.h"
#include "unwind/exits/x86_insn.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define TAIL 8 /* bytes of the input that are no code */

struct code {
	const uint8_t *bytes;
	size_t len;
};

static int read_code(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct code *code = data;
	uint8_t *out = dst;

	if (address % 7 == 3) /* a page that is not there */
		return -EFAULT;
	for (size_t i = 0; i < len; i++)
		out[i] = code->bytes[(address + i) % code->len];
	return 0;
}

static void check_insns(const struct code *code)
{
	struct x86_insn insn;

	for (size_t at = 0; at < code->len; at += insn.len) {
		x86_insn_read(code->bytes + at, code->len - at, &insn);
		if (!insn.len || insn.len > X86_MAX_BYTES || insn.len > code->len - at)
			abort();
	}
}

static void check_place(int32_t place)
{
	if (place != EXITS_KEPT && (place < 0 || place > (int32_t)UNWIND_MAX_FRAME_BYTES))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct code_exits *exits;
	static uint64_t now_ns;
	const struct code code = { data, size - TAIL };
	struct code_source source = { 1, read_code, &code };
	struct unwind_exit found[EXITS_MOST];
	uint64_t at;
	uint32_t count;

	if (size <= TAIL)
		return 0;
	if (!exits)
		exits = code_exits_new();
	memcpy(&at, data + code.len, sizeof(at));
	check_insns(&code);
	now_ns += 5 * NSEC_PER_SEC;
	count = code_exits_find(exits, &source, at, now_ns, found);
	if (count > EXITS_MOST)
		abort();
	for (uint32_t i = 0; i < count; i++) {
		if (found[i].sp % 8 || (!found[i].jump && found[i].sp < 0))
			abort();
		check_place(found[i].rbx);
		check_place(found[i].rbp);
		check_place(found[i].r13);
		check_place(found[i].r15);
	}
	return 0;
}
