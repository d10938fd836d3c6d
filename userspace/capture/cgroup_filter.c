// SPDX-License-Identifier: Apache-2.0
#include "capture/cgroup_filter.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdbool.h>
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
