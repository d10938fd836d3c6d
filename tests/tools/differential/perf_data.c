// SPDX-License-Identifier: Apache-2.0
#include "perf_data.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/hmap.h"
#include "process/mappings.h"
#include "wire.h"

/* struct perf_file_header and perf_file_attr of tools/perf/util/header.h; "PERFILE2". */
#define PERF_MAGIC 0x32454c4946524550ULL

struct file_section {
	uint64_t offset, size;
};

struct file_header {
	uint64_t magic, size, attr_size;
	struct file_section attrs, data;
};

struct record {
	uint64_t time_ns;
	uint64_t order; /* in the file */
	const struct perf_event_header *header;
};

struct perf_data {
	const uint8_t *bytes;
	size_t len;
	struct perf_event_attr attr;
	VEC(struct record) records;
	struct hmap processes; /* pid -> struct process * */
	snapshot_fn *fn;
	void *data;
};

/* What is left of a record's body. */
struct body {
	const uint8_t *at, *end;
};

static uint64_t take_u64(struct body *body)
{
	uint64_t value = 0;

	if (body->end - body->at < 8) {
		body->at = body->end;
		return 0;
	}
	memcpy(&value, body->at, 8);
	body->at += 8;
	return value;
}

static const uint8_t *take_bytes(struct body *body, uint64_t len)
{
	const uint8_t *at = body->at;

	if (len > (uint64_t)(body->end - at))
		return NULL;
	body->at += len;
	return at;
}

static struct body body_of(const struct perf_event_header *header)
{
	const uint8_t *at = (const uint8_t *)(header + 1);

	return (struct body){ at, (const uint8_t *)header + header->size };
}

/* --- times ------------------------------------------------------------------------------------ */

/* Of a record that is no sample: struct sample_id at its end, TIME behind TID. */
static uint64_t trailer_time(const struct perf_data *p, const struct perf_event_header *header)
{
	static const uint64_t fields[] = { PERF_SAMPLE_TIME, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
					   PERF_SAMPLE_CPU, PERF_SAMPLE_IDENTIFIER };
	uint64_t behind = 0, time_ns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		behind += p->attr.sample_type & fields[i] ? 8 : 0;
	if (!p->attr.sample_id_all || header->size < sizeof(*header) + behind)
		return 0;
	memcpy(&time_ns, (const uint8_t *)header + header->size - behind, 8);
	return time_ns;
}

static void take_start(const struct perf_data *p, struct body *body, uint64_t *ret_ip,
		       uint64_t *ret_ids, uint64_t *ret_time)
{
	uint64_t type = p->attr.sample_type;

	if (type & PERF_SAMPLE_IDENTIFIER)
		take_u64(body);
	*ret_ip = type & PERF_SAMPLE_IP ? take_u64(body) : 0;
	*ret_ids = type & PERF_SAMPLE_TID ? take_u64(body) : 0;
	*ret_time = type & PERF_SAMPLE_TIME ? take_u64(body) : 0;
}

static uint64_t record_time(const struct perf_data *p, const struct perf_event_header *header)
{
	struct body body = body_of(header);
	uint64_t ip, ids, time_ns;

	if (header->type != PERF_RECORD_SAMPLE)
		return trailer_time(p, header);
	take_start(p, &body, &ip, &ids, &time_ns);
	return time_ns;
}

static int compare_records(const void *a, const void *b)
{
	const struct record *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* --- processes -------------------------------------------------------------------------------- */

static struct process *get_process(struct perf_data *p, uint32_t pid)
{
	struct process *process = hmap_find_ptr(&p->processes, pid);

	if (!process) {
		process = xcalloc(1, sizeof(*process));
		process->pid = pid;
		hmap_put_ptr(&p->processes, pid, process);
	}
	return process;
}

static void apply_mmap2(struct perf_data *p, const struct perf_event_header *header)
{
	struct body body = body_of(header);
	uint64_t ids = take_u64(&body), start = take_u64(&body), len = take_u64(&body);
	uint64_t pgoff = take_u64(&body), device = take_u64(&body), inode = take_u64(&body);
	uint64_t generation = take_u64(&body), prot = take_u64(&body) & UINT32_MAX;
	const char *name = (const char *)body.at;
	struct mapping m = { .start = start, .end = start + len, .pgoff = pgoff };

	(void)device;
	(void)generation;
	if (header->misc & PERF_RECORD_MISC_MMAP_BUILD_ID || !(prot & PROT_EXEC) ||
	    !memchr(name, 0, (size_t)(body.end - body.at)))
		return;
	m.key.inode = inode;
	m.path = xstrdup(name[0] == '/' && name[1] == '/' ? "" : name);
	mappings_add(get_process(p, (uint32_t)ids), &m);
	free(m.path);
}

static void apply_comm(struct perf_data *p, const struct perf_event_header *header)
{
	struct body body = body_of(header);
	struct process *process = get_process(p, (uint32_t)take_u64(&body));

	if (header->misc & PERF_RECORD_MISC_COMM_EXEC)
		mappings_clear(process);
	snprintf(process->comm, sizeof(process->comm), "%.*s", (int)(body.end - body.at),
		 (const char *)body.at);
}

/* struct { u32 pid, ppid; u32 tid, ptid; u64 time; } */
static void apply_fork(struct perf_data *p, const struct perf_event_header *header)
{
	struct body body = body_of(header);
	uint64_t pids = take_u64(&body);
	uint32_t pid = (uint32_t)pids, ppid = (uint32_t)(pids >> 32);

	if (pid != ppid)
		mappings_copy(get_process(p, pid), get_process(p, ppid));
}

/* --- samples ---------------------------------------------------------------------------------- */

/* arch/x86/include/uapi/asm/perf_regs.h -> DWARF number; -1: not wanted. */
static const int8_t dwarf_numbers[64] = {
	0,  3,	2,  1,	4,  5,	6,  7,	-1, -1, -1, -1, -1, -1, -1, -1, 8,  9,	10, 11, 12, 13,
	14, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
	-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1,
};
#define PERF_REG_IP 8

static bool take_regs(const struct perf_data *p, struct body *body, struct snapshot *s)
{
	if (take_u64(body) != PERF_SAMPLE_REGS_ABI_64)
		return false;
	for (int i = 0; i < 64; i++) {
		uint64_t value;

		if (!(p->attr.sample_regs_user >> i & 1))
			continue;
		value = take_u64(body);
		if (i == PERF_REG_IP)
			s->pc = value;
		else if (dwarf_numbers[i] >= 0)
			s->regs[dwarf_numbers[i]] = value;
	}
	return true;
}

/* u64 size; data[size]; u64 dyn_size: of the data so many bytes are valid. */
static bool take_stack(struct body *body, struct snapshot *s)
{
	uint64_t size = take_u64(body);

	s->stack = take_bytes(body, size);
	s->stack_len = size ? take_u64(body) : 0;
	s->stack_at = s->regs[DWARF_RSP];
	return s->stack && s->stack_len && s->stack_len <= size;
}

static void apply_sample(struct perf_data *p, const struct perf_event_header *header)
{
	static const uint64_t words[] = { PERF_SAMPLE_ADDR, PERF_SAMPLE_ID, PERF_SAMPLE_STREAM_ID,
					  PERF_SAMPLE_CPU, PERF_SAMPLE_PERIOD };
	struct body body = body_of(header);
	struct snapshot s = { .pc = 0 };
	uint64_t ip, ids, time_ns;

	take_start(p, &body, &ip, &ids, &time_ns);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (p->attr.sample_type & words[i])
			take_u64(&body);
	if (p->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		take_bytes(&body, 8 * take_u64(&body));
	if (!take_regs(p, &body, &s) || !take_stack(&body, &s))
		return;
	s.process = get_process(p, (uint32_t)ids);
	p->fn(&s, p->data);
}

static void apply_record(struct perf_data *p, const struct perf_event_header *header)
{
	switch (header->type) {
	case PERF_RECORD_MMAP2: apply_mmap2(p, header); break;
	case PERF_RECORD_COMM: apply_comm(p, header); break;
	case PERF_RECORD_FORK: apply_fork(p, header); break;
	case PERF_RECORD_SAMPLE: apply_sample(p, header); break;
	default: break;
	}
}

/* --- file ------------------------------------------------------------------------------------- */

static bool holds(const struct perf_data *p, const struct file_section *section)
{
	return section->offset <= p->len && section->size <= p->len - section->offset;
}

/* All events have the first one's sample_type: perf makes no others here. */
static int read_header(struct perf_data *p, struct file_section *ret_data, struct err *err)
{
	const uint64_t known = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
			       PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
			       PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |
			       PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_IDENTIFIER;
	const uint64_t wanted =
		PERF_SAMPLE_TIME | PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	struct file_header header;

	if (p->len < sizeof(header))
		return err_set(err, -EBADMSG, "it is no perf.data");
	memcpy(&header, p->bytes, sizeof(header));
	if (header.magic != PERF_MAGIC || !holds(p, &header.attrs) || !holds(p, &header.data) ||
	    header.attrs.size < PERF_ATTR_SIZE_VER5)
		return err_set(err, -EBADMSG, "it is no perf.data");
	memcpy(&p->attr, p->bytes + header.attrs.offset,
	       MIN(sizeof(p->attr), (size_t)header.attrs.size));
	if (p->attr.sample_type & ~known || (p->attr.sample_type & wanted) != wanted)
		return err_set(err, -EOPNOTSUPP, "its sample_type is %#llx",
			       (unsigned long long)p->attr.sample_type);
	*ret_data = header.data;
	return 0;
}

static void read_records(struct perf_data *p, const struct file_section *data)
{
	uint64_t at = data->offset, end = data->offset + data->size;

	while (end - at >= sizeof(struct perf_event_header)) {
		const void *where = p->bytes + at;
		const struct perf_event_header *header = where;
		struct record record = { 0, p->records.len, header };

		if (header->size < sizeof(*header) || header->size > end - at)
			break;
		at += header->size;
		if (header->type >= 64) /* perf's own: PERF_RECORD_USER_TYPE_START */
			continue;
		record.time_ns = record_time(p, header);
		vec_push(&p->records, record);
	}
}

static void release(struct perf_data *p)
{
	uint64_t pid, process;
	size_t at = 0;

	while (hmap_next(&p->processes, &at, &pid, &process)) {
		struct process *gone = hmap_find_ptr(&p->processes, pid);

		mappings_clear(gone);
		vec_release(&gone->mappings);
		free(gone);
	}
	hmap_release(&p->processes);
	vec_release(&p->records);
}

static int read_all(struct perf_data *p, struct err *err)
{
	struct file_section data = { 0, 0 };
	int r = read_header(p, &data, err);

	if (r < 0)
		return r;
	read_records(p, &data);
	qsort(p->records.items, p->records.len, sizeof(p->records.items[0]), compare_records);
	for (size_t i = 0; i < p->records.len; i++)
		apply_record(p, p->records.items[i].header);
	release(p);
	return 0;
}

int perf_data_for_each(const char *path, snapshot_fn *fn, void *data, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct perf_data p = { .fn = fn, .data = data };
	struct stat st;
	void *bytes;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, -errno, "cannot open %s", path);
	p.len = (size_t)st.st_size;
	bytes = mmap(NULL, p.len, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return err_sys(err, -errno, "cannot map %s", path);
	p.bytes = bytes;
	r = read_all(&p, err);
	munmap(bytes, p.len);
	return r;
}
