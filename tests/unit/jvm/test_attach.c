/* SPDX-License-Identifier: Apache-2.0 */
/* Loading an agent: which library, with which request, and what is said when it fails. */
#include "test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "jvm/attach/attach.h"
#include "jvm/attach/attach_check.h"
#include "jvm/attach/attach_loaded.h"
#include "jvm/attach/attach_reach.h"
#include "jvm/codemap/codemap_find.h"

#define PID	   4711U
#define TIMEOUT_NS (5 * NSEC_PER_SEC)

struct world {
	int check, stage, connect;   /* answers */
	const char *staged, *loaded; /* paths; NULL: none */
	bool runs;		     /* there is a code map */
	const char *reply;	     /* NULL: none ever comes */
	int jvm;		     /* the other end of the socket */
	uint64_t begun_ns, deadline_ns;
	bool target_open;
};

static struct world *now;

/* --- in place of the steps --- */

int attach_check_open(uint32_t pid, const struct vmstructs *vs, struct attach_target *ret_target,
		      struct err *err)
{
	assert_int_equal(pid, PID);
	assert_null(vs);
	if (now->check)
		return err_set(err, now->check, "check");
	ret_target->pid = pid;
	now->target_open = true;
	return 0;
}

void attach_target_close(struct attach_target *target)
{
	if (target->pid)
		now->target_open = false;
}

int attach_reach_stage(struct attach_target *target, const char *agent_path, uint64_t deadline_ns,
		       char *ret_path, size_t size, struct err *err)
{
	assert_int_equal(target->pid, PID);
	assert_string_equal(agent_path, "/host/agent.so");
	now->deadline_ns = deadline_ns;
	if (now->stage)
		return err_set(err, now->stage, "stage");
	assert_true(strlen(now->staged) < size);
	strcpy(ret_path, now->staged);
	return 0;
}

int attach_reach_connect(struct attach_target *target, uint64_t deadline_ns, int *ret_fd,
			 struct err *err)
{
	int pair[2];

	assert_int_equal(target->pid, PID);
	assert_int_equal(deadline_ns, now->deadline_ns);
	if (now->connect)
		return err_set(err, now->connect, "connect");
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair), 0);
	if (now->reply) {
		assert_int_equal(write(pair[1], now->reply, strlen(now->reply)),
				 strlen(now->reply));
		shutdown(pair[1], SHUT_WR);
	}
	now->jvm = pair[1];
	*ret_fd = pair[0];
	return 0;
}

int codemap_find_fd(uint32_t pid, struct err *err)
{
	assert_int_equal(pid, PID);
	return now->runs ? memfd_create("hostprof-test", MFD_CLOEXEC)
			 : err_set(err, -ENODATA, "not for people");
}

int attach_loaded_find(uint32_t pid, const char *wanted, char *ret_path, size_t size)
{
	assert_int_equal(pid, PID);
	assert_string_equal(wanted, now->staged);
	if (!now->loaded)
		return -ENODATA;
	snprintf(ret_path, size, "%s", now->loaded);
	return 0;
}

/* --- */

static int setup(void **state)
{
	struct world *w = now = calloc(1, sizeof(*w));

	w->staged = "/jvm/agent.so";
	w->reply = "0\nreturn code: 0\n";
	w->jvm = -1;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	assert_false(w->target_open);
	if (w->jvm >= 0)
		close(w->jvm);
	free(w);
	return 0;
}

static int load_within(struct world *w, uint64_t timeout_ns, struct err *err)
{
	*err = (struct err){ 0 };
	w->begun_ns = clock_now_ns();
	return attach_load_agent(PID, "/host/agent.so", "start", timeout_ns, err);
}

static void expect_failure(struct world *w, int code, const char *text)
{
	struct err err;

	assert_int_equal(load_within(w, TIMEOUT_NS, &err), code);
	if (!strstr(err.text, text))
		fail_msg("%s", err.text);
}

/* What the JVM was asked. */
static void expect_request(struct world *w, const char *path)
{
	char expected[256], got[256];
	size_t len = (size_t)snprintf(expected, sizeof(expected), "1|load|%s|true|start|", path);

	for (size_t i = 0; i < len; i++)
		if (expected[i] == '|')
			expected[i] = '\0';
	assert_int_equal(read(w->jvm, got, sizeof(got)), len);
	assert_memory_equal(got, expected, len);
	close(w->jvm);
	w->jvm = -1;
}

static void an_agent_is_loaded(void **state)
{
	struct world *w = *state;
	struct err err;

	assert_int_equal(load_within(w, TIMEOUT_NS, &err), 0);
	expect_request(w, "/jvm/agent.so");
	assert_true(w->deadline_ns >= w->begun_ns + TIMEOUT_NS);
	assert_true(w->deadline_ns <= clock_now_ns() + TIMEOUT_NS);
	/* A library that is mapped, but does not run, is not the one. */
	w->loaded = "/old/agent.so";
	assert_int_equal(load_within(w, TIMEOUT_NS, &err), 0);
	expect_request(w, "/jvm/agent.so");
}

/* One that runs, from wherever it came, is the one that options are for. */
static void an_agent_that_runs_is_told(void **state)
{
	struct world *w = *state;
	struct err err;

	w->runs = true;
	assert_int_equal(load_within(w, TIMEOUT_NS, &err), 0);
	expect_request(w, "/jvm/agent.so");
	w->loaded = "/old/agent.so";
	assert_int_equal(load_within(w, TIMEOUT_NS, &err), 0);
	expect_request(w, "/old/agent.so");
	w->staged = "/a";
	w->loaded = "/longer/than/the/other/agent.so";
	assert_int_equal(load_within(w, TIMEOUT_NS, &err), 0);
	expect_request(w, "/longer/than/the/other/agent.so");
}

static void each_step_may_fail(void **state)
{
	struct world *w = *state;

	w->check = -EOPNOTSUPP;
	expect_failure(w, -EOPNOTSUPP, "check");
	w->check = 0;
	w->stage = -EROFS;
	expect_failure(w, -EROFS, "stage");
	w->stage = 0;
	w->connect = -EPERM;
	expect_failure(w, -EPERM, "connect");
	assert_int_equal(w->jvm, -1);
}

/* A path longer than the JVM takes is not sent. */
static void a_request_that_cannot_be(void **state)
{
	static char longest[1100];
	struct world *w = *state;

	memset(longest, 'x', sizeof(longest) - 1);
	w->staged = longest;
	expect_failure(w, -E2BIG, "is too long for a JVM");
	assert_int_equal(w->jvm, -1);
}

static void what_the_jvm_answers(void **state)
{
	struct world *w = *state;

	w->reply = "0\nreturn code: 3\n";
	expect_failure(w, -EIO, "refused to start");
	close(w->jvm);
	w->reply = "";
	expect_failure(w, -EBADMSG, "without an answer");
}

static void a_jvm_that_does_not_answer(void **state)
{
	struct world *w = *state;
	struct err err;

	w->reply = NULL;
	assert_int_equal(load_within(w, 20 * NSEC_PER_MSEC, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "the JVM 4711 did not answer in time");
	assert_string_equal(err.hint, "it may be stopped, or serve another attach client");
}

/* --- where the agent is --- */

static const char *exe, *files[4];
static unsigned int looks;

ssize_t readlink(const char *path, char *buffer, size_t size)
{
	assert_string_equal(path, "/proc/self/exe");
	if (!exe)
		return -1;
	assert_true(strlen(exe) <= size);
	memcpy(buffer, exe, strlen(exe));
	return (ssize_t)strlen(exe);
}

int access(const char *path, int mode)
{
	assert_int_equal(mode, R_OK);
	looks++;
	for (unsigned int i = 0; i < ARRAY_SIZE(files); i++)
		if (files[i] && !strcmp(files[i], path))
			return 0;
	errno = ENOENT;
	return -1;
}

#define INSTALLED HOSTPROF_LIBDIR "/hostprof/libhostprof-agent.so"

static void expect_found(const char *path)
{
	char found[PATH_MAX] = "untouched";
	struct err err = { 0 };

	if (!path) {
		assert_int_equal(attach_find_agent(found, sizeof(found), &err), -ENOENT);
		assert_string_equal(found, "untouched");
		assert_true(strstr(err.text, "cannot find libhostprof-agent.so beside ") ==
			    err.text);
		assert_true(err.hint[0]);
		return;
	}
	assert_int_equal(attach_find_agent(found, sizeof(found), &err), 0);
	assert_string_equal(found, path);
	/* Room for it, and not a byte less. */
	assert_int_equal(attach_find_agent(found, strlen(path) + 1, &err), 0);
	assert_string_equal(found, path);
	assert_int_equal(attach_find_agent(found, strlen(path), &err), -ENOENT);
}

/* Beside the program, where it is installed beside that, and where this build installs it. */
static void where_an_agent_is_looked_for(void **state)
{
	(void)state;
	exe = "/opt/h/bin/hostprof";
	expect_found(NULL);
	files[0] = INSTALLED;
	expect_found(INSTALLED);
	files[0] = "/opt/h/bin/../lib/hostprof/libhostprof-agent.so";
	expect_found(files[0]);
	files[0] = "/opt/h/bin/libhostprof-agent.so";
	expect_found(files[0]);
	files[1] = "/opt/h/bin/../lib/hostprof/libhostprof-agent.so";
	files[2] = INSTALLED;
	looks = 0;
	assert_int_equal(attach_find_agent((char[PATH_MAX]){ 0 }, PATH_MAX, &(struct err){ 0 }), 0);
	assert_int_equal(looks, 1);
	exe = NULL;
	files[0] = files[1] = NULL;
	expect_found(INSTALLED);
	files[2] = NULL;
	expect_found(NULL);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_agent_is_loaded),
		TEST(an_agent_that_runs_is_told),
		TEST(each_step_may_fail),
		TEST(a_request_that_cannot_be),
		TEST(what_the_jvm_answers),
		TEST(a_jvm_that_does_not_answer),
		cmocka_unit_test(where_an_agent_is_looked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
