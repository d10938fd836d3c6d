// SPDX-License-Identifier: Apache-2.0
/* The ring of side-band records, which the test writes as the kernel does. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/macros.h"
#include "capture/sideband.h"

#define PAGE 4096UL

static struct {
	struct perf_event_attr attr;
	int cpu;
	int fd; /* what is mapped */
	unsigned int enabled;
	uint32_t pids[64];
	uint64_t times[64];
	unsigned int events;
} seen;

long syscall(long number, ...)
{
	va_list ap;

	assert_int_equal(number, SYS_perf_event_open);
	va_start(ap, number);
	seen.attr = *va_arg(ap, const struct perf_event_attr *);
	assert_int_equal(va_arg(ap, int), -1); /* every process */
	seen.cpu = va_arg(ap, int);
	va_end(ap);
	if (seen.cpu == 9) {
		errno = ENODEV;
		return -1;
	}
	return dup(seen.fd);
}

int ioctl(int fd, unsigned long request, ...)
{
	(void)fd;
	seen.enabled += request == PERF_EVENT_IOC_ENABLE;
	return 0;
}

/* What the kernel has of the same pages. */
struct ring {
	struct sideband *sideband;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t bytes; /* with the first page */
	uint64_t head;
};

static int setup(void **state)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	struct err err;

	*state = ring;
	memset(&seen, 0, sizeof(seen));
	seen.fd = memfd_create("ring", MFD_CLOEXEC);
	if (ftruncate(seen.fd, 1 << 20) < 0 || sideband_open(3, &ring->sideband, &err) < 0)
		return -1;
	ring->bytes = sideband_bytes(ring->sideband);
	ring->page = mmap(NULL, ring->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, seen.fd, 0);
	ring->data = (uint8_t *)ring->page + PAGE;
	ring->page->data_offset = PAGE;
	ring->page->data_size = ring->bytes - PAGE;
	return 0;
}

static int teardown(void **state)
{
	struct ring *ring = *state;

	sideband_free(ring->sideband);
	munmap(ring->page, ring->bytes);
	close(seen.fd);
	free(ring);
	return 0;
}

static void put(struct ring *ring, const void *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		ring->data[ring->head++ % ring->page->data_size] = ((const uint8_t *)data)[i];
}

static void publish(struct ring *ring)
{
	__atomic_store_n(&ring->page->data_head, ring->head, __ATOMIC_RELEASE);
}

struct exit_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	uint32_t id_pid, id_tid;
	uint64_t id_time;
};

static void put_exit(struct ring *ring, uint32_t pid, uint64_t time)
{
	const struct exit_record record = {
		.header = { .type = PERF_RECORD_EXIT, .size = sizeof(record) },
		.pid = pid,
		.tid = pid,
		.id_time = time,
	};

	put(ring, &record, sizeof(record));
}

static void put_lost(struct ring *ring, uint64_t lost)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
		uint32_t id_pid, id_tid;
		uint64_t id_time;
	} record = { { .type = PERF_RECORD_LOST, .size = sizeof(record) }, 0, lost, 0, 0, 0 };

	put(ring, &record, sizeof(record));
}

static void see(const struct side_event *event, void *data)
{
	(void)data;
	seen.pids[seen.events] = event->pid;
	seen.times[seen.events++] = event->time_ns;
}

static uint64_t drain(struct ring *ring)
{
	seen.events = 0;
	publish(ring);
	return sideband_drain(ring->sideband, see, NULL);
}

/* --- */

static void what_is_asked_for(void **state)
{
	struct sideband *other;
	struct err err;

	(void)state;
	assert_int_equal(seen.cpu, 3);
	assert_int_equal(seen.enabled, 1);
	assert_int_equal(seen.attr.type, PERF_TYPE_SOFTWARE);
	assert_int_equal(seen.attr.config, PERF_COUNT_SW_DUMMY);
	assert_true(seen.attr.mmap && seen.attr.mmap2 && !seen.attr.mmap_data);
	assert_true(seen.attr.comm && seen.attr.comm_exec && seen.attr.task);
	assert_true(seen.attr.sample_id_all && seen.attr.use_clockid);
	assert_int_equal(seen.attr.clockid, CLOCK_MONOTONIC);
	assert_int_equal(seen.attr.sample_type, PERF_SAMPLE_TID | PERF_SAMPLE_TIME);
	assert_true(seen.attr.watermark);
	assert_int_equal(seen.attr.wakeup_watermark, 1); /* a file may be gone in a moment */
	assert_int_equal(sideband_open(9, &other, &err), -ENODEV);
}

static void in_order_and_once(void **state)
{
	struct ring *ring = *state;

	assert_int_equal(drain(ring), 0);
	assert_int_equal(seen.events, 0);
	for (uint32_t pid = 10; pid < 13; pid++)
		put_exit(ring, pid, 1000 + pid);
	assert_int_equal(drain(ring), 0);
	assert_int_equal(seen.events, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(seen.pids[i], 10 + i);
		assert_int_equal(seen.times[i], 1010 + i);
	}
	/* The kernel may write there again. */
	assert_int_equal(ring->page->data_tail, ring->head);
	assert_int_equal(drain(ring), 0);
	assert_int_equal(seen.events, 0);
}

/* A record may be cut in two at each of its words. */
static void around_the_end(void **state)
{
	struct ring *ring = *state;
	const struct perf_event_header filler = { .type = PERF_RECORD_THROTTLE,
						  .size = sizeof(filler) };
	uint32_t pid = 1;

	for (unsigned int lap = 1; lap <= sizeof(struct exit_record) / 8; lap++, pid += 3) {
		while (ring->head + 8 * lap < lap * ring->page->data_size) {
			put(ring, &filler, sizeof(filler));
			if (ring->head % 4096 == 0)
				drain(ring);
		}
		drain(ring);
		for (uint32_t i = 0; i < 3; i++)
			put_exit(ring, pid + i, 1000 * pid + i);
		drain(ring);
		assert_int_equal(seen.events, 3);
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(seen.pids[i], pid + i);
			assert_int_equal(seen.times[i], 1000 * pid + i);
		}
	}
}

static void losses_are_summed_and_handed_on(void **state)
{
	struct ring *ring = *state;

	put_exit(ring, 1, 1);
	put_lost(ring, 7);
	put_exit(ring, 2, 1);
	put_lost(ring, 5);
	assert_int_equal(drain(ring), 12);
	assert_int_equal(seen.events, 4);
}

static void nonsense_ends(void **state)
{
	struct ring *ring = *state;
	const struct perf_event_header small = { .type = PERF_RECORD_EXIT, .size = 4 };
	const struct perf_event_header large = { .type = PERF_RECORD_EXIT, .size = 4000 };

	put_exit(ring, 1, 1);
	put(ring, &small, sizeof(small));
	put_exit(ring, 2, 1);
	drain(ring);
	assert_int_equal(seen.events, 1);
	assert_int_equal(ring->page->data_tail, ring->head);
	put(ring, &large, sizeof(large));
	drain(ring);
	assert_int_equal(seen.events, 0);
	put_exit(ring, 3, 1);
	drain(ring);
	assert_int_equal(seen.events, 1);
	assert_int_equal(seen.pids[0], 3);
}

/* With standard input closed the event may have descriptor 0. */
static void descriptor_zero(void **state)
{
	int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	struct sideband *sideband;
	struct err err;

	(void)state;
	close(STDIN_FILENO);
	errno = EIO; /* of another call: this one succeeds */
	assert_int_equal(sideband_open(4, &sideband, &err), 0);
	assert_int_equal(sideband_fd(sideband), 0);
	sideband_free(sideband);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

/* A header without anything behind it says nothing; what comes next does. */
static void a_header_alone(void **state)
{
	const struct perf_event_header header = { .type = PERF_RECORD_EXIT,
						  .size = sizeof(header) };
	struct ring *ring = *state;

	put(ring, &header, sizeof(header));
	put_exit(ring, 7, 70);
	publish(ring);
	assert_int_equal(sideband_drain(ring->sideband, see, NULL), 0);
	assert_int_equal(seen.events, 1);
	assert_int_equal(seen.pids[0], 7);
}

/* --- while nobody drains --- */

#define RECORDS(bytes) ((bytes) / sizeof(struct exit_record))

static void put_exits(struct ring *ring, uint32_t from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		put_exit(ring, from + (uint32_t)i, 1);
	publish(ring);
}

static uint32_t next_pid;
static size_t drained;

static void count_in_order(const struct side_event *event, void *data)
{
	(void)data;
	assert_int_equal(event->pid, next_pid++);
	drained++;
}

static void a_ring_with_room_is_left(void **state)
{
	struct ring *ring = *state;
	size_t size = ring->page->data_size;

	put_exits(ring, 0, RECORDS(size / 4) - 1);
	assert_int_equal(sideband_relieve(ring->sideband, SIZE_MAX), ring->head);
	assert_int_equal(ring->page->data_tail, 0);
	put_exits(ring, 7, 2);
	assert_int_equal(sideband_relieve(ring->sideband, SIZE_MAX), ring->head);
	assert_int_equal(ring->page->data_tail, ring->head);
}

/* More than a ring holds, around its end, and what comes after that: all of it, once, in order. */
static void what_was_relieved_comes_first(void **state)
{
	struct ring *ring = *state;
	size_t each = RECORDS(ring->page->data_size / 2), count = 0;

	next_pid = 0;
	drained = 0;
	for (int lap = 0; lap < 5; lap++, count += each) {
		put_exits(ring, (uint32_t)count, each);
		assert_int_equal(sideband_relieve(ring->sideband, SIZE_MAX), ring->head);
	}
	put_exits(ring, (uint32_t)count, 3);
	assert_int_equal(sideband_drain(ring->sideband, count_in_order, NULL), 0);
	assert_int_equal(drained, count + 3);
	assert_int_equal(ring->page->data_tail, ring->head);
	put_exits(ring, (uint32_t)count + 3, 2);
	assert_int_equal(sideband_drain(ring->sideband, count_in_order, NULL), 0);
	assert_int_equal(drained, count + 5);
}

static void no_more_is_held_than_has_room(void **state)
{
	struct ring *ring = *state;
	size_t half = RECORDS(ring->page->data_size / 2), bytes = half * sizeof(struct exit_record);

	put_exits(ring, 0, half);
	assert_int_equal(sideband_relieve(ring->sideband, bytes - 1), bytes);
	assert_int_equal(ring->page->data_tail, 0);
	assert_int_equal(sideband_relieve(ring->sideband, bytes), bytes);
	put_exits(ring, (uint32_t)half, half);
	assert_int_equal(sideband_relieve(ring->sideband, 2 * bytes - 1), 2 * bytes);
	assert_int_equal(ring->page->data_tail, bytes);
	next_pid = 0;
	drained = 0;
	sideband_drain(ring->sideband, count_in_order, NULL);
	assert_int_equal(drained, 2 * half);
}

/* Who is told of a record may take long: the kernel writes on meanwhile. */
static void see_that_it_is_free(const struct side_event *event, void *data)
{
	struct ring *ring = data;

	(void)event;
	assert_int_equal(ring->page->data_tail, ring->head);
	drained++;
}

static void the_ring_is_free_before_it_is_told(void **state)
{
	struct ring *ring = *state;

	drained = 0;
	put_exits(ring, 0, 2);
	sideband_drain(ring->sideband, see_that_it_is_free, ring);
	assert_int_equal(drained, 2);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(descriptor_zero),
		TEST(a_header_alone),
		TEST(what_is_asked_for),
		TEST(in_order_and_once),
		TEST(around_the_end),
		TEST(losses_are_summed_and_handed_on),
		TEST(nonsense_ends),
		TEST(a_ring_with_room_is_left),
		TEST(what_was_relieved_comes_first),
		TEST(no_more_is_held_than_has_room),
		TEST(the_ring_is_free_before_it_is_told),
	};

	return cmocka_run_group_tests_name("sideband_ring", tests, NULL, NULL);
}
