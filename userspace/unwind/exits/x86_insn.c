// SPDX-License-Identifier: Apache-2.0
#include "unwind/exits/x86_insn.h"

#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

/* What follows an opcode: */
enum operand {
	MODRM = 1,
	IMM8 = 2,
	IMM16 = 4,
	IMMZ = 8,   /* 4 bytes, or 2 with the prefix 66 */
	IMMV = 16,  /* the same, but 8 with REX.W */
	NEAR = 32,  /* 4 bytes */
	OFFSET = 64 /* an address: 8 bytes, or 4 with the prefix 67 */
};

/* The one-byte opcodes, by letters that find_operands() knows; prefixes and escapes are dealt with before. */
static const char one_byte[] = /* 16 in a line */
	"mmmmbzxxmmmmbzxx"     /* 00 */
	"mmmmbzxxmmmmbzxx"     /* 10 */
	"mmmmbzxxmmmmbzxx"     /* 20 */
	"mmmmbzxxmmmmbzxx"     /* 30 */
	"xxxxxxxxxxxxxxxx"     /* 40 */
	"................"     /* 50 */
	"xxxmxxxxzdbc...."     /* 60 */
	"bbbbbbbbbbbbbbbb"     /* 70 */
	"cdxcmmmmmmmmmmmm"     /* 80 */
	"..........x....."     /* 90 */
	"oooo....bz......"     /* a0 */
	"bbbbbbbbvvvvvvvv"     /* b0 */
	"ccw.xxcde.w..bx."     /* c0 */
	"mmmmxxx.mmmmmmmm"     /* d0 */
	"bbbbbbbbnnxb...."     /* e0 */
	"x.xx..mm......mm" /* f0 */;

/* Behind 0f, and of VEX and EVEX. */
static const char two_byte[] = /* 16 in a line */
	"mmmmx.....x.xm.c"     /* 00 */
	"mmmmmmmmmmmmmmmm"     /* 10 */
	"xxxxxxxxmmmmmmmm"     /* 20: of kernels */
	"....xxx.xxxxxxxx"     /* 30 */
	"mmmmmmmmmmmmmmmm"     /* 40 */
	"mmmmmmmmmmmmmmmm"     /* 50 */
	"mmmmmmmmmmmmmmmm"     /* 60 */
	"ccccmmm.mmmmmmmm"     /* 70 */
	"nnnnnnnnnnnnnnnn"     /* 80 */
	"mmmmmmmmmmmmmmmm"     /* 90 */
	"...mcmxx...mcmmm"     /* a0 */
	"mmmmmmmmmmcmmmmm"     /* b0 */
	"mmcmcccm........"     /* c0 */
	"mmmmmmmmmmmmmmmm"     /* d0 */
	"mmmmmmmmmmmmmmmm"     /* e0 */
	"mmmmmmmmmmmmmmmm" /* f0 */;

_Static_assert(sizeof(one_byte) == 257 && sizeof(two_byte) == 257, "one for each opcode");

/* False: there is no such instruction. */
static bool find_operands(char letter, unsigned int *ret)
{
	switch (letter) {
	case '.': *ret = 0; return true;
	case 'm': *ret = MODRM; return true;
	case 'b': *ret = IMM8; return true;
	case 'w': *ret = IMM16; return true;
	case 'z': *ret = IMMZ; return true;
	case 'v': *ret = IMMV; return true;
	case 'n': *ret = NEAR; return true;
	case 'o': *ret = OFFSET; return true;
	case 'c': *ret = MODRM | IMM8; return true;
	case 'd': *ret = MODRM | IMMZ; return true;
	case 'e': *ret = IMM16 | IMM8; return true;
	default: return false;
	}
}

enum map { MAP_ONE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_NONE, MAP_XOP = 8 };

#define REX_W 8
#define REX_R 4
#define REX_X 2
#define REX_B 1

struct decoder {
	const uint8_t *bytes;
	size_t len, at;
	bool ended; /* it wanted more than there are */
	bool wide_prefix, address_prefix, vex;
	uint8_t rex;
	enum map map;
	uint8_t opcode, modrm, sib;
	bool has_sib;
	int32_t displacement, immediate;
	int64_t wide; /* the immediate of IMMV, as the operand has it */
};

static uint8_t next(struct decoder *d)
{
	if (d->at < d->len)
		return d->bytes[d->at++];
	d->ended = true;
	return 0;
}

static uint64_t next_bytes(struct decoder *d, size_t n)
{
	uint64_t number = 0;

	for (size_t i = 0; i < n; i++)
		number |= (uint64_t)next(d) << 8 * i;
	return number;
}

/* Of 1, 2 or 4 bytes, with their sign. */
static int32_t next_number(struct decoder *d, size_t n)
{
	const uint64_t number = next_bytes(d, n);

	if (n == 1)
		return (int8_t)number;
	return n == 2 ? (int16_t)number : (int32_t)number;
}

/* --- prefixes and opcode ---------------------------------------------------------------------- */

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x36,
					    0x3e, 0x26, 0x64, 0x65, 0xf0 };

	return memchr(prefixes, byte, sizeof(prefixes)) != NULL;
}

/* Of REX counts what is last, right before the opcode. */
static uint8_t read_prefixes(struct decoder *d)
{
	uint8_t byte = next(d);

	for (; is_prefix(byte) || (byte & 0xf0) == 0x40; byte = next(d)) {
		d->rex = is_prefix(byte) ? 0 : byte & 0xf;
		d->wide_prefix |= byte == 0x66;
		d->address_prefix |= byte == 0x67;
	}
	return byte;
}

/* c5 RvvvvLpp; c4 RXBmmmmm WvvvvLpp; 62 and three bytes, of which the first has the map. R and B are inverted. */
static void read_vex(struct decoder *d, uint8_t first)
{
	uint8_t byte = next(d);
	uint8_t map = MAP_0F;

	d->vex = true;
	d->rex = byte & 0x80 ? 0 : REX_R;
	if (first != 0xc5) {
		map = byte & (first == 0xc4 ? 0x1f : 7);
		d->rex |= byte & 0x20 ? 0 : REX_B;
		next(d);
	}
	if (first == 0x62)
		next(d);
	/* 5 and 6 are FP16's, without immediates. */
	if (map > MAP_0F3A)
		map = map == 5 || map == 6 ? MAP_0F38 : MAP_NONE;
	d->map = map;
	d->opcode = next(d);
}

/* AMD's XOP is formed as c4: 8f RXBmmmmm WvvvvLpp, where pop, which 8f is, too, has less than 8 in mmmmm. */
static bool is_xop(const struct decoder *d, uint8_t byte)
{
	return byte == 0x8f && d->at < d->len && (d->bytes[d->at] & 0x1f) >= MAP_XOP;
}

static void read_xop(struct decoder *d)
{
	d->vex = true;
	d->map = next(d) & 0x1f;
	next(d);
	d->opcode = next(d);
}

static void read_opcode(struct decoder *d)
{
	uint8_t byte = read_prefixes(d);

	if (is_xop(d, byte)) {
		read_xop(d);
		return;
	}
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62) {
		read_vex(d, byte);
		return;
	}
	if (byte == 0x0f) {
		d->map = MAP_0F;
		byte = next(d);
		if (byte == 0x38 || byte == 0x3a) {
			d->map = byte == 0x38 ? MAP_0F38 : MAP_0F3A;
			byte = next(d);
		}
	}
	d->opcode = byte;
}

/* --- operands --------------------------------------------------------------------------------- */

static bool operands_of(const struct decoder *d, unsigned int *ret)
{
	if (d->map == MAP_NONE || d->map > MAP_XOP + 2 || (d->vex && d->map == MAP_ONE))
		return false;
	switch ((int)d->map) {
	case MAP_0F38:
	case MAP_XOP + 1: *ret = MODRM; return true;
	case MAP_0F3A:
	case MAP_XOP: *ret = MODRM | IMM8; return true;
	case MAP_XOP + 2: *ret = MODRM | NEAR; return true;
	default: break;
	}
	return find_operands(d->map == MAP_ONE ? one_byte[d->opcode] : two_byte[d->opcode], ret);
}

static uint8_t mod_of(const struct decoder *d)
{
	return d->modrm >> 6;
}

/* The field that mostly is a register, and often more of the opcode. */
static uint8_t reg_of(const struct decoder *d)
{
	return d->modrm >> 3 & 7;
}

static void read_modrm(struct decoder *d)
{
	uint8_t rm;

	d->modrm = next(d);
	rm = d->modrm & 7;
	if (mod_of(d) == 3)
		return;
	if (rm == 4) {
		d->has_sib = true;
		d->sib = next(d);
		rm = d->sib & 7;
	}
	if (mod_of(d) == 1)
		d->displacement = next_number(d, 1);
	else if (mod_of(d) == 2 || rm == 5)
		d->displacement = next_number(d, 4);
}

static void read_immediate(struct decoder *d, unsigned int operands)
{
	const size_t z = d->wide_prefix && !(d->rex & REX_W) ? 2 : 4;

	/* test, among neg, mul and others, which have none */
	if (d->map == MAP_ONE && (d->opcode & 0xfe) == 0xf6 && reg_of(d) < 2)
		operands |= d->opcode == 0xf6 ? IMM8 : IMMZ;
	if (operands & IMM16)
		d->immediate = next_number(d, 2);
	if (operands & IMM8)
		d->immediate = next_number(d, 1);
	if (operands & IMMZ)
		d->immediate = next_number(d, z);
	if (operands & NEAR)
		d->immediate = next_number(d, 4);
	if (operands & IMMV)
		d->wide = (int64_t)next_bytes(d, d->rex & REX_W ? 8 : z);
	if (operands & OFFSET)
		next_bytes(d, d->address_prefix ? 4 : 8);
}

/* --- meaning ---------------------------------------------------------------------------------- */

/* The register that reg_of() names. */
static uint8_t wide_reg(const struct decoder *d)
{
	return (uint8_t)(reg_of(d) | (d->rex & REX_R ? 8 : 0));
}

/* That of the other operand, or X86_NO_REG: it is memory. */
static uint8_t wide_rm(const struct decoder *d)
{
	return mod_of(d) == 3 ? (uint8_t)((d->modrm & 7) | (d->rex & REX_B ? 8 : 0)) : X86_NO_REG;
}

/* [%rsp + displacement] */
static bool is_on_stack(const struct decoder *d)
{
	return d->has_sib && (d->sib & 0x3f) == 0x24 && !(d->rex & (REX_B | REX_X));
}

static void say(struct x86_insn *ret, enum x86_kind kind, int64_t value)
{
	ret->kind = (uint8_t)kind;
	ret->value = value;
}

static void say_reg(struct x86_insn *ret, enum x86_kind kind, uint8_t reg, int64_t value)
{
	ret->reg = reg;
	say(ret, kind, value);
}

static void say_pop(struct x86_insn *ret, uint8_t reg)
{
	say_reg(ret, reg == X86_RSP ? X86_STOP : X86_POP, reg, 0);
}

/* 81 and 83: a register, or memory, and a number. */
static void say_arithmetic(const struct decoder *d, struct x86_insn *ret)
{
	if (wide_rm(d) != X86_RSP || reg_of(d) == 7)
		return;
	if ((d->rex & REX_W) && reg_of(d) == 0)
		say(ret, X86_ADD_SP, d->immediate);
	else if ((d->rex & REX_W) && reg_of(d) == 5)
		say(ret, X86_ADD_SP, -(int64_t)d->immediate);
	else
		say(ret, X86_STOP, 0);
}

/* [%reg + displacement], where reg is what is written, and all of it is. */
static bool is_on_itself(const struct decoder *d)
{
	const uint8_t base = (uint8_t)((d->modrm & 7) | (d->rex & REX_B ? 8 : 0));
	const bool is_base =
		mod_of(d) == 1 || mod_of(d) == 2 || (mod_of(d) == 0 && (base & 7) != 5);

	return is_base && !d->has_sib && (d->rex & REX_W) && !d->address_prefix &&
	       base == wide_reg(d);
}

static void say_lea(const struct decoder *d, struct x86_insn *ret)
{
	if (wide_reg(d) == X86_RSP)
		say(ret, is_on_stack(d) && (d->rex & REX_W) ? X86_ADD_SP : X86_STOP,
		    d->displacement);
	else if (is_on_itself(d))
		say_reg(ret, X86_ADD, wide_reg(d), d->displacement);
}

/* mov of a number */
static void say_set(const struct decoder *d, struct x86_insn *ret, uint8_t reg)
{
	if (reg == X86_RSP)
		say(ret, X86_STOP, 0);
	else if (!d->wide_prefix || (d->rex & REX_W))
		say_reg(ret, X86_SET, reg, d->wide);
}

/* Two operands, of which the first or, by the opcode's second bit, the register of modrm is written. */
static void say_two(const struct decoder *d, struct x86_insn *ret)
{
	if ((d->opcode & 2 ? wide_reg(d) : wide_rm(d)) == X86_RSP)
		say(ret, X86_STOP, 0);
}

static void say_mov(const struct decoder *d, struct x86_insn *ret)
{
	say_two(d, ret);
	if (ret->kind == X86_PLAIN && d->opcode == 0x8b && (d->rex & REX_W) && is_on_stack(d))
		say_reg(ret, X86_LOAD, wide_reg(d), d->displacement);
}

/* ff: inc, dec, call, call far, jmp, jmp far, push */
static void say_ff(const struct decoder *d, struct x86_insn *ret)
{
	switch (reg_of(d)) {
	case 0:
	case 1:
		if (wide_rm(d) == X86_RSP)
			say(ret, X86_STOP, 0);
		return;
	case 2: return;
	case 4:
		say_reg(ret, wide_rm(d) == X86_NO_REG ? X86_STOP : X86_JUMP_TO, wide_rm(d), 0);
		return;
	case 6: say(ret, X86_PUSH, 0); return;
	default: say(ret, X86_STOP, 0);
	}
}

static void say_one(const struct decoder *d, struct x86_insn *ret)
{
	const uint8_t opcode = d->opcode, low = (uint8_t)((opcode & 7) | (d->rex & REX_B ? 8 : 0));

	if (opcode < 0x38 && (opcode & 7) < 4) {
		if (opcode & 1)
			say_two(d, ret);
		return;
	}
	switch (opcode) {
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c: say(ret, X86_PUSH, 0); break;
	case 0x58 ... 0x5f: say_pop(ret, low); break;
	case 0x8f: say_pop(ret, wide_rm(d)); break;
	case 0x9d: say_pop(ret, X86_NO_REG); break;
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3: say(ret, X86_BRANCH, d->immediate); break;
	case 0xc7: /* xbegin */
		if (d->modrm == 0xf8)
			say(ret, X86_BRANCH, d->immediate);
		break;
	case 0x81:
	case 0x83: say_arithmetic(d, ret); break;
	case 0x63: /* movslq */
	case 0x89:
	case 0x8b: say_mov(d, ret); break;
	case 0x87:
		if (wide_reg(d) == X86_RSP || wide_rm(d) == X86_RSP)
			say(ret, X86_STOP, 0);
		break;
	case 0x8d: say_lea(d, ret); break;
	case 0xb8 ... 0xbf: say_set(d, ret, low); break;
	case 0x90 ... 0x97:
		if (low == X86_RSP)
			say(ret, X86_STOP, 0);
		break;
	case 0xc3: say(ret, X86_RETURN, 0); break;
	case 0xc2: /* with arguments, which nobody's code takes away */
	case 0xc8:
	case 0xc9:
	case 0xca:
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf1:
	case 0xf4: say(ret, X86_STOP, 0); break;
	case 0xe9:
	case 0xeb: say(ret, X86_JUMP, d->immediate); break;
	case 0xff: say_ff(d, ret); break;
	default: break;
	}
}

static void say_0f(const struct decoder *d, struct x86_insn *ret)
{
	switch (d->opcode) {
	case 0x07: /* sysret */
	case 0x0b:
	case 0xb9:
	case 0xff: say(ret, X86_STOP, 0); break; /* ud2, ud1, ud0 */
	case 0x40 ... 0x4f:
		if (wide_reg(d) == X86_RSP)
			say(ret, X86_STOP, 0);
		break;
	case 0x80 ... 0x8f: say(ret, X86_BRANCH, d->immediate); break;
	case 0xa0:
	case 0xa8: say(ret, X86_PUSH, 0); break;
	case 0xa1:
	case 0xa9: say_pop(ret, X86_NO_REG); break;
	default: break;
	}
}

void x86_insn_read(const uint8_t *bytes, size_t len, struct x86_insn *ret)
{
	struct decoder d = { .bytes = bytes, .len = MIN(len, (size_t)X86_MAX_BYTES) };
	unsigned int operands;

	*ret = (struct x86_insn){ .len = 1, .kind = X86_STOP, .reg = X86_NO_REG };
	read_opcode(&d);
	if (!operands_of(&d, &operands))
		return;
	if (operands & MODRM)
		read_modrm(&d);
	read_immediate(&d, operands);
	if (d.ended)
		return;
	ret->len = (uint8_t)d.at;
	ret->kind = X86_PLAIN;
	if (d.map == MAP_ONE)
		say_one(&d, ret);
	else if (d.map == MAP_0F && !d.vex)
		say_0f(&d, ret);
}
