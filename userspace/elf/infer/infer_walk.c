// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_walk.h"

#include <string.h>

/* System calls that don't come back (arch/x86/entry/syscalls/syscall_64.tbl). */
enum { CALL_SIGRETURN = 15, CALL_EXIT = 60, CALL_EXIT_GROUP = 231 };

/* Functions are aligned so; code behind a call that ends just there may be another function. */
#define FUNCTION_ALIGN 16
/* Honest code has a tenth of it in 100 KiB. */
#define MAX_LOOSE 1024
/* Instructions: what leaves a function pops six registers and adds to the stack pointer. */
#define MAX_GIVEN_UP 8

void infer_walk_begin(struct infer_walk *walk, const struct infer_code *code, uint64_t address)
{
	memset(walk, 0, sizeof(*walk));
	walk->code = code;
	walk->address = address;
	walk->flags = xcalloc(code->v.len + 1, sizeof(*walk->flags));
	walk->block_of = xcalloc(code->v.len + 1, sizeof(*walk->block_of));
	walk->max_steps = UINT32_MAX;
}

void infer_walk_beside(struct infer_walk *walk, const struct infer_walk *base, uint32_t max_steps)
{
	memset(walk, 0, sizeof(*walk));
	walk->code = base->code;
	walk->address = base->address;
	walk->flags = base->flags;
	walk->block_of = xcalloc(base->code->v.len + 1, sizeof(*walk->block_of));
	walk->max_steps = max_steps;
	walk->base = base;
}

void infer_walk_release(struct infer_walk *walk)
{
	if (!walk->base)
		free(walk->flags);
	free(walk->block_of);
	vec_release(&walk->blocks);
	vec_release(&walk->work);
	vec_release(&walk->owners);
	vec_release(&walk->tails);
	vec_release(&walk->loose);
}

void infer_walk_reset(struct infer_walk *walk)
{
	const struct infer_block *block;

	vec_for_each (block, &walk->blocks)
		walk->block_of[block->at] = 0;
	walk->blocks.len = walk->work.len = walk->owners.len = 0;
	walk->tails.len = walk->loose.len = 0;
	walk->steps = walk->fits = walk->conflicts = 0;
}

/* --- owners ----------------------------------------------------------------------------------- */

uint32_t infer_walk_own(struct infer_walk *walk)
{
	uint32_t owner = (uint32_t)walk->owners.len;

	vec_push(&walk->owners, ((struct infer_owner){ .parent = owner }));
	return owner;
}

static uint32_t root_of(struct infer_walk *walk, uint32_t owner)
{
	struct infer_owner *owners = walk->owners.items;

	for (; owners[owner].parent != owner; owner = owners[owner].parent)
		owners[owner].parent = owners[owners[owner].parent].parent;
	return owner;
}

struct infer_owner *infer_walk_owner(struct infer_walk *walk, uint32_t owner)
{
	return &walk->owners.items[root_of(walk, owner)];
}

static void unite(struct infer_walk *walk, uint32_t a, uint32_t b)
{
	struct infer_owner *x = infer_walk_owner(walk, a), *y = infer_walk_owner(walk, b);

	x->good |= y->good;
	x->bad |= y->bad;
	y->parent = x->parent;
}

static void note(struct infer_walk *walk, uint32_t owner, bool fits)
{
	struct infer_owner *it = infer_walk_owner(walk, owner);

	walk->fits += fits;
	walk->conflicts += !fits;
	it->good |= fits;
	it->bad |= !fits;
}

/* --- where it goes on ------------------------------------------------------------------------- */

static bool ends_process(const struct infer_state *state)
{
	infer_value rax = state->reg[DWARF_RAX];

	return rax == infer_make(INFER_NUMBER, CALL_SIGRETURN) ||
	       rax == infer_make(INFER_NUMBER, CALL_EXIT) ||
	       rax == infer_make(INFER_NUMBER, CALL_EXIT_GROUP);
}

bool infer_walk_is_aligned(const struct infer_walk *walk, uint32_t at)
{
	return (walk->address + walk->code->v.items[at].at) % FUNCTION_ALIGN == 0;
}

bool infer_walk_may_begin(const struct infer_walk *walk, uint32_t at)
{
	return (walk->flags[at] & INFER_POINTED) ||
	       (!walk->anywhere && infer_walk_is_aligned(walk, at));
}

/* Code that gives up more of the stack than it took, before it goes anywhere: no function begins so. */
static bool gives_up_a_frame(const struct infer_walk *walk, uint32_t at)
{
	const uint32_t end = MIN(at + MAX_GIVEN_UP, (uint32_t)walk->code->v.len);
	int64_t taken = 0;

	for (; at < end && taken >= 0; at++) {
		const struct infer_insn *insn = &walk->code->v.items[at];

		if (insn->kind == INFER_LEAVE)
			return true;
		if (insn->kind == INFER_PUSH)
			taken += 8;
		else if (insn->kind == INFER_POP)
			taken -= 8;
		else if (insn->kind == INFER_LEA && insn->reg == DWARF_RSP &&
			 insn->base == DWARF_RSP)
			taken -= insn->value;
		else if (insn->kind >= INFER_ENTER || insn->reg == DWARF_RBP)
			return false;
	}
	return taken < 0;
}

/* What is behind it looks like another function, or is one. */
static bool may_not_return(const struct infer_walk *walk, uint32_t at)
{
	const struct infer_insn *next = &walk->code->v.items[at + 1];

	if (at + 1 >= walk->code->v.len || (walk->flags[at + 1] & INFER_BEGINS))
		return true;
	/*
	 * What is tried goes on where it can: it shows whether that is right. Not at a function's begin: the next one
	 * would be all right as well.
	 */
	return next->kind == INFER_PAD || next->kind == INFER_STOP ||
	       ((!walk->base || walk->enters) && infer_walk_may_begin(walk, at + 1) &&
		!gives_up_a_frame(walk, at + 1));
}

/* call 1f; 1: */
static bool calls_next(const struct infer_insn *insn)
{
	return insn->kind == INFER_CALL && insn->value == (int64_t)insn->at + insn->len;
}

bool infer_walk_goes_on(const struct infer_walk *walk, uint32_t at, const struct infer_state *state)
{
	const struct infer_insn *insn = &walk->code->v.items[at];

	switch (insn->kind) {
	case INFER_RETURN:
	case INFER_STOP:
	case INFER_JUMP: return false;
	case INFER_SYSCALL: return !ends_process(state);
	/* A callee that is known whole returns, also where another function may begin behind the call. */
	case INFER_CALL: return insn->count || calls_next(insn) || !may_not_return(walk, at);
	default: return at + 1 < walk->code->v.len;
	}
}

/* A loop that moves the stack pointer page by page up to a register is left when it is there (-fstack-clash-protection). */
static void leave_loop(const struct infer_insn *compare, struct infer_state *state)
{
	infer_value *reg = state->reg;

	if (compare->reg == DWARF_RSP && infer_what(reg[compare->base]) == INFER_CFA)
		reg[DWARF_RSP] = reg[compare->base];
	else if (compare->base == DWARF_RSP && infer_what(reg[compare->reg]) == INFER_CFA)
		reg[DWARF_RSP] = reg[compare->reg];
}

void infer_walk_step(const struct infer_walk *walk, uint32_t at, struct infer_state *state)
{
	static const struct infer_insn push = { .kind = INFER_PUSH, .reg = INFER_NO_REG };
	const struct infer_insn *insn = &walk->code->v.items[at];

	if (insn->kind == INFER_BRANCH && insn->reg && at > 0 && insn[-1].kind == INFER_COMPARE)
		leave_loop(&insn[-1], state);
	infer_state_step(state, calls_next(insn) ? &push : insn);
}

/* --- ways meet -------------------------------------------------------------------------------- */

static void put_block(struct infer_walk *walk, uint32_t at, const struct infer_state *state,
		      uint32_t owner)
{
	vec_push(&walk->blocks, ((struct infer_block){ *state, at, owner }));
	walk->block_of[at] = (uint32_t)walk->blocks.len;
	vec_push(&walk->work, (uint32_t)walk->blocks.len - 1);
}

/* A state that is tried comes to what is known. */
static void compare(struct infer_walk *walk, uint32_t at, const struct infer_state *state,
		    uint32_t owner)
{
	const struct infer_block *known = &walk->base->blocks.items[walk->base->block_of[at] - 1];

	if (infer_what(known->state.reg[DWARF_RSP]) == INFER_CFA)
		note(walk, owner, infer_state_has(state, &known->state));
}

static void arrive(struct infer_walk *walk, uint32_t at, const struct infer_state *state,
		   uint32_t owner)
{
	struct infer_block *block;

	if (walk->base && walk->base->block_of[at]) {
		compare(walk, at, state, owner);
		return;
	}
	if (!walk->block_of[at]) {
		put_block(walk, at, state, owner);
		return;
	}
	block = &walk->blocks.items[walk->block_of[at] - 1];
	if (walk->flags[at] & INFER_BEGINS)
		vec_push(&walk->tails, ((struct infer_tail){ owner, block->owner }));
	else
		unite(walk, block->owner, owner);
	if (infer_state_meet(&block->state, state))
		vec_push(&walk->work, walk->block_of[at] - 1);
}

static void arrive_at(struct infer_walk *walk, int32_t target, const struct infer_state *state,
		      uint32_t owner)
{
	int64_t at = target >= 0 ? infer_code_find(walk->code, target) : -1;

	if (at >= 0)
		arrive(walk, (uint32_t)at, state, owner);
	else if (target >= 0)
		note(walk, owner, false); /* into the middle of an instruction */
}

static void put_loose(struct infer_walk *walk, uint32_t at, const struct infer_state *state,
		      uint32_t owner)
{
	struct infer_block *loose;

	if (walk->base)
		return;
	vec_for_each (loose, &walk->loose)
		if (loose->at == at) {
			loose->state = *state;
			return;
		}
	if (walk->loose.len < MAX_LOOSE)
		vec_push(&walk->loose, ((struct infer_block){ *state, at, owner }));
}

/* Where the stack pointer is unknown nothing can be said of it. */
static void leave(struct infer_walk *walk, const struct infer_state *state, uint32_t owner)
{
	if (infer_what(state->reg[DWARF_RSP]) == INFER_CFA)
		note(walk, owner,
		     walk->base ? infer_state_is_whole(state, &walk->began)
				: infer_state_is_bare(state));
}

static bool saves_register(const struct infer_insn *insn, const struct infer_state *state)
{
	return insn->kind == INFER_PUSH && insn->reg != INFER_NO_REG &&
	       infer_what(state->reg[insn->reg]) == INFER_ENTRY &&
	       infer_what(state->reg[DWARF_RSP]) == INFER_CFA;
}

/* A function that goes on as the one that a register has (musl's wrapper_cmp): not one that code of other conventions keeps things in. */
static bool is_all_a_jump(const struct infer_walk *walk, uint32_t at)
{
	const struct infer_insn *insn = &walk->code->v.items[at];

	return insn->kind == INFER_JUMP && insn->value == INFER_ANYWHERE &&
	       (walk->flags[at] & INFER_BEGINS) &&
	       (insn->base <= DWARF_RCX || (insn->base >= DWARF_RSI && insn->base <= DWARF_RDI));
}

/* What follows from instruction AT for others. */
static void look(struct infer_walk *walk, uint32_t at, struct infer_state *state, uint32_t owner)
{
	const struct infer_insn *insn = &walk->code->v.items[at];

	if (saves_register(insn, state) && !walk->base)
		note(walk, owner, true);
	if (insn->kind == INFER_RETURN)
		leave(walk, state, owner);
	else if (insn->kind == INFER_BRANCH || insn->kind == INFER_JUMP)
		arrive_at(walk, insn->value, state, owner);
	if (is_all_a_jump(walk, at) && !walk->base)
		note(walk, owner, true);
	if (insn->kind == INFER_JUMP && insn->value == INFER_ANYWHERE)
		put_loose(walk, at, state, owner);
}

static void stop_at_call(struct infer_walk *walk, uint32_t at, struct infer_state *state,
			 uint32_t owner)
{
	if (walk->code->v.items[at].kind != INFER_CALL)
		return;
	infer_walk_step(walk, at, state);
	put_loose(walk, at, state, owner);
}

static void go_through(struct infer_walk *walk, uint32_t number)
{
	const struct infer_block block = walk->blocks.items[number];
	struct infer_state state = block.state;

	for (uint32_t at = block.at; at < walk->code->v.len; at++) {
		if (at != block.at && (walk->flags[at] & INFER_MEETS)) {
			arrive(walk, at, &state, block.owner);
			return;
		}
		if (++walk->steps > walk->max_steps)
			return;
		if (!walk->base)
			walk->flags[at] |= INFER_REACHED;
		look(walk, at, &state, block.owner);
		if (!infer_walk_goes_on(walk, at, &state)) {
			stop_at_call(walk, at, &state, block.owner);
			return;
		}
		infer_walk_step(walk, at, &state);
	}
}

void infer_walk_put(struct infer_walk *walk, uint32_t at, const struct infer_state *state,
		    uint32_t owner)
{
	arrive(walk, at, state, owner);
}

void infer_walk_run(struct infer_walk *walk)
{
	while (walk->work.len && walk->steps <= walk->max_steps)
		go_through(walk, walk->work.items[--walk->work.len]);
}
