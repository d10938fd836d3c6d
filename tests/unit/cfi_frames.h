/* SPDX-License-Identifier: Apache-2.0 */
/* Records of call frame information written by hand, and rows asked of a file made around them. */
#ifndef HOSTPROF_TESTS_CFI_FRAMES_H
#define HOSTPROF_TESTS_CFI_FRAMES_H

#include <dwarf.h>

#include "cfi_fixture.h"
#include "elf/cfi/cfi_file.h"

struct frames {
	struct strbuf bytes; /* of the section */
	struct strbuf table; /* the entries of .eh_frame_hdr; FDEs are added by address */
	size_t cie;	     /* where the last one is */
	bool debug;	     /* .debug_frame */
	uint8_t encoding;    /* of addresses in FDEs */
	struct strbuf elf;
	struct cfi_file *file;
	struct cfi_rows rows;
};

#define PROGRAM(...) (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })

static inline void frames_number(struct strbuf *sb, uint64_t value, size_t bytes)
{
	strbuf_add(sb, &value, bytes);
}

static inline size_t frames_begin(struct frames *f)
{
	size_t at = f->bytes.len;

	frames_number(&f->bytes, 0, 4);
	return at;
}

static inline void frames_end(struct frames *f, size_t at)
{
	uint32_t len;

	while ((f->bytes.len - at) % 8)
		frames_number(&f->bytes, DW_CFA_nop, 1);
	len = (uint32_t)(f->bytes.len - at - 4);
	memcpy(f->bytes.buf + at, &len, sizeof(len));
}

/* A CIE whose FDEs have addresses as ENCODING says; LETTERS come behind "zR". */
static inline void frames_cie(struct frames *f, const char *letters, uint8_t encoding,
			      const uint8_t *program, size_t len)
{
	size_t at = f->cie = frames_begin(f);

	f->encoding = encoding;
	frames_number(&f->bytes, f->debug ? DW_CIE_ID_32 : 0, 4);
	frames_number(&f->bytes, f->debug ? 3 : 1, 1);
	if (!f->debug)
		strbuf_addstr(&f->bytes, "zR");
	strbuf_add(&f->bytes, letters, strlen(letters) + 1);
	strbuf_add(&f->bytes, "\1\x78\x10", 3); /* factors 1 and -8, column 16 */
	if (!f->debug) {
		frames_number(&f->bytes, 1, 1);
		frames_number(&f->bytes, encoding, 1);
	}
	strbuf_add(&f->bytes, program, len);
	frames_end(f, at);
}

/* As compilers do: CFA = rsp + 8, return address at CFA - 8. */
static inline void frames_usual_cie(struct frames *f)
{
	frames_cie(f, "", DW_EH_PE_pcrel | DW_EH_PE_sdata4,
		   PROGRAM(DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1));
}

static inline size_t frames_width(const struct frames *f)
{
	uint8_t format = f->encoding & 0x0f;

	return !f->debug && (format == DW_EH_PE_sdata4 || format == DW_EH_PE_udata4) ? 4 : 8;
}

static inline void frames_fde(struct frames *f, uint64_t start, uint64_t size,
			      const uint8_t *program, size_t len)
{
	size_t at = frames_begin(f), width = frames_width(f);
	bool relative = !f->debug && (f->encoding & DW_EH_PE_pcrel);
	uint32_t entry[] = { (uint32_t)(start - CFI_HDR), (uint32_t)(CFI_EH_FRAME + at - CFI_HDR) };

	frames_number(&f->bytes, f->debug ? f->cie : at + 4 - f->cie, 4);
	frames_number(&f->bytes, relative ? start - CFI_EH_FRAME - f->bytes.len : start, width);
	frames_number(&f->bytes, size, width);
	if (!f->debug)
		frames_number(&f->bytes, 0, 1);
	strbuf_add(&f->bytes, program, len);
	frames_end(f, at);
	strbuf_add(&f->table, entry, sizeof(entry));
}

/* Make the file; WITH_HDR: with the linker's table. */
static inline void frames_open(struct frames *f, struct cfi_parts *parts, bool with_hdr)
{
	_cleanup_strbuf_ struct strbuf hdr = STRBUF_INIT;
	struct err err;

	if (with_hdr) {
		strbuf_add(&hdr, "\1\x1b\3\x3b", 4);
		frames_number(&hdr, CFI_EH_FRAME - (CFI_HDR + 4), 4);
		frames_number(&hdr, f->table.len / 8, 4);
		strbuf_add(&hdr, f->table.buf, f->table.len);
		parts->hdr = hdr.buf;
		parts->hdr_len = hdr.len;
	}
	if (f->debug) {
		parts->debug_frame = f->bytes.buf;
		parts->debug_frame_len = f->bytes.len;
	} else {
		frames_number(&f->bytes, 0, 4);
		parts->eh_frame = f->bytes.buf;
		parts->eh_frame_len = f->bytes.len;
	}
	cfi_elf_build(parts, &f->elf);
	assert_int_equal(cfi_file_open_memory(f->elf.buf, f->elf.len, &f->file, &err), 0);
}

static inline void frames_release(struct frames *f)
{
	cfi_file_close(f->file);
	strbuf_release(&f->bytes);
	strbuf_release(&f->table);
	strbuf_release(&f->elf);
	vec_release(&f->rows.v);
}

#define _cleanup_frames_ _cleanup_(frames_release)

/* The rule at ADDRESS of those rows. */
static inline struct wire_rule frames_rule(const struct cfi_rows *rows, uint64_t address)
{
	const struct cfi_row *row;
	struct wire_rule rule = { .kind = WIRE_RULE_KIND_COUNT };

	vec_for_each (row, &rows->v)
		if (row->offset <= address % WIRE_PAGE_BYTES)
			rule = row->rule;
	return rule;
}

/* Compile the page of ADDRESS; the rule there. */
static inline struct wire_rule frames_at(struct frames *f, uint64_t address)
{
	struct err err;

	assert_int_equal(cfi_file_page(f->file, address, &f->rows, &err), 0);
	assert_true(f->rows.v.len > 0);
	assert_int_equal(f->rows.v.items[0].offset, 0);
	return frames_rule(&f->rows, address);
}

/* One FDE at CFI_TEXT with that program, in a file with a table: the rule AT bytes from its start. */
static inline struct wire_rule frames_single(const uint8_t *program, size_t len, uint64_t at)
{
	_cleanup_frames_ struct frames f = { 0 };
	struct cfi_parts parts = { 0 };

	frames_usual_cie(&f);
	frames_fde(&f, CFI_TEXT, 0x100, program, len);
	frames_open(&f, &parts, true);
	return frames_at(&f, CFI_TEXT + at);
}

#endif
