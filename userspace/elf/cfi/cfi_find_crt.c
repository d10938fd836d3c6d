// SPDX-License-Identifier: Apache-2.0
/*
 * The way to gcc's functions: .fini_array has __do_global_dtors_aux, which calls
 * deregister_tm_clones; .init_array has frame_dummy, which goes to register_tm_clones. In
 * libgcc's crtstuff.c the two are in front of the others.
 */
#include <string.h>

#include "elf/cfi/cfi_crt.h"
#include "elf/cfi/cfi_private.h"
#include "elf/elf_private.h"

/* Constructors with a priority are before ours: of -fsanitize=address one for each object file. */
#define MAX_ARRAY_ENTRIES 256
#define MAX_DISTANCE	  256
/* The linker sorts the relative relocations to the front. */
#define MAX_RELOCATIONS	 (64U << 10)
#define RELOCATIONS_READ 128

/* lld leaves the words of a position-independent file 0: the addend of AT's relocation. */
static uint64_t find_addend(struct cfi_file *file, struct elf_file *elf, uint64_t at)
{
	Elf64_Rela relocations[RELOCATIONS_READ];
	GElf_Shdr header;
	uint64_t count;
	size_t n;

	if (!elf_file_find_section(elf, ".rela.dyn", &header))
		return 0;
	count = MIN(header.sh_size / sizeof(relocations[0]), (uint64_t)MAX_RELOCATIONS);
	for (uint64_t done = 0; done < count; done += n) {
		n = MIN(count - done, (uint64_t)RELOCATIONS_READ);
		n = cfi_reader_copy(&file->reader, header.sh_offset + done * sizeof(relocations[0]),
				    relocations, n * sizeof(relocations[0])) /
		    sizeof(relocations[0]);
		for (size_t i = 0; i < n; i++)
			if (relocations[i].r_offset == at &&
			    ELF64_R_TYPE(relocations[i].r_info) == R_X86_64_RELATIVE)
				return (uint64_t)relocations[i].r_addend;
		if (n == 0)
			break;
	}
	return 0;
}

static bool match_at(struct cfi_file *file, uint64_t address, struct cfi_crt *ret_crt)
{
	uint8_t code[CFI_CRT_MAX_BYTES];
	size_t len = cfi_read_address(file, address, code, sizeof(code));

	return cfi_crt_match(code, len, address, ret_crt) &&
	       !cfi_layer_covers(&file->eh_frame, address);
}

/* The function that FROM calls or goes to, which is near, and does nothing of the kind itself. */
static bool match_callee(struct cfi_file *file, const struct cfi_crt *from, uint64_t address,
			 struct cfi_crt *ret_crt)
{
	return address < from->start && from->start - address <= MAX_DISTANCE &&
	       match_at(file, address, ret_crt) && !ret_crt->call_count && !ret_crt->jump &&
	       ret_crt->end <= from->start;
}

static void add_part(struct cfi_linkage *linkage, const struct cfi_crt *crt)
{
	if (linkage->count < CFI_LINKAGE_PARTS)
		linkage->parts[linkage->count++] =
			(struct cfi_linkage_part){ crt->start, crt->pushed, crt->popped, crt->end,
						   true };
}

/* Is the function at ADDRESS the one that we look for, and so the other that it leads to? */
static bool add_pair(struct cfi_file *file, uint64_t address)
{
	struct cfi_crt crt, callee;
	bool found;

	if (address == 0 || !match_at(file, address, &crt))
		return false;
	found = crt.jump && match_callee(file, &crt, crt.jump, &callee);
	for (size_t i = 0; !found && i < crt.call_count; i++)
		found = match_callee(file, &crt, crt.calls[i], &callee);
	if (!found)
		return false;
	add_part(&file->linkage, &callee);
	add_part(&file->linkage, &crt);
	return true;
}

static void find_pair(struct cfi_file *file, struct elf_file *elf, const char *name)
{
	GElf_Shdr header;
	uint64_t at, word;

	if (!elf_file_find_section(elf, name, &header))
		return;
	for (size_t i = 0; i < MIN(header.sh_size / sizeof(word), MAX_ARRAY_ENTRIES); i++) {
		at = header.sh_addr + i * sizeof(word);
		if (cfi_read_address(file, at, &word, sizeof(word)) != sizeof(word))
			break;
		if (add_pair(file, word ? word : find_addend(file, elf, at)))
			break;
	}
}

void cfi_find_crt(struct cfi_file *file, struct elf_file *elf)
{
	find_pair(file, elf, ".init_array");
	find_pair(file, elf, ".fini_array");
}
