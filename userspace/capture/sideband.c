// SPDX-License-Identifier: Apache-2.0
#include "capture/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"

/*
 * A mapping's record is 100 to 200 bytes, an exec makes about ten: room for a hundred execs while
 * the reader sleeps.
 */
#define SIDEBAND_BYTES (128UL * 1024)
/* A ring with less than this part in it has room for what may come until it is looked at again. */
#define RELIEVED_PART 4

/* Records, one behind the other as the ring had them. */
struct side_bytes {
	uint8_t *data; /* owned */
	size_t len, room;
};

struct sideband {
	int fd;
	void *map; /* struct perf_event_mmap_page, then the ring */
	size_t map_bytes;
	pthread_mutex_t lock;	 /* of the ring's tail and what is held */
	struct side_bytes held;	 /* out of the ring, for the one who drains */
	struct side_bytes given; /* of that one */
};

static int sideband_event_open(unsigned int cpu)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.disabled = 1,
		.mmap = 1, /* executable mappings; mmap_data would add the others */
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

int sideband_open(unsigned int cpu, struct sideband **ret_sideband, struct err *err)
{
	_cleanup_(sideband_freep) struct sideband *s = xcalloc(1, sizeof(*s));

	pthread_mutex_init(&s->lock, NULL);
	s->fd = sideband_event_open(cpu);
	if (s->fd < 0)
		return err_sys(err, s->fd, "cannot open the side-band event on cpu %u", cpu);
	s->map_bytes = (size_t)sysconf(_SC_PAGESIZE) + SIDEBAND_BYTES;
	s->map = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return err_sys(err, -errno, "cannot map the side-band ring of cpu %u", cpu);
	}
	if (ioctl(s->fd, PERF_EVENT_IOC_ENABLE, 0) < 0)
		return err_sys(err, -errno, "cannot enable the side-band event on cpu %u", cpu);
	*ret_sideband = TAKE_PTR(s);
	return 0;
}

void sideband_free(struct sideband *s)
{
	if (!s)
		return;
	if (s->map)
		munmap(s->map, s->map_bytes);
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s->held.data);
	free(s->given.data);
	free(s);
}

int sideband_fd(const struct sideband *s)
{
	return s->fd;
}

size_t sideband_bytes(const struct sideband *s)
{
	return s->map_bytes;
}

int sideband_enabled_ns(const struct sideband *s, uint64_t *ret_ns)
{
	uint64_t values[2]; /* the count, time enabled */
	ssize_t n = read(s->fd, values, sizeof(values));

	if (n != (ssize_t)sizeof(values))
		return n < 0 ? -errno : -ENODATA;
	*ret_ns = values[1];
	return 0;
}

/* How much the kernel has written that nobody has taken out. */
static size_t sideband_waiting(const struct sideband *s)
{
	const struct perf_event_mmap_page *page = s->map;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	return MIN(head - page->data_tail, page->data_size);
}

/* All that is in the ring goes behind what is held; with the lock held. */
static void sideband_take(struct sideband *s)
{
	struct perf_event_mmap_page *page = s->map;
	const uint8_t *ring = (const uint8_t *)s->map + page->data_offset;
	struct side_bytes *held = &s->held;
	size_t len = sideband_waiting(s), from = page->data_tail % page->data_size;
	size_t first = MIN(len, page->data_size - from);

	if (!len)
		return;
	held->data = vec_grow(held->data, &held->room, held->len + len, 1);
	memcpy(held->data + held->len, ring + from, first);
	memcpy(held->data + held->len + first, ring, len - first);
	held->len += len;
	__atomic_store_n(&page->data_tail, page->data_tail + len, __ATOMIC_RELEASE);
}

size_t sideband_relieve(struct sideband *s, size_t room)
{
	size_t waiting, left;

	pthread_mutex_lock(&s->lock);
	waiting = sideband_waiting(s);
	left = s->held.len + waiting;
	if (waiting >= SIDEBAND_BYTES / RELIEVED_PART && left <= room)
		sideband_take(s);
	pthread_mutex_unlock(&s->lock);
	return left;
}

/* Hand out the records of BYTES. Returns those that the kernel had to drop. */
static uint64_t sideband_deliver(const struct side_bytes *bytes,
				 void (*fn)(const struct side_event *event, void *data), void *data)
{
	uint64_t lost = 0;
	size_t at = 0;

	while (bytes->len - at >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct side_event event;

		memcpy(&header, bytes->data + at, sizeof(header));
		/* The kernel does not write such; going on would read nonsense for ever. */
		if (header.size < sizeof(header) || header.size > bytes->len - at)
			break;
		if (sideband_decode(bytes->data + at, header.size, &event) == 0) {
			lost += event.lost;
			fn(&event, data);
		}
		at += header.size;
	}
	return lost;
}

/* What had to be larger than a ring is not kept. */
static void side_bytes_clear(struct side_bytes *bytes)
{
	bytes->len = 0;
	if (bytes->room <= SIDEBAND_BYTES)
		return;
	free(bytes->data);
	*bytes = (struct side_bytes){ 0 };
}

uint64_t sideband_drain(struct sideband *s, void (*fn)(const struct side_event *event, void *data),
			void *data)
{
	struct side_bytes empty = s->given;
	uint64_t lost;

	pthread_mutex_lock(&s->lock);
	sideband_take(s);
	s->given = s->held;
	s->held = empty;
	pthread_mutex_unlock(&s->lock);
	lost = sideband_deliver(&s->given, fn, data);
	side_bytes_clear(&s->given);
	return lost;
}
