// SPDX-License-Identifier: Apache-2.0
#include "wall/lane.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "wall/broker.h"
#include "wall/futex.h"

struct lane {
	struct nursery *nursery; /* borrowed; NULL: none */
	struct wall_call *call;	 /* owned; NULL: there is no broker now */
	int socket;		 /* owned, of the broker of now; -1: none */
	int left;		 /* owned, of one that was left behind; -1 */
	uint64_t deadline_ns;
	uint64_t cpu_ns; /* of the broker of now, so much was taken */
	bool urgent;
};

struct lane *lane_new(struct nursery *nursery, uint64_t deadline_ns, bool urgent)
{
	struct lane *lane = xcalloc(1, sizeof(*lane));

	lane->nursery = nursery;
	lane->socket = lane->left = -1;
	lane->deadline_ns = deadline_ns;
	lane->urgent = urgent;
	return lane;
}

/* The broker ends as soon as it can: it has the memory, too. */
static void leave_broker(struct lane *lane)
{
	if (!lane->call)
		return;
	atomic_store(&lane->call->abandoned, 1);
	atomic_fetch_add(&lane->call->asked, 1);
	futex_wake(&lane->call->asked);
	munmap(lane->call, sizeof(*lane->call));
	lane->call = NULL;
	closep(&lane->left);
	lane->left = TAKE_FD(lane->socket);
}

uint64_t lane_take_cpu(struct lane *lane)
{
	uint64_t before_ns = lane->cpu_ns;

	if (!lane->call || !lane->nursery)
		return 0;
	lane->cpu_ns = lane->call->cpu_ns;
	return lane->cpu_ns - before_ns;
}

int lane_take_left(struct lane *lane)
{
	return TAKE_FD(lane->left);
}

void lane_free(struct lane *lane)
{
	if (!lane)
		return;
	leave_broker(lane);
	closep(&lane->left);
	free(lane);
}

static struct wall_call *map_call(int fd)
{
	struct wall_call *call;

	if (ftruncate(fd, sizeof(*call)) < 0)
		return NULL;
	call = mmap(NULL, sizeof(*call), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return call == MAP_FAILED ? NULL : call; /* NOLINT: the kernel's value */
}

static struct wall_call *get_broker(struct lane *lane)
{
	_cleanup_close_ int fd = memfd_create("hostprof-call", MFD_CLOEXEC);
	int pair[2];

	lane->cpu_ns = 0;
	lane->call = fd < 0 ? NULL : map_call(fd);
	if (!lane->call || !lane->nursery)
		return lane->call;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		leave_broker(lane);
		return NULL;
	}
	lane->socket = pair[0];
	if (nursery_ask(lane->nursery, fd, pair[1], lane->urgent) < 0)
		leave_broker(lane);
	close(pair[1]);
	return lane->call;
}

struct wall_call *lane_begin(struct lane *lane)
{
	return lane->call ? lane->call : get_broker(lane);
}

/* The answer is there; a broker that has died says nothing, and its socket is at its end. */
static int wait_for_answer(struct lane *lane, uint32_t asked)
{
	uint64_t end_ns = clock_now_ns() + lane->deadline_ns;
	struct wall_call *call = lane->call;
	uint32_t answered;

	while ((answered = atomic_load(&call->answered)) != asked) {
		uint64_t now_ns = clock_now_ns();
		struct timespec rest;

		if (now_ns >= end_ns)
			return -ETIMEDOUT;
		rest.tv_sec = (time_t)((end_ns - now_ns) / NSEC_PER_SEC);
		rest.tv_nsec = (long)((end_ns - now_ns) % NSEC_PER_SEC);
		futex_wait(&call->answered, answered, &rest);
	}
	return 0;
}

static int receive_fd(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	return header ? *(int *)(void *)CMSG_DATA(header) : -1;
}

int64_t lane_call(struct lane *lane, int *ret_fd)
{
	struct wall_call *call = lane->call;
	uint32_t asked;

	*ret_fd = -1;
	if (!call)
		return -ECHILD;
	if (!lane->nursery)
		return broker_carry_out(call, ret_fd);
	asked = atomic_fetch_add(&call->asked, 1) + 1;
	futex_wake(&call->asked);
	if (wait_for_answer(lane, asked) < 0) {
		leave_broker(lane);
		return -ETIMEDOUT;
	}
	if (call->op >= WALL_OPEN && call->result >= 0)
		*ret_fd = receive_fd(lane->socket);
	return call->result;
}
