// SPDX-License-Identifier: Apache-2.0
/* Layouts: System V gABI chapter 4 (ELF); LSB Core 5.0, 10.6 (.eh_frame). */
#include "elf/cfi/cfi_image.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "elf/cfi/cfi_rule.h"

#define SECTION_NAMES "\0.eh_frame\0.shstrtab"

enum { NAME_EH_FRAME = 1, NAME_STRINGS = 11 };

/* The header, the section names, then .eh_frame. */
#define NAMES_AT sizeof(Elf64_Ehdr)
#define FRAME_AT (NAMES_AT + ((sizeof(SECTION_NAMES) + 7) & ~7UL))

enum { SECTION_NULL, SECTION_EH_FRAME, SECTION_STRINGS, SECTION_COUNT };

static void put(struct strbuf *sb, uint64_t value, size_t bytes)
{
	strbuf_add(sb, &value, bytes); /* little-endian, as this machine is */
}

static void put_uleb(struct strbuf *sb, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put(sb, (value & 0x7f) | 0x80, 1);
	put(sb, value, 1);
}

static void put_sleb(struct strbuf *sb, int64_t value)
{
	for (; value < -64 || value > 63; value >>= 7)
		put(sb, ((uint64_t)value & 0x7f) | 0x80, 1);
	put(sb, (uint64_t)value & 0x7f, 1);
}

static size_t begin_record(struct strbuf *sb)
{
	size_t at = sb->len;

	put(sb, 0, 4);
	return at;
}

static void end_record(struct strbuf *sb, size_t at)
{
	uint32_t len;

	while ((sb->len - at) % 4)
		put(sb, DW_CFA_nop, 1);
	len = (uint32_t)(sb->len - at - 4);
	memcpy(sb->buf + at, &len, sizeof(len));
}

void cfi_image_begin(struct cfi_image *image)
{
	cfi_image_close(image);
	strbuf_reset(&image->bytes);
	strbuf_grow(&image->bytes, FRAME_AT);
	memset(image->bytes.buf, 0, FRAME_AT);
	memcpy(image->bytes.buf + NAMES_AT, SECTION_NAMES, sizeof(SECTION_NAMES));
	image->bytes.len = FRAME_AT;
}

/*
 * Registers that a function keeps unless it says something else (x86-64 psABI, 3.2.1). libdw has
 * such defaults too, but takes %rbx for lost.
 */
static const uint8_t kept_registers[] = { DW_CFA_same_value, 3,	 DW_CFA_same_value, 6,
					  DW_CFA_same_value, 13, DW_CFA_same_value, 15 };

/* Version 1, addresses in eight bytes as they are, no augmentation but "signal frame". */
static void add_cie(struct cfi_image *image, struct cfi_cie *cie)
{
	struct strbuf *sb = &image->bytes;
	size_t at = begin_record(sb);

	put(sb, 0, 4);
	put(sb, 1, 1);
	strbuf_add(sb, cie->signal ? "zRS" : "zR", cie->signal ? 4 : 3);
	put_uleb(sb, cie->code_align);
	put_sleb(sb, cie->data_align);
	put(sb, 16, 1); /* the column of the return address */
	put_uleb(sb, 1);
	put(sb, DW_EH_PE_absptr, 1);
	strbuf_add(sb, kept_registers, sizeof(kept_registers));
	strbuf_add(sb, cie->program, cie->program_len);
	end_record(sb, at);
	cie->image_at = (uint32_t)at;
	vec_push(&image->cies, cie);
}

void cfi_image_add(struct cfi_image *image, const struct cfi_fde *fde, uint64_t end)
{
	struct strbuf *sb = &image->bytes;
	size_t at;

	if (!fde->cie->image_at)
		add_cie(image, fde->cie);
	at = begin_record(sb);
	put(sb, at + 4 - fde->cie->image_at, 4);
	put(sb, fde->start, 8);
	put(sb, end - fde->start, 8);
	put_uleb(sb, 0);
	strbuf_add(sb, fde->program, fde->program_len);
	end_record(sb, at);
}

static void put_headers(struct strbuf *sb, uint64_t sections_at, uint64_t frame_end)
{
	Elf64_Shdr sections[SECTION_COUNT] = {
		[SECTION_EH_FRAME] = { .sh_name = NAME_EH_FRAME,
				       .sh_type = SHT_PROGBITS,
				       .sh_flags = SHF_ALLOC,
				       .sh_offset = FRAME_AT,
				       .sh_size = frame_end - FRAME_AT,
				       .sh_addralign = 4 },
		[SECTION_STRINGS] = { .sh_name = NAME_STRINGS,
				      .sh_type = SHT_STRTAB,
				      .sh_offset = NAMES_AT,
				      .sh_size = sizeof(SECTION_NAMES),
				      .sh_addralign = 1 },
	};
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_shoff = sections_at,
			      .e_ehsize = sizeof(header),
			      .e_shentsize = sizeof(sections[0]),
			      .e_shnum = SECTION_COUNT,
			      .e_shstrndx = SECTION_STRINGS };

	strbuf_add(sb, sections, sizeof(sections));
	memcpy(sb->buf, &header, sizeof(header));
}

int cfi_image_open(struct cfi_image *image)
{
	struct strbuf *sb = &image->bytes;
	uint64_t frame_end;

	put(sb, 0, 4); /* the end mark */
	frame_end = sb->len;
	while (sb->len % 8)
		put(sb, 0, 1);
	put_headers(sb, sb->len, frame_end);
	elf_version(EV_CURRENT);
	image->elf = elf_memory(sb->buf, sb->len);
	image->cfi = image->elf ? dwarf_getcfi_elf(image->elf) : NULL;
	return image->cfi ? 0 : -EBADMSG;
}

int cfi_image_row(struct cfi_image *image, uint64_t address, struct wire_rule *ret_rule,
		  uint64_t *ret_end)
{
	_cleanup_free_ Dwarf_Frame *frame = NULL;
	Dwarf_Addr start, end;
	bool signal;

	if (dwarf_cfi_addrframe(image->cfi, address, &frame) != 0 ||
	    dwarf_frame_info(frame, &start, &end, &signal) < 0 || end <= address)
		return -EBADMSG;
	*ret_rule = cfi_rule(frame, signal);
	*ret_end = end;
	return 0;
}

void cfi_image_close(struct cfi_image *image)
{
	struct cfi_cie **cie;

	if (image->cfi)
		dwarf_cfi_end(image->cfi);
	elf_end(image->elf);
	image->cfi = NULL;
	image->elf = NULL;
	vec_for_each (cie, &image->cies)
		(*cie)->image_at = 0;
	image->cies.len = 0;
}

void cfi_image_release(struct cfi_image *image)
{
	cfi_image_close(image);
	vec_release(&image->cies);
	strbuf_release(&image->bytes);
}
