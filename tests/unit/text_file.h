/* SPDX-License-Identifier: Apache-2.0 */
/* A small program whose every byte and segment is known. */
#ifndef HOSTPROF_TESTS_TEXT_FILE_H
#define HOSTPROF_TESTS_TEXT_FILE_H

#include <elf.h>
#include <stddef.h>
#include <string.h>

#define PAGE	   4096UL
#define TEXT_PAGES 5UL
/* Of text: address less offset in the file. */
#define TEXT_MOVED (63 * PAGE)

/* A program of one segment of text, whose first page is the file's second, and half a page behind it. */
struct text_file {
	Elf64_Ehdr header;
	Elf64_Phdr data, text;
	unsigned char room[PAGE - sizeof(Elf64_Ehdr) - 2 * sizeof(Elf64_Phdr)];
	unsigned char pages[TEXT_PAGES * PAGE + PAGE / 2];
};

static inline void text_file_fill(struct text_file *file)
{
	memset(file, 0, sizeof(*file));
	file->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			     EV_CURRENT },
		.e_type = ET_DYN,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = offsetof(struct text_file, data),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = 2,
	};
	/* Data of the same size: no text, though it lies elsewhere in the file. */
	file->data = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_W,
				   .p_filesz = TEXT_PAGES * PAGE,
				   .p_memsz = TEXT_PAGES * PAGE };
	/* It begins within its first page and ends within its last one. */
	file->text = (Elf64_Phdr){ .p_type = PT_LOAD,
				   .p_flags = PF_R | PF_X,
				   .p_offset = PAGE + 0x40,
				   .p_vaddr = 64 * PAGE + 0x40,
				   .p_filesz = sizeof(file->pages) - 0x40,
				   .p_memsz = sizeof(file->pages) - 0x40 };
	for (size_t i = 0; i < sizeof(file->pages); i++)
		file->pages[i] = (unsigned char)(i * 7 + i / PAGE * 31 + 1);
}

#endif
