// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_reader.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/macros.h"

/* Some sixty records: those of a page of text in one read. */
#define WINDOW_BYTES 4096
/* Of records that are gone through, in one read. */
#define RECORDS_BYTES 12288

void cfi_reader_init_fd(struct cfi_reader *reader, int fd, uint64_t len)
{
	*reader = (struct cfi_reader){ .fd = fd, .len = len };
}

void cfi_reader_init_memory(struct cfi_reader *reader, const void *data, uint64_t len)
{
	*reader = (struct cfi_reader){ .fd = -1, .data = data, .len = len };
}

void cfi_reader_release(struct cfi_reader *reader)
{
	free(reader->window);
	reader->window = NULL;
	reader->window_len = reader->window_cap = 0;
}

static size_t read_file(struct cfi_reader *reader, uint64_t offset, void *buf, size_t len)
{
	size_t done = 0;
	ssize_t n;

	while (done < len) {
		n = pread(reader->fd, (char *)buf + done, len - done, (off_t)(offset + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && !reader->error)
			reader->error = -errno;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

size_t cfi_reader_copy(struct cfi_reader *reader, uint64_t offset, void *buf, size_t len)
{
	if (offset >= reader->len)
		return 0;
	len = MIN(len, reader->len - offset);
	if (reader->fd >= 0)
		return read_file(reader, offset, buf, len);
	memcpy(buf, reader->data + offset, len);
	return len;
}

bool cfi_reader_each(struct cfi_reader *reader, uint64_t offset, uint64_t count, size_t bytes,
		     bool (*fn)(const void *record, void *data), void *data)
{
	uint8_t piece[RECORDS_BYTES] __attribute__((aligned(8)));
	uint64_t n;

	for (uint64_t done = 0; done < count; done += n) {
		n = MIN(count - done, (uint64_t)(sizeof(piece) / bytes));
		n = cfi_reader_copy(reader, offset + done * bytes, piece, n * bytes) / bytes;
		for (uint64_t i = 0; i < n; i++)
			if (fn(piece + i * bytes, data))
				return true;
		if (n == 0)
			break;
	}
	return false;
}

static void move_window(struct cfi_reader *reader, uint64_t offset, size_t len)
{
	size_t want = MAX(len, (size_t)WINDOW_BYTES);

	if (reader->window_cap != want) {
		free(reader->window);
		reader->window = xmalloc(want);
		reader->window_cap = want;
	}
	reader->window_at = offset;
	reader->window_len = cfi_reader_copy(reader, offset, reader->window, want);
}

const uint8_t *cfi_reader_get(struct cfi_reader *reader, uint64_t offset, uint64_t len)
{
	if (len > CFI_READER_MAX_BYTES || offset > reader->len || len > reader->len - offset)
		return NULL;
	if (reader->fd < 0)
		return reader->data + offset;
	if (offset < reader->window_at || offset - reader->window_at + len > reader->window_len ||
	    !reader->window)
		move_window(reader, offset, len);
	return len <= reader->window_len ? reader->window + (offset - reader->window_at) : NULL;
}
