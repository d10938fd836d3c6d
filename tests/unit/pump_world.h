/* SPDX-License-Identifier: Apache-2.0 */
/* A ring pump whose rings, side-bands and scheduler are the test's. Included once per test. */
#ifndef HOSTPROF_TESTS_PUMP_WORLD_H
#define HOSTPROF_TESTS_PUMP_WORLD_H

#include "test.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/vec.h"
#include "capture/rings/ring_pump.h"
#include "capture/sideband.h"
#include "fake_scheduler.h"

#define MIB	 (1U << 20)
#define LONGEST	 (RING_PUMP_BYTES + 5)
#define SOON_MS	 4000
#define POLICY	 (SCHED_RR | SCHED_RESET_ON_FORK)
#define PRIORITY 1

/* A record: its length, and its number in all of its bytes. */
struct made {
	size_t len;
	uint8_t number;
};

static struct {
	struct ring_pump *pump;
	pthread_mutex_t lock; /* of what the fake ring holds */
	VEC(struct made) made;
	size_t consumed;
	uint8_t bytes[LONGEST];
	ring_buffer_sample_fn fn;
	void *ctx;
	int epoll_fd; /* an eventfd in its place */
	bool is_open;
	bool no_rings;
	unsigned int added;
	atomic_int consumes;
	atomic_bool signals_blocked;
	VEC(struct made) seen;
} f = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- in place of libbpf and the side-band --- */

struct sideband {
	size_t held;
	atomic_size_t room; /* it was relieved with so much */
	atomic_int relieved;
};

size_t sideband_relieve(struct sideband *sideband, size_t room)
{
	sideband->room = room;
	sideband->relieved++;
	return sideband->held;
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn fn, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	(void)fd, (void)opts;
	errno = ENOMEM;
	if (f.no_rings)
		return NULL;
	f.fn = fn;
	f.ctx = ctx;
	f.is_open = true;
	return (struct ring_buffer *)&f;
}

int ring_buffer__add(struct ring_buffer *rb, int fd, ring_buffer_sample_fn fn, void *ctx)
{
	assert_ptr_equal(rb, &f);
	assert_true(fn == f.fn && ctx == f.ctx);
	f.added++;
	return fd == 77 ? -E2BIG : 0;
}

void ring_buffer__free(struct ring_buffer *rb)
{
	f.is_open &= !rb;
}

/* On the thread, as the next one: an assertion could not end the test from there. */
int ring_buffer__epoll_fd(const struct ring_buffer *rb)
{
	return rb == (const struct ring_buffer *)&f ? f.epoll_fd : -1;
}

/* As libbpf does: an error of the callback ends it, and that record was read. */
int ring_buffer__consume(struct ring_buffer *rb)
{
	uint64_t news;
	sigset_t blocked;
	int r = 0;

	(void)rb;
	pthread_mutex_lock(&f.lock);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	f.signals_blocked = sigismember(&blocked, SIGXCPU) && sigismember(&blocked, SIGTERM);
	(void)!read(f.epoll_fd, &news, sizeof(news));
	while (r == 0 && f.consumed < f.made.len) {
		const struct made *made = &f.made.items[f.consumed++];

		memset(f.bytes, made->number, made->len);
		r = f.fn(f.ctx, f.bytes, made->len);
	}
	f.consumes++;
	pthread_mutex_unlock(&f.lock);
	return r;
}

/* --- */

static int setup(void **state)
{
	(void)state;
	f.epoll_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f.consumed = f.added = 0;
	f.consumes = 0;
	memset(&scheduler, 0, sizeof(scheduler));
	f.no_rings = false;
	f.pump = ring_pump_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	ring_pump_free(f.pump);
	close(f.epoll_fd);
	vec_release(&f.made);
	vec_release(&f.seen);
	return f.is_open ? -1 : 0;
}

static inline void start(void)
{
	struct err err = { 0 };

	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	assert_int_equal(ring_pump_start(f.pump, &err), 0);
}

/* COUNT records more in the ring, of LEN bytes, numbered on. */
static inline void make(unsigned int count, size_t len)
{
	pthread_mutex_lock(&f.lock);
	for (unsigned int i = 0; i < count; i++)
		vec_push(&f.made, ((struct made){ len, (uint8_t)f.made.len }));
	pthread_mutex_unlock(&f.lock);
}

/* What the kernel does for a record that is to be looked at. */
static inline void wake(void)
{
	const uint64_t one = 1;

	assert_int_equal(write(f.epoll_fd, &one, sizeof(one)), sizeof(one));
}

static inline size_t consumed(void)
{
	size_t n;

	pthread_mutex_lock(&f.lock);
	n = f.consumed;
	pthread_mutex_unlock(&f.lock);
	return n;
}

static inline bool has_news(int timeout_ms)
{
	struct pollfd news = { .fd = ring_pump_fd(f.pump), .events = POLLIN };

	return poll(&news, 1, timeout_ms) == 1;
}

static inline void see(const void *record, size_t len, void *data)
{
	const uint8_t *bytes = record;

	assert_ptr_equal(data, &f);
	assert_int_equal((uintptr_t)record % 8, 0);
	assert_true(len == 1 || memcmp(bytes, bytes + 1, len - 1) == 0);
	vec_push(&f.seen, ((struct made){ len, bytes[0] }));
}

static inline void take(void)
{
	ring_pump_take(f.pump, see, &f);
}

/* All that was made, once, whole and in its order. */
static inline void expect_all(void)
{
	assert_int_equal(f.seen.len, f.made.len);
	for (size_t i = 0; i < f.seen.len; i++) {
		assert_int_equal(f.seen.items[i].len, f.made.items[i].len);
		assert_int_equal(f.seen.items[i].number, f.made.items[i].number);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
