// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_section.h"

#include <dwarf.h>
#include <errno.h>
#include <string.h>

#include "elf/cfi/cfi_program.h"

/* A compiler's has 12 bytes. */
#define MAX_CIE_PROGRAM 1024
#define MAX_CIES	256
/* Columns of the psABI: only the return address is told apart. */
#define RETURN_COLUMN 16

void cfi_section_release(struct cfi_section *section)
{
	struct cfi_cie **cie;

	vec_for_each (cie, &section->cies) {
		free((*cie)->program);
		free(*cie);
	}
	vec_release(&section->cies);
	section->cie_bytes = 0;
}

void cfi_section_trim(struct cfi_section *section)
{
	if (section->cies.len > MAX_CIES)
		cfi_section_release(section);
}

uint64_t cfi_address(struct cfi_bytes *b, uint8_t encoding, uint64_t address, uint64_t data_address)
{
	uint64_t value;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8: value = cfi_bytes_fixed(b, 8); break;
	case DW_EH_PE_udata4: value = cfi_bytes_fixed(b, 4); break;
	case DW_EH_PE_udata2: value = cfi_bytes_fixed(b, 2); break;
	case DW_EH_PE_sdata4: value = (uint64_t)(int32_t)cfi_bytes_fixed(b, 4); break;
	case DW_EH_PE_sdata2: value = (uint64_t)(int16_t)cfi_bytes_fixed(b, 2); break;
	case DW_EH_PE_uleb128: value = cfi_bytes_uleb(b); break;
	case DW_EH_PE_sleb128: value = (uint64_t)cfi_bytes_sleb(b); break;
	default: b->bad = true; return 0;
	}
	switch (encoding & 0xf0) {
	case DW_EH_PE_absptr: return value;
	case DW_EH_PE_pcrel: return address + value;
	case DW_EH_PE_datarel: return data_address + value;
	default: b->bad = true; return 0;
	}
}

/* The record at OFFSET without its length; 0 bytes and `bad` when there is none that we can read. */
static struct cfi_bytes read_record(struct cfi_section *section, uint64_t offset)
{
	struct cfi_bytes none = { NULL, NULL, true }, b;
	const uint8_t *bytes;
	uint64_t len;

	if (offset > section->size || section->size - offset < 4)
		return none;
	bytes = cfi_reader_get(section->reader, section->offset + offset, 4);
	if (!bytes)
		return none;
	b = (struct cfi_bytes){ bytes, bytes + 4, false };
	len = cfi_bytes_fixed(&b, 4);
	/* 0xffffffff is the escape for records of more than 4 GB. */
	if (len < 4 || len > section->size - offset - 4)
		return none;
	bytes = cfi_reader_get(section->reader, section->offset + offset + 4, len);
	if (!bytes)
		return none;
	return (struct cfi_bytes){ bytes, bytes + len, false };
}

uint64_t cfi_section_next(struct cfi_section *section, uint64_t offset)
{
	const uint8_t *bytes;
	struct cfi_bytes b;
	uint64_t len;

	if (offset > section->size || section->size - offset < 4)
		return 0;
	bytes = cfi_reader_get(section->reader, section->offset + offset, 4);
	if (!bytes)
		return 0;
	b = (struct cfi_bytes){ bytes, bytes + 4, false };
	len = cfi_bytes_fixed(&b, 4);
	if (len == 0 || len > section->size - offset - 4)
		return 0;
	return offset + 4 + len;
}

static uint64_t cie_id(const struct cfi_section *section)
{
	return section->debug ? DW_CIE_ID_32 : 0;
}

/* Behind a 'z' comes data with a length, and one letter for each piece of it. */
static void read_augmentation(struct cfi_bytes *b, const char *letters, struct cfi_cie *cie)
{
	uint64_t len = cfi_bytes_uleb(b);
	struct cfi_bytes data = { b->at, b->at, false };

	cfi_bytes_skip(b, len);
	data.end = b->at;
	for (; *letters && !data.bad; letters++) {
		switch (*letters) {
		case 'L': cfi_bytes_byte(&data); break;
		case 'P': cfi_address(&data, cfi_bytes_byte(&data) & 0x0f, 0, 0); break;
		case 'R': cie->encoding = cfi_bytes_byte(&data); break;
		case 'S': cie->signal = true; break;
		default: data.bad = true; break;
		}
	}
	b->bad |= data.bad;
	cie->augmented = true;
}

static void read_alignments(struct cfi_bytes *b, uint8_t version, struct cfi_cie *cie)
{
	uint64_t column;

	/* Since version 4: the sizes of addresses and of segment selectors. */
	if (version == 4 && cfi_bytes_fixed(b, 2) != sizeof(uint64_t))
		b->bad = true;
	cie->code_align = cfi_bytes_uleb(b);
	cie->data_align = cfi_bytes_sleb(b);
	column = version == 1 ? cfi_bytes_byte(b) : cfi_bytes_uleb(b);
	if (column != RETURN_COLUMN)
		b->bad = true;
}

static bool decode_cie(const struct cfi_section *section, struct cfi_bytes b, struct cfi_cie *cie)
{
	const char *letters;
	uint8_t version;

	if (cfi_bytes_fixed(&b, 4) != cie_id(section))
		return false;
	version = cfi_bytes_byte(&b);
	if (version != 1 && version != 3 && version != 4)
		return false;
	letters = (const char *)b.at;
	if (!memchr(letters, '\0', cfi_bytes_left(&b)))
		return false;
	cfi_bytes_skip(&b, strlen(letters) + 1);
	read_alignments(&b, version, cie);
	if (letters[0] == 'z')
		read_augmentation(&b, letters + 1, cie);
	else if (letters[0])
		return false;
	if (b.bad || cfi_bytes_left(&b) > MAX_CIE_PROGRAM)
		return false;
	cie->program_len = (uint32_t)cfi_bytes_left(&b);
	cie->program = xmemdup(b.at, cie->program_len);
	return cfi_program_is_sound(cie->program, cie->program_len, &cie->program_cost);
}

static struct cfi_cie *find_cie(struct cfi_section *section, uint64_t offset)
{
	struct cfi_cie *cie;
	struct cfi_bytes b;

	for (size_t i = section->cies.len; i-- > 0;)
		if (section->cies.items[i]->offset == offset)
			return section->cies.items[i];
	cie = xcalloc(1, sizeof(*cie));
	cie->offset = offset;
	b = read_record(section, offset);
	cie->good = !b.bad && decode_cie(section, b, cie);
	vec_push(&section->cies, cie);
	section->cies_read++;
	section->cie_bytes += sizeof(*cie) + cie->program_len;
	return cie;
}

/* .eh_frame counts back from the pointer itself, .debug_frame from the section's start. */
static bool cie_offset(const struct cfi_section *section, uint64_t offset, uint64_t pointer,
		       uint64_t *ret_offset)
{
	if (pointer == cie_id(section))
		return false;
	*ret_offset = section->debug ? pointer : offset + 4 - pointer;
	return *ret_offset < section->size;
}

static int decode_fde(const struct cfi_section *section, struct cfi_bytes b, uint64_t offset,
		      struct cfi_fde *fde)
{
	const uint8_t *record = b.at;
	uint64_t size;

	cfi_bytes_skip(&b, 4);
	fde->start = cfi_address(&b, fde->cie->encoding,
				 section->address + offset + 4 + (uint64_t)(b.at - record), 0);
	size = cfi_address(&b, fde->cie->encoding & 0x0f, 0, 0);
	if (fde->cie->augmented)
		cfi_bytes_skip(&b, cfi_bytes_uleb(&b));
	if (b.bad || size == 0 || fde->start + size < fde->start)
		return -EBADMSG;
	fde->end = fde->start + size;
	fde->program = b.at;
	fde->program_len = (uint32_t)cfi_bytes_left(&b);
	return 0;
}

int cfi_section_fde(struct cfi_section *section, uint64_t offset, struct cfi_fde *ret_fde)
{
	struct cfi_bytes b = read_record(section, offset), id = b;
	uint64_t its_cie;

	if (b.bad)
		return -ENODATA;
	if (!cie_offset(section, offset, cfi_bytes_fixed(&id, 4), &its_cie))
		return -ENODATA;
	ret_fde->cie = find_cie(section, its_cie);
	if (!ret_fde->cie->good)
		return -EBADMSG;
	/* Again: the CIE may have been read through the same window. */
	b = read_record(section, offset);
	return b.bad ? -ENODATA : decode_fde(section, b, offset, ret_fde);
}
