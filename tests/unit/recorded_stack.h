/* SPDX-License-Identifier: Apache-2.0 */
/* Reader of tests/data/stacks: what tests/tools/record_stack.py writes. */
#ifndef HOSTPROF_TESTS_RECORDED_STACK_H
#define HOSTPROF_TESTS_RECORDED_STACK_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "unwind/walk.h"

#define RECORDED_MAX 256

struct recorded_stack {
	struct walk_request request;
	uint64_t frames[RECORDED_MAX]; /* gdb's, leaf first */
	size_t frame_count;
	uint8_t bytes[RECORDED_MAX][32];
	struct walk_piece lines[RECORDED_MAX];
	size_t line_count;
};

static inline void recorded_hex(const char *hex, uint8_t *bytes, size_t *ret_len)
{
	size_t n = 0;

	for (; n < 32 && sscanf(hex + 2 * n, "%2hhx", &bytes[n]) == 1; n++)
		;
	*ret_len = n;
}

static inline void recorded_line(struct recorded_stack *s, const char *line)
{
	uint64_t value;
	char hex[80];

	if (sscanf(line, "pc 0x%" SCNx64, &value) == 1) {
		s->request.pc = value;
	} else if (sscanf(line, "sp 0x%" SCNx64, &value) == 1) {
		s->request.regs[ROW_RSP] = value;
	} else if (sscanf(line, "fp 0x%" SCNx64, &value) == 1) {
		s->request.regs[ROW_RBP] = value;
	} else if (sscanf(line, "r13 0x%" SCNx64, &value) == 1) {
		s->request.regs[ROW_R13] = value;
	} else if (sscanf(line, "frame 0x%" SCNx64, &value) == 1 && s->frame_count < RECORDED_MAX) {
		s->frames[s->frame_count++] = value;
	} else if (sscanf(line, "memory 0x%" SCNx64 " %79s", &value, hex) == 2 &&
		   s->line_count < RECORDED_MAX) {
		struct walk_piece *piece = &s->lines[s->line_count];

		piece->address = value;
		piece->data = s->bytes[s->line_count++];
		recorded_hex(hex, s->bytes[s->line_count - 1], &piece->len);
	}
}

/* Lines are 32 bytes; a read may span several, so that it is answered byte by byte. */
static inline int recorded_read(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct recorded_stack *s = data;
	uint8_t *to = dst;

	for (size_t done = 0; done < len; done++) {
		size_t i = 0;

		while (i < s->line_count && address + done - s->lines[i].address >= s->lines[i].len)
			i++;
		if (i == s->line_count)
			return -1;
		to[done] = s->lines[i].data[address + done - s->lines[i].address];
	}
	return 0;
}

static inline int recorded_load(const char *path, struct recorded_stack *s)
{
	FILE *f = fopen(path, "r");
	char line[256];

	memset(s, 0, sizeof(*s));
	if (!f)
		return -1;
	while (fgets(line, sizeof(line), f))
		recorded_line(s, line);
	fclose(f);
	s->request.exact = true;
	return 0;
}

#endif
