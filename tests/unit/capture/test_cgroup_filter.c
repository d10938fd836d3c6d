// SPDX-License-Identifier: Apache-2.0
/* Id and depth of a cgroup; the file systems are the test's. */
#include "test.h"

#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "capture/cgroup_filter.h"

/* How many directories of "/sys/fs/cgroup/a/b/c/../.." are below "/sys/fs/cgroup"; -1: above it. */
static int depth_of(const char *path)
{
	static const char mount[] = "/sys/fs/cgroup";
	int depth = 0;

	if (strncmp(path, mount, sizeof(mount) - 1) != 0)
		return -1;
	for (const char *at = strchr(path + sizeof(mount) - 1, '/'); at; at = strchr(at + 1, '/'))
		depth += strncmp(at, "/..", 3) == 0 ? -1 : 1;
	return depth;
}

int statfs(const char *path, struct statfs *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->f_type = depth_of(path) >= 0 ? CGROUP2_SUPER_MAGIC : TMPFS_MAGIC;
	return 0;
}

/* As the kernel would go it: no directory here is a link. */
static const char *resolve(const char *path)
{
	static char at[256];
	size_t len = 0;

	for (const char *name = path; *name; name += strcspn(name + 1, "/") + 1) {
		if (strncmp(name, "/..", 3) != 0)
			len += (size_t)snprintf(at + len, sizeof(at) - len, "%.*s",
						(int)strcspn(name + 1, "/") + 1, name);
		else
			while (len && at[--len] != '/')
				;
		at[len] = '\0';
	}
	return at;
}

int stat(const char *path, struct stat *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (strstr(path, "gone")) {
		errno = ENOENT;
		return -1;
	}
	path = resolve(path);
	for (const char *at = path; *at; at++)
		ret->st_dev = ret->st_dev * 31 + (unsigned char)*at;
	ret->st_mode = strstr(path, "file") ? S_IFREG : S_IFDIR;
	ret->st_ino = 0x100000000ULL + strlen(path);
	return 0;
}

static void expect(const char *path, uint64_t id, uint32_t level)
{
	struct err err = { 0 };
	uint64_t its_id = 0;
	uint32_t its_level = 99;

	assert_int_equal(cgroup_filter_resolve(path, &its_id, &its_level, &err), 0);
	assert_int_equal(its_id, id);
	assert_int_equal(its_level, level);
}

/* The level is that of bpf_get_current_ancestor_cgroup_id(): the tree's root has 0. */
static void id_and_level(void **state)
{
	(void)state;
	expect("/sys/fs/cgroup/a", 0x100000000ULL + 16, 1);
	expect("/sys/fs/cgroup/a/b", 0x100000000ULL + 18, 2);
	expect("/sys/fs/cgroup/a/b/c/d", 0x100000000ULL + 22, 4);
	expect("/sys/fs/cgroup", 0x100000000ULL + 14, 0);
}

static void no_cgroup(void **state)
{
	struct err err = { 0 };
	uint64_t id = 1;
	uint32_t level;

	(void)state;
	assert_int_equal(cgroup_filter_resolve("/tmp", &id, &level, &err), -EINVAL);
	assert_int_equal(cgroup_filter_resolve("/sys/fs/cgroup/file", &id, &level, &err), -EINVAL);
	assert_int_equal(cgroup_filter_resolve("/sys/fs/cgroup/gone", &id, &level, &err), -ENOENT);
	assert_int_equal(id, 1);
}

/* In it or below it, by the path that /proc/PID/cgroup has. */
static void who_is_in_it(void **state)
{
	const char *a_b = "/sys/fs/cgroup/a/b";

	(void)state;
	assert_true(cgroup_filter_has(a_b, 2, "/a/b"));
	assert_true(cgroup_filter_has(a_b, 2, "/a/b/c"));
	assert_true(cgroup_filter_has(a_b, 2, "/a/b/c/d"));
	assert_false(cgroup_filter_has(a_b, 2, "/a"));
	assert_false(cgroup_filter_has(a_b, 2, "/a/bc"));
	assert_false(cgroup_filter_has(a_b, 2, "/a/c/b"));
	assert_false(cgroup_filter_has(a_b, 2, "/b/a"));
	assert_false(cgroup_filter_has(a_b, 2, "/"));
	assert_false(cgroup_filter_has(a_b, 2, ""));
	assert_false(cgroup_filter_has(a_b, 2, "a/b"));
	/* Of another name space. */
	assert_false(cgroup_filter_has("/sys/fs/cgroup/a", 1, "/../a"));
	assert_false(cgroup_filter_has(a_b, 2, "/../cgroup/a/b"));
	assert_false(cgroup_filter_has("/sys/fs/cgroup/gone", 1, "/gone"));
	/* The root has all. */
	assert_true(cgroup_filter_has("/sys/fs/cgroup", 0, "/a"));
	assert_true(cgroup_filter_has("/sys/fs/cgroup", 0, "/"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id_and_level),
		cmocka_unit_test(no_cgroup),
		cmocka_unit_test(who_is_in_it),
	};

	return cmocka_run_group_tests_name("cgroup_filter", tests, NULL, NULL);
}
