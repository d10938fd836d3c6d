/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real JVM as a child of the test: it needs no right but its own user's. The JDK that the build
 * uses is started (JAVA_HOME_BUILD, else Debian's default); without one the test is skipped.
 */
#ifndef HOSTPROF_TESTS_LIVE_JVM_H
#define HOSTPROF_TESTS_LIVE_JVM_H

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "jvm/attach/attach.h"
#include "jvm/layout/vmstructs.h"

/* A program of every JDK that runs until it is ended. */
#define LIVE_MAIN      "sun.rmi.registry.RegistryImpl"
#define LIVE_SECONDS   30
#define LIVE_ATTACH_NS (20 * NSEC_PER_SEC)

static const char *live_home(void)
{
	const char *home = getenv("JAVA_HOME_BUILD");

	return home ? home : "/usr/lib/jvm/default-java";
}

static inline void live_pause(void)
{
	const struct timespec step = { 0, 5000000 };

	nanosleep(&step, NULL);
}

/* java with OPTION (may be NULL) as user UID; -1 when there is no JDK. It dies with the test. */
static pid_t live_start_as(uid_t uid, const char *option)
{
	char java[PATH_MAX];
	pid_t pid;

	snprintf(java, sizeof(java), "%s/bin/java", live_home());
	if (access(java, X_OK))
		return -1;
	pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_RDWR);

		if (uid != geteuid() && (setgroups(0, NULL) || setgid(uid) || setuid(uid)))
			_exit(126);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(null, 0);
		dup2(null, 1);
		dup2(null, 2);
		execl(java, java, option ? option : "-Dtest", "-Xmx64m", LIVE_MAIN, "0", NULL);
		_exit(127);
	}
	return pid;
}

static inline pid_t live_start(const char *option)
{
	return live_start_as(geteuid(), option);
}

static void live_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Its tables, as soon as they are there. */
static struct vmstructs *live_open(pid_t pid)
{
	uint64_t until = clock_now_ns() + LIVE_SECONDS * NSEC_PER_SEC;
	struct vmstructs *vs = NULL;
	int r;

	do {
		struct err err = { 0 };

		live_pause();
		r = vmstructs_open(NULL, (uint32_t)pid, NULL, &vs, &err);
	} while (r && clock_now_ns() < until);
	assert_int_equal(r, 0);
	return vs;
}

/* What the JDK says of itself: a value of its "release" file, without quotes. */
static void live_release(const char *key, char *ret_value, size_t size)
{
	char path[PATH_MAX], line[4096];
	FILE *file;

	ret_value[0] = '\0';
	snprintf(path, sizeof(path), "%s/release", live_home());
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		size_t len = strlen(key);

		if (strncmp(line, key, len) || line[len] != '=')
			continue;
		line[strcspn(line + len + 2, "\"\n") + len + 2] = '\0';
		strncpy(ret_value, line + len + 2, size - 1);
		ret_value[size - 1] = '\0';
	}
	if (file)
		fclose(file);
}

/* A JVM that has just started takes no agent yet. */
static inline int live_load_agent(pid_t pid, const char *path, const char *options, struct err *err)
{
	uint64_t until = clock_now_ns() + LIVE_SECONDS * NSEC_PER_SEC;
	int r;

	do {
		*err = (struct err){ 0 };
		r = attach_load_agent((uint32_t)pid, path, options, LIVE_ATTACH_NS, err);
	} while (r == -EAGAIN && clock_now_ns() < until);
	return r;
}

#endif
