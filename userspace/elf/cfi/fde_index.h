/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which FDEs describe a range of addresses. The linker's table in .eh_frame_hdr answers where
 * there is a usual one (sorted pairs of 32-bit offsets from the header), and is read in place; of
 * other sections an index of our own is made once.
 */
#ifndef HOSTPROF_ELF_CFI_FDE_INDEX_H
#define HOSTPROF_ELF_CFI_FDE_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/cfi/cfi_section.h"

/* An FDE and where it is; by address. */
struct fde_place {
	uint64_t start;
	uint64_t offset; /* in the section */
};

struct fde_places {
	VEC(struct fde_place) v;
};

struct fde_index_entry {
	uint32_t start; /* above the index's base */
	uint32_t offset;
};

/* Of the table in .eh_frame_hdr. */
#define FDE_INDEX_ENTRY_BYTES 8

struct fde_index {
	struct cfi_section *section; /* borrowed */
	uint64_t table_offset;	     /* in what the section's reader reads; 0: `own` has it */
	uint64_t table_count;
	uint64_t table_base;		 /* the address that its numbers count from */
	VEC(struct fde_index_entry) own; /* sorted */
	uint64_t base;
};

/*
 * Use the table of the .eh_frame_hdr at OFFSET (HDR_ADDRESS in memory, SIZE bytes), and give the
 * address of the .eh_frame that it belongs to. -EBADMSG: there is none, or of an unusual form.
 */
int fde_index_read_header(struct fde_index *index, struct cfi_reader *reader, uint64_t offset,
			  uint64_t hdr_address, uint64_t size, uint64_t *ret_eh_frame);

/*
 * Call FN for every FDE of SECTION that describes code, in the order of the section; the FDE is good during the call. False from FN: enough.
 */
void fde_index_for_each(struct cfi_section *section,
			bool (*fn)(const struct cfi_fde *fde, uint64_t offset, void *data),
			void *data);

/* Make an own index of all records of the section. */
void fde_index_scan(struct fde_index *index);

void fde_index_release(struct fde_index *index);

/* No page of text has more. */
#define FDE_INDEX_MAX_PLACES 4096

/*
 * The FDEs that begin in [start, end), and before them the last that begins below; into PLACES
 * (emptied first), sorted.
 */
void fde_index_find(struct fde_index *index, uint64_t start, uint64_t end,
		    struct fde_places *places);

#endif
