// SPDX-License-Identifier: Apache-2.0
#include "session/memory_plan.h"

#include <malloc.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "process/proc_text.h"

/*
 * The program with its libraries, the profile's tables of one chunk, and some 3 kB for each of two
 * thousand processes.
 */
#define OWN_BYTES (28ULL << 20)
#define SHED_NS	  (500 * NSEC_PER_MSEC)

void memory_plan_begin(struct memory_plan *plan, uint64_t limit_bytes)
{
	memset(plan, 0, sizeof(*plan));
	plan->limit_bytes = limit_bytes ? limit_bytes : MEMORY_DEFAULT_LIMIT_BYTES;
	plan->table_bytes = plan->limit_bytes / 8;
	plan->rings_bytes = plan->limit_bytes / 8;
}

void memory_plan_share(struct memory_plan *plan, uint64_t map_bytes)
{
	uint64_t taken = map_bytes + MIN(OWN_BYTES, plan->limit_bytes / 3);
	uint64_t left = plan->limit_bytes > taken ? plan->limit_bytes - taken : 0;

	/* Of a shortage there is always this much: a guard gives it up again. */
	left = MAX(left, plan->limit_bytes / 8);
	plan->parse_bytes = left * 40 / 100;
	plan->symbol_bytes = left * 30 / 100;
	plan->queue_bytes = left * 15 / 100;
	plan->file_bytes = left * 10 / 100;
}

/* --- guard ------------------------------------------------------------------------------------ */

/* Documentation/filesystems/proc.rst: size, resident, shared (resident pages of files), … */
static bool read_statm(uint64_t *ret_anonymous, uint64_t *ret_shared)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t size, resident, shared, page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct text_cursor cursor;

	if (file_read("/proc/self/statm", 4096, &text) < 0)
		return false;
	cursor = (struct text_cursor){ strbuf_str(&text), strbuf_str(&text) + text.len };
	if (!text_take_number(&cursor, 10, &size) || !text_take_char(&cursor, ' ') ||
	    !text_take_number(&cursor, 10, &resident) || !text_take_char(&cursor, ' ') ||
	    !text_take_number(&cursor, 10, &shared))
		return false;
	*ret_anonymous = (resident - MIN(shared, resident)) * page;
	*ret_shared = shared * page;
	return true;
}

void memory_guard_init(struct memory_guard *guard, uint64_t limit_bytes, uint64_t map_bytes)
{
	uint64_t anonymous;

	memset(guard, 0, sizeof(*guard));
	guard->limit_bytes = limit_bytes;
	guard->map_bytes = map_bytes;
	if (!read_statm(&anonymous, &guard->program_bytes))
		guard->limit_bytes = UINT64_MAX; /* no /proc: nothing to watch */
}

bool memory_guard_wants_room(struct memory_guard *guard, uint64_t now_ns)
{
	uint64_t anonymous, shared;

	if (now_ns - guard->shed_ns < SHED_NS || !read_statm(&anonymous, &shared))
		return false;
	if (anonymous + guard->program_bytes + guard->map_bytes < guard->limit_bytes / 8 * 7)
		return false;
	guard->shed_ns = now_ns;
	guard->sheds++;
	return true;
}

void memory_guard_trim(void)
{
	malloc_trim(0);
}

/*
 * The worker's arena would keep what parsing a large file took, and the thresholds grow by
 * themselves with every large block that is freed.
 */
void memory_tune_allocator(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024);
	mallopt(M_TRIM_THRESHOLD, 512 * 1024);
}
