// SPDX-License-Identifier: Apache-2.0
/* doctor: what it says of each state of a check, of the processes and the JVMs, and its exit code. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/doctor/doctor_rights.h"
#include "command_run.h"
#include "jvm/jvm_info.h"
#include "process/proc.h"

static enum preflight_state second;
static unsigned int jvm_count;
static int jvm_error, proc_error;
static uint32_t pids[4];

/* --- in place of capture/, jvm/ and process/ --- */

static void run_first(struct preflight_result *result)
{
	snprintf(result->found, sizeof(result->found), "6.18.44");
}

static void run_second(struct preflight_result *result)
{
	result->state = second;
	snprintf(result->found, sizeof(result->found), "cap_bpf \"missing\"");
}

const struct preflight_check preflight_checks[] = {
	{ "kernel", "Linux >= 6.1", "everything", "a newer kernel", run_first },
	{ "cap-bpf", "CAP_BPF", "loading", "sudo", run_second },
	{ NULL, NULL, NULL, NULL, NULL },
};

int preflight_explain(struct err *err)
{
	(void)err;
	return 0;
}

static unsigned int lacking;

int jvm_info_list(struct jvm_info **ret_infos, unsigned int *ret_count, struct err *err)
{
	if (jvm_error)
		return err_set(err, jvm_error, "no list");
	*ret_infos = xcalloc(3, sizeof(**ret_infos));
	for (unsigned int i = 0; i < jvm_count; i++)
		(*ret_infos)[i].can_attach = i != 1;
	(*ret_infos)[0].lacks.count = lacking;
	*ret_count = jvm_count;
	return 0;
}

int jvm_info_read(uint32_t pid, struct jvm_info *ret_info, struct err *err)
{
	(void)pid;
	(void)ret_info;
	return err_set(err, -ESRCH, "not asked for");
}

int proc_for_each_pid(int (*fn)(uint32_t pid, void *data), void *data)
{
	for (int i = 0; i < 4 && pids[i]; i++)
		assert_int_equal(fn(pids[i], data), 0);
	return proc_error;
}

static void run_rights(struct preflight_result *result)
{
	snprintf(result->found, sizeof(result->found), "cap_bpf");
}

const struct preflight_check doctor_rights_checks[] = {
	{ "rights-broker", "rights of brokers", "memory", "", run_rights },
	{ NULL, NULL, NULL, NULL, NULL },
};

void doctor_rights_for_each(void (*fn)(const struct preflight_check *check,
				       const struct preflight_result *result, void *data),
			    void *data)
{
	const struct preflight_check check = { "rights-of-7", "rights of hostprof 7", "", "",
					       NULL };
	const struct preflight_result result = { PREFLIGHT_OK, "none" };

	fn(&check, &result, data);
}

static int set_up(void **state)
{
	(void)state;
	second = PREFLIGHT_OK;
	jvm_count = 1;
	jvm_error = proc_error = 0;
	memset(pids, 0, sizeof(pids));
	pids[0] = (uint32_t)getpid();
	return 0;
}

static void all_is_well(void **state)
{
	(void)state;
	assert_string_equal(
		command_run(cmd_doctor, "doctor"),
		"ok    Linux >= 6.1                            6.18.44\n"
		"ok    CAP_BPF                                 cap_bpf \"missing\"\n"
		"ok    user stacks of all processes            1 programs, 0 of them 32-bit; 0 cannot be looked at\n"
		"ok    JVMs                                    1 seen, agent possible in 1\n"
		"ok    rights of brokers                       cap_bpf\n"
		"ok    rights of hostprof 7                    none\n"
		"exit 0\n");
}

static void a_warning(void **state)
{
	(void)state;
	second = PREFLIGHT_WARN;
	assert_string_equal(
		command_run(cmd_doctor, "doctor"),
		"ok    Linux >= 6.1                            6.18.44\n"
		"warn  CAP_BPF                                 cap_bpf \"missing\"\n"
		"      needed for: loading\n"
		"      mend: sudo\n"
		"ok    user stacks of all processes            1 programs, 0 of them 32-bit; 0 cannot be looked at\n"
		"ok    JVMs                                    1 seen, agent possible in 1\n"
		"ok    rights of brokers                       cap_bpf\n"
		"ok    rights of hostprof 7                    none\n"
		"exit 0\n");
}

static void a_failure(void **state)
{
	(void)state;
	second = PREFLIGHT_FAIL;
	assert_non_null(strstr(command_run(cmd_doctor, "doctor"), "fail  CAP_BPF "));
	assert_non_null(strstr(command_run(cmd_doctor, "doctor"), "\nexit 3\n"));
}

static void as_json(void **state)
{
	(void)state;
	second = PREFLIGHT_FAIL;
	assert_string_equal(
		command_run(cmd_doctor, "doctor --json"),
		"[\n"
		"  {\n"
		"    \"id\": \"kernel\",\n"
		"    \"title\": \"Linux >= 6.1\",\n"
		"    \"state\": \"ok\",\n"
		"    \"found\": \"6.18.44\",\n"
		"    \"needed\": \"everything\",\n"
		"    \"mend\": \"a newer kernel\"\n"
		"  },\n"
		"  {\n"
		"    \"id\": \"cap-bpf\",\n"
		"    \"title\": \"CAP_BPF\",\n"
		"    \"state\": \"fail\",\n"
		"    \"found\": \"cap_bpf \\\"missing\\\"\",\n"
		"    \"needed\": \"loading\",\n"
		"    \"mend\": \"sudo\"\n"
		"  },\n"
		"  {\n"
		"    \"id\": \"stacks\",\n"
		"    \"title\": \"user stacks of all processes\",\n"
		"    \"state\": \"ok\",\n"
		"    \"found\": \"1 programs, 0 of them 32-bit; 0 cannot be looked at\",\n"
		"    \"needed\": \"whole stacks (32-bit code is not walked)\",\n"
		"    \"mend\": \"run a 64-bit build of these programs\"\n"
		"  },\n"
		"  {\n"
		"    \"id\": \"jvms\",\n"
		"    \"title\": \"JVMs\",\n"
		"    \"state\": \"ok\",\n"
		"    \"found\": \"1 seen, agent possible in 1\",\n"
		"    \"needed\": \"the agent: allocations, names of threads; Java frames and what is inlined in them\",\n"
		"    \"mend\": \"hostprof list says why\"\n"
		"  },\n"
		"  {\n"
		"    \"id\": \"rights-broker\",\n"
		"    \"title\": \"rights of brokers\",\n"
		"    \"state\": \"ok\",\n"
		"    \"found\": \"cap_bpf\",\n"
		"    \"needed\": \"memory\",\n"
		"    \"mend\": \"\"\n"
		"  },\n"
		"  {\n"
		"    \"id\": \"rights-of-7\",\n"
		"    \"title\": \"rights of hostprof 7\",\n"
		"    \"state\": \"ok\",\n"
		"    \"found\": \"none\",\n"
		"    \"needed\": \"\",\n"
		"    \"mend\": \"\"\n"
		"  }\n"
		"]\n"
		"exit 3\n");
}

static void jvms_that_take_no_agent(void **state)
{
	(void)state;
	jvm_count = 3;
	assert_string_equal(
		strstr(command_run(cmd_doctor, "doctor"), "warn"),
		"warn  JVMs                                    3 seen, agent possible in 2\n"
		"      needed for: the agent: allocations, names of threads; Java frames and what is inlined in them\n"
		"      mend: hostprof list says why\n"
		"ok    rights of brokers                       cap_bpf\n"
		"ok    rights of hostprof 7                    none\n"
		"exit 0\n");
	lacking = 2;
	assert_non_null(strstr(command_run(cmd_doctor, "doctor"),
			       "3 seen, agent possible in 2; of 1 not all can be shown\n"));
	jvm_count = 1;
	assert_non_null(strstr(
		command_run(cmd_doctor, "doctor"),
		"warn  JVMs                                    1 seen, agent possible in 1; of 1 not all can be shown\n"));
	jvm_count = 3;
	lacking = 0;
	jvm_error = -EIO;
	assert_string_equal(
		strstr(command_run(cmd_doctor, "doctor"), "warn"),
		"warn  JVMs                                    no list\n"
		"      needed for: the agent: allocations, names of threads; Java frames and what is inlined in them\n"
		"      mend: hostprof list says why\n"
		"ok    rights of brokers                       cap_bpf\n"
		"ok    rights of hostprof 7                    none\n"
		"exit 0\n");
}

/* Ours is 64-bit, and of a pid that nobody has there is none. */
static void programs(void **state)
{
	(void)state;
	pids[1] = (uint32_t)getpid();
	pids[2] = INT32_MAX;
	assert_non_null(strstr(command_run(cmd_doctor, "doctor"),
			       "2 programs, 0 of them 32-bit; 0 cannot be looked at\n"));
	proc_error = -EIO;
	assert_string_equal(
		strstr(command_run(cmd_doctor, "doctor"), "warn"),
		"warn  user stacks of all processes            2 programs, 0 of them 32-bit; 0 cannot be looked at\n"
		"      needed for: whole stacks (32-bit code is not walked)\n"
		"      mend: run a 64-bit build of these programs\n"
		"ok    JVMs                                    1 seen, agent possible in 1\n"
		"ok    rights of brokers                       cap_bpf\n"
		"ok    rights of hostprof 7                    none\n"
		"exit 0\n");
}

/* pause(), pause() ... as a 32-bit program of one segment. */
static const unsigned char narrow_program[] = {
	0x7f, 'E',  'L',  'F', 1,    1,	 1, 0, 0,    0,	   0,	 0,    0,    0, 0, 0, 2, 0, 3, 0,
	1,    0,    0,	  0,   0x54, 0,	 5, 8, 0x34, 0,	   0,	 0,    0,    0, 0, 0, 0, 0, 0, 0,
	0x34, 0,    0x20, 0,   1,    0,	 0, 0, 0,    0,	   0,	 0,    1,    0, 0, 0, 0, 0, 0, 0,
	0,    0,    5,	  8,   0,    0,	 5, 8, 0x5d, 0,	   0,	 0,    0x5d, 0, 0, 0, 5, 0, 0, 0,
	0,    0x10, 0,	  0,   0xb8, 29, 0, 0, 0,    0xcd, 0x80, 0xeb, 0xf7,
};

/* Start it and wait until it runs; 0: this kernel runs no 32-bit programs. */
static pid_t start_narrow(void)
{
	int fd = memfd_create("narrow", MFD_CLOEXEC), fds[2];
	char *argv[] = { (char[]){ "narrow" }, NULL }, *envp[] = { NULL }, failed;
	pid_t pid;

	assert_int_equal(write(fd, narrow_program, sizeof(narrow_program)), sizeof(narrow_program));
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		fexecve(fd, argv, envp);
		failed = write(fds[1], "x", 1) == 1;
		_exit(failed);
	}
	close(fds[1]);
	close(fd);
	if (read(fds[0], &failed, 1) == 1) {
		waitpid(pid, NULL, 0);
		pid = 0;
	}
	close(fds[0]);
	return pid;
}

static void a_narrow_program(void **state)
{
	pid_t pid = start_narrow();

	(void)state;
	if (!pid)
		skip();
	pids[1] = (uint32_t)pid;
	assert_non_null(
		strstr(command_run(cmd_doctor, "doctor"),
		       "warn  user stacks of all processes            2 programs, 1 of them "
		       "32-bit; 0 cannot be looked at\n"));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_is_well, set_up),
		cmocka_unit_test_setup(a_warning, set_up),
		cmocka_unit_test_setup(a_failure, set_up),
		cmocka_unit_test_setup(as_json, set_up),
		cmocka_unit_test_setup(jvms_that_take_no_agent, set_up),
		cmocka_unit_test_setup(programs, set_up),
		cmocka_unit_test_setup(a_narrow_program, set_up),
	};

	return cmocka_run_group_tests_name("cmd_doctor", tests, NULL, NULL);
}
