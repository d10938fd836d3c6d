// SPDX-License-Identifier: Apache-2.0
#include "snapshot_file.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "process/mappings.h"

static void read_map(struct process *process, const char *text)
{
	struct mapping m = { .start = 0 };
	char path[512] = "";

	if (sscanf(text, "%" SCNx64 " %" SCNx64 " %" SCNx64 " %511s", &m.start, &m.end, &m.pgoff,
		   path) < 3)
		return;
	m.path = path;
	mappings_add(process, &m);
}

static void read_stack(struct snapshot *s, const char *text)
{
	struct strbuf bytes = STRBUF_INIT;
	int at = 0;

	if (sscanf(text, "%" SCNx64 " %n", &s->stack_at, &at) < 1)
		return;
	for (unsigned int byte; sscanf(text + at, "%2x", &byte) == 1; at += 2)
		strbuf_addch(&bytes, (char)byte);
	s->stack_len = bytes.len;
	s->stack = (const uint8_t *)strbuf_take(&bytes);
}

static void read_line(struct snapshot *s, struct frames *frames, const char *line)
{
	unsigned int reg;
	uint64_t value;

	if (sscanf(line, "pc %" SCNx64, &value) == 1)
		s->pc = value;
	else if (sscanf(line, "reg %u %" SCNx64, &reg, &value) == 2 && reg < 16)
		s->regs[reg] = value;
	else if (sscanf(line, "frame %" SCNx64, &value) == 1 && frames->count < MAX_FRAMES)
		frames->pcs[frames->count++] = value;
	else if (strncmp(line, "map ", 4) == 0)
		read_map(s->process, line + 4);
	else if (strncmp(line, "stack ", 6) == 0)
		read_stack(s, line + 6);
}

int snapshot_file_read(const char *path, struct snapshot *ret_snapshot, struct frames *ret_frames)
{
	_cleanup_fclose_ FILE *file = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (!file)
		return -errno;
	memset(ret_snapshot, 0, sizeof(*ret_snapshot));
	memset(ret_frames, 0, sizeof(*ret_frames));
	ret_snapshot->process = xcalloc(1, sizeof(*ret_snapshot->process));
	while (getline(&line, &size, file) > 0)
		read_line(ret_snapshot, ret_frames, line);
	return ret_snapshot->stack && ret_frames->count ? 0 : -EBADMSG;
}
