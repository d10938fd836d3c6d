/* SPDX-License-Identifier: Apache-2.0 */
/* Maps in place of libbpf's, for capture_parts.h, whose fixture holds them. */
#ifndef HOSTPROF_TESTS_CAPTURE_MAPS_H
#define HOSTPROF_TESTS_CAPTURE_MAPS_H

int libbpf_num_possible_cpus(void)
{
	return CPUS;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(flags, BPF_ANY);
	errno = EIO; /* of another call: this one succeeds */
	if (fd == MAP_FD + BPF_SESSION_TARGETS) {
		vec_push(&f.targets, *(const uint32_t *)key);
		f.target_start |= *(const uint64_t *)value;
	} else if (fd == MAP_FD + BPF_SESSION_JVMS) {
		f.jvm_serial = *(const uint32_t *)key;
		f.jvm_is_there = ((const struct wire_jvm *)value)->serial == f.jvm_serial;
	} else if (fd == MAP_FD + BPF_SESSION_FAR_BLOBS) {
		f.blob = *(const uint64_t *)value;
	} else {
		fail_msg("map %d", fd);
	}
	return 0;
}

int bpf_map_delete_elem(int fd, const void *key)
{
	bool was_there = f.jvm_is_there;

	assert_int_equal(fd, MAP_FD + BPF_SESSION_JVMS);
	assert_int_equal(*(const uint32_t *)key, f.jvm_serial);
	f.jvm_is_there = false;
	errno = ENOENT;
	return was_there ? 0 : -1;
}

/* Which of the virtual threads KEY is of; `count`: none. */
static inline uint32_t find_yield(const struct wire_yield_key *key)
{
	uint32_t i = 0;

	while (i < f.yields.count && memcmp(&f.yields.keys[i], key, sizeof(*key)) != 0)
		i++;
	return i;
}

static inline int lookup_yield(const void *key, void *value)
{
	uint32_t i = find_yield(key);

	errno = f.yields.error ? f.yields.error : ENOENT;
	if (i == f.yields.count || f.yields.error)
		return -1;
	memcpy(value, &f.yields.values[i], sizeof(f.yields.values[i]));
	return 0;
}

/* What a map has beside them; false: FD is none of theirs. */
static inline bool lookup_of_yields(int fd, const void *key, void *value, int *ret)
{
	const bool since = fd == MAP_FD + BPF_SESSION_YIELDS_SINCE;

	if (!since && fd != MAP_FD + BPF_SESSION_UNMOUNTED_OWED)
		return false;
	if (since ? *(const uint32_t *)key != 17 || !f.yields.own_ns
		  : !f.yields.owed_ns || find_yield(key) != 0) {
		errno = ENOENT;
		*ret = -1;
		return true;
	}
	memcpy(value, since ? (const void *)&f.yields.own_ns : &f.yields.owed_ns, 8);
	*ret = 0;
	return true;
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	uint32_t which = *(const uint32_t *)key;
	int r;

	if (fd == MAP_FD + BPF_SESSION_YIELDS)
		return lookup_yield(key, value);
	if (lookup_of_yields(fd, key, value, &r))
		return r;

	if (fd == MAP_FD + BPF_SESSION_TARGETS) {
		*(uint64_t *)value = 0;
		for (size_t i = 0; i < f.targets.len; i++)
			if (f.targets.items[i] == which)
				return 0;
		return -ENOENT;
	}
	assert_int_equal(fd, MAP_FD + BPF_SESSION_COUNTERS);
	if (which == WIRE_COUNTER_FROZEN)
		return -1;
	for (uint64_t cpu = 0; cpu < CPUS; cpu++)
		((uint64_t *)value)[cpu] = which == WIRE_COUNTER_OVERFLOWS(0) ? f.overflows
					   : which == WIRE_COUNTER_SEEN(0)    ? f.seen
									      : which + (cpu << 32);
	return 0;
}

int bpf_map_get_next_key(int fd, const void *key, void *next_key)
{
	assert_int_equal(fd, MAP_FD + BPF_SESSION_LOST);
	assert_null(key);
	if (!f.lost_count)
		return -1;
	memcpy(next_key, &f.lost_keys[f.lost_count - 1], sizeof(f.lost_keys[0]));
	return 0;
}

int bpf_map_lookup_batch(int fd, void *in_batch, void *out_batch, void *keys, void *values,
			 __u32 *count, const struct bpf_map_batch_opts *opts)
{
	uint32_t first = in_batch ? *(uint32_t *)in_batch : 0;
	uint32_t left = f.yields.count - first;

	assert_null(opts);
	assert_int_equal(fd, MAP_FD + BPF_SESSION_YIELDS);
	assert_int_equal(first, f.yields.at);
	assert_true(*count >= f.yields.at_once);
	*count = MIN(left, f.yields.at_once);
	memcpy(keys, f.yields.keys + first, *count * sizeof(f.yields.keys[0]));
	memcpy(values, f.yields.values + first, *count * sizeof(f.yields.values[0]));
	f.yields.at = *(uint32_t *)out_batch = first + *count;
	if (f.yields.error) {
		errno = f.yields.error;
		return -1;
	}
	errno = ENOENT;
	return f.yields.at == f.yields.count ? -1 : 0;
}

int bpf_map_lookup_and_delete_elem(int fd, const void *key, void *value)
{
	assert_int_equal(fd, MAP_FD + BPF_SESSION_LOST);
	assert_memory_equal(key, &f.lost_keys[f.lost_count - 1], sizeof(f.lost_keys[0]));
	memcpy(value, &f.lost[--f.lost_count], sizeof(f.lost[0]));
	return 0;
}

#endif
