// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_gopcln.h"

#include <string.h>

#include "elf/cfi/cfi_layer.h"
#include "elf/go/go_switch.h"

/* So many of a page: the shortest have 16 bytes. */
#define MAX_OF_A_PAGE 256
#define MAX_NAME      64

static const struct wire_rule no_rule = { .kind = WIRE_RULE_NONE };

/*
 * The compiler and the assembler save %rbp directly below the return address in every frame
 * (cmd/internal/obj/x86/obj6.go).
 */
static struct wire_rule rule_of(int32_t grown)
{
	struct wire_rule rule = { .kind = WIRE_RULE_CFA, .cfa_reg = DWARF_RSP, .ra_slot = 1 };

	/* -8: the return address was popped, and still is where it was (rawVforkSyscall) */
	if (grown < -8 || grown > INT32_MAX - 8)
		return (struct wire_rule){ .kind = WIRE_RULE_BAD };
	rule.cfa_offset = grown + 8;
	if (grown >= 8)
		rule.rbp_slot = 2;
	return rule;
}

/*
 * Up to Go 1.20 a frame grows at once, and the next instruction, MOVQ BP, x(SP), saves %rbp: how many bytes it has; 0: it is another
 * one.
 */
static uint32_t saving_bytes(const struct go_table *table, uint64_t pc)
{
	uint8_t code[4];

	if (go_table_code(table, pc, code, sizeof(code)) != sizeof(code) || code[0] != 0x48 ||
	    code[1] != 0x89 || code[3] != 0x24)
		return 0;
	switch (code[2]) {
	case 0x2c: return 4;
	case 0x6c: return 5;
	case 0xac: return 8;
	default: return 0;
	}
}

static void put_rule(uint64_t from, uint64_t to, uint64_t page, const struct wire_rule *rule,
		     struct cfi_rows *rows)
{
	if (from < to && to > page && from < page + WIRE_PAGE_BYTES)
		cfi_rows_put(rows, (uint32_t)(MAX(from, page) - page), rule);
}

/* False when the list's bytes end before its function. */
static bool put_steps(const struct go_table *table, struct go_steps *steps,
		      const struct go_function *function, uint64_t page, struct cfi_rows *rows)
{
	const uint64_t end = MIN(function->end, page + WIRE_PAGE_BYTES);
	int32_t before = -1;

	while (steps->end < end && go_steps_next(steps)) {
		struct wire_rule rule = rule_of(steps->value), unsaved = rule;
		uint64_t saved = steps->pc;

		if (before == 0 && rule.rbp_slot && steps->end > page)
			saved = MIN(saved + saving_bytes(table, saved), steps->end);
		before = steps->value;
		unsaved.rbp_slot = 0;
		put_rule(steps->pc, saved, page, &unsaved, rows);
		put_rule(saved, steps->end, page, &rule, rows);
	}
	put_rule(steps->end, end, page, &no_rule, rows);
	return !steps->bytes.bad;
}

static void put_function(const struct go_table *table, const struct go_function *function,
			 uint64_t page, struct cfi_rows *rows)
{
	static const uint64_t lengths[] = { GO_STEPS_SHORT, GO_STEPS_LONG };
	size_t before = rows->v.len; /* 1 at least */
	const struct cfi_row last = rows->v.items[before - 1];

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct go_steps steps;

		rows->v.len = before;
		rows->v.items[before - 1] = last; /* a row at the same place replaces it */
		if (!go_steps_begin(&steps, table, function->pcsp, function->start, lengths[i]) ||
		    put_steps(table, &steps, function, page, rows))
			break;
	}
	if (function->end < page + WIRE_PAGE_BYTES)
		cfi_rows_put(rows, (uint32_t)(function->end - page), &no_rule);
}

void cfi_gopcln_rows(const struct go_table *table, uint64_t page, struct cfi_rows *rows)
{
	uint64_t at = go_table_find(table, page), last = 0;
	struct go_function function;

	rows->v.len = 0;
	cfi_rows_put(rows, 0, &no_rule);
	for (int i = 0; i < MAX_OF_A_PAGE && at < table->at.count; i++, at++) {
		if (!go_table_function_at(table, at, &function) || function.start < last ||
		    function.start >= page + WIRE_PAGE_BYTES)
			break;
		last = function.end;
		if (function.end > page)
			put_function(table, &function, page, rows);
	}
}

static void add_root(const struct go_table *table, const struct go_entry *entries,
		     struct go_switch *switches, struct cfi_roots *roots)
{
	struct go_function function;
	char name[MAX_NAME];

	if (!go_table_function(table, entries, &function))
		return;
	/* All of them are written in assembly; before 1.18 nothing says which are. */
	if (table->at.form >= GO_1_18 && !(function.flags & GO_FLAG_ASSEMBLY))
		return;
	if (!go_table_text(table, table->at.names, function.name, name, sizeof(name)))
		return;
	if (!go_switch_look(switches, table, &function, name))
		cfi_roots_add_go_function(roots, name, function.start,
					  function.end - function.start);
}

static void add_switches(const struct go_switch *s, struct cfi_roots *roots)
{
	const struct wire_rule frame = { .kind = WIRE_RULE_FP },
			       callers = { .kind = WIRE_RULE_FP, .cfa_add = 1 },
			       end = { .kind = WIRE_RULE_END },
			       nosave = { .kind = WIRE_RULE_DEREF,
					  .cfa_reg = DWARF_RSP,
					  .cfa_offset = s->nosave_at,
					  .cfa_add = 1,
					  .ra_slot = 1 };
	const bool has_goroutine = go_switch_has_goroutine(s);
	const enum wire_left mcall = s->make_frames ? WIRE_LEFT_BY_MCALL_FRAMED
						    : WIRE_LEFT_BY_MCALL,
			     systemstack = s->make_frames ? WIRE_LEFT_BY_SYSTEMSTACK_FRAMED
							  : WIRE_LEFT_BY_SYSTEMSTACK;
	struct wire_rule goroutine[WIRE_LEFT_COUNT];

	for (int left = 0; left < WIRE_LEFT_COUNT; left++)
		goroutine[left] = (struct wire_rule){ .kind = WIRE_RULE_GOROUTINE,
						      .cfa_offset = (int32_t)s->curg,
						      .cfa_add = (int16_t)left,
						      .ra_slot = s->g_slot,
						      .rbp_slot = s->bp_slot };
	if (has_goroutine || !s->make_frames) {
		cfi_roots_add(roots, s->systemstack.start, s->systemstack.end,
			      has_goroutine ? &goroutine[systemstack] : &callers);
		cfi_roots_add(roots, s->mcall.start, s->mcall.end,
			      has_goroutine ? &goroutine[mcall] : &callers);
	}
	cfi_roots_add(roots, s->asmcgocall.start, s->asmcgocall.end,
		      has_goroutine ? &goroutine[WIRE_LEFT_BY_SYSTEMSTACK] : &callers);
	cfi_roots_add(roots, s->nosave.start, s->nosave.end, &nosave);
	cfi_roots_add(roots, s->morestack.start, s->morestack.end,
		      has_goroutine ? &goroutine[WIRE_LEFT_BY_MORESTACK] : &frame);
	cfi_roots_add(roots, s->thread.start, s->thread.end, &end);
}

void cfi_gopcln_add_roots(const struct go_table *table, struct cfi_roots *roots)
{
	struct go_entry entries[GO_MAX_ENTRIES];
	struct go_switch switches = { 0 };
	size_t n;

	/* The last entry of a piece is the first of the next one. */
	for (uint64_t at = 0; at < table->at.count; at += n - 1) {
		n = go_table_entries(table, at, entries, GO_MAX_ENTRIES);
		if (n < 2)
			break;
		for (size_t i = 0; i + 1 < n; i++)
			add_root(table, &entries[i], &switches, roots);
	}
	add_switches(&switches, roots);
}
