// SPDX-License-Identifier: Apache-2.0
/* The agent's library where a process in another root can load it: which copy is made, kept, replaced. */
#include "jailed_child.h"

#include "jvm/attach/attach_stage.h"

#define NOBODY 65534U

static char agent_dir[64], agent_path[96];

/* The host's file, of which nobody else's root has a name. */
static void write_agent(const char *content)
{
	int fd = open(agent_path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0644);

	assert_int_equal(write(fd, content, strlen(content)), strlen(content));
	close(fd);
}

static int setup(void **state)
{
	strcpy(agent_dir, "/tmp/hostprof-agent-XXXXXX");
	if (!mkdtemp(agent_dir) || chmod(agent_dir, 0755) < 0)
		return -1;
	snprintf(agent_path, sizeof(agent_path), "%s/agent.so", agent_dir);
	write_agent("an agent");
	return jail_setup(state);
}

static int teardown(void **state)
{
	unlink(agent_path);
	return rmdir(agent_dir) < 0 ? -1 : jail_teardown(state);
}

static const char *staged(const struct jail *jail)
{
	static char path[256];
	struct err err;

	if (attach_stage_agent(&jail->target, agent_path, clock_now_ns() + 10 * NSEC_PER_SEC, path,
			       sizeof(path), &err) < 0)
		fail_msg("%s", err.text);
	return path;
}

static int look(const struct attach_target *target, struct err *err)
{
	return attach_stage_check(target, agent_path, clock_now_ns() + 10 * NSEC_PER_SEC, err);
}

static struct stat stat_of(const struct jail *jail, const char *path)
{
	struct stat st;

	assert_int_equal(stat(jail_path(jail, path), &st), 0);
	return st;
}

static void expect_content(const struct jail *jail, const char *path, const char *content)
{
	char text[64] = "";
	int fd = open(jail_path(jail, path), O_RDONLY | O_CLOEXEC);

	assert_int_equal(read(fd, text, sizeof(text) - 1), strlen(content));
	assert_string_equal(text, content);
	close(fd);
}

static void a_file_that_it_sees(void **state)
{
	struct attach_target target = ATTACH_TARGET_INIT;
	pid_t child = fork();
	char path[256];
	struct err err;

	(void)state;
	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(attach_target_open((uint32_t)child, &target, &err), 0);
	assert_int_equal(attach_target_enter(&target, &err), 0);
	assert_int_equal(look(&target, &err), 0);
	assert_int_equal(attach_stage_agent(&target, agent_path, clock_now_ns() + 10 * NSEC_PER_SEC,
					    path, sizeof(path), &err),
			 0);
	assert_string_equal(path, agent_path);
	attach_target_close(&target);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void a_copy_in_its_tmp(void **state)
{
	struct jail *jail = *state;
	struct stat first;
	char path[256];

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, NOBODY);
	strcpy(path, staged(jail));
	assert_int_equal(strncmp(path, "/tmp/libhostprof-agent-", 23), 0);
	assert_string_equal(path + strlen(path) - 3, ".so");
	expect_content(jail, path, "an agent");
	first = stat_of(jail, path);
	assert_int_equal(first.st_uid, NOBODY);
	assert_int_equal(first.st_mode & 07777, 0500);
	/* Once is enough. */
	assert_string_equal(staged(jail), path);
	assert_int_equal(stat_of(jail, path).st_ino, first.st_ino);
	/* Another build has another name, and leaves the first one alone. */
	write_agent("a later agent");
	assert_string_not_equal(staged(jail), path);
	expect_content(jail, staged(jail), "a later agent");
	expect_content(jail, path, "an agent");
}

/* The same path on both sides, and another file behind it. */
static void another_file_under_its_name(void **state)
{
	struct jail *jail = *state;
	int fd;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	assert_int_equal(mkdir(jail_path(jail, agent_dir), 0755), 0);
	fd = open(jail_path(jail, agent_path), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
	assert_int_equal(write(fd, "an agent", 8), 8);
	close(fd);
	assert_int_equal(strncmp(staged(jail), "/tmp/libhostprof-agent-", 23), 0);
}

/* What others can change, or have made, is replaced. */
static void a_copy_that_is_not_good(void **state)
{
	struct jail *jail = *state;
	const char *host;
	char path[256];
	struct stat st;
	int fd;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	strcpy(path, staged(jail));
	host = jail_path(jail, path);
	for (int i = 0; i < 5; i++) {
		switch (i) {
		case 0: assert_int_equal(chmod(host, 0520), 0); break;
		case 1: assert_int_equal(chmod(host, 0502), 0); break;
		case 2: assert_int_equal(chown(host, NOBODY, NOBODY), 0); break;
		case 3: /* as long, and one byte differs */
			assert_int_equal(chmod(host, 0700), 0);
			fd = open(host, O_WRONLY | O_CLOEXEC);
			assert_int_equal(pwrite(fd, "X", 1, 7), 1);
			close(fd);
			break;
		default: /* longer */
			fd = open(host, O_WRONLY | O_APPEND | O_CLOEXEC);
			assert_int_equal(write(fd, "s", 1), 1);
			close(fd);
			break;
		}
		st = stat_of(jail, path);
		fd = open(host, O_RDONLY | O_CLOEXEC); /* so that its inode is not used again */
		assert_string_equal(staged(jail), path);
		assert_int_not_equal(stat_of(jail, path).st_ino, st.st_ino);
		expect_content(jail, path, "an agent");
		assert_int_equal(stat_of(jail, path).st_uid, 0);
		assert_int_equal(stat_of(jail, path).st_mode & 07777, 0500);
		close(fd);
		host = jail_path(jail, path);
	}
}

/* Root's own copy is as good as one of the process's user. */
static void a_copy_of_root(void **state)
{
	struct jail *jail = *state;
	char path[256];
	struct stat st;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, NOBODY);
	strcpy(path, staged(jail));
	assert_int_equal(chown(jail_path(jail, path), 0, 0), 0);
	assert_int_equal(chmod(jail_path(jail, path), 0555), 0);
	st = stat_of(jail, path);
	assert_string_equal(staged(jail), path);
	assert_int_equal(stat_of(jail, path).st_ino, st.st_ino);
}

/* A name in /tmp that cannot be taken: the next directory. Nothing is left behind. */
static void the_next_directory(void **state)
{
	struct jail *jail = *state;
	char path[256], ret[256];
	struct err err;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, NOBODY);
	assert_int_equal(chmod(jail_path(jail, "/tmp"), 0755), 0);
	strcpy(path, staged(jail));
	assert_int_equal(strncmp(path, "/var/tmp/libhostprof-agent-", 27), 0);
	expect_content(jail, path, "an agent");
	/* A directory has the name, and there is no /dev/shm: the file that was to become it is removed. */
	assert_int_equal(unlink(jail_path(jail, path)), 0);
	assert_int_equal(mkdir(jail_path(jail, path), 0755), 0);
	assert_int_equal(attach_stage_agent(&jail->target, agent_path,
					    clock_now_ns() + 10 * NSEC_PER_SEC, ret, sizeof(ret),
					    &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "cannot copy the agent to where process"));
	assert_int_equal(rmdir(jail_path(jail, path)), 0);
	assert_int_equal(rmdir(jail_path(jail, "/var/tmp")), 0);
}

/* It tells before anything is copied, and copies nothing. */
static void a_look(void **state)
{
	struct jail *jail = *state;
	char path[256];
	struct err err;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, NOBODY);
	assert_int_equal(look(&jail->target, &err), 0);
	strcpy(path, staged(jail));
	assert_int_equal(unlink(jail_path(jail, path)), 0);
	assert_int_equal(look(&jail->target, &err), 0);
	assert_int_not_equal(access(jail_path(jail, path), F_OK), 0);
	/* A copy that is there is as good as a place for one. */
	staged(jail);
	assert_int_equal(chmod(jail_path(jail, "/tmp"), 0755), 0);
	assert_int_equal(rmdir(jail_path(jail, "/var/tmp")), 0);
	assert_int_equal(look(&jail->target, &err), 0);
	assert_int_equal(unlink(jail_path(jail, path)), 0);
	assert_int_equal(look(&jail->target, &err), -EACCES);
	assert_non_null(strstr(err.text, "there is no place for the agent"));
	/* It sees the host's own file. */
	assert_int_equal(mkdir(jail_path(jail, agent_dir), 0755), 0);
	assert_int_equal(link(agent_path, jail_path(jail, agent_path)), 0);
	assert_int_equal(look(&jail->target, &err), 0);
}

static void what_cannot_be_staged(void **state)
{
	struct jail *jail = *state;
	char path[20];
	struct err err;

	if (geteuid() != 0)
		skip();
	jail_start(jail, QUIT_IS_IGNORED, 0);
	assert_int_equal(attach_stage_agent(&jail->target, "/no/agent.so",
					    clock_now_ns() + 10 * NSEC_PER_SEC, path, sizeof(path),
					    &err),
			 -ENOENT);
	assert_non_null(strstr(err.text, "cannot find the agent /no/agent.so"));
	assert_int_equal(attach_stage_agent(&jail->target, agent_path,
					    clock_now_ns() + 10 * NSEC_PER_SEC, path, sizeof(path),
					    &err),
			 -ENAMETOOLONG);
	assert_int_equal(attach_stage_agent(&jail->target, agent_dir,
					    clock_now_ns() + 10 * NSEC_PER_SEC, path, sizeof(path),
					    &err),
			 -EISDIR);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_that_it_sees),
		TEST(a_copy_in_its_tmp),
		TEST(another_file_under_its_name),
		TEST(a_copy_that_is_not_good),
		TEST(a_copy_of_root),
		TEST(the_next_directory),
		TEST(a_look),
		TEST(what_cannot_be_staged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
