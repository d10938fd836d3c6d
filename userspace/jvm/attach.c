/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/file.h"
#include "jvm/attach_connect.h"
#include "jvm/attach_reply.h"
#include "jvm/attach_stage.h"
#include "jvm/attach_target.h"
#include "jvm/vm_flags.h"
#include "jvm/vmstructs.h"

/* share/services/attachListener.hpp: AttachOperation::name_length_max, arg_length_max. */
#define MAX_COMMAND   16
#define MAX_ARGUMENT  1024
#define MAX_ARGUMENTS 3

/* `jcmd` on a large JVM prints some megabytes. */
#define MAX_REPLY_BYTES (64U << 20)

static int refuse(uint32_t pid, const char *why, struct err *err)
{
	err_set(err, -EOPNOTSUPP, "the JVM %u %s", pid, why);
	return err_hint(err, "start it with -agentpath:…/libhostprof-agent.so to have an agent");
}

/* SIGQUIT without a listener prints a thread dump, or kills; so all flags are read before it. */
static int check_flags(const struct attach_target *target, const struct vm_flags *flags,
		       struct err *err)
{
	if (flags->disable_attach_mechanism == 1)
		return refuse(target->pid, "runs with -XX:+DisableAttachMechanism", err);
	if (flags->enable_dynamic_agent_loading == 0)
		return refuse(target->pid, "runs with -XX:-EnableDynamicAgentLoading", err);
	/* With -Xrs the listener runs from the start and needs no signal. */
	if (!target->catches_quit && attach_target_find_socket(target) < 0)
		return refuse(target->pid,
			      flags->reduce_signal_usage == 1
				      ? "runs with -Xrs and its attach socket is gone"
				      : "does not handle SIGQUIT, which would kill it",
			      err);
	return 0;
}

static int check_vm(const struct attach_target *target, struct err *err)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	struct vm_flags flags;
	int r = vmstructs_open(NULL, target->pid, NULL, &vs, err);

	if (r == -ENODATA)
		err->code = -EOPNOTSUPP;
	if (r < 0)
		return err->code;
	r = vm_flags_read(vs, &flags);
	if (r < 0) {
		err_sys(err, r, "cannot read the flags of the JVM %u", target->pid);
		return r == -EPERM ? err_hint(err, "run as root") : r;
	}
	return check_flags(target, &flags, err);
}

static int open_checked(uint32_t pid, struct attach_target *ret_target, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	int r = attach_target_open(pid, &target, err);

	if (!r)
		r = check_vm(&target, err);
	if (r < 0)
		return r;
	*ret_target = target;
	target = (struct attach_target)ATTACH_TARGET_INIT;
	return 0;
}

int attach_check(uint32_t pid, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;

	return open_checked(pid, &target, err);
}

/* Protocol 1: the version, the command and always three arguments, each with its NUL. */
static int build_request(const char *command, const char *const args[MAX_ARGUMENTS],
			 struct strbuf *out, struct err *err)
{
	if (strlen(command) > MAX_COMMAND)
		return err_set(err, -E2BIG, "the attach command %s is too long", command);
	strbuf_add(out, "1", 2);
	strbuf_add(out, command, strlen(command) + 1);
	for (unsigned int i = 0; i < MAX_ARGUMENTS; i++) {
		const char *arg = args && args[i] ? args[i] : "";

		if (strlen(arg) > MAX_ARGUMENT)
			return err_set(
				err, -E2BIG,
				"an argument of %zu bytes is too long for a JVM (at most %d)",
				strlen(arg), MAX_ARGUMENT);
		strbuf_add(out, arg, strlen(arg) + 1);
	}
	return 0;
}

static int wait_for(int fd, short events, uint64_t deadline_ns)
{
	struct pollfd poll_fd = { .fd = fd, .events = events };

	for (;;) {
		uint64_t now = clock_now_ns();
		int n;

		if (now >= deadline_ns)
			return -ETIMEDOUT;
		n = poll(&poll_fd, 1, (int)MIN((deadline_ns - now) / NSEC_PER_MSEC + 1, INT_MAX));
		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
}

static int send_all(int fd, const struct strbuf *request, uint64_t deadline_ns)
{
	size_t at = 0;

	while (at < request->len) {
		ssize_t n = send(fd, request->buf + at, request->len - at, MSG_NOSIGNAL);
		int r;

		if (n >= 0) {
			at += (size_t)n;
			continue;
		}
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		r = wait_for(fd, POLLOUT, deadline_ns);
		if (r < 0)
			return r;
	}
	return 0;
}

static int receive_all(int fd, uint64_t deadline_ns, struct strbuf *reply)
{
	char chunk[4096];

	for (;;) {
		int r = wait_for(fd, POLLIN, deadline_ns);
		ssize_t n;

		if (r < 0)
			return r;
		n = recv(fd, chunk, sizeof(chunk), 0);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (n > 0 && reply->len + (size_t)n > MAX_REPLY_BYTES)
			return -E2BIG;
		if (n > 0)
			strbuf_add(reply, chunk, (size_t)n);
	}
}

static int converse(const struct attach_target *target, const struct strbuf *request,
		    uint64_t deadline_ns, struct strbuf *reply, struct err *err)
{
	_cleanup_close_ int fd = -1;
	int r = attach_connect(target, deadline_ns, &fd, err);

	if (r < 0)
		return r;
	r = send_all(fd, request, deadline_ns);
	if (!r)
		r = receive_all(fd, deadline_ns, reply);
	if (r == -ETIMEDOUT) {
		err_set(err, r, "the JVM %u did not answer in time", target->pid);
		return err_hint(err, "it may be stopped, or serve another attach client");
	}
	return r < 0 ? err_sys(err, r, "cannot talk to the JVM %u", target->pid) : 0;
}

static int command_target(const struct attach_target *target, const char *command,
			  const char *const args[MAX_ARGUMENTS], uint64_t deadline_ns,
			  struct strbuf *reply, struct err *err)
{
	_cleanup_strbuf_ struct strbuf request = STRBUF_INIT;
	int r = build_request(command, args, &request, err);

	return r < 0 ? r : converse(target, &request, deadline_ns, reply, err);
}

int attach_command(uint32_t pid, const char *command, const char *const args[MAX_ARGUMENTS],
		   uint64_t timeout_ns, struct strbuf *reply, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	uint64_t deadline_ns = clock_now_ns() + timeout_ns;
	int r = open_checked(pid, &target, err);

	if (r < 0)
		return r;
	return command_target(&target, command, args, deadline_ns, reply, err);
}

int attach_load_agent(uint32_t pid, const char *agent_path, const char *options,
		      uint64_t timeout_ns, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	_cleanup_strbuf_ struct strbuf reply = STRBUF_INIT;
	uint64_t deadline_ns = clock_now_ns() + timeout_ns;
	char path[PATH_MAX];
	const char *const args[MAX_ARGUMENTS] = { path, "true", options };
	int r = open_checked(pid, &target, err);

	if (!r)
		r = attach_stage_agent(&target, agent_path, deadline_ns, path, sizeof(path), err);
	if (!r)
		r = command_target(&target, "load", args, deadline_ns, &reply, err);
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
