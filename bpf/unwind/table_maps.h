/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * What a walk is told: the settings, and the unwind tables of wire_rows.h. Userspace maps the arrays into its own memory and writes
 * them there; all sizes are set before loading.
 */
#ifndef HOSTPROF_BPF_UNWIND_TABLE_MAPS_H
#define HOSTPROF_BPF_UNWIND_TABLE_MAPS_H

#include "wire.h"

const volatile struct wire_settings settings;
/* Entries of each cpu in hot_codes, a power of two. */
const volatile wire_u32 hot_code_count = WIRE_HOT_CODES;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_block);
} blocks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_rule);
} rules SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_range);
} ranges SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct wire_page_key);
	__type(value, struct wire_page);
} pages SEC(".maps");

/* The key is the tgid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, wire_u32);
	__type(value, struct wire_space);
} spaces SEC(".maps");

/* WIRE_HOT_ENTRIES of every possible cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_HOT_ENTRIES);
	__type(key, wire_u32);
	__type(value, struct wire_hot);
} hots SEC(".maps");

/* hot_code_count of every possible cpu. From a page on, so that pairs share a cache line. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, WIRE_HOT_CODES);
	__type(key, wire_u32);
	__type(value, struct wire_hot_code);
} hot_codes SEC(".maps");

/* By a hash of a JVM's serial and a compile id: both, of code that a sample has shown. Of all cpus. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_MET_CODES);
	__type(key, wire_u32);
	__type(value, wire_u64);
} met_codes SEC(".maps");

/* WIRE_HOT_METHODS of every possible cpu. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_HOT_METHODS);
	__type(key, wire_u32);
	__type(value, struct wire_hot_method);
} hot_methods SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WIRE_MAX_FAR_BLOBS);
	__type(key, struct wire_far_key);
	__type(value, wire_u64);
} far_blobs SEC(".maps");

/* The key is the tid. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, WIRE_MAX_THREADS);
	__type(key, wire_u32);
	__type(value, struct wire_thread);
} threads SEC(".maps");

#endif
