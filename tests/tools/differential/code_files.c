// SPDX-License-Identifier: Apache-2.0
#include "code_files.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/hmap.h"

/* The vDSO has two pages at most. */
#define VDSO_BYTES 8192

static VEC(struct code_file *) files;
static struct intern paths;
static char vdso_path[64];

/* All processes of one kernel have the same. */
static const char *copy_vdso(void)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	_cleanup_close_ int fd = -1;

	if (vdso_path[0])
		return vdso_path;
	snprintf(vdso_path, sizeof(vdso_path), "/tmp/hostprof-vdso-XXXXXX");
	fd = mkostemp(vdso_path, O_CLOEXEC);
	if (!vdso || fd < 0 || file_write_all(fd, vdso, VDSO_BYTES) < 0)
		vdso_path[0] = 0;
	return vdso_path;
}

__attribute__((destructor)) static void remove_vdso(void)
{
	if (vdso_path[0])
		unlink(vdso_path);
}

static int load(struct code_file *file)
{
	struct err err = { 0 };
	struct stat st;
	void *bytes;

	file->fd = open(file->path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0 || fstat(file->fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -ENOENT;
	file->len = (size_t)st.st_size;
	bytes = mmap(NULL, file->len, PROT_READ, MAP_PRIVATE, file->fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	file->bytes = bytes;
	if (elf_file_open(file->fd, &file->elf, &err) < 0)
		return err.code;
	return cfi_file_open(fcntl(file->fd, F_DUPFD_CLOEXEC, 3), &file->cfi, &err);
}

static struct code_file *open_file(const char *path, uint32_t number)
{
	struct code_file *file = xcalloc(1, sizeof(*file));

	file->fd = -1;
	snprintf(file->path, sizeof(file->path), "%s", path);
	if (load(file) == 0) {
		file->number = number;
		return file;
	}
	elf_file_close(file->elf);
	closep(&file->fd);
	free(file);
	return NULL;
}

struct code_file *code_file_get(const struct mapping *mapping)
{
	const char *path = strcmp(mapping->path, "[vdso]") == 0 ? copy_vdso() : mapping->path;
	bool is_new;
	uint32_t at;

	if (path[0] != '/')
		return NULL;
	at = intern_put(&paths, path, strlen(path), &is_new);
	if (is_new) {
		struct code_file *file = open_file(path, (uint32_t)files.len + 1);

		vec_push(&files, file);
	}
	return files.items[at];
}

struct code_file *code_file_by_number(uint32_t number)
{
	return number && number <= files.len ? files.items[number - 1] : NULL;
}

bool code_file_bias(const struct code_file *file, const struct mapping *mapping, uint64_t *ret_bias)
{
	const struct elf_segment *segments;
	int count = elf_file_segments(file->elf, &segments);

	for (int i = 0; i < count; i++) {
		const struct elf_segment *s = &segments[i];

		/* Mappings begin at a page, segments need not. */
		if (!(s->flags & PF_X) || mapping->pgoff < (s->offset & ~4095ULL) ||
		    mapping->pgoff >= s->offset + s->file_size)
			continue;
		*ret_bias = mapping->start - (s->address - s->offset + mapping->pgoff);
		return true;
	}
	return false;
}

int code_read(struct process *process, uint64_t address, void *dst, size_t len)
{
	const struct mapping *m = process_find_mapping(process, address);
	const struct code_file *file = m ? code_file_get(m) : NULL;
	uint64_t offset;

	if (!file)
		return -EFAULT;
	offset = address - m->start + m->pgoff;
	if (m->end - address < len || offset > file->len || file->len - offset < len)
		return -EFAULT;
	memcpy(dst, file->bytes + offset, len);
	return 0;
}
