// SPDX-License-Identifier: Apache-2.0
#include "unwind/walk.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

/* Behind a thread's frames in the heap; any place above those. */
#define NOWHERE 0x7ffffffff000

/* False: there is no frame. */
static bool enter_chunk(struct unwind_cursor *c, struct unwind_memory *memory, uint64_t chunk)
{
	c->frozen_at.live = 1;
	c->frozen_at.entry = NOWHERE;
	frozen_begin_at(c, chunk);
	/* Nothing but what came along is of that time. */
	c->elsewhere = 1;
	if (!frozen_next(c, memory) || c->frozen_at.sp >= c->frozen_at.end)
		return false;
	frozen_enter(c);
	return true;
}

void walk_begin(struct walk *walk, const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *result)
{
	struct unwind_cursor *c = &walk->cursor;
	uint64_t now_ns = clock_now_ns();

	memset(walk, 0, sizeof(*walk));
	walk->memory = memory;
	walk->result = result;
	if (request->jvm)
		c->jvm = *request->jvm;
	unwind_begin(c, request->max_frames ? request->max_frames : WIRE_DEFAULT_USER_FRAMES, 0);
	memcpy(c->leaf_regs, request->regs, sizeof(c->leaf_regs));
	cursor_take_leaf_regs(c);
	c->pc = request->pc;
	c->sp = request->regs[DWARF_RSP];
	c->exact = request->exact;
	c->leaf = !request->caller;
	c->regs_kept = !request->caller || request->regs_kept;
	c->linked = request->caller && request->linked;
	c->guessed = request->caller && request->guessed;
	c->stack_top = request->stack_top;
	c->tls = request->tls;
	c->serial = request->serial;
	c->first = request->first;
	c->count = request->count;
	c->listed = request->listed;
	c->at_entry = request->at_entry;
	c->trampoline = request->trampoline;
	c->jvm_serial = request->jvm_serial;
	c->thread = request->thread;
	c->has_anchor = request->has_anchor;
	c->frozen_at.live = request->has_heap;
	c->unpacking_live = request->has_unpacking;
	memcpy(c->anchor, request->anchor, sizeof(c->anchor));
	c->now_s = (uint32_t)(now_ns / NSEC_PER_SEC);
	c->tick = (uint32_t)(now_ns >> WIRE_TICK_SHIFT);
	c->frames = result->frames;
	c->words = result->word_count;
	result->interpreted_count = 0;
	walk->is_chunk = request->chunk != 0;
	if (walk->is_chunk && !enter_chunk(c, memory, request->chunk))
		c->reason = UNWIND_PAGE;
}

/* Of what was written from AT on, by a step that began at FP. */
static void note_interpreted(struct walk_result *result, uint64_t fp, uint32_t at, uint32_t end)
{
	uint32_t words;

	for (; at < end; at += words) {
		words = wire_frame_words(result->words[at]);
		if (!words)
			return;
		if (result->words[at] >> WIRE_FRAME_KIND_SHIFT == WIRE_FRAME_INTERPRETED)
			result->interpreted[result->interpreted_count++] =
				(struct walk_interpreted){ fp, at };
	}
}

static enum unwind_verdict step(struct walk *walk)
{
	struct unwind_cursor *c = &walk->cursor;
	bool frozen = c->frozen_at.inside;
	uint64_t fp = c->fp;
	uint32_t at = c->words;
	enum unwind_verdict verdict;

	/* They have all been written, or there are none. */
	if (walk->is_chunk && !frozen)
		return UNWIND_STOP;
	verdict = unwind_frame(c, walk->memory, walk->result->words);
	note_interpreted(walk->result, frozen ? c->interpreted.fp : fp, at, c->words);
	if (walk->is_chunk && verdict == UNWIND_GO_ON && !c->frozen_at.inside)
		return cursor_stop(c, UNWIND_DONE);
	return verdict;
}

bool walk_go_on(struct walk *walk)
{
	struct unwind_cursor *c = &walk->cursor;

	c->missed = 0;
	/* Every turn writes a frame or ends; the depth limit ends it at last. */
	while (step(walk) == UNWIND_GO_ON)
		;
	walk->result->reason = c->reason;
	walk->result->frames = c->frames;
	walk->result->word_count = c->words;
	return c->missed;
}

uint64_t walk_missing(const struct walk *walk)
{
	return find_address(&walk->cursor);
}
