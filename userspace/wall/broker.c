// SPDX-License-Identifier: Apache-2.0
#include "wall/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/macros.h"
#include "base/rights.h"
#include "wall/broker_calls.h"
#include "wall/broker_look.h"
#include "wall/broker_maps.h"
#include "wall/foreign_file.h"

/* --- memory ----------------------------------------------------------------------------------- */

/* Into SIZE bytes. A transfer ends between two pieces, by process_vm_readv(2). */
static int64_t read_pieces(uint32_t pid, const struct wall_piece *pieces, uint32_t count,
			   uint8_t *data, size_t size)
{
	struct iovec local = { data, 0 }, remote[WALL_MAX_PIECES];
	ssize_t n;

	for (uint32_t i = 0; i < count; i++) {
		if (pieces[i].len > size - local.iov_len)
			return -E2BIG;
		remote[i].iov_base = (void *)(uintptr_t)pieces[i].address; /* NOLINT: not ours */
		remote[i].iov_len = pieces[i].len;
		local.iov_len += pieces[i].len;
	}
	n = process_vm_readv((pid_t)pid, &local, 1, remote, count, 0);
	return n < 0 ? -errno : n;
}

static int64_t read_memory(struct wall_call *call)
{
	if (call->count > WALL_MAX_PIECES)
		return -E2BIG;
	return read_pieces(call->pid, call->pieces, call->count, call->data, sizeof(call->data));
}

/* Each part's bytes are where they would be if all before it were there. */
static int64_t read_parts(struct wall_call *call)
{
	size_t at = 0, first = 0;

	if (call->count > WALL_MAX_PARTS)
		return -E2BIG;
	for (uint32_t i = 0; i < call->count; i++) {
		struct wall_part *part = &call->parts[i];
		const struct wall_piece *pieces = call->pieces + first;

		if (part->count > WALL_MAX_PIECES - first)
			return -E2BIG;
		call->pid = part->pid;
		part->result = read_pieces(part->pid, pieces, part->count, call->data + at,
					   sizeof(call->data) - at);
		if (part->result == -E2BIG)
			return -E2BIG;
		at += wall_pieces_bytes(pieces, part->count);
		first += part->count;
	}
	return 0;
}

/* A landing that is there in part is none. */
static int land(const struct wall_landing *landings, unsigned int count, void *arg)
{
	_cleanup_free_ struct iovec *local = xcalloc(2 * (size_t)count, sizeof(*local));
	struct iovec *remote = local + count;
	const struct wall_call *call = arg;
	unsigned int done = 0;
	ssize_t n;

	for (unsigned int i = 0; i < count; i++) {
		local[i] = (struct iovec){ landings[i].data, landings[i].len };
		remote[i].iov_base = (void *)(uintptr_t)landings[i].address; /* NOLINT: not ours */
		remote[i].iov_len = landings[i].len;
	}
	n = process_vm_readv((pid_t)call->pid, local, count, remote, count, 0);
	if (n < 0)
		return errno == EFAULT ? 0 : -errno;
	for (; done < count && (size_t)n >= landings[done].len; done++)
		n -= (ssize_t)landings[done].len;
	return (int)done;
}

static int64_t follow(struct wall_call *call)
{
	return wall_hops_read(call->hops, call->count, call->data, sizeof(call->data), land, call);
}

/* --- files of /proc --------------------------------------------------------------------------- */

static int64_t read_file(struct wall_call *call)
{
	_cleanup_close_ int fd = open(call->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	uint64_t want = MIN(call->len, sizeof(call->data)), done = 0;

	if (fd < 0)
		return -errno;
	while (done < want) {
		ssize_t n = pread(fd, call->data + done, want - done, (off_t)(call->offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		done += (uint64_t)n;
	}
	return (int64_t)done;
}

static int64_t read_link(struct wall_call *call)
{
	ssize_t n = readlink(call->path, (char *)call->data, PATH_MAX);

	return n < 0 ? -errno : n;
}

/* --- the calls -------------------------------------------------------------------------------- */

static int take_found(struct wall_call *call, int r, const struct foreign_file *file)
{
	if (r < 0)
		return r;
	call->kind = file->kind;
	call->id = file->id;
	return file->fd;
}

static int find(struct wall_call *call)
{
	struct foreign_file file;

	return take_found(call, foreign_file_find(call->pid, call->path, &file), &file);
}

static int find_in_root(struct wall_call *call)
{
	struct foreign_file file;
	int r = foreign_file_find_in_root(call->pid, call->path, call->flags, &file);

	return take_found(call, r, &file);
}

static int open_one(struct wall_call *call, int fd)
{
	switch (call->op) {
	case WALL_FIND: return find(call);
	case WALL_FIND_IN_ROOT: return find_in_root(call);
	case WALL_COPY: return foreign_file_copy(fd);
	case WALL_REOPEN: return foreign_file_reopen(fd);
	case WALL_OPEN_MEMFD: return foreign_file_open_memfd(call->pid, call->path);
	default: return -ENOSYS;
	}
}

static int64_t carry_out(struct wall_call *call, int fd, int *ret_fd)
{
	int opened;

	*ret_fd = -1;
	switch (call->op) {
	case WALL_READ_MEMORY: return read_memory(call);
	case WALL_READ_PARTS: return read_parts(call);
	case WALL_FOLLOW: return follow(call);
	case WALL_READ_FILE: return read_file(call);
	case WALL_READ_MAPS: return broker_read_maps(call);
	case WALL_LOOK: return broker_look(call);
	case WALL_READ_LINK: return read_link(call);
	default: opened = open_one(call, fd); break;
	}
	*ret_fd = MAX(opened, -1);
	return MIN(opened, 0);
}

/* --- its trade --------------------------------------------------------------------------------- */

static void give_up_rights(const struct wall_call *call)
{
	(void)call;
	rights_keep(RIGHTS_TO_LOOK);
	broker_calls_limit();
}

static bool takes_file(uint32_t op)
{
	return op == WALL_COPY || op == WALL_REOPEN;
}

static bool opens_file(uint32_t op)
{
	return op >= WALL_FIRST_OPENING;
}

/* 5 to 40 us; to find a file 100. */
static bool is_quick(uint32_t op)
{
	return !opens_file(op);
}

const struct trade broker_trade = {
	.name = "hostprof-broker",
	.give_up_rights = give_up_rights,
	.takes_file = takes_file,
	.opens_file = opens_file,
	.is_quick = is_quick,
	.carry_out = carry_out,
};
