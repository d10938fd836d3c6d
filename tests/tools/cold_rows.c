/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: cold_rows FILE [PAGES [drop]]
 * The time it takes to open FILE's call frame information and to compile the rows of PAGES (100)
 * pages of its text, spread evenly: no two are neighbours, so that each begins anew. With "drop" the
 * file is not in the page cache at first, as far as nobody maps it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "elf/cfi/cfi_file.h"

typedef VEC(uint64_t) address_list;

/* The begin of every page of text. */
static void find_pages(const struct cfi_file *file, uint64_t file_bytes, address_list *pages)
{
	uint64_t address;

	for (uint64_t offset = 0; offset < file_bytes; offset += WIRE_PAGE_BYTES)
		if (cfi_file_address(file, offset, &address))
			vec_push(pages, address);
}

/* The rows of COUNT of PAGES; their number, or a negative errno. */
static long compile_pages(struct cfi_file *file, const address_list *pages, size_t count,
			  struct err *err)
{
	struct cfi_rows rows = { 0 };
	long sum = 0;
	int r = 0;

	for (size_t i = 0; i < count && !r; i++) {
		r = cfi_file_page(file, pages->items[i * pages->len / count], &rows, err);
		sum += (long)rows.v.len;
	}
	vec_release(&rows.v);
	return r < 0 ? r : sum;
}

static int measure(int fd, uint64_t file_bytes, size_t count, struct err *err)
{
	_cleanup_(cfi_file_closep) struct cfi_file *file = NULL;
	address_list pages = { 0 };
	uint64_t begin_ns = clock_now_ns(), opened_ns, ns;
	long row_count;
	int r = cfi_file_open(fd, &file, err);

	if (r < 0)
		return r;
	opened_ns = clock_now_ns();
	find_pages(file, file_bytes, &pages);
	if (count > pages.len)
		count = pages.len;
	ns = clock_now_ns();
	row_count = compile_pages(file, &pages, count, err);
	ns = clock_now_ns() - ns;
	printf("file_bytes %llu\ntext_pages %zu\nopen_ns %llu\npages %zu\npages_ns %llu\nrows %ld\n"
	       "held_bytes %zu\n",
	       (unsigned long long)file_bytes, pages.len,
	       (unsigned long long)(opened_ns - begin_ns), count, (unsigned long long)ns, row_count,
	       cfi_file_bytes(file));
	vec_release(&pages);
	return row_count < 0 ? (int)row_count : 0;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	struct stat st;
	int fd = argc > 1 ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0 || fstat(fd, &st) < 0) {
		fprintf(stderr, "cold_rows: %s: %s\n", argc > 1 ? argv[1] : "no file",
			strerror(errno));
		return 2;
	}
	if (argc > 3)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	if (measure(fd, (uint64_t)st.st_size, argc > 2 ? (size_t)atol(argv[2]) : 100, &err) < 0) {
		fprintf(stderr, "cold_rows: %s\n", err.text);
		return 1;
	}
	return 0;
}
