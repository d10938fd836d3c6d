// SPDX-License-Identifier: Apache-2.0
/*
 * A file of code, and all that a reader is ever asked about one: carried out here, and believed by who asks. An honest reader's answers
 * make sense, whatever is in the file. What ELF leaves unused of the file's first bytes says what is asked.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "base/file.h"
#include "elf/image_content.h"
#include "elf/reader/reader_cfi.h"
#include "elf/reader/reader_file.h"
#include "elf/reader/reader_probe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Behind EI_ABIVERSION (elf.h). */
#define UNUSED_AT    9
#define UNUSED_BYTES 7
#define MAX_RANGES   64
#define PAGES	     8

struct question {
	uint8_t limit; /* of bytes, a power of two: symbols that are more stay in the file */
	uint8_t page[2];
	uint8_t address[4];
};

_Static_assert(sizeof(struct question) == UNUSED_BYTES, "there is so much room");

static uint64_t limit_of(const struct question *question)
{
	return 1ULL << (8 + question->limit % 20);
}

static void expect_sense(int64_t r, const struct err *err)
{
	assert_true(r >= 0 || strcmp(err->text, "its reader does not make sense") != 0);
}

static void ask_for_symbols(int fd, const struct question *question)
{
	struct image_content content;
	struct elf_symbol symbol;
	struct go_frames frames;

	image_content_read(fd, 0, "file", limit_of(question), &content);
	assert_true(!content.failure || !strstr(content.failure, "does not make sense"));
	for (size_t i = 0; i < content.symbols.ranges.len && i < MAX_RANGES; i++) {
		uint64_t address = content.symbols.ranges.items[i].address;

		symbols_find(&content.symbols, address, &symbol);
		symbols_cover(&content.symbols, address, address + 16);
	}
	symbols_find(&content.symbols, UINT64_MAX, &symbol);
	for (uint64_t i = 0; i < MAX_RANGES; i++)
		symbols_find_go(&content.symbols,
				content.symbols.go.first +
					i * (content.symbols.go.end - content.symbols.go.first) /
						MAX_RANGES,
				&frames);
	image_content_release(&content);
}

static void ask_for_rows(int fd, const struct question *question)
{
	struct cfi_rows rows = { 0 };
	struct cfi_digest digest;
	struct reader_cfi *cfi;
	struct err err = { 0 };
	uint64_t address;
	uint16_t page;
	int r = reader_cfi_open(fd, 0, &cfi, &err);

	expect_sense(r, &err);
	if (r < 0)
		return;
	memcpy(&page, question->page, sizeof(page));
	reader_cfi_digest(cfi, &digest);
	for (uint64_t i = 0; i < PAGES; i++)
		if (reader_cfi_address(cfi, (page + i) * WIRE_PAGE_BYTES, &address)) {
			r = reader_cfi_page(cfi, address, &rows, &err);
			expect_sense(r, &err);
		}
	reader_cfi_close(cfi);
	vec_release(&rows.v);
}

static void ask_for_names(int fd)
{
	static const char *const names[] = { "main", "malloc", "f" };
	struct reader_function functions[ARRAY_SIZE(names)];
	uint64_t addresses[ARRAY_SIZE(names)];
	char soname[NAME_MAX + 1];
	struct reader_file file;
	struct err err = { 0 };
	int r = reader_file_read(fd, &file, &err);

	expect_sense(r, &err);
	if (r == 0)
		reader_file_release(&file);
	for (int how = READER_FIND_SYMBOL; how <= READER_FIND_FUNCTION; how++) {
		r = reader_find(fd, (enum reader_find)how, names, ARRAY_SIZE(names), addresses,
				&err);
		expect_sense(r, &err);
	}
	r = reader_functions(fd, names, ARRAY_SIZE(names), functions, &err);
	expect_sense(r, &err);
	r = reader_soname(fd, soname, &err);
	expect_sense(r, &err);
}

static void ask_for_places(int fd, const struct question *question)
{
	const uint64_t limit_bytes = limit_of(question);
	static struct reader_objects objects;
	static struct reader_places places;
	static struct reader_usdt usdt;
	char build_id[BUILD_ID_BYTES];
	struct err err = { 0 };
	int r = reader_places(fd, "f", limit_bytes, false, &places, &err);

	expect_sense(r, &err);
	r = reader_objects(fd, "main", limit_bytes, &objects, &err);
	expect_sense(r, &err);
	r = reader_usdt(fd, "libc", "setjmp", limit_bytes, &usdt, &err);
	expect_sense(r, &err);
	reader_build_id(fd, 0, build_id);
}

static void ask_for_a_name(int fd, const struct question *question)
{
	uint32_t at;
	bool cpp, late;

	memcpy(&at, question->address, sizeof(at));
	free(reader_far_name(fd, 0, at, 4096, &cpp, &late));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct question question;

	if (fd < 0)
		fd = memfd_create("file", MFD_CLOEXEC);
	if (size < UNUSED_AT + UNUSED_BYTES || ftruncate(fd, 0) < 0 ||
	    pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	memcpy(&question, data + UNUSED_AT, sizeof(question));
	ask_for_symbols(fd, &question);
	ask_for_rows(fd, &question);
	ask_for_names(fd);
	ask_for_places(fd, &question);
	ask_for_a_name(fd, &question);
	return 0;
}
