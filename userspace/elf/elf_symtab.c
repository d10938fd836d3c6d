// SPDX-License-Identifier: Apache-2.0
/* Symbol tables: gABI chapter 4, "Symbol Table". */
#include <errno.h>
#include <string.h>

#include "elf/elf_file_private.h"

struct table_view {
	Elf_Data *symbols;
	Elf_Data *strings;
	size_t count;
};

static int open_table(struct elf_file *file, uint32_t type, struct table_view *ret_table)
{
	GElf_Shdr header, strings_header;
	Elf_Scn *section = elf_file_find_table(file, type, &header), *strings;

	if (!section || header.sh_entsize == 0)
		return -ENODATA;
	strings = elf_getscn(file->elf, header.sh_link);
	if (!strings || !gelf_getshdr(strings, &strings_header) ||
	    strings_header.sh_type != SHT_STRTAB)
		return -EBADMSG;
	ret_table->symbols = elf_file_section_data(file, section, &header);
	ret_table->strings = elf_file_section_data(file, strings, &strings_header);
	if (!ret_table->symbols || !ret_table->strings)
		return -EBADMSG;
	ret_table->count =
		ret_table->symbols->d_size / gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	ret_table->count = MIN(ret_table->count, ELF_MAX_SYMBOLS);
	return 0;
}

/* Of a table whose names are missing nothing will be read. */
static uint64_t table_bytes(struct elf_file *file, uint32_t type)
{
	GElf_Shdr header, strings_header;
	Elf_Scn *section = elf_file_find_table(file, type, &header);
	Elf_Scn *strings = section ? elf_getscn(file->elf, header.sh_link) : NULL;

	if (!strings || !gelf_getshdr(strings, &strings_header))
		return 0;
	return MIN(header.sh_size, ELF_MAX_SECTION_BYTES) +
	       MIN(strings_header.sh_size, ELF_MAX_SECTION_BYTES);
}

uint64_t elf_file_symbol_bytes(struct elf_file *file)
{
	return table_bytes(file, SHT_SYMTAB) + table_bytes(file, SHT_DYNSYM);
}

bool elf_file_has_symtab(struct elf_file *file)
{
	GElf_Shdr header;

	/* its header is enough: the table itself may be larger than what may be read */
	return elf_file_find_table(file, SHT_SYMTAB, &header) && header.sh_entsize &&
	       header.sh_size / header.sh_entsize > 1;
}

bool elf_symbol_is_function(const GElf_Sym *symbol)
{
	int type = GELF_ST_TYPE(symbol->st_info);

	return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF &&
	       symbol->st_value != 0;
}

/* Global names are the documented ones, weak ones their aliases, local ones the compiler's. */
unsigned char elf_symbol_rank(const GElf_Sym *symbol, const char *name)
{
	static const unsigned char by_binding[] = {
		[STB_LOCAL] = 1, [STB_GLOBAL] = 3, [STB_WEAK] = 2
	};
	unsigned int binding = GELF_ST_BIND(symbol->st_info);
	size_t underscores = strspn(name, "_");

	if (name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')) /* mangled C++ and Rust */
		underscores = 0;
	return (unsigned char)((binding < ARRAY_SIZE(by_binding) ? by_binding[binding] : 0) * 4 +
			       3 - MIN(underscores, 3));
}

static void for_each_of_table(struct elf_file *file, uint32_t type,
			      void (*fn)(const struct elf_raw_symbol *symbol, void *data),
			      void *data)
{
	struct table_view table;
	GElf_Sym symbol;

	if (open_table(file, type, &table) < 0)
		return;
	for (size_t i = 1; i < table.count; i++) {
		struct elf_raw_symbol raw;

		if (!gelf_getsym(table.symbols, (int)i, &symbol) ||
		    !elf_symbol_is_function(&symbol))
			continue;
		raw.name = elf_data_string(table.strings, symbol.st_name);
		if (!raw.name || !raw.name[0])
			continue;
		raw.address = symbol.st_value;
		raw.size = symbol.st_size;
		raw.rank = elf_symbol_rank(&symbol, raw.name);
		fn(&raw, data);
	}
}

void elf_file_for_each_table_symbol(struct elf_file *file,
				    void (*fn)(const struct elf_raw_symbol *symbol, void *data),
				    void *data)
{
	for_each_of_table(file, SHT_SYMTAB, fn, data);
	for_each_of_table(file, SHT_DYNSYM, fn, data);
}

void elf_file_for_each_raw_symbol(struct elf_file *file,
				  void (*fn)(const struct elf_raw_symbol *symbol, void *data),
				  void *data)
{
	elf_file_for_each_table_symbol(file, fn, data);
	elf_file_for_each_plt(file, fn, data);
}

struct function_visit {
	void (*fn)(const char *name, uint64_t address, uint64_t size, void *data);
	void *data;
};

static void visit_function(const struct elf_raw_symbol *symbol, void *data)
{
	struct function_visit *visit = data;

	visit->fn(symbol->name, symbol->address, symbol->size, visit->data);
}

void elf_file_for_each_function(struct elf_file *file,
				void (*fn)(const char *name, uint64_t address, uint64_t size,
					   void *data),
				void *data)
{
	struct function_visit visit = { fn, data };

	for_each_of_table(file, SHT_SYMTAB, visit_function, &visit);
	for_each_of_table(file, SHT_DYNSYM, visit_function, &visit);
}

/* Versions of the symbols of .dynsym (gABI: .gnu.version); NULL: there are none. */
static const Elf_Data *open_versions(struct elf_file *file, uint32_t type)
{
	GElf_Shdr header;
	Elf_Scn *section;

	if (type != SHT_DYNSYM)
		return NULL;
	section = elf_file_find_table(file, SHT_GNU_versym, &header);
	return section ? elf_file_section_data(file, section, &header) : NULL;
}

/* An old version, which new programs are not linked with: bit 15. */
static bool is_old_version(const Elf_Data *versions, size_t index)
{
	uint16_t version;

	if (!versions || versions->d_size / sizeof(version) <= index)
		return false;
	memcpy(&version, (const char *)versions->d_buf + index * sizeof(version), sizeof(version));
	return version & 0x8000;
}

/* NAME, or in .symtab NAME@@VERSION, the default one. */
static bool is_named(const char *its_name, const char *name)
{
	size_t len = strlen(name);

	return its_name && strncmp(its_name, name, len) == 0 &&
	       (!its_name[len] || strncmp(its_name + len, "@@", 2) == 0);
}

static bool for_each_named_of_table(struct elf_file *file, uint32_t type, const char *name,
				    void (*fn)(uint64_t address, bool is_ifunc, void *data),
				    void *data)
{
	const Elf_Data *versions = open_versions(file, type);
	struct table_view table;
	GElf_Sym symbol;
	bool any = false;

	if (open_table(file, type, &table) < 0)
		return false;
	for (size_t i = 1; i < table.count; i++) {
		if (!gelf_getsym(table.symbols, (int)i, &symbol) ||
		    !elf_symbol_is_function(&symbol) ||
		    !is_named(elf_data_string(table.strings, symbol.st_name), name) ||
		    is_old_version(versions, i))
			continue;
		fn(symbol.st_value, GELF_ST_TYPE(symbol.st_info) == STT_GNU_IFUNC, data);
		any = true;
	}
	return any;
}

void elf_file_for_each_named(struct elf_file *file, const char *name,
			     void (*fn)(uint64_t address, bool is_ifunc, void *data), void *data)
{
	if (!for_each_named_of_table(file, SHT_DYNSYM, name, fn, data))
		(void)for_each_named_of_table(file, SHT_SYMTAB, name, fn, data);
}

static void for_each_object_of_table(struct elf_file *file, uint32_t type, const char *name,
				     void (*fn)(const struct elf_object *object, void *data),
				     void *data)
{
	const Elf_Data *versions = open_versions(file, type);
	struct table_view table;
	GElf_Sym symbol;

	if (open_table(file, type, &table) < 0)
		return;
	for (size_t i = 1; i < table.count; i++) {
		struct elf_object object;

		if (!gelf_getsym(table.symbols, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
		    !is_named(elf_data_string(table.strings, symbol.st_name), name) ||
		    is_old_version(versions, i))
			continue;
		object = (struct elf_object){
			.address = symbol.st_value,
			.size = symbol.st_size,
			.type = (unsigned char)GELF_ST_TYPE(symbol.st_info),
			.is_global = GELF_ST_BIND(symbol.st_info) != STB_LOCAL,
		};
		fn(&object, data);
	}
}

void elf_file_for_each_object(struct elf_file *file, const char *name,
			      void (*fn)(const struct elf_object *object, void *data), void *data)
{
	for_each_object_of_table(file, SHT_DYNSYM, name, fn, data);
	for_each_object_of_table(file, SHT_SYMTAB, name, fn, data);
}

int elf_file_soname(struct elf_file *file, char *ret_name, size_t size)
{
	GElf_Shdr header, strings_header;
	Elf_Scn *section = elf_file_find_table(file, SHT_DYNAMIC, &header);
	Elf_Scn *strings = section ? elf_getscn(file->elf, header.sh_link) : NULL;
	Elf_Data *data, *names;
	GElf_Dyn entry;

	if (!strings || !gelf_getshdr(strings, &strings_header) || header.sh_entsize == 0)
		return -ENODATA;
	data = elf_file_section_data(file, section, &header);
	names = elf_file_section_data(file, strings, &strings_header);
	for (size_t i = 0; data && names && i < header.sh_size / header.sh_entsize; i++) {
		const char *name;

		if (!gelf_getdyn(data, (int)i, &entry) || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != DT_SONAME)
			continue;
		name = elf_data_string(names, entry.d_un.d_val);
		if (!name || strlen(name) >= size)
			return -EBADMSG;
		memcpy(ret_name, name, strlen(name) + 1);
		return 0;
	}
	return -ENODATA;
}

static int find_in_table(struct elf_file *file, uint32_t type, const char *name,
			 uint64_t *ret_address)
{
	struct table_view table;
	GElf_Sym symbol;
	int r = open_table(file, type, &table);

	for (size_t i = 1; r == 0 && i < table.count; i++) {
		const char *its_name;

		if (!gelf_getsym(table.symbols, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
			continue;
		its_name = elf_data_string(table.strings, symbol.st_name);
		if (its_name && strcmp(its_name, name) == 0) {
			*ret_address = symbol.st_value;
			return 0;
		}
	}
	return -ENODATA;
}

int elf_file_find_symbol(struct elf_file *file, const char *name, uint64_t *ret_address)
{
	if (find_in_table(file, SHT_DYNSYM, name, ret_address) == 0)
		return 0;
	return find_in_table(file, SHT_SYMTAB, name, ret_address);
}
