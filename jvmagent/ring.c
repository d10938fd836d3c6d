/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent.h"

/* linux/memfd.h and linux/fcntl.h; older build hosts lack some of them. */
#define RING_MFD_CLOEXEC       1U
#define RING_MFD_ALLOW_SEALING 2U
#define RING_MFD_NOEXEC_SEAL   8U
#define RING_F_ADD_SEALS       1033
#define RING_SEALS	       (1 | 2 | 4) /* F_SEAL_SEAL, F_SEAL_SHRINK, F_SEAL_GROW */

#define RING_MAP_BYTES (CODEMAP_HEADER_BYTES + CODEMAP_RING_BYTES)

/* glibc 2.17 has no memfd_create(). Kernels before 6.3 do not know NOEXEC_SEAL. */
static int make_memfd(void)
{
	unsigned int flags = RING_MFD_CLOEXEC | RING_MFD_ALLOW_SEALING;
	long fd;

	fd = syscall(SYS_memfd_create, CODEMAP_MEMFD_NAME, flags | RING_MFD_NOEXEC_SEAL);
	if (fd < 0)
		fd = syscall(SYS_memfd_create, CODEMAP_MEMFD_NAME, flags);
	return (int)fd;
}

static void fill_header(struct codemap_header *h)
{
	h->version = CODEMAP_VERSION;
	h->header_bytes = CODEMAP_HEADER_BYTES;
	h->ring_bytes = CODEMAP_RING_BYTES;
	h->ns_pid = (uint32_t)getpid();
	h->created_ns = agent_now_ns();
	__atomic_store_n(&h->magic, CODEMAP_MAGIC, __ATOMIC_RELEASE);
}

int ring_open(struct ring *ring)
{
	void *map;

	memset(ring, 0, sizeof(*ring));
	pthread_mutex_init(&ring->lock, NULL);
	ring->fd = make_memfd();
	if (ring->fd < 0)
		return -1;
	if (ftruncate(ring->fd, RING_MAP_BYTES) || fallocate(ring->fd, 0, 0, CODEMAP_HEADER_BYTES))
		goto out_close;
	map = mmap(NULL, RING_MAP_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
	if (map == MAP_FAILED)
		goto out_close;
	/* A child that forks without exec must not publish into its parent's map. */
	madvise(map, RING_MAP_BYTES, MADV_DONTFORK);
	syscall(SYS_fcntl, ring->fd, RING_F_ADD_SEALS, RING_SEALS);
	ring->header = map;
	ring->data = (uint8_t *)map + CODEMAP_HEADER_BYTES;
	fill_header(ring->header);
	return 0;

out_close:
	close(ring->fd);
	ring->fd = -1;
	return -1;
}

bool ring_allocate(const struct ring *ring)
{
	return !fallocate(ring->fd, 0, 0, RING_MAP_BYTES);
}

void ring_close(struct ring *ring)
{
	if (!ring->header)
		return;
	__atomic_store_n(&ring->header->events_on, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&ring->header->closed_ns, agent_now_ns(), __ATOMIC_RELEASE);
	munmap(ring->header, RING_MAP_BYTES);
	close(ring->fd);
	ring->header = NULL;
	ring->data = NULL;
	ring->fd = -1;
}

static uint64_t ring_room(const struct ring *ring)
{
	uint64_t tail = __atomic_load_n(&ring->header->tail, __ATOMIC_ACQUIRE);
	uint64_t used = ring->head - tail;

	return used > CODEMAP_RING_BYTES ? 0 : CODEMAP_RING_BYTES - used;
}

/* Bytes from the head to the end of the ring that a record of SIZE cannot use. */
static uint32_t ring_padding(const struct ring *ring, uint32_t size)
{
	uint32_t left = CODEMAP_RING_BYTES - (uint32_t)(ring->head % CODEMAP_RING_BYTES);

	return left < size ? left : 0;
}

static struct codemap_record *record_at_head(struct ring *ring, uint16_t kind, uint32_t size,
					     uint64_t time_ns)
{
	struct codemap_record *record;

	record = (void *)(ring->data + ring->head % CODEMAP_RING_BYTES);
	record->size = size;
	record->kind = kind;
	record->flags = 0;
	record->time_ns = time_ns;
	return record;
}

static void advance(struct ring *ring, uint32_t size)
{
	ring->head += size;
	__atomic_store_n(&ring->header->head, ring->head, __ATOMIC_RELEASE);
}

static void pad(struct ring *ring, uint32_t padding)
{
	if (!padding)
		return;
	/* Less than a record header at the end is skipped by the reader without a record. */
	if (padding >= sizeof(struct codemap_record))
		record_at_head(ring, CODEMAP_PAD, padding, 0);
	advance(ring, padding);
}

static struct codemap_record *reserve_locked(struct ring *ring, uint16_t kind, uint32_t size,
					     uint64_t time_ns, uint32_t spare)
{
	uint32_t padding = ring_padding(ring, size);

	if (ring_room(ring) < (uint64_t)padding + size + spare)
		return NULL;
	pad(ring, padding);
	return record_at_head(ring, kind, size, time_ns);
}

static void commit_locked(struct ring *ring, uint32_t size)
{
	advance(ring, size);
	ring->records++;
	__atomic_store_n(&ring->header->records, ring->records, __ATOMIC_RELAXED);
}

static bool announce_locked(struct ring *ring)
{
	struct codemap_gap *gap;

	if (!ring->gap_dropped)
		return true;
	gap = (void *)reserve_locked(ring, CODEMAP_GAP, sizeof(*gap), ring->gap_ns, 0);
	if (!gap)
		return false;
	gap->dropped = ring->gap_dropped;
	commit_locked(ring, sizeof(*gap));
	ring->gap_dropped = 0;
	return true;
}

struct codemap_record *ring_reserve(struct ring *ring, uint16_t kind, uint32_t size,
				    uint64_t time_ns, uint32_t spare)
{
	struct codemap_record *record = NULL;

	size = (size + 7) & ~7U;
	pthread_mutex_lock(&ring->lock);
	if (announce_locked(ring))
		record = reserve_locked(ring, kind, size, time_ns, spare);
	if (!record)
		pthread_mutex_unlock(&ring->lock);
	return record;
}

void ring_commit(struct ring *ring, const struct codemap_record *record)
{
	commit_locked(ring, record->size);
	pthread_mutex_unlock(&ring->lock);
}

void ring_drop(struct ring *ring, uint64_t time_ns)
{
	pthread_mutex_lock(&ring->lock);
	if (!ring->gap_dropped++)
		ring->gap_ns = time_ns;
	__atomic_fetch_add(&ring->header->dropped, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&ring->lock);
}

void ring_announce_gap(struct ring *ring)
{
	pthread_mutex_lock(&ring->lock);
	announce_locked(ring);
	pthread_mutex_unlock(&ring->lock);
}

bool ring_has_consumer(const struct ring *ring, uint64_t now_ns)
{
	uint64_t until = __atomic_load_n(&ring->header->lease_until_ns, __ATOMIC_ACQUIRE);

	/* A lease far in the future is a broken consumer's and must not keep events on. */
	return until > now_ns && until - now_ns <= 2 * CODEMAP_LEASE_NS;
}
