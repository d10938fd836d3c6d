// SPDX-License-Identifier: Apache-2.0
/* Instructions beside Zydis: of compilers' and assembly's files, and of bytes made at random; and what each kind says. */
#include "test.h"

#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "unwind/exits/x86_insn.h"

static const char *const files[] = {
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/bin/python3",
};

struct sums {
	uint64_t insns, lengths, kinds, stops;
};

static bool is_reg(const ZydisDecodedOperand *op, ZydisRegister reg)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
	       ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, op->reg.value) == reg;
}

static bool writes_rsp(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops)
{
	for (size_t i = 0; i < insn->operand_count; i++)
		if (ops[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE &&
		    is_reg(&ops[i], ZYDIS_REGISTER_RSP))
			return true;
	return false;
}

static bool is_register(const ZydisDecodedOperand *op)
{
	return op->type == ZYDIS_OPERAND_TYPE_REGISTER && op->reg.value != ZYDIS_REGISTER_RIP;
}

/* Is op[1] the register of op[0] and a number? */
static bool is_on_itself(const ZydisDecodedOperand *ops)
{
	return ops[0].size == 64 && ops[1].mem.base == ops[0].reg.value &&
	       ops[1].mem.index == ZYDIS_REGISTER_NONE;
}

/* What Zydis says of it; X86_STOP also for what only writes %rsp somehow. */
static enum x86_kind kind_of(const ZydisDecodedInstruction *insn, const ZydisDecodedOperand *ops)
{
	const bool near = ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

	switch (insn->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ: return X86_PUSH;
	case ZYDIS_MNEMONIC_POP: return is_reg(&ops[0], ZYDIS_REGISTER_RSP) ? X86_STOP : X86_POP;
	case ZYDIS_MNEMONIC_POPFQ: return X86_POP;
	case ZYDIS_MNEMONIC_CALL: return X86_PLAIN;
	case ZYDIS_MNEMONIC_JMP:
		return near ? X86_JUMP : is_register(&ops[0]) ? X86_JUMP_TO : X86_STOP;
	case ZYDIS_MNEMONIC_MOV:
		/* c7 says the same as b8, and is PLAIN here. */
		if (is_register(&ops[0]) && ops[0].size >= 32 && insn->opcode >= 0xb8 &&
		    insn->opcode <= 0xbf && !is_reg(&ops[0], ZYDIS_REGISTER_RSP))
			return X86_SET;
		break;
	case ZYDIS_MNEMONIC_RET:
		return insn->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ? X86_STOP : X86_RETURN;
	case ZYDIS_MNEMONIC_INT:
	case ZYDIS_MNEMONIC_INT1:
	case ZYDIS_MNEMONIC_IRET:
	case ZYDIS_MNEMONIC_IRETD:
	case ZYDIS_MNEMONIC_IRETQ:
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_LEAVE: return X86_STOP;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (is_reg(&ops[0], ZYDIS_REGISTER_RSP) && ops[0].size == 64 &&
		    ops[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
			return X86_ADD_SP;
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (is_reg(&ops[0], ZYDIS_REGISTER_RSP) && ops[0].size == 64 &&
		    ops[1].mem.base == ZYDIS_REGISTER_RSP &&
		    ops[1].mem.index == ZYDIS_REGISTER_NONE)
			return X86_ADD_SP;
		if (is_on_itself(ops) && !is_reg(&ops[0], ZYDIS_REGISTER_RSP) &&
		    (insn->raw.modrm.rm != 4))
			return X86_ADD;
		break;
	default: break;
	}
	if (insn->meta.category == ZYDIS_CATEGORY_COND_BR && near)
		return X86_BRANCH;
	return writes_rsp(insn, ops) ? X86_STOP : X86_PLAIN;
}

static bool is_like(const struct x86_insn *insn, enum x86_kind kind)
{
	return insn->kind == kind || (insn->kind == X86_LOAD && kind == X86_PLAIN);
}

static void show(const char *what, const uint8_t *bytes, const struct x86_insn *insn, int len,
		 int kind)
{
	printf("# %s:", what);
	for (int i = 0; i < 15; i++)
		printf(" %02x", bytes[i]);
	printf(": length %d, kind %d; Zydis: %d, %d\n", insn->len, insn->kind, len, kind);
}

static size_t compare(const ZydisDecoder *decoder, const uint8_t *bytes, size_t len,
		      struct sums *sums)
{
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction theirs;
	struct x86_insn ours;

	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, len, &theirs, ops)))
		return 1;
	x86_insn_read(bytes, len, &ours);
	sums->insns++;
	sums->stops += ours.kind == X86_STOP && kind_of(&theirs, ops) != X86_STOP;
	/* Behind it nothing is looked at. */
	if (ours.kind == X86_STOP)
		return theirs.length;
	if (ours.len != theirs.length) {
		if (sums->lengths++ < 5)
			show("length", bytes, &ours, theirs.length, kind_of(&theirs, ops));
	} else if (!is_like(&ours, kind_of(&theirs, ops))) {
		if (sums->kinds++ < 5)
			show("kind", bytes, &ours, theirs.length, kind_of(&theirs, ops));
	}
	return theirs.length;
}

static void compare_code(const ZydisDecoder *decoder, const uint8_t *bytes, size_t len,
			 struct sums *sums)
{
	for (size_t at = 0; at + X86_MAX_BYTES < len;)
		at += compare(decoder, bytes + at, len - at, sums);
}

static void compare_file(const ZydisDecoder *decoder, const char *path, struct sums *sums)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data = elf_getdata(section, NULL);

		if (gelf_getshdr(section, &header) && (header.sh_flags & SHF_EXECINSTR) && data)
			compare_code(decoder, data->d_buf, data->d_size, sums);
	}
	elf_end(elf);
	if (fd >= 0)
		close(fd);
}

static void of_files(void **state)
{
	struct sums sums = { 0 };
	ZydisDecoder decoder;

	(void)state;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	elf_version(EV_CURRENT);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		compare_file(&decoder, files[i], &sums);
	printf("# %lu instructions: %lu lengths differ, %lu kinds; of %lu too little is said\n",
	       sums.insns, sums.lengths, sums.kinds, sums.stops);
	assert_true(sums.insns > 500000);
	assert_int_equal(sums.lengths, 0);
	/* Tables lie among the code of libcrypto: arithmetic with %esp. */
	assert_true(sums.kinds < sums.insns / 10000);
	assert_true(sums.stops < sums.insns / 50);
}

static void what_is_done_with_the_stack(void **state)
{
	static const struct {
		const char *bytes;
		struct x86_insn wanted;
	} cases[] = {
		{ "\x48\x83\xec\x28", { 4, X86_ADD_SP, X86_NO_REG, -0x28 } },
		{ "\x48\x81\xc4\x00\x01\x00\x00", { 7, X86_ADD_SP, X86_NO_REG, 0x100 } },
		{ "\x48\x8d\x64\x24\xf8", { 5, X86_ADD_SP, X86_NO_REG, -8 } },
		{ "\x48\x83\xfc\x08", { 4, X86_PLAIN, X86_NO_REG, 0 } },  /* cmp $8,%rsp */
		{ "\x48\x83\xe4\xf0", { 4, X86_STOP, X86_NO_REG, 0 } },	  /* and $-16,%rsp */
		{ "\x48\x8d\x65\xd8", { 4, X86_STOP, X86_NO_REG, -40 } }, /* lea -40(%rbp),%rsp */
		{ "\x48\x89\xec", { 3, X86_STOP, X86_NO_REG, 0 } },	  /* mov %rbp,%rsp */
		{ "\x4c\x8b\x6c\x24\x10", { 5, X86_LOAD, X86_R13, 0x10 } },
		{ "\x41\x5f", { 2, X86_POP, X86_R15, 0 } },
		{ "\x5c", { 1, X86_STOP, X86_RSP, 0 } }, /* pop %rsp */
		{ "\x6a\x05", { 2, X86_PUSH, X86_NO_REG, 0 } },
		{ "\xff\x70\x08", { 3, X86_PUSH, X86_NO_REG, 0 } },
		{ "\xff\xe0", { 2, X86_JUMP_TO, 0, 0 } }, /* jmp *%rax */
		{ "\x41\xff\xe3", { 3, X86_JUMP_TO, 11, 0 } },
		{ "\xff\x20", { 2, X86_STOP, X86_NO_REG, 0 } }, /* jmp *(%rax) */
		{ "\x49\xbb\x08\x07\x06\x05\x04\x03\x02\x81",
		  { 10, X86_SET, 11, (int64_t)0x8102030405060708 } },
		{ "\xb9\xff\xff\xff\xff", { 5, X86_SET, 1, 0xffffffff } },
		{ "\x66\xb9\xff\xff", { 4, X86_PLAIN, X86_NO_REG, 0 } },
		{ "\xbc\x01\x00\x00\x00", { 5, X86_STOP, X86_NO_REG, 0 } }, /* mov $1,%esp */
		{ "\x4d\x8d\x9b\x00\xf0\xff\xff", { 7, X86_ADD, 11, -0x1000 } },
		{ "\x4d\x8d\x5b\x08", { 4, X86_ADD, 11, 8 } },
		{ "\x4d\x8d\x5a\x08", { 4, X86_PLAIN, X86_NO_REG, 0 } }, /* lea 8(%r10),%r11 */
		{ "\x41\x8d\x5b\x08", { 4, X86_PLAIN, X86_NO_REG, 0 } }, /* lea 8(%r11),%ebx */
		{ "\x45\x8d\x5b\x08", { 4, X86_PLAIN, X86_NO_REG, 0 } }, /* lea 8(%r11),%r11d */
		{ "\x48\x8d\x2d\x08\x00\x00\x00",
		  { 7, X86_PLAIN, X86_NO_REG, 0 } }, /* lea 8(%rip),%rbp */
		{ "\xff\xd0", { 2, X86_PLAIN, X86_NO_REG, 0 } },
		{ "\x0f\x84\xfb\xff\xff\xff", { 6, X86_BRANCH, X86_NO_REG, -5 } },
		{ "\xeb\xfe", { 2, X86_JUMP, X86_NO_REG, -2 } },
		{ "\xc3", { 1, X86_RETURN, X86_NO_REG, 0 } },
		{ "\xc2\x08\x00", { 3, X86_STOP, X86_NO_REG, 0 } },
	};
	struct x86_insn insn;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct x86_insn *wanted = &cases[i].wanted;

		x86_insn_read((const uint8_t *)cases[i].bytes, wanted->len, &insn);
		assert_int_equal(insn.len, wanted->len);
		assert_int_equal(insn.kind, wanted->kind);
		assert_int_equal(insn.reg, wanted->reg);
		assert_int_equal(insn.value, wanted->value);
		/* One that is not all there is none. */
		x86_insn_read((const uint8_t *)cases[i].bytes, wanted->len - 1U, &insn);
		assert_int_equal(insn.kind, X86_STOP);
	}
}

/* Nobody's code: all opcodes, prefixes and operands. */
static void of_bytes_made_at_random(void **state)
{
	struct sums sums = { 0 };
	ZydisDecoder decoder;
	uint64_t random = 42;
	uint8_t bytes[16];

	(void)state;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (int i = 0; i < 2000000; i++) {
		for (size_t at = 0; at < sizeof(bytes); at += 8) {
			random = random * 6364136223846793005ULL + 1442695040888963407ULL;
			memcpy(bytes + at, &random, 8);
			random ^= random >> 29;
		}
		/* Of two bytes, most are 0f's, VEX's and EVEX's. */
		if (i % 4 == 1)
			bytes[0] = 0x0f;
		else if (i % 4 == 2)
			bytes[0] = (uint8_t[]){ 0xc4, 0xc5, 0x62, 0x8f }[i / 4 % 4];
		compare(&decoder, bytes, sizeof(bytes), &sums);
	}
	printf("# %lu instructions: %lu lengths differ, %lu kinds; of %lu too little is said\n",
	       sums.insns, sums.lengths, sums.kinds, sums.stops);
	assert_true(sums.insns > 500000);
	assert_int_equal(sums.lengths, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_files),
		cmocka_unit_test(what_is_done_with_the_stack),
		cmocka_unit_test(of_bytes_made_at_random),
	};

	return cmocka_run_group_tests_name("x86_insn", tests, NULL, NULL);
}
