/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* A process's entry in the map of spaces: found at a sample, copied at a fork, gone at its end. */
#ifndef HOSTPROF_BPF_SAMPLE_SPACE_H
#define HOSTPROF_BPF_SAMPLE_SPACE_H

#include "sample/maps.h"
#include "unwind/table_maps.h"

static __always_inline bool space_is_of(const struct wire_space *space, wire_u64 start_ns,
					wire_u32 exec_id)
{
	return space->start_ns == start_ns && space->exec_id == exec_id;
}

/* NULL when there is none, or it is that of another process, or of another program. */
static __always_inline struct wire_space *space_find(wire_u32 tgid, wire_u64 start_ns,
						     wire_u32 exec_id)
{
	struct wire_space *space = bpf_map_lookup_elem(&spaces, &tgid);

	return space && space_is_of(space, start_ns, exec_id) ? space : NULL;
}

/* Asks again after the entry was read: it may have become another process's meanwhile. */
static __always_inline bool space_is_still(const struct wire_space *space, wire_u64 start_ns,
					   wire_u32 exec_id)
{
	__asm__ volatile("" ::: "memory");
	return space_is_of(space, start_ns, exec_id);
}

/* What is known of the process's code; without a space the walk misses at its first frame. */
static __always_inline void space_take(struct scratch *s, struct mm_struct *mm)
{
	struct unwind_cursor *c = &s->cursor;
	struct wire_space *space =
		space_find(s->sample.tgid, s->sample.start_ns, s->sample.exec_id);

	/* Without tables the number says only whose code a pc is in, to the cache of hot ones. */
	c->serial = settings.frame_pointers_only ? s->sample.tgid | 1U << 31 : 0;
	c->listed = 0;
	c->jvm_serial = 0;
	if (!space)
		return;
	c->serial = space->serial;
	c->first = space->first;
	c->count = space->count;
	c->jvm_serial = space->jvm;
	if (!space_is_still(space, s->sample.start_ns, s->sample.exec_id)) {
		c->serial = c->jvm_serial = 0;
		return;
	}
	space->used_s = c->now_s;
	/* A list that is old by now is not whole, however many strays it had. */
	if (space->exec_pages && space->exec_pages != mm->exec_vm)
		s->sample.flags |= WIRE_SAMPLE_STALE;
	else
		c->listed = space->strays >= WIRE_MAX_STRAYS;
}

/* Userspace was asked for an address that is in none of the space's ranges. */
static __always_inline void space_count_stray(struct scratch *s)
{
	struct wire_space *space =
		space_find(s->sample.tgid, s->sample.start_ns, s->sample.exec_id);

	if (space && space->serial == s->cursor.serial)
		space->strays++;
}

/* A child has its parent's mappings, until it execs: the exec_id tells then. */
static __always_inline void space_fork(struct task_struct *parent, wire_u32 tgid, wire_u64 start_ns,
				       wire_u32 exec_id)
{
	wire_u64 parent_ns = BPF_CORE_READ(parent, group_leader, start_time);
	wire_u32 parent_exec = parent->self_exec_id;
	struct wire_space *space = space_find(parent->tgid, parent_ns, parent_exec);
	struct wire_space copy;

	if (!space)
		return;
	copy = *space;
	if (!space_is_still(space, parent_ns, parent_exec))
		return;
	copy.start_ns = start_ns;
	copy.exec_id = exec_id;
	bpf_map_update_elem(&spaces, &tgid, &copy, BPF_ANY);
}

/* The last reference to the task is gone; its pid may be another process's by now. */
static __always_inline void space_forget(wire_u32 tgid, wire_u64 start_ns)
{
	struct wire_space *space = bpf_map_lookup_elem(&spaces, &tgid);

	if (space && space->start_ns == start_ns)
		bpf_map_delete_elem(&spaces, &tgid);
}

#endif
