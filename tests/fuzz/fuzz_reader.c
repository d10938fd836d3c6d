// SPDX-License-Identifier: Apache-2.0
/*
 * What a reader may answer: the input is a row of answers, each a byte that says whether the result is what an honest one
 * would say, eight bytes of another result, two of a length, and so many bytes of data.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "elf/image_content.h"
#include "elf/reader/reader_cfi.h"
#include "elf/reader/reader_file.h"
#include "wall/trade.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t *at, *end;

static size_t take(void *to, size_t len)
{
	len = MIN(len, (size_t)(end - at));
	memcpy(to, at, len);
	at += len;
	return len;
}

/* Of an answer whose data is there already. */
static int64_t honest(const struct wall_call *call)
{
	const struct reader_cfi_opened *opened = (const void *)call->data;
	const struct reader_cfi_page *page = (const void *)call->data;
	const struct reader_file_said *said = (const void *)call->data;

	switch (call->op) {
	case READER_IMAGE_OPEN: return sizeof(struct reader_image);
	case READER_IMAGE_END: return sizeof(struct reader_symbols);
	case READER_IMAGE_TAKE: return (int64_t)call->len;
	case READER_BUILD_ID: return BUILD_ID_BYTES;
	case READER_DEMANGLE: return sizeof(struct reader_name) + 100;
	case READER_FILE:
		return (int64_t)(offsetof(struct reader_file_said, segment) +
				 said->segments * sizeof(said->segment[0]));
	case READER_FIND: return 2 * sizeof(uint64_t);
	case READER_CFI_OPEN:
		return (int64_t)(offsetof(struct reader_cfi_opened, segment) +
				 opened->segments * sizeof(opened->segment[0]));
	case READER_CFI_DIGEST: return sizeof(struct cfi_digest);
	case READER_CFI_PAGE:
		return (int64_t)(offsetof(struct reader_cfi_page, row) +
				 page->rows * sizeof(page->row[0]));
	default: return 0;
	}
}

static int64_t carry_out(struct wall_call *call, int fd, int *ret_fd)
{
	uint8_t lies = 0;
	int64_t result = -1;
	uint16_t len = 0;

	(void)fd;
	*ret_fd = -1;
	take(&lies, 1);
	if (lies & 1)
		take(&result, sizeof(result));
	take(&len, sizeof(len));
	take(call->data, len);
	return lies & 1 ? result : honest(call);
}

static bool takes_file(uint32_t op)
{
	(void)op;
	return true;
}

static const struct trade liar = {
	.name = "liar", .is_hostile = true, .takes_file = takes_file, .carry_out = carry_out
};

static void read_image(int fd)
{
	struct image_content content;
	struct elf_symbol symbol;

	image_content_read(fd, 0, "file", 1U << 20, &content);
	for (size_t i = 0; i < content.symbols.ranges.len && i < 64; i++)
		symbols_find(&content.symbols, content.symbols.ranges.items[i].address, &symbol);
	symbols_find(&content.symbols, UINT64_MAX, &symbol);
	image_content_release(&content);
}

static void read_rows(int fd)
{
	struct cfi_rows rows = { 0 };
	struct cfi_digest digest;
	struct reader_cfi *cfi;
	struct err err;
	uint64_t address;

	if (reader_cfi_open(fd, 0, &cfi, &err) < 0)
		return;
	reader_cfi_address(cfi, 0x1000, &address);
	reader_cfi_digest(cfi, &digest);
	for (unsigned int i = 0; i < 4; i++)
		reader_cfi_page(cfi, i * 4096, &rows, &err);
	reader_cfi_close(cfi);
	vec_release(&rows.v);
}

static void read_file(int fd)
{
	static const char *const names[] = { "a", "b" };
	uint64_t addresses[2];
	struct reader_file file;
	struct err err;

	if (reader_file_read(fd, &file, &err) == 0)
		reader_file_release(&file);
	reader_find(fd, READER_FIND_SYMBOL, names, 2, addresses, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("file", MFD_CLOEXEC);
		if (fd < 0 || file_write_all(fd, "\177ELF", 4) < 0)
			return 0;
		reader_set_trade(&liar);
	}
	at = data;
	end = data + size;
	read_image(fd);
	read_rows(fd);
	read_file(fd);
	return 0;
}
