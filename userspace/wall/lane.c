// SPDX-License-Identifier: Apache-2.0
#include "wall/lane.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "wall/broker.h"
#include "wall/futex.h"
#include "wall/pass_fd.h"

/* How often is looked whether it is still there. */
#define LOOK_NS (3 * NSEC_PER_MSEC)
/* What one that only waits for a cpu is given. */
#define BUSY_NS	   (2 * NSEC_PER_SEC)
#define STAT_BYTES 4096

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

const struct wall_call *lane_answer(const struct lane *lane)
{
	return lane->call;
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
	atomic_store(&lane->call->spins, sysconf(_SC_NPROCESSORS_ONLN) > 1);
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		leave_broker(lane);
		return NULL;
	}
	lane->socket = pair[0];
	if (nursery_ask(lane->nursery, fd, pair[1],
			lane->urgent ? NURSERY_URGENT : NURSERY_BROKER) < 0)
		leave_broker(lane);
	close(pair[1]);
	return lane->call;
}

struct wall_call *lane_begin(struct lane *lane)
{
	return lane->call ? lane->call : get_broker(lane);
}

/* A broker that has died says nothing, but its socket is at its end. */
static bool is_dead(int socket)
{
	struct pollfd fd = { .fd = socket };

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR));
}

/* It waits for nothing but a cpu, on a host that has more to do than it can: state R in /proc/PID/stat. */
static bool is_runnable(const struct wall_call *call)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t pid = atomic_load(&call->broker);
	const char *comm_end;
	char path[32];

	if (!pid)
		return true; /* it is being made */
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (file_read(path, STAT_BYTES, &text) < 0)
		return false;
	comm_end = strrchr(strbuf_str(&text), ')');
	return comm_end && !strncmp(comm_end, ") R", 3);
}

/* 0: the answer is there; -ETIMEDOUT, -ECHILD: it has died. */
static int wait_for_answer(struct lane *lane, uint32_t asked)
{
	uint64_t begin_ns = clock_now_ns();
	struct wall_call *call = lane->call;
	uint64_t spin_ns = atomic_load(&call->spins) ? WALL_SPIN_NS : 0;
	uint32_t answered;

	while ((answered = atomic_load(&call->answered)) != asked) {
		uint64_t waited_ns = clock_now_ns() - begin_ns;
		struct timespec slice = { .tv_nsec = LOOK_NS };

		if (waited_ns >= lane->deadline_ns &&
		    (waited_ns >= MAX(lane->deadline_ns, BUSY_NS) || !is_runnable(call)))
			return -ETIMEDOUT;
		if (futex_wait_spinning(&call->answered, answered, &call->asker_sleeps, spin_ns,
					&slice) == -ETIMEDOUT &&
		    is_dead(lane->socket))
			return -ECHILD;
	}
	return 0;
}

/* What was asked of one that has died is asked of another one. */
static int ask_another(struct lane *lane)
{
	struct wall_call *call = lane->call;

	lane->call = NULL;
	closep(&lane->socket);
	lane->socket = -1;
	if (get_broker(lane)) {
		memcpy(&lane->call->op, &call->op,
		       offsetof(struct wall_call, data) - offsetof(struct wall_call, op));
		lane->call->cpu_ns = 0;
	}
	munmap(call, sizeof(*call));
	return lane->call ? 0 : -ECHILD;
}

/* As wait_for_answer(). */
static int ask(struct lane *lane, int fd)
{
	uint32_t asked;

	if (fd >= 0 && pass_fds_send(lane->socket, 0, &fd, 1) < 0)
		return -ECHILD;
	asked = atomic_fetch_add(&lane->call->asked, 1) + 1;
	if (atomic_load(&lane->call->broker_sleeps))
		futex_wake(&lane->call->asked);
	return wait_for_answer(lane, asked);
}

int64_t lane_call(struct lane *lane, int fd, int *ret_fd)
{
	int r;

	*ret_fd = -1;
	if (!lane->call)
		return -ECHILD;
	if (!lane->nursery)
		return broker_carry_out(lane->call, fd, ret_fd);
	r = ask(lane, fd);
	if (r == -ECHILD && ask_another(lane) == 0)
		r = ask(lane, fd);
	if (r < 0) {
		leave_broker(lane);
		return r;
	}
	if (lane->call->op >= WALL_FIRST_OPENING && lane->call->result >= 0)
		*ret_fd = pass_fd_receive(lane->socket);
	return lane->call->result;
}
