/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Go's tables as cmd/link writes them, in each of its forms, and a program around them: for the unit tests and the fuzzer.
 * main.run has main.inner inlined into main.middle inlined into it.
 */
#ifndef HOSTPROF_TESTS_GO_TABLES_H
#define HOSTPROF_TESTS_GO_TABLES_H

#include "cfi_fixture.h"
#include "elf/elf_file.h"
#include "elf/go/go_frames.h"
#include "elf/go/go_place.h"

/* Functions: main.run and 15 of the name main.more, 64 bytes each; the first instructions are push %rbp, or mov %rbp,8(%rsp). */
enum { MADE_GO_FUNCTIONS = 16, MADE_GO_FUNCTION_BYTES = 64, MADE_GO_LINE = 10 };

struct made_go {
	enum go_form form;
	bool module;	   /* there is moduledata, in what is written to */
	bool relocated;	   /* and its words, as the header's text, are in relocations only */
	bool among_data;   /* no section of its own */
	bool old_prologue; /* as before Go 1.21 */
	struct strbuf table, inlined;
	struct cfi_elf elf;
	uint64_t table_at, inlined_at, module_at;
	size_t names, units, files, pctab, functab, functions; /* from table on */
};

static inline void made_go_number(struct strbuf *sb, uint64_t value, size_t bytes)
{
	strbuf_add(sb, &value, bytes);
}

static inline void made_go_set(struct strbuf *sb, size_t at, uint64_t value, size_t bytes)
{
	memcpy(sb->buf + at, &value, bytes);
}

static inline size_t made_go_text(struct strbuf *sb, size_t base, const char *text)
{
	size_t at = sb->len - base;

	strbuf_add(sb, text, strlen(text) + 1);
	return at;
}

static inline void made_go_align(struct strbuf *sb)
{
	while (sb->len % 8)
		strbuf_addch(sb, '\0');
}

/* Zigzag steps from -1 on: value, bytes of code. */
static inline size_t made_go_steps(struct made_go *go, const int (*steps)[2], size_t count)
{
	size_t at = go->table.len - go->pctab;
	int before = -1;

	for (size_t i = 0; i < count; i++) {
		int delta = steps[i][0] - before;

		strbuf_addch(&go->table, (char)(delta < 0 ? -2 * delta - 1 : 2 * delta));
		strbuf_addch(&go->table, (char)steps[i][1]);
		before = steps[i][0];
	}
	strbuf_addch(&go->table, '\0');
	return at;
}

struct made_go_lists {
	size_t run, more, inner, middle; /* names */
	size_t file[2];
	size_t sp, pcfile, line, tree, unit;
};

static inline void made_go_parts(struct made_go *go, struct made_go_lists *at)
{
	struct strbuf *sb = &go->table;
	const bool old = go->form == GO_1_2;

	go->names = old ? 0 : sb->len;
	at->run = made_go_text(sb, go->names, "main.run");
	at->more = made_go_text(sb, go->names, "main.more");
	at->middle = made_go_text(sb, go->names, "main.middle");
	at->inner = made_go_text(sb, go->names, "main.inner[...]");
	made_go_align(sb);
	go->units = old ? 0 : sb->len;
	if (!old) { /* another unit's file, then those of ours */
		made_go_number(sb, 0, 4);
		made_go_number(sb, UINT32_MAX, 4);
		made_go_number(sb, 4, 4);
		made_go_number(sb, 12, 4);
	}
	go->files = old ? 0 : sb->len;
	if (!old)
		made_go_text(sb, 0, "x.s");
	at->file[0] = made_go_text(sb, go->files, "main.go");
	at->file[1] = made_go_text(sb, go->files, "inner.go");
	go->pctab = old ? 0 : sb->len;
	strbuf_addch(sb, '\0');
	at->unit = 2;
	/* push %rbp ends at 2; sub, and mov at 4, five bytes */
	at->sp = go->old_prologue
			 ? made_go_steps(go, (const int[][2]){ { 0, 4 }, { 16, 56 }, { 0, 4 } }, 3)
			 : made_go_steps(go, (const int[][2]){ { 0, 2 }, { 8, 58 }, { 0, 4 } }, 3);
	/* up to 16 the function itself, to 32 middle, to 48 inner in middle */
	at->pcfile =
		made_go_steps(go, (const int[][2]){ { old, 32 }, { 1 + old, 16 }, { old, 16 } }, 3);
	at->line = made_go_steps(
		go, (const int[][2]){ { 10, 16 }, { 20, 8 }, { 21, 8 }, { 30, 16 }, { 11, 16 } },
		5);
	at->tree = made_go_steps(
		go, (const int[][2]){ { -1, 16 }, { 0, 16 }, { 1, 16 }, { -1, 16 } }, 4);
	made_go_align(sb);
}

static inline void made_go_function(struct made_go *go, const struct made_go_lists *at, bool run)
{
	struct strbuf *sb = &go->table;
	size_t begin = sb->len;
	const uint64_t start = CFI_TEXT + (run ? 0 : MADE_GO_FUNCTION_BYTES);

	if (go->form < GO_1_18)
		made_go_number(sb, start, 8);
	else
		made_go_number(sb, start - CFI_TEXT, 4);
	made_go_number(sb, run ? at->run : at->more, 4);
	made_go_number(sb, 0, 8);
	made_go_number(sb, at->sp, 4);
	made_go_number(sb, at->pcfile, 4);
	made_go_number(sb, at->line, 4);
	made_go_number(sb, 3, 4);
	if (go->form > GO_1_2)
		made_go_number(sb, at->unit, 4);
	if (go->form == GO_1_20)
		made_go_number(sb, 1, 4);
	made_go_number(sb, 4 << 24, 4);
	made_go_number(sb, 0, 8);
	made_go_number(sb, run ? at->tree : 0, 4);
	for (int i = 0; i < 3; i++)
		made_go_number(sb, UINT32_MAX, 4);
	made_go_number(sb, run && go->form >= GO_1_18 ? 8 : UINT32_MAX, 4);
	if (run)
		go->functions = begin;
	made_go_align(sb);
}

/* Two calls: 0 is middle, at 12 of main.run; 1 is inner, at 28, which is in middle. */
static inline void made_go_tree(struct made_go *go, const struct made_go_lists *at)
{
	const size_t names[] = { at->middle, at->inner }, parents[] = { 12, 28 };

	strbuf_release(&go->inlined);
	made_go_number(&go->inlined, 0, 8);
	for (size_t i = 0; i < 2; i++) {
		if (go->form == GO_1_18) {
			made_go_number(&go->inlined, i ? 0 : 0xffff, 4);
			made_go_number(&go->inlined, 0, 8);
		} else {
			made_go_number(&go->inlined, 0, 4);
		}
		made_go_number(&go->inlined, names[i], 4);
		made_go_number(&go->inlined, parents[i], 4);
		if (go->form == GO_1_20)
			made_go_number(&go->inlined, 1, 4);
	}
}

static inline void made_go_header(struct made_go *go)
{
	static const uint32_t magic[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };
	const size_t parts[] = { go->names, go->units, go->files, go->pctab, go->functab };
	struct strbuf *sb = &go->table;
	size_t at = 16;

	made_go_set(sb, 0, magic[go->form], 4);
	made_go_set(sb, 6, 0x0801, 2);
	made_go_set(sb, 8, MADE_GO_FUNCTIONS, 8);
	if (go->form == GO_1_2)
		return;
	made_go_set(sb, at, 2, 8);
	at += 8;
	if (go->form >= GO_1_18) {
		made_go_set(sb, at, go->relocated ? 0 : CFI_TEXT, 8);
		at += 8;
	}
	for (size_t i = 0; i < 5; i++)
		made_go_set(sb, at + 8 * i, parts[i], 8);
}

static inline void made_go_functab(struct made_go *go, const struct made_go_lists *at)
{
	const size_t width = go->form < GO_1_18 ? 8 : 4;
	struct strbuf *sb = &go->table;
	size_t func;

	for (uint64_t i = 0; i <= MADE_GO_FUNCTIONS; i++) {
		made_go_number(sb, (width == 8 ? CFI_TEXT : 0) + i * MADE_GO_FUNCTION_BYTES, width);
		made_go_number(sb, 0, width);
	}
	if (go->form == GO_1_2) { /* behind the last address where the files are */
		made_go_align(sb);
		made_go_set(sb, go->functab + MADE_GO_FUNCTIONS * 16 + 8, sb->len, 4);
		made_go_number(sb, 3, 4);
		made_go_number(sb, at->file[0], 4);
		made_go_number(sb, at->file[1], 4);
		made_go_align(sb);
	}
	for (size_t i = 0; i < MADE_GO_FUNCTIONS; i++) {
		if (i < 2) {
			func = sb->len;
			made_go_function(go, at, i == 0);
		}
		made_go_set(sb, go->functab + (2 * i + 1) * width,
			    go->form == GO_1_2 ? func : func - go->functab, width);
	}
}

/* The tables' bytes, and what is inlined. */
static inline void made_go_table(struct made_go *go)
{
	struct made_go_lists at;
	_cleanup_strbuf_ struct strbuf parts = STRBUF_INIT;
	struct strbuf *sb = &go->table;

	for (int i = 0; i < 72; i++)
		strbuf_addch(sb, '\0');
	if (go->form == GO_1_2) {
		/* Its functions come first, and count from the beginning: room for them, then the rest. */
		size_t room = 16 + (MADE_GO_FUNCTIONS + 1) * 16 + 64 + 2 * 80;

		while (sb->len < room)
			strbuf_addch(sb, '\0');
		made_go_parts(go, &at);
		strbuf_add(&parts, sb->buf + room, sb->len - room);
		sb->len = go->functab = 16;
		made_go_functab(go, &at);
		while (sb->len < room)
			strbuf_addch(sb, '\0');
		strbuf_add(sb, parts.buf, parts.len);
	} else {
		made_go_parts(go, &at);
		go->functab = sb->len;
		made_go_functab(go, &at);
	}
	made_go_tree(go, &at);
	made_go_header(go);
}

static inline void made_go_module(const struct made_go *go, uint64_t words[41])
{
	const uint64_t parts[] = { go->names, go->units,   go->files,
				   go->pctab, go->functab, go->functab };

	words[0] = go->table_at;
	for (size_t i = 0; i < 6; i++)
		words[1 + 3 * i] = go->table_at + parts[i];
	words[22] = CFI_TEXT;
	words[go->form == GO_1_18 ? 38 : 40] = go->inlined_at;
}

static inline void made_go_relocations(struct made_go *go, const uint64_t words[41],
				       struct strbuf *relocations)
{
	for (uint64_t i = 0; i < 41; i++) {
		Elf64_Rela rela = { .r_offset = go->module_at + 8 * i,
				    .r_info = ELF64_R_INFO(0, R_X86_64_RELATIVE),
				    .r_addend = (Elf64_Sxword)words[i] };

		if (words[i])
			strbuf_add(relocations, &rela, sizeof(rela));
	}
}

static inline uint64_t made_go_section(struct made_go *go, const char *name, uint32_t type,
				       const void *data, size_t len)
{
	uint64_t at;

	cfi_elf_pad(&go->elf, (go->elf.bytes.len + 31) & ~31UL);
	at = cfi_elf_add(&go->elf, data, len);
	cfi_elf_section(&go->elf, name,
			(Elf64_Shdr){ .sh_type = type,
				      .sh_offset = at,
				      .sh_addr = at,
				      .sh_size = len,
				      .sh_addralign = 1 });
	return at;
}

static inline void made_go_code(struct made_go *go)
{
	static const uint8_t saving[] = { 0x48, 0x89, 0x6c, 0x24, 0x08 };

	cfi_elf_pad(&go->elf, CFI_TEXT + CFI_TEXT_SIZE);
	for (size_t i = 0; i < MADE_GO_FUNCTIONS; i++) {
		char *code = go->elf.bytes.buf + CFI_TEXT + i * MADE_GO_FUNCTION_BYTES;

		if (go->old_prologue)
			memcpy(code + 4, saving, sizeof(saving));
		else
			code[1] = 0x55;
	}
	cfi_elf_section(&go->elf, "", (Elf64_Shdr){ .sh_type = SHT_NULL });
	cfi_elf_section(&go->elf, ".text",
			(Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				      .sh_addr = go->relocated ? CFI_TEXT - 64 : CFI_TEXT,
				      .sh_offset = CFI_TEXT,
				      .sh_size = CFI_TEXT_SIZE });
	cfi_elf_segment(&go->elf, PT_LOAD, PF_R | PF_X, CFI_TEXT, CFI_TEXT_SIZE);
}

/* The program around `table` and `inlined`: its bytes are in elf.bytes. */
static inline void made_go_program(struct made_go *go)
{
	_cleanup_strbuf_ struct strbuf relocations = STRBUF_INIT;
	const struct cfi_parts parts = { 0 };
	uint64_t words[41] = { 0 }, none[41] = { 0 }, from;

	made_go_code(go);
	made_go_section(go, ".go.buildinfo", SHT_PROGBITS, "go", 3);
	go->inlined_at =
		made_go_section(go, ".rodata", SHT_PROGBITS, go->inlined.buf, go->inlined.len);
	from = go->inlined_at;
	go->table_at = made_go_section(go, go->among_data ? ".data.rel.ro" : ".gopclntab",
				       SHT_PROGBITS, go->table.buf, go->table.len);
	if (go->module) {
		cfi_elf_segment(&go->elf, PT_LOAD, PF_R, from, go->elf.bytes.len - from);
		made_go_module(go, words);
		none[17] = words[17] = MADE_GO_FUNCTIONS + 1;
		go->module_at = made_go_section(go, ".noptrdata", SHT_PROGBITS,
						go->relocated ? none : words, sizeof(words));
		cfi_elf_segment(&go->elf, PT_LOAD, PF_R | PF_W, go->module_at, sizeof(words));
		words[17] = 0;
		if (go->relocated)
			made_go_relocations(go, words, &relocations);
		made_go_section(go, ".rela.dyn", SHT_RELA, relocations.buf, relocations.len);
	}
	cfi_elf_header(&go->elf, &parts);
	strbuf_release(&go->elf.names);
}

static inline void made_go_release(struct made_go *go)
{
	strbuf_release(&go->table);
	strbuf_release(&go->inlined);
	strbuf_release(&go->elf.bytes);
}

#define _cleanup_made_go_ _cleanup_(made_go_release)

#endif
