// SPDX-License-Identifier: Apache-2.0
/* That rings are emptied while nobody takes, and up to what; libbpf is the test's. */
#include "test.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/vec.h"
#include "capture/rings/ring_pump.h"

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
	/* As the kernel was asked. */
	int policy, nice;
	atomic_int policy_set, priority_set, nice_set;
	VEC(struct made) seen;
} f = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- in place of libbpf and the scheduler --- */

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

int sched_getscheduler(pid_t pid)
{
	assert_int_equal(pid, 0);
	return f.policy;
}

int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	f.policy_set = pid == 0 ? policy : -1;
	f.priority_set = param->sched_priority;
	return 0;
}

int getpriority(__priority_which_t which, id_t who)
{
	return which == PRIO_PROCESS && who == 0 ? f.nice : 99;
}

int setpriority(__priority_which_t which, id_t who, int nice)
{
	f.nice_set = which == PRIO_PROCESS && who == 0 ? nice : 99;
	return 0;
}

/* --- */

static int setup(void **state)
{
	(void)state;
	f.epoll_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	f.consumed = f.added = 0;
	f.consumes = f.policy_set = f.priority_set = f.nice_set = 0;
	f.policy = SCHED_OTHER;
	f.nice = 0;
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

static int nothing_first(void *data, struct err *err)
{
	(void)data, (void)err;
	return 0;
}

static int start_with(ring_pump_fn first, void *data)
{
	struct err err = { 0 };

	return ring_pump_start(f.pump, first, data, &err);
}

static void start(void)
{
	struct err err = { 0 };

	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	assert_int_equal(start_with(nothing_first, NULL), 0);
	assert_int_equal(ring_pump_wait(f.pump, &err), 0);
}

/* COUNT records more in the ring, of LEN bytes, numbered on. */
static void make(unsigned int count, size_t len)
{
	pthread_mutex_lock(&f.lock);
	for (unsigned int i = 0; i < count; i++)
		vec_push(&f.made, ((struct made){ len, (uint8_t)f.made.len }));
	pthread_mutex_unlock(&f.lock);
}

/* What the kernel does for a record that is to be looked at. */
static void wake(void)
{
	const uint64_t one = 1;

	assert_int_equal(write(f.epoll_fd, &one, sizeof(one)), sizeof(one));
}

static size_t consumed(void)
{
	size_t n;

	pthread_mutex_lock(&f.lock);
	n = f.consumed;
	pthread_mutex_unlock(&f.lock);
	return n;
}

static bool has_news(int timeout_ms)
{
	struct pollfd news = { .fd = ring_pump_fd(f.pump), .events = POLLIN };

	return poll(&news, 1, timeout_ms) == 1;
}

static void see(const void *record, size_t len, void *data)
{
	const uint8_t *bytes = record;

	assert_ptr_equal(data, &f);
	assert_int_equal((uintptr_t)record % 8, 0);
	assert_true(len == 1 || memcmp(bytes, bytes + 1, len - 1) == 0);
	vec_push(&f.seen, ((struct made){ len, bytes[0] }));
}

static void take(void)
{
	ring_pump_take(f.pump, see, &f);
}

/* All that was made, once, whole and in its order. */
static void expect_all(void)
{
	assert_int_equal(f.seen.len, f.made.len);
	for (size_t i = 0; i < f.seen.len; i++) {
		assert_int_equal(f.seen.items[i].len, f.made.items[i].len);
		assert_int_equal(f.seen.items[i].number, f.made.items[i].number);
	}
}

static void without_a_thread(void **state)
{
	(void)state;
	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	make(2, 8);
	make(1, 13);
	make(1, 1);
	make(3, 4096);
	for (int i = 0; i < 3; i++) { /* the two queues take turns */
		take();
		expect_all();
	}
}

static void while_nobody_takes(void **state)
{
	(void)state;
	start();
	make(5, 1000);
	assert_false(has_news(0));
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(consumed(), 5);
	assert_true(f.signals_blocked);
	/* What came since is taken with it. */
	make(2, 500);
	take();
	expect_all();
	assert_false(has_news(0));
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	take();
	expect_all();
}

/* A wake-up for records that were taken meanwhile is no news. */
static void nothing_there(void **state)
{
	int before;

	(void)state;
	start();
	before = f.consumes;
	wake();
	for (int i = 0; i < SOON_MS && f.consumes == before; i++)
		usleep(1000);
	assert_true(f.consumes > before);
	assert_false(has_news(50));
}

/* The rest waits in the rings, and is there when it is asked for. */
static void no_more_than_has_room(void **state)
{
	const unsigned int fit = RING_PUMP_BYTES / MIB;

	(void)state;
	start();
	make(3 * fit, MIB);
	wake();
	assert_true(has_news(SOON_MS));
	wake();
	usleep(50000);
	assert_in_range(consumed(), fit - 1, fit);
	take();
	expect_all();
	/* It goes on as before. */
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	take();
	expect_all();
}

static void a_record_that_is_larger(void **state)
{
	(void)state;
	start();
	make(1, LONGEST);
	make(2, 24);
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(consumed(), 1);
	take();
	expect_all();
}

/* Before anything was taken: the thread waits for room, and is not waited for. */
static void ends_while_it_waits(void **state)
{
	(void)state;
	start();
	make(20, MIB);
	wake();
	assert_true(has_news(SOON_MS));
	wake();
	usleep(20000);
}

static void as_urgent_as_who_starts_it(void **state)
{
	(void)state;
	f.policy = POLICY;
	f.nice = -3;
	start();
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(f.policy_set, SCHED_RR);
	assert_int_equal(f.priority_set, PRIORITY);
	assert_int_equal(f.nice_set, 0);
}

static void as_nice_as_who_starts_it(void **state)
{
	(void)state;
	f.nice = -10;
	start();
	make(1, 8);
	wake();
	assert_true(has_news(SOON_MS));
	assert_int_equal(f.policy_set, 0);
	assert_int_equal(f.nice_set, -10);
}

static void rings_that_cannot_be_had(void **state)
{
	(void)state;
	f.no_rings = true;
	assert_int_equal(ring_pump_add(f.pump, 3), -ENOMEM);
	take();
	f.no_rings = false;
	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	assert_int_equal(f.added, 0);
	assert_int_equal(ring_pump_add(f.pump, 4), 0);
	assert_int_equal(ring_pump_add(f.pump, 77), -E2BIG);
	assert_int_equal(f.added, 2);
}

static int read_byte(void *data, struct err *err)
{
	char byte = 0;

	assert_int_equal(f.consumes, 0);
	assert_int_equal(read(*(int *)data, &byte, 1), 1);
	return byte == 'x' ? err_set(err, -EPERM, "not that") : 0;
}

/* Its caller goes on meanwhile, and is told how it went. */
static void something_first(void **state)
{
	struct err err = { 0 };
	int ends[2];

	for (const char *byte = "ax"; *byte; byte++) {
		assert_int_equal(pipe(ends), 0);
		assert_int_equal(ring_pump_add(f.pump, 3), 0);
		assert_int_equal(start_with(read_byte, ends), 0);
		wake();
		assert_int_equal(write(ends[1], byte, 1), 1);
		assert_int_equal(ring_pump_wait(f.pump, &err), *byte == 'x' ? -EPERM : 0);
		assert_string_equal(err.text, *byte == 'x' ? "not that" : "");
		close(ends[0]);
		close(ends[1]);
		assert_int_equal(teardown(state) + setup(state), 0);
	}
}

static void no_descriptor_left(void **state)
{
	struct rlimit old, none;

	(void)state;
	assert_int_equal(ring_pump_add(f.pump, 3), 0);
	getrlimit(RLIMIT_NOFILE, &old);
	for (unsigned int room = 0; room < 2; room++) {
		int next = dup(0);

		close(next);
		none = (struct rlimit){ (rlim_t)next + room, old.rlim_max };
		setrlimit(RLIMIT_NOFILE, &none);
		assert_int_equal(start_with(nothing_first, NULL), -EMFILE);
		setrlimit(RLIMIT_NOFILE, &old);
		ring_pump_free(f.pump);
		assert_false(f.is_open);
		f.pump = ring_pump_new();
		assert_int_equal(ring_pump_add(f.pump, 3), 0);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_thread),
		TEST(while_nobody_takes),
		TEST(nothing_there),
		TEST(no_more_than_has_room),
		TEST(a_record_that_is_larger),
		TEST(ends_while_it_waits),
		TEST(as_urgent_as_who_starts_it),
		TEST(as_nice_as_who_starts_it),
		TEST(rings_that_cannot_be_had),
		TEST(something_first),
		TEST(no_descriptor_left),
	};

	return cmocka_run_group_tests_name("ring_pump", tests, NULL, NULL);
}
