// SPDX-License-Identifier: Apache-2.0
/*
 * How many sections and segments a file says that it has, before libelf allocates a descriptor for
 * each. gABI chapter 4: of more than 0xff00 sections the number is the size of section 0, of more
 * than 0xfffe segments its sh_info.
 */
#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/macros.h"
#include "elf/elf_file_private.h"

/* Where a class has what is needed; each in so many bytes. */
struct layout {
	uint8_t ehdr_bytes, shoff, offset_bytes, phnum, shnum;
	uint8_t shdr_bytes, sh_size, sh_info;
};

static const struct layout layouts[] = {
	[ELFCLASS32] = { sizeof(Elf32_Ehdr), offsetof(Elf32_Ehdr, e_shoff), 4,
			 offsetof(Elf32_Ehdr, e_phnum), offsetof(Elf32_Ehdr, e_shnum),
			 sizeof(Elf32_Shdr), offsetof(Elf32_Shdr, sh_size),
			 offsetof(Elf32_Shdr, sh_info) },
	[ELFCLASS64] = { sizeof(Elf64_Ehdr), offsetof(Elf64_Ehdr, e_shoff), 8,
			 offsetof(Elf64_Ehdr, e_phnum), offsetof(Elf64_Ehdr, e_shnum),
			 sizeof(Elf64_Shdr), offsetof(Elf64_Shdr, sh_size),
			 offsetof(Elf64_Shdr, sh_info) },
};

static uint64_t take(const unsigned char *bytes, size_t at, size_t len, bool big_endian)
{
	uint64_t value = 0;

	for (size_t i = 0; i < len; i++)
		value |= (uint64_t)bytes[at + i] << 8 * (big_endian ? len - 1 - i : i);
	return value;
}

static int check(uint64_t sections, uint64_t segments, struct err *err)
{
	if (sections > ELF_MAX_SECTIONS)
		return err_set(err, -E2BIG, "it says that it has %llu sections, more than %u",
			       (unsigned long long)sections, ELF_MAX_SECTIONS);
	if (segments > ELF_MAX_SEGMENTS)
		return err_set(err, -E2BIG, "it says that it has %llu segments, more than %u",
			       (unsigned long long)segments, ELF_MAX_SEGMENTS);
	return 0;
}

int elf_check_counts(elf_read_fn *read, const void *place, struct err *err)
{
	unsigned char header[sizeof(Elf64_Ehdr)] = { 0 }, first[sizeof(Elf64_Shdr)] = { 0 };
	uint64_t sections, segments, at;
	const struct layout *layout;
	bool big;

	if (read(place, header, EI_NIDENT, 0) < 0 || memcmp(header, ELFMAG, SELFMAG) != 0 ||
	    header[EI_CLASS] < ELFCLASS32 || header[EI_CLASS] > ELFCLASS64)
		return err_set(err, -EBADMSG, "not an ELF file");
	layout = &layouts[header[EI_CLASS]];
	big = header[EI_DATA] == ELFDATA2MSB;
	if (read(place, header, layout->ehdr_bytes, 0) < 0)
		return err_set(err, -EBADMSG, "not an ELF file");
	sections = take(header, layout->shnum, 2, big);
	segments = take(header, layout->phnum, 2, big);
	at = take(header, layout->shoff, layout->offset_bytes, big);
	if ((sections == 0 || segments == PN_XNUM) && at != 0 &&
	    read(place, first, layout->shdr_bytes, at) == 0) {
		if (sections == 0)
			sections = take(first, layout->sh_size, layout->offset_bytes, big);
		if (segments == PN_XNUM)
			segments = take(first, layout->sh_info, 4, big);
	}
	return check(sections, segments, err);
}
