// SPDX-License-Identifier: Apache-2.0
/*
 * libdebuginfod is loaded here and nowhere else, since it brings an HTTP client and its TLS library along. Its functions are declared as
 * elfutils' debuginfod.h (0.188) has them.
 */
#include "elf/debuginfod/debuginfod_serve.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/rights.h"
#include "elf/debuginfod/debuginfod.h"
#include "wall/pass_fd.h"

#define LIBRARY "libdebuginfod.so.1"
/* The debug data of the largest programs (browsers) has 2 GB. */
#define MAX_FILE_BYTES	 (4ULL << 30)
#define MAX_MEMORY_BYTES (2ULL << 30)

struct library {
	void *(*begin)(void);
	/* ID is a text when its length is 0; a descriptor, or a negative errno. */
	int (*find)(void *client, const unsigned char *id, int len, char **ret_path);
	void (*end)(void *client);
	void *client;
};

/* --- its rights ------------------------------------------------------------------------------- */

/* Whatever its maker has open is not for it: SOCKET alone, whose number is returned. */
static int keep_only(int socket)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		if (fd != socket)
			dup2(null, fd);
	if (socket != 3 && dup3(socket, 3, O_CLOEXEC) < 0)
		_exit(1);
	if (syscall(SYS_close_range, 4, ~0U, 0) < 0)
		_exit(1);
	return 3;
}

/* A terminal's signals are for all that run there; this one ends when nobody asks any more. */
static void outlive_signals(void)
{
	static const int ends[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		signal(ends[i], SIG_IGN);
}

static void give_up_rights(void)
{
	pid_t parent = getppid();

	rights_leave_user();
	rights_keep(0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != parent)
		_exit(1);
	rights_limit(RLIMIT_CORE, 0);
	rights_limit(RLIMIT_FSIZE, MAX_FILE_BYTES);
	rights_limit(RLIMIT_AS, MAX_MEMORY_BYTES);
	signal(SIGXFSZ, SIG_IGN); /* a write fails instead */
	signal(SIGPIPE, SIG_IGN);
}

/* --- what is on the disk ---------------------------------------------------------------------- */

/* Files below, and the directories themselves; DIR is ours alone. */
static void empty_directory(int dir, int depth)
{
	DIR *stream = depth ? fdopendir(dup(dir)) : NULL;
	const struct dirent *entry;

	while (stream && (entry = readdir(stream))) {
		_cleanup_close_ int below = -1;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (unlinkat(dir, entry->d_name, 0) == 0)
			continue;
		below = openat(dir, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (below >= 0)
			empty_directory(below, depth - 1);
		unlinkat(dir, entry->d_name, AT_REMOVEDIR);
	}
	if (stream)
		closedir(stream);
}

/* What the library keeps for another time it keeps where we say, and only until it is here. */
static void drop_cache(const char *path)
{
	_cleanup_close_ int dir = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (dir >= 0)
		empty_directory(dir, 3);
}

static bool make_cache(char *path, size_t size)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(path, size, "%s/hostprof-debuginfod-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(path)) {
		snprintf(path, size, "/tmp/hostprof-debuginfod-XXXXXX");
		if (!mkdtemp(path))
			return false;
	}
	return setenv("DEBUGINFOD_CACHE_PATH", path, 1) == 0;
}

/* However we end, somebody takes the directory away then. */
static bool leave_sweeper(const char *cache, int socket)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		close(socket);
		close(ends[1]);
		while (read(ends[0], &byte, 1) < 0 && errno == EINTR)
			;
		drop_cache(cache);
		rmdir(cache);
		_exit(0);
	}
	close(ends[0]);
	return pid > 0; /* our end of the pipe stays open as long as we are there */
}

/* --- the library ------------------------------------------------------------------------------ */

static void *function_of(void *library, const char *name)
{
	return dlsym(library, name);
}

static bool load(struct library *library)
{
	void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	void *begin, *find, *end;

	if (!handle)
		return false;
	begin = function_of(handle, "debuginfod_begin");
	find = function_of(handle, "debuginfod_find_debuginfo");
	end = function_of(handle, "debuginfod_end");
	/* ISO C has no conversion of these, POSIX has. */
	memcpy(&library->begin, &begin, sizeof(begin));
	memcpy(&library->find, &find, sizeof(find));
	memcpy(&library->end, &end, sizeof(end));
	if (!begin || !find || !end)
		return false;
	library->client = library->begin();
	return library->client != NULL;
}

/* It ends a transfer by itself then, and we still have the time to take our directory away. */
static void set_limits(void)
{
	char seconds[16], bytes[24];

	snprintf(seconds, sizeof(seconds), "%d", DEBUGINFOD_FILE_SECONDS - 5);
	snprintf(bytes, sizeof(bytes), "%llu", MAX_FILE_BYTES);
	setenv("DEBUGINFOD_MAXTIME", seconds, 0);
	setenv("DEBUGINFOD_MAXSIZE", bytes, 0);
}

static void answer(const struct library *library, int socket, const struct debuginfod_ask *ask,
		   const char *cache)
{
	struct debuginfod_said said;
	char *path = NULL;
	int fd = library->find(library->client, (const unsigned char *)ask->build_id, 0, &path);

	said.result = MIN(fd, 0);
	pass_message_send(socket, &said, sizeof(said), fd);
	if (fd >= 0)
		close(fd);
	free(path);
	drop_cache(cache);
}

void debuginfod_serve(int socket)
{
	struct debuginfod_said said = { 0 };
	struct debuginfod_ask ask;
	struct library library = { 0 };
	char cache[128];
	int fd = -1;

	prctl(PR_SET_NAME, "hostprof-fetch");
	socket = keep_only(socket);
	outlive_signals();
	give_up_rights();
	set_limits();
	if (!make_cache(cache, sizeof(cache)) || !leave_sweeper(cache, socket))
		said.result = -EACCES;
	else if (!load(&library))
		said.result = -EOPNOTSUPP;
	pass_message_send(socket, &said, sizeof(said), -1);
	while (!said.result &&
	       pass_message_receive(socket, &ask, sizeof(ask), &fd) == (ssize_t)sizeof(ask)) {
		closep(&fd);
		ask.build_id[sizeof(ask.build_id) - 1] = '\0';
		answer(&library, socket, &ask, cache);
	}
	if (library.client)
		library.end(library.client);
}
