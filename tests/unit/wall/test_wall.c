// SPDX-License-Identifier: Apache-2.0
/* Calls through the wall: what they bring back, and that nobody waits for a broker that does not answer. */
#include "wall_world.h"

static void what_calls_bring(void **state)
{
	static const char text[] = "some words of ours";
	const uint32_t pid = (uint32_t)getpid();
	const struct wall_piece pieces[] = { { (uintptr_t)text + 5, 5 },
					     { (uintptr_t)text, 4 },
					     { 16, 8 } };
	char copy[64] = "", path[] = "/tmp/hostprof-wall-XXXXXX", link[64];
	_cleanup_close_ int file = mkstemp(path), fd = -1, memory = -1, again = -1;
	struct foreign_file found;

	(void)state;
	assert_int_equal(read_own(text, copy, sizeof(text)), sizeof(text));
	assert_string_equal(copy, text);
	/* Up to the piece that is not there. */
	assert_int_equal(wall_read_memory(pid, pieces, 3, copy), 9);
	assert_memory_equal(copy, "wordssome", 9);
	assert_int_equal(wall_read_memory(pid, pieces + 2, 1, copy), -EFAULT);
	assert_int_equal(wall_read_memory(0x7ffffffe, pieces, 1, copy), -ESRCH);
	assert_int_equal(wall_read_memory(pid, pieces, WALL_MAX_PIECES + 1, copy), -E2BIG);
	assert_int_equal(wall_read_file(pid, "/proc/self/comm", 0, copy, sizeof(copy)) > 0, 1);
	assert_int_equal(wall_read_file(pid, "/proc/no/such", 0, copy, sizeof(copy)), -ENOENT);

	assert_int_equal(write(file, "text", 4), 4);
	fd = wall_open(pid, path);
	assert_int_equal(pread(fd, copy, sizeof(copy), 0), 4);
	assert_int_equal(wall_find(pid, path, &found), 0);
	assert_int_equal(found.kind, FOREIGN_LOCAL);
	assert_int_equal(found.id.size, 4);
	assert_int_equal(read(found.fd, copy, 1), -1); /* nothing was opened */
	close(found.fd);
	unlink(path);
	assert_int_equal(wall_find(pid, path, &found), -ENOENT);
	assert_int_equal(wall_open(pid, "/proc/self/maps"), -EINVAL);
	assert_int_equal(wall_open(pid, "/dev/null"), -EINVAL);

	assert_int_equal(wall_read_link(pid, "/proc/self/no/such", copy, sizeof(copy)), -ENOENT);
	snprintf(link, sizeof(link), "/proc/%u/ns/time", pid);
	assert_int_equal(wall_read_link(pid, link, copy, 6), 0);
	assert_string_equal(copy, "time:");

	assert_int_equal(wall_open_memfd(pid, "wall-test"), -ENODATA);
	memory = memfd_create("wall-test", MFD_CLOEXEC);
	assert_int_equal(write(memory, "memory", 6), 6);
	again = wall_open_memfd(pid, "wall-test");
	assert_int_equal(pread(again, copy, sizeof(copy), 0), 6);
	assert_int_equal(pwrite(again, "M", 1, 0), 1);
}

/* This one, another one with other words at the same place, and one that has gone. */
static void several_processes(void **state)
{
	static char text[] = "some words of ours";
	const struct wall_piece pieces[] = { { (uintptr_t)text, 4 },
					     { (uintptr_t)text + 5, 5 },
					     { (uintptr_t)text, 4 },
					     { (uintptr_t)text, 6 },
					     { (uintptr_t)text + 10, 2 } };
	const struct wall_piece missing[] = { { (uintptr_t)text, 4 },
					      { 16, 8 },
					      { (uintptr_t)text, 6 } };
	const struct wall_piece long_one = { (uintptr_t)text, WALL_DATA_BYTES + 1 };
	struct wall_part parts[WALL_MAX_PARTS + 1] = { { .count = 2 },
						       { 0x7ffffffe, 1, 0 },
						       { .count = 2 } };
	char data[64] = "";
	pid_t other = fork();

	(void)state;
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		memcpy(text, "SOME", 4);
		pause();
		_exit(0);
	}
	parts[0].pid = (uint32_t)getpid();
	parts[2].pid = (uint32_t)other;
	while (wall_read_memory(parts[2].pid, pieces, 1, data) != 4 || data[0] != 'S')
		usleep(1000);
	assert_int_equal(wall_read_parts(parts, 3, pieces, data), 0);
	assert_int_equal(parts[0].result, 9);
	assert_memory_equal(data, "somewords", 9);
	assert_int_equal(parts[1].result, -ESRCH);
	assert_int_equal(parts[2].result, 8);
	assert_memory_equal(data + 13, "SOME w o", 8);
	/* What is missing is missing of one of them. */
	parts[1] = (struct wall_part){ parts[2].pid, 1, 0 };
	memset(data, 0, sizeof(data));
	assert_int_equal(wall_read_parts(parts, 2, missing, data), 0);
	assert_int_equal(parts[0].result, 4);
	assert_int_equal(parts[1].result, 6);
	assert_memory_equal(data, "some\0\0\0\0\0\0\0\0SOME w", 18);
	assert_int_equal(wall_read_parts(parts, 1, missing + 1, data), 0);
	assert_int_equal(parts[0].result, -EFAULT);
	parts[0].count = 1;
	assert_int_equal(wall_read_parts(parts, 1, &long_one, data), -E2BIG);
	assert_int_equal(wall_read_parts(parts, WALL_MAX_PARTS + 1, pieces, data), -E2BIG);
	parts[0].count = WALL_MAX_PIECES;
	assert_int_equal(wall_read_parts(parts, 2, pieces, data), -E2BIG);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* What a server has is not held open, but copied, and nobody changes the copy. */
static void served_files_are_copied(void **state)
{
	char path[] = "/tmp/hostprof-wall-XXXXXX", copy[8];
	_cleanup_close_ int file = mkstemp(path), fd = -1;
	struct foreign_file found;

	(void)state;
	assert_int_equal(write(file, "text", 4), 4);
	assert_int_equal(wall_find(0, path, &found), 0);
	found.kind = FOREIGN_SERVED;
	fd = wall_reopen(0, &found);
	assert_int_equal(pread(fd, copy, sizeof(copy), 0), 4);
	assert_memory_equal(copy, "text", 4);
	assert_int_equal(pwrite(fd, "T", 1, 0), -1);
	assert_int_equal(ftruncate(file, (off_t)FOREIGN_FILE_MAX_COPY + 1), 0);
	assert_int_equal(wall_reopen(0, &found), -E2BIG);
	close(found.fd);
	unlink(path);
}

/* Who records may not read each file, and his broker may. */
static void what_we_may_not_read(void **state)
{
	char path[] = "/tmp/hostprof-wall-XXXXXX", copy[8];
	_cleanup_close_ int file = mkstemp(path), fd = -1;

	(void)state;
	if (!(rights_permitted() & RIGHT(CAP_DAC_READ_SEARCH)) || fchown(file, 4711, 4711) < 0) {
		unlink(path);
		skip();
	}
	assert_int_equal(write(file, "text", 4), 4);
	rights_use(0);
	assert_int_equal(open(path, O_RDONLY | O_CLOEXEC), -1);
	fd = wall_open(0, path);
	rights_use(rights_permitted());
	assert_int_equal(pread(fd, copy, sizeof(copy), 0), 4);
	unlink(path);
}

/* A child in a user namespace of its own, that waits until it is killed. */
static pid_t child_elsewhere(void)
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		if (unshare(CLONE_NEWUSER) == 0 && write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1) {
		waitpid(child, NULL, 0);
		child = -1;
	}
	close(ready[0]);
	return child;
}

/* In the mount namespace of a process that ends. False: it cannot be done here. */
static bool mount_overlay(const char *dir)
{
	char options[256], path[128];

	for (char name = 'a'; name <= 'c'; name++) {
		snprintf(path, sizeof(path), "%s/%c", dir, name);
		if (mkdir(path, 0755) < 0)
			return false;
	}
	snprintf(path, sizeof(path), "%s/a/file", dir);
	close(open(path, O_CREAT | O_WRONLY, 0644));
	snprintf(options, sizeof(options), "lowerdir=%s/a:%s/b", dir, dir);
	snprintf(path, sizeof(path), "%s/c", dir);
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", path, "overlay", 0, options) == 0;
}

enum { SAME = 0, DIFFERS = 1, CANNOT = 77 };

static int look_at_overlay(const char *dir)
{
	struct foreign_file ours, theirs;
	char path[128];
	pid_t child;
	int r;

	if (!mount_overlay(dir))
		return CANNOT;
	child = child_elsewhere();
	if (child < 0)
		return CANNOT;
	snprintf(path, sizeof(path), "%s/c/file", dir);
	r = wall_find((uint32_t)getpid(), path, &ours) == 0 && ours.kind == FOREIGN_LOCAL &&
			    wall_find((uint32_t)child, path, &theirs) == 0 &&
			    theirs.kind == FOREIGN_SERVED
		    ? SAME
		    : DIFFERS;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return r;
}

/* Who may mount what he likes may have put a server's files below an overlay. */
static void overlays_of_others_are_copied(void **state)
{
	char dir[] = "/tmp/hostprof-wall-XXXXXX", path[128];
	int status;
	pid_t child;

	(void)state;
	assert_non_null(mkdtemp(dir));
	child = fork();
	if (child == 0)
		_exit(look_at_overlay(dir));
	waitpid(child, &status, 0);
	snprintf(path, sizeof(path), "%s/a/file", dir);
	unlink(path);
	for (char name = 'a'; name <= 'c'; name++) {
		snprintf(path, sizeof(path), "%s/%c", dir, name);
		rmdir(path);
	}
	rmdir(dir);
	if (WEXITSTATUS(status) == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

/* A broker holds nothing of ours: no file, no right that it does not need. */
static _Atomic bool may_go;

static void *waits_with_a_broker(void *data)
{
	(void)read_own("x", data, 1);
	while (!atomic_load(&may_go))
		usleep(2000);
	return NULL;
}

static int policy_of(pid_t pid)
{
	return sched_getscheduler(pid) & ~SCHED_RESET_ON_FORK;
}

/* Who goes first waits for a process that is made for him: the nursery goes first, too. Nobody else gains by it. */
static void who_goes_first_does_not_wait_for_the_nursery(void **state)
{
	const struct sched_param first = { .sched_priority = 1 }, usual = { .sched_priority = 0 };
	pthread_t thread;
	pid_t pids[4], ours;
	struct err err;
	char byte, other;

	(void)state;
	if (sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &first) < 0)
		skip(); /* needs root */
	assert_int_equal(wall_begin(NULL, NULL, &err), 0);
	assert_int_equal(read_own("x", &byte, 1), 1);
	expect_brokers(pids, 1);
	ours = pids[0];
	pthread_create(&thread, NULL, waits_with_a_broker, &other);
	expect_brokers(pids, 2);
	assert_int_equal(policy_of(ours), SCHED_RR);
	assert_int_equal(policy_of(find_parent(ours)), SCHED_RR);
	assert_int_equal(policy_of(find_parent(find_parent(ours))), SCHED_RR);
	assert_int_equal(policy_of(pids[0] == ours ? pids[1] : pids[0]), SCHED_OTHER);
	atomic_store(&may_go, true);
	pthread_join(thread, NULL);
	sched_setscheduler(0, SCHED_OTHER, &usual);
	wall_end();
}

static void what_a_broker_has(void **state)
{
	_cleanup_close_ int ours = open("/dev/null", O_RDONLY); /* not close-on-exec */
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	unsigned long long effective = 0;
	char path[64], byte;
	pid_t pids[4];

	(void)state;
	assert_true(ours >= 0);
	read_own("x", &byte, 1);
	expect_brokers(pids, 1);
	snprintf(path, sizeof(path), "/proc/%d/status", pids[0]);
	assert_int_equal(file_read(path, 8192, &text), 0);
	sscanf(strstr(strbuf_str(&text), "CapPrm:"), "CapPrm: %llx", &effective);
	/* CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE */
	assert_int_equal(effective & ~(1ULL << 2 | 1ULL << 19 | 1ULL << 40), 0);
	assert_non_null(strstr(strbuf_str(&text), "NoNewPrivs:\t1"));
	assert_non_null(strstr(strbuf_str(&text), "Seccomp:\t2"));
	/* Three of /dev/null, the socket, and the calls, or one more of /dev/null. */
	assert_int_equal(count_fds(pids[0]), 5);
	assert_int_equal(count_fds(find_parent(pids[0])), 5);
}

static void expect_end(pid_t pid)
{
	uint64_t end_ns = clock_now_ns() + 20 * NSEC_PER_SEC;

	while (kill(pid, 0) == 0 && clock_now_ns() < end_ns)
		usleep(2000);
	assert_int_equal(kill(pid, 0), -1);
}

static void none_is_left_at_the_end(void **state)
{
	struct err err;
	pid_t pids[4], nursery;
	char byte;

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(wall_begin(NULL, NULL, &err), 0);
		assert_int_equal(read_own("x", &byte, 1), 1);
		expect_brokers(pids, 1);
		nursery = find_parent(pids[0]);
		wall_end();
		expect_end(pids[0]);
		expect_end(nursery);
		assert_int_equal(read_own("x", &byte, 1), 1); /* in place */
	}
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_calls_bring),
		cmocka_unit_test_setup_teardown(what_calls_bring, with_wall, without),
		cmocka_unit_test(several_processes),
		cmocka_unit_test_setup_teardown(several_processes, with_wall, without),
		cmocka_unit_test(served_files_are_copied),
		cmocka_unit_test_setup_teardown(served_files_are_copied, with_wall, without),
		cmocka_unit_test_setup_teardown(what_we_may_not_read, with_wall, without),
		cmocka_unit_test(overlays_of_others_are_copied),
		cmocka_unit_test_setup_teardown(what_a_broker_has, with_wall, without),
		cmocka_unit_test(who_goes_first_does_not_wait_for_the_nursery),
		cmocka_unit_test(none_is_left_at_the_end),
	};

	return cmocka_run_group_tests_name("wall", tests, NULL, NULL);
}
