/* SPDX-License-Identifier: Apache-2.0 */
/* Files whose content, opening and memory are the test's, for unwind_files.c. Included once per test. */
#ifndef HOSTPROF_TESTS_UNWIND_FILES_WORLD_H
#define HOSTPROF_TESTS_UNWIND_FILES_WORLD_H

#include "test.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/image_open.h"
#include "elf/reader/reader_cfi.h"
#include "process/own_vdso.h"
#include "process/proc.h"
#include "unwind/unwind_files.h"

#define FILES	6
#define LEN	5000 /* of a file: more than its first page */
#define NEAR	4095
#define ADDRESS 0x100000ULL /* the file's own, of its first byte */
#define CODE	0x8000ULL   /* bytes of code */

/* An image, by its inode from 1 on. */
struct made {
	int fd; /* of its content */
	bool is_gone, is_known, is_torn;
	int gone_error; /* of the file; 0: none */
	int open_error; /* of the ELF file */
	/* Readers come to their end so often with a page of it, or with opening it, in this way. */
	unsigned int page_ends, open_ends;
	atomic_uint warmed;
	int end_error;
	size_t bytes; /* of memory, when it is open */
	int digest_error;
	uint64_t digest; /* of what rows are made from */
	uint32_t tables;
	unsigned int refs;
	char path[16];
};

struct reader_cfi {
	struct made *made;
	char build_id[9];
};

static struct {
	struct unwind_files *files;
	struct cfi_rows rows;
	struct made made[FILES + 1];
	struct made vdso;
	size_t vdso_len;
	bool has_vdso;
	uint32_t living_pid;
	atomic_bool holds_warming;
	/* What was asked for. */
	unsigned int lookups, opens, places, digests, pages, lives_asked;
	int left_open; /* ELF files */
	uint32_t open_pid;
	uint64_t open_start, open_end, page;
	char failed[256];
} f;

/* --- in place of elf/ and process/ --- */

static struct made *made_of(const struct image *image)
{
	return (struct made *)(uintptr_t)image;
}

struct image *image_cache_open_seen(struct image_cache *cache, const struct file_key *key,
				    uint32_t pid, uint64_t start, uint64_t end, const char *path,
				    const struct file_id *seen)
{
	(void)seen;
	assert_ptr_equal(cache, &f);
	assert_true(pid && start < end && path[0] == '/');
	assert_true(key->major == 8 && key->minor == 1 && key->generation == 9);
	f.lookups++;
	return (struct image *)&f.made[key->inode];
}

struct image *image_ref(struct image *image)
{
	((struct made *)image)->refs++;
	return image;
}

void image_unref(struct image *image)
{
	if (!image)
		return;
	assert_true(made_of(image)->refs > 0);
	((struct made *)image)->refs--;
}

uint32_t image_tables(const struct image *image)
{
	return made_of(image)->tables;
}

void image_set_tables(struct image *image, uint32_t tables)
{
	((struct made *)image)->tables = tables;
}

int image_dup_fd(const struct image *image)
{
	return made_of(image)->is_known ? dup(made_of(image)->fd) : -ENODATA;
}

int image_open_file(const struct file_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path)
{
	const struct made *made = &f.made[key->inode];

	assert_string_equal(path, made->path);
	f.open_pid = pid;
	f.open_start = start;
	f.open_end = end;
	if (made->gone_error)
		return made->gone_error;
	return made->is_gone ? -ENOENT : dup(made->fd);
}

bool image_was_looked_at(const struct image *image)
{
	return image != NULL;
}

const char *image_path(const struct image *image)
{
	return made_of(image)->path;
}

static struct made *made_of_fd(int fd)
{
	char name;

	assert_int_equal(pread(fd, &name, 1, LEN - 1), 1);
	return &f.made[name - '0'];
}

int reader_cfi_open(int fd, uint64_t owner, struct reader_cfi **ret_file, struct err *err)
{
	struct reader_cfi *file;
	struct made *made = made_of_fd(fd);

	(void)owner;
	f.opens++;
	if (made->open_ends && made->open_ends--)
		return err_set(err, made->end_error, "ended");
	if (made->open_error)
		return err_set(err, made->open_error, "not opened");
	file = xcalloc(1, sizeof(*file));
	f.left_open++;
	file->made = made;
	assert_int_equal(pread(fd, file->build_id, 8, 0), 8);
	*ret_file = file;
	return 0;
}

/* On a thread of its own. */
void reader_cfi_warm(int fd, uint64_t owner)
{
	struct made *made = made_of_fd(fd);

	(void)owner;
	while (atomic_load(&f.holds_warming))
		usleep(100);
	atomic_fetch_add(&made->warmed, 1);
}

int reader_cfi_open_memory(const void *data, size_t len, struct reader_cfi **ret_file,
			   struct err *err)
{
	(void)err;
	assert_ptr_equal(data, &f.vdso);
	assert_int_equal(len, f.vdso_len);
	f.opens++;
	if (f.vdso.open_error)
		return f.vdso.open_error;
	*ret_file = xcalloc(1, sizeof(**ret_file));
	f.left_open++;
	(*ret_file)->made = &f.vdso;
	return 0;
}

void reader_cfi_close(struct reader_cfi *file)
{
	f.left_open -= file != NULL;
	free(file);
}

const char *reader_cfi_build_id(const struct reader_cfi *file)
{
	return file->build_id;
}

int reader_cfi_digest(struct reader_cfi *file, struct cfi_digest *ret_digest)
{
	f.digests++;
	*ret_digest = (struct cfi_digest){ { 7, file->made->digest } };
	return file->made->digest_error;
}

bool reader_cfi_address(const struct reader_cfi *file, uint64_t offset, uint64_t *ret_address)
{
	assert_non_null(file);
	f.places++;
	*ret_address = ADDRESS + offset;
	return offset < CODE;
}

int reader_cfi_page(struct reader_cfi *file, uint64_t address, struct cfi_rows *rows,
		    struct err *err)
{
	const struct cfi_row row = { .offset = 7, .rule.kind = WIRE_RULE_CFA };

	f.page = address;
	f.pages++;
	if (file->made->page_ends && file->made->page_ends--)
		return err_set(err, file->made->end_error, "ended");
	if (file->made->is_torn)
		return err_set(err, -EIO, "torn");
	rows->v.len = 0;
	vec_push(&rows->v, row);
	vec_push(&rows->v, row);
	return 0;
}

size_t reader_cfi_bytes(const struct reader_cfi *file)
{
	return file->made->bytes;
}

const void *own_vdso(size_t *ret_len)
{
	*ret_len = f.vdso_len;
	return f.has_vdso ? &f.vdso : NULL;
}

bool proc_is_there(uint32_t pid)
{
	f.lives_asked++;
	return pid == f.living_pid;
}

/* --- */

/* The last byte says which it is to those who open it; it is the same in no two of them. */
static inline void fill(uint32_t number, const char *build_id)
{
	struct made *made = &f.made[number];
	char content[LEN];

	memset(content, '.', sizeof(content));
	memset(content, 0, 9);
	memcpy(content, build_id, strlen(build_id));
	content[LEN - 1] = (char)('0' + number);
	assert_int_equal(pwrite(made->fd, content, LEN, 0), LEN);
}

static inline int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.files = unwind_files_new((struct image_cache *)&f, 100, SIZE_MAX);
	f.living_pid = 1;
	for (uint32_t i = 1; i <= FILES; i++) {
		char build_id[9] = "a file 0";

		f.made[i].fd = memfd_create("file", MFD_CLOEXEC);
		assert_int_equal(fchmod(f.made[i].fd, 0700), 0);
		build_id[7] = (char)('0' + i);
		fill(i, build_id);
		snprintf(f.made[i].path, sizeof(f.made[i].path), "/file%u", i);
	}
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	unwind_files_free(f.files);
	vec_release(&f.rows.v);
	for (uint32_t i = 1; i <= FILES; i++)
		close(f.made[i].fd);
	return 0;
}

static inline void limit(size_t max_open, size_t max_bytes)
{
	unwind_files_free(f.files);
	f.files = unwind_files_new((struct image_cache *)&f, max_open, max_bytes);
}

/* By process PID, from its byte OFFSET on. */
static inline struct unwind_piece piece_at(uint32_t pid, uint32_t number, uint64_t offset)
{
	const struct mapping mapping = { .start = 0x7000000 + pid * 0x10000,
					 .end = 0x7001000 + pid * 0x10000,
					 .pgoff = offset,
					 .key = { 8, 1, number, 9 },
					 .path = f.made[number].path };

	return unwind_files_piece(f.files, pid, &mapping, NULL);
}

static inline uint32_t number_of(uint32_t number)
{
	return piece_at(1, number, 0).file;
}

/* Rows of the file's number; false: there are none. */
static inline bool has_rows(uint32_t number)
{
	assert_true(unwind_files_rows(f.files, number, ADDRESS + 0x123, &f.rows));
	if (f.rows.v.len == 2) {
		assert_int_equal(f.page, ADDRESS + 0x123);
		return true;
	}
	assert_int_equal(f.rows.v.len, 1);
	assert_int_equal(f.rows.v.items[0].offset, 0);
	assert_int_equal(f.rows.v.items[0].rule.kind, WIRE_RULE_NONE);
	return false;
}

/* Files that are counted as given up. */
static inline uint64_t refused(void)
{
	struct reader_figures figures;

	reader_get_figures(&figures);
	return figures.refused;
}

static inline size_t count_open(void)
{
	size_t files, open;

	unwind_files_count(f.files, &files, &open);
	return open;
}

static inline size_t count_files(void)
{
	size_t files, open;

	unwind_files_count(f.files, &files, &open);
	return files;
}

static inline void close_all(void)
{
	unwind_files_close_idle(f.files);
	unwind_files_close_idle(f.files);
	assert_int_equal(count_open(), 0);
}

static inline void note_failed(const char *path, const char *why, uint64_t pages, void *data)
{
	char *text = data;
	size_t len = strlen(text);

	snprintf(text + len, sizeof(f.failed) - len, "%s: %s (%u)\n", path, why, (unsigned)pages);
}

static inline const char *failed(void)
{
	f.failed[0] = '\0';
	unwind_files_for_each_failed(f.files, note_failed, f.failed);
	return f.failed;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

#endif
