// SPDX-License-Identifier: Apache-2.0
/* Files that we write for the user: when they are there, whose they are, that they are on the disk. */
#include "outfile_fixture.h"

static void test_output_appears_whole(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;
	struct stat st;

	put_file(f->path, "old");
	assert_int_equal(outfile_open(f->path, &out, &err), 0);
	assert_int_equal(file_write_all(out.fd, "new", 3), 0);
	assert_content(f->path, "old");
	assert_int_equal(outfile_commit(&out, &err), 0);
	assert_content(f->path, "new");
	outfile_release(&out);
	assert_content(f->path, "new");
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_output_dropped(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;

	assert_int_equal(outfile_open(f->path, &out, &err), 0);
	assert_int_equal(file_write_all(out.fd, "new", 3), 0);
	outfile_release(&out);
	assert_int_equal(access(f->path, F_OK), -1);
}

static unsigned int count_files(const char *dir)
{
	DIR *d = opendir(dir);
	unsigned int count = 0;

	assert_non_null(d);
	for (const struct dirent *e = readdir(d); e; e = readdir(d))
		count += e->d_name[0] != '.';
	closedir(d);
	return count;
}

/* What the first one has written is not emptied, and it is free when that one has ended. */
static void one_that_another_writes(void **state)
{
	struct fixture *f = *state;
	struct outfile first, second;
	struct err err;

	assert_int_equal(outfile_open_in_place(f->path, &first, &err), 0);
	assert_int_equal(file_write_all(first.fd, "first", 5), 0);
	assert_int_equal(outfile_open_in_place(f->path, &second, &err), -EBUSY);
	assert_non_null(strstr(err.text, f->path));
	assert_non_null(strstr(err.hint, "another name"));
	assert_content(f->path, "first");
	assert_int_equal(outfile_commit(&first, &err), 0);
	outfile_release(&first);
	assert_int_equal(outfile_open_in_place(f->path, &second, &err), 0);
	outfile_release(&second);
	assert_content(f->path, "");
}

/* Nothing is left behind however hostprof ends. */
static void test_output_has_no_name_before(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;

	assert_int_equal(outfile_open(f->path, &out, &err), 0);
	if (!out.unnamed)
		print_message("this file system has no unnamed files\n");
	assert_int_equal(count_files(f->dir), out.unnamed ? 0 : 1);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_int_equal(count_files(f->dir), 1);
	assert_content(f->path, "");
}

/* Somebody else may have guessed the temporary name and put a link there. */
static void test_output_does_not_follow_a_trap(void **state)
{
	struct fixture *f = *state;
	char trap[128], victim[96];
	struct outfile out;
	struct err err;

	snprintf(victim, sizeof(victim), "%s/victim", f->dir);
	snprintf(trap, sizeof(trap), "%s.%d.tmp", f->path, (int)getpid());
	put_file(victim, "precious");
	assert_int_equal(symlink("victim", trap), 0);
	assert_int_equal(outfile_open(f->path, &out, &err), 0);
	assert_int_equal(file_write_all(out.fd, "new", 3), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_content(victim, "precious");
	assert_content(f->path, "new");
	unlink(victim);
}

static void test_output_through_a_link(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;
	char link[128];
	struct stat st;

	snprintf(link, sizeof(link), "%s/link", f->dir);
	put_file(f->path, "old");
	assert_int_equal(symlink("out", link), 0);
	assert_int_equal(outfile_open(link, &out, &err), 0);
	assert_int_equal(file_write_all(out.fd, "new", 3), 0);
	assert_int_equal(outfile_commit(&out, &err), 0);
	outfile_release(&out);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_content(f->path, "new");
	unlink(link);
}

static void test_output_in_place(void **state)
{
	struct outfile out;
	struct err err;

	(void)state;
	assert_int_equal(outfile_open("/dev/full", &out, &err), 0);
	assert_null(out.temp_name);
	assert_int_equal(file_write_all(out.fd, "x", 1), -ENOSPC);
	outfile_release(&out);
	assert_int_equal(outfile_open("-", &out, &err), 0);
	assert_int_equal(out.fd, 1);
	assert_string_equal(out.path, "standard output");
	outfile_release(&out);
	assert_true(fcntl(1, F_GETFD) >= 0);
}

static void test_output_refused(void **state)
{
	struct fixture *f = *state;
	struct outfile out = { .fd = 77 };
	struct err err;

	assert_int_equal(outfile_open("/nonexistent/x", &out, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write /nonexistent/x: No such file or directory");
	assert_int_equal(out.fd, 77);
	assert_int_equal(outfile_open(f->dir, &out, &err), -EISDIR);
}

/* --- whose they are --- */

static void a_new_file_is_the_users_alone(void **state)
{
	struct fixture *f = *state;
	mode_t old = umask(0);

	for (int in_place = 0; in_place < 2; in_place++) {
		write_new(f->path, in_place);
		assert_int_equal(stat_of(f->path).st_mode & 07777, 0600);
		assert_int_equal(stat_of(f->path).st_uid, geteuid());
		unlink(f->path);
	}
	umask(old);
}

static void a_new_file_is_the_user_of_sudos(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	setenv("SUDO_UID", "4321", 1);
	setenv("SUDO_GID", "8765", 1);
	for (int in_place = 0; in_place < 2; in_place++) {
		write_new(f->path, in_place);
		assert_int_equal(stat_of(f->path).st_mode & 07777, 0600);
		assert_int_equal(stat_of(f->path).st_uid, 4321);
		assert_int_equal(stat_of(f->path).st_gid, 8765);
		unlink(f->path);
	}
	/* What is no id changes nothing, nor does root by sudo. */
	setenv("SUDO_UID", "-1", 1);
	write_new(f->path, true);
	assert_int_equal(stat_of(f->path).st_uid, 0);
	unlink(f->path);
	setenv("SUDO_UID", "4294967295", 1);
	write_new(f->path, true);
	assert_int_equal(stat_of(f->path).st_uid, 0);
	assert_int_equal(stat_of(f->path).st_gid, getegid());
}

/* Root's file does not become the user's, nor the other way round. */
static void a_file_that_is_there_keeps_its_owner(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	setenv("SUDO_UID", "4321", 1);
	setenv("SUDO_GID", "8765", 1);
	for (int in_place = 0; in_place < 2; in_place++) {
		put_file(f->path, "old text");
		write_new(f->path, in_place);
		assert_int_equal(stat_of(f->path).st_uid, 0);
		assert_int_equal(stat_of(f->path).st_mode & 07777, 0640);
		assert_int_equal(chown(f->path, 4321, 8765), 0);
		write_new(f->path, in_place);
		assert_int_equal(stat_of(f->path).st_uid, 4321);
		unlink(f->path);
	}
}

/* --- the end --- */

static void it_is_on_the_disk(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;

	for (int in_place = 0; in_place < 2; in_place++) {
		syncs = 0;
		write_new(f->path, in_place);
		assert_int_equal(syncs, 2);
	}
	assert_int_equal(outfile_open(f->path, &out, &err), 0);
	sync_error = ENOSPC;
	assert_int_equal(outfile_commit(&out, &err), -ENOSPC);
	outfile_release(&out);
	assert_content(f->path, "new");
	sync_error = EINVAL;
	write_new(f->path, false);
}

static void made_and_taken_away(void **state)
{
	struct fixture *f = *state;
	struct outfile out;
	struct err err;

	assert_int_equal(outfile_create(f->path, &out, &err), 0);
	outfile_remove(&out);
	assert_int_equal(access(f->path, F_OK), -1);
	assert_int_equal(file_write_all(out.fd, "x", 1), 0);
	outfile_release(&out);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_output_appears_whole),
		TEST(test_output_dropped),
		TEST(one_that_another_writes),
		TEST(test_output_has_no_name_before),
		TEST(test_output_does_not_follow_a_trap),
		TEST(test_output_through_a_link),
		TEST(test_output_in_place),
		TEST(test_output_refused),
		TEST(a_new_file_is_the_users_alone),
		TEST(a_new_file_is_the_user_of_sudos),
		TEST(a_file_that_is_there_keeps_its_owner),
		TEST(it_is_on_the_disk),
		TEST(made_and_taken_away),
	};

	return cmocka_run_group_tests_name("outfile", tests, NULL, NULL);
}
