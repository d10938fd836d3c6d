// SPDX-License-Identifier: Apache-2.0
#include "symbolize/words/stack_tails.h"

#include "base/macros.h"

static size_t slot_of(const struct stack_tail_key *key)
{
	uint64_t mixed = ((uint64_t)key->tid ^ key->owner << 32) * 0x9e3779b97f4a7c15ULL;

	return (size_t)(mixed >> 32) % STACK_TAILS;
}

static bool is_of(const struct stack_tail *tail, const struct stack_tail_key *key)
{
	return key->owner && tail->key.owner == key->owner && tail->key.tid == key->tid;
}

void stack_tails_release(struct stack_tails *tails)
{
	for (size_t i = 0; i < STACK_TAILS; i++) {
		vec_release(&tails->tails[i].words);
		vec_release(&tails->tails[i].counts);
		vec_release(&tails->tails[i].ids);
	}
}

size_t stack_tails_common(const struct stack_tails *tails, const struct stack_tail_key *key,
			  const struct word_reader *user)
{
	const struct stack_tail *tail = &tails->tails[slot_of(key)];
	size_t most = MIN((size_t)(user->end - user->at), tail->words.len), n = 0;

	if (!is_of(tail, key))
		return 0;
	while (n < most && tail->words.items[n] == *(user->end - 1 - n))
		n++;
	while (n && !tail->counts.items[n - 1])
		n--;
	return n;
}

const uint32_t *stack_tails_ids(const struct stack_tails *tails, const struct stack_tail_key *key,
				size_t words, size_t *ret_count)
{
	const struct stack_tail *tail = &tails->tails[slot_of(key)];

	*ret_count = words ? tail->counts.items[words - 1] - 1U : 0;
	return tail->ids.items;
}

/* All but the COMMON words from the root on. */
static void cut(struct stack_tail *tail, size_t common)
{
	tail->ids.len = common ? tail->counts.items[common - 1] - 1U : 0;
	tail->words.len = tail->counts.len = common;
}

/* The frame of MARK, and what of its ids is not there. False: there is no room. */
static bool add_frame(struct stack_tail *tail, const struct made_stack *made,
		      const struct stack_mark *mark)
{
	size_t ids = made->id_count - mark->ids;

	if (mark->words > STACK_TAIL_WORDS || ids >= UINT16_MAX)
		return false;
	for (size_t i = tail->ids.len; i < ids; i++)
		vec_push(&tail->ids, made->ids[made->id_count - 1 - i]);
	for (size_t i = tail->words.len; i < mark->words; i++) {
		vec_push(&tail->words, *(made->user->end - 1 - i));
		vec_push(&tail->counts, 0);
	}
	tail->counts.items[mark->words - 1] = (uint16_t)(ids + 1);
	return true;
}

void stack_tails_keep(struct stack_tails *tails, const struct stack_tail_key *key,
		      const struct made_stack *made)
{
	struct stack_tail *tail = &tails->tails[slot_of(key)];

	if (!key->owner)
		return;
	cut(tail, is_of(tail, key) ? made->common : 0);
	tail->key = *key;
	for (size_t i = made->mark_count; i-- > 0;)
		if (!add_frame(tail, made, &made->marks[i]))
			break;
}
