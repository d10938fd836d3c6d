/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/file.h"
#include "maps_text.h"
#include "process/mappings.h"
#include "unwind/unwind_files.h"

/* A copy of this program that is mapped and has no name any more. */
struct fixture {
	struct image_cache *images;
	struct unwind_files *files;
	struct process process;	 /* this one */
	struct mapping *mapping; /* of the copy */
	struct cfi_rows rows;
	size_t failed;
};

static int open_copy(void)
{
	_cleanup_strbuf_ struct strbuf program = STRBUF_INIT;
	char path[] = "/tmp/test_unwind_files.XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return -1;
	unlink(path);
	if (file_read("/proc/self/exe", 1 << 30, &program) < 0 ||
	    write(fd, strbuf_str(&program), program.len) != (ssize_t)program.len) {
		close(fd);
		return -1;
	}
	return fd;
}

static int read_mappings(struct process *process)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;
	int r = file_read("/proc/self/maps", 1 << 20, &maps);

	mappings_clear(process);
	if (r == 0)
		mappings_add_text(process, strbuf_str(&maps), maps.len);
	return r;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_close_ int fd = open_copy();
	const struct mapping *mine;
	void *copy;

	*state = f;
	f->process.pid = (uint32_t)getpid();
	f->images = image_cache_new(NULL);
	if (fd < 0 || read_mappings(&f->process) < 0)
		return -1;
	f->files = unwind_files_new(f->images, 16, SIZE_MAX);
	mine = process_find_mapping(&f->process, (uintptr_t)setup);
	copy = mmap(NULL, mine->end - mine->start, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
		    (off_t)mine->pgoff);
	if (copy == MAP_FAILED || read_mappings(&f->process) < 0)
		return -1;
	f->mapping = process_find_mapping(&f->process, (uintptr_t)copy);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	munmap((void *)(uintptr_t)f->mapping->start, f->mapping->end - f->mapping->start);
	unwind_files_free(f->files);
	image_cache_free(f->images);
	mappings_clear(&f->process);
	vec_release(&f->rows.v);
	free(f);
	return 0;
}

/* /proc/PID/map_files wants a capability. */
static void need_map_files(const struct fixture *f)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/self/map_files/%lx-%lx", f->mapping->start,
		 f->mapping->end);
	if (access(path, R_OK) < 0)
		skip();
}

static struct unwind_piece piece_of(struct fixture *f, uint32_t pid)
{
	struct unwind_piece piece = unwind_files_piece(f->files, pid, f->mapping, NULL);

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

/* Of the page where this code is in the copy. */
static void check_rows(struct fixture *f, const struct unwind_piece *piece)
{
	const struct mapping *mine = process_find_mapping(&f->process, (uintptr_t)check_rows);
	uint64_t address = f->mapping->start + ((uintptr_t)check_rows - mine->start);

	assert_true(unwind_files_rows(f->files, piece->file, address - piece->bias, &f->rows));
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
	struct unwind_piece piece;

	need_map_files(f);
	piece = piece_of(f, f->process.pid);
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
	struct unwind_piece piece;

	need_map_files(f);
	piece = piece_of(f, f->process.pid);
	piece_of(f, dead_pid());
	close_all(f);
	check_rows(f, &piece);
}

/* The other way round: who mapped it first is gone. */
static void test_the_next_is_the_source(void **state)
{
	struct fixture *f = *state;
	struct unwind_piece piece;
	pid_t pid;

	need_map_files(f);
	pid = fork();
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

/* Every file that this program maps, through FILES; how many are open then. */
static size_t open_after_all(struct fixture *f, struct unwind_files *files, size_t most)
{
	const struct mapping *mapping;
	size_t count, open = 0;

	vec_for_each (mapping, &f->process.mappings) {
		unwind_files_piece(files, f->process.pid, mapping, NULL);
		unwind_files_count(files, &count, &open);
		assert_true(open <= most);
	}
	assert_true(count > 3); /* the C library, cmocka, libbpf */
	return open;
}

/* Rows of each of the files 1 to 3, many times: they are open or opened again. */
static void read_rows(struct fixture *f, struct unwind_files *files, int times)
{
	for (int i = 0; i < times; i++) {
		for (uint32_t number = 1; number <= 3; number++)
			assert_true(unwind_files_rows(files, number, 0x10000, &f->rows));
	}
	unwind_files_for_each_failed(files, note_failed, f);
	assert_int_equal(f->failed, 0);
}

/* Numbers are kept with the images: each has its own. */
static struct unwind_files *new_files(struct image_cache **images, size_t max_bytes)
{
	image_cache_free(*images);
	*images = image_cache_new(NULL);
	return unwind_files_new(*images, 16, max_bytes);
}

static void test_open_files_are_limited(void **state)
{
	struct fixture *f = *state;
	struct image_cache *images = image_cache_new(NULL);
	struct unwind_files *files = unwind_files_new(images, 2, SIZE_MAX);
	size_t count, open;

	assert_int_equal(open_after_all(f, files, 2), 2);
	read_rows(f, files, 2);
	unwind_files_count(files, &count, &open);
	assert_int_equal(open, 2);
	unwind_files_free(files);
	/* One at least, however large it is. */
	files = new_files(&images, 1);
	assert_int_equal(open_after_all(f, files, 1), 1);
	read_rows(f, files, 2);
	unwind_files_free(files);
	/* What a file holds counts once, however often it is used. */
	files = new_files(&images, 64 << 20);
	open = open_after_all(f, files, 16);
	assert_true(open > 3);
	read_rows(f, files, 1000);
	unwind_files_count(files, &count, &count);
	assert_int_equal(count, open);
	unwind_files_free(files);
	image_cache_free(images);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_idle_files_are_closed),
		TEST(test_who_lives_is_the_source),
		TEST(test_the_next_is_the_source),
		TEST(test_open_files_are_limited),
	};

	return cmocka_run_group_tests_name("unwind_files", tests, NULL, NULL);
}
