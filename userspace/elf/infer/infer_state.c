// SPDX-License-Identifier: Apache-2.0
/* Who keeps what over a call: x86-64 psABI, 3.2.1; the red zone below the stack pointer: 3.2.2. */
#include "elf/infer/infer_state.h"

#include <string.h>

#define BIT(reg) (1U << (reg))

static const uint32_t kept_by_calls = BIT(DWARF_RBX) | BIT(DWARF_RBP) | BIT(DWARF_RSP) |
				      BIT(DWARF_R12) | BIT(DWARF_R13) | BIT(DWARF_R14) |
				      BIT(DWARF_R15);

void infer_state_enter(struct infer_state *state)
{
	memset(state, 0, sizeof(*state));
	for (int reg = 0; reg < DWARF_REGISTERS; reg++)
		if (kept_by_calls & BIT(reg))
			state->reg[reg] = infer_make(INFER_ENTRY, reg);
	state->reg[DWARF_RSP] = infer_make(INFER_CFA, -8);
	state->slot[0] = (struct infer_slot){ infer_make(INFER_CFA, -8),
					      infer_make(INFER_RETURN_ADDRESS, 0) };
	state->slots = 1;
}

/* --- words of the stack ----------------------------------------------------------------------- */

static infer_value get_slot(const struct infer_state *state, infer_value place)
{
	for (uint32_t i = 0; i < state->slots; i++)
		if (state->slot[i].place == place)
			return state->slot[i].value;
	return INFER_UNKNOWN;
}

static void remove_slot(struct infer_state *state, uint32_t at)
{
	state->slot[at] = state->slot[--state->slots];
}

/* COUNT bytes from PLACE on have any value now. */
static void forget_bytes(struct infer_state *state, infer_value place, int32_t count)
{
	int32_t first = infer_number(place);

	for (uint32_t i = state->slots; i-- > 0;) {
		int32_t at = infer_number(state->slot[i].place);

		if (infer_what(state->slot[i].place) == infer_what(place) && at > first - 8 &&
		    at < first + count)
			remove_slot(state, i);
	}
}

static bool is_place(infer_value value)
{
	return infer_what(value) == INFER_CFA || infer_what(value) == INFER_ALIGNED;
}

static infer_value moved(infer_value value, int64_t by)
{
	return is_place(value) ? infer_make(infer_what(value), infer_number(value) + by)
			       : (infer_value)INFER_UNKNOWN;
}

static void put_slot(struct infer_state *state, infer_value place, infer_value value)
{
	if (!is_place(place))
		return;
	forget_bytes(state, place, 8);
	/* What does not fit is lost, as if it had not been kept. */
	if (value != INFER_UNKNOWN && infer_what(value) != INFER_NUMBER &&
	    state->slots < INFER_SLOTS)
		state->slot[state->slots++] = (struct infer_slot){ place, value };
}

/* Who is called may write there. */
static void forget_below(struct infer_state *state, infer_value top)
{
	for (uint32_t i = state->slots; i-- > 0;)
		if (infer_what(state->slot[i].place) == infer_what(top) &&
		    infer_number(state->slot[i].place) < infer_number(top))
			remove_slot(state, i);
}

bool infer_state_meet(struct infer_state *state, const struct infer_state *other)
{
	bool less = false;

	for (int reg = 0; reg < DWARF_REGISTERS; reg++) {
		if (state->reg[reg] == INFER_UNKNOWN || state->reg[reg] == other->reg[reg])
			continue;
		state->reg[reg] = INFER_UNKNOWN;
		less = true;
	}
	for (uint32_t i = state->slots; i-- > 0;) {
		if (get_slot(other, state->slot[i].place) == state->slot[i].value)
			continue;
		remove_slot(state, i);
		less = true;
	}
	return less;
}

/* --- instructions ----------------------------------------------------------------------------- */

static void push(struct infer_state *state, infer_value value)
{
	state->reg[DWARF_RSP] = moved(state->reg[DWARF_RSP], -8);
	put_slot(state, state->reg[DWARF_RSP], value);
}

static infer_value pop(struct infer_state *state)
{
	infer_value value = get_slot(state, state->reg[DWARF_RSP]);

	state->reg[DWARF_RSP] = moved(state->reg[DWARF_RSP], 8);
	return value;
}

static void forget_registers(struct infer_state *state, uint32_t mask)
{
	for (int reg = 0; reg < DWARF_REGISTERS; reg++)
		if (mask & BIT(reg))
			state->reg[reg] = INFER_UNKNOWN;
}

/* and $-32,%rsp: a place of its own, which nothing is known of but that it is there. */
static void align(struct infer_state *state, const struct infer_insn *insn)
{
	bool fits = insn->reg == DWARF_RSP && insn->value < 0 && insn->value >= -4096;

	/* Of an older one nothing would be known any more: its places would be mistaken for the new one's. */
	for (int reg = 0; reg < DWARF_REGISTERS; reg++)
		if (fits && infer_what(state->reg[reg]) == INFER_ALIGNED)
			state->reg[reg] = INFER_UNKNOWN;
	for (uint32_t i = state->slots; fits && i-- > 0;)
		if (infer_what(state->slot[i].place) == INFER_ALIGNED ||
		    infer_what(state->slot[i].value) == INFER_ALIGNED)
			remove_slot(state, i);
	state->reg[insn->reg] = fits ? infer_make(INFER_ALIGNED, 0) : (infer_value)INFER_UNKNOWN;
}

static void step_frame(struct infer_state *state, const struct infer_insn *insn)
{
	infer_value *reg = state->reg;

	if (insn->kind == INFER_LEAVE) {
		reg[DWARF_RSP] = reg[DWARF_RBP];
		reg[DWARF_RBP] = pop(state);
		return;
	}
	push(state, reg[DWARF_RBP]);
	reg[DWARF_RBP] = reg[DWARF_RSP];
	reg[DWARF_RSP] = moved(reg[DWARF_RSP], -insn->value);
}

static void step_pop(struct infer_state *state, const struct infer_insn *insn)
{
	infer_value value = pop(state);

	if (insn->reg != INFER_NO_REG)
		state->reg[insn->reg] = value;
}

static void step_plain(struct infer_state *state, const struct infer_insn *insn)
{
	if (insn->base != INFER_NO_REG && is_place(state->reg[insn->base]))
		forget_bytes(state, moved(state->reg[insn->base], insn->value), insn->count);
	forget_registers(state, insn->writes);
}

static void step_call(struct infer_state *state, const struct infer_insn *insn)
{
	forget_below(state, state->reg[DWARF_RSP]);
	forget_registers(state, insn->count ? insn->writes : ~kept_by_calls);
}

static void step(struct infer_state *state, const struct infer_insn *insn)
{
	infer_value *reg = state->reg;

	switch (insn->kind) {
	case INFER_PUSH:
		push(state,
		     insn->reg == INFER_NO_REG ? (infer_value)INFER_UNKNOWN : reg[insn->reg]);
		break;
	case INFER_POP: step_pop(state, insn); break;
	case INFER_MOVE: reg[insn->reg] = reg[insn->base]; break;
	case INFER_LEA: reg[insn->reg] = moved(reg[insn->base], insn->value); break;
	case INFER_ALIGN: align(state, insn); break;
	case INFER_CONST: reg[insn->reg] = infer_make(INFER_NUMBER, insn->value); break;
	case INFER_STORE:
		put_slot(state, moved(reg[insn->base], insn->value), reg[insn->reg]);
		break;
	case INFER_LOAD:
		reg[insn->reg] = get_slot(state, moved(reg[insn->base], insn->value));
		break;
	case INFER_LEAVE:
	case INFER_ENTER: step_frame(state, insn); break;
	case INFER_CALL: step_call(state, insn); break;
	case INFER_SYSCALL:
		forget_registers(state, BIT(DWARF_RAX) | BIT(DWARF_RCX) | BIT(DWARF_R11));
		break;
	case INFER_PLAIN: step_plain(state, insn); break;
	default: break;
	}
}

/* What the stack pointer has gone over is given up, though it may be there still. */
void infer_state_step(struct infer_state *state, const struct infer_insn *insn)
{
	const infer_value before = state->reg[DWARF_RSP];
	infer_value now;

	step(state, insn);
	now = state->reg[DWARF_RSP];
	if (now != before && is_place(now) &&
	    (infer_what(now) != infer_what(before) || infer_number(now) > infer_number(before)))
		forget_below(state, now);
}

bool infer_state_is_bare(const struct infer_state *state)
{
	infer_value at = infer_make(INFER_CFA, -8);

	return state->reg[DWARF_RSP] == at &&
	       infer_what(get_slot(state, at)) == INFER_RETURN_ADDRESS;
}

static bool is_lost(const struct infer_state *state, int reg)
{
	infer_value value = infer_make(INFER_ENTRY, reg);

	for (uint32_t i = 0; i < state->slots; i++)
		if (state->slot[i].value == value)
			return false;
	return state->reg[reg] != value;
}

bool infer_state_is_whole(const struct infer_state *state, const struct infer_state *began)
{
	for (int reg = 0; reg < DWARF_REGISTERS; reg++)
		if ((kept_by_calls & BIT(reg)) && reg != DWARF_RSP &&
		    state->reg[reg] != infer_make(INFER_ENTRY, reg) && !is_lost(began, reg))
			return false;
	return infer_state_is_bare(state);
}

bool infer_state_has(const struct infer_state *state, const struct infer_state *other)
{
	for (uint32_t i = 0; i < other->slots; i++)
		if (infer_what(other->slot[i].place) == INFER_CFA &&
		    get_slot(state, other->slot[i].place) != other->slot[i].value)
			return false;
	return state->reg[DWARF_RSP] == other->reg[DWARF_RSP];
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Steps carry these from frame to frame; the others they know in the leaf. */
static const uint8_t by_preference[] = { DWARF_RSP, DWARF_RBP, DWARF_RBX, DWARF_R13, DWARF_R15,
					 DWARF_R10, DWARF_RAX, DWARF_R11, DWARF_R12, DWARF_R14,
					 DWARF_RCX, DWARF_RDX, DWARF_R8,  DWARF_R9 };

static bool rule_by_register(const struct infer_state *state, size_t count, struct wire_rule *rule)
{
	infer_value value = infer_make(INFER_CFA, -16);

	rule->kind = WIRE_RULE_CFA;
	/* A frame pointer stays where it is when the stack pointer moves: fewer rows. */
	rule->cfa_reg = DWARF_RBP;
	rule->cfa_offset = 16;
	if (state->reg[DWARF_RBP] == value)
		return true;
	for (size_t i = 0; i < count; i++) {
		value = state->reg[by_preference[i]];
		if (infer_what(value) != INFER_CFA)
			continue;
		rule->cfa_reg = by_preference[i];
		rule->cfa_offset = -infer_number(value);
		return true;
	}
	return false;
}

/* The CFA lies in a word of the stack, which was aligned. */
static bool rule_by_word(const struct infer_state *state, struct wire_rule *rule)
{
	static const uint8_t bases[] = { DWARF_RBP, DWARF_RSP };

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		infer_value base = state->reg[bases[i]];

		for (uint32_t k = 0; k < state->slots; k++) {
			const struct infer_slot *slot = &state->slot[k];
			int32_t add = -infer_number(slot->value);

			if (infer_what(base) != INFER_ALIGNED ||
			    infer_what(slot->place) != INFER_ALIGNED ||
			    infer_what(slot->value) != INFER_CFA || add % 8 ||
			    add / 8 > INT16_MAX || add / 8 < INT16_MIN)
				continue;
			rule->kind = WIRE_RULE_DEREF;
			rule->cfa_reg = bases[i];
			rule->cfa_offset = infer_number(slot->place) - infer_number(base);
			rule->cfa_add = (int16_t)(add / 8);
			return true;
		}
	}
	return false;
}

static bool rule_of_cfa(const struct infer_state *state, struct wire_rule *rule)
{
	const size_t carried = 5;

	return rule_by_register(state, carried, rule) || rule_by_word(state, rule) ||
	       rule_by_register(state, ARRAY_SIZE(by_preference), rule);
}

/* Where the caller's REG was put, as a slot below HOME; LOST: nowhere. Not below LOW. */
static uint32_t find_saved(const struct infer_state *state, int reg, infer_value home, int32_t low,
			   uint32_t lost)
{
	for (uint32_t i = 0; i < state->slots; i++) {
		const struct infer_slot *slot = &state->slot[i];
		int32_t above = infer_number(home) - infer_number(slot->place);

		if (slot->value == infer_make(INFER_ENTRY, reg) &&
		    infer_what(slot->place) == infer_what(home) &&
		    infer_number(slot->place) >= low && above > 0 && above % 8 == 0 &&
		    (uint32_t)above / 8 < lost)
			return (uint32_t)above / 8;
	}
	return lost;
}

/*
 * Where the caller's REG is: as long as it stands on the stack, there, since the register changes more often, and each
 * time would be a row.
 */
static uint32_t slot_of(const struct infer_state *state, int reg, const struct wire_rule *rule,
			uint32_t lost)
{
	infer_value sp = state->reg[DWARF_RSP], home = infer_make(INFER_CFA, 0);
	uint32_t slot;

	if (rule->home_reg)
		home = moved(state->reg[rule->home_reg], 16);
	slot = find_saved(state, reg, home,
			  infer_what(sp) == infer_what(home) ? infer_number(sp) : INT32_MIN, lost);
	if (slot != lost)
		return slot;
	if (state->reg[reg] == infer_make(INFER_ENTRY, reg))
		return WIRE_SLOT_SAME;
	return find_saved(state, reg, home, INT32_MIN, lost);
}

static void put_registers(const struct infer_state *state, struct wire_rule *rule)
{
	rule->rbp_slot = (uint16_t)slot_of(state, DWARF_RBP, rule, WIRE_RBP_SLOT_LOST);
	rule->rbx_slot = (uint8_t)slot_of(state, DWARF_RBX, rule, WIRE_SLOT_LOST);
	rule->r13_slot = (uint8_t)slot_of(state, DWARF_R13, rule, WIRE_SLOT_LOST);
	rule->r15_slot = (uint8_t)slot_of(state, DWARF_R15, rule, WIRE_SLOT_LOST);
}

/* The return address is not in its place any more. */
static bool has_popped(const struct infer_state *state)
{
	infer_value sp = state->reg[DWARF_RSP];

	return infer_what(sp) == INFER_CFA && infer_number(sp) > -8;
}

/* In the frame, or in a register, when it was taken from there (vfork). */
static bool put_return_address(const struct infer_state *state, struct wire_rule *rule)
{
	rule->ra_slot = 1;
	if (!has_popped(state))
		return infer_what(get_slot(state, infer_make(INFER_CFA, -8))) ==
		       INFER_RETURN_ADDRESS;
	for (uint8_t reg = 0; reg < DWARF_REGISTERS; reg++)
		if (infer_what(state->reg[reg]) == INFER_RETURN_ADDRESS) {
			rule->ra_slot = WIRE_RA_REGISTER | reg;
			return infer_number(state->reg[DWARF_RSP]) == 0;
		}
	return false;
}

/* A frame pointer that was saved where it points to now, at an aligned place: registers are saved below. */
static bool saves_aligned(const struct infer_state *state)
{
	infer_value rbp = state->reg[DWARF_RBP];

	return infer_what(rbp) == INFER_ALIGNED &&
	       get_slot(state, rbp) == infer_make(INFER_ENTRY, DWARF_RBP);
}

struct wire_rule infer_state_rule(const struct infer_state *state)
{
	const struct wire_rule none = { .kind = WIRE_RULE_NONE };
	const struct wire_rule end = { .kind = WIRE_RULE_END };
	struct wire_rule rule = none;

	/* Who takes it away, and marks the outermost frame as the ABI has it, has no caller. */
	if (has_popped(state) && state->reg[DWARF_RBP] == infer_make(INFER_NUMBER, 0))
		return end;
	if (!rule_of_cfa(state, &rule) || !put_return_address(state, &rule))
		return none;
	if (saves_aligned(state))
		rule.home_reg = DWARF_RBP;
	put_registers(state, &rule);
	rule.cfa_index |= WIRE_INFERRED;
	return rule;
}
