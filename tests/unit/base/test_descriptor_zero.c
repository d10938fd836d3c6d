/* SPDX-License-Identifier: Apache-2.0 */
/* 0 is a descriptor like any other: who starts a program may have closed its standard input. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/loop.h"
#include "base/out/outfile.h"
#include "process/exec_maps.h"
#include "wall/wall.h"

static int kept;
static char dir[64], path[96];

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/hostprof-zero-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	/* Of the steps to a file every other one gets the lowest descriptor: of this the file itself. */
	snprintf(path, sizeof(path), "%s/./file", dir);
	kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	close(STDIN_FILENO);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	dup2(kept, STDIN_FILENO);
	close(kept);
	unlink(path);
	return rmdir(dir);
}

static void write_text(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_int_equal(fd, 0);
	assert_int_equal(file_write_all(fd, "text", 4), 0);
	close(fd);
}

static void a_file_is_read(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	(void)state;
	write_text();
	assert_int_equal(file_read(path, 100, &text), 0);
	assert_string_equal(strbuf_str(&text), "text");
	assert_false(is_open(0));
}

static void a_file_is_written(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct outfile out;
	struct err err;
	bool unnamed;

	(void)state;
	/* Can a file be without a name there? */
	assert_int_equal(open("/dev/null", O_RDONLY), 0);
	assert_int_equal(outfile_open(path, &out, &err), 0);
	unnamed = out.unnamed;
	outfile_release(&out);
	close(0);
	assert_int_equal(outfile_open(path, &out, &err), 0);
	assert_int_equal(out.fd, 0);
	assert_int_equal(out.unnamed, unnamed);
	assert_int_equal(file_write_all(out.fd, "text", 4), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_false(is_open(0));
	assert_int_equal(file_read(path, 100, &text), 0);
	assert_string_equal(strbuf_str(&text), "text");
}

static void a_file_is_left_unwritten(void **state)
{
	struct outfile out;
	struct err err;

	(void)state;
	assert_int_equal(outfile_open(path, &out, &err), 0);
	assert_int_equal(out.fd, 0);
	outfile_release(&out);
	assert_false(is_open(0));
	assert_int_equal(access(path, F_OK), -1);
}

static void a_device_is_written(void **state)
{
	struct outfile out;
	struct err err;

	(void)state;
	assert_int_equal(outfile_open("/dev/null", &out, &err), 0);
	assert_int_equal(out.fd, 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	assert_false(is_open(0));
	outfile_release(&out);
}

/* All three are open then, and nothing else that was not. */
static void standard_descriptors_are_filled(void **state)
{
	int before;

	(void)state;
	before = dup(STDOUT_FILENO);
	assert_int_equal(before, 0);
	before = dup(STDOUT_FILENO); /* the next that is free */
	close(before);
	close(0);
	file_fill_standard();
	assert_true(is_open(0));
	assert_false(is_open(before));
	close(0);
}

static void foreign_files_are_opened(void **state)
{
	(void)state;
	write_text();
	for (int way = 0; way < 2; way++) {
		int fd = way ? wall_open_in_root(0, path, 0) : wall_open(0, path);

		assert_true(fd >= 0);
		close(fd);
		assert_false(is_open(0));
	}
}

static void quit(void *data)
{
	loop_quit(data);
}

static void quit_at_signal(int signo, void *data)
{
	assert_int_equal(signo, SIGUSR1);
	loop_quit(data);
}

/* Each of the descriptors that a loop makes in turn. */
static void loops_wait(void **state)
{
	static const int signals[] = { SIGUSR1 };
	struct loop *loop;
	struct err err;

	(void)state;
	for (int way = 0; way < 4; way++) {
		if (way)
			assert_int_equal(open("/dev/null", O_RDONLY), 0);
		assert_int_equal(loop_new(&loop, &err), 0);
		if (way)
			close(0);
		if (way == 3)
			assert_int_equal(
				loop_add_signals(loop, signals, 1, quit_at_signal, loop, &err), 0);
		else
			assert_int_equal(loop_add_timer(loop, 1, quit, loop, &err), 0);
		assert_true(is_open(0));
		if (way == 3)
			raise(SIGUSR1);
		assert_int_equal(loop_run(loop, &err), 0);
		loop_free(loop);
		assert_false(is_open(0));
	}
}

static void count_one(const struct exec_map *map, void *data)
{
	(void)map;
	++*(int *)data;
}

static void mappings_are_read(void **state)
{
	int count = 0;

	(void)state;
	assert_int_equal(exec_maps_read((uint32_t)getpid(), "/proc/self/maps", count_one, &count),
			 0);
	assert_true(count > 1);
	assert_false(is_open(0));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_is_read),
		TEST(a_file_is_written),
		TEST(a_file_is_left_unwritten),
		TEST(a_device_is_written),
		TEST(standard_descriptors_are_filled),
		TEST(foreign_files_are_opened),
		TEST(loops_wait),
		TEST(mappings_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
