/* SPDX-License-Identifier: Apache-2.0 */
/* Pieces of a file and of memory are the same, to their last byte and not farther. */
#include "test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/file.h"
#include "elf/cfi/cfi_reader.h"

#define BYTES (700U << 10)

static uint8_t *content;

static void expect_piece(struct cfi_reader *reader, uint64_t offset, uint64_t len)
{
	const uint8_t *piece = cfi_reader_get(reader, offset, len);

	if (offset > BYTES || len > BYTES - offset || len > CFI_READER_MAX_BYTES) {
		assert_null(piece);
		return;
	}
	assert_non_null(piece);
	assert_memory_equal(piece, content + offset, len);
}

static void expect_all(struct cfi_reader *reader)
{
	static const uint64_t lengths[] = {
		0, 1, 7, 4096, 65536, 65537, CFI_READER_MAX_BYTES, CFI_READER_MAX_BYTES + 1
	};
	static const uint64_t offsets[] = {
		0, 1, 65535, 65536, 300000, BYTES - 1, BYTES, BYTES + 1
	};
	uint8_t copy[64];

	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
			expect_piece(reader, offsets[i], lengths[k]);
		/* Up to the end, one byte farther, and back. */
		if (lengths[k] <= BYTES) {
			expect_piece(reader, BYTES - lengths[k], lengths[k]);
			expect_piece(reader, BYTES - lengths[k] + 1, lengths[k]);
			expect_piece(reader, 0, lengths[k]);
		}
	}
	for (uint64_t left = 0; left < 70; left++) {
		size_t n = left < sizeof(copy) ? left : sizeof(copy);

		assert_int_equal(cfi_reader_copy(reader, BYTES - left, copy, sizeof(copy)), n);
		assert_memory_equal(copy, content + BYTES - left, n);
	}
	assert_int_equal(reader->error, 0);
}

static void memory_and_a_file_are_read_alike(void **state)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct cfi_reader reader;

	(void)state;
	content = xmalloc(BYTES);
	for (uint32_t i = 0; i < BYTES; i++)
		content[i] = (uint8_t)(i * 2654435761U >> 24);
	assert_int_equal(file_pwrite_all(fd, content, BYTES, 0), 0);
	cfi_reader_init_memory(&reader, content, BYTES);
	expect_all(&reader);
	cfi_reader_release(&reader);
	cfi_reader_init_fd(&reader, fd, BYTES);
	expect_all(&reader);
	cfi_reader_release(&reader);
	close(fd);
	free(content);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_and_a_file_are_read_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
