// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_serve_cfi.h"

#include <elf.h>
#include <errno.h>
#include <string.h>

#include "base/vec.h"
#include "elf/cfi/cfi_file.h"
#include "elf/reader/reader_call.h"

_Static_assert(sizeof(struct reader_cfi_opened) <= WALL_DATA_BYTES, "an answer fits");
_Static_assert(sizeof(struct reader_cfi_page) <= WALL_DATA_BYTES, "an answer fits");

/* In place each thread has its own. */
static __thread struct {
	VEC(struct cfi_file *) files; /* owned; NULL: its handle is free */
	size_t open;
	struct cfi_rows rows;
} kept;

static uint32_t keep(struct cfi_file *file)
{
	size_t at = 0;

	while (at < kept.files.len && kept.files.items[at])
		at++;
	if (at == kept.files.len)
		vec_push(&kept.files, file);
	kept.files.items[at] = file;
	kept.open++;
	return (uint32_t)at;
}

int64_t reader_serve_cfi_open(struct wall_call *call, int fd, struct err *err)
{
	struct reader_cfi_opened *answer = (void *)call->data;
	const struct elf_segment *segments;
	struct cfi_file *file;
	size_t count;
	int r = cfi_file_open(fd, &file, err);

	if (r < 0)
		return r;
	answer->handle = keep(file);
	answer->bytes = cfi_file_bytes(file);
	snprintf(answer->build_id, sizeof(answer->build_id), "%s", cfi_file_build_id(file));
	answer->segments = 0;
	count = cfi_file_segments(file, &segments);
	for (size_t i = 0; i < count && answer->segments < READER_MAX_SEGMENTS; i++)
		if (segments[i].flags & PF_X)
			answer->segment[answer->segments++] = segments[i];
	return (int64_t)(offsetof(struct reader_cfi_opened, segment) +
			 answer->segments * sizeof(answer->segment[0]));
}

static int64_t make_page(struct wall_call *call, struct cfi_file *file, struct err *err)
{
	struct reader_cfi_page *answer = (void *)call->data;
	int r = cfi_file_page(file, call->offset, &kept.rows, err);

	if (r < 0)
		return r;
	answer->bytes = cfi_file_bytes(file);
	answer->rows = (uint32_t)MIN(kept.rows.v.len, (size_t)WIRE_PAGE_BYTES);
	memcpy(answer->row, kept.rows.v.items, answer->rows * sizeof(answer->row[0]));
	return (int64_t)(offsetof(struct reader_cfi_page, row) +
			 answer->rows * sizeof(answer->row[0]));
}

static int64_t make_digest(struct wall_call *call, struct cfi_file *file)
{
	struct cfi_digest digest;
	int r = cfi_file_digest(file, &digest);

	if (r < 0)
		return r;
	memcpy(call->data, &digest, sizeof(digest));
	return sizeof(digest);
}

static int64_t close_file(uint32_t handle)
{
	cfi_file_close(TAKE_PTR(kept.files.items[handle]));
	if (--kept.open > 0)
		return 0;
	vec_release(&kept.files);
	vec_release(&kept.rows.v);
	return 0;
}

/* A reader that is new does not know what the one before had. */
int64_t reader_serve_cfi(struct wall_call *call, struct err *err)
{
	struct cfi_file *file = call->count < kept.files.len ? kept.files.items[call->count] : NULL;

	if (!file)
		return err_set(err, -ESTALE, "its reader has gone");
	switch (call->op) {
	case READER_CFI_PAGE: return make_page(call, file, err);
	case READER_CFI_DIGEST: return make_digest(call, file);
	default: return close_file(call->count);
	}
}
