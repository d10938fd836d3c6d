/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One source of rows of a file: its .eh_frame, or its .debug_frame. Rows of several layers are
 * laid over one another.
 */
#ifndef HOSTPROF_ELF_CFI_CFI_LAYER_H
#define HOSTPROF_ELF_CFI_CFI_LAYER_H

#include "elf/cfi/cfi_image.h"
#include "elf/cfi/cfi_rows.h"
#include "elf/cfi/cfi_section.h"
#include "elf/cfi/fde_index.h"

struct cfi_layer {
	struct cfi_section section;
	struct fde_index index;
	struct cfi_image image;
	struct fde_places places;
	bool go; /* made by Go's linker */
};

void cfi_layer_init(struct cfi_layer *layer, struct cfi_reader *reader);
void cfi_layer_release(struct cfi_layer *layer);
size_t cfi_layer_bytes(const struct cfi_layer *layer);

/* The rows of the page that begins at PAGE; WIRE_RULE_NONE where the layer says nothing. */
void cfi_layer_rows(struct cfi_layer *layer, uint64_t page, struct cfi_rows *rows);

/* Does an FDE of it describe ADDRESS? */
bool cfi_layer_covers(struct cfi_layer *layer, uint64_t address);

/* The address of the first FDE above ADDRESS; UINT64_MAX when there is none near it. */
uint64_t cfi_layer_next_start(struct cfi_layer *layer, uint64_t address);

#endif
