// SPDX-License-Identifier: Apache-2.0
#include "jvm/attach/attach_reach.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "jvm/attach/attach_connect.h"
#include "jvm/attach/attach_stage.h"
#include "wall/pass_fd.h"
#include "wall/wall.h"

/* A helper has ended itself so long after its deadline. */
#define LAST_SECONDS 2

enum reach_op { REACH_SOCKET, REACH_STAGE, REACH_CONNECT, REACH_CHECK };

struct reach_request {
	uint32_t op;
	/* Without its descriptors. */
	struct attach_target target;
	uint64_t deadline_ns;
	char agent_path[PATH_MAX];
};

struct reach_answer {
	int code;
	struct err err;
	char path[PATH_MAX];
};

static int check_room(const struct attach_target *target, const struct reach_request *request,
		      struct err *err)
{
	int r = attach_connect_check(target, request->deadline_ns, err);

	if (r < 0 || !request->agent_path[0])
		return r;
	return attach_stage_check(target, request->agent_path, request->deadline_ns, err);
}

static void carry_out(const struct reach_request *request, struct attach_target *target,
		      struct reach_answer *answer, int *ret_fd)
{
	struct err *err = &answer->err;
	uint64_t deadline_ns = request->deadline_ns;

	answer->code = target->root_fd < 0 ? attach_target_enter(target, err) : 0;
	if (answer->code < 0)
		return;
	switch (request->op) {
	case REACH_SOCKET: answer->code = attach_target_find_socket(target); break;
	case REACH_STAGE:
		answer->code = attach_stage_agent(target, request->agent_path, deadline_ns,
						  answer->path, sizeof(answer->path), err);
		break;
	case REACH_CONNECT: answer->code = attach_connect(target, deadline_ns, ret_fd, err); break;
	case REACH_CHECK: answer->code = check_room(target, request, err); break;
	default: answer->code = -ENOSYS; break;
	}
}

/* --- the helper --- */

static void end_soon_after(uint64_t deadline_ns)
{
	uint64_t now_ns = clock_now_ns();

	signal(SIGALRM, SIG_DFL);
	alarm((unsigned int)((MAX(deadline_ns, now_ns) - now_ns) / NSEC_PER_SEC) + LAST_SECONDS);
}

void attach_reach_help(int socket, int fd)
{
	struct reach_answer answer = { 0 };
	struct reach_request request;
	int none, opened = -1;

	if (pass_message_receive(socket, &request, sizeof(request), &none) != sizeof(request))
		return;
	end_soon_after(request.deadline_ns);
	request.target.pidfd = fd;
	request.target.root_fd = request.target.tmp_fd = request.target.cwd_fd = -1;
	carry_out(&request, &request.target, &answer, &opened);
	pass_message_send(socket, &answer, sizeof(answer), opened);
}

/* --- who asks --- */

static int no_answer(const struct attach_target *target, int r, struct err *err)
{
	if (r == -ETIMEDOUT)
		return err_set(err, r, "the files of process %u did not answer in time",
			       target->pid);
	if (r == -EBUSY)
		return err_set(err, r, "process %u did not let its memory or files be read before",
			       target->pid);
	return err_sys(err, r, "cannot reach the files of process %u", target->pid);
}

static int reach(struct reach_request *request, struct attach_target *target,
		 struct reach_answer *answer, int *ret_fd, struct err *err)
{
	const struct wall_message message = { request, sizeof(*request), target->pidfd, answer,
					      sizeof(*answer) };
	int64_t n;

	request->target = *target;
	n = wall_help(target->pid, &message, request->deadline_ns, ret_fd);
	if (n == -EOPNOTSUPP)
		carry_out(request, target, answer, ret_fd);
	else if (n != (int64_t)sizeof(*answer))
		return no_answer(target, n < 0 ? (int)n : -EIO, err);
	if (answer->err.code)
		*err = answer->err;
	return answer->code;
}

int attach_reach_socket(struct attach_target *target, uint64_t deadline_ns, struct err *err)
{
	struct reach_request request = { .op = REACH_SOCKET, .deadline_ns = deadline_ns };
	struct reach_answer answer = { 0 };
	int fd;

	return reach(&request, target, &answer, &fd, err);
}

/* One that is told of the agent. */
static int reach_with_agent(enum reach_op op, struct attach_target *target, const char *agent_path,
			    uint64_t deadline_ns, struct reach_answer *answer, struct err *err)
{
	struct reach_request request = { .op = op, .deadline_ns = deadline_ns };
	int fd;

	if (strlen(agent_path) >= sizeof(request.agent_path))
		return err_set(err, -ENAMETOOLONG, "the agent's path %s is too long", agent_path);
	strcpy(request.agent_path, agent_path); /* NOLINT: it fits */
	return reach(&request, target, answer, &fd, err);
}

int attach_reach_stage(struct attach_target *target, const char *agent_path, uint64_t deadline_ns,
		       char *ret_path, size_t size, struct err *err)
{
	struct reach_answer answer = { 0 };
	int r = reach_with_agent(REACH_STAGE, target, agent_path, deadline_ns, &answer, err);

	if (r < 0)
		return r;
	if (strlen(answer.path) >= size)
		return err_set(err, -ENAMETOOLONG, "the agent's path %s is too long", answer.path);
	strcpy(ret_path, answer.path); /* NOLINT: it fits */
	return 0;
}

int attach_reach_check(struct attach_target *target, const char *agent_path, uint64_t deadline_ns,
		       struct err *err)
{
	struct reach_answer answer = { 0 };

	return reach_with_agent(REACH_CHECK, target, agent_path, deadline_ns, &answer, err);
}

int attach_reach_connect(struct attach_target *target, uint64_t deadline_ns, int *ret_fd,
			 struct err *err)
{
	struct reach_request request = { .op = REACH_CONNECT, .deadline_ns = deadline_ns };
	struct reach_answer answer = { 0 };

	return reach(&request, target, &answer, ret_fd, err);
}
