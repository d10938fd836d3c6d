// SPDX-License-Identifier: Apache-2.0
#include "unwind/exits/code_exits.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/macros.h"
#include "unwind/exits/x86_insn.h"

/* Code is followed so far before and behind pc, and somewhat more. */
#define WINDOW_BYTES	   (256U << 10)
#define WINDOW_ALIGN_BYTES 4096
/* Instructions in all, and behind the first return. */
#define MOST_STEPS	4096
#define MOST_STEPS_MORE 512
/* Branches whose other way is to come. */
#define MOST_WAYS 256
/* As large as frames are. */
#define MOST_FRAME_BYTES UNWIND_MAX_FRAME_BYTES
/* The code may be another one then; what it says is looked at on each stack. */
#define KEPT_NS	  (4 * NSEC_PER_SEC)
#define KEPT_MOST 1024

/* What is known at an instruction: how it would be left here. */
struct way {
	uint32_t at; /* in the window */
	uint8_t reg; /* a register whose value the last instructions set, or X86_NO_REG */
	uint64_t value;
	struct unwind_exit exit;
};

struct kept {
	uint64_t pc, until_ns;
	uint32_t pid, count;
	struct unwind_exit exits[EXITS_MOST];
};

/* Of a second looks take so much for one process, and for all: who makes ever new code has the loop's thread for no longer. */
#define SHARE_NS  (20 * NSEC_PER_MSEC)
#define SHARES_NS (80 * NSEC_PER_MSEC)
#define SHARES	  256

struct share {
	uint64_t begin_ns, spent_ns; /* of a second */
};

struct code_exits {
	struct share all, shares[SHARES]; /* by process; those of one place have one together */
	uint64_t refused;
	struct code_pages *pages;
	const struct code_source *source; /* of the look that goes on */
	uint64_t now_ns;
	uint64_t start; /* the window's address */
	uint32_t steps, limit;
	uint32_t way_count, exit_count;
	struct way ways[MOST_WAYS];
	struct unwind_exit *exits;
	uint64_t seen[WINDOW_BYTES / 64]; /* a bit for each instruction's first byte */
	struct kept kept[KEPT_MOST];
};

struct code_exits *code_exits_new(void)
{
	struct code_exits *exits = xcalloc(1, sizeof(*exits));

	exits->pages = code_pages_new();
	return exits;
}

void code_exits_free(struct code_exits *exits)
{
	if (!exits)
		return;
	code_pages_free(exits->pages);
	free(exits);
}

/* --- the code --------------------------------------------------------------------------------- */

static bool is_new(struct code_exits *exits, uint32_t at)
{
	uint64_t *word = &exits->seen[at / 64], bit = 1ULL << at % 64;
	bool is_new = !(*word & bit);

	*word |= bit;
	return is_new;
}

/* --- its ways --------------------------------------------------------------------------------- */

static int32_t *place_of(struct way *way, uint8_t reg)
{
	switch (reg) {
	case X86_RBX: return &way->exit.rbx;
	case X86_RBP: return &way->exit.rbp;
	case X86_R13: return &way->exit.r13;
	case X86_R15: return &way->exit.r15;
	default: return NULL;
	}
}

/* REG is what lies at PLACE; what was pushed since pc is nobody's but this code's. */
static void load(struct way *way, uint8_t reg, int64_t place)
{
	const bool is_callers = place >= 0 && place <= (int64_t)MOST_FRAME_BYTES;
	int32_t *ret = place_of(way, reg);

	if (ret)
		*ret = is_callers ? (int32_t)place : EXITS_KEPT;
}

static bool move(struct way *way, int64_t bytes)
{
	int64_t sp = way->exit.sp + bytes;

	if (sp > (int64_t)MOST_FRAME_BYTES || sp < -(int64_t)MOST_FRAME_BYTES)
		return false;
	way->exit.sp = (int32_t)sp;
	return true;
}

/* JUMP: where it goes on, out of the window, or 0. A return to what was pushed since pc is none. */
static void put_exit(struct code_exits *exits, const struct way *way, uint64_t jump)
{
	if (way->exit.sp % 8 || (way->exit.sp < 0 && !jump) || exits->exit_count == EXITS_MOST)
		return;
	for (uint32_t i = 0; i < exits->exit_count; i++)
		if (exits->exits[i].sp == way->exit.sp && exits->exits[i].jump == jump)
			return;
	exits->exits[exits->exit_count] = way->exit;
	exits->exits[exits->exit_count++].jump = jump;
	if (!jump)
		exits->limit = MIN(exits->limit, exits->steps + MOST_STEPS_MORE);
}

/* To the instruction at ADDRESS; false: that is out of the window. */
static bool go_to(struct code_exits *exits, struct way *way, uint64_t address)
{
	if (address - exits->start >= WINDOW_BYTES) {
		put_exit(exits, way, address);
		return false;
	}
	way->at = (uint32_t)(address - exits->start);
	return true;
}

static void put_branch(struct code_exits *exits, const struct way *way, uint64_t address)
{
	struct way other = *way;

	other.reg = X86_NO_REG;
	if (exits->way_count < MOST_WAYS && go_to(exits, &other, address))
		exits->ways[exits->way_count++] = other;
}

/* A register's value is known as long as nothing but the stack is touched. */
static void note_value(struct way *way, const struct x86_insn *insn)
{
	switch (insn->kind) {
	case X86_SET:
		way->reg = insn->reg;
		way->value = (uint64_t)insn->value;
		break;
	case X86_ADD:
		if (way->reg == insn->reg)
			way->value += (uint64_t)insn->value;
		break;
	case X86_PUSH:
	case X86_ADD_SP:
	case X86_JUMP:
	case X86_JUMP_TO: break;
	default: way->reg = X86_NO_REG; break;
	}
}

/* Does it go on, behind the instruction? */
static bool take(struct code_exits *exits, struct way *way, const struct x86_insn *insn)
{
	const uint64_t next = exits->start + way->at + insn->len;

	note_value(way, insn);
	switch (insn->kind) {
	case X86_PLAIN:
	case X86_SET:
	case X86_ADD: break;
	case X86_PUSH:
		if (!move(way, -8))
			return false;
		break;
	case X86_POP:
		load(way, insn->reg, way->exit.sp);
		if (!move(way, 8))
			return false;
		break;
	case X86_ADD_SP:
		if (!move(way, insn->value))
			return false;
		break;
	case X86_LOAD: load(way, insn->reg, way->exit.sp + insn->value); break;
	case X86_BRANCH: put_branch(exits, way, next + (uint64_t)insn->value); break;
	case X86_JUMP: return go_to(exits, way, next + (uint64_t)insn->value);
	case X86_JUMP_TO: return way->reg == insn->reg && go_to(exits, way, way->value);
	case X86_RETURN: put_exit(exits, way, 0); return false;
	default: return false;
	}
	return go_to(exits, way, next);
}

static void follow(struct code_exits *exits, struct way way)
{
	uint8_t bytes[X86_MAX_BYTES];
	struct x86_insn insn;
	size_t len;

	do {
		if (++exits->steps > exits->limit || !is_new(exits, way.at))
			return;
		len = code_pages_read(exits->pages, exits->source, exits->start + way.at,
				      exits->now_ns, bytes, sizeof(bytes));
		if (!len)
			return;
		x86_insn_read(bytes, len, &insn);
	} while (take(exits, &way, &insn));
}

static uint32_t look(struct code_exits *exits, const struct code_source *source, uint64_t pc,
		     uint64_t now_ns, struct unwind_exit *ret)
{
	const uint64_t page = pc & ~(uint64_t)(WINDOW_ALIGN_BYTES - 1), half = WINDOW_BYTES / 2;
	uint32_t next = 0;

	exits->source = source;
	exits->now_ns = now_ns;
	exits->start = page > half ? page - half : 0;
	exits->steps = 0;
	exits->limit = MOST_STEPS;
	exits->exit_count = 0;
	exits->exits = ret;
	memset(exits->seen, 0, sizeof(exits->seen));
	exits->ways[0] =
		(struct way){ (uint32_t)(pc - exits->start), X86_NO_REG, 0, exits_here(0) };
	exits->way_count = 1;
	/* The nearest first: what was branched to first. */
	while (next < exits->way_count && exits->steps < exits->limit)
		follow(exits, exits->ways[next++]);
	return exits->exit_count;
}

/* --- its time --------------------------------------------------------------------------------- */

static bool has_time(struct share *share, uint64_t now_ns, uint64_t most_ns)
{
	if (now_ns - share->begin_ns >= NSEC_PER_SEC)
		*share = (struct share){ .begin_ns = now_ns };
	return share->spent_ns < most_ns;
}

static bool look_in_time(struct code_exits *exits, const struct code_source *source, uint64_t pc,
			 uint64_t now_ns, struct kept *kept)
{
	struct share *share = &exits->shares[source->pid % SHARES];
	uint64_t begin_ns, took_ns;

	if (!has_time(share, now_ns, SHARE_NS) || !has_time(&exits->all, now_ns, SHARES_NS)) {
		exits->refused++;
		return false;
	}
	begin_ns = clock_now_ns();
	kept->count = look(exits, source, pc, now_ns, kept->exits);
	if (!kept->count && code_pages_drop(exits->pages, source->pid, now_ns))
		kept->count = look(exits, source, pc, now_ns, kept->exits);
	took_ns = clock_now_ns() - begin_ns;
	share->spent_ns += took_ns;
	exits->all.spent_ns += took_ns;
	return true;
}

uint64_t code_exits_refused(const struct code_exits *exits)
{
	return exits->refused;
}

/* --- what is kept ----------------------------------------------------------------------------- */

uint32_t code_exits_find(struct code_exits *exits, const struct code_source *source, uint64_t pc,
			 uint64_t now_ns, struct unwind_exit *ret)
{
	struct kept *kept = &exits->kept[cursor_hash(pc ^ source->pid) % KEPT_MOST];

	if (kept->pc != pc || kept->pid != source->pid || now_ns >= kept->until_ns) {
		kept->pc = 0;
		if (!look_in_time(exits, source, pc, now_ns, kept))
			return 0;
		kept->pc = pc;
		kept->pid = source->pid;
		kept->until_ns = now_ns + KEPT_NS;
	}
	memcpy(ret, kept->exits, kept->count * sizeof(*ret));
	return kept->count;
}
