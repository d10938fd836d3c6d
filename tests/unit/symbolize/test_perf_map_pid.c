// SPDX-License-Identifier: Apache-2.0
/* Whose map is opened: a runtime names it by its pid in its own namespace, and as its own user. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "process/proc.h"
#include "symbolize/perf_map.h"

/* PID_MAX_LIMIT of include/linux/threads.h is 4 * 1024 * 1024: nobody's. */
#define INNER_PID 77777777U

static struct proc_status status;

/* In place of process/. */
int proc_read_status(uint32_t pid, struct proc_status *ret_status)
{
	*ret_status = status;
	return pid == (uint32_t)getpid() ? 0 : -ENOENT;
}

static void map_path(uint32_t pid, char path[64])
{
	snprintf(path, 64, "/tmp/perf-%u.map", pid);
}

static void write_map(uint32_t pid, const char *text)
{
	_cleanup_close_ int fd = -1;
	char path[64];

	map_path(pid, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static int teardown(void **state)
{
	char path[64];

	(void)state;
	map_path(INNER_PID, path);
	unlink(path);
	map_path((uint32_t)getpid(), path);
	unlink(path);
	return 0;
}

static void expect(const char *name)
{
	_cleanup_(perf_map_freep) struct perf_map *map = perf_map_open((uint32_t)getpid());
	const char *found;

	if (!name) {
		assert_null(map);
		return;
	}
	assert_non_null(map);
	found = perf_map_find(map, 0x1008);
	assert_string_equal(found ? found : "nothing", name);
}

/* The host's pid is another process's there. */
static void the_pid_of_its_namespace(void **state)
{
	(void)state;
	status = (struct proc_status){ .uid = geteuid(), .ns_pid = INNER_PID };
	write_map((uint32_t)getpid(), "1000 10 wrong\n");
	expect(NULL);
	write_map(INNER_PID, "1000 10 right\n");
	expect("right");
}

/* Before Linux 4.1 /proc did not say. */
static void no_namespace_is_known(void **state)
{
	(void)state;
	status = (struct proc_status){ .uid = geteuid() };
	write_map((uint32_t)getpid(), "1000 10 plain\n");
	expect("plain");
}

static void another_users_map(void **state)
{
	char path[64];

	(void)state;
	status = (struct proc_status){ .uid = geteuid() + 1 };
	write_map((uint32_t)getpid(), "1000 10 foreign\n");
	map_path((uint32_t)getpid(), path);
	if (geteuid() == 0) {
		expect("foreign"); /* root's is believed */
		assert_int_equal(chown(path, 12345, 12345), 0);
	}
	expect(NULL);
}

#define TEST(fn) cmocka_unit_test_teardown(fn, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_pid_of_its_namespace),
		TEST(no_namespace_is_known),
		TEST(another_users_map),
	};

	return cmocka_run_group_tests_name("perf_map_pid", tests, NULL, NULL);
}
