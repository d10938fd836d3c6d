// SPDX-License-Identifier: Apache-2.0
#include "base/out/out_owner.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/units.h"

/* (uid_t)-1 means "leave it" to chown(2). */
static bool read_id(const char *name, uint32_t *ret_id)
{
	const char *text = getenv(name);
	uint64_t id;

	if (!text || units_parse_u64(text, &id) < 0 || id >= UINT32_MAX)
		return false;
	*ret_id = (uint32_t)id;
	return true;
}

bool out_owner_of_sudo(uid_t *ret_uid, gid_t *ret_gid)
{
	uint32_t uid, gid;

	if (geteuid() != 0 || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid) || !uid)
		return false;
	*ret_uid = uid;
	*ret_gid = gid;
	return true;
}

bool out_owner_is_trusted(uid_t uid)
{
	uid_t sudo_uid;
	gid_t sudo_gid;

	if (uid == 0 || uid == geteuid())
		return true;
	return out_owner_of_sudo(&sudo_uid, &sudo_gid) && uid == sudo_uid;
}

int out_owner_give(int fd)
{
	uid_t uid;
	gid_t gid;

	if (!out_owner_of_sudo(&uid, &gid))
		return 0;
	return fchown(fd, uid, gid) < 0 ? -errno : 0;
}
