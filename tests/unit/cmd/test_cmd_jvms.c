// SPDX-License-Identifier: Apache-2.0
/* list, status, attach, detach: what they print of JVMs, what they ask of one, and their exit codes. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cmd/cmd.h"
#include "command_run.h"
#include "jvm/attach/attach.h"
#include "jvm/jvm_info.h"

static struct jvm_info jvms[3];
static unsigned int jvm_count;
static int list_error, read_error, check_error, find_error, load_error;

/* --- in place of jvm/ --- */

int jvm_info_list(struct jvm_info **ret_infos, unsigned int *ret_count, struct err *err)
{
	if (list_error)
		return err_set(err, list_error, "no list");
	*ret_infos = xmemdup(jvms, sizeof(jvms));
	*ret_count = jvm_count;
	return 0;
}

int jvm_info_read(uint32_t pid, struct jvm_info *ret_info, struct err *err)
{
	if (read_error)
		return err_set(err, read_error, "no JVM");
	*ret_info = jvms[0];
	ret_info->pid = pid == (uint32_t)getppid() ? jvms[0].pid : 0;
	return 0;
}

int attach_check(uint32_t pid, struct err *err)
{
	printf("check %u\n", pid);
	return check_error ? err_set(err, check_error, "not allowed") : 0;
}

int attach_find_agent(char *ret_path, unsigned long size, struct err *err)
{
	snprintf(ret_path, size, "/lib/agent.so");
	return find_error ? err_set(err, find_error, "no agent") : 0;
}

int attach_load_agent(uint32_t pid, const char *agent_path, const char *options,
		      uint64_t timeout_ns, struct err *err)
{
	printf("load %u %s \"%s\" %llu\n", pid, agent_path, options,
	       (unsigned long long)timeout_ns);
	return load_error ? err_set(err, load_error, "no answer") : 0;
}

static int set_up(void **state)
{
	(void)state;
	jvms[0] = (struct jvm_info){ .pid = 42,
				     .ns_pid = 7,
				     .uid = 1000,
				     .user = "anna",
				     .version = "17.0.15+6",
				     .main_class = "com.acme.Main",
				     .container_id = "0123456789abcdef",
				     .container = { "shop", "acme/shop:3" },
				     .agent = JVM_AGENT_ACTIVE,
				     .agent_lease_pid = 77,
				     .agent_bytes = 3 << 20,
				     .agent_dropped = 1234,
				     .can_attach = true,
				     .why_not = "not to be shown" };
	jvms[1] = (struct jvm_info){ .pid = 4243,
				     .ns_pid = 4243,
				     .lacks = { 2, { "lines: of it", "more" } },
				     .user = "root",
				     .why_not = "it runs with -Xrs" };
	jvms[2] = (struct jvm_info){
		.pid = 4244, .ns_pid = 4244, .user = "root", .agent = JVM_AGENT_IDLE
	};
	jvm_count = 3;
	list_error = read_error = check_error = find_error = load_error = 0;
	return 0;
}

/* "NAME PID MORE", PID a process that runs: ours. */
static const char *of_us(command_fn fn, const char *name, const char *more)
{
	char line[256];

	snprintf(line, sizeof(line), "%s %d %s", name, (int)getpid(), more);
	return command_run(fn, line);
}

static void list_is_a_table(void **state)
{
	(void)state;
	assert_string_equal(
		command_run(cmd_list, "list"),
		"PID      INSIDE  USER         VERSION                    AGENT   ATTACH  CONTAINER     MAIN CLASS\n"
		"42       7       anna         17.0.15+6                  active  yes     shop          com.acme.Main\n"
		"4243     -       root         -                          none    no      -             -\n"
		"         cannot be attached to: it runs with -Xrs\n"
		"         lacks lines: of it\n"
		"         lacks more\n"
		"4244     -       root         -                          idle    no      -             -\n"
		"exit 0\n");
}

static void list_as_json(void **state)
{
	(void)state;
	jvm_count = 2;
	assert_string_equal(command_run(cmd_list, "list --json"),
			    "[\n"
			    "  {\n"
			    "    \"pid\": 42,\n"
			    "    \"namespace_pid\": 7,\n"
			    "    \"uid\": 1000,\n"
			    "    \"user\": \"anna\",\n"
			    "    \"version\": \"17.0.15+6\",\n"
			    "    \"main_class\": \"com.acme.Main\",\n"
			    "    \"container\": \"0123456789abcdef\",\n"
			    "    \"container_name\": \"shop\",\n"
			    "    \"container_image\": \"acme/shop:3\",\n"
			    "    \"agent\": \"active\",\n"
			    "    \"agent_lease_pid\": 77,\n"
			    "    \"agent_bytes\": 3145728,\n"
			    "    \"agent_dropped\": 1234,\n"
			    "    \"can_attach\": true,\n"
			    "    \"why_not\": null,\n"
			    "    \"lacks\": []\n"
			    "  },\n"
			    "  {\n"
			    "    \"pid\": 4243,\n"
			    "    \"namespace_pid\": 4243,\n"
			    "    \"uid\": 0,\n"
			    "    \"user\": \"root\",\n"
			    "    \"version\": null,\n"
			    "    \"main_class\": null,\n"
			    "    \"container\": null,\n"
			    "    \"container_name\": null,\n"
			    "    \"container_image\": null,\n"
			    "    \"agent\": \"none\",\n"
			    "    \"agent_lease_pid\": 0,\n"
			    "    \"agent_bytes\": 0,\n"
			    "    \"agent_dropped\": 0,\n"
			    "    \"can_attach\": false,\n"
			    "    \"why_not\": \"it runs with -Xrs\",\n"
			    "    \"lacks\": [\n"
			    "      \"lines: of it\",\n"
			    "      \"more\"\n"
			    "    ]\n"
			    "  }\n"
			    "]\n"
			    "exit 0\n");
}

static void lists_of_none(void **state)
{
	(void)state;
	jvm_count = 0;
	assert_string_equal(
		command_run(cmd_list, "list"),
		"hostprof: no JVM runs here, or none that this user may look at\nexit 0\n");
	assert_string_equal(command_run(cmd_list, "list --json"), "[]\nexit 0\n");
	list_error = -EIO;
	assert_string_equal(command_run(cmd_list, "list"), "hostprof: no list\nexit 1\n");
	assert_non_null(strstr(command_run(cmd_list, "list 1"), "exit 2\n"));
}

static void status_in_lines(void **state)
{
	(void)state;
	assert_string_equal(of_us(cmd_status, "status", ""),
			    "pid:        42 (7 in its namespace)\n"
			    "user:       anna (1000)\n"
			    "version:    17.0.15+6\n"
			    "main class: com.acme.Main\n"
			    "container:  0123456789abcdef\n"
			    "            shop, of acme/shop:3\n"
			    "agent:      active, used by process 77, 3 MB, 1,234 records dropped\n"
			    "attach:     possible\n"
			    "exit 0\n");
	jvms[0].agent_lease_pid = 0;
	assert_non_null(strstr(of_us(cmd_status, "status", ""), "active, 3 MB,"));
	jvms[0] = jvms[2];
	assert_string_equal(of_us(cmd_status, "status", ""),
			    "pid:        4244\n"
			    "user:       root (0)\n"
			    "version:    unknown\n"
			    "main class: unknown\n"
			    "container:  none\n"
			    "agent:      idle, 0 B, 0 records dropped\n"
			    "attach:     not possible: \n"
			    "exit 0\n");
	jvms[0] = jvms[1];
	assert_string_equal(of_us(cmd_status, "status", ""),
			    "pid:        4243\n"
			    "user:       root (0)\n"
			    "version:    unknown\n"
			    "main class: unknown\n"
			    "container:  none\n"
			    "agent:      none\n"
			    "attach:     not possible: it runs with -Xrs\n"
			    "lacks:      lines: of it\n"
			    "lacks:      more\n"
			    "exit 0\n");
}

static void status_as_json(void **state)
{
	(void)state;
	assert_string_equal(of_us(cmd_status, "status", "--json"),
			    "{\n"
			    "  \"pid\": 42,\n"
			    "  \"namespace_pid\": 7,\n"
			    "  \"uid\": 1000,\n"
			    "  \"user\": \"anna\",\n"
			    "  \"version\": \"17.0.15+6\",\n"
			    "  \"main_class\": \"com.acme.Main\",\n"
			    "  \"container\": \"0123456789abcdef\",\n"
			    "  \"container_name\": \"shop\",\n"
			    "  \"container_image\": \"acme/shop:3\",\n"
			    "  \"agent\": \"active\",\n"
			    "  \"agent_lease_pid\": 77,\n"
			    "  \"agent_bytes\": 3145728,\n"
			    "  \"agent_dropped\": 1234,\n"
			    "  \"can_attach\": true,\n"
			    "  \"why_not\": null,\n"
			    "  \"lacks\": []\n"
			    "}\n"
			    "exit 0\n");
}

static void which_jvm(void **state)
{
	(void)state;
	assert_string_equal(command_run(cmd_status, "status 0"),
			    "hostprof: '0' is not a pid\nexit 2\n");
	assert_string_equal(command_run(cmd_status, "status"),
			    "hostprof: status: something is missing\n"
			    "hint: usage: hostprof status PID [--json]\nexit 2\n");
	assert_string_equal(of_us(cmd_status, "status", "5 6"),
			    "hostprof: status: unexpected '5'\n"
			    "hint: usage: hostprof status PID [--json]\nexit 2\n");
	assert_non_null(strstr(command_run(cmd_status, "status --help"), "exit 0\n"));
	assert_string_equal(command_run(cmd_status, "status 1x"),
			    "hostprof: '1x' is not a pid\nexit 2\n");
	assert_non_null(strstr(command_run(cmd_status, "status 2147483648"), "is not a pid"));
	assert_string_equal(command_run(cmd_status, "status 2147483647"),
			    "hostprof: there is no process 2147483647\nexit 1\n");
	read_error = -ENODATA;
	assert_string_equal(of_us(cmd_status, "status", ""), "hostprof: no JVM\nexit 1\n");
	read_error = -EPERM;
	assert_string_equal(of_us(cmd_status, "status", ""), "hostprof: no JVM\nexit 3\n");
	assert_string_equal(of_us(cmd_attach, "attach", ""), "hostprof: no JVM\nexit 3\n");
	assert_string_equal(of_us(cmd_detach, "detach", ""), "hostprof: no JVM\nexit 3\n");
}

static void *tell_tid(void *data)
{
	int *fds = data, tid = gettid();
	char end;

	assert_int_equal(write(fds[1], &tid, sizeof(tid)), sizeof(tid));
	assert_int_equal(read(fds[2], &end, 1), 0);
	return NULL;
}

/* A thread's id is a name in /proc, too. */
static void no_thread_is_a_jvm(void **state)
{
	char line[64], expected[256];
	int fds[4], tid;
	pthread_t thread;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(pipe(fds + 2), 0);
	assert_int_equal(pthread_create(&thread, NULL, tell_tid, fds), 0);
	assert_int_equal(read(fds[0], &tid, sizeof(tid)), sizeof(tid));
	snprintf(line, sizeof(line), "status %d", tid);
	snprintf(expected, sizeof(expected),
		 "hostprof: %d is a thread of process %d\n"
		 "hint: give the process's pid, %d\nexit 1\n",
		 tid, (int)getpid(), (int)getpid());
	assert_string_equal(command_run(cmd_status, line), expected);
	close(fds[3]);
	pthread_join(thread, NULL);
	for (int i = 0; i < 3; i++)
		close(fds[i]);
}

static void attaching(void **state)
{
	(void)state;
	assert_string_equal(
		of_us(cmd_attach, "attach", ""),
		"check 42\n"
		"load 42 /lib/agent.so \"\" 10000000000\n"
		"hostprof: java 17.0.15+6 com.acme.Main (pid 42): agent has the new options\n"
		"exit 0\n");
	jvms[0].agent = JVM_AGENT_NONE;
	assert_string_equal(
		of_us(cmd_attach, "attach", "--agent /tmp/mine.so --options a=b --timeout 250ms"),
		"check 42\n"
		"load 42 /tmp/mine.so \"a=b\" 250000000\n"
		"hostprof: java 17.0.15+6 com.acme.Main (pid 42): agent loaded\n"
		"exit 0\n");
	jvms[0].version[0] = jvms[0].main_class[0] = 0;
	assert_non_null(strstr(of_us(cmd_attach, "attach", ""), "java (pid 42)"));
	load_error = -ETIMEDOUT;
	assert_string_equal(of_us(cmd_attach, "attach", ""),
			    "check 42\n"
			    "load 42 /lib/agent.so \"\" 10000000000\n"
			    "hostprof: no answer\n"
			    "exit 1\n");
	find_error = -ENOENT;
	assert_string_equal(of_us(cmd_attach, "attach", ""), "check 42\n"
							     "hostprof: no agent\n"
							     "exit 1\n");
	check_error = -EOPNOTSUPP;
	assert_string_equal(of_us(cmd_attach, "attach", "--agent /tmp/mine.so"),
			    "check 42\n"
			    "hostprof: not allowed\n"
			    "exit 3\n");
}

static void detaching(void **state)
{
	(void)state;
	assert_string_equal(of_us(cmd_detach, "detach", "--timeout 3s"),
			    "check 42\n"
			    "load 42 /lib/agent.so \"stop\" 3000000000\n"
			    "hostprof: java 17.0.15+6 com.acme.Main (pid 42): agent ended\n"
			    "exit 0\n");
	load_error = -EPERM;
	assert_string_equal(of_us(cmd_detach, "detach", ""),
			    "check 42\n"
			    "load 42 /lib/agent.so \"stop\" 10000000000\n"
			    "hostprof: no answer\n"
			    "exit 3\n");
	jvms[0].agent = JVM_AGENT_NONE;
	assert_string_equal(of_us(cmd_detach, "detach", ""),
			    "hostprof: no agent is loaded in process 42\n"
			    "exit 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(list_is_a_table, set_up),
		cmocka_unit_test_setup(list_as_json, set_up),
		cmocka_unit_test_setup(lists_of_none, set_up),
		cmocka_unit_test_setup(status_in_lines, set_up),
		cmocka_unit_test_setup(status_as_json, set_up),
		cmocka_unit_test_setup(which_jvm, set_up),
		cmocka_unit_test_setup(no_thread_is_a_jvm, set_up),
		cmocka_unit_test_setup(attaching, set_up),
		cmocka_unit_test_setup(detaching, set_up),
	};

	return cmocka_run_group_tests_name("cmd_jvms", tests, NULL, NULL);
}
