/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last stack of a thread, as the words of a sample and as the ids of its frames. The next one is mostly the same but for its leaf: what
 * both have from the root on need not be looked up again, neither when a sample arrives nor when its stack is made. A fixed number
 * of stacks, of whichever threads had samples last.
 */
#ifndef HOSTPROF_SYMBOLIZE_WORDS_STACK_TAILS_H
#define HOSTPROF_SYMBOLIZE_WORDS_STACK_TAILS_H

#include "base/vec.h"
#include "symbolize/words/sample_words.h"

#define STACK_TAILS 128
/* Of a deeper stack the outermost ones. */
#define STACK_TAIL_WORDS 2048

/* Whose stack: OWNER stands for all that frames depend on but their words; 0: nothing is kept, or found. */
struct stack_tail_key {
	uint64_t owner;
	uint32_t tid;
};

struct stack_tail {
	struct stack_tail_key key;
	/* From the root on. */
	VEC(uint64_t) words;
	VEC(uint16_t)
	counts; /* of each word: if a frame begins there, the ids from the root to it, + 1; else 0 */
	VEC(uint32_t) ids;
};

struct stack_tails {
	struct stack_tail tails[STACK_TAILS];
};

void stack_tails_release(struct stack_tails *tails);

/* How many words at USER's end, from a frame on, are those of the stack that was kept. */
size_t stack_tails_common(const struct stack_tails *tails, const struct stack_tail_key *key,
			  const struct word_reader *user);

/* The ids of so many words, as stack_tails_common() has just told, from the root on; borrowed. */
const uint32_t *stack_tails_ids(const struct stack_tails *tails, const struct stack_tail_key *key,
				size_t words, size_t *ret_count);

/* Where a frame begins: its words and all that are nearer to the root, and the ids that are nearer to the leaf. */
struct stack_mark {
	size_t words, ids;
};

/* A stack as it was made. */
struct made_stack {
	const struct word_reader *user;
	size_t common; /* words of it that stack_tails_common() found */
	const struct stack_mark *marks;
	size_t mark_count; /* of the frames before these, from the leaf on */
	const uint32_t *ids;
	size_t id_count; /* of all, from the leaf on */
};

void stack_tails_keep(struct stack_tails *tails, const struct stack_tail_key *key,
		      const struct made_stack *made);

#endif
