// SPDX-License-Identifier: Apache-2.0
/* Instructions and their operands: DWARF 5, 6.4.2 and 7.24; the GNU one: LSB Core, 10.6.1.1. */
#include "elf/cfi/cfi_program.h"

#include <dwarf.h>

#include "base/macros.h"
#include "elf/cfi/cfi_bytes.h"

/* The x86-64 psABI numbers registers up to 125 (%k7). */
#define MAX_REGISTER 127
/* Compilers nest two. */
#define MAX_REMEMBERED 32
/* libdw copies up to 3 KiB of registers for it, while it runs so many bytes of others. */
#define REMEMBER_COST 16
/* The longest known has 30 bytes. */
#define MAX_EXPRESSION 512

enum operand { UNKNOWN, NONE, FIXED1, FIXED2, FIXED4, NUMBER, REGISTER, BLOCK };

struct instruction {
	enum operand first, second;
};

/*
 * By all six bits of a code. DW_CFA_set_loc is not among them: it has an encoded address that would
 * have to be moved, and nobody emits it.
 */
static const struct instruction instructions[0x40] = {
	[DW_CFA_nop] = { NONE, NONE },
	[DW_CFA_advance_loc1] = { FIXED1, NONE },
	[DW_CFA_advance_loc2] = { FIXED2, NONE },
	[DW_CFA_advance_loc4] = { FIXED4, NONE },
	[DW_CFA_offset_extended] = { REGISTER, NUMBER },
	[DW_CFA_restore_extended] = { REGISTER, NONE },
	[DW_CFA_undefined] = { REGISTER, NONE },
	[DW_CFA_same_value] = { REGISTER, NONE },
	[DW_CFA_register] = { REGISTER, REGISTER },
	[DW_CFA_remember_state] = { NONE, NONE },
	[DW_CFA_restore_state] = { NONE, NONE },
	[DW_CFA_def_cfa] = { REGISTER, NUMBER },
	[DW_CFA_def_cfa_register] = { REGISTER, NONE },
	[DW_CFA_def_cfa_offset] = { NUMBER, NONE },
	[DW_CFA_def_cfa_expression] = { BLOCK, NONE },
	[DW_CFA_expression] = { REGISTER, BLOCK },
	[DW_CFA_offset_extended_sf] = { REGISTER, NUMBER },
	[DW_CFA_def_cfa_sf] = { REGISTER, NUMBER },
	[DW_CFA_def_cfa_offset_sf] = { NUMBER, NONE },
	[DW_CFA_val_offset] = { REGISTER, NUMBER },
	[DW_CFA_val_offset_sf] = { REGISTER, NUMBER },
	[DW_CFA_val_expression] = { REGISTER, BLOCK },
	[DW_CFA_GNU_args_size] = { NUMBER, NONE },
};

static bool skip_operand(struct cfi_bytes *b, enum operand operand)
{
	uint64_t len;

	switch (operand) {
	case NONE: return true;
	case FIXED1: cfi_bytes_skip(b, 1); break;
	case FIXED2: cfi_bytes_skip(b, 2); break;
	case FIXED4: cfi_bytes_skip(b, 4); break;
	case NUMBER: cfi_bytes_uleb(b); break;
	case REGISTER:
		if (cfi_bytes_uleb(b) > MAX_REGISTER)
			return false;
		break;
	case BLOCK:
		len = cfi_bytes_uleb(b);
		if (len > MAX_EXPRESSION)
			return false;
		cfi_bytes_skip(b, len);
		break;
	default: return false;
	}
	return !b->bad;
}

static struct instruction instruction_of(uint8_t code)
{
	static const struct instruction none = { NONE, NONE }, number = { NUMBER, NONE };

	/* The high bits; what is in the low ones is an operand. */
	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
	case DW_CFA_restore: return none;
	case DW_CFA_offset: return number;
	default: return instructions[code];
	}
}

bool cfi_program_is_sound(const uint8_t *program, size_t len, uint32_t *ret_cost)
{
	struct cfi_bytes b = { program, program + len, false };
	int remembered = 0;

	*ret_cost = (uint32_t)len;
	while (b.at < b.end) {
		uint8_t code = *b.at++;
		struct instruction instruction = instruction_of(code);

		if (code == DW_CFA_remember_state && ++remembered > MAX_REMEMBERED)
			return false;
		if (code == DW_CFA_remember_state)
			*ret_cost += REMEMBER_COST;
		if (code == DW_CFA_restore_state)
			remembered--;
		if (remembered < 0 || !skip_operand(&b, instruction.first) ||
		    !skip_operand(&b, instruction.second))
			return false;
	}
	return true;
}
