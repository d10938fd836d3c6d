/* SPDX-License-Identifier: Apache-2.0 */
/* A cursor over bounded text: the small steps that parsers of text are made of. */
#ifndef HOSTPROF_BASE_TEXT_TEXT_CURSOR_H
#define HOSTPROF_BASE_TEXT_TEXT_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text_cursor {
	const char *at; /* borrowed */
	const char *end;
};

/* Of "0" to "9", whatever the locale says. */
static inline bool text_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* A number of BASE 10 or 16 without prefix or sign; false (nothing taken) on none or overflow. */
bool text_take_number(struct text_cursor *text, unsigned int base, uint64_t *ret_value);

/* One as C has it, but for octal ones: "16", "0x10". */
bool text_take_c_number(struct text_cursor *text, uint64_t *ret_value);

/* One given character. */
bool text_take_char(struct text_cursor *text, char c);

/* Blanks and tabs, any number of them. */
void text_skip_blanks(struct text_cursor *text);

/* The next line without its newline; false at the end. A last line may lack the newline. */
bool text_next_line(struct text_cursor *text, struct text_cursor *ret_line);

/* Takes PREFIX when the text begins with it. */
bool text_take_prefix(struct text_cursor *text, const char *prefix);

#endif
