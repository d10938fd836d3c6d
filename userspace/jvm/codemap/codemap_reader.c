/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/codemap/codemap_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "base/file.h"
#include "jvm/codemap/codemap_find.h"
#include "jvm/codemap/codemap_room.h"

/* A ring that an agent of another version may choose. */
#define READER_MIN_RING (64U << 10)
#define READER_MAX_RING (64U << 20)

/* The size cannot change under our mapping: that would be a SIGBUS. */
static int check_memfd(int fd, uint64_t *ret_size, struct err *err)
{
	struct stat st;
	int seals;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, -EBADMSG, "code map is not a memory file");
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || !(seals & F_SEAL_SHRINK))
		return err_set(err, -EBADMSG, "code map is not sealed");
	if (st.st_size < CODEMAP_HEADER_BYTES)
		return err_set(err, -EBADMSG, "code map has only %lld bytes",
			       (long long)st.st_size);
	*ret_size = (uint64_t)st.st_size;
	return 0;
}

static int check_header(const struct codemap_header *h, uint64_t size, uint32_t *ret_header_bytes,
			uint32_t *ret_ring_bytes, struct err *err)
{
	uint32_t header_bytes = __atomic_load_n(&h->header_bytes, __ATOMIC_RELAXED);
	uint32_t ring_bytes = __atomic_load_n(&h->ring_bytes, __ATOMIC_RELAXED);

	if (__atomic_load_n(&h->magic, __ATOMIC_ACQUIRE) != CODEMAP_MAGIC)
		return err_set(err, -EBADMSG, "code map has a wrong magic number");
	if (h->version != CODEMAP_VERSION)
		return err_set(err, -EOPNOTSUPP, "code map has version %u, this hostprof knows %u",
			       h->version, CODEMAP_VERSION);
	if (header_bytes < CODEMAP_HEADER_BYTES || header_bytes % 8 ||
	    ring_bytes < READER_MIN_RING || ring_bytes > READER_MAX_RING ||
	    (ring_bytes & (ring_bytes - 1)) || (uint64_t)header_bytes + ring_bytes > size)
		return err_set(err, -EBADMSG, "code map has wrong sizes");
	*ret_header_bytes = header_bytes;
	*ret_ring_bytes = ring_bytes;
	return 0;
}

int codemap_reader_open_fd(int fd, struct codemap_reader *ret_reader, struct err *err)
{
	struct codemap_reader r = CODEMAP_READER_INIT;
	uint64_t size = 0;
	void *map;
	int ret = check_memfd(fd, &size, err);

	if (ret)
		return ret;
	map = mmap(NULL, CODEMAP_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, -errno, "cannot map the code map");
	ret = check_header(map, size, &r.header_bytes, &r.ring_bytes, err);
	if (ret) {
		munmap(map, CODEMAP_HEADER_BYTES);
		return ret;
	}
	r.fd = fd;
	r.header = map;
	*ret_reader = r;
	return 0;
}

int codemap_reader_open(uint32_t pid, struct codemap_reader *ret_reader, struct err *err)
{
	_cleanup_close_ int fd = codemap_find_fd(pid, err);
	int ret;

	if (fd < 0)
		return fd;
	ret = codemap_check_room_fd(pid, fd, err);
	if (!ret)
		ret = codemap_reader_open_fd(fd, ret_reader, err);
	if (ret)
		return ret;
	TAKE_FD(fd);
	ret_reader->clock_offset_ns = codemap_clock_offset_ns(pid);
	return 0;
}

void codemap_reader_close(struct codemap_reader *r)
{
	if (r->header)
		munmap(r->header, CODEMAP_HEADER_BYTES);
	if (r->fd >= 0)
		close(r->fd);
	r->header = NULL;
	r->fd = -1;
	r->leased = false;
}

static uint64_t jvm_clock(const struct codemap_reader *r, uint64_t ns)
{
	return ns + (uint64_t)r->clock_offset_ns;
}

static bool lease_is_held(const struct codemap_reader *r, uint64_t until, uint64_t now_ns)
{
	uint64_t now = jvm_clock(r, now_ns);

	/* As the agent has it: a lease far in the future is none. */
	return until > now && until - now <= 2 * CODEMAP_LEASE_NS;
}

int codemap_reader_take_lease(struct codemap_reader *r, uint64_t now_ns, struct err *err)
{
	struct codemap_header *h = r->header;
	uint64_t until = __atomic_load_n(&h->lease_until_ns, __ATOMIC_ACQUIRE);
	uint32_t holder = __atomic_load_n(&h->lease_pid, __ATOMIC_RELAXED);

	if (lease_is_held(r, until, now_ns) && holder != (uint32_t)getpid())
		return err_set(err, -EBUSY, "hostprof with pid %u reads this JVM's code map",
			       holder);
	if (!__atomic_compare_exchange_n(&h->lease_until_ns, &until,
					 jvm_clock(r, now_ns) + CODEMAP_LEASE_NS, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return err_set(err, -EBUSY, "another hostprof reads this JVM's code map");
	__atomic_store_n(&h->lease_pid, (uint32_t)getpid(), __ATOMIC_RELAXED);
	r->tail = __atomic_load_n(&h->head, __ATOMIC_ACQUIRE);
	__atomic_store_n(&h->tail, r->tail, __ATOMIC_RELEASE);
	r->leased = true;
	return 0;
}

static bool lease_is_ours(const struct codemap_reader *r)
{
	return r->leased &&
	       __atomic_load_n(&r->header->lease_pid, __ATOMIC_ACQUIRE) == (uint32_t)getpid();
}

bool codemap_reader_renew_lease(struct codemap_reader *r, uint64_t now_ns)
{
	r->leased = lease_is_ours(r);
	if (r->leased)
		__atomic_store_n(&r->header->lease_until_ns,
				 jvm_clock(r, now_ns) + CODEMAP_LEASE_NS, __ATOMIC_RELEASE);
	return r->leased;
}

void codemap_reader_set_interval(struct codemap_reader *r, uint32_t interval)
{
	__atomic_store_n(&r->header->alloc_wanted, interval, __ATOMIC_RELAXED);
}

void codemap_reader_set_lock_least(struct codemap_reader *r, uint64_t least_ns)
{
	__atomic_store_n(&r->header->lock_least_ns, least_ns, __ATOMIC_RELAXED);
}

bool codemap_reader_tells_locks(const struct codemap_reader *r)
{
	return __atomic_load_n(&r->header->events_on, __ATOMIC_ACQUIRE) & CODEMAP_WANT_LOCKS;
}

bool codemap_reader_samples(const struct codemap_reader *r)
{
	return __atomic_load_n(&r->header->events_on, __ATOMIC_ACQUIRE) & CODEMAP_WANT_ALLOC;
}

bool codemap_reader_is_done(const struct codemap_reader *r)
{
	return __atomic_load_n(&r->header->done_seq, __ATOMIC_ACQUIRE) == r->seq;
}

void codemap_reader_command(struct codemap_reader *r, uint32_t command, uint32_t want)
{
	struct codemap_header *h = r->header;

	__atomic_store_n(&h->command, command, __ATOMIC_RELAXED);
	__atomic_store_n(&h->want, want, __ATOMIC_RELAXED);
	r->seq = __atomic_add_fetch(&h->command_seq, 1, __ATOMIC_ACQ_REL);
	syscall(SYS_futex, &h->command_seq, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

void codemap_reader_release_lease(struct codemap_reader *r)
{
	if (lease_is_ours(r)) {
		__atomic_store_n(&r->header->lease_until_ns, 0, __ATOMIC_RELEASE);
		codemap_reader_command(r, CODEMAP_COMMAND_STOP, 0);
	}
	r->leased = false;
}

bool codemap_reader_is_closed(const struct codemap_reader *r)
{
	return __atomic_load_n(&r->header->closed_ns, __ATOMIC_ACQUIRE) != 0;
}

bool codemap_reader_events_off(const struct codemap_reader *r)
{
	return codemap_reader_is_done(r) &&
	       !__atomic_load_n(&r->header->events_on, __ATOMIC_ACQUIRE);
}

struct drain {
	uint64_t until_ns;
	void (*fn)(const struct codemap_event *event, void *data);
	void *data;
	bool late;
};

/* Returns the bytes of the whole records that were handed out, or -EBADMSG. */
static ssize_t hand_out(struct codemap_reader *r, const char *data, size_t len, struct drain *d)
{
	size_t at = 0;

	while (len - at >= sizeof(struct codemap_record) && !d->late) {
		struct codemap_event event;
		ssize_t n = codemap_parse(data + at, len - at, &event);

		if (n < 0)
			return n;
		if (!n)
			break;
		event.time_ns -= (uint64_t)r->clock_offset_ns;
		if (event.kind != CODEMAP_PAD)
			d->fn(&event, d->data);
		at += (size_t)n;
		/* One record may end a million pieces of code: it is looked after each. */
		d->late = clock_now_ns() >= d->until_ns;
	}
	return (ssize_t)at;
}

/* One read of up to a buffer; *ret_used are the bytes done with. */
static int drain_piece(struct codemap_reader *r, uint64_t avail, void *buffer, uint64_t *ret_used,
		       struct drain *d)
{
	uint64_t at = r->tail % r->ring_bytes;
	uint64_t run = MIN(avail, r->ring_bytes - at);
	ssize_t used;

	if (r->ring_bytes - at < sizeof(struct codemap_record)) {
		*ret_used = r->ring_bytes - at;
		return 0;
	}
	run = MIN(run, CODEMAP_READ_BYTES);
	if (file_pread_full(r->fd, buffer, run, (off_t)(r->header_bytes + at)))
		return -EBADMSG;
	used = hand_out(r, buffer, run, d);
	/* The head moves over whole records only, and the buffer holds the largest one. */
	if (used <= 0)
		return -EBADMSG;
	*ret_used = (uint64_t)used;
	return 0;
}

int codemap_reader_drain(struct codemap_reader *r, void *buffer,
			 const struct codemap_budget *budget,
			 void (*fn)(const struct codemap_event *event, void *data), void *data)
{
	uint64_t head = __atomic_load_n(&r->header->head, __ATOMIC_ACQUIRE);
	uint64_t left = budget ? budget->bytes : UINT64_MAX;
	struct drain d = { budget ? budget->until_ns : UINT64_MAX, fn, data, false };

	if (head % 8 || head - r->tail > r->ring_bytes)
		return -EBADMSG;
	while (r->tail != head && left && !d.late) {
		uint64_t used;
		int ret = drain_piece(r, head - r->tail, buffer, &used, &d);

		if (ret || used > head - r->tail)
			return -EBADMSG;
		r->tail += used;
		left -= MIN(left, used);
		__atomic_store_n(&r->header->tail, r->tail, __ATOMIC_RELEASE);
	}
	return r->tail != head;
}
