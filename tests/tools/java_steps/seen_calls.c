// SPDX-License-Identifier: Apache-2.0
#include "seen_calls.h"

#include <string.h>

/* An adapter moves the return address by way of a register, within so many instructions. */
#define MOST_IN_AIR 64
#define LONGEST	    15 /* instruction */

enum action {
	ACTION_CALL,
	ACTION_RETURN,
	ACTION_SYSCALL,
	ACTION_PUSH,
	ACTION_JUMP, /* to an address in a register or in memory */
	ACTION_OTHER
};

/* Intel SDM, the ff group, by the digit of its ModRM byte. */
static enum action action_of_ff(uint8_t modrm)
{
	switch (modrm >> 3 & 7) {
	case 2: return ACTION_CALL;
	case 4: return ACTION_JUMP;
	case 6: return ACTION_PUSH;
	default: return ACTION_OTHER;
	}
}

/* Prefixes, REX, then e8 or ff, c3 or c2, 50 to 57, 0f 05. */
static enum action find_action(const struct live_walk *walk, uint64_t pc)
{
	static const uint8_t prefixes[] = { 0xf2, 0xf3, 0x66, 0x2e, 0x3e };
	uint8_t code[8] = { 0 };
	size_t at = 0;

	live_walk_read(walk, pc, code, sizeof(code));
	while (at < 4 && memchr(prefixes, code[at], sizeof(prefixes)))
		at++;
	if ((code[at] & 0xf0) == 0x40)
		at++;
	if (code[at] == 0xff)
		return action_of_ff(code[at + 1]);
	if (code[at] == 0xe8)
		return ACTION_CALL;
	if ((code[at] & 0xf8) == 0x50)
		return ACTION_PUSH;
	if (code[at] == 0xc3 || code[at] == 0xc2)
		return ACTION_RETURN;
	return code[at] == 0x0f && code[at + 1] == 0x05 ? ACTION_SYSCALL : ACTION_OTHER;
}

static bool lies_at(const struct live_walk *walk, uint64_t slot, uint64_t address)
{
	uint64_t word;

	return live_walk_read(walk, slot, &word, 8) == 0 && word == address;
}

static void push(struct seen_calls *seen, uint64_t address, uint64_t slot, bool is_interrupted)
{
	if (seen->count == WITNESS_FRAMES) {
		seen->valid = false;
		return;
	}
	seen->frames[seen->count++] = (struct seen_frame){ address, slot, is_interrupted };
	seen->in_air = 0;
}

static void pop(struct seen_calls *seen)
{
	seen->count--;
	seen->in_air = 0;
}

void seen_calls_start(struct seen_calls *seen, const struct live_walk *walk,
		      const struct user_regs_struct *regs, const struct witness_stack *stack)
{
	*seen = (struct seen_calls){ .valid = true, .pc = regs->rip };
	for (size_t i = stack->count; i-- > 1;) {
		uint64_t address = stack->frames[i].address, slot = stack->frames[i].sp - 8;

		push(seen, address, lies_at(walk, slot, address) ? slot : 0, false);
	}
}

/*
 * A return address may have been put elsewhere, or taken into a register for a while: where it was
 * it counts no more, even if the word is there yet.
 */
static void follow_stack(struct seen_calls *seen, const struct live_walk *walk,
			 const struct user_regs_struct *to)
{
	struct seen_frame *top = &seen->frames[seen->count - 1];

	for (size_t i = 0; i + 1 < seen->count; i++)
		if (seen->frames[i].slot && seen->frames[i].slot < to->rsp)
			seen->valid = false;
	if (top->is_interrupted || !top->slot ||
	    (!seen->in_air && top->slot >= to->rsp && lies_at(walk, top->slot, top->address))) {
		seen->in_air = 0;
		return;
	}
	if (lies_at(walk, to->rsp, top->address)) {
		top->slot = to->rsp;
		seen->in_air = 0;
	} else if (++seen->in_air > MOST_IN_AIR) {
		seen->valid = false;
	}
}

/*
 * The interpreter calls by pushing an address out of a table (TemplateTable::prepare_invoke) and
 * jumping to the method. Until then it is no call; nor is a return address that is put elsewhere.
 */
static void note_push(struct seen_calls *seen, const struct live_walk *walk,
		      const struct user_regs_struct *to)
{
	const struct seen_frame *top = &seen->frames[seen->count - 1];
	uint64_t word = 0;

	live_walk_read(walk, to->rsp, &word, 8);
	if (live_walk_is_code(walk, word) && (top->slot != to->rsp || top->address != word))
		seen->pushed = (struct seen_frame){ word, to->rsp, false };
}

static void jump(struct seen_calls *seen, const struct live_walk *walk,
		 const struct user_regs_struct *to)
{
	/* To the handler of an exception: what called is thrown away, and told where from. */
	if (seen->in_air)
		seen->valid = false;
	else if (seen->pushed.slot == to->rsp && lies_at(walk, to->rsp, seen->pushed.address))
		push(seen, seen->pushed.address, to->rsp, false);
	else
		follow_stack(seen, walk, to);
	seen->pushed = (struct seen_frame){ 0 };
}

static void call(struct seen_calls *seen, const struct live_walk *walk,
		 const struct user_regs_struct *from, const struct user_regs_struct *to)
{
	uint64_t back = 0;

	live_walk_read(walk, to->rsp, &back, 8);
	seen->valid = to->rsp == from->rsp - 8 && back > from->rip && back <= from->rip + LONGEST;
	push(seen, back, to->rsp, false);
}

/* The handler's caller is the trampoline, which the kernel's frame of the interrupted code follows. */
static void begin_handler(struct seen_calls *seen, const struct live_walk *walk,
			  const struct user_regs_struct *from, const struct user_regs_struct *to)
{
	uint64_t back = 0;

	live_walk_read(walk, to->rsp, &back, 8);
	push(seen, from->rip, 0, true);
	push(seen, back, to->rsp, false);
}

void seen_calls_step(struct seen_calls *seen, const struct live_walk *walk,
		     const struct user_regs_struct *from, const struct user_regs_struct *to,
		     bool is_signal)
{
	const struct seen_frame *top = &seen->frames[seen->count - 1];
	enum action action;

	if (!seen->valid || !seen->count || seen->pc != from->rip) {
		seen->valid = false;
		return;
	}
	seen->pc = to->rip;
	action = find_action(walk, from->rip);
	if (is_signal)
		begin_handler(seen, walk, from, to);
	else if (action == ACTION_CALL)
		call(seen, walk, from, to);
	else if (action == ACTION_SYSCALL && top->is_interrupted)
		pop(seen);
	else if (to->rip == top->address && !top->is_interrupted &&
		 (action == ACTION_RETURN || to->rsp > top->slot))
		pop(seen);
	else if (action == ACTION_RETURN)
		seen->valid = false;
	else if (action == ACTION_JUMP)
		jump(seen, walk, to);
	else
		follow_stack(seen, walk, to);
	if (action == ACTION_PUSH)
		note_push(seen, walk, to);
}

/* In the air it has to be in a register at least. */
static bool is_held(const struct user_regs_struct *regs, uint64_t address)
{
	uint64_t ordered[16];

	live_walk_order(regs, ordered);
	for (int i = 0; i < 16; i++)
		if (ordered[i] == address)
			return true;
	return false;
}

bool seen_calls_check(struct seen_calls *seen, const struct live_walk *walk,
		      const struct user_regs_struct *regs)
{
	if (seen->pc != regs->rip || !seen->count ||
	    (seen->in_air && !is_held(regs, seen->frames[seen->count - 1].address)))
		seen->valid = false;
	for (size_t i = 0; i < seen->count && seen->valid; i++) {
		const struct seen_frame *f = &seen->frames[i];

		if (f->slot && !(seen->in_air && i + 1 == seen->count) &&
		    !lies_at(walk, f->slot, f->address))
			seen->valid = false;
	}
	return seen->valid;
}

size_t seen_calls_count(const struct seen_calls *seen)
{
	return seen->count + 1;
}

uint64_t seen_calls_address(const struct seen_calls *seen, size_t i)
{
	return i ? seen->frames[seen->count - i].address : seen->pc;
}
