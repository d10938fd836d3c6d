// SPDX-License-Identifier: Apache-2.0
/*
 * Walk by made-up tables: ranges, pages, blocks, rules and hot entries, of which some change while
 * the walk reads them, and a walk that is gone on with after misses. No input may read outside the
 * tables, write outside the words, or go on for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "check_words.h"
#include "unwind/walk.h"
#include "walk_copy.h"

#define STACK_AT 0x7ffff0000000ULL
#define CODE_AT	 0x400000ULL

enum option {
	OPTION_CALLER = 1,
	OPTION_LINKED = 2,
	OPTION_INEXACT = 4,
	OPTION_LISTED = 8,
	OPTION_HOT = 16,
	OPTION_ANEW = 32, /* every second miss is gone on with by a walk of its own */
	OPTION_GO = 64,	  /* a thread of Go's, of which registers say where it has its own things */
	OPTION_PROBED = 128, /* the same of the place where returns are probed */
};

#define MOST_MISSES  16
#define MOST_CHANGES 4

/* Overwrites eight bytes of a table in the middle of a walk. */
struct change {
	uint16_t when;	/* at so many reads and look-ups */
	uint8_t table;	/* enum table */
	uint8_t at_row; /* in units of eight bytes, from `at` 512 bytes on */
	uint32_t at;
	uint64_t value;
};

struct fixed {
	uint8_t options;
	uint8_t ranges, rules, pages, blocks, hots; /* elements that follow */
	uint16_t stack_bytes;
	uint32_t serial, first, count, max_frames;
	uint64_t pc;
	uint64_t regs[16];
	struct wire_jvm jvm;
	struct change changes[MOST_CHANGES];
};

struct page_entry {
	struct wire_page_key key;
	struct wire_page page;
};

/* Entries are few: each names its slot. */
struct hot_entry {
	uint64_t slot;
	struct wire_hot hot;
};

enum table { TABLE_RANGES, TABLE_RULES, TABLE_PAGES, TABLE_BLOCKS, TABLE_HOTS, TABLE_COUNT };

struct made {
	struct fixed fixed;
	uint8_t *bytes[TABLE_COUNT]; /* allocated to the byte, so that the sanitizer sees all */
	size_t lens[TABLE_COUNT];
	struct unwind_tables tables;
	struct walk_piece pieces[2];
	struct walk_copy copy;
	struct unwind_memory copied, memory;
	uint8_t *stack;
	uint32_t turns;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Mutations rarely hit an address: the top byte 1 or 2 makes one, in the stack or in the code. */
static uint64_t place(uint64_t value)
{
	switch (value >> 56) {
	case 1: return STACK_AT + (value & 0xffff);
	case 2: return CODE_AT + (value & 0xffffff);
	default: return value;
	}
}

static void take_turn(struct made *m)
{
	m->turns++;
	for (size_t i = 0; i < MOST_CHANGES; i++) {
		const struct change *change = &m->fixed.changes[i];
		size_t table = change->table % TABLE_COUNT;
		uint64_t at = change->at * 512ULL + change->at_row * 8ULL;

		if (change->when == m->turns && at + 8 <= m->lens[table])
			memcpy(m->bytes[table] + at, &change->value, 8);
	}
}

static int read_made(const void *data, uint64_t address, void *dst, size_t len)
{
	struct made *m = *(struct made *const *)data;

	take_turn(m);
	return memory_read(&m->copied, dst, len, address);
}

static const struct wire_page *find_made_page(const struct wire_page_key *key, const void *data)
{
	struct made *m = *(struct made *const *)data;
	struct page_entry *entries = (struct page_entry *)(void *)m->bytes[TABLE_PAGES];

	take_turn(m);
	for (size_t i = 0; i < m->fixed.pages; i++)
		if (entries[i].key.file == key->file && entries[i].key.page == key->page)
			return &entries[i].page;
	return NULL;
}

/* Ways out of code of which nothing is known, within what honest ones may be: what the registers make of it. */
static uint32_t find_made_exits(const void *data, uint64_t pc, struct unwind_exit *ret_exits)
{
	struct made *m = *(struct made *const *)data;
	const uint32_t count = (uint32_t)(pc >> 3) % 3;

	take_turn(m);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t word = m->fixed.regs[(pc + i) % 16];

		ret_exits[i] = (struct unwind_exit){
			.jump = word & 1 ? place(m->fixed.regs[(pc + i + 1) % 16]) : 0,
			.sp = (int32_t)(word >> 1 & 0x3ff8),
			.rbx = word & 2 ? EXITS_KEPT : (int32_t)(word >> 16 & 0x3ff8),
			.rbp = word & 4 ? EXITS_KEPT : (int32_t)(word >> 24 & 0x3ff8),
			.r13 = EXITS_KEPT,
			.r15 = (int32_t)(word >> 32 & 0x3ff8),
		};
	}
	return count;
}

/* COUNT elements of SIZE bytes from the input, zeros behind its end. */
static void take(struct made *m, enum table table, size_t count, size_t size, const uint8_t **data,
		 size_t *len)
{
	size_t want = count * size, have = want < *len ? want : *len;

	m->lens[table] = want;
	m->bytes[table] = calloc(1, want ? want : 1);
	memcpy(m->bytes[table], *data, have);
	*data += have;
	*len -= have;
}

static void make_hots(struct made *m, const uint8_t **data, size_t *len)
{
	struct wire_hot *hots = calloc(WIRE_HOT_ENTRIES, sizeof(*hots));

	for (size_t i = 0; i < m->fixed.hots && *len >= sizeof(struct hot_entry); i++) {
		struct hot_entry entry;

		memcpy(&entry, *data, sizeof(entry));
		*data += sizeof(entry);
		*len -= sizeof(entry);
		entry.hot.pc = place(entry.hot.pc);
		hots[entry.slot % WIRE_HOT_ENTRIES] = entry.hot;
	}
	m->bytes[TABLE_HOTS] = (uint8_t *)hots;
	m->lens[TABLE_HOTS] = WIRE_HOT_ENTRIES * sizeof(*hots);
}

static void make_tables(struct made *m, const uint8_t **data, size_t *len)
{
	const struct fixed *fixed = &m->fixed;
	struct wire_range *ranges;

	take(m, TABLE_RANGES, fixed->ranges, sizeof(struct wire_range), data, len);
	take(m, TABLE_RULES, fixed->rules, sizeof(struct wire_rule), data, len);
	take(m, TABLE_PAGES, fixed->pages, sizeof(struct page_entry), data, len);
	take(m, TABLE_BLOCKS, fixed->blocks, sizeof(struct wire_block), data, len);
	make_hots(m, data, len);
	ranges = (struct wire_range *)(void *)m->bytes[TABLE_RANGES];
	for (size_t i = 0; i < fixed->ranges; i++) {
		ranges[i].start = place(ranges[i].start);
		ranges[i].end = place(ranges[i].end);
	}
	m->tables = (struct unwind_tables){
		.ranges = ranges,
		.range_count = fixed->ranges,
		.block_count = fixed->blocks,
		.rule_count = fixed->rules,
		.blocks = (struct wire_block *)(void *)m->bytes[TABLE_BLOCKS],
		.rules = (const struct wire_rule *)(const void *)m->bytes[TABLE_RULES],
		.page = find_made_page,
		.hots = fixed->options & OPTION_HOT
				? (struct wire_hot *)(void *)m->bytes[TABLE_HOTS]
				: NULL,
	};
}

/* What is left of the input: words of the stack, then code. */
static void make_memory(struct made *m, const uint8_t *data, size_t len)
{
	size_t stack = m->fixed.stack_bytes < len ? m->fixed.stack_bytes : len;

	m->stack = malloc(stack ? stack : 1);
	memcpy(m->stack, data, stack);
	for (size_t at = 0; at + 8 <= stack; at += 8) {
		uint64_t word;

		memcpy(&word, m->stack + at, 8);
		word = place(word);
		memcpy(m->stack + at, &word, 8);
	}
	m->pieces[0] = (struct walk_piece){ STACK_AT, stack, m->stack };
	m->pieces[1] = (struct walk_piece){ CODE_AT, len - stack, data + stack };
	m->copy = (struct walk_copy){ m->pieces, 2 };
	m->copied = walk_memory_of_copy(&m->copy);
}

/* As userspace goes on with a walk that BPF has begun. */
static void begin_anew(struct made *m, struct walk *walk, struct walk_request *request)
{
	const struct unwind_cursor *c = &walk->cursor;

	request->pc = c->pc;
	memcpy(request->regs, c->leaf_regs, sizeof(request->regs));
	request->regs[DWARF_RBX] = c->rbx;
	request->regs[DWARF_RBP] = c->fp;
	request->regs[DWARF_RSP] = c->sp;
	request->regs[DWARF_R13] = c->r13;
	request->regs[DWARF_R15] = c->r15;
	request->caller = !c->leaf;
	request->linked = c->linked;
	request->regs_kept = c->regs_kept;
	request->exact = c->exact;
	request->serial = m->fixed.serial | 1;
	walk_begin(walk, request, &m->memory, walk->result);
}

static void walk_made(struct made *m, struct walk_result *result)
{
	const struct fixed *fixed = &m->fixed;
	struct walk_request request = {
		.pc = place(fixed->pc),
		.caller = fixed->options & OPTION_CALLER,
		.linked = fixed->options & OPTION_LINKED,
		.exact = !(fixed->options & OPTION_INEXACT),
		.max_frames = 1 + fixed->max_frames % WIRE_MAX_USER_FRAMES,
		.jvm = &fixed->jvm,
		.serial = fixed->serial,
		.first = fixed->first,
		.count = fixed->count,
		.listed = fixed->options & OPTION_LISTED,
	};
	struct walk walk;

	if (fixed->options & OPTION_GO) {
		request.tls = place(fixed->regs[15]);
		request.stack_top = place(fixed->regs[12]);
	}
	if (fixed->options & OPTION_PROBED)
		request.trampoline = place(fixed->regs[14]);

	for (int i = 0; i < 16; i++)
		request.regs[i] = place(fixed->regs[i]);
	result->frames = 0;
	result->word_count = 0;
	walk_begin(&walk, &request, &m->memory, result);
	for (int misses = 0; walk_go_on(&walk) && misses < MOST_MISSES; misses++) {
		check_words(result, request.max_frames);
		walk_missing(&walk);
		take_turn(m);
		if (misses % 2 && fixed->options & OPTION_ANEW)
			begin_anew(m, &walk, &request);
	}
	check_words(result, request.max_frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct walk_result result;
	struct made made = { .turns = 0 };
	struct made *self = &made;

	if (size < sizeof(made.fixed))
		return 0;
	memcpy(&made.fixed, data, sizeof(made.fixed));
	data += sizeof(made.fixed);
	size -= sizeof(made.fixed);
	make_tables(&made, &data, &size);
	make_memory(&made, data, size);
	made.tables.data = &self;
	made.memory =
		(struct unwind_memory){ .read = read_made, .data = &self, .tables = &made.tables };
	made.memory.exits = find_made_exits;
	walk_made(&made, &result);
	for (int i = 0; i < TABLE_COUNT; i++)
		free(made.bytes[i]);
	free(made.stack);
	return 0;
}
