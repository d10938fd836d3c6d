// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/proc.h"

static ssize_t parse(const char *text, struct maps_line *ret_line)
{
	return proc_parse_maps_line(text, strlen(text), ret_line);
}

static void maps_line_of_a_file(void **state)
{
	static const char text[] =
		"7f1c2a628000-7f1c2a7bd000 r-xp 00028000 fe:0a 2621                       "
		"/usr/lib/x86_64-linux-gnu/libc.so.6\nnext";
	struct maps_line line;

	(void)state;
	assert_int_equal(parse(text, &line), sizeof(text) - 1 - 4);
	assert_int_equal(line.start, 0x7f1c2a628000);
	assert_int_equal(line.end, 0x7f1c2a7bd000);
	assert_int_equal(line.pgoff, 0x28000);
	assert_string_equal(line.perms, "r-xp");
	assert_int_equal(line.key.major, 0xfe);
	assert_int_equal(line.key.minor, 0x0a);
	assert_int_equal(line.key.inode, 2621);
	assert_int_equal(line.path_len, strlen("/usr/lib/x86_64-linux-gnu/libc.so.6"));
	assert_memory_equal(line.path, "/usr/lib/x86_64-linux-gnu/libc.so.6", line.path_len);
}

static void maps_line_without_path(void **state)
{
	struct maps_line line;

	(void)state;
	assert_true(parse("7f0000-7f1000 rwxp 00000000 00:00 0 \n", &line) > 0);
	assert_int_equal(line.path_len, 0);
	assert_true(parse("7f0000-7f1000 rwxp 00000000 00:00 0\n", &line) > 0);
	assert_int_equal(line.path_len, 0);
	assert_true(parse("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0    [vsyscall]\n",
			  &line) > 0);
	assert_memory_equal(line.path, "[vsyscall]", line.path_len);
}

static void maps_line_with_blanks_in_the_path(void **state)
{
	struct maps_line line;

	(void)state;
	assert_true(parse("1000-2000 r-xp 00000000 08:01 5   /a b/c (deleted)\n", &line) > 0);
	assert_int_equal(line.path_len, strlen("/a b/c (deleted)"));
	assert_memory_equal(line.path, "/a b/c (deleted)", line.path_len);
}

static void maps_line_refuses_what_the_kernel_does_not_write(void **state)
{
	static const char *const bad[] = {
		"1000-2000 r-xp 00000000 08:01 5 /unterminated",
		"\n",
		"2000-1000 r-xp 00000000 08:01 5 /backwards\n",
		"1000-1000 r-xp 00000000 08:01 5 /empty\n",
		"1000 2000 r-xp 00000000 08:01 5 /dash\n",
		"1000-2000 rxxp 00000000 08:01 5 /perms\n",
		"1000-2000 r-x\n",
		"1000-2000 r-xp 00000000 08-01 5 /device\n",
		"1000-2000 r-xp 00000000 100000000:01 5 /device\n",
		"1000-2000 r-xp 00000000 08:01 /inode\n",
		"1000-2000 r-xp 00000000 08:01 5x /inode\n",
		"10000000000000000-20000000000000000 r-xp 00000000 08:01 5 /overflow\n",
		"-1000-2000 r-xp 00000000 08:01 5 /sign\n",
		"0x1000-0x2000 r-xp 00000000 08:01 5 /prefix\n",
	};
	struct maps_line line;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (parse(bad[i], &line) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
	assert_int_equal(proc_parse_maps_line("", 0, &line), 0);
	/* a newline beyond the given length does not count */
	assert_int_equal(proc_parse_maps_line("1000-2000 r-xp 00000000 08:01 5 /x\n", 33, &line),
			 -EBADMSG);
}

static void stat_line_with_a_hostile_name(void **state)
{
	static const char text[] = "4711 (a) S (\n) 1) R 42 4711 4711 0 -1 4194304 1 2 3 4 5 6 7 8 "
				   "20 0 1 0 100 12345 67 18446744073709551615 1 1 0 0 0\n";
	struct proc_stat stat;

	(void)state;
	assert_int_equal(proc_parse_stat(text, strlen(text), &stat), 0);
	assert_string_equal(stat.comm, "a) S (\n) 1");
	assert_int_equal(stat.state, 'R');
	assert_int_equal(stat.ppid, 42);
}

static void stat_line_refuses_garbage(void **state)
{
	static const char *const bad[] = { "",	      "1 (x",		") (", "1 (x) ", "1 (x)",
					   "1 (x) R", "1 (x) R 1 2 3\n" };
	struct proc_stat stat;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (proc_parse_stat(bad[i], strlen(bad[i]), &stat) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
}

static void stat_of_this_process(void **state)
{
	struct proc_stat stat;
	uint64_t now = clock_now_ns();

	(void)state;
	assert_int_equal(proc_read_stat((uint32_t)getpid(), &stat), 0);
	assert_string_equal(stat.comm, "test_proc");
	assert_int_equal(stat.ppid, getppid());
	/* within the minute: the test has just begun; a tick of slack */
	assert_true(stat.start_ns <= now + 10 * NSEC_PER_MSEC);
	assert_true(now - MIN(now, stat.start_ns) < 60 * NSEC_PER_SEC);
}

static void status_text(void **state)
{
	static const char text[] = "Name:\tjava\nUmask:\t0022\nUid:\t1000\t1001\t1002\t1003\n"
				   "Gid:\t7\t8\t9\t10\nNSpid:\t4711\t82\t1\nThreads:\t33\n"
				   "SigIgn:\t0000000000001000\nSigCgt:\t2000000181005ccf\n";
	struct proc_status status;

	(void)state;
	assert_int_equal(proc_parse_status(text, strlen(text), &status), 0);
	assert_int_equal(status.uid, 1001);
	assert_int_equal(status.gid, 8);
	assert_int_equal(status.ns_pid, 1);
	assert_int_equal(status.threads, 33);
	assert_int_equal(status.sig_ignored, 0x1000);
	assert_int_equal(status.sig_caught, 0x2000000181005ccf);
	assert_int_equal(proc_parse_status("Name:\tx\n", 8, &status), -EBADMSG);
	assert_int_equal(proc_parse_status("Uid:\t1\n", 7, &status), -EBADMSG);
}

static void status_of_this_process(void **state)
{
	struct proc_status status;

	(void)state;
	assert_int_equal(proc_read_status((uint32_t)getpid(), &status), 0);
	assert_int_equal(status.uid, geteuid());
	assert_int_equal(status.gid, getegid());
	assert_int_equal(status.threads, 1);
}

static void exe_and_cmdline_of_this_process(void **state)
{
	_cleanup_strbuf_ struct strbuf arguments = STRBUF_INIT;
	_cleanup_free_ char *exe = NULL;

	(void)state;
	assert_int_equal(proc_read_exe((uint32_t)getpid(), &exe), 0);
	assert_non_null(strstr(exe, "/test_proc"));
	assert_int_equal(proc_read_cmdline((uint32_t)getpid(), &arguments), 0);
	assert_non_null(strstr(strbuf_str(&arguments), "test_proc"));
}

static void memory_of_this_process(void **state)
{
	static const char there[] = "remote text";
	char here[sizeof(there)];

	(void)state;
	assert_int_equal(proc_read_memory((uint32_t)getpid(), (uintptr_t)there, here, sizeof(here)),
			 0);
	assert_string_equal(here, "remote text");
	assert_int_equal(proc_read_memory((uint32_t)getpid(), 16, here, sizeof(here)), -EFAULT);
	assert_int_equal(proc_read_memory(0x7ffffffe, 16, here, sizeof(here)), -ESRCH);
}

static void a_process_that_is_not_there(void **state)
{
	struct proc_stat stat;
	char *text;

	(void)state;
	assert_int_equal(proc_read_stat(0x7ffffffe, &stat), -ENOENT);
	assert_int_equal(proc_read_cgroup(0x7ffffffe, &text), -ENOENT);
	assert_int_equal(proc_read_exe(0x7ffffffe, &text), -ENOENT);
}

static int find_self(uint32_t pid, void *data)
{
	*(int *)data += pid == (uint32_t)getpid();
	return 0;
}

static int stop(uint32_t pid, void *data)
{
	(void)pid;
	(void)data;
	return -ECANCELED;
}

static void whether_a_process_is_there(void **state)
{
	(void)state;
	assert_true(proc_is_there((uint32_t)getpid()));
	assert_false(proc_is_there(INT32_MAX));
}

static void every_process_once(void **state)
{
	int seen = 0;

	(void)state;
	assert_int_equal(proc_for_each_pid(find_self, &seen), 0);
	assert_int_equal(seen, 1);
	assert_int_equal(proc_for_each_pid(stop, NULL), -ECANCELED);
}

static void assert_cgroup(const char *text, const char *expected)
{
	_cleanup_free_ char *path = NULL;

	assert_int_equal(proc_parse_cgroup(text, strlen(text), &path), expected ? 0 : -ENODATA);
	if (expected)
		assert_string_equal(path, expected);
}

/* The second version's tree counts; where there is none, the first line. */
static void cgroup_text(void **state)
{
	(void)state;
	assert_cgroup("0::/system.slice/a.service\n", "/system.slice/a.service");
	assert_cgroup("0::/\n", "/");
	assert_cgroup("12:cpu,cpuacct:/old\n1:name=systemd:/older\n0::/new\n", "/new");
	assert_cgroup("0::/new\n12:cpu,cpuacct:/old\n", "/new");
	assert_cgroup("12:cpu,cpuacct:/first:with colon\n1:name=systemd:/second\n",
		      "/first:with colon");
	assert_cgroup("", NULL);
	assert_cgroup("12\n12:x\n", NULL);
}

static bool hides(const char *mounts)
{
	return proc_parse_hides(mounts, strlen(mounts));
}

static void processes_that_are_hidden(void **state)
{
	(void)state;
	assert_false(hides(""));
	assert_false(hides("proc /proc proc rw,nosuid 0 0\n"));
	assert_true(hides("x / ext4 rw 0 0\nproc /proc proc rw,hidepid=invisible 0 0\n"));
	assert_true(hides("proc /proc proc rw,hidepid=2,gid=4 0 0\n"));
	assert_false(hides("proc /proc proc rw,hidepid=0 0 0\n"));
	assert_false(hides("proc /proc proc rw,hidepid=off 0 0\n"));
	/* Another one's, and what only has the name. */
	assert_false(hides("proc /jail/proc proc rw,hidepid=2 0 0\n"));
	assert_false(hides("proc /proc fuse rw,hidepid=2 0 0\n"));
	assert_false(hides("hidepid=2 /proc proc rw 0 0\nproc /proc proc"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(processes_that_are_hidden),
		cmocka_unit_test(maps_line_of_a_file),
		cmocka_unit_test(maps_line_without_path),
		cmocka_unit_test(maps_line_with_blanks_in_the_path),
		cmocka_unit_test(maps_line_refuses_what_the_kernel_does_not_write),
		cmocka_unit_test(stat_line_with_a_hostile_name),
		cmocka_unit_test(stat_line_refuses_garbage),
		cmocka_unit_test(stat_of_this_process),
		cmocka_unit_test(status_text),
		cmocka_unit_test(cgroup_text),
		cmocka_unit_test(status_of_this_process),
		cmocka_unit_test(exe_and_cmdline_of_this_process),
		cmocka_unit_test(memory_of_this_process),
		cmocka_unit_test(a_process_that_is_not_there),
		cmocka_unit_test(whether_a_process_is_there),
		cmocka_unit_test(every_process_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
