// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_roots.h"

#include <string.h>

#include "elf/cfi/cfi_layer.h"
#include "elf/elf_file_private.h"
#include "elf/go/go_switch.h"

/* A file with more functions of these names is not Go's work. */
#define MAX_ROOTS 64
/* A symbol's size is foreign; Go's longest of these has some 400 bytes. */
#define MAX_ROOT_BYTES 4096
/*
 * The longest entry code known (musl's, with what it calls inlined) is shorter. Farther away nothing says
 * whether the code still is the entry's: there the place of its frame does (bpf/native/start.h).
 */
#define MAX_ENTRY_BYTES 64
#define PROLOGUE_BYTES	4 /* push %rbp; mov %rsp,%rbp */

/*
 * Go 1.26: runtime/asm_amd64.s, sys_linux_amd64.s, time_linux_amd64.s and rt0_linux_amd64.s.
 * TOPFRAME marks the first frames. The others put %rsp on another stack and keep %rbp where it was (or set it to 0 where
 * there is no way back), so that frame pointers lead to the true caller. gogo jumps to a goroutine
 * and leaves nothing behind.
 */
static const struct go_root {
	const char *name; /* up to ".abi0" or ".args_stackmap" or the like */
	uint8_t kind;
	bool framed;
} go_roots[] = {
	{ "runtime.goexit", WIRE_RULE_END, false },
	{ "runtime.mstart", WIRE_RULE_END, false },
	{ "runtime.rt0_go", WIRE_RULE_END, false },
	{ "_rt0_amd64_linux", WIRE_RULE_END, false },
	{ "_rt0_amd64", WIRE_RULE_END, false },
	{ "gogo", WIRE_RULE_END, false },
	{ "runtime.systemstack", WIRE_RULE_FP, true },
	{ "runtime.mcall", WIRE_RULE_FP, true },
	{ "runtime.asmcgocall", WIRE_RULE_FP, true },
	{ "runtime.asmcgocall_landingpad", WIRE_RULE_FP, true },
	{ "runtime.cgocallback", WIRE_RULE_FP, true },
	{ "runtime.nanotime1", WIRE_RULE_FP, true },
	{ "runtime.walltime", WIRE_RULE_FP, true },
	{ "time.now", WIRE_RULE_FP, true },
	{ "runtime.morestack", WIRE_RULE_FP, false },
	{ "runtime.sigreturn__sigaction", WIRE_RULE_SIGNAL, false },
	{ "runtime.sigreturn", WIRE_RULE_SIGNAL, false }, /* Go 1.19 */
};

bool cfi_roots_is_go(struct elf_file *elf)
{
	GElf_Shdr header;

	return elf_file_find_section(elf, ".go.buildinfo", &header) ||
	       elf_file_find_section(elf, ".note.go.buildid", &header) ||
	       elf_file_find_section(elf, ".gopclntab", &header);
}

static void add_root(struct cfi_roots *roots, struct cfi_root root)
{
	if (root.start < root.end && root.end - root.start <= MAX_ROOT_BYTES &&
	    roots->v.len < MAX_ROOTS)
		vec_push(&roots->v, root);
}

static const struct go_root *find_function(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(go_roots); i++)
		if (go_is_called(name, go_roots[i].name))
			return &go_roots[i];
	return NULL;
}

void cfi_roots_add_go_function(struct cfi_roots *roots, const char *name, uint64_t address,
			       uint64_t size)
{
	const struct go_root *function = find_function(name);
	struct cfi_root root;

	if (!function)
		return;
	root = (struct cfi_root){
		address, address + size, { .kind = function->kind }, function->framed
	};
	if (function->kind == WIRE_RULE_FP)
		root.start += PROLOGUE_BYTES;
	/* The handler returns to its first byte: one looks for the code before that. */
	if (function->kind == WIRE_RULE_SIGNAL)
		root.start--;
	add_root(roots, root);
}

void cfi_roots_add(struct cfi_roots *roots, uint64_t start, uint64_t end,
		   const struct wire_rule *rule)
{
	add_root(roots, (struct cfi_root){ start, end, *rule, false });
}

static void add_function(const char *name, uint64_t address, uint64_t size, void *data)
{
	cfi_roots_add_go_function(data, name, address, size);
}

void cfi_roots_add_go(struct cfi_roots *roots, struct elf_file *elf)
{
	elf_file_for_each_function(elf, add_function, roots);
}

/* Where the entry's symbol ends, or the next one begins: musl's and nasm's have no size. */
static bool limit_root(const void *record, void *data)
{
	const Elf64_Sym *symbol = record;
	struct cfi_root *root = data;
	int type = ELF64_ST_TYPE(symbol->st_info);
	uint64_t end = symbol->st_value;

	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
		return false;
	if (end == root->start)
		end += symbol->st_size;
	if (end > root->start)
		root->end = MIN(root->end, end);
	return false;
}

static void limit_by_table(struct cfi_root *root, struct cfi_reader *reader, struct elf_file *elf,
			   uint32_t type)
{
	GElf_Shdr header;
	uint64_t count;

	if (!elf_file_find_table(elf, type, &header))
		return;
	count = MIN(header.sh_size / sizeof(Elf64_Sym), (uint64_t)ELF_MAX_SYMBOLS);
	cfi_reader_each(reader, header.sh_offset, count, sizeof(Elf64_Sym), limit_root, root);
}

void cfi_roots_add_entry(struct cfi_roots *roots, struct cfi_reader *reader, struct elf_file *elf,
			 uint64_t entry, uint64_t limit)
{
	struct cfi_root root = { entry, limit, { .kind = WIRE_RULE_END }, false };

	limit_by_table(&root, reader, elf, SHT_SYMTAB);
	limit_by_table(&root, reader, elf, SHT_DYNSYM);
	if (root.end - root.start <= MAX_ENTRY_BYTES)
		add_root(roots, root);
}

/* Where the frame is not set up (or gone again) the CFA is %rsp + 8. */
static bool is_framed(const struct wire_rule *rule)
{
	return rule->kind != WIRE_RULE_CFA || rule->cfa_offset != 8;
}

static void overlay_root(const struct cfi_root *root, uint32_t start, uint32_t end,
			 const struct cfi_rows *rows, struct cfi_rows *over)
{
	const struct wire_rule none = { .kind = WIRE_RULE_NONE };

	for (size_t i = 0; i < rows->v.len; i++) {
		const struct cfi_row *row = &rows->v.items[i];
		uint32_t from = MAX(row->offset, start);

		/* Of the rows in front of it the last one stays. */
		if (from < end)
			cfi_rows_put(over, from,
				     root->framed && !is_framed(&row->rule) ? &none : &root->rule);
	}
	if (end < WIRE_PAGE_BYTES)
		cfi_rows_put(over, end, &none);
}

void cfi_roots_apply(const struct cfi_roots *roots, uint64_t page, struct cfi_rows *rows)
{
	const struct cfi_root *root;

	vec_for_each (root, &roots->v) {
		struct cfi_rows over = { VEC_INIT };
		uint64_t start = MAX(root->start, page);
		uint64_t end = MIN(root->end, page + WIRE_PAGE_BYTES);

		if (start >= end)
			continue;
		overlay_root(root, (uint32_t)(start - page), (uint32_t)(end - page), rows, &over);
		cfi_rows_lay_over(rows, &over);
		vec_release(&over.v);
	}
}
