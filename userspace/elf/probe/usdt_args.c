// SPDX-License-Identifier: Apache-2.0
#include "elf/probe/usdt_args.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"

#define REGS	    16
#define MOST_DIGITS 9

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

/* What is left of one argument's text. */
struct text {
	const char *at, *end;
};

static bool take(struct text *text, char c)
{
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

/* Digits, as many as there are; false: none, or too many. */
static bool take_number(struct text *text, int32_t *ret)
{
	const char *begin = text->at;
	int32_t number = 0;

	while (text->at < text->end && *text->at >= '0' && *text->at <= '9') {
		if (text->at - begin >= MOST_DIGITS)
			return false;
		number = number * 10 + (*text->at++ - '0');
	}
	*ret = number;
	return text->at > begin;
}

/* All that is left is the name of a register of BYTES. */
static uint8_t read_reg(const struct text *text, uint8_t bytes)
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
static bool read_memory(struct text text, struct usdt_arg *arg)
{
	bool negative = take(&text, '-');
	bool has_number = take_number(&text, &arg->displacement);

	if ((negative && !has_number) || !take(&text, '(') || !take(&text, '%') ||
	    text.at == text.end || text.end[-1] != ')')
		return false;
	if (negative)
		arg->displacement = -arg->displacement;
	text.end--;
	arg->reg = read_reg(&text, 8);
	return true;
}

static struct usdt_arg read_arg(struct text text)
{
	const struct usdt_arg none = { .reg = USDT_NO_REG };
	struct usdt_arg arg = none;
	int32_t bytes;

	(void)take(&text, '-');
	if (!take_number(&text, &bytes) || bytes > 8 || !take(&text, '@'))
		return none;
	arg.bytes = (uint8_t)bytes;
	if (take(&text, '%')) {
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

		ret_args[i] = read_arg((struct text){ text, blank ? blank : end });
		text = blank ? blank + 1 : end;
	}
}
