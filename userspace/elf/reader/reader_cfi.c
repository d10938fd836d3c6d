// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_cfi.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cache/thread_scratch.h"
#include "elf/reader/reader_sound.h"

/* What is believed that a file takes; those that take the most are closed first. */
#define MAX_BYTES (256ULL << 20)

struct reader_cfi {
	struct cfi_file *own; /* owned; in place */
	uint64_t owner, generation;
	uint64_t bytes;
	uint32_t handle;
	char build_id[BUILD_ID_BYTES];
	VEC(struct elf_segment) segments;
};

/* --- opening ---------------------------------------------------------------------------------- */

static int take_opened(struct reader_cfi *cfi, const struct reader_cfi_opened *opened, int64_t len,
		       struct err *err)
{
	const size_t head = offsetof(struct reader_cfi_opened, segment);

	if (len < (int64_t)head || opened->segments > READER_MAX_SEGMENTS ||
	    (size_t)len != head + opened->segments * sizeof(opened->segment[0]) ||
	    !reader_is_hex(opened->build_id, sizeof(opened->build_id)) ||
	    !reader_segments_are_sound(opened->segment, opened->segments))
		return reader_not_sound(err);
	cfi->handle = opened->handle;
	cfi->bytes = MIN(opened->bytes, MAX_BYTES);
	memcpy(cfi->build_id, opened->build_id, sizeof(cfi->build_id));
	for (uint32_t i = 0; i < opened->segments; i++)
		vec_push(&cfi->segments, opened->segment[i]);
	return 0;
}

static int open_with(int fd, uint64_t owner, bool patient, struct reader_cfi **ret_cfi,
		     struct err *err)
{
	_cleanup_(reader_cfi_closep) struct reader_cfi *cfi = xcalloc(1, sizeof(*cfi));
	_cleanup_free_ struct reader_cfi_opened *opened = xmalloc(sizeof(*opened));
	const struct reader_ask ask = { .op = READER_CFI_OPEN,
					.fd = fd,
					.owner = owner,
					.patient = patient,
					.answer = opened,
					.answer_len = sizeof(*opened) };
	int64_t r = reader_call(&ask, err);

	if (r < 0)
		return (int)r;
	cfi->owner = owner;
	cfi->generation = reader_generation(owner);
	r = take_opened(cfi, opened, r, err);
	if (r < 0)
		return (int)r;
	*ret_cfi = TAKE_PTR(cfi);
	return 0;
}

int reader_cfi_open(int fd, uint64_t owner, struct reader_cfi **ret_cfi, struct err *err)
{
	return open_with(fd, owner, false, ret_cfi, err);
}

int reader_cfi_open_memory(const void *data, size_t len, struct reader_cfi **ret_cfi,
			   struct err *err)
{
	struct cfi_file *own;
	int r = cfi_file_open_memory(data, len, &own, err);

	if (r < 0)
		return r;
	*ret_cfi = xcalloc(1, sizeof(**ret_cfi));
	(*ret_cfi)->own = own;
	return 0;
}

static struct reader_ask ask_for(const struct reader_cfi *cfi, enum reader_op op)
{
	return (struct reader_ask){ .op = op,
				    .fd = -1,
				    .owner = cfi->owner,
				    .generation = cfi->generation,
				    .count = cfi->handle };
}

void reader_cfi_close(struct reader_cfi *cfi)
{
	struct reader_ask ask;
	struct err ignored;

	if (!cfi)
		return;
	ask = ask_for(cfi, READER_CFI_CLOSE);
	if (cfi->own)
		cfi_file_close(cfi->own);
	else if (cfi->generation && cfi->generation == reader_generation(cfi->owner))
		(void)reader_call(&ask, &ignored);
	vec_release(&cfi->segments);
	free(cfi);
}

/* --- what it knows ---------------------------------------------------------------------------- */

const char *reader_cfi_build_id(const struct reader_cfi *cfi)
{
	return cfi->own ? cfi_file_build_id(cfi->own) : cfi->build_id;
}

bool reader_cfi_address(const struct reader_cfi *cfi, uint64_t offset, uint64_t *ret_address)
{
	return cfi->own ? cfi_file_address(cfi->own, offset, ret_address)
			: cfi_segments_address(cfi->segments.items, cfi->segments.len, offset,
					       ret_address);
}

size_t reader_cfi_bytes(const struct reader_cfi *cfi)
{
	return cfi->own ? cfi_file_bytes(cfi->own) : cfi->bytes;
}

/* --- what is asked ---------------------------------------------------------------------------- */

static int digest_with(struct reader_cfi *cfi, bool patient, struct cfi_digest *ret_digest)
{
	struct reader_ask ask = ask_for(cfi, READER_CFI_DIGEST);
	struct err err;
	int64_t r;

	ask.patient = patient;
	if (cfi->own)
		return cfi_file_digest(cfi->own, ret_digest);
	ask.answer = ret_digest;
	ask.answer_len = sizeof(*ret_digest);
	r = reader_call(&ask, &err);
	if (r < 0)
		return (int)r;
	return r == sizeof(*ret_digest) ? 0 : -EBADMSG;
}

int reader_cfi_digest(struct reader_cfi *cfi, struct cfi_digest *ret_digest)
{
	return digest_with(cfi, false, ret_digest);
}

void reader_cfi_warm(int fd, uint64_t owner)
{
	_cleanup_(reader_cfi_closep) struct reader_cfi *cfi = NULL;
	struct cfi_digest all;
	struct err ignored;

	if (open_with(fd, owner, true, &cfi, &ignored) == 0)
		(void)digest_with(cfi, true, &all);
}

static bool page_is_sound(const struct reader_cfi_page *page, int64_t len)
{
	const size_t head = offsetof(struct reader_cfi_page, row);
	const struct cfi_row *rows = page->row;
	uint32_t count = page->rows;

	if (len < (int64_t)head || count == 0 || count > WIRE_PAGE_BYTES ||
	    (size_t)len != head + count * sizeof(rows[0]) || rows[0].offset != 0)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (rows[i].offset >= WIRE_PAGE_BYTES ||
		    (i && rows[i].offset <= rows[i - 1].offset) ||
		    rows[i].rule.kind >= WIRE_RULE_KIND_COUNT)
			return false;
	return true;
}

int reader_cfi_page(struct reader_cfi *cfi, uint64_t address, struct cfi_rows *rows,
		    struct err *err)
{
	static struct thread_scratch scratch;
	struct reader_ask ask = ask_for(cfi, READER_CFI_PAGE);
	struct reader_cfi_page *page;
	int64_t r;

	if (cfi->own)
		return cfi_file_page(cfi->own, address, rows, err);
	ask.offset = address;
	page = thread_scratch_get(&scratch, sizeof(*page));
	ask.answer = page;
	ask.answer_len = sizeof(*page);
	r = reader_call(&ask, err);
	if (r < 0)
		return (int)r;
	if (!page_is_sound(page, r))
		return reader_not_sound(err);
	cfi->bytes = MIN(page->bytes, MAX_BYTES);
	rows->v.len = 0;
	vec_reserve(&rows->v, page->rows);
	memcpy(rows->v.items, page->row, page->rows * sizeof(page->row[0]));
	rows->v.len = page->rows;
	return 0;
}
