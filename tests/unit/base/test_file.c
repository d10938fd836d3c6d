/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"

struct fixture {
	char dir[64];
	char path[96];
};

static int set_up(void **state)
{
	static struct fixture f;

	strcpy(f.dir, "/tmp/hostprof-test-XXXXXX");
	if (!mkdtemp(f.dir))
		return -1;
	snprintf(f.path, sizeof(f.path), "%s/out", f.dir);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	return rmdir(f->dir); /* fails when something was left behind */
}

static void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void test_read_appends_and_knows_proc(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	char expected[64];

	(void)state;
	strbuf_addstr(&sb, "x");
	assert_int_equal(file_read("/proc/self/stat", 4096, &sb), 0);
	snprintf(expected, sizeof(expected), "x%d (", (int)getpid());
	assert_memory_equal(sb.buf, expected, strlen(expected));
	assert_int_equal(sb.len, strlen(sb.buf));
}

static void test_read_limits(void **state)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct fixture *f = *state;

	put_file(f->path, "12345678");
	assert_int_equal(file_read(f->path, 8, &sb), 0);
	strbuf_reset(&sb);
	assert_int_equal(file_read(f->path, 7, &sb), -E2BIG);
	assert_int_equal(file_read("/nonexistent", 7, &sb), -ENOENT);
	assert_int_equal(file_read(f->dir, 7, &sb), -EISDIR);
}

static void test_read_grows(void **state)
{
	_cleanup_strbuf_ struct strbuf in = STRBUF_INIT, out = STRBUF_INIT;
	struct fixture *f = *state;

	for (int i = 0; in.len < 300000; i++)
		strbuf_addf(&in, "%d,", i);
	put_file(f->path, in.buf);
	assert_int_equal(file_read(f->path, 1 << 20, &out), 0);
	assert_int_equal(out.len, in.len);
	assert_memory_equal(out.buf, in.buf, in.len);
}

/* Whoever asked for more of it would wait for who has nothing to say. */
static void what_is_whole_is_not_read_twice(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT, more = STRBUF_INIT;
	struct fixture *f = *state;
	char path[32];
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	assert_int_equal(write(fds[1], "five\n", 5), 5);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[0]);
	alarm(10);
	assert_int_equal(file_read_at_once(path, 100, &text), 0);
	alarm(0);
	assert_string_equal(strbuf_str(&text), "five\n");
	close(fds[0]);
	close(fds[1]);
	for (int i = 0; i < 3000; i++)
		strbuf_add(&more, "more", 4);
	put_file(f->path, strbuf_str(&more));
	strbuf_release(&text);
	assert_int_equal(file_read_at_once(f->path, 1 << 20, &text), 0);
	assert_string_equal(strbuf_str(&text), strbuf_str(&more));
	assert_int_equal(file_read_at_once(f->path, 100, &text), -E2BIG);
	assert_int_equal(file_read_at_once("/nonexistent", 7, &text), -ENOENT);
}

static void test_pread_pwrite(void **state)
{
	struct fixture *f = *state;
	char buf[4] = "";
	int fd;

	put_file(f->path, "abcdef");
	fd = open(f->path, O_RDWR);
	assert_int_equal(file_pwrite_all(fd, "XY", 2, 3), 0);
	assert_int_equal(file_pread_full(fd, buf, 4, 1), 0);
	assert_memory_equal(buf, "bcXY", 4);
	assert_int_equal(file_pread_full(fd, buf, 4, 3), -ENODATA);
	close(fd);
	assert_int_equal(file_pwrite_all(-1, "x", 1, 0), -EBADF);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

static size_t most_at_once; /* that the kernel takes; 0: all */

ssize_t write(int fd, const void *data, size_t len)
{
	return syscall(SYS_write, fd, data, most_at_once ? MIN(len, most_at_once) : len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	return syscall(SYS_pwrite64, fd, data, most_at_once ? MIN(len, most_at_once) : len, at);
}

static void test_short_writes(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct fixture *f = *state;
	int fd = open(f->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), first, second;

	most_at_once = 3;
	first = file_write_all(fd, "0123456789", 10);
	second = file_pwrite_all(fd, "abcdefg", 7, 2);
	most_at_once = 0;
	assert_int_equal(first, 0);
	assert_int_equal(second, 0);
	close(fd);
	assert_int_equal(file_read(f->path, 100, &text), 0);
	assert_string_equal(strbuf_str(&text), "01abcdefg9");
}

/* What an earlier call has left in errno says nothing of a read that has come to the end. */
static void an_end_is_no_interruption(void **state)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char bytes[4];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "ab", 2), 2);
	close(fds[1]);
	errno = EINTR;
	assert_int_equal(file_read_fd(fds[0], 100, &text), 0);
	assert_string_equal(strbuf_str(&text), "ab");
	close(fds[0]);
	fds[0] = open("/dev/null", O_RDONLY);
	errno = EINTR;
	assert_int_equal(file_pread_full(fds[0], bytes, 4, 0), -ENODATA);
	close(fds[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_end_is_no_interruption),
		TEST(test_read_appends_and_knows_proc),
		TEST(test_read_limits),
		TEST(test_read_grows),
		TEST(what_is_whole_is_not_read_twice),
		TEST(test_pread_pwrite),
		TEST(test_short_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
