// SPDX-License-Identifier: Apache-2.0
/* Opening the connection to a listener: when it is woken, by what file, and who may answer. */
#include "jailed_child.h"

#include "jvm/attach/attach_connect.h"

#define NOBODY 65534U

static int try_connect(const struct jail *jail, uint64_t within_ns, int *ret_fd, struct err *err)
{
	*ret_fd = -1;
	return attach_connect(&jail->target, clock_now_ns() + within_ns, ret_fd, err);
}

static void expect_connected(const struct jail *jail)
{
	struct sockaddr_un peer = { 0 };
	socklen_t len = sizeof(peer);
	struct err err;
	int fd;

	if (try_connect(jail, 10 * NSEC_PER_SEC, &fd, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(fd >= 0);
	assert_int_equal(getpeername(fd, (struct sockaddr *)&peer, &len), 0);
	assert_non_null(strstr(peer.sun_path, "/tmp/.java_pid"));
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
}

/* Looking makes no file and wakes nobody. */
static int look(const struct jail *jail, struct err *err)
{
	unsigned int quits = jail->shared->quits;
	int r = attach_connect_check(&jail->target, clock_now_ns() + 10 * NSEC_PER_SEC, err);

	assert_int_equal(jail->shared->quits, quits);
	assert_int_not_equal(access(jail_pid_path(jail, "/tmp/.attach_pid"), F_OK), 0);
	assert_int_not_equal(access(jail_pid_path(jail, "/cwd/.attach_pid"), F_OK), 0);
	return r;
}

static void expect_refused(const struct jail *jail, uint64_t within_ns, int code, const char *why)
{
	struct err err;
	int fd;

	assert_int_equal(try_connect(jail, within_ns, &fd, &err), code);
	assert_int_equal(fd, -1);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

/* Whatever came of it, the file that asks is gone. */
static void expect_no_trigger(const struct jail *jail)
{
	assert_int_not_equal(access(jail_pid_path(jail, "/tmp/.attach_pid"), F_OK), 0);
	assert_int_not_equal(access(jail_pid_path(jail, "/cwd/.attach_pid"), F_OK), 0);
}

static void make_file(const char *path)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void a_listener_that_sleeps(void **state)
{
	struct jail *jail = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_LISTENS, 0);
	assert_int_equal(look(jail, &err), 0);
	expect_connected(jail);
	assert_int_equal(jail->shared->quits, 1);
	assert_int_equal(jail->shared->saw_trigger, 1);
	expect_no_trigger(jail);
	/* It listens now: no second signal. */
	expect_connected(jail);
	assert_int_equal(jail->shared->quits, 1);
}

static void a_listener_of_another_user(void **state)
{
	struct jail *jail = *state;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_LISTENS, NOBODY);
	assert_int_equal(jail->target.uid, NOBODY);
	assert_int_equal(jail->target.gid, NOBODY);
	expect_connected(jail);
	expect_no_trigger(jail);
}

/* A socket that a dead JVM of the same pid left. */
static void a_socket_without_listener(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct jail *jail = *state;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_LISTENS, 0);
	strcpy(address.sun_path, jail_pid_path(jail, "/tmp/.java_pid"));
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	expect_connected(jail);
	assert_int_equal(jail->shared->quits, 1);
}

/* A file that another client left, and a name in /tmp that is no file: then in the working directory. */
static void triggers_that_are_there(void **state)
{
	struct jail *jail = *state;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_LISTENS, 0);
	make_file(jail_pid_path(jail, "/tmp/.attach_pid"));
	expect_connected(jail);
	assert_int_equal(jail->shared->saw_trigger, 1);
	expect_no_trigger(jail);
}

static void a_trigger_in_the_working_directory(void **state)
{
	struct jail *jail = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	/* The sticky /tmp is not this user's: nobody but root may write to it now. */
	assert_int_equal(chmod(jail_path(jail, "/tmp"), 0755), 0);
	jail_start(jail, QUIT_IS_IGNORED, NOBODY);
	assert_int_equal(look(jail, &err), 0);
	expect_refused(jail, 60 * NSEC_PER_MSEC, -ETIMEDOUT, "in time");
	assert_int_equal(jail->shared->quits, 1);
	assert_int_equal(jail->shared->saw_trigger, 2);
	expect_no_trigger(jail);
}

/* What asks in vain goes from both places, whoever left it there. */
static void triggers_of_a_child_that_was_killed(void **state)
{
	struct jail *jail = *state;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	make_file(jail_pid_path(jail, "/tmp/.attach_pid"));
	make_file(jail_pid_path(jail, "/cwd/.attach_pid"));
	expect_refused(jail, 60 * NSEC_PER_MSEC, -ETIMEDOUT, "in time");
	expect_no_trigger(jail);
}

static void no_place_for_a_trigger(void **state)
{
	struct jail *jail = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	assert_int_equal(chmod(jail_path(jail, "/tmp"), 0755), 0);
	assert_int_equal(chmod(jail_path(jail, "/cwd"), 0755), 0);
	jail_start(jail, QUIT_LISTENS, NOBODY);
	assert_int_equal(look(jail, &err), -EACCES);
	assert_non_null(strstr(err.text, "cannot create .attach_pid"));
	expect_refused(jail, NSEC_PER_SEC, -EACCES, "cannot create .attach_pid");
	assert_int_equal(jail->shared->quits, 0);
}

/* Somebody else's file is not taken for ours, and not removed. */
static void a_foreign_trigger(void **state)
{
	struct jail *jail = *state;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, NOBODY);
	make_file(jail_pid_path(jail, "/tmp/.attach_pid"));
	expect_refused(jail, 60 * NSEC_PER_MSEC, -ETIMEDOUT, "in time");
	assert_int_equal(access(jail_pid_path(jail, "/tmp/.attach_pid"), F_OK), 0);
	assert_int_not_equal(access(jail_pid_path(jail, "/cwd/.attach_pid"), F_OK), 0);
	assert_int_equal(jail->shared->quits, 1);
}

static void sigquit_would_kill(void **state)
{
	struct jail *jail = *state;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_KILLS, 0);
	assert_false(jail->target.catches_quit);
	expect_refused(jail, NSEC_PER_SEC, -EOPNOTSUPP, "would kill it");
	/* It had a handler when it was looked at, and has none any more. */
	jail->target.catches_quit = true;
	expect_refused(jail, NSEC_PER_SEC, -EOPNOTSUPP, "would kill it");
	expect_no_trigger(jail);
	assert_int_equal(waitpid(jail->child, NULL, WNOHANG), 0);
}

static void nobody_answers(void **state)
{
	struct jail *jail = *state;
	struct err err;
	uint64_t begin;
	int fd;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	begin = clock_now_ns();
	assert_int_equal(try_connect(jail, 60 * NSEC_PER_MSEC, &fd, &err), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin >= 60 * NSEC_PER_MSEC);
	assert_non_null(strstr(err.hint, "stopped, frozen"));
	assert_int_equal(jail->shared->quits, 1);
	expect_no_trigger(jail);
}

static void another_process_listens(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct jail *jail = *state;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_LISTENS, 0);
	strcpy(address.sun_path, jail_pid_path(jail, "/tmp/.java_pid"));
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 5), 0);
	expect_refused(jail, NSEC_PER_SEC, -EPERM, "another process's socket");
	assert_int_equal(jail->shared->quits, 0);
	close(fd);
}

/* A file of that name, and a socket of another user's. */
static void what_is_no_socket_of_its_user(void **state)
{
	struct jail *jail = *state;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_BEFORE, 0);
	assert_int_equal(attach_target_find_socket(&jail->target), 0);
	assert_int_equal(chown(jail_pid_path(jail, "/tmp/.java_pid"), NOBODY, NOBODY), 0);
	assert_int_equal(attach_target_find_socket(&jail->target), -EPERM);
	expect_refused(jail, NSEC_PER_SEC, -EPERM, "is not a socket of its user 0");
	assert_int_equal(unlink(jail_pid_path(jail, "/tmp/.java_pid")), 0);
	assert_int_equal(attach_target_find_socket(&jail->target), -ENOENT);
	make_file(jail_pid_path(jail, "/tmp/.java_pid"));
	expect_refused(jail, NSEC_PER_SEC, -EPERM, "is not a socket of its user 0");
}

/* --- the target itself --- */

static void what_a_target_is(void **state)
{
	struct jail *jail = *state;
	int fd;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	assert_int_equal(jail->target.pid, jail->child);
	assert_int_equal(jail->target.ns_pid, jail->child);
	assert_true(jail->target.catches_quit);
	assert_true(attach_target_catches_quit(&jail->target));
	assert_true(jail->target.is_copy);
	make_file(jail_path(jail, "/cwd/mark"));
	fd = attach_target_open_path(&jail->target, "/cwd/mark", O_RDONLY);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	/* Links stay inside. */
	assert_int_equal(symlink("/../../etc/passwd", jail_path(jail, "/cwd/out")), 0);
	assert_int_equal(attach_target_open_path(&jail->target, "/cwd/out", O_RDONLY), -ENOENT);
}

static void expect_no_target(uint32_t pid, int code, const char *why, const char *hint)
{
	struct attach_target target = ATTACH_TARGET_INIT;
	struct err err;

	assert_int_equal(attach_target_open(pid, &target, &err), code);
	assert_int_equal(target.pidfd, -1);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
	assert_int_equal(strncmp(err.hint, hint, strlen(hint)), 0);
}

static void processes_that_cannot_answer(void **state)
{
	struct jail *jail = *state;
	siginfo_t info;

	if (geteuid() != 0)
		skip();
	expect_no_target(0x7ffffff0, -ESRCH, "there is no process", "");
	jail_start(jail, QUIT_IS_IGNORED, 0);
	kill(jail->child, SIGSTOP);
	waitpid(jail->child, NULL, WUNTRACED);
	expect_no_target((uint32_t)jail->child, -EAGAIN, "is stopped, so", "kill -CONT");
	kill(jail->child, SIGKILL);
	waitid(P_PID, (id_t)jail->child, &info, WEXITED | WNOWAIT);
	expect_no_target((uint32_t)jail->child, -ESRCH, "there is no process", "");
}

static void a_root_without_tmp(void **state)
{
	struct jail *jail = *state;
	struct attach_target target = ATTACH_TARGET_INIT;
	struct err err;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	assert_int_equal(rmdir(jail_path(jail, "/tmp")), 0);
	assert_int_equal(attach_target_open((uint32_t)jail->child, &target, &err), 0);
	assert_int_equal(attach_target_enter(&target, &err), -ENOENT);
	attach_target_close(&target);
	assert_non_null(strstr(err.text, "cannot open /tmp of process"));
}

/* What has the pid when its directories are opened may be another process. */
static void one_that_has_ended(void **state)
{
	struct jail *jail = *state;
	struct attach_target target = ATTACH_TARGET_INIT;
	struct err err;
	siginfo_t info;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	assert_int_equal(attach_target_open((uint32_t)getpid(), &target, &err), 0);
	close(target.pidfd);
	target.pidfd = fcntl(jail->target.pidfd, F_DUPFD_CLOEXEC, 0);
	assert_int_equal(attach_target_enter(&target, &err), 0);
	kill(jail->child, SIGKILL);
	waitid(P_PID, (id_t)jail->child, &info, WEXITED | WNOWAIT);
	assert_int_equal(attach_target_enter(&target, &err), -ESRCH);
	attach_target_close(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		JAIL_TEST(triggers_of_a_child_that_was_killed),
		JAIL_TEST(a_listener_that_sleeps),
		JAIL_TEST(a_listener_of_another_user),
		JAIL_TEST(a_socket_without_listener),
		JAIL_TEST(triggers_that_are_there),
		JAIL_TEST(a_trigger_in_the_working_directory),
		JAIL_TEST(no_place_for_a_trigger),
		JAIL_TEST(a_foreign_trigger),
		JAIL_TEST(sigquit_would_kill),
		JAIL_TEST(nobody_answers),
		JAIL_TEST(another_process_listens),
		JAIL_TEST(what_is_no_socket_of_its_user),
		JAIL_TEST(what_a_target_is),
		JAIL_TEST(processes_that_cannot_answer),
		JAIL_TEST(a_root_without_tmp),
		JAIL_TEST(one_that_has_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
