// SPDX-License-Identifier: Apache-2.0
#include "elf/far_symbols.h"

#include "elf/elf_file_private.h"

/* 12 kB. */
#define PIECE_SYMBOLS 512
/* What a rank goes by. */
#define NAME_BEGIN 4

static bool find_tables(struct elf_file *file, GElf_Shdr *ret_symbols, GElf_Shdr *ret_names)
{
	uint32_t type = elf_file_has_symtab(file) ? SHT_SYMTAB : SHT_DYNSYM;
	Elf_Scn *names;

	if (file->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    file->header.e_ident[EI_DATA] != ELFDATA2LSB ||
	    !elf_file_find_table(file, type, ret_symbols))
		return false;
	names = elf_getscn(file->elf, ret_symbols->sh_link);
	return names && gelf_getshdr(names, ret_names) && ret_names->sh_type == SHT_STRTAB &&
	       ret_symbols->sh_entsize == sizeof(Elf64_Sym) &&
	       ret_names->sh_size <= ELF_MAX_SECTION_BYTES &&
	       !((ret_symbols->sh_flags | ret_names->sh_flags) & SHF_COMPRESSED);
}

uint64_t far_symbols_count(struct elf_file *file)
{
	GElf_Shdr symbols, names;

	return find_tables(file, &symbols, &names) ? symbols.sh_size / sizeof(Elf64_Sym) : 0;
}

/* False: it is no function with a name. */
static bool take_symbol(struct cfi_reader *reader, const struct far_names *names,
			const Elf64_Sym *symbol, struct far_symbol *ret)
{
	char begin[NAME_BEGIN + 1] = "";
	const uint8_t *name;
	uint64_t len;

	if (!elf_symbol_is_function(symbol) || symbol->st_name >= names->size)
		return false;
	len = MIN(names->size - symbol->st_name, (uint64_t)NAME_BEGIN);
	name = cfi_reader_get(reader, names->offset + symbol->st_name, len);
	if (!name || !name[0])
		return false;
	memcpy(begin, name, len);
	*ret = (struct far_symbol){ symbol->st_value, symbol->st_size, symbol->st_name,
				    elf_symbol_rank(symbol, begin) };
	return true;
}

void far_symbols_for_each(struct elf_file *file, struct cfi_reader *reader,
			  void (*fn)(const struct far_symbol *symbol, void *data), void *data,
			  struct far_names *ret_names)
{
	GElf_Shdr header, names;
	Elf64_Sym piece[PIECE_SYMBOLS];
	struct far_symbol symbol;
	uint64_t count;
	size_t n;

	*ret_names = (struct far_names){ 0, 0 };
	if (!find_tables(file, &header, &names) || names.sh_offset + names.sh_size < names.sh_size)
		return;
	*ret_names = (struct far_names){ names.sh_offset, names.sh_size };
	count = MIN(header.sh_size / sizeof(piece[0]), (uint64_t)ELF_MAX_SYMBOLS);
	for (uint64_t done = 0; done < count; done += n) {
		n = MIN(count - done, (uint64_t)PIECE_SYMBOLS) * sizeof(piece[0]);
		n = cfi_reader_copy(reader, header.sh_offset + done * sizeof(piece[0]), piece, n) /
		    sizeof(piece[0]);
		if (!n)
			return;
		for (size_t i = 0; i < n; i++)
			if (take_symbol(reader, ret_names, &piece[i], &symbol))
				fn(&symbol, data);
	}
}
