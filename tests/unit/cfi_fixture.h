/* SPDX-License-Identifier: Apache-2.0 */
/* Small ELF files around call frame information, for the unit tests and the fuzzer. */
#ifndef HOSTPROF_TESTS_CFI_FIXTURE_H
#define HOSTPROF_TESTS_CFI_FIXTURE_H

#include <elf.h>
#include <stdbool.h>
#include <string.h>

#include "base/strbuf.h"

#define CFI_TEXT      0x1000UL /* address and file offset are the same everywhere */
#define CFI_TEXT_SIZE 0x4000UL
#define CFI_HDR	      0x5000UL
#define CFI_EH_FRAME  0x6000UL

struct cfi_symbol {
	const char *name;
	uint64_t address, size;
};

/* What the file has; a NULL is left out. */
struct cfi_parts {
	const void *eh_frame, *hdr, *debug_frame;
	size_t eh_frame_len, hdr_len, debug_frame_len;
	bool compressed; /* .debug_frame is */
	uint64_t entry;
	uint16_t machine;    /* 0: x86-64 */
	const char *section; /* one more section of that name, with this in it */
	const void *section_data;
	size_t section_len;
	uint64_t section_flags;			/* 0: it is not loaded */
	uint64_t claimed_address, claimed_size; /* what its header says; 0: the truth */
	uint8_t text;				/* what the text is filled with */
	const struct cfi_symbol *symbols;
	size_t symbol_count;
	bool symbols_untyped; /* STT_NOTYPE, as assemblers make them */
};

struct cfi_elf {
	struct strbuf bytes, names;
	Elf64_Shdr sections[10];
	Elf64_Phdr segments[3];
	unsigned int section_count, segment_count;
};

static inline unsigned int cfi_elf_section(struct cfi_elf *elf, const char *name, Elf64_Shdr header)
{
	header.sh_name = (Elf64_Word)elf->names.len;
	strbuf_add(&elf->names, name, strlen(name) + 1);
	elf->sections[elf->section_count] = header;
	return elf->section_count++;
}

static inline void cfi_elf_segment(struct cfi_elf *elf, uint32_t type, uint32_t flags, uint64_t at,
				   uint64_t size)
{
	elf->segments[elf->segment_count++] = (Elf64_Phdr){ .p_type = type,
							    .p_flags = flags,
							    .p_offset = at,
							    .p_vaddr = at,
							    .p_filesz = size,
							    .p_memsz = size };
}

static inline void cfi_elf_pad(struct cfi_elf *elf, size_t to)
{
	if (elf->bytes.len >= to)
		return;
	strbuf_grow(&elf->bytes, to - elf->bytes.len);
	memset(elf->bytes.buf + elf->bytes.len, 0, to - elf->bytes.len);
	elf->bytes.len = to;
}

/* Append DATA at the next multiple of 8; where it is. */
static inline uint64_t cfi_elf_add(struct cfi_elf *elf, const void *data, size_t len)
{
	uint64_t at;

	cfi_elf_pad(elf, (elf->bytes.len + 7) & ~7UL);
	at = elf->bytes.len;
	if (len)
		strbuf_add(&elf->bytes, data, len);
	return at;
}

static inline void cfi_elf_frames(struct cfi_elf *elf, const struct cfi_parts *parts)
{
	Elf64_Shdr header = { .sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC, .sh_addralign = 1 };

	cfi_elf_pad(elf, CFI_HDR);
	if (parts->hdr) {
		cfi_elf_segment(elf, PT_GNU_EH_FRAME, PF_R, CFI_HDR, parts->hdr_len);
		strbuf_add(&elf->bytes, parts->hdr, parts->hdr_len);
	}
	cfi_elf_pad(elf, CFI_EH_FRAME);
	if (parts->eh_frame) {
		header.sh_addr = header.sh_offset = CFI_EH_FRAME;
		header.sh_size = parts->eh_frame_len;
		strbuf_add(&elf->bytes, parts->eh_frame, parts->eh_frame_len);
		cfi_elf_section(elf, ".eh_frame", header);
	}
	cfi_elf_segment(elf, PT_LOAD, PF_R, CFI_HDR, elf->bytes.len - CFI_HDR);
	if (parts->debug_frame) {
		header.sh_flags = parts->compressed ? SHF_COMPRESSED : 0;
		header.sh_addr = 0;
		header.sh_offset = cfi_elf_add(elf, parts->debug_frame, parts->debug_frame_len);
		header.sh_size = parts->debug_frame_len;
		cfi_elf_section(elf, ".debug_frame", header);
	}
	if (parts->section) {
		header.sh_flags = parts->section_flags;
		header.sh_offset = cfi_elf_add(elf, parts->section_data, parts->section_len);
		header.sh_addr = header.sh_flags ? header.sh_offset : 0;
		header.sh_size = parts->section_len;
		if (parts->claimed_size) {
			header.sh_addr = parts->claimed_address;
			header.sh_size = parts->claimed_size;
		}
		cfi_elf_section(elf, parts->section, header);
	}
}

static inline void cfi_elf_symbols(struct cfi_elf *elf, const struct cfi_parts *parts,
				   unsigned int text)
{
	_cleanup_strbuf_ struct strbuf strings = STRBUF_INIT, symbols = STRBUF_INIT;
	Elf64_Sym symbol = { 0 };
	unsigned int link;

	strbuf_addch(&strings, '\0');
	strbuf_add(&symbols, &symbol, sizeof(symbol));
	for (size_t i = 0; i < parts->symbol_count; i++) {
		symbol = (Elf64_Sym){ .st_name = (Elf64_Word)strings.len,
				      .st_info = ELF64_ST_INFO(STB_GLOBAL, parts->symbols_untyped
										   ? STT_NOTYPE
										   : STT_FUNC),
				      .st_shndx = (Elf64_Half)text,
				      .st_value = parts->symbols[i].address,
				      .st_size = parts->symbols[i].size };
		strbuf_add(&strings, parts->symbols[i].name, strlen(parts->symbols[i].name) + 1);
		strbuf_add(&symbols, &symbol, sizeof(symbol));
	}
	link = cfi_elf_section(
		elf, ".strtab",
		(Elf64_Shdr){ .sh_type = SHT_STRTAB,
			      .sh_offset = cfi_elf_add(elf, strings.buf, strings.len),
			      .sh_size = strings.len });
	cfi_elf_section(elf, ".symtab",
			(Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				      .sh_offset = cfi_elf_add(elf, symbols.buf, symbols.len),
				      .sh_size = symbols.len,
				      .sh_link = link,
				      .sh_entsize = sizeof(symbol),
				      .sh_addralign = 8 });
}

static inline void cfi_elf_header(struct cfi_elf *elf, const struct cfi_parts *parts)
{
	Elf64_Ehdr header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
					   ELFDATA2LSB, EV_CURRENT },
			      .e_type = ET_DYN,
			      .e_machine = parts->machine ? parts->machine : EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_entry = parts->entry,
			      .e_phoff = sizeof(header),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_phnum = (Elf64_Half)elf->segment_count,
			      .e_shentsize = sizeof(Elf64_Shdr) };
	Elf64_Shdr names = { .sh_type = SHT_STRTAB };

	header.e_shstrndx = (Elf64_Half)cfi_elf_section(elf, ".shstrtab", names);
	names = elf->sections[header.e_shstrndx];
	names.sh_offset = cfi_elf_add(elf, elf->names.buf, elf->names.len);
	names.sh_size = elf->names.len;
	elf->sections[header.e_shstrndx] = names;
	header.e_shnum = (Elf64_Half)elf->section_count;
	header.e_shoff = cfi_elf_add(elf, elf->sections, elf->section_count * sizeof(names));
	memcpy(elf->bytes.buf, &header, sizeof(header));
	memcpy(elf->bytes.buf + sizeof(header), elf->segments, sizeof(elf->segments));
}

/* The file's bytes into OUT, which is empty. */
static inline void cfi_elf_build(const struct cfi_parts *parts, struct strbuf *out)
{
	struct cfi_elf elf = { 0 };
	unsigned int text;

	cfi_elf_pad(&elf, CFI_TEXT);
	cfi_elf_section(&elf, "", (Elf64_Shdr){ .sh_type = SHT_NULL });
	text = cfi_elf_section(&elf, ".text",
			       (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
					     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					     .sh_addr = CFI_TEXT,
					     .sh_offset = CFI_TEXT,
					     .sh_size = CFI_TEXT_SIZE });
	cfi_elf_segment(&elf, PT_LOAD, PF_R | PF_X, CFI_TEXT, CFI_TEXT_SIZE);
	cfi_elf_frames(&elf, parts);
	cfi_elf_symbols(&elf, parts, text);
	cfi_elf_header(&elf, parts);
	memset(elf.bytes.buf + CFI_TEXT, parts->text, CFI_TEXT_SIZE);
	strbuf_release(&elf.names);
	*out = elf.bytes;
}

#endif
