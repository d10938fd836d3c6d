/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Finds the rule of a pc's code: the process's range, the file's page, the row. All of it may
 * be replaced by userspace while it is read; numbers that change with the content tell.
 */
#ifndef HOSTPROF_BPF_UNWIND_FIND_H
#define HOSTPROF_BPF_UNWIND_FIND_H

#include "unwind/tables.h"

enum unwind_found {
	UNWIND_FOUND,	  /* a rule, WIRE_RULE_NONE included */
	UNWIND_FOUND_JIT, /* code without a file */
	UNWIND_OUTSIDE,	  /* in no range */
	UNWIND_ABSENT,	  /* the page's rows, or the space's list, are not there (any more) */
};

/* 2^16 ranges in a process at most; 124 rows in a block; a page of one-byte rows has 34 blocks. */
#define FIND_RANGE_TURNS 17
#define FIND_BLOCK_TURNS 34

/* The instruction that the frame is in: of a return address the call before it. */
static inline wire_u64 find_address(const struct unwind_cursor *c)
{
	return c->exact ? c->pc : c->pc - 1;
}

/* --- range ------------------------------------------------------------------------------------ */

static inline bool find_in_range(const struct unwind_cursor *c, wire_u64 address)
{
	return address >= c->range.start && address < c->range.end;
}

/*
 * The last range that starts at or below ADDRESS, into c->range. UNWIND_FOUND: ADDRESS is in it;
 * UNWIND_ABSENT: the list was given up, and its place used again.
 */
static inline enum unwind_found find_range(struct unwind_cursor *c, struct unwind_memory *memory,
					   wire_u64 address)
{
	wire_u32 low = c->first, high = c->first + c->count;
	const struct wire_range *range;

	for (int turn = 0; turn < FIND_RANGE_TURNS && low < high; turn++) {
		wire_u32 middle = low + (high - low) / 2;

		range = tables_range(memory, middle);
		if (!range)
			return UNWIND_ABSENT;
		if (range->start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!c->count)
		return UNWIND_OUTSIDE;
	/* Below the first, that one tells whose list it is. */
	if (low > c->first)
		low--;
	c->range.start = c->range.end = 0;
	range = tables_range(memory, low);
	if (!range)
		return UNWIND_ABSENT;
	c->range = *range;
	/* It is written in the order serial 0, ranges, serial: read last, it is that of the copy. */
	__asm__ volatile("" ::: "memory");
	if (*(const volatile wire_u32 *)&range->serial != c->serial) {
		c->range.start = c->range.end = 0;
		return UNWIND_ABSENT;
	}
	return find_in_range(c, address) ? UNWIND_FOUND : UNWIND_OUTSIDE;
}

/* --- row -------------------------------------------------------------------------------------- */

/*
 * LOW, or STEP rows on if one is there that starts at or below OFFSET: both differences are negative then. Without a branch, since the verifier
 * would follow each.
 */
static inline wire_u32 find_row_from(const struct wire_block *block, wire_u32 low, wire_u32 step,
				     wire_u32 offset)
{
	wire_u32 next = low + step;
	wire_s64 is_there = (wire_s64)next - block->count;
	wire_s64 is_below = (wire_s64)block->rows[next].offset - offset - 1;

	return low + (step & (wire_u32)((is_there & is_below) >> 63));
}

/* The last row that starts at or below OFFSET, which the first one does; its rule's index. */
static inline wire_u32 find_row(const struct wire_block *block, wire_u32 offset)
{
	wire_u32 low = 0;

	/* Each step is as many as the later ones reach together and one more; all of them reach the last row. */
	low = find_row_from(block, low, 62, offset);
	low = find_row_from(block, low, 31, offset);
	low = find_row_from(block, low, 15, offset);
	low = find_row_from(block, low, 8, offset);
	low = find_row_from(block, low, 4, offset);
	low = find_row_from(block, low, 2, offset);
	low = find_row_from(block, low, 1, offset);
	return block->rows[low].rule;
}

_Static_assert(62 + 31 + 15 + 8 + 4 + 2 + 1 == WIRE_BLOCK_ROWS - 1, "the steps of find_row()");

#ifdef __bpf__

UNWIND_ALONE(wire_u32, find_row, (const struct wire_block *block, wire_u32 offset), block,
	     (block, offset), 0)

#define find_row(block, offset) find_row_alone(block, offset)

#endif

/* Find the block of a page's chain whose rows reach up to OFFSET. */
static inline struct wire_block *find_block(struct unwind_memory *memory, struct wire_block *block,
					    wire_u32 offset)
{
	for (int turn = 0; turn < FIND_BLOCK_TURNS; turn++) {
		wire_u32 next;

		if (!block || !block->next || offset < block->next_offset)
			break;
		next = block->next;
		block = tables_block(memory, next);
	}
	return block;
}

/* The rule at ADDRESS (the file's own), in the page of c->range.file. */
static inline enum unwind_found find_rule(struct unwind_cursor *c, struct unwind_memory *memory,
					  wire_u64 address, struct wire_rule *ret_rule)
{
	struct wire_page_key key = { c->range.file, (wire_u32)(address >> WIRE_PAGE_SHIFT) };
	const struct wire_page *found = tables_page(memory, &key), *again;
	wire_u32 offset = address & (WIRE_PAGE_BYTES - 1), index, first;
	struct wire_block *head, *block;
	const struct wire_rule *rule;
	wire_u32 generation;

	if (!found)
		return UNWIND_ABSENT;
	first = found->block;
	generation = found->generation;
	/* What was found may have been another page's by the time it was read; not both times. */
	again = tables_page(memory, &key);
	if (!again || again->block != first || again->generation != generation)
		return UNWIND_ABSENT;
	head = tables_block(memory, first);
	if (!head || *(volatile wire_u32 *)&head->generation != generation)
		return UNWIND_ABSENT;
	head->used_s = c->now_s;
	block = find_block(memory, head, offset);
	if (!block)
		return UNWIND_ABSENT;
	index = find_row(block, offset);
	rule = tables_rule(memory, index);
	if (!rule)
		return UNWIND_ABSENT;
	*ret_rule = *rule;
	/* Rows, chain and rules are written again only after this number was changed. */
	__asm__ volatile("" ::: "memory");
	return *(volatile wire_u32 *)&head->generation == generation ? UNWIND_FOUND : UNWIND_ABSENT;
}

/* --- hot -------------------------------------------------------------------------------------- */

static inline wire_u32 find_hot_slot(wire_u64 address)
{
	return cursor_hash(address) & (WIRE_HOT_ENTRIES - 1);
}

/* The place of ADDRESS in the cache; NULL: the walk does without. */
static inline struct wire_hot *find_hot_place(const struct unwind_cursor *c,
					      struct unwind_memory *memory, wire_u64 address)
{
	return c->uncached ? NULL : tables_hot(memory, find_hot_slot(address));
}

static inline bool find_hot(const struct unwind_cursor *c, const struct wire_hot *hot,
			    wire_u64 address, struct wire_rule *ret_rule)
{
	if (hot->pc != address || hot->serial != c->serial || hot->epoch != c->now_s >> 1)
		return false;
	*ret_rule = hot->rule;
	return true;
}

static inline void find_keep_hot(const struct unwind_cursor *c, struct wire_hot *hot,
				 wire_u64 address, const struct wire_rule *rule)
{
	struct wire_hot fresh = {
		.pc = address,
		.serial = c->serial,
		.epoch = c->now_s >> 1,
		.rule = *rule,
	};

	tables_keep_hot(c, hot, &fresh, sizeof(fresh));
}

/* The cursor's frame has called, and the frame pointer leads to the next one: what lies around pc need not be read again. */
static inline void find_keep_chained(struct unwind_cursor *c, struct unwind_memory *memory)
{
	const struct wire_rule rule = { .kind = WIRE_RULE_CHAINED, .cfa_add = c->made };
	wire_u64 address = find_address(c);
	struct wire_hot *hot = find_hot_place(c, memory, address);

	if (hot && c->serial && !c->exact)
		find_keep_hot(c, hot, address, &rule);
}

/* Is RA such a place? It is behind a call then. */
static inline bool find_is_chained(const struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 ra)
{
	struct wire_hot *hot = find_hot_place(c, memory, ra - 1);
	struct wire_rule rule;

	return hot && find_hot(c, hot, ra - 1, &rule) && rule.kind == WIRE_RULE_CHAINED;
}

/* Look the rule up in the tables. */
static inline enum unwind_found find_cold(struct unwind_cursor *c, struct unwind_memory *memory,
					  wire_u64 address, struct wire_rule *ret_rule)
{
	enum unwind_found found = UNWIND_FOUND;

	if (!find_in_range(c, address))
		found = find_range(c, memory, address);
	if (found != UNWIND_FOUND)
		return found;
	if (!c->range.file)
		return UNWIND_FOUND_JIT;
	return find_rule(c, memory, address - c->range.bias, ret_rule);
}

#ifdef __bpf__

/* Its stack is not below the steps, which come after it. */
UNWIND_ALONE(enum unwind_found, find_cold,
	     (struct unwind_cursor * c, wire_u64 address, struct wire_rule *ret_rule), c &&ret_rule,
	     (c, NULL, address, ret_rule), UNWIND_ABSENT)

#define find_cold(c, memory, address, ret_rule) find_cold_alone(c, address, ret_rule)

#endif

static inline enum unwind_found find_at_pc(struct unwind_cursor *c, struct unwind_memory *memory,
					   struct wire_rule *ret_rule)
{
	wire_u64 address = find_address(c);
	struct wire_hot *hot = find_hot_place(c, memory, address);
	enum unwind_found found;

	if (hot && find_hot(c, hot, address, ret_rule)) {
		c->hot_frames++;
		return UNWIND_FOUND;
	}
	found = find_cold(c, memory, address, ret_rule);
	if (found == UNWIND_FOUND)
		find_keep_hot(c, hot, address, ret_rule);
	return (enum unwind_found)found;
}

/* The same of another place, in which the walk does not stand; EXACT as the cursor's. */
static inline enum unwind_found find_elsewhere(struct unwind_cursor *c,
					       struct unwind_memory *memory, wire_u64 pc,
					       wire_u8 exact, struct wire_rule *ret_rule)
{
	const wire_u64 kept_pc = c->pc;
	const wire_u8 kept_exact = c->exact;
	enum unwind_found found;

	c->pc = pc;
	c->exact = exact;
	found = find_at_pc(c, memory, ret_rule);
	c->pc = kept_pc;
	c->exact = kept_exact;
	return found;
}

#endif
