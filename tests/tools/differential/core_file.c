// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/procfs.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "code_files.h"
#include "gdb_walk.h"

#define PAGE 4096

/* struct user_regs_struct (arch/x86/include/asm/user_64.h) -> DWARF number. */
static const int8_t user_regs[] = { 15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5 };
#define USER_REG_RIP 16
#define USER_REG_CS  17
#define USER_REG_RSP 19

static void add_note(struct strbuf *notes, uint32_t type, const void *data, size_t len)
{
	Elf64_Nhdr header = { 5, (Elf64_Word)len, type };

	strbuf_add(notes, &header, sizeof(header));
	strbuf_add(notes, "CORE\0\0\0", 8);
	strbuf_add(notes, data, len);
	strbuf_add(notes, "\0\0\0", (4 - len % 4) % 4);
}

static void add_registers(struct strbuf *notes, const struct snapshot *s)
{
	struct elf_prstatus status = { .pr_pid = (pid_t)s->process->pid };
	unsigned long long regs[ELF_NGREG] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(user_regs); i++)
		regs[i] = s->regs[user_regs[i]];
	regs[USER_REG_RIP] = s->pc;
	regs[USER_REG_RSP] = s->regs[DWARF_RSP];
	regs[USER_REG_CS] = 0x33;
	_Static_assert(sizeof(regs) == sizeof(status.pr_reg), "user_regs_struct");
	memcpy(&status.pr_reg, regs, sizeof(regs));
	add_note(notes, NT_PRSTATUS, &status, sizeof(status));
}

static void add_files(struct strbuf *notes, const struct snapshot *s)
{
	_cleanup_strbuf_ struct strbuf table = STRBUF_INIT, names = STRBUF_INIT;
	uint64_t head[2] = { 0, 1 };
	const struct mapping *m;

	strbuf_add(&table, head, sizeof(head));
	vec_for_each (m, &s->process->mappings) {
		const struct code_file *file = code_file_get(m);
		uint64_t line[3] = { m->start, m->end, m->pgoff };

		if (!file)
			continue;
		strbuf_add(&table, line, sizeof(line));
		strbuf_add(&names, file->path, strlen(file->path) + 1);
		head[0]++;
	}
	memcpy(table.buf, head, sizeof(head));
	strbuf_add(&table, strbuf_str(&names), names.len);
	add_note(notes, NT_FILE, table.buf, table.len);
}

int core_file_write(const char *path, const struct snapshot *s)
{
	_cleanup_close_ int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	_cleanup_strbuf_ struct strbuf notes = STRBUF_INIT, out = STRBUF_INIT;
	Elf64_Ehdr ehdr = { .e_ident = ELFMAG, .e_type = ET_CORE, .e_machine = EM_X86_64 };
	Elf64_Phdr phdrs[2] = { { .p_type = PT_NOTE, .p_offset = PAGE, .p_align = 4 },
				{ .p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_align = 1 } };

	if (fd < 0)
		return -errno;
	add_registers(&notes, s);
	add_files(&notes, s);
	ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	ehdr.e_version = EV_CURRENT;
	ehdr.e_phoff = sizeof(ehdr);
	ehdr.e_ehsize = sizeof(ehdr);
	ehdr.e_phentsize = sizeof(phdrs[0]);
	ehdr.e_phnum = ARRAY_SIZE(phdrs);
	phdrs[0].p_filesz = notes.len;
	phdrs[1].p_offset = PAGE + notes.len;
	phdrs[1].p_vaddr = s->stack_at - sizeof(s->red_zone);
	phdrs[1].p_filesz = phdrs[1].p_memsz = sizeof(s->red_zone) + s->stack_len;
	strbuf_add(&out, &ehdr, sizeof(ehdr));
	strbuf_add(&out, phdrs, sizeof(phdrs));
	while (out.len < PAGE)
		strbuf_addch(&out, 0);
	strbuf_add(&out, notes.buf, notes.len);
	strbuf_add(&out, s->red_zone, sizeof(s->red_zone));
	strbuf_add(&out, s->stack, s->stack_len);
	return file_write_all(fd, out.buf, out.len);
}
