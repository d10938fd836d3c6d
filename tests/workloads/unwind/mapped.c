/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: mapped SECONDS LIBRARY [COUNT]
 * Maps the executable segment of LIBRARY COUNT times (5,000) and runs code in the last mapping:
 * main -> run_mapped -> plugin_run -> plugin_two -> plugin_burn. Those functions touch nothing but
 * their stack and one word, which lies at the same distance from each mapping.
 */
#include "known.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define PAGE 4096UL

struct piece {
	int fd;
	Elf64_Phdr text;
	uint64_t entry; /* address of plugin_run in the file */
	uint64_t end;	/* of the library in memory */
};

static void give_up(const char *what)
{
	perror(what);
	exit(1);
}

static void find_entry(struct piece *piece, const char *file, const Elf64_Ehdr *elf)
{
	const Elf64_Shdr *sections = (const void *)(file + elf->e_shoff);
	const Elf64_Shdr *dynsym = sections;
	const Elf64_Sym *symbols;
	const char *names;

	while (dynsym->sh_type != SHT_DYNSYM)
		dynsym++;
	symbols = (const void *)(file + dynsym->sh_offset);
	names = file + sections[dynsym->sh_link].sh_offset;
	for (uint64_t i = 0; i < dynsym->sh_size / sizeof(*symbols); i++)
		if (!strcmp(names + symbols[i].st_name, "plugin_run"))
			piece->entry = symbols[i].st_value;
}

static void read_piece(struct piece *piece, const char *path)
{
	const Elf64_Phdr *phdrs;
	struct stat stat;
	char *file;

	piece->fd = open(path, O_RDONLY);
	if (piece->fd < 0 || fstat(piece->fd, &stat))
		give_up(path);
	file = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, piece->fd, 0);
	if (file == MAP_FAILED)
		give_up("mmap");
	phdrs = (const void *)(file + ((Elf64_Ehdr *)file)->e_phoff);
	for (int i = 0; i < ((Elf64_Ehdr *)file)->e_phnum; i++) {
		if (phdrs[i].p_type != PT_LOAD)
			continue;
		if (phdrs[i].p_flags & PF_X)
			piece->text = phdrs[i];
		piece->end = phdrs[i].p_vaddr + phdrs[i].p_memsz;
	}
	find_entry(piece, file, (const Elf64_Ehdr *)file);
}

/* One more copy: its text from the file, zeroes where its data is. */
static char *map_piece(const struct piece *piece)
{
	size_t size = (piece->end + PAGE - 1) & -PAGE;
	uint64_t text = piece->text.p_vaddr & -PAGE;
	char *base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED ||
	    mmap(base + text, piece->text.p_filesz, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED,
		 piece->fd, (off_t)(piece->text.p_offset & -PAGE)) == MAP_FAILED)
		give_up("mmap");
	return base;
}

KNOWN static uint64_t run_mapped(uint64_t (*run)(uint64_t))
{
	return run(1000000) + 1;
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);
	int count = argc > 3 ? atoi(argv[3]) : 5000;
	struct piece piece = {};
	char *base = NULL;

	if (argc < 3)
		return 2;
	read_piece(&piece, argv[2]);
	for (int i = 0; i < count; i++)
		base = map_piece(&piece);
	puts("ready");
	while (known_goes_on(end_ns))
		known_sink += run_mapped((uint64_t(*)(uint64_t))(base + piece.entry));
	return known_done();
}
