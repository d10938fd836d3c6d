// SPDX-License-Identifier: Apache-2.0
#include "wall/broker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/macros.h"
#include "wall/broker_maps.h"
#include "wall/foreign_file.h"
#include "wall/futex.h"

/* --- memory ----------------------------------------------------------------------------------- */

/* A transfer ends between two pieces, by process_vm_readv(2). */
static int64_t read_memory(struct wall_call *call)
{
	struct iovec local = { call->data, 0 }, remote[WALL_MAX_PIECES];
	uint32_t count = call->count;
	ssize_t n;

	if (count > WALL_MAX_PIECES)
		return -E2BIG;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t len = call->pieces[i].len;

		if (len > sizeof(call->data) - local.iov_len)
			return -E2BIG;
		remote[i].iov_base =
			(void *)(uintptr_t)call->pieces[i].address; /* NOLINT: not ours */
		remote[i].iov_len = len;
		local.iov_len += len;
	}
	n = process_vm_readv((pid_t)call->pid, &local, 1, remote, count, 0);
	return n < 0 ? -errno : n;
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

/* --- the calls -------------------------------------------------------------------------------- */

static int64_t carry_out_open(struct wall_call *call, int *ret_fd)
{
	int fd;

	switch (call->op) {
	case WALL_OPEN: fd = foreign_file_open(call->path); break;
	case WALL_OPEN_IN_ROOT:
		fd = foreign_file_open_in_root(call->pid, call->path, call->flags);
		break;
	case WALL_OPEN_MEMFD: fd = foreign_file_open_memfd(call->pid, call->path); break;
	default: fd = -ENOSYS; break;
	}
	*ret_fd = MAX(fd, -1);
	return MIN(fd, 0);
}

int64_t broker_carry_out(struct wall_call *call, int *ret_fd)
{
	*ret_fd = -1;
	switch (call->op) {
	case WALL_READ_MEMORY: return read_memory(call);
	case WALL_READ_FILE: return read_file(call);
	case WALL_READ_MAPS: return broker_read_maps(call);
	default: return carry_out_open(call, ret_fd);
	}
}

/* --- its life --------------------------------------------------------------------------------- */

static int send_fd(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	*(int *)(void *)CMSG_DATA(header) = fd;
	return sendmsg(socket, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void answer(struct wall_call *call, int socket)
{
	struct timespec used;
	int64_t result;
	int fd, r;

	result = broker_carry_out(call, &fd);
	if (fd >= 0 && !atomic_load(&call->abandoned)) {
		r = send_fd(socket, fd);
		if (r < 0)
			result = r;
	}
	if (fd >= 0)
		close(fd);
	call->result = result;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	call->cpu_ns = (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
}

void broker_serve(int call_fd, int socket)
{
	struct wall_call *call =
		mmap(NULL, sizeof(*call), PROT_READ | PROT_WRITE, MAP_SHARED, call_fd, 0);

	if (call == MAP_FAILED) /* NOLINT: the kernel's value */
		return;
	while (!atomic_load(&call->abandoned)) {
		uint32_t answered = atomic_load(&call->answered);

		if (atomic_load(&call->asked) == answered) {
			futex_wait(&call->asked, answered, NULL);
			continue;
		}
		answer(call, socket);
		atomic_store(&call->answered, answered + 1);
		futex_wake(&call->answered);
	}
}
