// SPDX-License-Identifier: Apache-2.0
#include "wall/wall.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/budget/patience.h"
#include "base/clock.h"
#include "base/macros.h"
#include "wall/broker.h"
#include "wall/lane.h"
#include "wall/pass_fd.h"
#include "wall/suspects.h"
#include "wall/wall_private.h"

/* A page of a disk that is busy comes in 10 ms. */
#define LOOP_DEADLINE_NS   (25 * NSEC_PER_MSEC)
#define OTHERS_DEADLINE_NS (5 * NSEC_PER_SEC)
/* What one that only waits for a cpu is given. */
#define BUSY_NS (2 * NSEC_PER_SEC)

static struct {
	const struct trade *trades[3];
	struct nursery *nursery; /* NULL: there is no wall */
	pthread_t loop;		 /* the thread of wall_begin() */
	pthread_mutex_t lock;	 /* of `suspects`, which all threads share */
	struct suspects suspects;
	_Atomic uint64_t cpu_ns;
	struct patience patience; /* the loop's thread's */
	_Atomic uint64_t end_ns;  /* wall_end_at() */
} wall = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- lanes ------------------------------------------------------------------------------------ */

static void take_cpu(struct lane *lane)
{
	atomic_fetch_add(&wall.cpu_ns, lane_take_cpu(lane));
}

static pthread_key_t lane_key;
static pthread_once_t lane_once = PTHREAD_ONCE_INIT;

static __thread uint8_t *spare_copy; /* owned; of wall_read_maps() */

static void free_lane(void *lane)
{
	free(TAKE_PTR(spare_copy));
	take_cpu(lane);
	lane_free(lane);
}

static void make_key(void)
{
	if (pthread_key_create(&lane_key, free_lane))
		abort();
}

static bool is_loop(void)
{
	return wall.nursery && pthread_equal(pthread_self(), wall.loop);
}

bool wall_is_loop(bool *ret_urgent)
{
	bool loop = is_loop();

	*ret_urgent = loop && (sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) == SCHED_RR;
	return loop;
}

struct nursery *wall_nursery(void)
{
	return wall.nursery;
}

/* This thread's; it goes with the thread. */
static struct lane *get_lane(void)
{
	struct lane_terms terms = { .trade = &broker_trade, .patience.busy_ns = BUSY_NS };
	struct lane *lane;

	pthread_once(&lane_once, make_key);
	lane = pthread_getspecific(lane_key);
	if (!lane) {
		terms.patience.deadline_ns =
			wall_is_loop(&terms.urgent) ? LOOP_DEADLINE_NS : OTHERS_DEADLINE_NS;
		lane = lane_new(wall.nursery, &terms);
		pthread_setspecific(lane_key, lane);
	}
	return lane;
}

static void drop_lane(void)
{
	free(TAKE_PTR(spare_copy));
	pthread_once(&lane_once, make_key);
	lane_free(pthread_getspecific(lane_key));
	pthread_setspecific(lane_key, NULL);
}

/* --- the wall --------------------------------------------------------------------------------- */

int wall_begin(const struct trade *other, nursery_help_fn help, struct err *err)
{
	int r;

	drop_lane();
	wall.trades[0] = &broker_trade;
	wall.trades[1] = other;
	r = nursery_new(&(struct nursery_plan){ wall.trades, help }, &wall.nursery, err);
	wall.loop = pthread_self();
	return r;
}

void wall_end(void)
{
	drop_lane();
	nursery_free(TAKE_PTR(wall.nursery));
	suspects_release(&wall.suspects);
	wall.suspects = (struct suspects){ .late = 0 };
	wall.patience = (struct patience){ 0 };
	atomic_store(&wall.cpu_ns, 0);
	atomic_store(&wall.end_ns, 0);
}

void wall_get_figures(struct wall_figures *ret_figures)
{
	take_cpu(get_lane());
	pthread_mutex_lock(&wall.lock);
	*ret_figures = (struct wall_figures){
		.late = wall.suspects.late,
		.refused = wall.suspects.refused,
		.lost = (uint32_t)wall.suspects.lost.len,
		.first_pid = wall.suspects.first_pid,
		.cpu_ns = atomic_load(&wall.cpu_ns),
	};
	memcpy(ret_figures->first_comm, wall.suspects.first_comm, sizeof(ret_figures->first_comm));
	pthread_mutex_unlock(&wall.lock);
}

/* --- calls ------------------------------------------------------------------------------------ */

bool wall_may_ask(uint32_t pid)
{
	bool may;

	if (!wall.nursery)
		return true;
	pthread_mutex_lock(&wall.lock);
	may = suspects_may_ask(&wall.suspects, pid, clock_now_ns());
	pthread_mutex_unlock(&wall.lock);
	return may;
}

/* SOCKET is taken: by it one knows when who was asked comes back. */
static void note_late(uint32_t pid, int socket)
{
	pthread_mutex_lock(&wall.lock);
	suspects_note_late(&wall.suspects, pid, socket, clock_now_ns());
	pthread_mutex_unlock(&wall.lock);
}

struct wall_call *wall_start_call(enum wall_op op, uint32_t pid, struct lane **ret_lane)
{
	struct wall_call *call;

	*ret_lane = get_lane();
	call = lane_begin(*ret_lane);
	if (is_loop()) /* others' deadline is long */
		lane_wait_for_disk(*ret_lane, LOOP_DEADLINE_NS + patience_begin(&wall.patience,
										clock_now_ns()));
	if (call) {
		call->op = op;
		call->pid = pid;
		call->takes_long = 0;
		atomic_store(&call->rests, 0);
	}
	return call;
}

struct wall_call *wall_begin_call(enum wall_op op, uint32_t pid, struct lane **ret_lane,
				  int *ret_error)
{
	*ret_lane = NULL;
	*ret_error = -EBUSY;
	if (!wall_may_ask(pid))
		return NULL;
	*ret_error = -ECHILD;
	return wall_start_call(op, pid, ret_lane);
}

int64_t wall_finish_call(struct lane *lane, int given, int *ret_fd)
{
	int64_t result = lane_call(lane, given, ret_fd);
	uint32_t about;
	int left;

	take_cpu(lane);
	if (is_loop())
		patience_end(&wall.patience, clock_now_ns(), LOOP_DEADLINE_NS);
	if (result == -ETIMEDOUT) {
		left = lane_take_left(lane, &about);
		note_late(about, left);
	}
	return result;
}

void wall_rest(void)
{
	lane_rest(get_lane());
}

static int put_path(struct wall_call *call, const char *path)
{
	size_t len = strlen(path);

	if (len >= sizeof(call->path))
		return -ENAMETOOLONG;
	memcpy(call->path, path, len + 1);
	return 0;
}

/* A call that brings bytes of a file of /proc, at most LEN. */
static int64_t read_by(enum wall_op op, uint32_t pid, const char *path, uint64_t offset, void *data,
		       size_t len)
{
	struct lane *lane;
	int64_t result;
	int error, fd;
	struct wall_call *call = wall_begin_call(op, pid, &lane, &error);

	if (!call)
		return error;
	error = put_path(call, path);
	if (error < 0)
		return error;
	call->offset = offset;
	call->len = MIN(len, sizeof(call->data));
	result = MIN(wall_finish_call(lane, -1, &fd), (int64_t)len);
	if (result > 0)
		memcpy(data, lane_answer(lane)->data, (size_t)result);
	return result;
}

int64_t wall_read_file(uint32_t pid, const char *path, uint64_t offset, void *data, size_t len)
{
	return read_by(WALL_READ_FILE, pid, path, offset, data, len);
}

int wall_read_link(uint32_t pid, const char *path, char *ret_target, size_t size)
{
	int64_t n = read_by(WALL_READ_LINK, pid, path, 0, ret_target, size - 1);

	if (n >= 0)
		ret_target[n] = '\0';
	return (int)MIN(n, 0);
}

/*
 * FN may call through the wall itself: what it is told is copied before, into a buffer that is kept for the
 * next time (blocks of this size leave holes among what FN allocates).
 */
static uint8_t *take_copy(const uint8_t *data, size_t len)
{
	uint8_t *copy = spare_copy ? TAKE_PTR(spare_copy) : xmalloc(WALL_DATA_BYTES);

	memcpy(copy, data, len);
	return copy;
}

static void give_copy(uint8_t *copy)
{
	free(spare_copy);
	spare_copy = copy;
}

static void tell_mappings(const uint8_t *data, size_t len, wall_mapping_fn fn, void *fn_data)
{
	size_t at = 0;

	while (at < len) {
		const struct wall_mapping *mapping = (const void *)(data + at);

		fn(mapping, (const char *)(mapping + 1), fn_data);
		at += sizeof(*mapping) + mapping->path_bytes;
	}
}

int wall_read_maps(uint32_t pid, const char *path, unsigned int looks, uint64_t *at,
		   wall_mapping_fn fn, void *data)
{
	while (*at != UINT64_MAX) {
		struct lane *lane;
		uint8_t *copy;
		int64_t result;
		int error, fd;
		struct wall_call *call = wall_begin_call(WALL_READ_MAPS, pid, &lane, &error);

		if (!call)
			return error;
		error = put_path(call, path);
		if (error < 0)
			return error;
		call->offset = *at;
		call->count = MIN(looks, WALL_MAX_LOOKS);
		looks -= call->count;
		result = wall_finish_call(lane, -1, &fd);
		if (result < 0)
			return (int)result;
		*at = lane_answer(lane)->offset;
		looks += lane_answer(lane)->count;
		copy = take_copy(lane_answer(lane)->data, (size_t)result);
		tell_mappings(copy, (size_t)result, fn, data);
		give_copy(copy);
	}
	return 0;
}

int wall_look(uint32_t pid, const struct file_key *key, uint64_t start, uint64_t end,
	      const char *path, struct file_id *ret_id)
{
	struct lane *lane;
	int64_t result;
	int error, fd;
	struct wall_call *call = wall_begin_call(WALL_LOOK, pid, &lane, &error);

	if (call)
		error = put_path(call, path);
	if (!call || error < 0)
		return error;
	call->key = *key;
	call->offset = start;
	call->len = end - start;
	result = wall_finish_call(lane, -1, &fd);
	if (result == 0)
		*ret_id = lane_answer(lane)->id;
	return (int)result;
}

/* A call that opens something; NULL: it was not made, or nothing was opened, and *RET_FD says why. */
static const struct wall_call *open_by(enum wall_op op, uint32_t pid, const char *path, int flags,
				       int given, int *ret_fd)
{
	struct lane *lane;
	int64_t result;
	int error;
	struct wall_call *call = wall_begin_call(op, pid, &lane, &error);

	if (call)
		error = put_path(call, path);
	if (!call || error < 0) {
		*ret_fd = error;
		return NULL;
	}
	call->flags = flags;
	result = wall_finish_call(lane, given, ret_fd);
	if (result < 0)
		*ret_fd = (int)result;
	return result < 0 ? NULL : lane_answer(lane);
}

static int find_by(enum wall_op op, uint32_t pid, const char *path, int flags,
		   struct foreign_file *ret_file)
{
	int fd;
	const struct wall_call *call = open_by(op, pid, path, flags, -1, &fd);

	if (!call || fd < 0)
		return fd;
	*ret_file = (struct foreign_file){ fd, (enum foreign_kind)call->kind, call->id };
	return 0;
}

int wall_find(uint32_t pid, const char *path, struct foreign_file *ret_file)
{
	return find_by(WALL_FIND, pid, path, 0, ret_file);
}

int wall_find_in_root(uint32_t pid, const char *path, int flags, struct foreign_file *ret_file)
{
	return find_by(WALL_FIND_IN_ROOT, pid, path, flags, ret_file);
}

int wall_reopen(uint32_t pid, const struct foreign_file *file)
{
	bool is_local = file->kind == FOREIGN_LOCAL;
	int fd = is_local ? foreign_file_reopen(file->fd) : -EACCES;

	/* What we may not read ourselves the broker may. */
	if (fd == -EACCES)
		open_by(is_local ? WALL_REOPEN : WALL_COPY, pid, "", 0, file->fd, &fd);
	return fd;
}

static int open_found(uint32_t pid, int r, const struct foreign_file *file)
{
	if (r < 0)
		return r;
	r = wall_reopen(pid, file);
	close(file->fd);
	return r;
}

int wall_open(uint32_t pid, const char *path)
{
	struct foreign_file file;

	return open_found(pid, wall_find(pid, path, &file), &file);
}

int wall_open_in_root(uint32_t pid, const char *path, int flags)
{
	struct foreign_file file;

	return open_found(pid, wall_find_in_root(pid, path, flags, &file), &file);
}

int wall_open_memfd(uint32_t pid, const char *name)
{
	int fd;

	open_by(WALL_OPEN_MEMFD, pid, name, 0, -1, &fd);
	return fd;
}

/* --- helpers ---------------------------------------------------------------------------------- */

/* How soon it is seen that there is less time than there was. */
#define HELP_SLICE_MS 20

void wall_end_at(uint64_t end_ns)
{
	atomic_store(&wall.end_ns, end_ns);
}

uint64_t wall_until(uint64_t deadline_ns)
{
	uint64_t end_ns = atomic_load(&wall.end_ns);

	return end_ns ? MIN(deadline_ns, end_ns) : deadline_ns;
}

/* 0: there is an answer, or the end of one that has died. */
static int wait_for_help(int socket, uint64_t deadline_ns)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	while (poll(&fd, 1, HELP_SLICE_MS) <= 0)
		if (clock_now_ns() >= wall_until(deadline_ns))
			return -ETIMEDOUT;
	return 0;
}

static int64_t take_answer(int socket, const struct wall_message *message, int *ret_fd)
{
	ssize_t n = pass_message_receive(socket, message->answer, message->size, ret_fd);

	return n > 0 ? n : -ECHILD;
}

static int ask_helper(const int pair[2], const struct wall_message *message)
{
	if (send(pair[0], message->request, message->len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return nursery_ask_helper(wall.nursery, message->fd, pair[1]);
}

int64_t wall_help(uint32_t pid, const struct wall_message *message, uint64_t deadline_ns,
		  int *ret_fd)
{
	int pair[2], r;

	*ret_fd = -1;
	if (!wall.nursery || !nursery_has_helpers(wall.nursery))
		return -EOPNOTSUPP;
	if (!wall_may_ask(pid))
		return -EBUSY;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	r = ask_helper(pair, message);
	close(pair[1]);
	if (r == 0)
		r = wait_for_help(pair[0], deadline_ns);
	if (r == -ETIMEDOUT) {
		note_late(pid, pair[0]);
		return r;
	}
	if (r == 0)
		r = (int)take_answer(pair[0], message, ret_fd);
	close(pair[0]);
	return r;
}
