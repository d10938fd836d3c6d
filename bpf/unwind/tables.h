/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The tables seam of the step functions: in BPF maps (unwind/table_maps.h), in userspace arrays that are
 * the same maps mapped, or a test's own. Every look-up gives NULL for what is not there.
 */
#ifndef HOSTPROF_BPF_UNWIND_TABLES_H
#define HOSTPROF_BPF_UNWIND_TABLES_H

#include "unwind/cursor.h"

#ifdef __bpf__

#include "unwind/table_maps.h"

#define tables_range(memory, index) \
	((const struct wire_range *)bpf_map_lookup_elem(&ranges, &(index)))
#define tables_page(memory, key)     ((const struct wire_page *)bpf_map_lookup_elem(&pages, (key)))
#define tables_block(memory, index)  ((struct wire_block *)bpf_map_lookup_elem(&blocks, &(index)))
#define tables_rule(memory, index)   ((const struct wire_rule *)bpf_map_lookup_elem(&rules, &(index)))
#define tables_present(memory)	     (!settings.frame_pointers_only)
#define tables_far_blob(memory, key) ((const wire_u64 *)bpf_map_lookup_elem(&far_blobs, (key)))

static __always_inline struct wire_hot *tables_hot(struct unwind_memory *memory, wire_u32 slot)
{
	wire_u32 index = bpf_get_smp_processor_id() * WIRE_HOT_ENTRIES + slot;

	return bpf_map_lookup_elem(&hots, &index);
}

static __always_inline struct wire_hot_code *tables_hot_code(struct unwind_memory *memory,
							     wire_u32 hash)
{
	wire_u32 index =
		bpf_get_smp_processor_id() * hot_code_count + (hash & (hot_code_count - 1));

	return bpf_map_lookup_elem(&hot_codes, &index);
}

static __always_inline wire_u64 *tables_met_code(struct unwind_memory *memory, wire_u32 hash)
{
	wire_u32 index = hash & (WIRE_MET_CODES - 1);

	return bpf_map_lookup_elem(&met_codes, &index);
}

static __always_inline struct wire_hot_method *tables_hot_method(struct unwind_memory *memory,
								 wire_u32 slot)
{
	wire_u32 index = bpf_get_smp_processor_id() * WIRE_HOT_METHODS + slot;

	return bpf_map_lookup_elem(&hot_methods, &index);
}

/* The JavaThread of the current thread, 0: not known. */
static __always_inline wire_u64 tables_thread(struct unwind_cursor *c)
{
	struct task_struct *task = bpf_get_current_task_btf();
	wire_u32 tid = task->pid;
	struct wire_thread *known;

	if (c->thread)
		return c->thread;
	known = bpf_map_lookup_elem(&threads, &tid);
	if (known && known->start_ns == task->start_time && known->serial == c->jvm.serial)
		c->thread = known->thread;
	return c->thread;
}

#else

struct unwind_tables {
	const struct wire_range *ranges;
	uint32_t range_count;
	uint32_t block_count;
	uint32_t rule_count;
	struct wire_block *blocks;
	const struct wire_rule *rules;
	const struct wire_page *(*page)(const struct wire_page_key *key, const void *data);
	const void *data;
	struct wire_hot *hots; /* WIRE_HOT_ENTRIES, or NULL */
	/* May be NULL, all three. */
	const wire_u64 *(*far_blob)(const struct wire_far_key *key, const void *data);
	struct wire_hot_code *hot_codes;     /* WIRE_HOT_CODES */
	wire_u64 *met_codes;		     /* WIRE_MET_CODES */
	struct wire_hot_method *hot_methods; /* WIRE_HOT_METHODS */
};

static inline const struct wire_range *tables_range(const struct unwind_memory *memory,
						    wire_u32 index)
{
	return index < memory->tables->range_count ? &memory->tables->ranges[index] : NULL;
}

static inline const struct wire_page *tables_page(const struct unwind_memory *memory,
						  const struct wire_page_key *key)
{
	return memory->tables->page(key, memory->tables->data);
}

static inline struct wire_block *tables_block(const struct unwind_memory *memory, wire_u32 index)
{
	return index < memory->tables->block_count ? &memory->tables->blocks[index] : NULL;
}

static inline const struct wire_rule *tables_rule(const struct unwind_memory *memory,
						  wire_u32 index)
{
	return index < memory->tables->rule_count ? &memory->tables->rules[index] : NULL;
}

static inline struct wire_hot *tables_hot(const struct unwind_memory *memory, wire_u32 slot)
{
	return memory->tables && memory->tables->hots ? &memory->tables->hots[slot] : NULL;
}

static inline const wire_u64 *tables_far_blob(const struct unwind_memory *memory,
					      const struct wire_far_key *key)
{
	if (!memory->tables || !memory->tables->far_blob)
		return NULL;
	return memory->tables->far_blob(key, memory->tables->data);
}

static inline struct wire_hot_code *tables_hot_code(const struct unwind_memory *memory,
						    wire_u32 hash)
{
	if (!memory->tables || !memory->tables->hot_codes)
		return NULL;
	return &memory->tables->hot_codes[hash & (WIRE_HOT_CODES - 1)];
}

static inline wire_u64 *tables_met_code(const struct unwind_memory *memory, wire_u32 hash)
{
	if (!memory->tables || !memory->tables->met_codes)
		return NULL;
	return &memory->tables->met_codes[hash & (WIRE_MET_CODES - 1)];
}

static inline struct wire_hot_method *tables_hot_method(const struct unwind_memory *memory,
							wire_u32 slot)
{
	if (!memory->tables || !memory->tables->hot_methods)
		return NULL;
	return &memory->tables->hot_methods[slot];
}

static inline wire_u64 tables_thread(const struct unwind_cursor *c)
{
	return c->thread;
}

static inline bool tables_present(const struct unwind_memory *memory)
{
	return memory->tables != NULL;
}

#endif

/*
 * FRESH, whose first word is its key, into an entry of a cpu's cache. Only the cpu's outermost walk
 * writes: one that interrupts it may find it in the middle of the same entry, which has no key then.
 */
static __always_inline void tables_keep_hot(const struct unwind_cursor *c, void *entry,
					    const void *fresh, wire_u32 bytes)
{
	volatile wire_u64 *key = entry;

	if (!entry || c->nested)
		return;
	*key = 0;
	__asm__ volatile("" ::: "memory");
	__builtin_memcpy((wire_u64 *)entry + 1, (const wire_u64 *)fresh + 1, bytes - 8);
	__asm__ volatile("" ::: "memory");
	*key = *(const wire_u64 *)fresh;
}

#endif
