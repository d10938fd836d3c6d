/* SPDX-License-Identifier: Apache-2.0 */
/* A JVM that runs: its tables, what is shown of it, attaching, and its agent's code map. */
#include "test.h"

#include <dirent.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/file.h"
#include "jvm/attach/attach.h"
#include "jvm/java_command.h"
#include "jvm/jvm_info.h"
#include "jvm/jvm_private.h"
#include "jvm/layout/vm_flags.h"
#include "live_jvm.h"

static pid_t java;
static struct vmstructs *vs;

static int setup(void **state)
{
	(void)state;
	java = live_start(NULL);
	if (java > 0)
		vs = live_open(java);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (java > 0) {
		vmstructs_close(vs);
		live_end(java);
	}
	return 0;
}

static void need_java(void)
{
	if (java <= 0)
		skip();
}

/* Its library is read and its memory, and both agree with what the JDK says of itself. */
static void its_version_is_the_jdks(void **state)
{
	char expected[128], got[128] = "";

	(void)state;
	need_java();
	live_release("JAVA_RUNTIME_VERSION", expected, sizeof(expected));
	assert_int_equal(vm_version_read(vs, got, sizeof(got)), 0);
	if (expected[0])
		assert_string_equal(got, expected);
	assert_true(strlen(got) > 2);
}

/* Another process of the same library costs one read; a process without one has no tables. */
static void tables_of_a_library_are_shared(void **state)
{
	struct vmstructs_cache *cache = vmstructs_cache_new();
	struct vmstructs *first = NULL, *second = NULL, *none = NULL;
	struct err err = { 0 };
	uint64_t size[3] = { 0 }, offset[3] = { 0 }, heap[3] = { 0 };

	(void)state;
	need_java();
	assert_int_equal(vmstructs_open(cache, (uint32_t)java, NULL, &first, &err), 0);
	assert_int_equal(vmstructs_open(cache, (uint32_t)java, NULL, &second, &err), 0);
	for (int i = 0; i < 3; i++) {
		const struct vmstructs *of = i == 0 ? vs : i == 1 ? first : second;

		assert_int_equal(vmstructs_sizeof(of, "ConstantPool", &size[i]), 0);
		assert_int_equal(vmstructs_field_offset(of, "Method", "_constMethod", &offset[i]),
				 0);
		assert_int_equal(vmstructs_static(of, "CodeCache", "_heaps", &heap[i]), 0);
	}
	assert_true(size[0] && size[0] == size[1] && size[1] == size[2]);
	assert_true(offset[0] && offset[0] == offset[1] && offset[1] == offset[2]);
	assert_true(heap[0] && heap[0] == heap[1] && heap[1] == heap[2]);
	assert_int_equal(vmstructs_open(cache, (uint32_t)getpid(), NULL, &none, &err), -ENODATA);
	assert_null(none);
	assert_int_equal(vmstructs_open(cache, 0x7fffffff, NULL, &none, &err), -ESRCH);
	vmstructs_close(first);
	vmstructs_close(second);
	vmstructs_cache_free(cache);
}

static void its_main_class_is_what_was_started(void **state)
{
	char name[256] = "", cut[8];

	(void)state;
	need_java();
	java_command_main_class((uint32_t)java, vs, name, sizeof(name));
	assert_string_equal(name, LIVE_MAIN);
	java_command_main_class((uint32_t)java, NULL, name, sizeof(name));
	assert_string_equal(name, LIVE_MAIN);
	java_command_main_class((uint32_t)java, vs, cut, sizeof(cut));
	assert_string_equal(cut, "sun.rmi");
	/* Nobody else's arguments. */
	java_command_main_class((uint32_t)getpid(), NULL, name, sizeof(name));
	assert_string_equal(name, "");
}

/* A file of arguments hides it from outside; the JVM knows. */
static void its_main_class_behind_a_file(void **state)
{
	char option[] = "@/tmp/hostprof-test-XXXXXX", name[256] = "";
	int fd = mkstemp(option + 1);
	struct vmstructs *own;
	pid_t pid;

	(void)state;
	need_java();
	assert_int_equal(write(fd, "-Da=b", 5), 5);
	close(fd);
	pid = live_start(option);
	own = live_open(pid);
	for (int i = 0; i < 1000 && !name[0]; i++, live_pause())
		java_command_main_class((uint32_t)pid, own, name, sizeof(name));
	assert_string_equal(name, LIVE_MAIN);
	java_command_main_class((uint32_t)pid, NULL, name, sizeof(name));
	assert_string_equal(name, "");
	vmstructs_close(own);
	live_end(pid);
	unlink(option + 1);
}

/* The agent of this build: beside the tests' directory. */
static bool find_agent(char path[PATH_MAX])
{
	static const char *const places[] = { "/../libhostprof-agent.so",
					      "/../../libhostprof-agent.so" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 64);

	assert_true(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		char place[PATH_MAX + 64];

		snprintf(place, sizeof(place), "%s%s", self, places[i]);
		if (realpath(place, path))
			return true;
	}
	return false;
}

static struct jvm_info info_of(pid_t pid)
{
	struct jvm_info info;
	struct err err = { 0 };

	memset(&info, 0xff, sizeof(info));
	assert_int_equal(jvm_info_read((uint32_t)pid, &info, &err), 0);
	return info;
}

static void expect_row(const struct jvm_info *info)
{
	assert_int_equal(info->pid, java);
	assert_int_equal(info->uid, geteuid());
	assert_true(info->user[0]);
	assert_string_equal(info->main_class, LIVE_MAIN);
	assert_true(info->version[0]);
	assert_string_equal(info->why_not, "");
	assert_true(info->can_attach);
}

/* `list` finds it among all processes, in the order of pids. */
static void it_is_listed(void **state)
{
	struct jvm_info *infos = NULL;
	unsigned int count = 0, found = 0;
	struct err err = { 0 };

	(void)state;
	need_java();
	assert_int_equal(jvm_info_list(&infos, &count, &err), 0);
	for (unsigned int i = 0; i < count; i++) {
		assert_true(!i || infos[i - 1].pid < infos[i].pid);
		if (infos[i].pid != (uint32_t)java)
			continue;
		found++;
		expect_row(&infos[i]);
		assert_int_equal(infos[i].agent, JVM_AGENT_NONE);
	}
	assert_int_equal(found, 1);
	free(infos);
	assert_int_equal(jvm_info_read((uint32_t)getpid(), &(struct jvm_info){ 0 }, &err),
			 -ENODATA);
	assert_int_equal(jvm_info_read(0x7fffffff, &(struct jvm_info){ 0 }, &err), -ESRCH);
}

/* Names of Java threads begin with what the JVM told the kernel of them: by their own tid. */
static void expect_thread_names(struct jvm *jvm)
{
	unsigned int named = 0;
	char path[64];
	struct dirent *d;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", java);
	dir = opendir(path);
	assert_non_null(dir);
	while ((d = readdir(dir))) {
		char file[400], comm[32] = "";
		uint64_t java_tid = 0;
		const char *name;
		FILE *f;

		if (d->d_name[0] == '.')
			continue;
		name = jvm_thread_name(jvm, (uint32_t)strtoul(d->d_name, NULL, 10), clock_now_ns(),
				       &java_tid);
		snprintf(file, sizeof(file), "%s/%s/comm", path, d->d_name);
		f = fopen(file, "re");
		if (!f || !fgets(comm, sizeof(comm), f) || !name) {
			if (f)
				fclose(f);
			continue;
		}
		fclose(f);
		comm[strcspn(comm, "\n")] = '\0';
		/* The first thread keeps the launcher's name. */
		if (strcmp(name, "main"))
			assert_int_equal(strncmp(name, comm, strlen(comm)), 0);
		assert_true(java_tid > 0);
		named++;
	}
	closedir(dir);
	assert_true(named >= 5);
}

static struct jvm *new_jvm(void)
{
	const struct mapping library = { .path = (char *)(uintptr_t) "libjvm.so" };
	struct jvm *jvm = jvm_new((uint32_t)java, &library, NULL);

	/* Where the library lies is found in its maps. */
	jvm->vs = live_open(java);
	return jvm;
}

/* What the agent says of the JVM's code, and what is read from outside, is the same. */
static void expect_code(struct jvm *jvm)
{
	struct java_answer answer;
	uint64_t words[WIRE_COMPILED_WORDS] = { 0 };
	struct wire_jvm wire;

	assert_int_equal(jvm_get_wire(jvm, true, &wire), 0);
	assert_true(wire.interpreter_start && wire.interpreter_end > wire.interpreter_start);
	words[0] = wire.interpreter_start + 64;
	assert_int_equal(jvm_find_code(jvm, words[0], clock_now_ns(), &answer), JAVA_STUB);
	assert_string_equal(answer.stub, "Interpreter");
	assert_int_equal(jvm_find_compiled(jvm, words, &answer), JAVA_STUB);
	assert_string_equal(answer.stub, "Interpreter");
	assert_string_equal(jvm_main_class(jvm), LIVE_MAIN);
	assert_int_equal(jvm_find_code(jvm, 4096, clock_now_ns(), &answer), JAVA_ELSEWHERE);
}

static void wait_for_replay(struct jvm *jvm)
{
	void *buffer = xmalloc(CODEMAP_READ_BYTES);
	uint64_t until = clock_now_ns() + LIVE_ATTACH_NS;

	while (!codemap_store_replays(jvm->store) && clock_now_ns() < until) {
		live_pause();
		jvm_poll(jvm, buffer, clock_now_ns(), UINT64_MAX);
	}
	assert_int_equal(codemap_store_replays(jvm->store), 1);
	assert_true(jvm_is_replayed(jvm, clock_now_ns()));
	free(buffer);
}

static void an_agent_is_loaded_read_and_stopped(void **state)
{
	struct err err = { 0 };
	struct jvm_info info;
	char path[PATH_MAX];
	struct jvm *jvm;

	(void)state;
	need_java();
	if (!find_agent(path))
		skip();
	assert_int_equal(attach_check((uint32_t)java, &err), 0);
	assert_int_equal(live_load_agent(java, path, "start", &err), 0);
	info = info_of(java);
	expect_row(&info);
	assert_int_equal(info.agent, JVM_AGENT_IDLE);
	assert_true(info.agent_bytes > CODEMAP_RING_BYTES);
	jvm = new_jvm();
	assert_int_equal(jvm_open_code_map(jvm, &err), 0);
	wait_for_replay(jvm);
	info = info_of(java);
	assert_int_equal(info.agent, JVM_AGENT_ACTIVE);
	assert_int_equal(info.agent_lease_pid, getpid());
	assert_int_equal(info.agent_dropped, 0);
	jvm->reader.header->dropped = 5;
	assert_int_equal(info_of(java).agent_dropped, 5);
	expect_code(jvm);
	expect_thread_names(jvm);
	/* Again is the one that runs. */
	assert_int_equal(live_load_agent(java, path, "start", &err), 0);
	assert_false(codemap_reader_is_closed(&jvm->reader));
	assert_int_equal(live_load_agent(java, path, "stop", &err), 0);
	assert_true(codemap_reader_is_closed(&jvm->reader));
	assert_int_equal(info_of(java).agent, JVM_AGENT_NONE);
	jvm_free(jvm);
}

#define NOBODY 65534

/* The path by which PID has the agent mapped; false: it has not. */
static bool loaded_agent(pid_t pid, char path[PATH_MAX])
{
	char maps[64], line[PATH_MAX + 128];
	bool found = false;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%d/maps", pid);
	f = fopen(maps, "re");
	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f)) {
		char *at = strchr(line, '/');

		found = at && strstr(at, "hostprof-agent");
		if (found) {
			at[strcspn(at, "\n")] = '\0';
			snprintf(path, PATH_MAX, "%.*s", PATH_MAX - 1, at);
		}
	}
	fclose(f);
	return found;
}

static void copy_file(const char *from, const char *to)
{
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(file_read(from, 64 << 20, &bytes), 0);
	assert_int_equal(file_pwrite_all(fd, bytes.buf, bytes.len, 0), 0);
	close(fd);
}

/*
 * Root attaches as the JVM's user, and hands it a copy of an agent that this user cannot read. The
 * copy is the user's to read, not to write.
 */
static void a_jvm_of_another_user(void **state)
{
	char dir[] = "/tmp/hostprof-test-XXXXXX", own[64], path[PATH_MAX], loaded[PATH_MAX] = "";
	struct vmstructs *tables;
	struct err err = { 0 };
	struct jvm_info info;
	struct stat st;
	pid_t pid;

	(void)state;
	need_java();
	if (geteuid() != 0 || !find_agent(path))
		skip();
	assert_non_null(mkdtemp(dir));
	snprintf(own, sizeof(own), "%s/agent.so", dir);
	copy_file(path, own);
	pid = live_start_as(NOBODY, NULL);
	tables = live_open(pid);
	if (live_load_agent(pid, own, "start", &err) != 0)
		fail_msg("%s", err.text);
	assert_true(loaded_agent(pid, loaded));
	assert_int_not_equal(strncmp(loaded, dir, strlen(dir)), 0);
	assert_int_equal(stat(loaded, &st), 0);
	assert_int_equal(st.st_mode & 022, 0);
	info = info_of(pid);
	assert_int_equal(info.uid, NOBODY);
	assert_int_equal(info.agent, JVM_AGENT_IDLE);
	/* A second time the copy that is there is used. */
	if (live_load_agent(pid, own, "start", &err) != 0)
		fail_msg("%s", err.text);
	assert_int_equal(live_load_agent(pid, own, "stop", &err), 0);
	assert_int_equal(info_of(pid).agent, JVM_AGENT_NONE);
	vmstructs_close(tables);
	live_end(pid);
	unlink(loaded);
	unlink(own);
	rmdir(dir);
}

/* An agent that is found can be read; where there is none, that is said. */
static void what_is_found_is_there(void **state)
{
	struct err err = { 0 };
	char path[PATH_MAX] = "";

	(void)state;
	if (attach_find_agent(path, sizeof(path), &err) == 0) {
		assert_int_equal(access(path, R_OK), 0);
		return;
	}
	assert_int_equal(err.code, -ENOENT);
	assert_true(access(HOSTPROF_LIBDIR "/hostprof/libhostprof-agent.so", R_OK) < 0);
	assert_string_equal(path, "");
}

/* What cannot be loaded is the JVM's to say; nothing is left behind. */
static void what_is_no_agent_is_refused(void **state)
{
	struct err err = { 0 };

	(void)state;
	need_java();
	assert_true(attach_load_agent((uint32_t)java, "/nowhere/agent.so", "", LIVE_ATTACH_NS,
				      &err) < 0);
	assert_true(err.text[0]);
	err = (struct err){ 0 };
	assert_true(attach_load_agent((uint32_t)java, "/etc/passwd", "", LIVE_ATTACH_NS, &err) < 0);
	assert_true(err.text[0]);
	assert_int_equal(attach_check((uint32_t)java, &err), 0);
	assert_int_equal(attach_check((uint32_t)getpid(), &err), -EOPNOTSUPP);
	assert_int_equal(attach_check(0x7fffffff, &err), -ESRCH);
}

/* A stopped JVM would not answer; it is not even signalled. */
static void a_stopped_jvm_is_let_alone(void **state)
{
	struct err err = { 0 };
	int status;

	(void)state;
	need_java();
	assert_int_equal(kill(java, SIGSTOP), 0);
	assert_int_equal(waitpid(java, &status, WUNTRACED), java);
	assert_int_equal(attach_check((uint32_t)java, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "stopped"));
	assert_int_equal(kill(java, SIGCONT), 0);
	assert_int_equal(waitpid(java, &status, WCONTINUED), java);
	for (int i = 0; i < 1000 && attach_check((uint32_t)java, &err); i++)
		live_pause();
	assert_int_equal(attach_check((uint32_t)java, &err), 0);
}

/* Flags that forbid it, read before anything is sent. */
static void a_jvm_that_forbids_it_is_not_attached_to(void **state)
{
	static const struct {
		const char *option, *why;
	} cases[] = {
		{ "-XX:+DisableAttachMechanism", "-XX:+DisableAttachMechanism" },
		{ "-XX:-EnableDynamicAgentLoading", "-XX:-EnableDynamicAgentLoading" },
	};

	(void)state;
	need_java();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		pid_t pid = live_start(cases[i].option);
		struct vmstructs *own = live_open(pid);
		struct err err = { 0 };

		assert_int_equal(attach_check((uint32_t)pid, &err), -EOPNOTSUPP);
		assert_non_null(strstr(err.text, cases[i].why));
		assert_non_null(strstr(info_of(pid).why_not, cases[i].why));
		assert_false(info_of(pid).can_attach);
		vmstructs_close(own);
		live_end(pid);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(its_version_is_the_jdks),
		cmocka_unit_test(tables_of_a_library_are_shared),
		cmocka_unit_test(its_main_class_is_what_was_started),
		cmocka_unit_test(its_main_class_behind_a_file),
		cmocka_unit_test(it_is_listed),
		cmocka_unit_test(an_agent_is_loaded_read_and_stopped),
		cmocka_unit_test(a_jvm_of_another_user),
		cmocka_unit_test(what_is_found_is_there),
		cmocka_unit_test(what_is_no_agent_is_refused),
		cmocka_unit_test(a_stopped_jvm_is_let_alone),
		cmocka_unit_test(a_jvm_that_forbids_it_is_not_attached_to),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
