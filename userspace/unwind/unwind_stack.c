// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_stack.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "process/proc.h"

/* Stacks are up to 8 MB (ulimit -s): an address that is farther above is another one's. */
#define STACK_REACH (64ULL << 20)

/* --- pages of the process --------------------------------------------------------------------- */

#define PAGE_BYTES 4096
#define PAGE_SLOTS 64

struct page {
	uint64_t address; /* 0: empty */
	uint8_t data[PAGE_BYTES];
};

/* Direct-mapped by page number. */
struct unwind_pages {
	struct page pages[PAGE_SLOTS];
};

struct unwind_pages *unwind_pages_new(void)
{
	return xcalloc(1, sizeof(struct unwind_pages));
}

void unwind_pages_free(struct unwind_pages *pages)
{
	free(pages);
}

void unwind_pages_drop(struct unwind_pages *pages)
{
	for (size_t i = 0; i < PAGE_SLOTS; i++)
		pages->pages[i].address = 0;
}

static const uint8_t *fetch(struct unwind_pages *pages, uint32_t pid, uint64_t start)
{
	struct page *page = &pages->pages[start / PAGE_BYTES % PAGE_SLOTS];

	if (page->address == start && start)
		return page->data;
	page->address = 0;
	if (!start || proc_read_memory(pid, start, page->data, PAGE_BYTES) < 0)
		return NULL;
	page->address = start;
	return page->data;
}

static int read_process(const struct unwind_stack *stack, uint64_t address, void *dst, size_t len)
{
	uint8_t *out = dst;

	while (len) {
		size_t at = address % PAGE_BYTES, part = MIN(len, PAGE_BYTES - at);
		const uint8_t *page = fetch(stack->pages, stack->miss->tgid, address - at);

		if (!page)
			return -EFAULT;
		memcpy(out, page + at, part);
		out += part;
		address += part;
		len -= part;
	}
	return 0;
}

/* --- what came with the miss ------------------------------------------------------------------ */

static bool is_within(uint64_t address, size_t len, uint64_t start, uint64_t piece_len)
{
	return address >= start && address - start <= piece_len &&
	       len <= piece_len - (address - start);
}

/* PIECES lie at FROM, one after the other. 0, or -ENOENT. */
static int read_piece(const struct wire_piece *pieces, uint32_t count, const uint8_t *from,
		      uint64_t address, void *dst, size_t len)
{
	for (uint32_t i = 0; i < count; i++) {
		if (is_within(address, len, pieces[i].at, pieces[i].bytes)) {
			memcpy(dst, from + (address - pieces[i].at), len);
			return 0;
		}
		from += pieces[i].bytes;
	}
	return -ENOENT;
}

/* 0, or -ENOENT. */
static int read_copy(const struct wire_miss *miss, uint64_t address, void *dst, size_t len)
{
	uint64_t code_at = miss->pc - WIRE_MISS_CODE_BEHIND;
	const uint8_t *heap = miss->copy + miss->copy_bytes;

	if (is_within(address, len, miss->copy_at, miss->copy_bytes)) {
		memcpy(dst, miss->copy + (address - miss->copy_at), len);
		return 0;
	}
	if (miss->code_bytes && is_within(address, len, code_at, miss->code_bytes)) {
		memcpy(dst, miss->code + (address - code_at), len);
		return 0;
	}
	if (read_piece(miss->heap, miss->heap_count, heap, address, dst, len) == 0)
		return 0;
	return read_piece(miss->beyond, miss->beyond_count, heap + miss->heap_bytes, address, dst,
			  len);
}

/* The stack as it was at the sample. What proves that a copy may be read on says nothing of another stack. 0, or -ENOENT. */
static int read_sampled(const struct unwind_stack *stack, uint64_t address, void *dst, size_t len)
{
	int r = read_copy(stack->miss, address, dst, len);

	if (r < 0 && stack->alive && !stack->cursor->elsewhere)
		r = stack_rest_read(stack->rest, stack->miss, stack->cursor->sp, address, dst, len);
	return r;
}

/* Of the JavaThread what was sampled; DST holds what is there now. */
static void put_thread(const struct unwind_stack *stack, uint64_t address, uint8_t *dst, size_t len)
{
	const struct wire_miss *miss = stack->miss;
	const struct wire_jvm *jvm = &stack->cursor->jvm;
	const bool anchor = jvm->thread_anchor != WIRE_JVM_ABSENT;

	const struct {
		bool known;
		uint32_t offset;
		uint64_t value;
	} words[] = {
		{ anchor, (uint32_t)jvm->thread_anchor + jvm->anchor_sp, miss->anchor[0] },
		{ anchor, (uint32_t)jvm->thread_anchor + jvm->anchor_pc, miss->anchor[1] },
		{ anchor, (uint32_t)jvm->thread_anchor + jvm->anchor_fp, miss->anchor[2] },
		{ miss->cont_entry != 0, jvm->thread_cont_entry, miss->cont_entry },
		{ miss->unpacking != WIRE_MISS_UNKNOWN && jvm->unpacking.array,
		  jvm->unpacking.array, miss->unpacking },
	};

	if (!miss->thread || !jvm->serial)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		uint64_t at = miss->thread + words[i].offset;

		if (words[i].known && is_within(at, sizeof(at), address, len))
			memcpy(dst + (at - address), &words[i].value, sizeof(words[i].value));
	}
}

static int read_other(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct unwind_stack *stack = data;

	if (read_sampled(stack, address, dst, len) == 0)
		return 0;
	if (!stack->alive || read_process(stack, address, dst, len) < 0)
		return -EFAULT;
	put_thread(stack, address, dst, len);
	return 0;
}

static int read_stack(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct unwind_stack *stack = data;
	int r = read_sampled(stack, address, dst, len);

	*stack->failed_at = r < 0 ? address : 0;
	return r < 0 ? -EFAULT : 0;
}

static int read_code(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct unwind_stack *stack = data;

	return proc_read_memory(stack->miss->tgid, address, dst, len) < 0 ? -EFAULT : 0;
}

static uint32_t find_exits(const void *data, uint64_t pc, struct unwind_exit *ret)
{
	const struct unwind_stack *stack = data;
	const struct code_source source = { stack->miss->tgid, read_code, stack };

	return stack->alive ? code_exits_find(stack->exits, &source, pc, clock_now_ns(), ret) : 0;
}

struct unwind_memory unwind_stack_memory(const struct unwind_stack *stack,
					 const struct unwind_tables *tables)
{
	return (struct unwind_memory){ .read = read_other,
				       .read_stack = read_stack,
				       .data = stack,
				       .exits = find_exits,
				       .tables = tables };
}

bool unwind_stack_still_has(const struct unwind_stack *stack, uint64_t fp, uint64_t method)
{
	uint64_t slot = fp + (uint64_t)((int64_t)stack->cursor->jvm.method_slot * 8);
	/* The caller's frame pointer, and where it goes on. */
	uint64_t then[2], now[2], word;

	return stack->alive && read_sampled(stack, fp, then, sizeof(then)) == 0 &&
	       read_process(stack, fp, now, sizeof(now)) == 0 &&
	       memcmp(now, then, sizeof(now)) == 0 &&
	       read_process(stack, slot, &word, sizeof(word)) == 0 && word == method;
}

bool unwind_stack_ended(const struct unwind_stack *stack)
{
	const struct wire_miss *miss = stack->miss;

	return *stack->failed_at >= miss->copy_at &&
	       *stack->failed_at < miss->copy_at + miss->copy_bytes + STACK_REACH;
}
