/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "base/clock.h"
#include "jvm/attach/attach_check.h"
#include "jvm/attach/attach_exchange.h"
#include "jvm/attach/attach_loaded.h"
#include "jvm/attach/attach_reach.h"
#include "jvm/attach/attach_reply.h"
#include "jvm/codemap/codemap_find.h"

int attach_check(uint32_t pid, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;

	return attach_check_open(pid, NULL, &target, err);
}

static int converse(struct attach_target *target, const struct strbuf *request,
		    uint64_t deadline_ns, struct strbuf *reply, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r = attach_reach_connect(target, deadline_ns, &fd, err);

	if (r < 0)
		return r;
	r = attach_exchange(fd, request, deadline_ns, reply);
	if (r == -ETIMEDOUT) {
		err_set(err, r, "the JVM %u did not answer in time", target->pid);
		return err_hint(err, "it may be stopped, or serve another attach client");
	}
	return r < 0 ? err_sys(err, r, "cannot talk to the JVM %u", target->pid) : 0;
}

static int command_target(struct attach_target *target, const char *command,
			  const char *const args[ATTACH_MAX_ARGUMENTS], uint64_t deadline_ns,
			  struct strbuf *reply, struct err *err)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT;
	int r = attach_build_request(command, args, &request, err);

	return r < 0 ? r : converse(target, &request, deadline_ns, reply, err);
}

/*
 * An agent that runs already, be it another build's from another place, is the one that new
 * options are for: a second library in the JVM would not know of it.
 */
static void prefer_running(uint32_t pid, char *path, size_t size)
{
	struct err ignored = { 0 };
	_cleanup_close_ int fd = codemap_find_fd(pid, &ignored);
	char loaded[PATH_MAX];

	if (fd >= 0 && attach_loaded_find(pid, path, loaded, sizeof(loaded)) == 0 &&
	    strlen(loaded) < size)
		memcpy(path, loaded, strlen(loaded) + 1);
}

int attach_load_agent(uint32_t pid, const char *agent_path, const char *options,
		      uint64_t timeout_ns, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
	uint64_t deadline_ns = clock_now_ns() + timeout_ns;
	char path[PATH_MAX];
	const char *const args[ATTACH_MAX_ARGUMENTS] = { path, "true", options };
	int r = attach_check_open(pid, NULL, &target, err);

	if (!r)
		r = attach_reach_stage(&target, agent_path, deadline_ns, path, sizeof(path), err);
	if (!r) {
		prefer_running(pid, path, sizeof(path));
		r = command_target(&target, "load", args, deadline_ns, &reply, err);
	}
	if (r < 0)
		return r;
	return attach_reply_check_load(strbuf_str(&reply), reply.len, err);
}

/* Where it is relative to the directory of the executable. */
static const char *const agent_places[] = {
	"libhostprof-agent.so",			/* build tree */
	"../lib/hostprof/libhostprof-agent.so", /* PREFIX/bin */
};

int attach_find_agent(char *ret_path, unsigned long size, struct err *err)
{
	char self[PATH_MAX], path[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[MAX(n, 0)] = 0;
	slash = strrchr(self, '/');
	for (unsigned int i = 0; slash && i < ARRAY_SIZE(agent_places); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self), self, agent_places[i]);
		if (access(path, R_OK) == 0 && strlen(path) < size) {
			memcpy(ret_path, path, strlen(path) + 1);
			return 0;
		}
	}
	if (access(HOSTPROF_LIBDIR "/hostprof/libhostprof-agent.so", R_OK) == 0 &&
	    sizeof(HOSTPROF_LIBDIR "/hostprof/libhostprof-agent.so") <= size) {
		snprintf(ret_path, size, "%s", HOSTPROF_LIBDIR "/hostprof/libhostprof-agent.so");
		return 0;
	}
	err_set(err, -ENOENT, "cannot find libhostprof-agent.so beside %s or in %s", self,
		HOSTPROF_LIBDIR "/hostprof");
	return err_hint(err, "make && make install, or run build/hostprof");
}
