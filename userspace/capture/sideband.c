// SPDX-License-Identifier: Apache-2.0
#include "capture/sideband.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"

/*
 * A mapping's record is 100 to 200 bytes, an exec makes about ten: room for a hundred execs while
 * the reader sleeps.
 */
#define SIDEBAND_BYTES (128UL * 1024)

struct sideband {
	int fd;
	void *map; /* struct perf_event_mmap_page, then the ring */
	size_t map_bytes;
	uint8_t *linear; /* a record that wraps around is put together here */
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

	s->fd = sideband_event_open(cpu);
	if (s->fd < 0)
		return err_sys(err, s->fd, "cannot open the side-band event on cpu %u", cpu);
	s->map_bytes = (size_t)sysconf(_SC_PAGESIZE) + SIDEBAND_BYTES;
	s->map = mmap(NULL, s->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	if (s->map == MAP_FAILED) {
		s->map = NULL;
		return err_sys(err, -errno, "cannot map the side-band ring of cpu %u", cpu);
	}
	s->linear = xmalloc(UINT16_MAX); /* the most that a header's size can say */
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
	free(s->linear);
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

/* LEN bytes at the ever-growing position AT; copied when they wrap around. */
static const void *sideband_bytes_at(struct sideband *s, uint64_t at, size_t len)
{
	const struct perf_event_mmap_page *page = s->map;
	const uint8_t *ring = (const uint8_t *)s->map + page->data_offset;
	size_t size = page->data_size, from = at % size, first = MIN(len, size - from);

	if (first == len)
		return ring + from;
	memcpy(s->linear, ring + from, first);
	memcpy(s->linear + first, ring, len - first);
	return s->linear;
}

uint64_t sideband_drain(struct sideband *s, void (*fn)(const struct side_event *event, void *data),
			void *data)
{
	struct perf_event_mmap_page *page = s->map;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = page->data_tail, lost = 0;

	while (head - tail >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		struct side_event event;

		memcpy(&header, sideband_bytes_at(s, tail, sizeof(header)), sizeof(header));
		/* The kernel does not write such; going on would read nonsense for ever. */
		if (header.size < sizeof(header) || header.size > head - tail) {
			tail = head;
			break;
		}
		if (sideband_decode(sideband_bytes_at(s, tail, header.size), header.size, &event) ==
		    0) {
			lost += event.lost;
			fn(&event, data);
		}
		tail += header.size;
	}
	__atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
	return lost;
}
