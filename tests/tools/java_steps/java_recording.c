// SPDX-License-Identifier: Apache-2.0
#include "java_recording.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/hmap.h"
#include "base/strbuf.h"
#include "jvm_fields.h"
#include "leaf_state.h"

/* Deeper stacks say nothing more. */
#define MAX_FRAMES 40

struct byte {
	uint64_t address;
	uint8_t value;
};

struct bytes {
	VEC(struct byte) v;
};

struct used_row {
	uint32_t file, page;
	struct cfi_row row;
};

struct java_recording {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct live_walk *walk;
	struct frame_names *names;
	struct hmap seen;   /* hash of a state's name */
	struct hmap shared; /* address -> byte that all stacks see */
	struct bytes own;   /* of the stack at hand */
	VEC(struct wire_range) ranges;
	VEC(struct used_row) rows;
	struct strbuf stacks; /* their text */
};

struct java_recording *java_recording_new(const struct vmstructs *vs,
					  const struct jvm_layout *layout, struct live_walk *walk,
					  struct frame_names *names)
{
	struct java_recording *r = xcalloc(1, sizeof(*r));

	r->vs = vs;
	r->layout = layout;
	r->walk = walk;
	r->names = names;
	return r;
}

void java_recording_free(struct java_recording *r)
{
	if (!r)
		return;
	hmap_release(&r->seen);
	hmap_release(&r->shared);
	vec_release(&r->own.v);
	vec_release(&r->ranges);
	vec_release(&r->rows);
	strbuf_release(&r->stacks);
	free(r);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* What the first stack saw otherwise is this one's own. */
static void keep_bytes(uint64_t address, const void *bytes, size_t len, void *data)
{
	struct java_recording *r = data;
	uint64_t value;

	for (size_t i = 0; i < len; i++, address++) {
		struct byte byte = { address, ((const uint8_t *)bytes)[i] };

		if (!hmap_get(&r->shared, address, &value))
			hmap_put(&r->shared, address, byte.value);
		else if (value != byte.value)
			vec_push(&r->own.v, byte);
	}
}

static int compare_bytes(const void *a, const void *b)
{
	const struct byte *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Runs of bytes, at most 32 to a line. */
static void add_memory(struct bytes *bytes, struct strbuf *text)
{
	uint64_t next = 0;
	size_t run = 0;

	qsort(bytes->v.items, bytes->v.len, sizeof(bytes->v.items[0]), compare_bytes);
	for (size_t i = 0; i < bytes->v.len; i++) {
		const struct byte *byte = &bytes->v.items[i];

		if (i && byte->address == byte[-1].address)
			continue;
		if (!i || byte->address != next || run == 32) {
			strbuf_addf(text, "%smemory %#" PRIx64 " ", i ? "\n" : "", byte->address);
			run = 0;
		}
		strbuf_addf(text, "%02x", byte->value);
		next = byte->address + 1;
		run++;
	}
	if (bytes->v.len)
		strbuf_addch(text, '\n');
}

/* --- rows ------------------------------------------------------------------------------------- */

static void keep_range(struct java_recording *r, const struct wire_range *range)
{
	for (size_t i = 0; i < r->ranges.len; i++)
		if (r->ranges.items[i].start == range->start)
			return;
	vec_push(&r->ranges, *range);
}

static void keep_row(struct java_recording *r, uint32_t file, uint32_t page,
		     const struct cfi_row *row)
{
	struct used_row used = { file, page, *row };

	for (size_t i = 0; i < r->rows.len; i++)
		if (r->rows.items[i].file == file && r->rows.items[i].page == page &&
		    r->rows.items[i].row.offset == row->offset)
			return;
	vec_push(&r->rows, used);
}

/* The row of a frame and its neighbours: what goes wrong by one row is to show. */
static void keep_rows(struct java_recording *r, uint64_t address)
{
	const struct wire_range *range = live_walk_range(r->walk, address);
	const struct cfi_rows *rows;
	uint32_t page;
	size_t at = 0;

	if (!range)
		return;
	keep_range(r, range);
	if (!range->file)
		return;
	rows = live_walk_rows(r->walk, range, address);
	address -= range->bias;
	page = (uint32_t)(address >> WIRE_PAGE_SHIFT);
	if (!rows->v.len)
		return;
	while (at + 1 < rows->v.len &&
	       rows->v.items[at + 1].offset <= (address & (WIRE_PAGE_BYTES - 1)))
		at++;
	keep_row(r, range->file, page, &rows->v.items[0]);
	for (size_t i = at ? at - 1 : 0; i < rows->v.len && i <= at + 1; i++)
		keep_row(r, range->file, page, &rows->v.items[i]);
}

static int compare_rows(const void *a, const void *b)
{
	const struct used_row *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->row.offset < y->row.offset ? -1 : x->row.offset > y->row.offset;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct wire_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void print_tables(FILE *f, const struct java_recording *r)
{
	const struct wire_range *range;
	const struct used_row *used;

	vec_for_each (range, &r->ranges)
		fprintf(f, "range %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %u\n", range->start,
			range->end, range->bias, range->file);
	vec_for_each (used, &r->rows) {
		const struct wire_rule *rule = &used->row.rule;

		fprintf(f, "row %u %#x %#x  %u %u %d %d %u %u %u %u %u %u %u\n", used->file,
			used->page, used->row.offset, rule->kind, rule->cfa_reg, rule->cfa_offset,
			rule->cfa_add, rule->ra_slot, rule->rbx_slot, rule->rbp_slot,
			rule->r13_slot, rule->r15_slot, rule->cfa_index, rule->home_reg);
	}
}

/* --- one stack -------------------------------------------------------------------------------- */

static void add_word(struct strbuf *text, const char *name)
{
	for (; *name; name++)
		strbuf_addch(text, isspace((unsigned char)*name) ? '_' : *name);
	strbuf_addch(text, '\n');
}

static void add_stack(struct java_recording *r, const char *state,
		      const struct user_regs_struct *regs, const struct live_stack *stack)
{
	uint64_t ordered[16];

	live_walk_order(regs, ordered);
	strbuf_addf(&r->stacks, "stack %s\npc %#llx\n", state, regs->rip);
	for (int i = 0; i < 16; i++)
		strbuf_addf(&r->stacks, "reg %d %#" PRIx64 "\n", i, ordered[i]);
	strbuf_addf(&r->stacks, "thread %#" PRIx64 "\n", live_walk_thread(r->walk));
	for (size_t i = 0; i < stack->count; i++) {
		const struct live_frame *frame = &stack->frames[i];

		strbuf_addf(&r->stacks, "frame %#" PRIx64 " ", live_frame_address(frame));
		add_word(&r->stacks, frame_names_find(r->names, frame));
	}
	add_memory(&r->own, &r->stacks);
}

static void record(struct java_recording *r, const char *state, const struct user_regs_struct *regs,
		   uint32_t tid, const struct live_stack *stack)
{
	static struct live_stack again;

	r->own.v.len = 0;
	live_walk_trace(r->walk, keep_bytes, r);
	live_walk_take(r->walk, tid, regs, &again);
	live_walk_trace(r->walk, NULL, NULL);
	if (again.count != stack->count || again.reason != stack->reason)
		return;
	for (size_t i = 0; i < stack->count; i++)
		if (live_frame_kind(&stack->frames[i]) == WIRE_FRAME_CODE)
			keep_rows(r, live_frame_address(&stack->frames[i]) -
					     !(stack->frames[i].words[0] & WIRE_FRAME_EXACT));
	add_stack(r, state, regs, stack);
}

void java_recording_add(struct java_recording *r, const struct user_regs_struct *regs, uint32_t tid,
			const struct live_stack *stack, enum step_change change)
{
	char state[LEAF_STATE_BYTES];
	uint64_t key, value;

	if (stack->count > MAX_FRAMES)
		return;
	leaf_state_name(r->vs, r->layout, r->names, r->walk, regs, stack, change, state);
	key = hash_bytes(state, strlen(state));
	if (hmap_get(&r->seen, key, &value))
		return;
	hmap_put(&r->seen, key, 1);
	record(r, state, regs, tid, stack);
}

/* ---------------------------------------------------------------------------------------------- */

static void take_shared(const struct java_recording *r, struct bytes *bytes)
{
	uint64_t address, value;

	for (size_t at = 0; hmap_next(&r->shared, &at, &address, &value);) {
		struct byte byte = { address, (uint8_t)value };

		vec_push(&bytes->v, byte);
	}
}

int java_recording_write(const struct java_recording *recording, const char *path)
{
	struct java_recording r = *recording; /* sorting moves nothing of its owner's */
	struct strbuf text = STRBUF_INIT;
	struct bytes bytes = { VEC_INIT };
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	jvm_fields_print(f, &r.layout->wire);
	qsort(r.ranges.items, r.ranges.len, sizeof(r.ranges.items[0]), compare_ranges);
	qsort(r.rows.items, r.rows.len, sizeof(r.rows.items[0]), compare_rows);
	print_tables(f, &r);
	take_shared(&r, &bytes);
	add_memory(&bytes, &text);
	fprintf(f, "%s%s", strbuf_str(&text), strbuf_str(&r.stacks));
	vec_release(&bytes.v);
	strbuf_release(&text);
	return fclose(f) ? -errno : 0;
}
