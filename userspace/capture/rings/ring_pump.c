/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/rings/ring_pump.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/rights.h"
#include "base/vec.h"
#include "capture/rings/record_queue.h"
#include "capture/sideband.h"
#include "capture/urgent_thread.h"

/*
 * In that time a thousand records of the side-band fill a ring: more than all programs of a host make together. While nothing is left there by
 * who drains, who is told of each record, it is five times as long.
 */
#define SIDE_MS	     20
#define CALM_SIDE_MS 100

/* So long may the one who takes be at something else before the thread is woken. */
#define AT_WORK_NS (5 * NSEC_PER_MSEC)
/* With more than this in the rings at a time the thread stays awake: some samples. */
#define FLOOD_BYTES (64U << 10)

struct ring_pump {
	pthread_mutex_t lock; /* of the rings, the queue, the side-bands and what is said of them */
	pthread_cond_t taken; /* there is room in the queue, or it is time to end */
	struct ring_buffer *rings; /* owned; NULL until there is one */
	struct record_queue queue;
	bool full; /* a ring was left as it was */
	bool told; /* `news_fd` says that there is something */
	bool ending;

	VEC(struct sideband *) sides; /* borrowed */

	struct record_queue given; /* of the one who takes */
	int news_fd;		   /* owned; eventfd: the queue is not empty */
	int end_fd;		   /* owned; eventfd: it is time to end */
	int watch_fd;		   /* owned; timerfd: the one who takes has been at work for long */
	atomic_bool taker_waits;
	atomic_bool watches; /* the thread looks at `watch_fd`, not at the rings */
	struct urgent_thread thread;
};

/* With the lock held. An error stops the reading, and the record counts as read. */
static int on_record(void *ctx, void *data, size_t len)
{
	struct ring_pump *pump = ctx;

	record_queue_push(&pump->queue, data, len);
	pump->full = pump->queue.len >= RING_PUMP_BYTES;
	return pump->full ? -ENOBUFS : 0;
}

/* With the lock held. */
static void fill_queue(struct ring_pump *pump)
{
	pump->full = false;
	if (pump->rings)
		ring_buffer__consume(pump->rings);
}

/* With the lock held. Is something left in them? */
static bool relieve_sides(struct ring_pump *pump)
{
	size_t room = RING_PUMP_BYTES;
	bool some = false;

	for (size_t i = 0; i < pump->sides.len; i++) {
		size_t left = sideband_relieve(pump->sides.items[i], room);

		room -= MIN(left, room);
		some |= left > 0;
	}
	return some;
}

/* --- thread ----------------------------------------------------------------------------------- */

static void tell(int fd)
{
	const uint64_t one = 1;

	/* It cannot fail but by 2^64 news that nobody read. */
	(void)!write(fd, &one, sizeof(one));
}

/* With the lock held. */
static void wait_for_room(struct ring_pump *pump)
{
	while (pump->full && !pump->ending) {
		uint64_t until_ns = clock_now_ns() + SIDE_MS * NSEC_PER_MSEC;
		const struct timespec until = { .tv_sec = (time_t)(until_ns / NSEC_PER_SEC),
						.tv_nsec = (long)(until_ns % NSEC_PER_SEC) };

		pthread_cond_clockwait(&pump->taken, &pump->lock, CLOCK_MONOTONIC, &until);
		relieve_sides(pump);
	}
}

/* What is to be done next, as was seen the last time. */
struct pump_mood {
	int soon_ms; /* look again, if no ring has news before */
	bool flood;
};

static struct pump_mood pump_once(struct ring_pump *pump, bool rings_have_news)
{
	struct pump_mood mood;
	size_t before;

	pthread_mutex_lock(&pump->lock);
	mood.soon_ms = relieve_sides(pump) ? SIDE_MS : CALM_SIDE_MS;
	if (rings_have_news)
		wait_for_room(pump);
	before = pump->queue.len;
	if (rings_have_news && !pump->ending)
		fill_queue(pump);
	if (pump->queue.len > before) {
		tell(pump->news_fd);
		pump->told = true;
	}
	mood.flood = pump->queue.len > FLOOD_BYTES;
	pthread_mutex_unlock(&pump->lock);
	return mood;
}

/*
 * Each of the two first says what it does and then looks what the other one does: they cannot miss each other. Where the one who takes does not go
 * before others he may wait for a cpu, and whoever has one first is to empty the rings.
 */
static bool may_watch(struct ring_pump *pump, const struct pump_mood *mood)
{
	bool may = !mood->flood && pump->thread.policy != SCHED_OTHER;

	atomic_store(&pump->watches, may);
	may = may && atomic_load(&pump->taker_waits);
	atomic_store(&pump->watches, may);
	return may;
}

static void pump_main(void *data)
{
	struct ring_pump *pump = data;
	struct pollfd fds[] = { { .fd = pump->end_fd, .events = POLLIN }, { .events = POLLIN } };
	struct pump_mood mood = { SIDE_MS, false };
	uint64_t times;

	rights_keep(0); /* what it needs is open */
	for (;;) {
		bool watches = may_watch(pump, &mood);

		fds[1].fd = watches ? pump->watch_fd : ring_buffer__epoll_fd(pump->rings);
		if (poll(fds, 2, watches ? -1 : mood.soon_ms) < 0)
			continue;
		if (fds[0].revents)
			return;
		if (watches)
			(void)!read(pump->watch_fd, &times, sizeof(times));
		else
			mood = pump_once(pump, fds[1].revents);
	}
}

void ring_pump_taker_waits(struct ring_pump *pump, bool waits)
{
	const struct itimerspec never = { 0 }, once = { .it_value.tv_nsec = AT_WORK_NS };

	atomic_store(&pump->taker_waits, waits);
	if (pump->watch_fd >= 0 && atomic_load(&pump->watches))
		timerfd_settime(pump->watch_fd, 0, waits ? &never : &once, NULL);
}

int ring_pump_start(struct ring_pump *pump, struct err *err)
{
	int r;

	pump->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	pump->end_fd = pump->news_fd < 0 ? -1 : eventfd(0, EFD_CLOEXEC);
	pump->watch_fd =
		pump->end_fd < 0 ? -1 : timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	r = pump->watch_fd < 0 ? -errno : urgent_thread_start(&pump->thread, pump_main, pump);
	return r < 0 ? err_sys(err, r, "cannot start the reader of the ring buffers") : 0;
}

static void end_thread(struct ring_pump *pump)
{
	if (!pump->thread.runs)
		return;
	pthread_mutex_lock(&pump->lock);
	pump->ending = true;
	pthread_cond_signal(&pump->taken);
	pthread_mutex_unlock(&pump->lock);
	tell(pump->end_fd);
	urgent_thread_join(&pump->thread);
}

/* --- side-bands ------------------------------------------------------------------------------- */

void ring_pump_add_side(struct ring_pump *pump, struct sideband *sideband)
{
	pthread_mutex_lock(&pump->lock);
	vec_push(&pump->sides, sideband);
	pthread_mutex_unlock(&pump->lock);
}

void ring_pump_remove_side(struct ring_pump *pump, const struct sideband *sideband)
{
	pthread_mutex_lock(&pump->lock);
	for (size_t i = pump->sides.len; i-- > 0;)
		if (pump->sides.items[i] == sideband)
			pump->sides.items[i] = pump->sides.items[--pump->sides.len];
	pthread_mutex_unlock(&pump->lock);
}

/* --- made and taken --------------------------------------------------------------------------- */

struct ring_pump *ring_pump_new(void)
{
	struct ring_pump *pump = xcalloc(1, sizeof(*pump));

	pthread_mutex_init(&pump->lock, NULL);
	pthread_cond_init(&pump->taken, NULL);
	pump->news_fd = pump->end_fd = pump->watch_fd = -1;
	return pump;
}

void ring_pump_free(struct ring_pump *pump)
{
	if (!pump)
		return;
	end_thread(pump);
	ring_buffer__free(pump->rings);
	pthread_cond_destroy(&pump->taken);
	pthread_mutex_destroy(&pump->lock);
	closep(&pump->news_fd);
	closep(&pump->end_fd);
	closep(&pump->watch_fd);
	record_queue_release(&pump->queue);
	record_queue_release(&pump->given);
	vec_release(&pump->sides);
	free(pump);
}

static int add(struct ring_pump *pump, int fd)
{
	if (pump->rings)
		return ring_buffer__add(pump->rings, fd, on_record, pump);
	pump->rings = ring_buffer__new(fd, on_record, pump, NULL);
	return pump->rings ? 0 : -errno;
}

int ring_pump_add(struct ring_pump *pump, int fd)
{
	int r;

	pthread_mutex_lock(&pump->lock);
	r = add(pump, fd);
	pthread_mutex_unlock(&pump->lock);
	return r;
}

int ring_pump_fd(const struct ring_pump *pump)
{
	return pump->news_fd;
}

int ring_pump_rings_fd(const struct ring_pump *pump)
{
	return ring_buffer__epoll_fd(pump->rings);
}

/* True: a ring may have more. */
static bool take_queue(struct ring_pump *pump)
{
	struct record_queue empty = pump->given;
	uint64_t news;
	bool more;

	pthread_mutex_lock(&pump->lock);
	if (pump->told)
		(void)!read(pump->news_fd, &news, sizeof(news));
	pump->told = false;
	if (!pump->full)
		fill_queue(pump);
	more = pump->full;
	pump->given = pump->queue;
	pump->queue = empty;
	pump->full = false;
	pthread_cond_signal(&pump->taken);
	pthread_mutex_unlock(&pump->lock);
	return more;
}

void ring_pump_take(struct ring_pump *pump,
		    void (*record)(const void *record, size_t len, void *data), void *data)
{
	bool more;

	do {
		more = take_queue(pump);
		record_queue_give(&pump->given, record, data);
		record_queue_clear(&pump->given);
	} while (more);
}
