/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A few FDEs as a small ELF file in memory with an .eh_frame of the plainest form, for libdw to
 * evaluate. So libdw never reads a large section whole, nor anything that was not checked before.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_IMAGE_H
#define HOSTPROF_ELF_CFI_CFI_IMAGE_H

#include <elfutils/libdw.h>

#include "base/strbuf.h"
#include "base/vec.h"
#include "elf/cfi/cfi_section.h"
#include "wire.h"

struct cfi_image {
	struct strbuf bytes;
	VEC(struct cfi_cie *) cies; /* borrowed; those that are in it */
	Elf *elf;		    /* owned while it is open */
	Dwarf_CFI *cfi;
};

/* Begin with no records. */
void cfi_image_begin(struct cfi_image *image);

/* Add FDE for the addresses from its start to END. */
void cfi_image_add(struct cfi_image *image, const struct cfi_fde *fde, uint64_t end);

/* No more records: let libdw have it. */
int cfi_image_open(struct cfi_image *image);

/* The rule at ADDRESS and where its row ends; -EBADMSG. */
int cfi_image_row(struct cfi_image *image, uint64_t address, struct wire_rule *ret_rule,
		  uint64_t *ret_end);

/* The CIEs of its records may be forgotten afterwards; the buffer stays for the next one. */
void cfi_image_close(struct cfi_image *image);
void cfi_image_release(struct cfi_image *image);

#endif
