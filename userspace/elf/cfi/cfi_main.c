// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_main.h"

#include <string.h>

#include "base/macros.h"
#include "elf/cfi/cfi_layer.h"

/* `lea REL(%rip),%rdi`, or `mov $MAIN,%rdi` (glibc: sysdeps/x86_64/start.S). */
uint64_t cfi_main_address(const uint8_t *code, size_t len, uint64_t entry)
{
	static const uint8_t relative[] = { 0x48, 0x8d, 0x3d }, absolute[] = { 0x48, 0xc7, 0xc7 };
	int32_t operand;

	for (size_t i = 0; i + 7 <= len; i++) {
		memcpy(&operand, code + i + 3, sizeof(operand));
		if (memcmp(code + i, relative, sizeof(relative)) == 0)
			return entry + i + 7 + (uint64_t)(int64_t)operand;
		if (memcmp(code + i, absolute, sizeof(absolute)) == 0)
			return (uint64_t)(int64_t)operand;
	}
	return 0;
}

bool cfi_main_match(const uint8_t *code, size_t len, uint64_t address, struct cfi_main *ret_main)
{
	enum { PUSH_RAX = 0x50, POP_RCX = 0x59, RET = 0xc3, CALL = 0xff, CALL_RIP = 0x15 };

	if (len == 0 || code[0] != PUSH_RAX)
		return false;
	/* call *REL(%rip); pop %rcx; ret */
	for (size_t i = 1; i + 8 <= MIN(len, (size_t)CFI_MAIN_MAX_BYTES); i++) {
		if (code[i] != CALL || code[i + 1] != CALL_RIP || code[i + 6] != POP_RCX ||
		    code[i + 7] != RET)
			continue;
		*ret_main = (struct cfi_main){ address, address + i + 8 };
		return true;
	}
	return false;
}

void cfi_main_rows(const struct cfi_main *it, uint64_t page, struct cfi_rows *rows)
{
	const struct {
		uint64_t start;
		struct wire_rule rule;
	} parts[] = {
		{ 0, { .kind = WIRE_RULE_NONE } },
		{ it->start,
		  { .kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .cfa_offset = 8, .ra_slot = 1 } },
		{ it->start + 1,
		  { .kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .cfa_offset = 16, .ra_slot = 1 } },
		{ it->end - 1,
		  { .kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .cfa_offset = 8, .ra_slot = 1 } },
		{ it->end, { .kind = WIRE_RULE_NONE } },
	};

	rows->v.len = 0;
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (parts[i].start < page + WIRE_PAGE_BYTES)
			cfi_rows_put(rows, (uint32_t)(MAX(parts[i].start, page) - page),
				     &parts[i].rule);
}
