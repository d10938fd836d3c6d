// SPDX-License-Identifier: Apache-2.0
/*
 * Text and query give the same mappings: Linux fs/proc/task_mmu.c show_map_vma() and
 * do_procmap_query() have one get_vma_name() for both.
 */
#include "process/exec_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/ioctl.h>

#include "base/file.h"
#include "process/proc.h"

/* 65,530 mappings (vm.max_map_count) with usual paths. */
#define MAPS_LIMIT (16UL * 1024 * 1024)
/* The vsyscall page is printed with every process's mappings and is not one of them. */
#define KERNEL_HALF (1ULL << 63)

/* Linux include/uapi/linux/fs.h, struct procmap_query; headers before 6.11 do not have it. */
struct maps_query {
	uint64_t size;
	uint64_t query_flags;
	uint64_t query_addr;
	uint64_t vma_start; /* from here on the answer */
	uint64_t vma_end;
	uint64_t vma_flags;
	uint64_t vma_page_size;
	uint64_t vma_offset; /* bytes */
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t vma_name_size; /* of the buffer; then of the name with its end, or 0 */
	uint32_t build_id_size;
	uint64_t vma_name_addr;
	uint64_t build_id_addr;
};

_Static_assert(sizeof(struct maps_query) == 104, "the kernel's layout");

#define MAPS_QUERY	      _IOWR('f', 17, struct maps_query)
#define MAPS_VMA_WRITABLE     0x02
#define MAPS_VMA_EXECUTABLE   0x04
#define MAPS_COVERING_OR_NEXT 0x10

int exec_maps_query(int fd, uint64_t *at, exec_map_fn fn, void *data)
{
	char name[PATH_MAX];

	for (;;) {
		struct maps_query q = { .size = sizeof(q),
					.query_flags = MAPS_VMA_EXECUTABLE | MAPS_COVERING_OR_NEXT,
					.query_addr = *at,
					.vma_name_size = sizeof(name),
					.vma_name_addr = (uintptr_t)name };
		struct mapping m = { .path = name };

		name[0] = '\0';
		if (ioctl(fd, MAPS_QUERY, &q) < 0)
			return errno == ENOENT || errno == ESRCH ? 0 : -errno;
		if (q.vma_end <= *at)
			return -EBADMSG;
		m.start = q.vma_start;
		m.end = q.vma_end;
		m.pgoff = q.vma_offset;
		m.key = (struct file_key){ q.dev_major, q.dev_minor, q.inode, 0 };
		fn(&m, q.vma_flags & MAPS_VMA_WRITABLE, data);
		*at = q.vma_end;
	}
}

void exec_maps_parse(uint64_t from, const char *text, size_t len, exec_map_fn fn, void *data)
{
	struct maps_line line;
	ssize_t taken;

	while ((taken = proc_parse_maps_line(text, len, &line)) > 0) {
		text += taken;
		len -= (size_t)taken;
		if (line.perms[2] == 'x' && line.start >= from && line.start < KERNEL_HALF) {
			_cleanup_free_ char *path = maps_line_path(&line);
			struct mapping m = { .start = line.start,
					     .end = line.end,
					     .pgoff = line.pgoff,
					     .key = line.key,
					     .path = path };

			fn(&m, line.perms[1] == 'w', data);
		}
	}
}

int exec_maps_read(const char *path, exec_map_fn fn, void *data)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t at = 0;
	int r;

	if (fd < 0)
		return errno == ESRCH ? 0 : -errno;
	if (exec_maps_query(fd, &at, fn, data) == 0)
		return 0;
	r = file_read_fd(fd, MAPS_LIMIT, &text);
	if (r == 0)
		exec_maps_parse(at, strbuf_str(&text), text.len, fn, data);
	return r;
}
