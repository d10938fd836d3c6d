// SPDX-License-Identifier: Apache-2.0
/* What a cpu can watch: arch_build_bp_info() and hw_breakpoint_arch_parse() in the kernel's arch/x86/kernel/hw_breakpoint.c. */
#include "capture/events/breakpoint.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "base/text/text_cursor.h"

#define PREFIX "mem:"

bool breakpoint_is_name(const char *name)
{
	return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

static int malformed(const char *name, struct err *err)
{
	err_set(err, -EINVAL, "'%s' does not say what to watch", name);
	return err_hint(err,
			"such are mem:SYMBOL[+OFFSET][/LEN][:ACCESS] with LEN 1, 2, 4 or 8 and "
			"ACCESS rw, w or x, as in mem:counter/4:w");
}

/* "rw", "w" or "x"; no cpu of this kind watches reads alone. */
static uint32_t parse_access(const char *text)
{
	if (!strcmp(text, "rw") || !strcmp(text, "wr"))
		return HW_BREAKPOINT_RW;
	if (!strcmp(text, "w"))
		return HW_BREAKPOINT_W;
	return strcmp(text, "x") ? HW_BREAKPOINT_EMPTY : HW_BREAKPOINT_X;
}

/* 1, 2, 4 or 8. */
static bool take_len(struct text_cursor *text, uint32_t *ret_len)
{
	uint64_t len;

	if (!text_take_number(text, 10, &len) || !len || len > 8 || (len & (len - 1)))
		return false;
	*ret_len = (uint32_t)len;
	return true;
}

/* The symbol, or the address. */
static bool take_what(struct text_cursor *text, struct breakpoint *b)
{
	size_t len = strcspn(text->at, "+/:");

	if (text_take_prefix(text, "0x"))
		return text_take_number(text, 16, &b->address);
	if (!len || len >= sizeof(b->symbol) || text_is_digit(text->at[0]))
		return false;
	memcpy(b->symbol, text->at, len);
	b->symbol[len] = '\0';
	text->at += len;
	return true;
}

static bool take_access(struct text_cursor *text, struct breakpoint *b)
{
	b->access = parse_access(text->at);
	text->at = text->end;
	return b->access != HW_BREAKPOINT_EMPTY;
}

/* An instruction is watched at its first byte, which the kernel wants as a whole word. */
static bool has_fitting_len(struct breakpoint *b)
{
	if (b->access == HW_BREAKPOINT_X && b->len)
		return false;
	if (!b->len)
		b->len = b->access == HW_BREAKPOINT_X ? sizeof(long) : 1;
	return true;
}

int breakpoint_parse(const char *name, struct breakpoint *ret_breakpoint, struct err *err)
{
	struct text_cursor text = { name + strlen(PREFIX), name + strlen(name) };
	struct breakpoint b = { .access = HW_BREAKPOINT_RW };

	if (!take_what(&text, &b) ||
	    (text_take_char(&text, '+') && !text_take_c_number(&text, &b.plus)) ||
	    (text_take_char(&text, '/') && !take_len(&text, &b.len)))
		return malformed(name, err);
	if (text_take_char(&text, ':') && !take_access(&text, &b))
		return malformed(name, err);
	if (text.at != text.end || !has_fitting_len(&b))
		return malformed(name, err);
	*ret_breakpoint = b;
	return 0;
}

static int check_place(const struct breakpoint *b, uint64_t address, struct err *err)
{
	if (b->access == HW_BREAKPOINT_X || address % b->len == 0)
		return 0;
	err_set(err, -EINVAL, "0x%llx is no multiple of %u: %u bytes cannot be watched there",
		(unsigned long long)address, b->len, b->len);
	return err_hint(err, "choose a shorter length, or an offset");
}

int breakpoint_add_place(struct breakpoint *b, uint64_t address, uint32_t tgid, struct err *err)
{
	address += b->plus;
	for (unsigned int i = 0; i < b->count; i++) {
		if (b->places[i].address != address)
			continue;
		if (b->places[i].tgid != tgid)
			b->places[i].tgid = 0;
		return 0;
	}
	if (check_place(b, address, err) < 0)
		return err->code;
	if (b->count == BREAKPOINT_MAX_PLACES) {
		err_set(err, -E2BIG, "a cpu watches %d addresses at most, and '%s' is at more",
			BREAKPOINT_MAX_PLACES, b->symbol);
		return err_hint(err, "choose fewer processes with -p");
	}
	b->places[b->count++] = (struct breakpoint_place){ address, tgid };
	return 0;
}

void breakpoint_fill_attr(const struct breakpoint *b, unsigned int number,
			  struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_BREAKPOINT;
	attr->bp_type = b->access;
	attr->bp_addr = b->places[number].address;
	attr->bp_len = b->len;
}
