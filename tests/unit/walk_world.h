/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of one process, made by hand, for tests of walks by rows. */
#ifndef HOSTPROF_TESTS_WALK_WORLD_H
#define HOSTPROF_TESTS_WALK_WORLD_H

#include <string.h>

#include "base/macros.h"
#include "unwind/walk.h"
#include "walk_copy.h"

#define STACK_AT    0x700000000000ULL
#define STACK_WORDS 1024
#define TEXT_AT	    0x400000ULL /* where the file is mapped */
#define BIAS	    0x3fe000ULL /* its text begins at 0x2000 */
#define TEXT_PAGES  4
#define SERIAL	    7
#define FILE_NUMBER 3

enum { RULE_NONE, RULE_END, RULE_FIRST_FREE };

/* A process with one file of four pages, and code without a file behind it. */
struct world {
	uint64_t stack[STACK_WORDS];
	uint8_t code[64];
	struct walk_piece pieces[2];
	struct walk_copy copy;
	struct wire_range ranges[4];
	struct wire_page pages[TEXT_PAGES];
	bool present[TEXT_PAGES];
	struct wire_block blocks[16];
	struct wire_rule rules[32];
	uint32_t rule_count;
	struct wire_hot hots[WIRE_HOT_ENTRIES];
	struct unwind_tables tables;
	struct unwind_memory memory;
	struct walk_request request;
	struct walk_result result;
	struct walk walk;
};

static struct world w;

static const struct wire_page *find_page(const struct wire_page_key *key, const void *data)
{
	const struct world *world = data;
	uint32_t number = key->page - 2;

	if (key->file != FILE_NUMBER || number >= TEXT_PAGES || !world->present[number])
		return NULL;
	return &world->pages[number];
}

/* Page NUMBER has one block, number + 1; generation 10 + number. */
static inline void add_page(uint32_t number)
{
	struct wire_block *block = &w.blocks[number + 1];

	block->generation = 10 + number;
	block->count = 1;
	block->rows[0] = (struct wire_row){ 0, RULE_END };
	w.pages[number] = (struct wire_page){ number + 1, 10 + number };
	w.present[number] = true;
}

static inline int set_up(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	memset(w.code, 0x90, sizeof(w.code));
	w.pieces[0] = (struct walk_piece){ STACK_AT, sizeof(w.stack), (uint8_t *)w.stack };
	w.pieces[1] = (struct walk_piece){ TEXT_AT, sizeof(w.code), w.code };
	w.copy = (struct walk_copy){ w.pieces, 2 };
	w.ranges[1] = (struct wire_range){ TEXT_AT, TEXT_AT + TEXT_PAGES * WIRE_PAGE_BYTES, BIAS,
					   FILE_NUMBER, SERIAL };
	w.ranges[2] = (struct wire_range){ 0x500000, 0x501000, 0, 0, SERIAL };
	w.rules[RULE_END].kind = WIRE_RULE_END;
	w.rule_count = RULE_FIRST_FREE;
	for (uint32_t i = 0; i < TEXT_PAGES; i++)
		add_page(i);
	w.tables = (struct unwind_tables){ .ranges = w.ranges,
					   .range_count = ARRAY_SIZE(w.ranges),
					   .block_count = ARRAY_SIZE(w.blocks),
					   .rule_count = ARRAY_SIZE(w.rules),
					   .blocks = w.blocks,
					   .rules = w.rules,
					   .page = find_page,
					   .data = &w };
	w.memory = walk_memory_of_copy(&w.copy);
	w.memory.tables = &w.tables;
	w.request = (struct walk_request){
		.pc = TEXT_AT + 0x100, .exact = true, .serial = SERIAL, .first = 1, .count = 2
	};
	w.request.regs[DWARF_RSP] = STACK_AT;
	return 0;
}

static inline uint64_t stack_at(uint32_t word)
{
	return STACK_AT + 8ULL * word;
}

/* CFA = %rsp + BYTES, return address below it, all registers as they were. */
static inline struct wire_rule rule_rsp(int32_t bytes)
{
	return (struct wire_rule){
		.kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .cfa_offset = bytes, .ra_slot = 1
	};
}

static inline uint16_t add_rule(struct wire_rule rule)
{
	assert_true(w.rule_count < ARRAY_SIZE(w.rules));
	w.rules[w.rule_count] = rule;
	return (uint16_t)w.rule_count++;
}

/* From OFFSET of page NUMBER on RULE holds; rows are added in order. */
static inline void add_row(uint32_t number, uint16_t offset, struct wire_rule rule)
{
	struct wire_block *block = &w.blocks[number + 1];

	block->rows[block->count++] = (struct wire_row){ offset, add_rule(rule) };
}

/* The whole of page NUMBER has RULE. */
static inline void set_page(uint32_t number, struct wire_rule rule)
{
	w.blocks[number + 1].rows[0].rule = add_rule(rule);
}

static inline void expect_walk(uint32_t frames, enum unwind_reason reason)
{
	walk_stack(&w.request, &w.memory, &w.result);
	assert_int_equal(w.result.reason, reason);
	assert_int_equal(w.result.frames, frames);
}

static inline void expect_frame(uint32_t at, uint64_t pc)
{
	assert_int_equal(w.result.words[at] & WIRE_FRAME_ADDRESS_MASK, pc);
}

/* Page 0 holds the leaf, page 1 its caller, page 2 the outermost frame. */
#define CALLER	  (TEXT_AT + 0x1100)
#define OUTERMOST (TEXT_AT + 0x2100)

static inline void begin_walk(void)
{
	memset(&w.result, 0, sizeof(w.result));
	walk_begin(&w.walk, &w.request, &w.memory, &w.result);
}

#endif
