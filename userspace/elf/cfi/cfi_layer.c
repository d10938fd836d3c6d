// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_layer.h"

#include <string.h>

#include "elf/cfi/cfi_program.h"

/*
 * libdw runs an FDE's instructions from the first for every row. Of the largest functions known
 * (some 30 KiB of them) a page takes some MB of instructions; this bounds what hostile ones take.
 */
#define PAGE_BUDGET_BYTES (24U << 20)
#define ROW_BYTES	  64
/* Buffers that one large function made large are not kept. */
#define KEEP_IMAGE_BYTES (256U << 10)

static const struct wire_rule no_rule = { .kind = WIRE_RULE_NONE };
static const struct wire_rule bad_rule = { .kind = WIRE_RULE_BAD };

/* A piece of a page that one FDE describes. */
struct piece {
	uint64_t start, end;
	bool good;
	uint32_t cost; /* of its instructions, for each row */
};

/* What is known while the rows of a page are made. */
struct page {
	uint64_t start, end;
	uint64_t budget;
	struct cfi_rows *rows;
};

void cfi_layer_init(struct cfi_layer *layer, struct cfi_reader *reader)
{
	layer->section.reader = reader;
	layer->index.section = &layer->section;
}

void cfi_layer_release(struct cfi_layer *layer)
{
	cfi_image_release(&layer->image);
	cfi_section_release(&layer->section);
	fde_index_release(&layer->index);
	vec_release(&layer->places.v);
}

size_t cfi_layer_bytes(const struct cfi_layer *layer)
{
	return layer->section.cie_bytes + layer->section.cies.cap * sizeof(void *) +
	       layer->index.own.cap * sizeof(layer->index.own.items[0]) + layer->image.bytes.cap +
	       layer->places.v.cap * sizeof(layer->places.v.items[0]);
}

/* The record of PLACE in the image; false when it has nothing to say of the page. */
static bool add_piece(struct cfi_layer *layer, const struct fde_place *place, uint64_t next_start,
		      struct page *page, struct piece *ret_piece)
{
	struct cfi_fde fde;

	if (next_start <= place->start || next_start <= page->start)
		return false;
	if (cfi_section_fde(&layer->section, place->offset, &fde) < 0 || fde.start != place->start)
		return false;
	/* Where two overlap, the one that begins later has the word. */
	fde.end = MIN(fde.end, next_start);
	if (fde.end <= page->start || fde.start >= page->end)
		return false;
	ret_piece->start = MAX(fde.start, page->start);
	ret_piece->end = MIN(fde.end, page->end);
	ret_piece->good = cfi_program_is_sound(fde.program, fde.program_len, &ret_piece->cost);
	ret_piece->cost += fde.cie->program_cost;
	page->budget -= MIN(page->budget, ret_piece->cost);
	if (ret_piece->good)
		cfi_image_add(&layer->image, &fde, fde.end);
	return true;
}

/*
 * Go's compiler and assembler save %rbp directly below the return address in every frame that has
 * more than that (cmd/internal/obj/x86/obj6.go), but its linker does not write it down.
 */
static void amend_go_rule(struct wire_rule *rule)
{
	if (rule->kind == WIRE_RULE_CFA && rule->cfa_reg == DWARF_RSP && rule->cfa_offset >= 16 &&
	    rule->rbp_slot == WIRE_SLOT_SAME)
		rule->rbp_slot = 2;
}

static void put_piece(struct cfi_layer *layer, const struct piece *piece, struct page *page)
{
	uint64_t at = piece->start, end;
	uint64_t cost = piece->cost + ROW_BYTES;
	struct wire_rule rule;

	for (; piece->good && at < piece->end && page->budget >= cost; at = end) {
		page->budget -= cost;
		if (cfi_image_row(&layer->image, at, &rule, &end) < 0)
			break;
		if (layer->go)
			amend_go_rule(&rule);
		cfi_rows_put(page->rows, (uint32_t)(at - page->start), &rule);
	}
	if (at < piece->end)
		cfi_rows_put(page->rows, (uint32_t)(at - page->start), &bad_rule);
}

static void put_pieces(struct cfi_layer *layer, const struct piece *pieces, size_t count,
		       struct page *page)
{
	uint64_t at = page->start;

	for (size_t i = 0; i < count; i++) {
		if (pieces[i].start > at)
			cfi_rows_put(page->rows, (uint32_t)(at - page->start), &no_rule);
		put_piece(layer, &pieces[i], page);
		at = pieces[i].end;
	}
	if (at < page->end)
		cfi_rows_put(page->rows, (uint32_t)(at - page->start), &no_rule);
}

void cfi_layer_rows(struct cfi_layer *layer, uint64_t page_start, struct cfi_rows *rows)
{
	struct page page = { page_start, page_start + WIRE_PAGE_BYTES, PAGE_BUDGET_BYTES, rows };
	VEC(struct piece) pieces = VEC_INIT;
	const struct fde_places *places = &layer->places;
	struct piece piece;

	rows->v.len = 0;
	if (page.end < page.start) { /* the last page of all: only hostile files are there */
		cfi_rows_put(rows, 0, &no_rule);
		return;
	}
	fde_index_find(&layer->index, page.start, page.end, &layer->places);
	cfi_image_begin(&layer->image);
	for (size_t i = 0; i < places->v.len && page.budget; i++)
		if (add_piece(layer, &places->v.items[i],
			      i + 1 < places->v.len ? places->v.items[i + 1].start : UINT64_MAX,
			      &page, &piece))
			vec_push(&pieces, piece);
	if (pieces.len && cfi_image_open(&layer->image) < 0)
		pieces.len = 0;
	put_pieces(layer, pieces.items, pieces.len, &page);
	cfi_image_close(&layer->image);
	if (layer->image.bytes.cap > KEEP_IMAGE_BYTES)
		cfi_image_release(&layer->image);
	cfi_section_trim(&layer->section);
	vec_release(&pieces);
}

bool cfi_layer_covers(struct cfi_layer *layer, uint64_t address)
{
	struct cfi_fde fde;

	fde_index_find(&layer->index, address, address + 1, &layer->places);
	return layer->places.v.len &&
	       cfi_section_fde(&layer->section,
			       layer->places.v.items[layer->places.v.len - 1].offset, &fde) == 0 &&
	       address >= fde.start && address < fde.end;
}

uint64_t cfi_layer_next_start(struct cfi_layer *layer, uint64_t address)
{
	const struct fde_place *place;

	fde_index_find(&layer->index, address, address + WIRE_PAGE_BYTES, &layer->places);
	vec_for_each (place, &layer->places.v)
		if (place->start > address)
			return place->start;
	return UINT64_MAX;
}
