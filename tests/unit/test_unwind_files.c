/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "base/file.h"
#include "process/mappings.h"
#include "session/unwind_files.h"

struct fixture {
	struct image_cache *images;
	struct unwind_files *files;
	struct process process; /* this one */
	struct cfi_rows rows;
	size_t failed;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	struct err err;

	*state = f;
	if (image_cache_new(NULL, &f->images, &err) < 0 ||
	    file_read("/proc/self/maps", 1 << 20, &maps) < 0)
		return -1;
	f->files = unwind_files_new(f->images, 16, SIZE_MAX);
	f->process.pid = (uint32_t)getpid();
	mappings_add_text(&f->process, strbuf_str(&maps), maps.len);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unwind_files_free(f->files);
	image_cache_free(f->images);
	mappings_clear(&f->process);
	vec_release(&f->rows.v);
	free(f);
	return 0;
}

static struct unwind_piece piece_of(struct fixture *f, uint32_t pid)
{
	struct mapping *mine = process_find_mapping(&f->process, (uintptr_t)piece_of);
	struct unwind_piece piece;

	assert_non_null(mine);
	piece = unwind_files_piece(f->files, pid, mine);
	assert_int_equal(piece.file, 1);
	return piece;
}

static void note_failed(const char *path, const char *why, uint64_t pages, void *data)
{
	struct fixture *f = data;

	(void)path;
	(void)why;
	f->failed += pages;
}

/* Of the page where this file's code is. */
static void check_rows(struct fixture *f, const struct unwind_piece *piece)
{
	unwind_files_rows(f->files, piece->file, (uintptr_t)piece_of - piece->bias, &f->rows);
	unwind_files_for_each_failed(f->files, note_failed, f);
	assert_int_equal(f->failed, 0);
	assert_true(f->rows.v.len > 1);
}

static size_t count_open(const struct fixture *f)
{
	size_t files, open;

	unwind_files_count(f->files, &files, &open);
	assert_int_equal(files, 1);
	return open;
}

/* Both owners of a descriptor let it go. */
static void close_all(struct fixture *f)
{
	for (int i = 0; i < 2; i++) {
		unwind_files_close_idle(f->files);
		image_cache_close_idle(f->images);
	}
	assert_int_equal(count_open(f), 0);
}

static void test_idle_files_are_closed(void **state)
{
	struct fixture *f = *state;
	struct unwind_piece piece = piece_of(f, f->process.pid);

	check_rows(f, &piece);
	unwind_files_close_idle(f->files);
	assert_int_equal(count_open(f), 1);
	check_rows(f, &piece); /* once in a while is enough to stay */
	unwind_files_close_idle(f->files);
	assert_int_equal(count_open(f), 1);
	close_all(f);
	check_rows(f, &piece);
	assert_int_equal(count_open(f), 1);
}

static uint32_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	return (uint32_t)pid;
}

/* A program of a moment maps what a server maps: the server is the way to the file. */
static void test_who_lives_is_the_source(void **state)
{
	struct fixture *f = *state;
	struct unwind_piece piece = piece_of(f, f->process.pid);

	piece_of(f, dead_pid());
	close_all(f);
	check_rows(f, &piece);
}

/* The other way round: the first to map it is gone. */
static void test_the_next_source(void **state)
{
	struct fixture *f = *state;
	struct unwind_piece piece;
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	piece = piece_of(f, (uint32_t)pid);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	piece_of(f, f->process.pid);
	close_all(f);
	check_rows(f, &piece);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_idle_files_are_closed),
		TEST(test_who_lives_is_the_source),
		TEST(test_the_next_source),
	};

	return cmocka_run_group_tests_name("unwind_files", tests, NULL, NULL);
}
