// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_flow.h"

#include <string.h>

#include "elf/infer/infer_callee.h"
#include "elf/infer/infer_walk.h"

/* arch/x86/entry/syscalls/syscall_64.tbl */
enum { CALL_SIGRETURN = 15 };

/* Of instructions that nothing leads to directly: how many states are tried, how far back they are looked for, and how far each is followed. */
#define MAX_CANDIDATES	8
#define MAX_TRIED_STEPS 2048
/* So many functions tell whether they begin at multiples of 16. */
#define LEAST_BEGINS 16
/* Instructions up to the first push. */
#define MAX_PROLOGUE 6
/* Jumps to another function's begin tell of those that have no return of their own: so many in a row. */
#define TAIL_TURNS 4

struct flow {
	const struct infer_piece *piece;
	struct infer_code code;
	struct infer_walk walk, trial;
	uint32_t begins; /* the last instruction that a function begins at, or may begin at */
	uint32_t surely; /* the last one that a function does begin at */
};

/* --- what is known ---------------------------------------------------------------------------- */

/* Can this be in front of a function's first push? */
static bool is_prologue(const struct infer_insn *insn)
{
	switch (insn->kind) {
	case INFER_PAD:
	case INFER_CONST:
	case INFER_PUSH: return true;
	case INFER_MOVE:
	case INFER_LEA: return insn->reg != DWARF_RSP && insn->base != DWARF_RSP;
	case INFER_PLAIN: return !insn->writes && insn->base == INFER_NO_REG;
	default: return false;
	}
}

/* Code that saves a register first of all. */
static bool saves_first(const struct flow *flow, uint32_t at)
{
	const struct infer_insn *insn = &flow->code.v.items[at];
	const size_t left = flow->code.v.len - at;

	for (size_t i = 0; i < MIN(left, (size_t)MAX_PROLOGUE) && is_prologue(&insn[i]); i++)
		if (insn[i].kind == INFER_PUSH)
			return insn[i].reg == DWARF_RBX || insn[i].reg == DWARF_RBP ||
			       (insn[i].reg >= DWARF_R12 && insn[i].reg <= DWARF_R15);
	return false;
}

static void mark(struct flow *flow, int64_t target, unsigned int flags)
{
	int64_t at = target >= 0 ? infer_code_find(&flow->code, target) : -1;

	if (at >= 0)
		flow->walk.flags[at] |= (uint8_t)flags;
}

static void mark_pointed(struct flow *flow, uint32_t place)
{
	int64_t at = infer_code_find(&flow->code, place);

	if (at >= 0 && saves_first(flow, (uint32_t)at))
		flow->walk.flags[at] |= INFER_POINTED;
}

static void mark_all(struct flow *flow)
{
	const struct infer_insn *insn;

	for (size_t i = 0; i < flow->piece->pointed_count; i++)
		mark_pointed(flow, flow->piece->pointed[i]);
	for (size_t i = 0; i < flow->piece->entry_count; i++)
		mark(flow, flow->piece->entries[i], INFER_BEGINS | INFER_MEETS);
	vec_for_each (insn, &flow->code.v) {
		int64_t next = (int64_t)insn->at + insn->len;

		if (insn->kind == INFER_CALL && insn->value != next)
			mark(flow, insn->value, INFER_BEGINS | INFER_MEETS);
		else if (insn->kind == INFER_BRANCH || insn->kind == INFER_JUMP)
			mark(flow, insn->value, INFER_MEETS);
		if (insn->kind == INFER_BRANCH)
			mark(flow, next, INFER_MEETS);
	}
}

/* Of few functions that are known nothing can be told. */
static void see_where_functions_begin(struct flow *flow)
{
	uint32_t begins = 0, aligned = 0;

	for (uint32_t at = 0; at < flow->code.v.len; at++)
		if (flow->walk.flags[at] & (INFER_BEGINS | INFER_POINTED)) {
			begins++;
			aligned += infer_walk_is_aligned(&flow->walk, at);
		}
	flow->walk.anywhere = begins >= LEAST_BEGINS && aligned < begins / 2;
}

static void walk_known(struct flow *flow)
{
	struct infer_state state;

	infer_state_enter(&state);
	for (uint32_t at = 0; at < flow->code.v.len; at++)
		if (flow->walk.flags[at] & INFER_BEGINS)
			infer_walk_put(&flow->walk, at, &state, infer_walk_own(&flow->walk));
	infer_walk_run(&flow->walk);
}

/* --- what nothing leads to -------------------------------------------------------------------- */

/* Code begins here that has not been reached, behind code that does not go on, as far as that is known. */
static bool is_loose(const struct flow *flow, uint32_t at)
{
	const struct infer_insn *insn = &flow->code.v.items[at];
	uint8_t before;

	if ((flow->walk.flags[at] & INFER_REACHED) || insn->kind == INFER_PAD ||
	    insn->kind == INFER_STOP)
		return false;
	if (at == 0)
		return flow->piece->begins;
	before = insn[-1].kind;
	return (flow->walk.flags[at - 1] & INFER_REACHED) || before == INFER_PAD ||
	       before == INFER_STOP || before == INFER_JUMP || before == INFER_RETURN;
}

struct candidates {
	struct infer_block of[MAX_CANDIDATES + 1];
	size_t count;
};

/* The state at a function's first instruction, and those of the places before it that may lead here. */
static void find_candidates(struct flow *flow, uint32_t at, struct candidates *ret)
{
	struct infer_state entered;
	size_t i = flow->walk.loose.len;

	infer_state_enter(&entered);
	ret->of[0] = (struct infer_block){ entered, at, UINT32_MAX };
	ret->count = 1;
	while (i-- > 0 && ret->count <= MAX_CANDIDATES) {
		const struct infer_block *loose = &flow->walk.loose.items[i];

		if (loose->at < at && loose->at >= flow->begins)
			ret->of[ret->count++] = *loose;
	}
}

/* Of a function that jumps to anywhere with a frame: arguments are pushed there as registers are saved elsewhere. */
static bool is_inside(const struct flow *flow, uint32_t at)
{
	const struct infer_block *loose;

	vec_for_each (loose, &flow->walk.loose)
		if (loose->at < at && loose->at >= flow->surely &&
		    flow->code.v.items[loose->at].kind == INFER_JUMP &&
		    !infer_state_is_bare(&loose->state))
			return true;
	return false;
}

/* Nothing speaks against it, and if it has to, something for it. */
static bool is_right(struct flow *flow, uint32_t at, const struct infer_state *state, bool enters,
		     bool has_to)
{
	struct infer_walk *trial = &flow->trial;

	infer_walk_reset(trial);
	trial->began = *state;
	trial->enters = enters;
	infer_walk_put(trial, at, state, infer_walk_own(trial));
	infer_walk_run(trial);
	flow->walk.steps += trial->steps;
	if (trial->conflicts)
		return false;
	return trial->fits || (!has_to && trial->steps <= trial->max_steps);
}

/* Behind a call it mostly goes on: only one that does not return can end just where functions begin. */
static bool follows_call(struct flow *flow, uint32_t at, struct infer_block *ret)
{
	size_t i = flow->walk.loose.len;

	if (at == 0 || flow->code.v.items[at - 1].kind != INFER_CALL)
		return false;
	while (i-- > 0)
		if (flow->walk.loose.items[i].at == at - 1) {
			*ret = flow->walk.loose.items[i];
			return is_right(flow, at, &ret->state, false, false);
		}
	return false;
}

/* One state of those that are right; false: none, or they say different things. */
static bool choose(struct flow *flow, uint32_t at, struct infer_block *ret)
{
	struct candidates candidates;
	const bool saves = infer_walk_may_begin(&flow->walk, at) && saves_first(flow, at) &&
			   !is_inside(flow, at);
	bool found = false;

	find_candidates(flow, at, &candidates);
	for (size_t i = 0; i < candidates.count; i++) {
		const struct infer_block *it = &candidates.of[i];

		if (!is_right(flow, at, &it->state, i == 0, i || !saves))
			continue;
		if (found && ret->state.reg[DWARF_RSP] != it->state.reg[DWARF_RSP])
			return false;
		if (found)
			infer_state_meet(&ret->state, &it->state);
		else
			*ret = *it;
		if (it->owner != UINT32_MAX)
			ret->owner = it->owner;
		found = true;
	}
	return found || follows_call(flow, at, ret);
}

/* Padding behind a call that comes back is gone through: the first instruction of it. */
static uint32_t before_padding(const struct flow *flow, uint32_t at, uint32_t call)
{
	uint32_t i = at;

	while (i > 0 && flow->code.v.items[i - 1].kind == INFER_PAD)
		i--;
	return i > 0 && i - 1 == call && flow->code.v.items[call].kind == INFER_CALL ? i : at;
}

static void settle(struct flow *flow, uint32_t at)
{
	struct infer_block block;

	if (!choose(flow, at, &block)) {
		flow->begins = at;
		return;
	}
	if (block.owner == UINT32_MAX) {
		block.owner = infer_walk_own(&flow->walk);
		flow->begins = flow->surely = at;
	} else {
		at = before_padding(flow, at, block.at);
	}
	flow->walk.flags[at] |= INFER_MEETS;
	infer_walk_put(&flow->walk, at, &block.state, block.owner);
	infer_walk_run(&flow->walk);
}

static void settle_all(struct flow *flow)
{
	for (uint32_t at = 0; at < flow->code.v.len; at++) {
		if (flow->walk.steps > flow->walk.max_steps)
			return;
		if (flow->walk.flags[at] & INFER_BEGINS)
			flow->begins = flow->surely = at;
		else if (is_loose(flow, at))
			settle(flow, at);
	}
}

/* Who goes on as a function that returns is one. */
static void follow_tails(struct infer_walk *walk)
{
	const struct infer_tail *tail;

	for (int turn = 0; turn < TAIL_TURNS; turn++)
		vec_for_each (tail, &walk->tails)
			infer_walk_owner(walk, tail->from)->good |=
				infer_walk_owner(walk, tail->to)->good;
}

/* --- rows ------------------------------------------------------------------------------------- */

static void put(struct infer_rows_found *rows, uint32_t at, struct wire_rule rule)
{
	if (rows->v.len && memcmp(&rows->v.items[rows->v.len - 1].rule, &rule, sizeof(rule)) == 0)
		return;
	vec_push(&rows->v, ((struct infer_row){ at, rule }));
}

/* mov $15,%rax; syscall: what a signal handler returns to, and one looks for the byte before that. */
static bool is_trampoline(const struct flow *flow, uint32_t at)
{
	const struct infer_insn *insn = &flow->code.v.items[at];
	const struct infer_insn *end = flow->code.v.items + flow->code.v.len;

	if (insn->kind == INFER_PAD && insn->len == 1)
		insn++;
	else if (insn->kind == INFER_SYSCALL && at > 0)
		insn--;
	return insn + 1 < end && insn->kind == INFER_CONST && insn->reg == DWARF_RAX &&
	       insn->value == CALL_SIGRETURN && insn[1].kind == INFER_SYSCALL;
}

static bool is_believed(struct infer_walk *walk, uint32_t owner)
{
	const struct infer_owner *it = infer_walk_owner(walk, owner);

	return it->good && !it->bad;
}

static void put_rows(struct flow *flow, struct infer_rows_found *rows)
{
	const struct wire_rule none = { .kind = WIRE_RULE_NONE };
	const struct wire_rule trampoline = { .kind = WIRE_RULE_SIGNAL };
	struct infer_walk *walk = &flow->walk;
	struct infer_state state;
	bool known = false, believed = false;

	for (uint32_t at = 0; at < flow->code.v.len; at++) {
		uint32_t block = walk->block_of[at];
		const uint32_t place = flow->code.v.items[at].at;

		if (block) {
			state = walk->blocks.items[block - 1].state;
			believed = is_believed(walk, walk->blocks.items[block - 1].owner);
		}
		known = block || known;
		if (is_trampoline(flow, at))
			put(rows, place, trampoline);
		else
			put(rows, place, known && believed ? infer_state_rule(&state) : none);
		known = known && infer_walk_goes_on(walk, at, &state);
		if (known)
			infer_walk_step(walk, at, &state);
	}
}

void infer_flow_rows(const struct infer_piece *piece, struct infer_rows_found *rows)
{
	struct flow flow = { .piece = piece };

	rows->v.len = 0;
	infer_code_read(piece->bytes, piece->len, &flow.code);
	infer_callees_note(&flow.code);
	infer_walk_begin(&flow.walk, &flow.code, piece->address);
	flow.walk.max_steps = INFER_MAX_STEPS;
	infer_walk_beside(&flow.trial, &flow.walk, MAX_TRIED_STEPS);
	mark_all(&flow);
	see_where_functions_begin(&flow);
	walk_known(&flow);
	settle_all(&flow);
	follow_tails(&flow.walk);
	if (flow.walk.steps <= flow.walk.max_steps)
		put_rows(&flow, rows);
	infer_walk_release(&flow.trial);
	infer_walk_release(&flow.walk);
	infer_code_release(&flow.code);
}
