/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach_check.h"

#include <errno.h>

#include "base/clock.h"
#include "base/macros.h"
#include "jvm/attach/attach_reach.h"
#include "jvm/codemap/codemap_find.h"
#include "jvm/codemap/codemap_room.h"
#include "jvm/jvm_kind.h"
#include "jvm/layout/vm_flags.h"

#define SOCKET_TIMEOUT_NS (2 * NSEC_PER_SEC)

static int refuse(uint32_t pid, const char *why, struct err *err)
{
	err_set(err, -EOPNOTSUPP, "the JVM %u %s", pid, why);
	return err_hint(err, "start it with -agentpath:…/libhostprof-agent.so to have an agent");
}

/* SIGQUIT without a listener prints a thread dump, or kills; so all flags are read before it. */
static int check_flags(struct attach_target *target, const struct vm_flags *flags, struct err *err)
{
	int r;

	if (target->is_copy)
		return err_set(err, -EOPNOTSUPP,
			       "process %u is a copy that a JVM forked; it has no attach listener",
			       target->pid);
	if (flags->disable_attach_mechanism == 1)
		return refuse(target->pid, "runs with -XX:+DisableAttachMechanism", err);
	if (flags->enable_dynamic_agent_loading == 0)
		return refuse(target->pid, "runs with -XX:-EnableDynamicAgentLoading", err);
	if (target->catches_quit)
		return 0;
	/* With -Xrs the listener runs from the start and needs no signal. */
	r = attach_reach_socket(target, clock_now_ns() + SOCKET_TIMEOUT_NS, err);
	if (r >= 0 || r == -ETIMEDOUT || r == -EBUSY)
		return MIN(r, 0);
	if (flags->reduce_signal_usage == 1)
		return refuse(target->pid, "runs with -Xrs and its attach socket is gone", err);
	/*
	 * Its handler comes late in a JVM's start, long after the interpreter by which it passes for started:
	 * share/runtime/thread.cpp, Threads::create_vm(), initialize_jdk_signal_support().
	 */
	return err_set(err, -EAGAIN, "the JVM %u does not handle SIGQUIT, which would kill it",
		       target->pid);
}

static int check_vm(struct attach_target *target, const struct vmstructs *vs, struct err *err)
{
	struct vm_flags flags;
	int r = vm_flags_read(vs, &flags);

	if (r < 0)
		return err_sys(err, r, "cannot read the flags of the JVM %u", target->pid);
	return check_flags(target, &flags, err);
}

/* vmstructs_open() failed with R: say what the process is instead. */
static int explain(uint32_t pid, int r, struct err *err)
{
	if (r != -ENODATA)
		return r;
	if (jvm_kind_of_process(pid) == JVM_KIND_OPENJ9)
		return err_set(err, -EOPNOTSUPP,
			       "process %u runs OpenJ9, of which only native frames can be shown",
			       pid);
	if (jvm_kind_of_executable(pid) == JVM_KIND_NATIVE_IMAGE)
		return err_set(err, -EOPNOTSUPP,
			       "process %u is a GraalVM native image: its frames are native and "
			       "need no agent",
			       pid);
	return err_set(err, -EOPNOTSUPP, "process %u is no HotSpot JVM", pid);
}

/* An agent that is there already takes options, and above all the one that ends it. */
static int check_room(uint32_t pid, struct err *err)
{
	struct err room = { 0 }, ignored = { 0 };
	_cleanup_close_ int fd = -1;
	int r = codemap_check_room(pid, &room);

	if (r < 0)
		fd = codemap_find_fd(pid, &ignored);
	if (fd >= 0 || !r)
		return 0;
	*err = room;
	return r;
}

int attach_check_open(uint32_t pid, const struct vmstructs *vs, struct attach_target *ret_target,
		      struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	_cleanup_(vmstructs_closep) struct vmstructs *own = NULL;
	int r = attach_target_open(pid, &target, err);

	if (r < 0)
		return r;
	if (!vs) {
		r = vmstructs_open(NULL, pid, NULL, &own, err);
		if (r < 0)
			return explain(pid, r, err);
	}
	r = check_vm(&target, vs ? vs : own, err);
	if (!r)
		r = check_room(pid, err);
	if (r < 0)
		return r;
	*ret_target = target;
	target = (struct attach_target)ATTACH_TARGET_INIT;
	return 0;
}
