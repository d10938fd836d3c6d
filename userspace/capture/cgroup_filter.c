// SPDX-License-Identifier: Apache-2.0
#include "capture/cgroup_filter.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "base/strbuf.h"

static bool is_cgroup2(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* Going up one directory at a time, how many are still in the cgroup2 file system. */
static uint32_t cgroup_level(const char *path)
{
	_cleanup_strbuf_ struct strbuf up = STRBUF_INIT;
	uint32_t level = 0;

	strbuf_addf(&up, "%s/..", path);
	while (is_cgroup2(strbuf_str(&up)) && level < PATH_MAX / 3) {
		level++;
		strbuf_addstr(&up, "/..");
	}
	return level;
}

int cgroup_filter_resolve(const char *path, uint64_t *ret_id, uint32_t *ret_level, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_sys(err, -errno, "cannot use cgroup %s", path);
	if (!S_ISDIR(st.st_mode) || !is_cgroup2(path)) {
		err_set(err, -EINVAL, "%s is no directory of the cgroup2 tree", path);
		return err_hint(err, "`findmnt -t cgroup2` says where that tree is mounted");
	}
	/* kernfs ids are inode numbers where those have 64 bits (fs/kernfs/dir.c). */
	*ret_id = st.st_ino;
	*ret_level = cgroup_level(path);
	return 0;
}

/* Where the first COUNT names of the path TEXT end; NULL: it has fewer. */
static const char *end_of_names(const char *text, uint32_t count)
{
	while (count--) {
		if (text[0] != '/' || !text[1])
			return NULL;
		text = strchrnul(text + 1, '/');
	}
	return text;
}

/*
 * The tree's root is so many directories above PATH; no mount and no link is between them. Paths that lead out of our
 * cgroup namespace begin with "/..", and never get as deep.
 */
bool cgroup_filter_has(const char *path, uint32_t level, const char *cgroup)
{
	_cleanup_strbuf_ struct strbuf at = STRBUF_INIT;
	const char *end = end_of_names(cgroup, level);
	struct stat wanted, its;

	if (!end)
		return false;
	strbuf_addstr(&at, path);
	for (uint32_t i = 0; i < level; i++)
		strbuf_addstr(&at, "/..");
	strbuf_add(&at, cgroup, (size_t)(end - cgroup));
	return stat(path, &wanted) == 0 && stat(strbuf_str(&at), &its) == 0 &&
	       wanted.st_dev == its.st_dev && wanted.st_ino == its.st_ino;
}
