/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind rules of one page of text: each row holds from its offset up to the next one's. */
#ifndef HOSTPROF_ELF_CFI_CFI_ROWS_H
#define HOSTPROF_ELF_CFI_CFI_ROWS_H

#include <stdint.h>

#include "base/vec.h"
#include "wire.h"

struct cfi_row {
	uint16_t offset; /* in the page; the first is 0, they rise */
	struct wire_rule rule;
};

struct cfi_rows {
	VEC(struct cfi_row) v;
};

/* Append; a row that says the same as the last one is left out, one at the same offset replaces. */
void cfi_rows_put(struct cfi_rows *rows, uint32_t offset, const struct wire_rule *rule);

/* Change UNDER where OVER has rows. */
void cfi_rows_lay_over(struct cfi_rows *under, const struct cfi_rows *over);

/* Change OVER where it has none and UNDER has. */
void cfi_rows_fill(struct cfi_rows *over, const struct cfi_rows *under);

#endif
