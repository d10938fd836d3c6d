// SPDX-License-Identifier: Apache-2.0
/* The rows of a file that are inferred from its code, one a line: infer_show FILE [FIRST LAST] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "elf/cfi/cfi_file_private.h"

static void show(uint64_t address, const struct wire_rule *rule)
{
	printf("%lx %s kind %d r%d%+d add %d ra %d rbp %d rbx %d r13 %d r15 %d home %d\n", address,
	       rule->cfa_index & WIRE_INFERRED ? "inferred" : "stated", rule->kind, rule->cfa_reg,
	       rule->cfa_offset, rule->cfa_add, rule->ra_slot, rule->rbp_slot, rule->rbx_slot,
	       rule->r13_slot, rule->r15_slot, rule->home_reg);
}

int main(int argc, char **argv)
{
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 16) : 0;
	uint64_t last = argc > 3 ? strtoull(argv[3], NULL, 16) : UINT64_MAX;
	struct cfi_rows rows = { VEC_INIT };
	const struct infer_section *section;
	const struct cfi_row *row;
	struct cfi_file *file;
	struct err err = { 0 };

	if (argc < 2 || cfi_file_open(open(argv[1], O_RDONLY | O_CLOEXEC), &file, &err) < 0) {
		fprintf(stderr, "infer_show: %s\n", err.text);
		return 1;
	}
	vec_for_each (section, &file->infer.code) {
		uint64_t page = section->address & ~(uint64_t)(WIRE_PAGE_BYTES - 1);

		for (; page < section->address + section->size; page += WIRE_PAGE_BYTES) {
			if (page + WIRE_PAGE_BYTES <= first || page > last)
				continue;
			cfi_file_page(file, page, &rows, &err);
			vec_for_each (row, &rows.v)
				if (page + row->offset >= MAX(first, section->address) &&
				    page + row->offset < section->address + section->size &&
				    page + row->offset <= last)
					show(page + row->offset, &row->rule);
		}
	}
	vec_release(&rows.v);
	cfi_file_close(file);
	return 0;
}
