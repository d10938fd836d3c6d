// SPDX-License-Identifier: Apache-2.0
#include "live_walk.h"
#include "heap_tables.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "unwind/tables/row_store.h"
#include "unwind/unwind_ranges.h"

#define BLOCKS	   16384
#define RULES	   16384
#define MAX_FILES  64
#define FILE_BYTES (256U << 20)
/* So often in a row Java code had it. */
#define SURE_OF_THREAD 8

struct live_walk {
	uint32_t pid;
	int memory_fd;
	const struct wire_jvm *jvm;
	struct worker_pool *pool;
	struct image_cache *images;
	struct unwind_files *files;
	struct unwind_ranges ranges;
	struct table_memory *memory;
	struct row_store *store;
	struct unwind_tables tables;
	struct wire_hot hots[WIRE_HOT_ENTRIES];
	struct cfi_rows page;
	struct wire_page_key made;
	struct walk_result result;
	uint64_t thread, maybe_thread;
	unsigned int thread_seen;
	live_read_fn *trace;
	void *trace_data;
};

static int read_ranges(struct live_walk *walk)
{
	int r = unwind_ranges_read(&walk->ranges, walk->files, walk->pid, walk->pid);

	for (size_t i = 0; i < walk->ranges.v.len; i++)
		walk->ranges.v.items[i].serial = 1;
	walk->tables.ranges = walk->ranges.v.items;
	walk->tables.range_count = (uint32_t)walk->ranges.v.len;
	return r;
}

int live_walk_new(uint32_t pid, const struct wire_jvm *jvm, struct live_walk **ret_walk)
{
	_cleanup_(live_walk_freep) struct live_walk *walk = xcalloc(1, sizeof(*walk));
	struct err err = { 0 };
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%u/mem", pid);
	walk->pid = pid;
	walk->jvm = jvm;
	walk->memory_fd = open(path, O_RDONLY | O_CLOEXEC);
	if (walk->memory_fd < 0)
		return -errno;
	r = worker_pool_new(1, &walk->pool, &err);
	if (r < 0)
		return r;
	walk->images = image_cache_new(walk->pool);
	walk->files = unwind_files_new(walk->images, MAX_FILES, FILE_BYTES);
	walk->memory = table_memory_new_heap(BLOCKS, RULES, 16);
	walk->store = row_store_new(walk->memory);
	row_store_tables(walk->store, &walk->tables);
	walk->tables.hots = walk->hots;
	r = read_ranges(walk);
	if (r < 0)
		return r;
	*ret_walk = TAKE_PTR(walk);
	return 0;
}

void live_walk_free(struct live_walk *walk)
{
	if (!walk)
		return;
	row_store_free(walk->store);
	table_memory_free_heap(walk->memory);
	unwind_files_free(walk->files);
	unwind_ranges_release(&walk->ranges);
	image_cache_free(walk->images);
	worker_pool_free(walk->pool);
	vec_release(&walk->page.v);
	closep(&walk->memory_fd);
	free(walk);
}

void live_walk_trace(struct live_walk *walk, live_read_fn *fn, void *data)
{
	walk->trace = fn;
	walk->trace_data = data;
}

uint64_t live_walk_thread(const struct live_walk *walk)
{
	return walk->thread;
}

int live_walk_read(const struct live_walk *walk, uint64_t address, void *dst, size_t len)
{
	return pread(walk->memory_fd, dst, len, (off_t)address) == (ssize_t)len ? 0 : -EFAULT;
}

static int read_live(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct live_walk *walk = data;

	if (walk->trace && len == sizeof(((struct unwind_cursor *)NULL)->window))
		return -EFAULT;
	if (live_walk_read(walk, address, dst, len) < 0)
		return -EFAULT;
	if (walk->trace)
		walk->trace(address, dst, len, walk->trace_data);
	return 0;
}

/* --- rows ------------------------------------------------------------------------------------- */

const struct wire_range *live_walk_range(const struct live_walk *walk, uint64_t address)
{
	return unwind_ranges_find(&walk->ranges, address);
}

bool live_walk_is_code(const struct live_walk *walk, uint64_t address)
{
	return live_walk_range(walk, address) ||
	       (address >= walk->jvm->code_start && address < walk->jvm->code_end);
}

const struct cfi_rows *live_walk_rows(struct live_walk *walk, const struct wire_range *range,
				      uint64_t address)
{
	/* Where its disk is slow: those of before, or none. */
	(void)unwind_files_rows(walk->files, range->file, address - range->bias, &walk->page);
	return &walk->page;
}

/* False: there is nothing that would help. */
static bool supply(struct live_walk *walk, struct unwind_cursor *c, uint64_t address)
{
	const struct wire_range *range = live_walk_range(walk, address);
	struct wire_page_key key;

	if (!range) {
		if (c->listed || read_ranges(walk) < 0)
			return false;
		c->listed = 1;
		c->count = (uint32_t)walk->ranges.v.len;
		c->range.start = c->range.end = 0;
		return true;
	}
	key = (struct wire_page_key){ range->file,
				      (uint32_t)((address - range->bias) >> WIRE_PAGE_SHIFT) };
	if (!range->file || memcmp(&key, &walk->made, sizeof(key)) == 0)
		return false;
	walk->made = key;
	live_walk_rows(walk, range, address);
	return row_store_put(walk->store, &key, walk->page.v.items, walk->page.v.len,
			     clock_now_ns()) == 0;
}

/* --- the walk --------------------------------------------------------------------------------- */

void live_walk_order(const struct user_regs_struct *regs, uint64_t ret_regs[16])
{
	const uint64_t ordered[16] = { regs->rax, regs->rdx, regs->rcx, regs->rbx,
				       regs->rsi, regs->rdi, regs->rbp, regs->rsp,
				       regs->r8,  regs->r9,  regs->r10, regs->r11,
				       regs->r12, regs->r13, regs->r14, regs->r15 };

	memcpy(ret_regs, ordered, sizeof(ordered));
}

/* Java code keeps it in %r15; a stub that C++ calls may have another value there for a moment. */
static void note_thread(struct live_walk *walk, const struct user_regs_struct *regs)
{
	if (walk->thread || regs->rip < walk->jvm->code_start || regs->rip >= walk->jvm->code_end)
		return;
	walk->thread_seen = regs->r15 == walk->maybe_thread ? walk->thread_seen + 1 : 0;
	walk->maybe_thread = regs->r15;
	if (walk->thread_seen == SURE_OF_THREAD)
		walk->thread = regs->r15;
}

static void take_frames(const struct walk_result *result, struct live_stack *ret_stack)
{
	ret_stack->reason = result->reason;
	ret_stack->count = 0;
	for (uint32_t at = 0; at < result->word_count && ret_stack->count < LIVE_MAX_FRAMES;) {
		struct live_frame *frame = &ret_stack->frames[ret_stack->count++];
		uint32_t words = wire_frame_words(result->words[at]);

		memset(frame, 0, sizeof(*frame));
		for (uint32_t i = 0; i < words && at + i < result->word_count; i++)
			frame->words[i] = result->words[at + i];
		at += words;
	}
}

void live_walk_take(struct live_walk *walk, uint32_t tid, const struct user_regs_struct *regs,
		    struct live_stack *ret_stack)
{
	struct unwind_memory memory = { .read = read_live, .data = walk, .tables = &walk->tables };
	struct walk_request request = { .pc = regs->rip,
					.exact = true,
					.serial = 1,
					.max_frames = LIVE_MAX_FRAMES,
					.jvm = walk->jvm,
					.jvm_serial = walk->jvm->serial,
					.count = (uint32_t)walk->ranges.v.len };
	struct walk going;

	(void)tid;
	note_thread(walk, regs);
	request.thread = walk->thread;
	live_walk_order(regs, request.regs);
	walk->made = (struct wire_page_key){ 0, 0 };
	walk->result.frames = walk->result.word_count = 0;
	walk_begin(&going, &request, &memory, &walk->result);
	while (walk_go_on(&going) && supply(walk, &going.cursor, walk_missing(&going)))
		;
	take_frames(&walk->result, ret_stack);
}
