// SPDX-License-Identifier: Apache-2.0
/* Where a file's call frame information is. */
#include <errno.h>
#include <string.h>

#include "elf/cfi/cfi_private.h"
#include "elf/elf_private.h"

/* The .debug_frame of a Go program of 100 MB has 4. */
#define MAX_DEBUG_FRAME_BYTES (64U << 20)
#define MAX_PROGRAM_HEADERS   4096

/* The file offset of ADDRESS, and how many bytes of its segment follow. */
static bool address_to_offset(const struct cfi_file *file, uint64_t address, uint64_t *ret_offset,
			      uint64_t *ret_left)
{
	const struct elf_segment *segment;

	vec_for_each (segment, &file->segments) {
		if (address < segment->address || address - segment->address >= segment->file_size)
			continue;
		*ret_offset = segment->offset + (address - segment->address);
		*ret_left = segment->file_size - (address - segment->address);
		return true;
	}
	return false;
}

size_t cfi_read_address(struct cfi_file *file, uint64_t address, void *buf, size_t size)
{
	uint64_t offset, left;

	if (!address_to_offset(file, address, &offset, &left))
		return 0;
	return cfi_reader_copy(&file->reader, offset, buf, MIN(size, left));
}

/* Through the program header, as the loaded program itself finds it. */
static int find_by_header(struct cfi_file *file, struct elf_file *elf)
{
	struct cfi_layer *layer = &file->eh_frame;
	uint64_t address;
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(elf->elf, &count);
	for (size_t i = 0; i < MIN(count, MAX_PROGRAM_HEADERS); i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
			continue;
		if (fde_index_read_header(&layer->index, &file->reader, header.p_offset,
					  header.p_vaddr, header.p_filesz, &address) < 0 ||
		    !address_to_offset(file, address, &layer->section.offset,
				       &layer->section.size)) {
			layer->index.table_offset = 0;
			return -EBADMSG;
		}
		layer->section.address = address;
		return 0;
	}
	return -ENODATA;
}

void cfi_find_eh_frame(struct cfi_file *file, struct elf_file *elf)
{
	struct cfi_layer *layer = &file->eh_frame;
	GElf_Shdr header;

	if (find_by_header(file, elf) == 0)
		return;
	if (!elf_file_find_section(elf, ".eh_frame", &header) || header.sh_type == SHT_NOBITS)
		return;
	layer->section.offset = header.sh_offset;
	layer->section.address = header.sh_addr;
	layer->section.size = header.sh_size;
	fde_index_scan(&layer->index);
}

/* Its bytes, decompressed, as our own. */
static bool take_decompressed(struct cfi_file *file, Elf_Scn *section)
{
	GElf_Chdr compression;
	Elf_Data *data;

	if (!gelf_getchdr(section, &compression) || compression.ch_size > MAX_DEBUG_FRAME_BYTES ||
	    elf_compress(section, 0, 0) < 0)
		return false;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return false;
	file->debug_bytes = xmemdup(data->d_buf, data->d_size);
	file->debug_len = data->d_size;
	cfi_reader_init_memory(&file->debug_reader, file->debug_bytes, file->debug_len);
	return true;
}

void cfi_find_debug_frame(struct cfi_file *file, struct elf_file *elf)
{
	struct cfi_layer *layer = &file->debug_frame;
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(elf, ".debug_frame", &header);

	if (!section || header.sh_type == SHT_NOBITS || header.sh_size > MAX_DEBUG_FRAME_BYTES)
		return;
	layer->section.debug = true;
	layer->section.offset = header.sh_offset;
	layer->section.size = header.sh_size;
	if (header.sh_flags & SHF_COMPRESSED) {
		if (!take_decompressed(file, section))
			return;
		layer->section.reader = &file->debug_reader;
		layer->section.offset = 0;
		layer->section.size = file->debug_len;
	}
	fde_index_scan(&layer->index);
}
