// SPDX-License-Identifier: Apache-2.0
/* Layout: include/uapi/linux/elfcore.h, fs/binfmt_elf.c. */
#include "core_image.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/procfs.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "base/vec.h"

#define PAGE 4096
/* Pages that are looked at together. */
#define BATCH 256
/* Documentation/admin-guide/mm/pagemap.rst */
#define PAGE_PRESENT (1ULL << 63)
#define PAGE_SWAPPED (1ULL << 62)

struct region {
	uint64_t start, end;
	bool is_anonymous; /* a page that is not there is zero */
};

struct core_image {
	int out, memory, pagemap;
	VEC(struct region) regions;
	struct strbuf notes;
};

static int open_proc(uint32_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* --- notes ------------------------------------------------------------------------------------ */

static void add_note(struct strbuf *notes, uint32_t type, const void *data, size_t len)
{
	Elf64_Nhdr header = { 5, (Elf64_Word)len, type };

	strbuf_add(notes, &header, sizeof(header));
	strbuf_add(notes, "CORE\0\0\0", 8);
	strbuf_add(notes, data, len);
	strbuf_add(notes, "\0\0\0", (4 - len % 4) % 4);
}

static void add_thread(struct core_image *core, uint32_t tid, const struct user_regs_struct *regs)
{
	struct elf_prstatus status = { .pr_pid = (pid_t)tid };

	_Static_assert(sizeof(*regs) == sizeof(status.pr_reg), "user_regs_struct");
	memcpy(&status.pr_reg, regs, sizeof(*regs));
	add_note(&core->notes, NT_PRSTATUS, &status, sizeof(status));
}

static void add_auxv(struct core_image *core, uint32_t pid)
{
	_cleanup_close_ int fd = open_proc(pid, "auxv");
	char auxv[PAGE];
	ssize_t len = fd < 0 ? -1 : read(fd, auxv, sizeof(auxv));

	if (len > 0)
		add_note(&core->notes, NT_AUXV, auxv, (size_t)len);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Debuggers take the text of libraries from their files; and shared mappings are not the JVM's own. */
static void add_region(struct core_image *core, const char *line)
{
	struct region region;
	char access[8] = "", path[512] = "";

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %511s", &region.start,
		   &region.end, access, path) < 3 ||
	    access[0] != 'r' || region.start >> 63)
		return;
	region.is_anonymous = path[0] != '/';
	if (!region.is_anonymous && (access[2] == 'x' || access[3] == 's'))
		return;
	vec_push(&core->regions, region);
}

static int find_regions(struct core_image *core, uint32_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (getline(&line, &size, file) > 0)
		add_region(core, line);
	return 0;
}

static bool is_there(const uint64_t *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pages[i] & (PAGE_PRESENT | PAGE_SWAPPED))
			return true;
	return false;
}

/* What is not written stays a hole, which reads as zero. */
static void copy_region(const struct core_image *core, const struct region *region, off_t to)
{
	static uint8_t bytes[BATCH * PAGE];
	uint64_t pages[BATCH];

	for (uint64_t at = region->start; at < region->end; at += sizeof(bytes)) {
		size_t len = MIN(sizeof(bytes), region->end - at), count = len / PAGE;
		ssize_t got;

		if (region->is_anonymous &&
		    pread(core->pagemap, pages, count * 8, (off_t)(at / PAGE * 8)) ==
			    (ssize_t)(count * 8) &&
		    !is_there(pages, count))
			continue;
		got = pread(core->memory, bytes, len, (off_t)at);
		if (got > 0 &&
		    pwrite(core->out, bytes, (size_t)got, to + (off_t)(at - region->start)) != got)
			return;
	}
}

/* --- file ------------------------------------------------------------------------------------- */

static int write_headers(const struct core_image *core, off_t *ret_memory)
{
	Elf64_Ehdr ehdr = { .e_ident = ELFMAG, .e_type = ET_CORE, .e_machine = EM_X86_64 };
	Elf64_Phdr note = { .p_type = PT_NOTE, .p_filesz = core->notes.len, .p_align = 4 };
	_cleanup_strbuf_ struct strbuf head = STRBUF_INIT;
	const struct region *region;
	uint64_t at;

	ehdr.e_ident[EI_CLASS] = ELFCLASS64;
	ehdr.e_ident[EI_DATA] = ELFDATA2LSB;
	ehdr.e_ident[EI_VERSION] = EV_CURRENT;
	ehdr.e_version = EV_CURRENT;
	ehdr.e_phoff = ehdr.e_ehsize = sizeof(ehdr);
	ehdr.e_phentsize = sizeof(note);
	ehdr.e_phnum = (Elf64_Half)(1 + core->regions.len);
	note.p_offset = sizeof(ehdr) + ehdr.e_phnum * sizeof(note);
	at = (note.p_offset + note.p_filesz + PAGE - 1) / PAGE * PAGE;
	*ret_memory = (off_t)at;
	strbuf_add(&head, &ehdr, sizeof(ehdr));
	strbuf_add(&head, &note, sizeof(note));
	vec_for_each (region, &core->regions) {
		uint64_t len = region->end - region->start;
		Elf64_Phdr load = { .p_type = PT_LOAD,
				    .p_flags = PF_R | PF_W,
				    .p_offset = at,
				    .p_vaddr = region->start,
				    .p_filesz = len,
				    .p_memsz = len,
				    .p_align = PAGE };

		strbuf_add(&head, &load, sizeof(load));
		at += len;
	}
	strbuf_add(&head, core->notes.buf, core->notes.len);
	if (ftruncate(core->out, (off_t)at) < 0)
		return -errno;
	return file_write_all(core->out, head.buf, head.len);
}

static int write_core(struct core_image *core, uint32_t pid, uint32_t tid,
		      const struct user_regs_struct *regs)
{
	const struct region *region;
	off_t to;
	int r;

	if (core->out < 0 || core->memory < 0)
		return -errno;
	r = find_regions(core, pid);
	if (r < 0)
		return r;
	add_thread(core, tid, regs);
	add_auxv(core, pid);
	r = write_headers(core, &to);
	if (r < 0)
		return r;
	vec_for_each (region, &core->regions) {
		copy_region(core, region, to);
		to += (off_t)(region->end - region->start);
	}
	return 0;
}

int core_image_write(const char *path, uint32_t pid, uint32_t tid,
		     const struct user_regs_struct *regs)
{
	struct core_image core = {
		.out = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600),
		.memory = open_proc(pid, "mem"),
		.pagemap = open_proc(pid, "pagemap"),
		.notes = STRBUF_INIT,
	};
	int r = write_core(&core, pid, tid, regs);

	closep(&core.out);
	closep(&core.memory);
	closep(&core.pagemap);
	vec_release(&core.regions);
	strbuf_release(&core.notes);
	return r;
}
