// SPDX-License-Identifier: Apache-2.0
/* What the kernel is asked for when a command is started and ended, on both sides of its fork. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/drive/command.h"

#define PID 4711
/* Of the two pipes. */
#define GO_READ	     61
#define GO_WRITE     62
#define STATUS_READ  63
#define STATUS_WRITE 64
#define PIPES	     2

static struct {
	bool on;      /* else the kernel itself is asked */
	pid_t forked; /* what fork() says */
	unsigned int pipes, pipes_there;
	bool open[STATUS_WRITE + 1];
	int interrupted; /* so many reads yet */
	int read_error;
	const void *bytes; /* then it reads these */
	ssize_t byte_count;
	unsigned int reads;
	ssize_t written; /* what a write says */
	int word;	 /* what was written */
	char argv0[32];
	sigset_t mask;
	int exit_code;
	jmp_buf left;
	/* The parent's. */
	int status;
	int living_steps; /* so often it has not ended */
	unsigned int waits, kills, steps;
	uint64_t waited_usec;
} f;

/* --- in place of the kernel --- */

int pipe2(int fds[2], int flags)
{
	if (!f.on)
		return (int)syscall(SYS_pipe2, fds, flags);
	assert_int_equal(flags, O_CLOEXEC);
	if (f.pipes == f.pipes_there) {
		errno = EMFILE;
		return -1;
	}
	fds[0] = f.pipes ? STATUS_READ : GO_READ;
	fds[1] = f.pipes ? STATUS_WRITE : GO_WRITE;
	f.open[fds[0]] = f.open[fds[1]] = true;
	f.pipes++;
	return 0;
}

int close(int fd)
{
	if (!f.on)
		return (int)syscall(SYS_close, fd);
	assert_in_range(fd, GO_READ, STATUS_WRITE);
	assert_true(f.open[fd]);
	f.open[fd] = false;
	errno = EIO; /* says nothing of what was before */
	return 0;
}

pid_t fork(void)
{
	errno = EAGAIN;
	return f.forked;
}

ssize_t read(int fd, void *to, size_t len)
{
	if (!f.on)
		return syscall(SYS_read, fd, to, len);
	assert_int_equal(fd, f.forked ? STATUS_READ : GO_READ);
	f.reads++;
	if (f.interrupted) {
		f.interrupted--;
		errno = EINTR;
		return -1;
	}
	if (f.read_error) {
		errno = f.read_error;
		return -1;
	}
	assert_true(f.byte_count <= (ssize_t)len);
	memcpy(to, f.bytes, (size_t)f.byte_count);
	return f.byte_count; /* errno stays as it was */
}

ssize_t write(int fd, const void *from, size_t len)
{
	if (!f.on)
		return syscall(SYS_write, fd, from, len);
	assert_int_equal(fd, f.forked ? GO_WRITE : STATUS_WRITE);
	assert_int_equal(len, f.forked ? 1 : sizeof(f.word));
	memcpy(&f.word, from, len);
	errno = EPIPE;
	return f.written;
}

int sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
	assert_int_equal(how, SIG_SETMASK);
	assert_null(old);
	f.mask = *set;
	return 0;
}

int execvp(const char *file, char *const argv[])
{
	assert_ptr_equal(file, argv[0]);
	snprintf(f.argv0, sizeof(f.argv0), "%s", file);
	errno = ENOENT;
	return -1;
}

/* gcov's own wish before an _exit() is a macro of this name. */
#undef _exit

void _exit(int code)
{
	f.exit_code = code;
	longjmp(f.left, 1);
}

pid_t waitpid(pid_t pid, int *ret_status, int options)
{
	assert_int_equal(pid, PID);
	assert_int_equal(options, WNOHANG);
	f.waits++;
	if (f.living_steps) {
		f.living_steps--;
		return 0;
	}
	*ret_status = f.status;
	return PID;
}

int kill(pid_t pid, int signo)
{
	assert_int_equal(pid, PID);
	assert_int_equal(signo, SIGTERM);
	f.kills++;
	return 0;
}

int usleep(useconds_t usec)
{
	f.steps++;
	f.waited_usec += usec;
	return 0;
}

/* --- */

static char name[] = "program";
static char *const argv[] = { name, NULL };

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.pipes_there = PIPES;
	f.forked = PID;
	f.written = 1;
	sigfillset(&f.mask);
	return 0;
}

static unsigned int count_open(void)
{
	unsigned int count = 0;

	for (int fd = GO_READ; fd <= STATUS_WRITE; fd++)
		count += f.open[fd];
	return count;
}

static int prepare(struct command *command, struct err *err)
{
	int r;

	f.on = true;
	r = command_prepare(command, argv, err);
	f.on = false;
	return r;
}

static int go(struct command *command, struct err *err)
{
	int r;

	f.on = true;
	r = command_go(command, "program", err);
	f.on = false;
	return r;
}

static void release(struct command *command)
{
	f.on = true;
	command_release(command);
	f.on = false;
}

/* --- the child --- */

/* Its exit code; it waits for one of BYTES. */
static int child(const void *bytes, ssize_t count)
{
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	f.pipes = f.reads = 0;
	memset(f.open, 0, sizeof(f.open));
	f.argv0[0] = '\0';
	f.forked = 0;
	f.bytes = bytes;
	f.byte_count = count;
	if (!setjmp(f.left))
		prepare(&command, &err);
	f.on = false;
	/* The parent's ends are the parent's alone: else the end of a pipe never comes. */
	assert_true(f.open[GO_READ] && f.open[STATUS_WRITE]);
	assert_false(f.open[GO_WRITE] || f.open[STATUS_READ]);
	return f.exit_code;
}

static void it_waits_for_the_word(void **state)
{
	(void)state;
	f.written = sizeof(f.word);
	f.interrupted = 2;
	assert_int_equal(child("g", 1), 127);
	assert_int_equal(f.reads, 3);
	assert_string_equal(f.argv0, "program");
	assert_int_equal(f.word, ENOENT); /* why there is no program */
	for (int signo = 1; signo < 32; signo++)
		assert_int_equal(sigismember(&f.mask, signo), 0);
	f.written = -1; /* nobody listens */
	assert_int_equal(child("g", 1), 126);
}

static void without_the_word_there_is_no_program(void **state)
{
	(void)state;
	assert_int_equal(child("", 0), 127);
	assert_int_equal(f.reads, 1);
	assert_string_equal(f.argv0, "");
	/* errno is still that of the interruption. */
	f.interrupted = 1;
	assert_int_equal(child("", 0), 127);
	assert_int_equal(f.reads, 2);
	assert_string_equal(f.argv0, "");
	f.read_error = EIO;
	assert_int_equal(child("g", 1), 127);
	assert_int_equal(f.reads, 1);
	assert_string_equal(f.argv0, "");
}

/* --- the parent --- */

static void it_is_prepared_and_goes(void **state)
{
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(prepare(&command, &err), 0);
	assert_int_equal(command.pid, PID);
	assert_int_equal(command.go_fd, GO_WRITE);
	assert_int_equal(command.status_fd, STATUS_READ);
	assert_false(f.open[GO_READ] || f.open[STATUS_WRITE]);
	f.interrupted = 2;
	f.bytes = "";
	assert_int_equal(go(&command, &err), 0);
	assert_int_equal(f.word & 0xff, 'g');
	assert_int_equal(f.reads, 3);
	assert_int_equal(err.code, 0);
	/* Both are closed once: the numbers may be another file's by now. */
	assert_int_equal(count_open(), 0);
	release(&command);
	assert_int_equal(command.pid, 0);
}

static void it_cannot_be_prepared(void **state)
{
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	(void)state;
	f.pipes_there = 0;
	assert_int_equal(prepare(&command, &err), -EMFILE);
	f.pipes_there = 1;
	assert_int_equal(prepare(&command, &err), -EMFILE);
	assert_int_equal(count_open(), 0);
	assert_int_equal(command.pid, 0);
	/* No process: none is ended later. */
	f.pipes = 0;
	f.pipes_there = PIPES;
	f.forked = -1;
	assert_int_equal(prepare(&command, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "cannot start 'program'"));
	assert_int_equal(command.pid, 0);
	release(&command);
	assert_int_equal(f.waits, 0);
	assert_int_equal(f.kills, 0);
	assert_int_equal(count_open(), 0);
}

static void it_does_not_go(void **state)
{
	const int why = EACCES;
	struct command command = COMMAND_INIT;
	struct err err = { 0 };

	(void)state;
	prepare(&command, &err);
	f.written = -1; /* it is dead already */
	assert_int_equal(go(&command, &err), -EPIPE);
	assert_non_null(strstr(err.text, "cannot start 'program'"));
	assert_int_equal(f.reads, 0);
	f.written = 1;
	f.bytes = &why;
	f.byte_count = sizeof(why);
	assert_int_equal(go(&command, &err), -EACCES);
	assert_non_null(strstr(err.text, "cannot run 'program'"));
	assert_int_equal(count_open(), 0);
}

static void its_end_is_told_once(void **state)
{
	struct command none = COMMAND_INIT, command = { PID, GO_WRITE, STATUS_READ, false, 0 };

	(void)state;
	f.status = 0x300;
	f.living_steps = 1;
	assert_false(command_reap(&none));
	assert_int_equal(f.waits, 0);
	assert_false(command_reap(&command));
	assert_true(command_reap(&command));
	assert_int_equal(command.exit_status, 0x300);
	assert_int_equal(f.waits, 2);
	/* The pid may be another process's by now. */
	assert_true(command_reap(&command));
	assert_int_equal(f.waits, 2);
	f.open[GO_WRITE] = f.open[STATUS_READ] = true;
	release(&command);
	assert_int_equal(f.kills, 0);
	assert_int_equal(f.steps, 0);
	assert_int_equal(count_open(), 0);
}

/* It ends in a moment, or not within two seconds. */
static void it_is_told_to_end(void **state)
{
	struct command command = { PID, -1, -1, false, 0 };

	(void)state;
	f.living_steps = 3;
	release(&command);
	assert_int_equal(f.kills, 1);
	assert_int_equal(f.steps, 2);
	assert_int_equal(command.pid, 0);
	assert_int_equal(command.go_fd, -1);
	assert_int_equal(command.status_fd, -1);
	f.steps = 0;
	f.waited_usec = 0;
	f.living_steps = 1000000;
	command.pid = PID;
	release(&command);
	assert_int_equal(f.kills, 2);
	assert_int_equal(f.waited_usec, 2000000);
	assert_int_equal(command.pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(it_is_prepared_and_goes, set_up),
		cmocka_unit_test_setup(it_cannot_be_prepared, set_up),
		cmocka_unit_test_setup(it_does_not_go, set_up),
		cmocka_unit_test_setup(its_end_is_told_once, set_up),
		cmocka_unit_test_setup(it_is_told_to_end, set_up),
		/* Last: what gcov counts is written when they leave, and not again. */
		cmocka_unit_test_setup(it_waits_for_the_word, set_up),
		cmocka_unit_test_setup(without_the_word_there_is_no_program, set_up),
	};

	return cmocka_run_group_tests_name("command_calls", tests, NULL, NULL);
}
