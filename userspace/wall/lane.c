// SPDX-License-Identifier: Apache-2.0
#include "wall/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "wall/futex.h"
#include "wall/pass_fd.h"

/* How often is looked whether it is still there. */
#define LOOK_NS (3 * NSEC_PER_MSEC)
/* And whether it was stopped. */
#define STOPPED_NS (25 * NSEC_PER_MSEC)
/* In which a process begins on a host that is busy. */
#define BEGIN_NS   (2 * NSEC_PER_SEC)
#define STAT_BYTES 4096
/* What a nursery took that was just being killed has died with it: the next one is the first that a new nursery makes. */
#define MOST_OTHERS 2
/* When a process that slept was waited for in vain without sleeping, so many times nobody tries again: the cpus are busy. */
#define IN_VAIN 16

/* Processes of all lanes so far: two that follow each other in different lanes are not taken for one. */
static _Atomic uint64_t generations;

struct lane {
	struct nursery *nursery; /* borrowed; NULL: none */
	struct lane_terms terms;
	struct wall_call *call; /* owned; NULL: there is no process now */
	int socket;		/* owned, of the process of now; -1: none */
	int left;		/* owned, of one that was left behind; -1 */
	uint32_t left_about;	/* its call's pid */
	uint64_t cpu_ns;	/* of the process of now, so much was taken */
	uint64_t generation;
	/* Of a hostile one, from before it knew anything: what it says later is not believed. */
	uint32_t pid;
	int pidfd;	      /* owned; -1 */
	bool at_disk;	      /* when it was late */
	unsigned int in_vain; /* calls of one that sleeps that are not waited for awake */
};

struct lane *lane_new(struct nursery *nursery, const struct lane_terms *terms)
{
	struct lane *lane = xcalloc(1, sizeof(*lane));

	lane->nursery = nursery;
	lane->terms = *terms;
	lane->socket = lane->left = lane->pidfd = -1;
	return lane;
}

void lane_set_patience(struct lane *lane, const struct lane_patience *patience)
{
	lane->terms.patience = *patience;
}

void lane_wait_for_disk(struct lane *lane, uint64_t disk_ns)
{
	lane->terms.patience.disk_ns = disk_ns;
}

void lane_set_len(struct lane *lane, uint64_t len)
{
	lane->terms.len = len;
}

static void forget_process(struct lane *lane)
{
	closep(&lane->pidfd);
	lane->pidfd = -1;
	lane->pid = 0;
}

/* It ends as soon as it can: it has the memory, too. */
static void leave(struct lane *lane)
{
	if (!lane->call)
		return;
	if (lane->pidfd >= 0)
		(void)syscall(SYS_pidfd_send_signal, lane->pidfd, SIGKILL, NULL, 0);
	forget_process(lane);
	lane->left_about = lane->call->pid;
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

void lane_rest(struct lane *lane)
{
	if (lane->call)
		atomic_store(&lane->call->rests, 1);
}

uint32_t lane_pid(const struct lane *lane)
{
	return lane->pid;
}

uint64_t lane_generation(const struct lane *lane)
{
	return lane->call ? lane->generation : 0;
}

/* CPUCLOCK_SCHED of include/linux/posix-timers_types.h; the process need not be ours to be asked. */
static uint64_t cpu_of(uint32_t pid)
{
	struct timespec used;

	if (clock_gettime((clockid_t)(~pid << 3 | 2U), &used) < 0)
		return 0;
	return (uint64_t)used.tv_sec * NSEC_PER_SEC + (uint64_t)used.tv_nsec;
}

uint64_t lane_take_cpu(struct lane *lane)
{
	uint64_t before_ns = lane->cpu_ns, now_ns;

	if (!lane->call || !lane->nursery)
		return 0;
	now_ns = lane->terms.trade->is_hostile ? cpu_of(lane->pid) : lane->call->cpu_ns;
	lane->cpu_ns = MAX(now_ns, before_ns);
	return lane->cpu_ns - before_ns;
}

int lane_take_left(struct lane *lane, uint32_t *ret_about)
{
	*ret_about = lane->left_about;
	return TAKE_FD(lane->left);
}

void lane_free(struct lane *lane)
{
	if (!lane)
		return;
	leave(lane);
	closep(&lane->left);
	free(lane);
}

static struct wall_call *map_call(int fd)
{
	struct wall_call *call;

	/* Who cut it would end us with SIGBUS. */
	if (ftruncate(fd, sizeof(*call)) < 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		return NULL;
	call = mmap(NULL, sizeof(*call), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return call == MAP_FAILED ? NULL : call; /* NOLINT: the kernel's value */
}

static struct wall_call *get_process(struct lane *lane)
{
	_cleanup_close_ int fd = memfd_create("hostprof-call", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int pair[2];

	lane->cpu_ns = 0;
	lane->generation = atomic_fetch_add(&generations, 1) + 1;
	lane->call = fd < 0 ? NULL : map_call(fd);
	if (!lane->call || !lane->nursery)
		return lane->call;
	atomic_store(&lane->call->spins,
		     !lane->terms.sleeping && sysconf(_SC_NPROCESSORS_ONLN) > 1);
	lane->call->len = lane->terms.len;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
		leave(lane);
		return NULL;
	}
	lane->socket = pair[0];
	if (nursery_ask(lane->nursery, lane->terms.trade, fd, pair[1], lane->terms.urgent) < 0)
		leave(lane);
	close(pair[1]);
	return lane->call;
}

/* Who has died says nothing, but his socket is at its end. */
static bool is_dead(int socket)
{
	struct pollfd fd = { .fd = socket };

	return poll(&fd, 1, 0) > 0 && (fd.revents & (POLLHUP | POLLERR));
}

/* It has taken from the call what it wanted to know, and nothing yet that would make it tell another process's number. */
static int learn_pid(struct lane *lane)
{
	uint64_t end_ns = clock_now_ns() + BEGIN_NS;
	uint32_t pid;

	while (!(pid = atomic_load(&lane->call->broker))) {
		struct timespec slice = { .tv_nsec = LOOK_NS };

		if (futex_wait(&lane->call->broker, 0, &slice) == -ETIMEDOUT &&
		    (is_dead(lane->socket) || clock_now_ns() >= end_ns))
			return -ECHILD;
	}
	lane->pid = pid;
	lane->pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	return 0;
}

struct wall_call *lane_begin(struct lane *lane)
{
	/* Of what it did not hear of a hostile one cannot have died. */
	if (lane->pid && is_dead(lane->socket))
		leave(lane);
	if (!lane->call)
		get_process(lane);
	if (lane->call && lane->nursery && lane->terms.trade->is_hostile && !lane->pid &&
	    learn_pid(lane) < 0)
		leave(lane);
	return lane->call;
}

/* Its state in /proc/PID/stat; R: it waits for nothing but a cpu, on a host that has more to do than it can. */
static char state_of(const struct lane *lane)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint32_t pid = lane->pid ? lane->pid : atomic_load(&lane->call->broker);
	const char *comm_end;
	char path[32];

	if (!pid)
		return 'R'; /* it is being made */
	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (file_read(path, STAT_BYTES, &text) < 0)
		return 'X';
	comm_end = strrchr(strbuf_str(&text), ')');
	return comm_end && comm_end[1] == ' ' ? comm_end[2] : 'X';
}

static bool is_late(struct lane *lane, uint64_t waited_ns)
{
	const struct lane_patience *patience = &lane->terms.patience;
	uint64_t most_ns = patience->deadline_ns;
	char state;

	lane->at_disk = false;
	if (patience->cpu_ns && waited_ns >= patience->cpu_ns && lane->pid &&
	    cpu_of(lane->pid) >= lane->cpu_ns + patience->cpu_ns)
		return true;
	if (waited_ns < most_ns)
		return false;
	state = state_of(lane);
	lane->at_disk = state == 'D';
	switch (state) {
	case 'R': most_ns = patience->busy_ns; break;
	case 'D': most_ns = patience->disk_ns; break;
	default: break;
	}
	return waited_ns >= most_ns;
}

/* While the last answer is ANSWERED, for a while. False: it was a long one, and nobody is there. */
static bool wait_a_while(const struct lane *lane, uint32_t answered)
{
	const struct timespec slice = { .tv_nsec = LOOK_NS };
	struct wall_call *call = lane->call;

	return futex_sleep(&call->answered, answered, &call->asker_sleeps, &slice) != -ETIMEDOUT ||
	       !is_dead(lane->socket);
}

/* As long as it has its end of the socket its number is nobody else's. */
static void end_process(const struct lane *lane)
{
	_cleanup_close_ int process =
		(int)syscall(SYS_pidfd_open, (pid_t)atomic_load(&lane->call->broker), 0);

	if (process >= 0 && !is_dead(lane->socket))
		(void)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
}

/*
 * Somebody with root's rights has stopped one that is ours: that is no fault of whom it was asked about, and it would never go on. It is
 * ended, and another one asked. False: it was not stopped, or is hostile, who may have done so himself.
 */
static bool end_stopped(const struct lane *lane)
{
	char state = lane->terms.trade->is_hostile ? 'X' : state_of(lane);

	if (state != 'T' && state != 't')
		return false;
	end_process(lane);
	return true;
}

/*
 * WOKEN: who is to answer slept. Where a cpu is free he runs about as soon as one could sleep oneself, and then the row's other calls
 * find both awake.
 */
static void wait_awake(struct lane *lane, uint32_t asked, bool woken)
{
	struct wall_call *call = lane->call;
	bool there;

	if (!atomic_load(&call->spins) || !lane->terms.trade->is_quick(call->op) ||
	    call->takes_long)
		return;
	if (woken && lane->in_vain) {
		lane->in_vain--;
		return;
	}
	there = futex_spin(&call->answered, asked - 1, WALL_SPIN_NS, NULL);
	if (woken && !there)
		lane->in_vain = IN_VAIN;
}

/* 0: the answer is there; -ETIMEDOUT, -ECHILD: it has died. */
static int wait_for_answer(struct lane *lane, uint32_t asked)
{
	uint64_t begin_ns = clock_now_ns();
	struct wall_call *call = lane->call;
	uint64_t waited_ns, looked_ns = 0;
	uint32_t answered;

	while ((answered = atomic_load(&call->answered)) != asked) {
		waited_ns = clock_now_ns() - begin_ns;
		if (waited_ns - looked_ns >= STOPPED_NS) {
			looked_ns = waited_ns;
			if (end_stopped(lane))
				return -ECHILD;
		}
		if (is_late(lane, waited_ns))
			return end_stopped(lane) ? -ECHILD : -ETIMEDOUT;
		if (!wait_a_while(lane, answered))
			return -ECHILD;
	}
	return 0;
}

bool lane_was_at_disk(const struct lane *lane)
{
	return lane->at_disk;
}

/* What was asked of one that has died is asked of another one. */
static int ask_another(struct lane *lane)
{
	struct wall_call *call = lane->call;

	lane->call = NULL;
	closep(&lane->socket);
	lane->socket = -1;
	if (get_process(lane)) {
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
	bool woken;

	if (fd >= 0 && pass_fds_send(lane->socket, 0, &fd, 1) < 0)
		return -ECHILD;
	asked = atomic_fetch_add(&lane->call->asked, 1) + 1;
	woken = atomic_load(&lane->call->broker_sleeps);
	if (woken)
		futex_wake(&lane->call->asked);
	wait_awake(lane, asked, woken);
	return wait_for_answer(lane, asked);
}

int64_t lane_call(struct lane *lane, int fd, int *ret_fd)
{
	const struct trade *trade = lane->terms.trade;
	int64_t result;
	int r;

	*ret_fd = -1;
	if (!lane->call)
		return -ECHILD;
	if (!lane->nursery)
		return trade->carry_out(lane->call, fd, ret_fd);
	r = ask(lane, fd);
	for (int i = 0; i < MOST_OTHERS && r == -ECHILD && lane->call && !trade->is_hostile; i++)
		r = ask_another(lane) == 0 ? ask(lane, fd) : -ECHILD;
	if (r < 0) {
		leave(lane);
		return r;
	}
	result = lane->call->result;
	if (!trade->is_hostile && trade->opens_file(lane->call->op) && result >= 0)
		*ret_fd = pass_fd_receive(lane->socket);
	return result;
}
