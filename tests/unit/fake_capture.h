/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture without a kernel: what a test puts into it comes out of capture_drain(), and the tables
 * of the BPF programs are on the heap. These take the place of the library's own functions.
 * Included once per test.
 */
#ifndef HOSTPROF_TESTS_FAKE_CAPTURE_H
#define HOSTPROF_TESTS_FAKE_CAPTURE_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "capture/capture.h"
#include "capture/map_entry.h"
#include "heap_tables.h"
#include "unwind/tables/table_memory.h"

/* One of the five, owned. */
struct fake_record {
	void *invalid;
	size_t invalid_len;
	struct side_event *side;
	struct wire_sample *sample;
	struct wire_miss *miss;
	struct wire_span *span;
	struct wire_lock_begin *lock_begin;
};

struct fake_lost {
	struct wire_lost_key key;
	struct wire_lost lost;
};

struct capture {
	struct capture_unmounted unmounted; /* ns: less the time of the question */
	uint64_t unmounted_id;		    /* a virtual thread that waits; 0: none does */
	struct capture_unmounted_wait unmounted_wait;
	struct table_memory *tables; /* owned */
	VEC(struct fake_record) records;
	VEC(struct fake_lost) lost;
	struct capture_kept kept; /* memory that was not given back */
	int kept_error;		  /* when it is read */
	struct capture_stats stats;
	const struct capture_options *options; /* borrowed; NULL: all are targets */
	const char *cgroup;		       /* whose processes are targets; borrowed */
	uint32_t waiting_tid;		       /* who is not back; 0: all are */
	struct wire_offcpu waiting;
	const struct wire_parked *parked[4]; /* who was off the cpus before; borrowed */
	int parked_error;
	int find_error;
	useconds_t find_takes_us;
};

enum { FAKE_PAGES_FD = -100, FAKE_SPACES_FD = -101 };

/* Descriptors are numbers here; the tables are those of the last capture made. */
static struct table_memory *fake_tables;

static inline struct capture *fake_capture_new(void)
{
	struct capture *c = xcalloc(1, sizeof(*c));

	c->tables = fake_tables = table_memory_new_heap(1024, 1024, 4096);
	return c;
}

static inline void fake_capture_free(struct capture *c)
{
	struct fake_record *record;

	vec_for_each (record, &c->records) {
		free(record->side);
		free(record->sample);
		free(record->miss);
		free(record->span);
		free(record->invalid);
	}
	vec_release(&c->records);
	vec_release(&c->lost);
	vec_release(&c->kept.keys);
	vec_release(&c->kept.ids);
	table_memory_free_heap(c->tables);
	free(c);
}

/* A name lives behind its event. */
static inline void fake_put_side(struct capture *c, const struct side_event *event)
{
	const char *name = event->name ? event->name : "";
	struct side_event *copy = xmalloc(sizeof(*copy) + strlen(name) + 1);

	*copy = *event;
	copy->name = strcpy((char *)(copy + 1), name);
	vec_push(&c->records, (struct fake_record){ .side = copy });
}

static inline void fake_put_sample(struct capture *c, const struct wire_sample *sample)
{
	struct fake_record record = { .sample = xmemdup(sample, sample->size) };

	vec_push(&c->records, record);
}

static inline void fake_put_span(struct capture *c, const struct wire_span *span)
{
	struct fake_record record = { .span = xmemdup(span, sizeof(*span)) };

	vec_push(&c->records, record);
}

static inline void fake_put_lock_begin(struct capture *c, const struct wire_lock_begin *begin)
{
	struct fake_record record = { .lock_begin = xmemdup(begin, sizeof(*begin)) };

	vec_push(&c->records, record);
}

static inline void fake_put_miss(struct capture *c, const struct wire_miss *miss)
{
	struct fake_record record = { .miss = xmemdup(miss, miss->size) };

	vec_push(&c->records, record);
}

static inline void fake_put_invalid(struct capture *c, const void *bytes, size_t len)
{
	struct fake_record record = { .invalid = xmemdup(bytes, len), .invalid_len = len };

	vec_push(&c->records, record);
}

/* Memory at ADDRESS that a sample of this ID told of. */
static inline void fake_keep(struct capture *c, uint64_t address, uint64_t id)
{
	vec_push(&c->kept.keys, (struct wire_kept_key){ .address = address });
	vec_push(&c->kept.ids, id);
}

/* --- in place of capture/ --- */

int capture_get_kept(const struct capture *c, struct capture_kept *ret_kept)
{
	*ret_kept = (struct capture_kept){ 0 };
	for (size_t i = 0; i < c->kept.keys.len; i++) {
		vec_push(&ret_kept->keys, c->kept.keys.items[i]);
		vec_push(&ret_kept->ids, c->kept.ids.items[i]);
	}
	return c->kept_error;
}

void capture_kept_release(struct capture_kept *kept)
{
	vec_release(&kept->keys);
	vec_release(&kept->ids);
}

void capture_drop_kept(struct capture *c, const struct wire_kept_key *key)
{
	for (size_t i = c->kept.keys.len; i-- > 0;) {
		if (c->kept.keys.items[i].address != key->address)
			continue;
		vec_remove(&c->kept.keys, i, 1);
		vec_remove(&c->kept.ids, i, 1);
	}
}

void capture_drain(struct capture *c, const struct capture_handler *handler)
{
	for (size_t i = 0; i < c->records.len; i++) {
		struct fake_record record = c->records.items[i];

		if (record.side)
			handler->side(record.side, handler->data);
		if (record.miss)
			handler->miss(record.miss, handler->data);
		if (record.sample)
			handler->sample(record.sample, handler->data);
		if (record.span)
			handler->span(record.span, handler->data);
		if (record.lock_begin)
			handler->lock_begin(record.lock_begin, handler->data);
		if (record.invalid)
			handler->invalid(record.invalid, record.invalid_len, handler->data);
		free(record.invalid);
		free(record.side);
		free(record.miss);
		free(record.span);
		free(record.lock_begin);
		free(record.sample);
	}
	c->records.len = 0;
}

void capture_take_lost(struct capture *c,
		       void (*fn)(const struct wire_lost_key *key, const struct wire_lost *lost,
				  void *data),
		       void *data)
{
	for (size_t i = 0; i < c->lost.len; i++)
		fn(&c->lost.items[i].key, &c->lost.items[i].lost, data);
	c->lost.len = 0;
}

void capture_get_stats(const struct capture *c, struct capture_stats *ret_stats)
{
	*ret_stats = c->stats;
}

void capture_get_tables(const struct capture *c, struct capture_tables *ret_tables)
{
	*ret_tables = (struct capture_tables){
		.blocks = c->tables->blocks,
		.rules = c->tables->rules,
		.ranges = c->tables->ranges,
		.block_count = c->tables->block_count,
		.rule_count = c->tables->rule_count,
		.range_count = c->tables->range_count,
		.pages_fd = FAKE_PAGES_FD,
		.spaces_fd = FAKE_SPACES_FD,
		.page_limit = c->tables->page_limit,
		.space_limit = c->tables->space_limit,
	};
}

int capture_set_jvm(struct capture *c, uint32_t serial, const struct wire_jvm *jvm)
{
	return c->tables->set_jvm(serial, jvm, c->tables->data);
}

int capture_set_far_blob(struct capture *c, const struct wire_far_key *key, uint64_t blob)
{
	return c->tables->set_far_blob(key, blob, c->tables->data);
}

bool capture_is_target(const struct capture *c, uint32_t pid, const char *cgroup)
{
	for (unsigned int i = 0; c->options && i < c->options->pid_count; i++)
		if (c->options->pids[i] == pid)
			return true;
	if (c->options && c->options->pid_count)
		return false;
	return !c->cgroup || strcmp(c->cgroup, cgroup) == 0;
}

#define FAKE_EXEC_ID 77

int capture_find_process(struct capture *c, uint32_t pid, struct wire_process *ret_process)
{
	if (c->find_takes_us)
		usleep(c->find_takes_us);
	*ret_process = (struct wire_process){ pid, FAKE_EXEC_ID, 0 };
	return c->find_error;
}

int capture_get_wait(const struct capture *c, uint32_t tid, uint64_t out_ns,
		     struct wire_offcpu *ret_wait)
{
	*ret_wait = c->waiting;
	return tid == c->waiting_tid && out_ns == c->waiting.out_ns ? 0 : -ENOENT;
}

struct capture_unmounted capture_sum_unmounted(const struct capture *c, uint64_t now_ns)
{
	struct capture_unmounted sum = c->unmounted;

	sum.ns += now_ns;
	return sum;
}

/* Who is known waits since then, and nobody else does. */
int capture_get_unmounted(const struct capture *c, uint32_t tgid, uint64_t id,
			  struct capture_unmounted_wait *ret_wait)
{
	(void)tgid;
	*ret_wait = c->unmounted_wait;
	return id == c->unmounted_id ? 0 : -ENOENT;
}

int capture_list_parked(const struct capture *c,
			void (*fn)(const struct wire_parked *parked, void *data), void *data)
{
	for (size_t i = 0; i < 4 && c->parked[i]; i++)
		fn(c->parked[i], data);
	return c->parked_error;
}

/* Allocations from outside: not of tables. */
int capture_set_tlab(struct capture *c, uint32_t tgid, const struct wire_tlab *tlab)
{
	(void)c, (void)tgid, (void)tlab;
	return 0;
}

int capture_set_phases(struct capture *c, uint32_t tgid, const struct wire_phases *phases)
{
	(void)c, (void)tgid, (void)phases;
	return 0;
}

int capture_set_parking(struct capture *c, uint32_t tgid, const struct wire_parking *parking)
{
	(void)c, (void)tgid, (void)parking;
	return 0;
}

int capture_set_yields_since(struct capture *c, uint32_t tgid, uint64_t since_ns)
{
	(void)c, (void)tgid, (void)since_ns;
	return 0;
}

int map_entry_set(int map_fd, const void *key, const void *value)
{
	uint32_t tgid;

	if (map_fd == FAKE_PAGES_FD)
		return fake_tables->set_page(key, value, fake_tables->data);
	memcpy(&tgid, key, sizeof(tgid));
	return fake_tables->set_space(tgid, value, fake_tables->data);
}

int map_entry_get(int map_fd, const void *key, void *ret_value)
{
	uint32_t tgid;

	(void)map_fd;
	memcpy(&tgid, key, sizeof(tgid));
	return fake_tables->get_space(tgid, ret_value, fake_tables->data);
}

#endif
