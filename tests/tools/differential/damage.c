// SPDX-License-Identifier: Apache-2.0
#include "damage.h"

#include <string.h>

const char *const damage_names[DAMAGE_COUNT] = {
	[DAMAGE_DROP] = "frame dropped",
	[DAMAGE_REPEAT] = "frame repeated",
	[DAMAGE_SWAP] = "frames swapped",
	[DAMAGE_OTHER] = "other address",
	[DAMAGE_LEAF] = "leaf lost",
	[DAMAGE_TAIL] = "root side lost",
	[DAMAGE_TAIL_CUT] = "root side lost, called cut",
	[DAMAGE_MORE] = "frame behind the root",
	[DAMAGE_MORE_WILD] = "wild address behind the root",
	[DAMAGE_NOTHING] = "no frames",
};

#define WILD 0x10

static void drop(struct frames *f, size_t at)
{
	memmove(&f->pcs[at], &f->pcs[at + 1], (f->count - at - 1) * sizeof(f->pcs[0]));
	memmove(&f->exact[at], &f->exact[at + 1], (f->count - at - 1) * sizeof(f->exact[0]));
	f->count--;
}

static void insert(struct frames *f, size_t at, uint64_t pc)
{
	if (f->count == MAX_FRAMES)
		return;
	memmove(&f->pcs[at + 1], &f->pcs[at], (f->count - at) * sizeof(f->pcs[0]));
	memmove(&f->exact[at + 1], &f->exact[at], (f->count - at) * sizeof(f->exact[0]));
	f->pcs[at] = pc;
	f->exact[at] = false;
	f->count++;
}

static void swap(struct frames *f, size_t a, size_t b)
{
	uint64_t pc = f->pcs[a];

	f->pcs[a] = f->pcs[b];
	f->pcs[b] = pc;
}

bool damage_frames(const struct frames *frames, enum damage damage, size_t at,
		   struct frames *ret_frames)
{
	struct frames *f = ret_frames;
	size_t next;

	*f = *frames;
	if (!f->count)
		return false;
	at %= f->count;
	next = (at + 1) % f->count;
	switch (damage) {
	case DAMAGE_DROP: drop(f, at); break;
	case DAMAGE_REPEAT: insert(f, at, f->pcs[at]); break;
	case DAMAGE_SWAP: swap(f, at, next); break;
	case DAMAGE_OTHER: f->pcs[at]++; break;
	case DAMAGE_LEAF: drop(f, 0); break;
	case DAMAGE_TAIL: f->count = at; break;
	case DAMAGE_TAIL_CUT:
		f->count = at;
		f->cut = true;
		break;
	case DAMAGE_MORE: insert(f, f->count, f->pcs[at]); break;
	case DAMAGE_MORE_WILD: insert(f, f->count, WILD); break;
	default: f->count = 0; break;
	}
	return f->count != frames->count ||
	       memcmp(f->pcs, frames->pcs, f->count * sizeof(f->pcs[0])) != 0;
}
