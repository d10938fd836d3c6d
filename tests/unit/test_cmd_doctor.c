// SPDX-License-Identifier: Apache-2.0
/* doctor: what it says of each state of a check, of the processes and the JVMs, and its exit code. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/preflight.h"
#include "cmd/cmd.h"
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

int jvm_info_list(struct jvm_info **ret_infos, unsigned int *ret_count, struct err *err)
{
	if (jvm_error)
		return err_set(err, jvm_error, "no list");
	*ret_infos = xcalloc(3, sizeof(**ret_infos));
	for (unsigned int i = 0; i < jvm_count; i++)
		(*ret_infos)[i].can_attach = i != 1;
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
	assert_string_equal(command_run(cmd_doctor, "doctor"), "");
}

static void a_warning(void **state)
{
	(void)state;
	second = PREFLIGHT_WARN;
	assert_string_equal(command_run(cmd_doctor, "doctor"), "");
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
	assert_string_equal(command_run(cmd_doctor, "doctor --json"), "");
}

static void jvms_that_take_no_agent(void **state)
{
	(void)state;
	jvm_count = 3;
	assert_string_equal(strstr(command_run(cmd_doctor, "doctor"), "warn"), "");
	jvm_error = -EIO;
	assert_string_equal(strstr(command_run(cmd_doctor, "doctor"), "warn"), "");
}

/* A file of 32-bit code as a process's program: ours is 64-bit, and of pid 0 there is none. */
static void programs(void **state)
{
	(void)state;
	pids[1] = (uint32_t)getpid();
	pids[2] = INT32_MAX;
	assert_non_null(strstr(command_run(cmd_doctor, "doctor"),
			       "2 programs, 0 of them 32-bit; 0 cannot be looked at\n"));
	proc_error = -EIO;
	assert_string_equal(strstr(command_run(cmd_doctor, "doctor"), "warn"), "");
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
	};

	return cmocka_run_group_tests_name("cmd_doctor", tests, NULL, NULL);
}
