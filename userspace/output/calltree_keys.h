/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples as strings of labels, root first, in sorted order: what a call tree is built from in one
 * pass. A key borrows its frames from the profile; nothing is copied per frame.
 */
#ifndef HOSTPROF_OUTPUT_CALLTREE_KEYS_H
#define HOSTPROF_OUTPUT_CALLTREE_KEYS_H

#include "output/calltree.h"

struct calltree_key {
	const uint32_t *frames; /* leaf first, borrowed */
	uint32_t len;
	uint32_t thread; /* thread id, or PROFILE_NONE */
	uint64_t weight;
	uint64_t samples;
	uint64_t objects;
};

/* Arrays of label + 1 by id; 0: the id does not occur in these samples. */
struct calltree_keys {
	const struct profile *profile;		/* borrowed */
	const struct calltree_options *options; /* borrowed */
	uint32_t levels; /* process and thread levels before the frames: 0 to 2 */
	uint32_t *frame_labels;
	uint32_t *process_labels; /* one more at the end, for PROFILE_NONE */
	uint32_t *thread_labels;  /* one more at the end, for PROFILE_NONE */
	VEC(struct calltree_key) keys;
};

/*
 * Take the samples that OPTIONS select and sort them. Fills ret_tree->names and ->labels: the
 * root's label first, then all others in the order of their names.
 */
void calltree_keys_init(const struct profile *p, const struct calltree_options *options,
			struct calltree *ret_tree, struct calltree_keys *ret_keys);
void calltree_keys_release(struct calltree_keys *keys);

/* Number of labels of a key. */
static inline uint32_t calltree_key_len(const struct calltree_keys *keys,
					const struct calltree_key *key)
{
	return keys->levels + key->len;
}

/* What stands at DEPTH (0: below the root): a frame id, or the id of a process or thread. */
uint32_t calltree_key_origin(const struct calltree_keys *keys, const struct calltree_key *key,
			     uint32_t depth);

/* The label at DEPTH, plus one; 0 past the end. */
uint32_t calltree_key_label(const struct calltree_keys *keys, const struct calltree_key *key,
			    uint32_t depth);

/* How many labels A and B have in common from the root on; FROM of them are known to be equal. */
uint32_t calltree_key_common(const struct calltree_keys *keys, const struct calltree_key *a,
			     const struct calltree_key *b, uint32_t from);

#endif
