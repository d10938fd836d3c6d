/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Sending a record to userspace, and the books of those that did not fit. */
#ifndef HOSTPROF_BPF_SAMPLE_EMIT_H
#define HOSTPROF_BPF_SAMPLE_EMIT_H

#include "sample/maps.h"

static __always_inline void emit_count_lost(struct wire_lost *entry, wire_u64 weight)
{
	__sync_fetch_and_add(&entry->count, 1);
	__sync_fetch_and_add(&entry->weight, weight);
}

static __always_inline int emit_lost_of(struct task_struct *task, wire_u32 event, wire_u64 weight,
					wire_u32 why)
{
	struct wire_lost_key key = { .tgid = task->tgid, .event = event, .why = why };
	struct wire_lost fresh = {};
	struct wire_lost *entry;

	key.exec_id = task->self_exec_id;
	key.start_ns = BPF_CORE_READ(task, group_leader, start_time);
	counter_add(WIRE_COUNTER_LOST, 1);
	entry = bpf_map_lookup_elem(&lost, &key);
	if (!entry) {
		bpf_probe_read_kernel(fresh.comm, sizeof(fresh.comm), task->comm);
		bpf_map_update_elem(&lost, &key, &fresh, BPF_NOEXIST);
		entry = bpf_map_lookup_elem(&lost, &key);
	}
	if (entry) {
		emit_count_lost(entry, weight);
		return 0;
	}
	counter_add(WIRE_COUNTER_LOST_UNKNOWN, 1);
	counter_add(WIRE_COUNTER_LOST_UNKNOWN_WEIGHT, weight);
	return 0;
}

/*
 * A sample of the current task was dropped. Its stack is its own, since this path is rare; verified alone
 * (cursor_load_far_alone() says how).
 */
__attribute__((noinline)) int emit_lost(wire_u32 event, wire_u64 weight, wire_u32 why)
{
	return emit_lost_of(bpf_get_current_task_btf(), event, weight, why);
}

/*
 * Wake the reader once, when this record of SIZE bytes makes the ring fuller than the mark; and for a walk that
 * it has to finish, or code that has to be named while it is there, unless what it was woken for last is still to be read.
 */
static __always_inline wire_u64 emit_wakeup(const struct cpu_state *state, void *ring,
					    wire_u32 size, bool urgent)
{
	wire_u64 before = bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA);
	bool crosses = before < ring_wakeup_bytes && before + size >= ring_wakeup_bytes;

	if (urgent && bpf_ringbuf_query(ring, BPF_RB_CONS_POS) >= state->woken_at)
		crosses = true;
	return crosses ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* The virtual thread's name, or another text, behind the words, of which there are WORDS; its own words. */
static __always_inline wire_u32 emit_put_name(struct scratch *s, wire_u32 words)
{
	wire_u32 bytes = s->cursor.virtual_thread.name_bytes, last;

	UNWIND_OPAQUE(bytes);
	if (!bytes || bytes > WIRE_TEXT_BYTES)
		return 0;
	last = words + WIRE_NAME_WORDS(bytes) - 1;
	UNWIND_OPAQUE(last);
	if (last >= UNWIND_OUT_WORDS + WIRE_NAME_WORDS(WIRE_TEXT_BYTES))
		return 0;
	s->words[last] = 0;
	UNWIND_OPAQUE(words);
	if (words > UNWIND_OUT_WORDS ||
	    bpf_probe_read_kernel(&s->words[words], bytes, s->cursor.virtual_thread.name))
		return 0;
	s->sample.name_bytes = bytes;
	return WIRE_NAME_WORDS(bytes);
}

/* Negative: it did not fit. */
static __always_inline int emit_sample(struct scratch *s, struct cpu_state *state)
{
	wire_u32 cpu = s->sample.cpu, words = s->cursor.words, size;
	bool urgent = s->sample.flags & WIRE_SAMPLE_RESUMED || s->cursor.new_code;
	wire_u64 flags;
	void *ring;

	if (words > UNWIND_OUT_WORDS)
		words = UNWIND_OUT_WORDS;
	s->sample.virtual_id = s->cursor.virtual_thread.id;
	s->sample.name_width = s->cursor.virtual_thread.name_width;
	s->sample.name_bytes = 0;
	words += emit_put_name(s, words);
	size = sizeof(struct wire_sample) + words * sizeof(wire_u64);
	s->sample.size = size;
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!ring)
		return -1;
	flags = emit_wakeup(state, ring, size, urgent);
	if (bpf_ringbuf_output(ring, &s->sample, size, flags))
		return -1;
	if (s->cursor.new_code)
		counter_add(WIRE_COUNTER_NEW_CODE, 1);
	if (flags == BPF_RB_FORCE_WAKEUP)
		state->woken_at = bpf_ringbuf_query(ring, BPF_RB_PROD_POS);
	counter_add(WIRE_COUNTER_SAMPLES, 1);
	return 0;
}

#endif
