// SPDX-License-Identifier: Apache-2.0
/* Files whose content, opening and memory are the test's: numbers, sources, limits, failures. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/alloc.h"
#include "elf/image_open.h"
#include "process/own_vdso.h"
#include "process/proc.h"
#include "session/unwind_files.h"

#define FILES	6
#define LEN	5000 /* of a file: more than its first page */
#define NEAR	4095
#define ADDRESS 0x100000ULL /* the file's own, of its first byte */
#define CODE	0x8000ULL   /* bytes of code */

/* An image, by its inode from 1 on. */
struct made {
	int fd; /* of its content */
	bool is_gone, is_known, is_torn;
	int open_error; /* of the ELF file */
	size_t bytes;	/* of memory, when it is open */
	char path[16];
};

struct cfi_file {
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
	/* What was asked for. */
	unsigned int lookups, opens, places;
	uint32_t open_pid;
	uint64_t open_start, open_end, page;
	char failed[256];
} f;

/* --- in place of elf/ and process/ --- */

static struct made *made_of(const struct image *image)
{
	return (struct made *)(uintptr_t)image;
}

struct image *image_cache_open(struct image_cache *cache, const struct image_key *key, uint32_t pid,
			       uint64_t start, uint64_t end, const char *path)
{
	assert_ptr_equal(cache, &f);
	assert_true(pid && start < end && path[0] == '/');
	assert_true(key->major == 8 && key->minor == 1 && key->generation == 9);
	f.lookups++;
	return (struct image *)&f.made[key->inode];
}

int image_dup_fd(const struct image *image)
{
	return made_of(image)->is_known ? dup(made_of(image)->fd) : -ENODATA;
}

int image_open_file(const struct image_key *key, uint32_t pid, uint64_t start, uint64_t end,
		    const char *path)
{
	const struct made *made = &f.made[key->inode];

	assert_string_equal(path, made->path);
	f.open_pid = pid;
	f.open_start = start;
	f.open_end = end;
	return made->is_gone ? -ENOENT : dup(made->fd);
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

int cfi_file_open(int fd, struct cfi_file **ret_file, struct err *err)
{
	struct cfi_file *file;
	struct made *made = made_of_fd(fd);

	f.opens++;
	if (made->open_error) {
		close(fd);
		return err_set(err, made->open_error, "not opened");
	}
	file = xcalloc(1, sizeof(*file));
	file->made = made;
	assert_int_equal(pread(fd, file->build_id, 8, 0), 8);
	close(fd);
	*ret_file = file;
	return 0;
}

int cfi_file_open_memory(const void *data, size_t len, struct cfi_file **ret_file, struct err *err)
{
	(void)err;
	assert_ptr_equal(data, &f.vdso);
	assert_int_equal(len, f.vdso_len);
	f.opens++;
	if (f.vdso.open_error)
		return f.vdso.open_error;
	*ret_file = xcalloc(1, sizeof(**ret_file));
	(*ret_file)->made = &f.vdso;
	return 0;
}

void cfi_file_close(struct cfi_file *file)
{
	free(file);
}

const char *cfi_file_build_id(const struct cfi_file *file)
{
	return file->build_id;
}

bool cfi_file_address(const struct cfi_file *file, uint64_t offset, uint64_t *ret_address)
{
	assert_non_null(file);
	f.places++;
	*ret_address = ADDRESS + offset;
	return offset < CODE;
}

int cfi_file_page(struct cfi_file *file, uint64_t address, struct cfi_rows *rows, struct err *err)
{
	const struct cfi_row row = { .offset = 7, .rule.kind = WIRE_RULE_CFA };

	f.page = address;
	if (file->made->is_torn)
		return err_set(err, -EIO, "torn");
	rows->v.len = 0;
	vec_push(&rows->v, row);
	vec_push(&rows->v, row);
	return 0;
}

size_t cfi_file_bytes(const struct cfi_file *file)
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
	return pid == f.living_pid;
}

/* --- */

/* The last byte says which it is to those who open it; it is the same in no two of them. */
static void fill(uint32_t number, const char *build_id)
{
	struct made *made = &f.made[number];
	char content[LEN];

	memset(content, '.', sizeof(content));
	memset(content, 0, 9);
	memcpy(content, build_id, strlen(build_id));
	content[LEN - 1] = (char)('0' + number);
	assert_int_equal(pwrite(made->fd, content, LEN, 0), LEN);
}

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.files = unwind_files_new((struct image_cache *)&f, 100, SIZE_MAX);
	f.living_pid = 1;
	for (uint32_t i = 1; i <= FILES; i++) {
		char build_id[9] = "a file 0";

		f.made[i].fd = memfd_create("file", MFD_CLOEXEC);
		build_id[7] = (char)('0' + i);
		fill(i, build_id);
		snprintf(f.made[i].path, sizeof(f.made[i].path), "/file%u", i);
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unwind_files_free(f.files);
	vec_release(&f.rows.v);
	for (uint32_t i = 1; i <= FILES; i++)
		close(f.made[i].fd);
	return 0;
}

static void limit(size_t max_open, size_t max_bytes)
{
	unwind_files_free(f.files);
	f.files = unwind_files_new((struct image_cache *)&f, max_open, max_bytes);
}

/* By process PID, from its byte OFFSET on. */
static struct unwind_piece piece_at(uint32_t pid, uint32_t number, uint64_t offset)
{
	const struct mapping mapping = { .start = 0x7000000 + pid * 0x10000,
					 .end = 0x7001000 + pid * 0x10000,
					 .pgoff = offset,
					 .key = { 8, 1, number, 9 },
					 .path = f.made[number].path };

	return unwind_files_piece(f.files, pid, &mapping);
}

static uint32_t number_of(uint32_t number)
{
	return piece_at(1, number, 0).file;
}

/* Rows of the file's number; false: there are none. */
static bool has_rows(uint32_t number)
{
	unwind_files_rows(f.files, number, ADDRESS + 0x123, &f.rows);
	if (f.rows.v.len == 2) {
		assert_int_equal(f.page, ADDRESS + 0x123);
		return true;
	}
	assert_int_equal(f.rows.v.len, 1);
	assert_int_equal(f.rows.v.items[0].offset, 0);
	assert_int_equal(f.rows.v.items[0].rule.kind, WIRE_RULE_NONE);
	return false;
}

static size_t count_open(void)
{
	size_t files, open;

	unwind_files_count(f.files, &files, &open);
	return open;
}

static size_t count_files(void)
{
	size_t files, open;

	unwind_files_count(f.files, &files, &open);
	return files;
}

static void close_all(void)
{
	unwind_files_close_idle(f.files);
	unwind_files_close_idle(f.files);
	assert_int_equal(count_open(), 0);
}

static void note_failed(const char *path, const char *why, uint64_t pages, void *data)
{
	char *text = data;
	size_t len = strlen(text);

	snprintf(text + len, sizeof(f.failed) - len, "%s: %s (%u)\n", path, why, (unsigned)pages);
}

static const char *failed(void)
{
	f.failed[0] = '\0';
	unwind_files_for_each_failed(f.files, note_failed, f.failed);
	return f.failed;
}

/* --- numbers --- */

static void a_copy_has_its_number(void **state)
{
	(void)state;
	fill(2, "a file 1");
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 1);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(f.opens, 2);
	assert_int_equal(count_files(), 1);
	assert_int_equal(count_open(), 1);
	assert_int_equal(number_of(3), 2);
	assert_int_equal(number_of(4), 3);
	assert_int_equal(count_files(), 3);
	assert_int_equal(count_open(), 3);
}

static void what_makes_a_copy(void **state)
{
	(void)state;
	/* Another size, or another byte of the first page; what is behind it is not looked at. */
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	assert_int_equal(ftruncate(f.made[2].fd, LEN + 1), 0);
	assert_int_equal(pwrite(f.made[3].fd, "x", 1, NEAR), 1);
	assert_int_equal(pwrite(f.made[4].fd, "x", 1, 50), 1);
	assert_int_equal(pwrite(f.made[5].fd, "x", 1, NEAR + 1), 1);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(5), 1);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(3), 3);
	assert_int_equal(number_of(4), 4);
	/* Build ids that differ make two of them, too. */
	fill(6, "another!");
	assert_int_equal(number_of(6), 5);
}

static void without_a_build_id_there_are_no_copies(void **state)
{
	(void)state;
	fill(1, "");
	fill(2, "");
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(1), 1);
}

static void what_is_no_program_is_known(void **state)
{
	(void)state;
	f.made[1].open_error = -EBADMSG;
	assert_int_equal(number_of(1), 0);
	f.made[1].open_error = 0;
	assert_int_equal(number_of(1), 0); /* for good */
	assert_int_equal(f.opens, 1);
	f.made[2].open_error = -EMFILE;
	assert_int_equal(number_of(2), 0);
	f.made[2].open_error = 0;
	assert_int_equal(number_of(2), 1); /* it could not be opened then */
	f.made[3].is_gone = true;
	assert_int_equal(number_of(3), 0);
	f.made[3].is_gone = false;
	assert_int_equal(number_of(3), 2);
	assert_string_equal(failed(), "");
}

static void one_that_cannot_be_read(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[0], f.made[1].fd); /* has no offsets */
	assert_int_equal(number_of(1), 0);
	assert_int_equal(f.opens, 0);
	close(fds[0]);
	close(fds[1]);
}

/* The image's own descriptor while there is one, else the file by its process. */
static void the_way_to_a_file(void **state)
{
	(void)state;
	f.made[1].is_known = f.made[1].is_gone = true;
	assert_int_equal(number_of(1), 1);
	assert_int_equal(f.open_pid, 0);
	assert_int_equal(piece_at(3, 2, 0).file, 2);
	assert_int_equal(f.open_pid, 3);
	assert_int_equal(f.open_start, 0x7030000);
	assert_int_equal(f.open_end, 0x7031000);
}

/* --- pieces --- */

static void what_has_no_file(void **state)
{
	char path[] = "/file1", relative[] = "file1";
	struct mapping mapping = {
		.start = 0x1000, .end = 0x2000, .key = { 8, 1, 1, 9 }, .path = relative
	};

	(void)state;
	assert_int_equal(unwind_files_piece(f.files, 1, &mapping).file, 0);
	mapping.key.inode = 0;
	mapping.path = path;
	assert_int_equal(unwind_files_piece(f.files, 1, &mapping).file, 0);
	assert_int_equal(f.lookups, 0);
}

static void its_own_addresses(void **state)
{
	struct unwind_piece piece = piece_at(1, 1, 0x1000);

	(void)state;
	assert_int_equal(piece.file, 1);
	assert_int_equal(piece.bias, 0x7010000 - (ADDRESS + 0x1000));
	piece = piece_at(2, 1, 0x3000);
	assert_int_equal(piece.bias, 0x7020000 - (ADDRESS + 0x3000));
	assert_int_equal(f.places, 2);
	/* It is known without the file, as is that there is none. */
	piece = piece_at(1, 1, CODE);
	assert_int_equal(piece.file, 0);
	assert_int_equal(piece.bias, 0);
	close_all();
	assert_int_equal(piece_at(2, 1, 0x1000).bias, 0x7020000 - (ADDRESS + 0x1000));
	assert_int_equal(piece_at(1, 1, CODE).file, 0);
	assert_int_equal(f.places, 3);
	assert_int_equal(count_open(), 0);
}

static unsigned int places_of_pieces(uint64_t count)
{
	unsigned int before = f.places;

	for (uint64_t i = 0; i < count; i++) {
		const struct unwind_piece piece = piece_at(1, 1, i * 16);

		assert_int_equal(piece.bias, 0x7010000 - (ADDRESS + i * 16));
		assert_int_equal(piece.file, 1);
	}
	return f.places - before;
}

/* Of a JIT compiler's file there may be thousands. */
static void some_places_are_kept(void **state)
{
	(void)state;
	assert_int_equal(places_of_pieces(64), 64);
	assert_int_equal(places_of_pieces(64), 0);
	assert_int_equal(places_of_pieces(1000), 1000 - 64);
	assert_int_equal(places_of_pieces(1000), 1000 - 64);
}

static void none_to_free(void **state)
{
	(void)state;
	unwind_files_free(NULL);
}

static void a_place_in_a_file_that_is_gone(void **state)
{
	(void)state;
	piece_at(1, 1, 0);
	close_all();
	f.made[1].is_gone = true;
	assert_int_equal(piece_at(1, 1, 0x1000).file, 0);
	assert_int_equal(piece_at(1, 1, 0).file, 1);
}

static struct unwind_piece vdso_piece(uint64_t len)
{
	char path[] = "[vdso]";
	const struct mapping mapping = { .start = 0x9000, .end = 0x9000 + len, .path = path };

	return unwind_files_piece(f.files, 1, &mapping);
}

static void the_vdso(void **state)
{
	(void)state;
	f.vdso_len = 0x2000;
	f.has_vdso = true;
	limit(1, SIZE_MAX);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(vdso_piece(0x2000).file, 2);
	assert_int_equal(vdso_piece(0x2000).bias, 0x9000 - ADDRESS);
	assert_int_equal(vdso_piece(0x1000).file, 0); /* a 32-bit process's */
	assert_int_equal(f.opens, 2);
	/* It is no open file that could be closed. */
	assert_int_equal(count_open(), 1);
	f.vdso.bytes = SIZE_MAX / 2;
	assert_true(has_rows(2));
	assert_int_equal(count_open(), 1);
	close_all();
	assert_true(has_rows(2));
	f.vdso.is_torn = true;
	assert_false(has_rows(2));
	assert_string_equal(failed(), "[vdso]: torn (1)\n");
}

static void there_is_no_vdso(void **state)
{
	(void)state;
	f.vdso_len = 0x2000;
	f.has_vdso = true;
	f.vdso.open_error = -EBADMSG;
	assert_int_equal(vdso_piece(0x2000).file, 0);
	assert_int_equal(vdso_piece(0x2000).file, 0);
	assert_int_equal(f.opens, 1);
	limit(1, SIZE_MAX);
	f.has_vdso = false;
	assert_int_equal(vdso_piece(0x2000).file, 0);
	assert_int_equal(f.opens, 1);
}

/* --- what is open --- */

/* Is it open? It is then the one that was used last. */
static bool is_open(uint32_t number)
{
	unsigned int before = f.opens;

	assert_true(has_rows(number));
	return f.opens == before;
}

static void the_one_not_used_for_longest_is_closed(void **state)
{
	(void)state;
	limit(3, SIZE_MAX);
	for (uint32_t i = 1; i <= 3; i++)
		number_of(i);
	assert_true(is_open(1));
	number_of(4); /* in place of 2 */
	assert_int_equal(count_open(), 3);
	assert_true(is_open(3));
	assert_true(is_open(1));
	assert_true(is_open(4));
	assert_false(is_open(2)); /* in place of 3 */
	assert_int_equal(count_open(), 3);
	assert_true(is_open(1));
	assert_true(is_open(4));
	assert_false(is_open(3));
}

static void memory_has_a_limit(void **state)
{
	static const size_t bytes[] = { 0, 60, 30, 20, 50 };

	(void)state;
	limit(100, 100);
	for (uint32_t i = 1; i <= 4; i++)
		f.made[i].bytes = bytes[i];
	number_of(1);
	number_of(2);
	assert_int_equal(count_open(), 2);
	number_of(3); /* 110: the first goes */
	assert_int_equal(count_open(), 2);
	assert_true(is_open(2) && is_open(3));
	number_of(4); /* 100 are allowed */
	assert_int_equal(count_open(), 3);
	assert_true(is_open(2) && is_open(3));
	f.made[4].bytes++; /* it has grown: the one but itself goes that was not used for longest */
	assert_true(is_open(4));
	assert_int_equal(count_open(), 2);
	assert_true(is_open(4) && is_open(3));
	/* One is open however large it is; several go for it. */
	f.made[2].bytes = 1000;
	assert_false(is_open(2));
	assert_int_equal(count_open(), 1);
	/* Nothing is left of what was closed. */
	f.made[2].bytes = 30;
	for (int i = 0; i < 5; i++) {
		close_all();
		for (uint32_t number = 2; number <= 4; number++)
			assert_false(is_open(number));
		assert_int_equal(count_open(), 2);
		f.made[4].bytes = 50;
		close_all();
		for (uint32_t number = 2; number <= 4; number++)
			assert_false(is_open(number));
		assert_int_equal(count_open(), 3);
		f.made[4].bytes = 51;
	}
}

static void what_is_idle_is_closed(void **state)
{
	(void)state;
	number_of(1);
	number_of(2);
	unwind_files_close_idle(f.files);
	assert_int_equal(count_open(), 2);
	assert_true(is_open(2));
	unwind_files_close_idle(f.files);
	assert_int_equal(count_open(), 1);
	assert_true(is_open(2));
	assert_false(is_open(1));
}

/* --- failures --- */

static void a_file_that_is_another_now(void **state)
{
	(void)state;
	number_of(1);
	close_all();
	assert_true(has_rows(1));
	close_all();
	fill(1, "changed!");
	assert_false(has_rows(1));
	assert_string_equal(failed(), "/file1: another file has its name now (1)\n");
	/* It is not tried for ever. */
	fill(1, "a file 1");
	assert_false(has_rows(1));
	assert_string_equal(failed(), "/file1: another file has its name now (2)\n");
	assert_int_equal(f.opens, 3);
}

static void a_file_that_is_gone(void **state)
{
	(void)state;
	number_of(2);
	number_of(1);
	close_all();
	f.made[1].is_gone = true;
	assert_false(has_rows(2));
	assert_true(has_rows(1));
	assert_string_equal(failed(), "/file1: it cannot be opened: No such file or directory (1)\n");
}

static void pages_that_cannot_be_read(void **state)
{
	(void)state;
	number_of(1);
	f.made[1].is_torn = true;
	assert_false(has_rows(1));
	assert_false(has_rows(1));
	assert_string_equal(failed(), "/file1: torn (2)\n");
}

/* --- sources --- */

/* Who lives stays the way to the file: it may be a server, and the next one a script. */
static void who_lives_is_the_source(void **state)
{
	(void)state;
	piece_at(1, 1, 0);
	piece_at(2, 1, 0);
	close_all();
	assert_true(has_rows(1));
	assert_int_equal(f.open_pid, 1);
	/* It maps it elsewhere now. */
	piece_at(2, 1, 0);
	f.living_pid = 0;
	piece_at(3, 1, 0);
	close_all();
	assert_true(has_rows(1));
	assert_int_equal(f.open_pid, 3);
	assert_int_equal(f.open_start, 0x7030000);
	assert_int_equal(unwind_files_take_revived(f.files), 0);
}

/* What it maps last is there, the first may be unmapped since. */
static void its_newest_mapping(void **state)
{
	const struct mapping mapping = { .start = 0x1230000,
					 .end = 0x1231000,
					 .key = { 8, 1, 1, 9 },
					 .path = f.made[1].path };

	(void)state;
	piece_at(1, 1, 0);
	unwind_files_piece(f.files, 1, &mapping);
	close_all();
	assert_true(has_rows(1));
	assert_int_equal(f.open_start, 0x1230000);
	assert_int_equal(f.open_end, 0x1231000);
}

static void another_process_has_it_yet(void **state)
{
	(void)state;
	number_of(1);
	number_of(2);
	close_all();
	f.made[1].is_gone = f.made[2].is_gone = true;
	assert_false(has_rows(1));
	assert_false(has_rows(2));
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	f.made[1].is_gone = f.made[2].is_gone = false;
	number_of(1); /* the same process is no news */
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	assert_false(has_rows(1));
	assert_int_equal(piece_at(2, 1, 0).file, 1);
	assert_string_equal(failed(), "/file1: it could not be read for a while (2)\n"
				      "/file2: it cannot be opened: No such file or directory (1)\n");
	assert_int_equal(piece_at(2, 2, 0).file, 2);
	assert_int_equal(unwind_files_take_revived(f.files), 2);
	assert_int_equal(unwind_files_take_revived(f.files), 1);
	assert_int_equal(unwind_files_take_revived(f.files), 0);
	assert_true(has_rows(1));
	assert_int_equal(f.open_pid, 2);
	assert_true(has_rows(2));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_copy_has_its_number),
		TEST(what_makes_a_copy),
		TEST(without_a_build_id_there_are_no_copies),
		TEST(what_is_no_program_is_known),
		TEST(one_that_cannot_be_read),
		TEST(the_way_to_a_file),
		TEST(what_has_no_file),
		TEST(its_own_addresses),
		TEST(some_places_are_kept),
		TEST(none_to_free),
		TEST(a_place_in_a_file_that_is_gone),
		TEST(the_vdso),
		TEST(there_is_no_vdso),
		TEST(the_one_not_used_for_longest_is_closed),
		TEST(memory_has_a_limit),
		TEST(what_is_idle_is_closed),
		TEST(a_file_that_is_another_now),
		TEST(a_file_that_is_gone),
		TEST(pages_that_cannot_be_read),
		TEST(who_lives_is_the_source),
		TEST(its_newest_mapping),
		TEST(another_process_has_it_yet),
	};

	return cmocka_run_group_tests_name("unwind_files_calls", tests, NULL, NULL);
}
