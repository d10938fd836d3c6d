// SPDX-License-Identifier: Apache-2.0
/*
 * Call frame information of a hostile file, compiled to rows. The first byte says what the rest
 * is: a whole ELF file, or sections that a sound one is made around.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "cfi_fixture.h"
#include "elf/cfi/cfi_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum form {
	WHOLE_FILE,
	EH_FRAME,
	EH_FRAME_HDR,
	DEBUG_FRAME,
	GO_DEBUG_FRAME,
	COMPRESSED,
	GO_TABLES,
	FORMS
};

/* In front of .eh_frame: its .eh_frame_hdr has so many bytes. */
#define HDR_BYTES 64

/* The pages of four MB of text from ADDRESS on are enough to be lost in. */
#define MAX_PAGES 64

static void check_rows(const struct cfi_rows *rows)
{
	if (rows->v.len == 0 || rows->v.items[0].offset != 0)
		abort();
	for (size_t i = 0; i < rows->v.len; i++) {
		const struct cfi_row *row = &rows->v.items[i];

		if (row->rule.kind >= WIRE_RULE_KIND_COUNT || row->rule.cfa_reg > 15 ||
		    row->offset >= WIRE_PAGE_BYTES || (i && row->offset <= row[-1].offset))
			abort();
	}
}

static void compile(struct cfi_file *file, uint64_t offset)
{
	struct cfi_rows rows = { VEC_INIT };
	uint64_t address;
	struct err err;

	for (int i = 0; i < MAX_PAGES; i++, offset += WIRE_PAGE_BYTES) {
		if (!cfi_file_address(file, offset, &address))
			continue;
		if (cfi_file_page(file, address, &rows, &err) < 0)
			abort(); /* memory is always there */
		check_rows(&rows);
	}
	vec_release(&rows.v);
}

static void compile_file(const void *data, size_t size)
{
	_cleanup_(cfi_file_closep) struct cfi_file *file = NULL;
	struct err err;

	if (cfi_file_open_memory(data, size, &file, &err) < 0)
		return;
	compile(file, 0);
	if (cfi_file_bytes(file) > (256U << 20))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct cfi_symbol symbols[] = { { "runtime.systemstack.abi0", 0x1000, 0x100 },
						     { "runtime.goexit", 0x1200, 0x10 } };
	_cleanup_strbuf_ struct strbuf elf = STRBUF_INIT;
	struct cfi_parts parts = { .entry = 0x1ff0 };
	enum form form;

	if (size < 1 + HDR_BYTES)
		return 0;
	form = data[0] % FORMS;
	data++;
	size--;
	if (form == WHOLE_FILE) {
		compile_file(data, size);
		return 0;
	}
	if (form == EH_FRAME || form == EH_FRAME_HDR) {
		parts.hdr = form == EH_FRAME_HDR ? data : NULL;
		parts.hdr_len = HDR_BYTES;
		parts.eh_frame = data + HDR_BYTES;
		parts.eh_frame_len = size - HDR_BYTES;
	} else if (form == GO_TABLES) {
		parts.section = ".gopclntab";
		parts.section_data = data;
		parts.section_len = size;
		parts.text = 0x55;
	} else {
		parts.debug_frame = data;
		parts.debug_frame_len = size;
		parts.compressed = form == COMPRESSED;
		parts.section = form == GO_DEBUG_FRAME ? ".go.buildinfo" : NULL;
		parts.symbols = symbols;
		parts.symbol_count = 2;
	}
	cfi_elf_build(&parts, &elf);
	compile_file(elf.buf, elf.len);
	return 0;
}
