/* SPDX-License-Identifier: Apache-2.0 */
/* Processes for unwind_spaces.c whose mappings and time are the test's. Included once per test. */
#ifndef HOSTPROF_TESTS_SPACES_WORLD_H
#define HOSTPROF_TESTS_SPACES_WORLD_H

#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "fake_clock.h"
#include "heap_tables.h"
#include "process/proc.h"
#include "unwind/unwind_ranges.h"
#include "unwind/unwind_spaces.h"

#define MS	   NSEC_PER_MSEC
#define FIRST_PID  100
#define EXEC_PAGES 77

static struct {
	struct table_memory *memory;
	struct live_processes live;
	struct unwind_spaces *spaces;
	/* What a read finds, and what it was asked for. */
	struct wire_range ranges[2];
	uint32_t range_count, more_ranges; /* those behind the others */
	struct mapping libjvm;
	uint64_t cost_ns;
	int read_error, stat_error;
	uint64_t start_ns; /* of the process, as /proc has it */
	unsigned int reads;
	uint32_t pid, tid;
	struct unwind_piece piece; /* what a mapping is found to be */
	uint64_t now_ns;
} f;

/* --- in place of unwind_ranges.c, unwind_files.c, jvm/ and process/ --- */

bool libjvm_is_path(const char *path, size_t len)
{
	return len == strlen(path) && strstr(path, "libjvm.so");
}

int unwind_ranges_read(struct unwind_ranges *ranges, struct unwind_files *files, uint32_t pid,
		       uint32_t tid)
{
	(void)files;
	fake_advance(f.cost_ns);
	f.reads++;
	f.pid = pid;
	f.tid = tid;
	ranges->v.len = 0;
	for (uint32_t i = 0; i < f.range_count; i++)
		vec_push(&ranges->v, f.ranges[i]);
	for (uint32_t i = 0; i < f.more_ranges; i++)
		vec_push(&ranges->v,
			 ((struct wire_range){ .start = (i + 9) << 20, .end = (i + 10) << 20 }));
	ranges->exec_pages = EXEC_PAGES;
	ranges->libjvm = f.libjvm;
	return f.read_error;
}

const struct wire_range *unwind_ranges_find(const struct unwind_ranges *ranges, uint64_t address)
{
	for (size_t i = 0; i < ranges->v.len; i++)
		if (address >= ranges->v.items[i].start && address < ranges->v.items[i].end)
			return &ranges->v.items[i];
	return NULL;
}

bool unwind_ranges_equal(const struct unwind_ranges *ranges, const struct wire_range *others,
			 size_t count)
{
	return ranges->v.len == count && ranges->v.items[0].end == others[0].end;
}

void unwind_ranges_release(struct unwind_ranges *ranges)
{
	vec_release(&ranges->v);
}

void unwind_files_mark(struct unwind_files *files, uint32_t number)
{
	(void)files;
	(void)number;
}

struct unwind_piece unwind_files_piece(struct unwind_files *files, uint32_t pid,
				       const struct mapping *mapping, const struct file_id *seen)
{
	(void)files;
	(void)pid;
	(void)mapping;
	(void)seen;
	return f.piece;
}

int proc_read_stat(uint32_t pid, struct proc_stat *ret_stat)
{
	(void)pid;
	ret_stat->start_ns = f.start_ns;
	return f.stat_error;
}

/* --- */

static inline int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	fake_begin();
	f.memory = table_memory_new_heap(16, 16, 4096);
	f.spaces = unwind_spaces_new(f.memory, NULL, &f.live);
	f.ranges[0] = (struct wire_range){ .start = 0x1000, .end = 0x2000, .bias = 3, .file = 5 };
	f.ranges[1] = (struct wire_range){ .start = 0x5000, .end = 0x6000 };
	f.range_count = 2;
	f.piece = (struct unwind_piece){ 5, 3 };
	f.now_ns = fake_begun_ns;
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	unwind_spaces_free(f.spaces);
	live_processes_release(&f.live);
	table_memory_free_heap(f.memory);
	return 0;
}

/* Of the process FIRST_PID + N. */
static inline struct wire_sample sample_of(uint32_t n)
{
	return (struct wire_sample){ .tgid = FIRST_PID + n,
				     .tid = FIRST_PID + n + 1000,
				     .exec_id = 3,
				     .start_ns = 1,
				     .time_ns = f.now_ns };
}

static inline int read_of(uint32_t n)
{
	const struct wire_sample sample = sample_of(n);
	const struct wire_miss miss = { .pc = 0x1234 };

	return unwind_spaces_read(f.spaces, &miss, &sample, f.now_ns);
}

static inline bool is_published(uint32_t n, struct wire_space *ret_space)
{
	const struct wire_sample sample = sample_of(n);

	return unwind_spaces_get(f.spaces, &sample, ret_space) == 0;
}

static inline void map(uint32_t n, uint64_t start, uint64_t end)
{
	char path[] = "/lib/x.so";
	const struct mapping mapping = { .start = start, .end = end, .path = path };

	unwind_spaces_note_mapping(f.spaces, FIRST_PID + n, &mapping, f.now_ns);
}

/* How many reads a turn makes that is MS later. */
static inline unsigned int turn_after(uint64_t ms)
{
	unsigned int before = f.reads;

	f.now_ns += ms * MS;
	unwind_spaces_turn(f.spaces, f.now_ns);
	return f.reads - before;
}

static inline struct unwind_spaces_stats stats(void)
{
	struct unwind_spaces_stats stats;

	unwind_spaces_get_stats(f.spaces, &stats);
	return stats;
}

#endif
