/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk through code from places whose state is known, on all ways, until nothing new is found. What is known of a place is
 * kept where ways meet; each place belongs to the function (owner) from which it was first reached, and functions that
 * share code are one.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_WALK_H
#define HOSTPROF_ELF_INFER_INFER_WALK_H

#include "elf/infer/infer_state.h"

/* Of an instruction. */
enum infer_flag {
	INFER_MEETS = 1,  /* ways may meet there */
	INFER_BEGINS = 2, /* a function's first */
	INFER_REACHED = 4,
	INFER_POINTED =
		8, /* data has its address, and it saves a register first: a function may begin there */
};

struct infer_block {
	struct infer_state state;
	uint32_t at; /* index of its first instruction */
	uint32_t owner;
};

struct infer_owner {
	uint32_t parent; /* itself: none */
	bool good;	 /* it behaves like a function */
	bool bad;	 /* it does not */
};

/* A jump to another function's begin. */
struct infer_tail {
	uint32_t from, to; /* owners */
};

struct infer_walk {
	const struct infer_code *code; /* borrowed */
	uint64_t address;	       /* of its first byte */
	uint8_t *flags;		       /* of each instruction; owned by the walk that has no base */
	uint32_t *block_of;	       /* of each instruction, plus 1; owned */
	VEC(struct infer_block) blocks;
	VEC(uint32_t) work; /* blocks to go through (again) */
	VEC(struct infer_owner) owners;
	VEC(struct infer_tail) tails;
	/* Instructions with more behind them, that may be reached from there: a call that may not come back, a jump to anywhere. */
	VEC(struct infer_block) loose;
	bool anywhere; /* functions begin at any address, as in a file that is to be small */
	uint32_t steps, max_steps;
	/* Not NULL: this one tries whether a state is right, and what that walk has found is true. */
	const struct infer_walk *base;
	struct infer_state began; /* what is tried */
	bool enters;		  /* and it is that a function begins here */
	uint32_t fits, conflicts;
};

void infer_walk_begin(struct infer_walk *walk, const struct infer_code *code, uint64_t address);
/* A walk that tries states beside BASE. */
void infer_walk_beside(struct infer_walk *walk, const struct infer_walk *base, uint32_t max_steps);
void infer_walk_release(struct infer_walk *walk);

/* A new owner. */
uint32_t infer_walk_own(struct infer_walk *walk);
struct infer_owner *infer_walk_owner(struct infer_walk *walk, uint32_t owner);

/* STATE is true before instruction AT. */
void infer_walk_put(struct infer_walk *walk, uint32_t at, const struct infer_state *state,
		    uint32_t owner);
/* Walk on from all places that something new is known of. */
void infer_walk_run(struct infer_walk *walk);

/* Forget what was tried. */
void infer_walk_reset(struct infer_walk *walk);

/* Is it at an address that compilers choose for functions? */
bool infer_walk_is_aligned(const struct infer_walk *walk, uint32_t at);
/* Is instruction AT where functions begin? */
bool infer_walk_may_begin(const struct infer_walk *walk, uint32_t at);

/* Does it go on behind instruction AT, whose state before is STATE? A call that may not come back does not. */
bool infer_walk_goes_on(const struct infer_walk *walk, uint32_t at,
			const struct infer_state *state);

/* STATE behind instruction AT, when it goes on there. */
void infer_walk_step(const struct infer_walk *walk, uint32_t at, struct infer_state *state);

#endif
