/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records (CIE, FDE) of one .eh_frame or .debug_frame section, read one at a time. Layouts:
 * LSB Core 5.0, 10.6 (.eh_frame, its augmentations and pointer encodings); DWARF 5, 6.4.1.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_SECTION_H
#define HOSTPROF_ELF_CFI_CFI_SECTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "elf/cfi/cfi_bytes.h"
#include "elf/cfi/cfi_reader.h"

/* What a CIE says, so much of it as its FDEs need. */
struct cfi_cie {
	uint64_t offset;  /* in the section */
	bool good;	  /* false: something in it is not understood */
	bool augmented;	  /* its FDEs have a length and data before their instructions */
	bool signal;	  /* signal frames */
	uint8_t encoding; /* of addresses in its FDEs: DW_EH_PE_… */
	uint64_t code_align;
	int64_t data_align;
	uint8_t *program; /* owned */
	uint32_t program_len, program_cost;
	uint32_t image_at; /* where a cfi_image has it; 0: not in one */
};

struct cfi_fde {
	uint64_t start, end;	/* the file's own addresses; start < end */
	struct cfi_cie *cie;	/* borrowed until cfi_section_trim() */
	const uint8_t *program; /* borrowed until the next record is read */
	uint32_t program_len;
};

struct cfi_section {
	struct cfi_reader *reader; /* borrowed */
	uint64_t offset;	   /* in what the reader reads */
	uint64_t address;
	uint64_t size;		    /* at most: a zero length ends .eh_frame before */
	bool debug;		    /* .debug_frame */
	VEC(struct cfi_cie *) cies; /* owned; a cache */
	size_t cie_bytes;
	uint32_t cies_read; /* so far, also those that were forgotten */
};

void cfi_section_release(struct cfi_section *section);

/* Forget CIEs when there are many. */
void cfi_section_trim(struct cfi_section *section);

/*
 * The FDE at OFFSET. -ENODATA: there is a CIE, or nothing more; -EBADMSG: it makes no sense, but
 * the next record may.
 */
int cfi_section_fde(struct cfi_section *section, uint64_t offset, struct cfi_fde *ret_fde);

/* Where the record after that at OFFSET begins; 0: it is the last. */
uint64_t cfi_section_next(struct cfi_section *section, uint64_t offset);

/* An address of DW_EH_PE_ENCODING at B, whose first byte has ADDRESS. */
uint64_t cfi_address(struct cfi_bytes *b, uint8_t encoding, uint64_t address,
		     uint64_t data_address);

#endif
