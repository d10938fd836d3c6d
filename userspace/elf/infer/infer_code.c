// SPDX-License-Identifier: Apache-2.0
#include "elf/infer/infer_code.h"

#include <Zydis/Zydis.h>
#include <string.h>

/* Of infer_code.lines. */
#define LINE_BYTES 16
/* Of an instruction: compilers' have four. */
#define USUAL_BYTES 4

/* Where what is decoded comes from. */
struct decoding {
	const ZydisDecodedInstruction *insn;
	const ZydisDecodedOperand *ops;
	int64_t next; /* offset of the next one */
	size_t len;   /* of all code */
	struct infer_insn *ret;
};

static uint8_t register_number(ZydisRegister reg)
{
	/* rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi as instructions number them */
	static const uint8_t first[] = { DWARF_RAX, DWARF_RCX, DWARF_RDX, DWARF_RBX,
					 DWARF_RSP, DWARF_RBP, DWARF_RSI, DWARF_RDI };
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15)
		return INFER_NO_REG;
	whole -= ZYDIS_REGISTER_RAX;
	return whole < ARRAY_SIZE(first) ? first[whole] : (uint8_t)whole;
}

static bool is_wide_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->size == 64 &&
	       register_number(op->reg.value) != INFER_NO_REG;
}

static bool is_immediate(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       op->imm.value.s == (int32_t)op->imm.value.s;
}

/* [register + displacement], of no segment of its own. */
static bool is_plain_memory(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_MEMORY && op->mem.index == ZYDIS_REGISTER_NONE &&
	       op->mem.segment != ZYDIS_REGISTER_FS && op->mem.segment != ZYDIS_REGISTER_GS &&
	       ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, op->mem.base) == 64 &&
	       register_number(op->mem.base) != INFER_NO_REG &&
	       op->mem.disp.value == (int32_t)op->mem.disp.value;
}

static void put_memory(struct infer_insn *ret, const ZydisDecodedOperand *op)
{
	ret->base = register_number(op->mem.base);
	ret->value = (int32_t)op->mem.disp.value;
}

/* Whatever it is: what it writes is not known any more. */
static void put_plain(const struct decoding *d)
{
	for (size_t i = 0; i < d->insn->operand_count; i++) {
		const ZydisDecodedOperand *op = &d->ops[i];
		uint8_t reg;

		if (!(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (op->type == ZYDIS_OPERAND_TYPE_REGISTER) {
			reg = register_number(op->reg.value);
			if (reg != INFER_NO_REG)
				d->ret->writes |= (uint16_t)(1U << reg);
		} else if (is_plain_memory(op)) {
			put_memory(d->ret, op);
			d->ret->count = (uint8_t)MIN(op->size / 8, UINT8_MAX);
		}
	}
}

static bool put_two(const struct decoding *d, enum infer_kind kind, uint8_t base, int64_t value)
{
	d->ret->kind = (uint8_t)kind;
	d->ret->reg = register_number(d->ops[0].reg.value);
	d->ret->base = base;
	d->ret->value = (int32_t)value;
	return true;
}

static bool put_mov(const struct decoding *d)
{
	const ZydisDecodedOperand *to = &d->ops[0], *from = &d->ops[1];

	if (to->type == ZYDIS_OPERAND_TYPE_REGISTER && to->size >= 32 && is_immediate(from) &&
	    register_number(to->reg.value) != INFER_NO_REG)
		return put_two(d, INFER_CONST, INFER_NO_REG, from->imm.value.s);
	if (is_wide_register(to) && is_wide_register(from))
		return put_two(d, INFER_MOVE, register_number(from->reg.value), 0);
	if (is_wide_register(to) && is_plain_memory(from))
		return put_two(d, INFER_LOAD, register_number(from->mem.base),
			       from->mem.disp.value);
	if (!is_plain_memory(to) || !is_wide_register(from))
		return false;
	d->ret->kind = INFER_STORE;
	d->ret->reg = register_number(from->reg.value);
	put_memory(d->ret, to);
	return true;
}

static bool put_lea(const struct decoding *d)
{
	const ZydisDecodedOperand *from = &d->ops[1];

	return is_wide_register(&d->ops[0]) && from->mem.index == ZYDIS_REGISTER_NONE &&
	       register_number(from->mem.base) != INFER_NO_REG &&
	       ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, from->mem.base) == 64 &&
	       from->mem.disp.value == (int32_t)from->mem.disp.value &&
	       put_two(d, INFER_LEA, register_number(from->mem.base), from->mem.disp.value);
}

static bool put_arithmetic(const struct decoding *d, enum infer_kind kind, int sign)
{
	const ZydisDecodedOperand *to = &d->ops[0], *by = &d->ops[1];

	return is_wide_register(to) && is_immediate(by) && by->imm.value.s != INT32_MIN &&
	       put_two(d, kind, register_number(to->reg.value), sign * by->imm.value.s);
}

/* xor and sub of a register and itself */
static bool put_zero(const struct decoding *d)
{
	const ZydisDecodedOperand *to = &d->ops[0], *by = &d->ops[1];

	return to->type == ZYDIS_OPERAND_TYPE_REGISTER && to->size >= 32 &&
	       by->type == ZYDIS_OPERAND_TYPE_REGISTER && to->reg.value == by->reg.value &&
	       register_number(to->reg.value) != INFER_NO_REG &&
	       put_two(d, INFER_CONST, INFER_NO_REG, 0);
}

static bool put_compare(const struct decoding *d)
{
	return is_wide_register(&d->ops[0]) && is_wide_register(&d->ops[1]) &&
	       put_two(d, INFER_COMPARE, register_number(d->ops[1].reg.value), 0);
}

static bool put_stack(const struct decoding *d, enum infer_kind kind)
{
	const ZydisDecodedOperand *op = &d->ops[0];

	/* of 16 bits: nobody does that */
	d->ret->kind = (uint8_t)(d->insn->operand_width == 64 ? kind : INFER_STOP);
	d->ret->reg = is_wide_register(op) && op->visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT
			      ? register_number(op->reg.value)
			      : INFER_NO_REG;
	return true;
}

static bool put_flow(const struct decoding *d, enum infer_kind kind)
{
	const ZydisDecodedOperand *op = &d->ops[0];
	int64_t target = INFER_ANYWHERE;

	if (op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE) {
		target = op->imm.is_relative ? d->next + op->imm.value.s : INFER_OUTSIDE;
		if (target < 0 || (uint64_t)target >= d->len)
			target = INFER_OUTSIDE;
	}
	d->ret->kind = (uint8_t)kind;
	d->ret->reg = d->insn->mnemonic == ZYDIS_MNEMONIC_JNZ;
	if (op->type == ZYDIS_OPERAND_TYPE_REGISTER)
		d->ret->base = register_number(op->reg.value);
	d->ret->value = (int32_t)target;
	return true;
}

static bool put_number(const struct decoding *d, enum infer_kind kind)
{
	const ZydisDecodedOperand *op = &d->ops[0];

	d->ret->kind = (uint8_t)kind;
	d->ret->value =
		op->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? (int32_t)(uint16_t)op->imm.value.u : 0;
	/* enter with a display of frames */
	if (kind == INFER_ENTER && d->ops[1].imm.value.u)
		d->ret->kind = INFER_STOP;
	return true;
}

static bool put_kind(const struct decoding *d, enum infer_kind kind)
{
	d->ret->kind = (uint8_t)kind;
	return true;
}

/* add %al,(%rax): padding, and no code. */
static bool is_zeros(const struct decoding *d)
{
	return d->insn->length == 2 && d->insn->opcode == 0 && d->insn->raw.modrm.offset == 1 &&
	       d->ops[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	       d->ops[0].mem.base == ZYDIS_REGISTER_RAX && d->ops[1].reg.value == ZYDIS_REGISTER_AL;
}

/* What moves values and the stack pointer. */
static bool put_data(const struct decoding *d)
{
	switch (d->insn->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ: return put_stack(d, INFER_PUSH);
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ: return put_stack(d, INFER_POP);
	case ZYDIS_MNEMONIC_MOV: return put_mov(d);
	case ZYDIS_MNEMONIC_LEA: return put_lea(d);
	case ZYDIS_MNEMONIC_ADD:
		return is_zeros(d) ? put_kind(d, INFER_STOP) : put_arithmetic(d, INFER_LEA, 1);
	case ZYDIS_MNEMONIC_SUB: return put_arithmetic(d, INFER_LEA, -1) || put_zero(d);
	case ZYDIS_MNEMONIC_XOR: return put_zero(d);
	case ZYDIS_MNEMONIC_AND: return put_arithmetic(d, INFER_ALIGN, 1);
	case ZYDIS_MNEMONIC_CMP: return put_compare(d);
	case ZYDIS_MNEMONIC_LEAVE: return put_kind(d, INFER_LEAVE);
	case ZYDIS_MNEMONIC_ENTER: return put_number(d, INFER_ENTER);
	case ZYDIS_MNEMONIC_NOP: return put_kind(d, INFER_PAD);
	default: return false;
	}
}

static bool put_control(const struct decoding *d)
{
	switch (d->insn->mnemonic) {
	case ZYDIS_MNEMONIC_CALL: return put_flow(d, INFER_CALL);
	case ZYDIS_MNEMONIC_JMP: return put_flow(d, INFER_JUMP);
	case ZYDIS_MNEMONIC_RET: return put_number(d, INFER_RETURN);
	case ZYDIS_MNEMONIC_SYSCALL: return put_kind(d, INFER_SYSCALL);
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_SYSRET: return put_kind(d, INFER_STOP);
	default:
		return d->insn->meta.category == ZYDIS_CATEGORY_COND_BR &&
		       d->ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && put_flow(d, INFER_BRANCH);
	}
}

/*
 * Zeros behind what does not go on are no instructions (Free Pascal's linker puts them between functions): they would take the next one's first
 * byte. A call mostly goes on, but not with two of them, which are add %al,(%rax).
 */
static bool is_filler(const struct infer_code *code, const uint8_t *bytes, size_t len)
{
	if (bytes[0] != 0)
		return false;
	switch (code->v.len ? code->v.items[code->v.len - 1].kind : INFER_STOP) {
	case INFER_RETURN:
	case INFER_JUMP: return true;
	case INFER_STOP: return code->v.len == 0 || bytes[-1] == 0;
	case INFER_CALL: return len > 1 && bytes[1] == 0;
	default: return false;
	}
}

static void put_insn(struct infer_code *code, const struct infer_insn *insn)
{
	while (code->lines.len * LINE_BYTES <= insn->at)
		vec_push(&code->lines, (uint32_t)code->v.len);
	vec_push(&code->v, *insn);
}

void infer_code_read(const uint8_t *bytes, size_t len, struct infer_code *code)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction insn;
	ZydisDecoder decoder;

	code->v.len = code->lines.len = 0;
	vec_reserve(&code->v, len / USUAL_BYTES);
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < len;) {
		struct infer_insn it = { .at = (uint32_t)at, .len = 1, .base = INFER_NO_REG };
		struct decoding d = { &insn, ops, 0, len, &it };

		if (!is_filler(code, bytes + at, len - at) &&
		    ZYAN_SUCCESS(
			    ZydisDecoderDecodeFull(&decoder, bytes + at, len - at, &insn, ops))) {
			it.len = insn.length;
			d.next = (int64_t)(at + insn.length);
			if (!put_data(&d) && !put_control(&d))
				put_plain(&d);
		} else {
			it.kind = INFER_STOP;
		}
		put_insn(code, &it);
		at += it.len;
	}
}

bool infer_code_ends(const struct infer_insn *insn, int64_t *reaches)
{
	if (insn->kind == INFER_BRANCH || insn->kind == INFER_JUMP)
		*reaches = MAX(*reaches, (int64_t)insn->value);
	return (insn->kind == INFER_RETURN || insn->kind == INFER_JUMP) &&
	       *reaches <= (int64_t)insn->at;
}

int64_t infer_code_find(const struct infer_code *code, int64_t at)
{
	size_t line = (uint64_t)at / LINE_BYTES, i;

	if (at < 0 || line >= code->lines.len)
		return -1;
	for (i = code->lines.items[line]; i < code->v.len && code->v.items[i].at < at;)
		i++;
	return i < code->v.len && code->v.items[i].at == at ? (int64_t)i : -1;
}

void infer_code_release(struct infer_code *code)
{
	vec_release(&code->v);
	vec_release(&code->lines);
}
