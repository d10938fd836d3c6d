// SPDX-License-Identifier: Apache-2.0
/* Layouts: System V gABI chapter 4 and 5 (ELF header, sections, program headers, notes). */
#include "elf/elf_file.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "elf/elf_file_private.h"

#define MAX_BUILD_ID 64

/* Anything but a sound PT_LOAD is passed over. */
static void add_segment(struct elf_file *file, int index)
{
	struct elf_segment segment;
	GElf_Phdr header;

	if (!gelf_getphdr(file->elf, index, &header) || header.p_type != PT_LOAD)
		return;
	if (header.p_vaddr + header.p_memsz < header.p_vaddr ||
	    header.p_offset + header.p_filesz < header.p_offset)
		return;
	segment = (struct elf_segment){ header.p_offset, header.p_vaddr, header.p_filesz,
					header.p_memsz, header.p_flags };
	vec_push(&file->segments, segment);
}

static int read_segments(struct elf_file *file)
{
	size_t count;

	if (elf_getphdrnum(file->elf, &count) != 0)
		return -EBADMSG;
	for (size_t i = 0; i < MIN(count, ELF_MAX_SEGMENTS); i++)
		add_segment(file, (int)i);
	return 0;
}

/* elf_strptr() reads all of them, and decompresses what says that it is compressed. */
static void find_section_names(struct elf_file *file)
{
	GElf_Shdr header;
	Elf_Scn *section;

	if (elf_getshdrstrndx(file->elf, &file->section_names) != 0)
		file->section_names = 0;
	section = elf_getscn(file->elf, file->section_names);
	if (!section || !gelf_getshdr(section, &header) ||
	    header.sh_size > ELF_MAX_SECTION_NAMES_BYTES || (header.sh_flags & SHF_COMPRESSED))
		file->section_names = 0;
}

static int open_elf(Elf *elf, struct elf_file **ret_file, struct err *err)
{
	_cleanup_(elf_file_closep) struct elf_file *file = xcalloc(1, sizeof(*file));

	file->elf = elf;
	file->read_left = ELF_MAX_READ_BYTES;
	file->notes_left = ELF_MAX_NOTE_BYTES;
	if (!gelf_getehdr(elf, &file->header)) /* also of NULL */
		return err_set(err, -EBADMSG, "not an ELF file");
	if (read_segments(file) < 0)
		return err_set(err, -EBADMSG, "its program headers are damaged");
	find_section_names(file);
	*ret_file = TAKE_PTR(file);
	return 0;
}

/* PLACE: a descriptor. */
static int read_fd(const void *place, void *dst, size_t len, uint64_t offset)
{
	return file_pread_full(*(const int *)place, dst, len, (off_t)offset);
}

int elf_file_open(int fd, struct elf_file **ret_file, struct err *err)
{
	int r = elf_check_counts(read_fd, &fd, err);

	if (r < 0)
		return r;
	elf_version(EV_CURRENT);
	return open_elf(elf_begin(fd, ELF_C_READ, NULL), ret_file, err);
}

struct piece {
	const char *data;
	size_t len;
};

static int read_piece(const void *place, void *dst, size_t len, uint64_t offset)
{
	const struct piece *piece = place;

	if (offset > piece->len || len > piece->len - offset)
		return -ENODATA;
	memcpy(dst, piece->data + offset, len);
	return 0;
}

int elf_file_open_memory(const void *data, size_t len, struct elf_file **ret_file, struct err *err)
{
	const struct piece piece = { data, len };
	int r = elf_check_counts(read_piece, &piece, err);

	if (r < 0)
		return r;
	elf_version(EV_CURRENT);
	/* libelf does not write to the image unless asked to */
	return open_elf(elf_memory((char *)(uintptr_t)data, len), ret_file, err); /* NOLINT */
}

void elf_file_limit_reads(struct elf_file *file, uint64_t bytes)
{
	file->read_left = bytes;
}

void elf_file_close(struct elf_file *file)
{
	if (!file)
		return;
	elf_end(file->elf);
	vec_release(&file->segments);
	vec_release(&file->read);
	free(file);
}

int elf_file_segments(struct elf_file *file, const struct elf_segment **ret_segments)
{
	*ret_segments = file->segments.items;
	return (int)file->segments.len;
}

/* --- build id --- */

static bool build_id_from_notes(Elf_Data *data, char *ret_hex, size_t size)
{
	size_t at = 0, name_at, desc_at, next;
	GElf_Nhdr note;

	while (data && (next = gelf_getnote(data, at, &note, &name_at, &desc_at)) > 0) {
		const unsigned char *bytes = (const unsigned char *)data->d_buf;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(bytes + name_at, "GNU", 4) == 0 && note.n_descsz > 0 &&
		    note.n_descsz <= MAX_BUILD_ID && size > 2 * (size_t)note.n_descsz) {
			for (size_t i = 0; i < note.n_descsz; i++)
				snprintf(ret_hex + 2 * i, 3, "%02x", bytes[desc_at + i]);
			return true;
		}
		at = next;
	}
	return false;
}

/* libelf keeps what it read, overlapping pieces as often as they are asked for. */
static bool may_read_note(struct elf_file *file, uint64_t bytes)
{
	if (bytes == 0 || bytes > file->notes_left)
		return false;
	file->notes_left -= bytes;
	return true;
}

static bool build_id_from_segments(struct elf_file *file, char *ret_hex, size_t size)
{
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(file->elf, &count);
	for (size_t i = 0; i < MIN(count, ELF_MAX_SEGMENTS); i++) {
		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_NOTE ||
		    !may_read_note(file, header.p_filesz))
			continue;
		if (build_id_from_notes(
			    elf_getdata_rawchunk(file->elf, (int64_t)header.p_offset,
						 header.p_filesz,
						 header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR),
			    ret_hex, size))
			return true;
	}
	return false;
}

/* Debug files keep the note's section but not always its segment. */
static bool build_id_from_sections(struct elf_file *file, char *ret_hex, size_t size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
		    may_read_note(file, header.sh_size) &&
		    build_id_from_notes(elf_getdata(section, NULL), ret_hex, size))
			return true;
	return false;
}

int elf_file_build_id(struct elf_file *file, char *ret_hex, size_t size)
{
	ret_hex[0] = '\0';
	if (build_id_from_segments(file, ret_hex, size) ||
	    build_id_from_sections(file, ret_hex, size))
		return 0;
	return -ENODATA;
}

/* --- sections --- */

Elf_Scn *elf_file_find_section(struct elf_file *file, const char *name, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section))) {
		const char *its_name;

		if (!gelf_getshdr(section, ret_header))
			continue;
		its_name = elf_strptr(file->elf, file->section_names, ret_header->sh_name);
		if (its_name && strcmp(its_name, name) == 0)
			return section;
	}
	return NULL;
}

Elf_Scn *elf_file_find_table(struct elf_file *file, uint32_t type, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, ret_header) && ret_header->sh_type == type)
			return section;
	return NULL;
}

/* libelf keeps what was read: once more costs nothing. */
static bool may_read(struct elf_file *file, size_t index, uint64_t bytes)
{
	size_t *before;

	vec_for_each (before, &file->read)
		if (*before == index)
			return true;
	if (bytes > MIN(file->read_left, ELF_MAX_SECTION_BYTES))
		return false;
	file->read_left -= bytes;
	vec_push(&file->read, index);
	return true;
}

Elf_Data *elf_file_section_data(struct elf_file *file, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data;

	if (header->sh_type == SHT_NOBITS || (header->sh_flags & SHF_COMPRESSED) ||
	    !may_read(file, elf_ndxscn(section), header->sh_size))
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf ? data : NULL;
}

const char *elf_data_string(const Elf_Data *strings, uint64_t offset)
{
	const char *s = strings->d_buf;

	if (offset >= strings->d_size)
		return NULL;
	if (!memchr(s + offset, '\0', MIN(strings->d_size - offset, ELF_MAX_SYMBOL_NAME)))
		return NULL;
	return s + offset;
}

int elf_file_debuglink(struct elf_file *file, char *ret_name, size_t size, uint32_t *ret_crc)
{
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(file, ".gnu_debuglink", &header);
	Elf_Data *data;
	size_t len, crc_at;

	if (!section)
		return -ENODATA;
	data = header.sh_size <= ELF_MAX_DEBUGLINK_BYTES
		       ? elf_file_section_data(file, section, &header)
		       : NULL;
	if (!data)
		return -EBADMSG;
	/* the name, its NUL, padding to four bytes, the checksum in the file's byte order */
	len = strnlen(data->d_buf, data->d_size);
	crc_at = (len + 4) & ~(size_t)3;
	if (len == 0 || len >= size || crc_at + sizeof(*ret_crc) > data->d_size)
		return -EBADMSG;
	memcpy(ret_name, data->d_buf, len + 1);
	memcpy(ret_crc, (const char *)data->d_buf + crc_at, sizeof(*ret_crc));
	return 0;
}

void elf_file_find_debug(struct elf_file *file, struct debug_link *ret_link)
{
	memset(ret_link, 0, sizeof(*ret_link));
	elf_file_build_id(file, ret_link->build_id, sizeof(ret_link->build_id));
	if (elf_file_debuglink(file, ret_link->name, sizeof(ret_link->name), &ret_link->crc) < 0)
		ret_link->name[0] = '\0';
}

static bool holds(uint64_t start, uint64_t size, uint64_t address)
{
	return address >= start && address - start < size;
}

/* The section of code that ADDRESS is in. */
static bool find_code(struct elf_file *file, uint64_t address, GElf_Shdr *ret_header)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)))
		if (gelf_getshdr(section, ret_header) && (ret_header->sh_flags & SHF_EXECINSTR) &&
		    holds(ret_header->sh_addr, ret_header->sh_size, address))
			return true;
	return false;
}

size_t elf_file_copy_code(struct elf_file *file, uint64_t address, uint8_t *buf, size_t len)
{
	GElf_Shdr header;
	Elf_Data *data;

	if (!find_code(file, address, &header) || header.sh_type != SHT_PROGBITS)
		return 0;
	len = MIN(len, header.sh_size - (address - header.sh_addr));
	data = elf_getdata_rawchunk(file->elf,
				    (int64_t)(header.sh_offset + (address - header.sh_addr)), len,
				    ELF_T_BYTE);
	if (!data || data->d_size != len)
		return 0;
	memcpy(buf, data->d_buf, len);
	return len;
}

uint64_t elf_file_section_end(struct elf_file *file, uint64_t address)
{
	struct elf_segment *segment;
	GElf_Shdr header;

	if (find_code(file, address, &header))
		return header.sh_addr + header.sh_size;
	vec_for_each (segment, &file->segments)
		if (holds(segment->address, segment->memory_size, address))
			return segment->address + segment->memory_size;
	return 0;
}
