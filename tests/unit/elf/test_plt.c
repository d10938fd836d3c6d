// SPDX-License-Identifier: Apache-2.0
/* Entries of the PLT and their names, in files whose every byte is known. */
#include "test.h"

#include "base/macros.h"
#include "made_elf.h"

enum { SLOT = 0x5000, PLT = 0x1000, PLT_SEC = 0x2000 };

/* An entry that jumps through the slot at SLOT + 8 * N, behind LEAD bytes. */
static void put_entry(uint8_t *entry, uint64_t address, size_t lead, int n)
{
	static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2 };
	int32_t distance = (int32_t)(SLOT + 8 * n - (int64_t)(address + lead + 6));

	memset(entry, 0x90, 16);
	memcpy(entry, endbr, lead < sizeof(endbr) ? lead : sizeof(endbr));
	memcpy(entry + lead, "\xff\x25", 2);
	memcpy(entry + lead + 2, &distance, sizeof(distance));
}

static void add_plt(struct cfi_elf *elf, bool bits)
{
	uint8_t plt[16 * 4 + 15] = { 0 }, sec[16 * 2];
	unsigned int at;

	memcpy(plt, "\xff\x35\1\2\3\4\xff\x24", 8);
	put_entry(plt + 16, PLT + 16, 0, 0);
	put_entry(plt + 32, PLT + 32, 10, 1);
	put_entry(plt + 48, PLT + 48, 0, 9); /* a slot of nobody */
	at = made_section(elf, ".plt", bits ? SHT_PROGBITS : SHT_NOBITS, plt, sizeof(plt));
	elf->sections[at].sh_addr = PLT;
	put_entry(sec, PLT_SEC, 4, 2);
	put_entry(sec + 16, PLT_SEC + 16, 5, 0);
	sec[1] = 0xff; /* half of a jump, in front of it */
	at = made_section(elf, ".plt.sec", SHT_PROGBITS, sec, sizeof(sec));
	elf->sections[at].sh_addr = PLT_SEC;
}

static void note_plt(const struct elf_raw_symbol *symbol, void *data)
{
	if (strstr(symbol->name, ELF_PLT_SUFFIX))
		strbuf_addf(data, "%s %llx+%llx %d\n", symbol->name,
			    (unsigned long long)symbol->address, (unsigned long long)symbol->size,
			    symbol->rank);
}

struct plt_case {
	uint16_t machine;
	uint32_t type;
	uint64_t entry_size;
	bool to_strings, no_bits;
	const char *expected;
};

static void expect_plt(const struct plt_case *it)
{
	_cleanup_strbuf_ struct strbuf found = STRBUF_INIT;
	Elf64_Rela relocations[5] = {
		{ SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 },
		{ SLOT + 8, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0 },
		{ SLOT + 72, ELF64_R_INFO(9, R_X86_64_JUMP_SLOT), 0 }, /* no such symbol */
		{ SLOT + 72, ELF64_R_INFO(4, R_X86_64_JUMP_SLOT), 0 }, /* without a name */
		{ SLOT + 16, ELF64_R_INFO(3, R_X86_64_JUMP_SLOT), 0 },
	};
	struct made_symbols table;
	struct elf_file *file;
	struct cfi_elf elf;
	unsigned int symbols, at;

	made_begin(&elf);
	made_symbols_begin(&table);
	for (int i = 0; i < 4; i++)
		made_symbol(&table, (const char *[]){ "one", "2", "three", "" }[i],
			    (Elf64_Sym){ .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC) });
	symbols = made_table(&elf, ".dynsym", SHT_DYNSYM, &table);
	at = made_section(&elf, ".rela.plt", it->type, relocations, sizeof(relocations));
	elf.sections[at].sh_link = it->to_strings ? symbols - 1 : symbols;
	elf.sections[at].sh_entsize = it->entry_size;
	elf.sections[at].sh_addralign = 8;
	add_plt(&elf, !it->no_bits);
	file = made_open(&elf, it->machine);
	elf_file_for_each_raw_symbol(file, note_plt, &found);
	assert_string_equal(strbuf_str(&found), it->expected);
	made_close(&elf, file);
}

/* The jump tells the slot, wherever it stands in the entry; the slot tells the name. */
static void plt_entries(void **state)
{
	static const char sec[] = "three@plt 2000+10 0\none@plt 2010+10 0\n",
			  all[] = "one@plt 1010+10 0\n2@plt 1020+10 0\n"
				  "three@plt 2000+10 0\none@plt 2010+10 0\n";
	static const struct plt_case cases[] = {
		{ EM_X86_64, SHT_RELA, 24, false, false, all },
		{ EM_X86_64, SHT_RELA, 24, false, true, sec },
		{ EM_X86_64, SHT_RELA, 24, true, false, "" },
		{ EM_X86_64, SHT_RELA, 0, false, false, all },
		{ EM_X86_64, SHT_PROGBITS, 24, false, false, "" },
		{ EM_AARCH64, SHT_RELA, 24, false, false, "" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_plt(&cases[i]);
}

/* A table of relocations in its section, of the symbols in section SYMBOLS. */
static void add_relocations(struct cfi_elf *elf, const char *name, const Elf64_Rela *relocations,
			    size_t bytes, unsigned int symbols)
{
	unsigned int at = made_section(elf, name, SHT_RELA, relocations, bytes);

	elf->sections[at].sh_link = symbols;
	elf->sections[at].sh_entsize = sizeof(*relocations);
	elf->sections[at].sh_addralign = 8;
}

static void expect_found(struct cfi_elf *elf, const char *expected)
{
	_cleanup_strbuf_ struct strbuf found = STRBUF_INIT;
	struct elf_file *file = made_open(elf, EM_X86_64);

	elf_file_for_each_raw_symbol(file, note_plt, &found);
	assert_string_equal(strbuf_str(&found), expected);
	made_close(elf, file);
}

/* Of functions whose address is taken, too: eight bytes each, or as long as others. */
static void entries_of_the_got(void **state)
{
	static const struct {
		uint64_t entry_size;
		const char *expected;
	} cases[] = { { 8, "one@plt 1000+8 0\ntwo@plt 1008+8 0\n" },
		      { 16, "one@plt 1000+10 0\n" },
		      { 0, "one@plt 1000+10 0\n" } };

	const Elf64_Rela relocations[] = {
		{ SLOT + 64, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x4000 },
		{ SLOT + 8, ELF64_R_INFO(2, R_X86_64_GLOB_DAT), 0 },
		{ SLOT, ELF64_R_INFO(1, R_X86_64_GLOB_DAT), 0 },
		{ SLOT + 16, ELF64_R_INFO(1, R_X86_64_64), 0 },
	};
	uint8_t code[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct made_symbols table;
		struct cfi_elf elf;
		unsigned int symbols, at;

		made_begin(&elf);
		made_symbols_begin(&table);
		made_function(&table, "one", 0, 0);
		made_function(&table, "two", 0, 0);
		symbols = made_table(&elf, ".dynsym", SHT_DYNSYM, &table);
		add_relocations(&elf, ".rela.dyn", relocations, sizeof(relocations), symbols);
		memset(code, 0x90, sizeof(code));
		for (int n = 0; n < 3; n++) /* the third one jumps elsewhere */
			put_entry(code + 8 * n, PLT + 8 * n, 0, n);
		memset(code + 24, 0x90, 8);
		at = made_section(&elf, ".plt.got", SHT_PROGBITS, code, sizeof(code));
		elf.sections[at].sh_addr = PLT;
		elf.sections[at].sh_entsize = cases[i].entry_size;
		expect_found(&elf, cases[i].expected);
	}
}

/* What is chosen when the program starts is named by who chooses, in static programs, too. */
static void entries_that_are_chosen(void **state)
{
	const Elf64_Rela relocations[] = {
		{ SLOT, ELF64_R_INFO(0, R_X86_64_IRELATIVE), 0x4000 },
		{ SLOT + 8, ELF64_R_INFO(0, R_X86_64_IRELATIVE), 0x4100 },
		{ SLOT + 16, ELF64_R_INFO(0, R_X86_64_IRELATIVE), 0x4200 }, /* of nobody */
		{ SLOT + 24, ELF64_R_INFO(0, R_X86_64_IRELATIVE), 0x4000 },
		{ SLOT + 32, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT),
		  0 }, /* there are no symbols for it */
	};
	struct made_symbols table;
	struct cfi_elf elf;
	uint8_t code[80];
	unsigned int at;

	(void)state;
	made_begin(&elf);
	made_symbols_begin(&table);
	made_function(&table, "__memcpy_chooser", 0x4000, 16);
	made_function(&table, "memcpy", 0x4000, 16);
	made_function(&table, "_memcpy", 0x4000, 16);
	made_function(&table, "strlen", 0x4100, 16);
	made_function(&table, "other", 0x4108, 16);
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	add_relocations(&elf, ".rela.plt", relocations, sizeof(relocations), 0);
	for (int n = 0; n < 5; n++)
		put_entry(code + 16 * n, PLT + 16 * n, 0, n);
	at = made_section(&elf, ".iplt", SHT_PROGBITS, code, sizeof(code));
	elf.sections[at].sh_addr = PLT;
	expect_found(&elf, "memcpy@plt 1000+10 0\nstrlen@plt 1010+10 0\nmemcpy@plt 1030+10 0\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plt_entries),
		cmocka_unit_test(entries_of_the_got),
		cmocka_unit_test(entries_that_are_chosen),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
