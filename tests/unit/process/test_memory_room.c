// SPDX-License-Identifier: Apache-2.0
/* What a process may still take of its memory cgroups, by files made here. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process/memory_room.h"

#define MB (1ULL << 20)

static char mount[] = "/tmp/hostprof-room-XXXXXX";

static int setup(void **state)
{
	(void)state;
	strcpy(mount + sizeof(mount) - 7, "XXXXXX");
	return mkdtemp(mount) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", mount);
	return system(command);
}

static void put(const char *directory, const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s%s", mount, directory);
	for (char *at = path + strlen(mount) + 1; *directory; at++) {
		char c = *at;

		if (c != '/' && c)
			continue;
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = c;
		if (!c)
			break;
	}
	snprintf(path, sizeof(path), "%s%s/%s", mount, directory, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void put_v2(const char *directory, const char *limit, const char *usage, const char *stat)
{
	put(directory, "memory.max", limit);
	put(directory, "memory.current", usage);
	put(directory, "memory.stat", stat);
}

static void put_v1(const char *directory, const char *limit, const char *usage, const char *stat)
{
	put(directory, "memory.limit_in_bytes", limit);
	put(directory, "memory.usage_in_bytes", usage);
	put(directory, "memory.stat", stat);
}

static uint64_t find(const char *cgroups)
{
	return memory_room_find(mount, cgroups, strlen(cgroups));
}

static void limit_less_usage(void **state)
{
	(void)state;
	put_v2("/a/b", "104857600\n", "94371840\n", "anon 94371840\n");
	assert_int_equal(find("0::/a/b\n"), 10 * MB);
	put_v1("/memory/a/b", "104857600\n", "103809024\n", "cache 0\n");
	assert_int_equal(find("5:cpu,memory:/a/b\n0::/\n"), 1 * MB);
	assert_int_equal(find("5:memory,cpu:/a/b\n"), 1 * MB);
	/* Both trees have a say; another controller's path has none. */
	assert_int_equal(find("5:memory:/a/b\n4:cpu:/a\n0::/a/b\n"), 1 * MB);
	assert_int_equal(find("5:memoryless,cpu:/a/b\n4:cpuset:/a/b\n"), MEMORY_ROOM_UNLIMITED);
}

static void full_is_no_room(void **state)
{
	(void)state;
	put_v2("/a", "1048576\n", "1048576\n", "");
	assert_int_equal(find("0::/a\n"), 0);
	/* A limit that was lowered below what is used. */
	put_v2("/a", "1048576\n", "2097152\n", "");
	assert_int_equal(find("0::/a\n"), 0);
}

static void the_least_of_all_levels(void **state)
{
	(void)state;
	put_v2("/a", "104857600\n", "101711872\n", "");
	put_v2("/a/b", "max\n", "94371840\n", "");
	put_v2("/a/b/c", "104857600\n", "94371840\n", "");
	assert_int_equal(find("0::/a/b/c\n"), 3 * MB);
	/* What cannot be seen is passed over: a container sees its own part of the tree. */
	assert_int_equal(find("0::/a/b/c/d/e\n"), 3 * MB);
	put_v1("/memory", "104857600\n", "102760448\n", "");
	assert_int_equal(find("3:memory:/docker/0123\n"), 2 * MB);
}

static void without_a_limit(void **state)
{
	(void)state;
	put_v2("/a", "max\n", "94371840\n", "");
	assert_int_equal(find("0::/a\n"), MEMORY_ROOM_UNLIMITED);
	assert_int_equal(find("0::/unknown\n"), MEMORY_ROOM_UNLIMITED);
	assert_int_equal(find(""), MEMORY_ROOM_UNLIMITED);
	assert_int_equal(find("nonsense\n5\n5:\n5:memory\n"), MEMORY_ROOM_UNLIMITED);
	/* v1's word for none. */
	put_v1("/memory/a", "9223372036854771712\n", "94371840\n", "");
	assert_true(find("3:memory:/a\n") > 1ULL << 60);
}

/* A program that reads many files fills its cgroup with them; they go when memory is needed. */
static void cached_files_are_room(void **state)
{
	(void)state;
	put_v2("/a", "104857600\n", "104857600\n", "anon 5\ninactive_file 20971520\nfile 9\n");
	assert_int_equal(find("0::/a\n"), 20 * MB);
	put_v1("/memory/a", "104857600\n", "104857600\n",
	       "cache 7\ninactive_file 1048576\ntotal_inactive_file 10485760\n");
	assert_int_equal(find("3:memory:/a\n"), 10 * MB);
	/* More than is used cannot be. */
	put_v2("/a", "1048576\n", "1048576\n", "\ninactive_file 20971520\n");
	assert_int_equal(find("0::/a\n"), 1 * MB);
}

/* Outside of our cgroup namespace paths begin with "/..", and would lead out of the mount. */
static void a_path_that_leads_out(void **state)
{
	(void)state;
	put_v2("/a", "1048576\n", "1048576\n", "");
	assert_int_equal(find("0::/../a\n"), MEMORY_ROOM_UNLIMITED);
	assert_int_equal(find("0::/a/../a\n"), MEMORY_ROOM_UNLIMITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(limit_less_usage, setup, teardown),
		cmocka_unit_test_setup_teardown(full_is_no_room, setup, teardown),
		cmocka_unit_test_setup_teardown(the_least_of_all_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(cached_files_are_room, setup, teardown),
		cmocka_unit_test_setup_teardown(a_path_that_leads_out, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
