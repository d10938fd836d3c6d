// SPDX-License-Identifier: Apache-2.0
#include "elf/probe/usdt_args.h"

#include <string.h>

#include "base/macros.h"

/* By their DWARF numbers (System V ABI of x86-64, figure 3.36). */
static const char *const regs[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp",
				    "r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15" };

uint32_t usdt_args_first_reg(const char *text, size_t len)
{
	static const char begin[] = "8@%";
	const size_t begin_len = sizeof(begin) - 1;
	const char *end = memchr(text, ' ', len);

	if (!end)
		end = text + strnlen(text, len);
	if (len && text[0] == '-') {
		text++;
		len--;
	}
	if ((size_t)(end - text) <= begin_len || memcmp(text, begin, begin_len) != 0)
		return USDT_NO_REG;
	text += begin_len;
	for (uint32_t i = 0; i < ARRAY_SIZE(regs); i++)
		if (strlen(regs[i]) == (size_t)(end - text) &&
		    !memcmp(regs[i], text, strlen(regs[i])))
			return i;
	return USDT_NO_REG;
}
