// SPDX-License-Identifier: Apache-2.0
/* Where an output goes, and through what it is not led. */
#include "outfile_fixture.h"

/* --- what it is not led through --- */

enum opening { REPLACING, IN_PLACE, NEW, OPENINGS };

static int try_open(const char *path, enum opening how, struct err *err)
{
	struct outfile out = OUTFILE_INIT;
	int r;

	*err = (struct err){ 0 };
	if (how == REPLACING)
		r = outfile_open(path, &out, err);
	else if (how == IN_PLACE)
		r = outfile_open_in_place(path, &out, err);
	else
		r = outfile_create(path, &out, err);
	assert_int_equal(r, err->code);
	outfile_release(&out);
	return r;
}

/* A directory like /tmp, with a file of ours to which somebody's link would lead. */
static void make_shared(struct fixture *f, char victim[128])
{
	assert_int_equal(chmod(f->dir, 01777), 0);
	snprintf(victim, 128, "%s/victim", f->dir);
	put_file(victim, "precious");
}

static void a_link_of_somebody_else(void **state)
{
	struct fixture *f = *state;
	char victim[128], wanted[256];
	struct err err;

	if (geteuid() != 0)
		skip();
	make_shared(f, victim);
	for (int shared = 0; shared < 2; shared++) {
		assert_int_equal(chmod(f->dir, shared ? 01777 : 0755), 0);
		assert_int_equal(symlink("victim", f->path), 0);
		assert_int_equal(lchown(f->path, 4321, 4321), 0);
		for (int how = 0; how < NEW; how++) {
			assert_int_equal(try_open(f->path, how, &err), -EPERM);
			snprintf(wanted, sizeof(wanted),
				 "cannot write %s: the symbolic link out belongs to user 4321",
				 f->path);
			assert_string_equal(err.text, wanted);
			assert_string_equal(err.hint, "give the path that it leads to");
		}
		/* The user of sudo is us. */
		setenv("SUDO_UID", "4321", 1);
		setenv("SUDO_GID", "4321", 1);
		assert_int_equal(try_open(f->path, REPLACING, &err), 0);
		unsetenv("SUDO_UID");
		unlink(f->path);
		assert_content(victim, "precious");
	}
	unlink(victim);
}

/* Also when it stands for a directory on the way. */
static void a_directory_of_somebody_elses_link(void **state)
{
	struct fixture *f = *state;
	char way[128], real[128], at[160];
	struct err err;

	if (geteuid() != 0)
		skip();
	snprintf(way, sizeof(way), "%s/way", f->dir);
	snprintf(real, sizeof(real), "%s/real", f->dir);
	snprintf(at, sizeof(at), "%s/a.jfr", way);
	assert_int_equal(mkdir(real, 0700), 0);
	assert_int_equal(symlink(real, way), 0);
	write_new(at, true);
	assert_int_equal(lchown(way, 4321, 4321), 0);
	for (int how = 0; how < OPENINGS; how++)
		assert_int_equal(try_open(at, how, &err), -EPERM);
	assert_int_equal(lchown(way, 0, 0), 0);
	assert_int_equal(try_open(at, NEW, &err), -EEXIST);
	unlink(at);
	unlink(way);
	assert_int_equal(rmdir(real), 0);
}

static void a_file_of_somebody_else(void **state)
{
	struct fixture *f = *state;
	char wanted[256];
	struct err err;

	if (geteuid() != 0)
		skip();
	put_file(f->path, "theirs");
	assert_int_equal(chown(f->path, 4321, 4321), 0);
	assert_int_equal(chmod(f->path, 0666), 0);
	assert_int_equal(chmod(f->dir, 01777), 0);
	snprintf(wanted, sizeof(wanted), "cannot write %s: it belongs to user 4321", f->path);
	for (int how = 0; how < NEW; how++) {
		assert_int_equal(try_open(f->path, how, &err), -EPERM);
		assert_string_equal(err.text, wanted);
		assert_string_equal(err.hint, "remove it, or give another name");
	}
	assert_content(f->path, "theirs");
	/* A pipe, too: who reads there would have it all. */
	unlink(f->path);
	assert_int_equal(mkfifo(f->path, 0666), 0);
	assert_int_equal(chown(f->path, 4321, 4321), 0);
	assert_int_equal(try_open(f->path, REPLACING, &err), -EPERM);
	unlink(f->path);
	/* Nor where all may write, whoever owns the directory. */
	put_file(f->path, "theirs");
	assert_int_equal(chown(f->path, 4321, 4321), 0);
	assert_int_equal(chown(f->dir, 4321, 4321), 0);
	assert_int_equal(try_open(f->path, REPLACING, &err), -EPERM);
	unlink(f->path);
	/* In a directory of theirs it is what was asked for. */
	put_file(f->path, "theirs");
	assert_int_equal(chown(f->path, 4321, 4321), 0);
	assert_int_equal(chown(f->dir, 4321, 4321), 0);
	assert_int_equal(chmod(f->dir, 0755), 0);
	write_new(f->path, false);
	assert_int_equal(stat_of(f->path).st_uid, 4321);
}

static void a_file_of_several_names(void **state)
{
	struct fixture *f = *state;
	char victim[128];
	struct err err;

	make_shared(f, victim);
	assert_int_equal(link(victim, f->path), 0);
	assert_int_equal(try_open(f->path, IN_PLACE, &err), -EMLINK);
	assert_non_null(strstr(err.text, "the file has other names, too"));
	assert_content(victim, "precious");
	/* Replaced, the other name has what it had. */
	write_new(f->path, false);
	assert_content(victim, "precious");
	unlink(victim);
}

static void only_a_new_one(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;

	put_file(f->path, "old");
	assert_int_equal(try_open(f->path, NEW, &err), -EEXIST);
	assert_int_equal(outfile_open_new(f->path, &out, &err), -EEXIST);
	assert_content(f->path, "old");
	unlink(f->path);
	/* Somebody is faster. */
	assert_int_equal(outfile_open_new(f->path, &out, &err), 0);
	put_file(f->path, "theirs");
	assert_int_equal(outfile_commit(&out, &err), -EEXIST);
	outfile_release(&out);
	assert_content(f->path, "theirs");
	unlink(f->path);
	assert_int_equal(outfile_open_new(f->path, &out, &err), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_content(f->path, "");
}

static void links_that_lead_nowhere(void **state)
{
	struct fixture *f = *state;
	char other[128];
	struct err err;

	snprintf(other, sizeof(other), "%s/other", f->dir);
	assert_int_equal(symlink("out", f->path), 0);
	assert_int_equal(try_open(f->path, IN_PLACE, &err), -ELOOP);
	unlink(f->path);
	/* Of ours: what it names is made, unless the name itself is to be new. */
	assert_int_equal(symlink(other, f->path), 0);
	assert_int_equal(try_open(f->path, NEW, &err), -EEXIST);
	assert_int_equal(access(other, F_OK), -1);
	write_new(f->path, false);
	assert_true(S_ISLNK(stat_of(f->path).st_mode));
	assert_true(S_ISREG(stat_of(other).st_mode));
	unlink(other);
}

/* --- paths --- */

static void ways_to_write_a_path(void **state)
{
	struct fixture *f = *state;
	char text[256];
	struct err err;

	snprintf(text, sizeof(text), "%s/./../%s//out", f->dir, strrchr(f->dir, '/') + 1);
	write_new(text, false);
	assert_content(f->path, "new");
	snprintf(text, sizeof(text), "%s/", f->dir);
	assert_int_equal(try_open(text, IN_PLACE, &err), -EISDIR);
	snprintf(text, sizeof(text), "%s/out/x", f->dir);
	assert_int_equal(try_open(text, IN_PLACE, &err), -ENOTDIR);
	snprintf(text, sizeof(text), "%s/none/", f->dir);
	assert_int_equal(try_open(text, IN_PLACE, &err), -ENOENT);
	assert_int_equal(try_open("/", IN_PLACE, &err), -EISDIR);
	assert_int_equal(try_open("", IN_PLACE, &err), -ENOENT);
	assert_int_equal(chdir(f->dir), 0);
	write_new("out", true);
	assert_int_equal(chdir("/"), 0);
}

/* >(…) of a shell, /dev/stdout: what is open is meant, whoever made it. */
static void open_descriptors(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	char text[64];
	struct err err;
	int fds[2], fd;

	assert_int_equal(pipe(fds), 0);
	snprintf(text, sizeof(text), "/dev/fd/%d", fds[1]);
	assert_int_equal(outfile_open(text, &out, &err), 0);
	assert_int_equal(file_write_all(out.fd, "abc", 3), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_int_equal(read(fds[0], text, 3), 3);
	close(fds[0]);
	close(fds[1]);
	put_file(f->path, "a longer text");
	fd = open(f->path, O_RDWR | O_CLOEXEC);
	snprintf(text, sizeof(text), "/proc/self/fd/%d", fd);
	assert_int_equal(outfile_open(text, &out, &err), 0);
	assert_null(out.temp_name);
	assert_int_equal(file_write_all(out.fd, "new", 3), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_content(f->path, "new");
	close(fd);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_link_of_somebody_else), TEST(a_directory_of_somebody_elses_link),
		TEST(a_file_of_somebody_else), TEST(a_file_of_several_names),
		TEST(only_a_new_one),	       TEST(links_that_lead_nowhere),
		TEST(ways_to_write_a_path),    TEST(open_descriptors),
	};

	return cmocka_run_group_tests_name("out_place", tests, NULL, NULL);
}
