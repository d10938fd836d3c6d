/* SPDX-License-Identifier: Apache-2.0 */
/* ELF files of which a test says every section, symbol and note. */
#ifndef HOSTPROF_TESTS_MADE_ELF_H
#define HOSTPROF_TESTS_MADE_ELF_H

#include "cfi_fixture.h"
#include "elf/elf_file.h"

/* Symbols and their names, on their way into a table. */
struct made_symbols {
	struct strbuf strings, symbols;
};

static inline void made_begin(struct cfi_elf *elf)
{
	*elf = (struct cfi_elf){ .section_count = 0 };
	cfi_elf_pad(elf, CFI_TEXT);
	cfi_elf_section(elf, "", (Elf64_Shdr){ .sh_type = SHT_NULL });
}

/* Its number; what else it should say of itself is in elf->sections until made_open(). */
static inline unsigned int made_section(struct cfi_elf *elf, const char *name, uint32_t type,
					const void *data, size_t len)
{
	return cfi_elf_section(elf, name,
			       (Elf64_Shdr){ .sh_type = type,
					     .sh_offset = cfi_elf_add(elf, data, len),
					     .sh_size = len,
					     .sh_addralign = 1 });
}

static inline void made_symbols_begin(struct made_symbols *table)
{
	const Elf64_Sym none = { 0 };

	*table = (struct made_symbols){ STRBUF_INIT, STRBUF_INIT };
	strbuf_addch(&table->strings, '\0');
	strbuf_add(&table->symbols, &none, sizeof(none));
}

static inline void made_symbol(struct made_symbols *table, const char *name, Elf64_Sym symbol)
{
	symbol.st_name = (Elf64_Word)table->strings.len;
	strbuf_add(&table->strings, name, strlen(name) + 1);
	strbuf_add(&table->symbols, &symbol, sizeof(symbol));
}

/* A function of the first section. */
static inline void made_function(struct made_symbols *table, const char *name, uint64_t address,
				 uint64_t size)
{
	made_symbol(table, name,
		    (Elf64_Sym){ .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = 1,
				 .st_value = address,
				 .st_size = size });
}

/* The table and its strings into the file; the number of the table's section. */
static inline unsigned int made_table(struct cfi_elf *elf, const char *name, uint32_t type,
				      struct made_symbols *table)
{
	unsigned int strings =
		made_section(elf, ".strings", SHT_STRTAB, table->strings.buf, table->strings.len);
	unsigned int symbols =
		made_section(elf, name, type, table->symbols.buf, table->symbols.len);

	elf->sections[symbols].sh_link = strings;
	elf->sections[symbols].sh_entsize = sizeof(Elf64_Sym);
	elf->sections[symbols].sh_addralign = 8;
	strbuf_release(&table->strings);
	strbuf_release(&table->symbols);
	return symbols;
}

/* The file of it; ELF's bytes must live as long. */
static inline struct elf_file *made_open(struct cfi_elf *elf, uint16_t machine)
{
	struct cfi_parts parts = { .machine = machine };
	struct elf_file *file = NULL;
	struct err err;

	cfi_elf_header(elf, &parts);
	strbuf_release(&elf->names);
	assert_int_equal(elf_file_open_memory(elf->bytes.buf, elf->bytes.len, &file, &err), 0);
	return file;
}

static inline void made_close(struct cfi_elf *elf, struct elf_file *file)
{
	elf_file_close(file);
	strbuf_release(&elf->bytes);
}

#endif
