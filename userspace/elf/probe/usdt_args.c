// SPDX-License-Identifier: Apache-2.0
#include "elf/probe/usdt_args.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "base/text/text_cursor.h"

#define REGS 16

/* By their DWARF numbers (System V ABI of x86-64, figure 3.36), as wide as an argument may be. */
static const struct {
	uint8_t bytes;
	const char *names[REGS];
} widths[] = {
	{ 8,
	  { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12",
	    "r13", "r14", "r15" } },
	{ 4,
	  { "eax", "edx", "ecx", "ebx", "esi", "edi", "ebp", "esp", "r8d", "r9d", "r10d", "r11d",
	    "r12d", "r13d", "r14d", "r15d" } },
	{ 2,
	  { "ax", "dx", "cx", "bx", "si", "di", "bp", "sp", "r8w", "r9w", "r10w", "r11w", "r12w",
	    "r13w", "r14w", "r15w" } },
	{ 1,
	  { "al", "dl", "cl", "bl", "sil", "dil", "bpl", "spl", "r8b", "r9b", "r10b", "r11b",
	    "r12b", "r13b", "r14b", "r15b" } },
};

/* All that is left is the name of a register of BYTES. */
static uint8_t read_reg(const struct text_cursor *text, uint8_t bytes)
{
	size_t len = (size_t)(text->end - text->at);

	for (size_t w = 0; w < ARRAY_SIZE(widths); w++)
		for (uint8_t i = 0; widths[w].bytes == bytes && i < REGS; i++)
			if (strlen(widths[w].names[i]) == len &&
			    !memcmp(widths[w].names[i], text->at, len))
				return i;
	return USDT_NO_REG;
}

/* "-4@8(%rsp)" behind its "8@": a displacement, or none, and a register of 8 bytes in parentheses. */
static bool read_memory(struct text_cursor text, struct usdt_arg *arg)
{
	bool negative = text_take_char(&text, '-');
	uint64_t displacement = 0;
	bool has_number = text_take_number(&text, 10, &displacement);

	if ((negative && !has_number) || displacement > INT32_MAX || !text_take_char(&text, '(') ||
	    !text_take_char(&text, '%') || text.at == text.end || text.end[-1] != ')')
		return false;
	arg->displacement = negative ? -(int32_t)displacement : (int32_t)displacement;
	text.end--;
	arg->reg = read_reg(&text, 8);
	return true;
}

static struct usdt_arg read_arg(struct text_cursor text)
{
	const struct usdt_arg none = { .reg = USDT_NO_REG };
	struct usdt_arg arg = none;
	uint64_t bytes;

	(void)text_take_char(&text, '-');
	if (!text_take_number(&text, 10, &bytes) || bytes > 8 || !text_take_char(&text, '@'))
		return none;
	arg.bytes = (uint8_t)bytes;
	if (text_take_char(&text, '%')) {
		arg.where = USDT_IN_REG;
		arg.reg = read_reg(&text, arg.bytes);
	} else if (read_memory(text, &arg)) {
		arg.where = USDT_IN_MEMORY;
	}
	return arg.reg == USDT_NO_REG ? none : arg;
}

void usdt_args_read(const char *text, size_t len, struct usdt_arg ret_args[USDT_MAX_ARGS])
{
	const char *end = text + strnlen(text, len);

	for (unsigned int i = 0; i < USDT_MAX_ARGS; i++) {
		const char *blank = text < end ? memchr(text, ' ', (size_t)(end - text)) : NULL;

		ret_args[i] = read_arg((struct text_cursor){ text, blank ? blank : end });
		text = blank ? blank + 1 : end;
	}
}
