/* SPDX-License-Identifier: Apache-2.0 */
/* A process that stands in for a JVM that is attached to, in a root directory of its own. Needs root. */
#ifndef HOSTPROF_TESTS_JAILED_CHILD_H
#define HOSTPROF_TESTS_JAILED_CHILD_H

#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "jvm/attach/attach_target.h"

/* What the child does when SIGQUIT comes. */
enum on_quit {
	QUIT_KILLS,
	QUIT_LISTENS,	 /* as HotSpot does, when it is asked to by a file */
	QUIT_IS_IGNORED, /* a handler that does nothing */
	QUIT_BEFORE,	 /* listens from the start */
};

/* Written by the child. */
struct jail_shared {
	int ready;
	int quits;
	int saw_trigger; /* in /tmp; 2: in the working directory */
};

struct jail {
	char dir[64];
	pid_t child; /* 0: none */
	struct jail_shared *shared;
	struct attach_target target;
};

static volatile sig_atomic_t jail_quits;

static inline void jail_note_quit(int signal)
{
	(void)signal;
	jail_quits++;
}

static inline void jail_listen(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.java_pid%d", getpid());
	unlink(address.sun_path);
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 || listen(fd, 5) < 0)
		_exit(2);
}

static inline void jail_answer_quit(struct jail_shared *shared, enum on_quit what)
{
	char name[64];

	shared->quits++;
	snprintf(name, sizeof(name), "/tmp/.attach_pid%d", getpid());
	if (access(name, F_OK) == 0)
		shared->saw_trigger = 1;
	else if (access(name + strlen("/tmp/"), F_OK) == 0)
		shared->saw_trigger = 2;
	if (shared->saw_trigger && what == QUIT_LISTENS)
		jail_listen();
}

static inline void jail_run(const struct jail *jail, enum on_quit what, uid_t uid)
{
	struct sigaction action = { .sa_handler = jail_note_quit };
	sigset_t quit, others;
	int seen = 0;

	if (chroot(jail->dir) < 0 || chdir("/cwd") < 0 || setgid(uid) < 0 || setuid(uid) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		_exit(1);
	sigemptyset(&quit);
	sigaddset(&quit, SIGQUIT);
	sigprocmask(SIG_BLOCK, &quit, &others);
	if (what != QUIT_KILLS)
		sigaction(SIGQUIT, &action, NULL);
	if (what == QUIT_BEFORE)
		jail_listen();
	__atomic_store_n(&jail->shared->ready, 1, __ATOMIC_SEQ_CST);
	for (;;) {
		sigsuspend(&others);
		for (; seen < jail_quits; seen++)
			jail_answer_quit(jail->shared, what);
	}
}

static inline void jail_start(struct jail *jail, enum on_quit what, uid_t uid)
{
	const struct timespec pause = { .tv_nsec = NSEC_PER_MSEC };
	struct err err;

	jail->child = fork();
	if (jail->child == 0)
		jail_run(jail, what, uid);
	for (int i = 0; i < 5000 && !__atomic_load_n(&jail->shared->ready, __ATOMIC_SEQ_CST); i++)
		nanosleep(&pause, NULL);
	assert_true(__atomic_load_n(&jail->shared->ready, __ATOMIC_SEQ_CST));
	if (attach_target_open((uint32_t)jail->child, &jail->target, &err) < 0 ||
	    attach_target_enter(&jail->target, &err) < 0)
		fail_msg("%s", err.text);
}

/* PATH of the jail as the host sees it. */
static inline const char *jail_path(const struct jail *jail, const char *path)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s%s", jail->dir, path);
	return text;
}

/* ".java_pid7" in a directory of the jail. */
static inline const char *jail_pid_path(const struct jail *jail, const char *prefix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%u", prefix, jail->target.ns_pid);
	return jail_path(jail, name);
}

static inline int jail_setup(void **state)
{
	static const char *const dirs[] = { "/tmp", "/var", "/var/tmp", "/cwd" };
	struct jail *jail = calloc(1, sizeof(*jail));

	*state = jail;
	jail->target = (struct attach_target)ATTACH_TARGET_INIT;
	strcpy(jail->dir, "/tmp/hostprof-jail-XXXXXX");
	jail->shared = mmap(NULL, sizeof(*jail->shared), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (jail->shared == MAP_FAILED || !mkdtemp(jail->dir) || chmod(jail->dir, 0755) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (mkdir(jail_path(jail, dirs[i]), 0755) < 0 ||
		    chmod(jail_path(jail, dirs[i]), 01777) < 0)
			return -1;
	return 0;
}

static inline int jail_teardown(void **state)
{
	struct jail *jail = *state;
	char command[128];

	attach_target_close(&jail->target);
	if (jail->child) {
		kill(jail->child, SIGKILL);
		waitpid(jail->child, NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -r '%s'", jail->dir);
	if (system(command) != 0)
		return -1;
	munmap(jail->shared, sizeof(*jail->shared));
	free(jail);
	return 0;
}

#define JAIL_TEST(fn) cmocka_unit_test_setup_teardown(fn, jail_setup, jail_teardown)

#endif
