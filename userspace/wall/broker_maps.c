// SPDX-License-Identifier: Apache-2.0
#include "wall/broker_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/file.h"
#include "base/macros.h"
#include "wall/file_id.h"

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

/* Ask for the mapping at or behind AT, its path to NAME. 0, or -ENOENT when there is none. */
static int ask(int fd, uint64_t at, char *name, struct wall_mapping *ret_mapping)
{
	struct maps_query q = { .size = sizeof(q),
				.query_flags = MAPS_VMA_EXECUTABLE | MAPS_COVERING_OR_NEXT,
				.query_addr = at,
				.vma_name_size = PATH_MAX,
				.vma_name_addr = (uintptr_t)name };

	name[0] = '\0';
	if (ioctl(fd, MAPS_QUERY, &q) < 0)
		return errno == ESRCH ? -ENOENT : -errno;
	if (q.vma_end <= at)
		return -EBADMSG;
	*ret_mapping = (struct wall_mapping){
		.start = q.vma_start,
		.end = q.vma_end,
		.file_offset = q.vma_offset,
		.inode = q.inode,
		.major = q.dev_major,
		.minor = q.dev_minor,
		.writable = (q.vma_flags & MAPS_VMA_WRITABLE) != 0,
		.path_bytes = (strlen(name) + 8) & ~7UL,
	};
	return 0;
}

/* While it is mapped: the answers to one call are of one moment, or nearly. */
static void look_at(struct wall_call *call, int links, struct wall_mapping *mapping)
{
	char link[WALL_LINK_BYTES];

	if (!call->count || !mapping->inode)
		return;
	call->count--;
	snprintf(link, sizeof(link), WALL_LINK_FORMAT, mapping->start, mapping->end);
	mapping->looked_at = file_id_read_at(links, link, &mapping->file) == 0;
}

/* Where the links to mapped files are: from there on it is a short way to each. */
static int open_links(uint32_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/map_files", pid);
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int64_t read_all(struct wall_call *call, int fd)
{
	_cleanup_close_ int links = call->count ? open_links(call->pid) : -1;
	const size_t most = sizeof(struct wall_mapping) + PATH_MAX;
	bool looks = call->count > 0;
	uint64_t at = call->offset; /* who ends in between is asked again from where he began */
	struct wall_mapping *mapping;
	size_t done = 0;
	int r = 0;

	while (sizeof(call->data) - done >= most && looks == (call->count > 0)) {
		mapping = (void *)(call->data + done);
		r = ask(fd, at, (char *)(mapping + 1), mapping);
		if (r < 0)
			break;
		look_at(call, links, mapping);
		at = mapping->end;
		done += sizeof(*mapping) + mapping->path_bytes;
	}
	if (r < 0 && r != -ENOENT && !done)
		return r;
	call->offset = r == -ENOENT ? UINT64_MAX : at;
	return (int64_t)done;
}

int64_t broker_read_maps(struct wall_call *call)
{
	_cleanup_close_ int fd = open(call->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return read_all(call, fd);
}
