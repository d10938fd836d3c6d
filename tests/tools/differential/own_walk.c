// SPDX-License-Identifier: Apache-2.0
#include "own_walk.h"
#include "heap_tables.h"
#include "row_page.h"

#include <errno.h>
#include <string.h>

#include "code_files.h"
#include "unwind/tables/row_store.h"

#define BLOCKS 65536
#define RULES  65535

struct own_walk {
	struct table_memory *memory;
	struct row_store *store;
	struct unwind_tables tables;
	struct wire_hot hots[WIRE_HOT_ENTRIES];
	VEC(struct wire_range) ranges;
	/* Whose ranges they are. */
	const struct process *process;
	uint64_t mappings_serial;
	uint32_t serial;
	const struct snapshot *snapshot; /* of the walk under way */
	bool cut;
	read_fn *trace;
	void *trace_data;
};

struct own_walk *own_walk_new(void)
{
	struct own_walk *own = xcalloc(1, sizeof(*own));

	own->memory = table_memory_new_heap(BLOCKS, RULES, 16);
	own->store = row_store_new(own->memory);
	row_store_tables(own->store, &own->tables);
	own->tables.hots = own->hots;
	return own;
}

void own_walk_free(struct own_walk *own)
{
	if (!own)
		return;
	row_store_free(own->store);
	table_memory_free_heap(own->memory);
	vec_release(&own->ranges);
	free(own);
}

void own_walk_trace(struct own_walk *own, read_fn *fn, void *data)
{
	own->trace = fn;
	own->trace_data = data;
}

const struct wire_range *own_walk_range(const struct own_walk *own, uint64_t address)
{
	for (size_t i = 0; i < own->ranges.len; i++)
		if (address >= own->ranges.items[i].start && address < own->ranges.items[i].end)
			return &own->ranges.items[i];
	return NULL;
}

void own_walk_forget(struct own_walk *own)
{
	own->process = NULL;
}

static void add_range(struct own_walk *own, const struct mapping *m)
{
	struct wire_range range = { .start = m->start, .end = m->end, .serial = own->serial };
	const struct code_file *file = code_file_get(m);

	if (file && code_file_bias(file, m, &range.bias))
		range.file = file->number;
	vec_push(&own->ranges, range);
}

static void use_process(struct own_walk *own, const struct process *process)
{
	const struct mapping *m;

	if (own->process == process && own->mappings_serial == process->mappings_serial)
		return;
	own->process = process;
	own->mappings_serial = process->mappings_serial;
	own->serial++;
	own->ranges.len = 0;
	vec_for_each (m, &process->mappings)
		add_range(own, m);
	own->tables.ranges = own->ranges.items;
	own->tables.range_count = (uint32_t)own->ranges.len;
}

static int read_snapshot(const void *data, uint64_t address, void *dst, size_t len)
{
	struct own_walk *own = *(struct own_walk *const *)data;

	if (own->trace && len == sizeof(((struct unwind_cursor *)NULL)->window))
		return -EFAULT;
	if (snapshot_read(own->snapshot, address, dst, len, &own->cut) < 0 &&
	    code_read(own->snapshot->process, address, dst, len) < 0)
		return -EFAULT;
	if (own->trace)
		own->trace(address, dst, len, own->trace_data);
	return 0;
}

/* Compile the page of ADDRESS; false when there is none to compile, or it was done already. */
static bool make_page(struct own_walk *own, uint64_t address)
{
	const struct wire_range *range = own_walk_range(own, address);
	struct code_file *file = range ? code_file_by_number(range->file) : NULL;
	struct cfi_rows rows = { VEC_INIT };
	struct wire_page_key key;
	struct err err = { 0 };
	int r;

	if (!file)
		return false;
	key = (struct wire_page_key){ file->number,
				      (uint32_t)((address - range->bias) >> WIRE_PAGE_SHIFT) };
	if (row_page_is_there(own->store, &key))
		return false;
	r = cfi_file_page(file->cfi, address - range->bias, &rows, &err);
	if (r == 0)
		r = row_store_put(own->store, &key, rows.v.items, rows.v.len, 0);
	vec_release(&rows.v);
	return r == 0;
}

static void take_frames(const struct walk_result *result, struct frames *ret_frames)
{
	ret_frames->count = MIN(result->frames, (uint32_t)MAX_FRAMES);
	for (size_t i = 0; i < ret_frames->count; i++) {
		ret_frames->pcs[i] = result->words[i] & WIRE_FRAME_ADDRESS_MASK;
		ret_frames->exact[i] = result->words[i] & WIRE_FRAME_EXACT;
	}
}

enum unwind_reason own_walk_frames(struct own_walk *own, const struct snapshot *snapshot,
				   struct frames *ret_frames)
{
	static struct walk_result result;
	struct unwind_memory memory = { .read = read_snapshot,
					.data = &own,
					.tables = &own->tables };
	struct walk_request request = { .pc = snapshot->pc, .exact = true, .listed = true };
	struct walk walk;

	use_process(own, snapshot->process);
	own->snapshot = snapshot;
	own->cut = false;
	memcpy(request.regs, snapshot->regs, sizeof(request.regs));
	request.serial = own->serial;
	request.count = (uint32_t)own->ranges.len;
	request.max_frames = WIRE_MAX_USER_FRAMES;
	result.frames = 0;
	result.word_count = 0;
	walk_begin(&walk, &request, &memory, &result);
	while (walk_go_on(&walk) && make_page(own, walk_missing(&walk)))
		;
	take_frames(&result, ret_frames);
	ret_frames->cut = own->cut && result.reason == UNWIND_PAGE;
	return result.reason;
}

struct wire_rule own_walk_rule(struct own_walk *own, uint64_t address)
{
	const struct wire_range *range = own_walk_range(own, address);
	struct code_file *file = range ? code_file_by_number(range->file) : NULL;
	struct cfi_rows rows = { VEC_INIT };
	struct wire_rule rule = { .kind = WIRE_RULE_NONE };
	struct err err = { 0 };

	if (file && cfi_file_page(file->cfi, address - range->bias, &rows, &err) == 0)
		for (size_t i = 0; i < rows.v.len; i++)
			if (rows.v.items[i].offset <=
			    ((address - range->bias) & (WIRE_PAGE_BYTES - 1)))
				rule = rows.v.items[i].rule;
	vec_release(&rows.v);
	return rule;
}
