/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of its own for outputs, and a disk that may fail. Included once per test. */
#ifndef HOSTPROF_TESTS_OUTFILE_FIXTURE_H
#define HOSTPROF_TESTS_OUTFILE_FIXTURE_H

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/out/outfile.h"

struct fixture {
	char dir[64];
	char path[96];
};

static unsigned int syncs; /* of files and directories */
static int sync_error;

int fsync(int fd)
{
	syncs++;
	if (sync_error) {
		errno = sync_error;
		return -1;
	}
	return (int)syscall(SYS_fsync, fd);
}

static inline int set_up(void **state)
{
	static struct fixture f;

	syncs = 0;
	sync_error = 0;
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	strcpy(f.dir, "/tmp/hostprof-test-XXXXXX");
	if (!mkdtemp(f.dir))
		return -1;
	snprintf(f.path, sizeof(f.path), "%s/out", f.dir);
	*state = &f;
	return 0;
}

static inline int tear_down(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	return rmdir(f->dir); /* fails when something was left behind */
}

static inline void put_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0640);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static inline void assert_content(const char *path, const char *text)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	assert_int_equal(file_read(path, 1000, &sb), 0);
	assert_string_equal(strbuf_str(&sb), text);
}

static inline void write_new(const char *path, bool in_place)
{
	struct outfile out;
	struct err err;

	if (in_place)
		assert_int_equal(outfile_open_in_place(path, &out, &err), 0);
	else
		assert_int_equal(outfile_open(path, &out, &err), 0);
	assert_int_equal(file_write_all(out.fd, "new", 3), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_content(path, "new");
}

static inline struct stat stat_of(const char *path)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st;
}

#endif
