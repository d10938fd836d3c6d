// SPDX-License-Identifier: Apache-2.0
/*
 * Layouts: include/uapi/linux/perf_event.h, enum perf_event_type. With sample_id_all and
 * PERF_SAMPLE_TID | PERF_SAMPLE_TIME every record ends with struct record_id.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>

#include "capture/sideband.h"

struct record_id {
	uint32_t pid, tid;
	uint64_t time;
};

struct record_mmap2 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags;
	/* char name[] */
};

struct record_comm {
	uint32_t pid, tid;
	/* char comm[] */
};

struct record_task {
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct record_lost {
	uint64_t id, lost;
};

/* The body of a record: what is between header and trailer. */
struct record {
	const uint8_t *body;
	size_t len;
	struct perf_event_header header;
	struct record_id id;
};

/* A copy, since records are aligned to 8 bytes only in the ring. */
static int record_get(const struct record *r, void *dst, size_t len)
{
	if (r->len < len)
		return -EBADMSG;
	memcpy(dst, r->body, len);
	return 0;
}

/* A terminated string from AT to the end of the body. */
static int record_string(const struct record *r, size_t at, const char **ret_string)
{
	if (at >= r->len || !memchr(r->body + at, 0, r->len - at))
		return -EBADMSG;
	*ret_string = (const char *)r->body + at;
	return 0;
}

static int decode_mmap2(const struct record *r, struct side_event *e)
{
	struct record_mmap2 m;

	/* With build ids asked for the file's fields mean something else; we never do. */
	if (record_get(r, &m, sizeof(m)) || (r->header.misc & PERF_RECORD_MISC_MMAP_BUILD_ID))
		return -EBADMSG;
	e->kind = SIDE_MMAP;
	e->pid = m.pid;
	e->tid = m.tid;
	e->addr = m.addr;
	e->len = m.len;
	e->pgoff = m.pgoff;
	e->major = m.major;
	e->minor = m.minor;
	e->inode = m.inode;
	e->inode_generation = m.inode_generation;
	e->prot = m.prot;
	e->flags = m.flags;
	return record_string(r, sizeof(m), &e->name);
}

static int decode_comm(const struct record *r, struct side_event *e)
{
	struct record_comm c;

	if (record_get(r, &c, sizeof(c)))
		return -EBADMSG;
	e->kind = r->header.misc & PERF_RECORD_MISC_COMM_EXEC ? SIDE_EXEC : SIDE_COMM;
	e->pid = c.pid;
	e->tid = c.tid;
	return record_string(r, sizeof(c), &e->name);
}

static int decode_task(const struct record *r, struct side_event *e)
{
	struct record_task t;

	if (record_get(r, &t, sizeof(t)))
		return -EBADMSG;
	e->kind = r->header.type == PERF_RECORD_FORK ? SIDE_FORK : SIDE_EXIT;
	e->pid = t.pid;
	e->tid = t.tid;
	e->ppid = t.ppid;
	e->ptid = t.ptid;
	return 0;
}

static int decode_lost(const struct record *r, struct side_event *e)
{
	struct record_lost l;

	if (record_get(r, &l, sizeof(l)))
		return -EBADMSG;
	e->kind = SIDE_LOST;
	e->lost = l.lost;
	return 0;
}

/* Of another event (perf_log_throttle() in kernel/events/core.c), without our trailer. */
static int decode_throttle(const void *record, size_t len, struct side_event *e)
{
	struct {
		struct perf_event_header header;
		uint64_t time, id, stream_id;
	} throttle;

	if (len < sizeof(throttle))
		return -EBADMSG;
	memcpy(&throttle, record, sizeof(throttle));
	*e = (struct side_event){
		.kind = throttle.header.type == PERF_RECORD_THROTTLE ? SIDE_THROTTLE
								     : SIDE_UNTHROTTLE,
		.time_ns = throttle.time,
	};
	return 0;
}

int sideband_decode(const void *record, size_t len, struct side_event *ret_event)
{
	struct side_event event = { 0 };
	struct record r = { 0 };
	int ret;

	if (len < sizeof(r.header) + sizeof(r.id))
		return -EBADMSG;
	memcpy(&r.header, record, sizeof(r.header));
	if (r.header.size != len)
		return -EBADMSG;
	if (r.header.type == PERF_RECORD_THROTTLE || r.header.type == PERF_RECORD_UNTHROTTLE)
		return decode_throttle(record, len, ret_event);
	r.body = (const uint8_t *)record + sizeof(r.header);
	r.len = len - sizeof(r.header) - sizeof(r.id);
	memcpy(&r.id, r.body + r.len, sizeof(r.id));

	switch (r.header.type) {
	case PERF_RECORD_MMAP2: ret = decode_mmap2(&r, &event); break;
	case PERF_RECORD_COMM: ret = decode_comm(&r, &event); break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT: ret = decode_task(&r, &event); break;
	case PERF_RECORD_LOST: ret = decode_lost(&r, &event); break;
	default: return -ENODATA;
	}
	if (ret < 0)
		return ret;
	event.time_ns = r.id.time;
	*ret_event = event;
	return 0;
}
