// SPDX-License-Identifier: Apache-2.0
#include "base/out/out_rights.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/out/out_owner.h"
#include "base/out/out_place.h"
#include "base/rights.h"

/* With those rights that take effect now. One that is replaced hands on its owner. */
static bool can_write(const char *path)
{
	_cleanup_(out_place_release) struct out_place place = OUT_PLACE_INIT;
	struct err ignored;
	uid_t uid;
	gid_t gid;

	if (out_place_find(path, false, &place, &ignored) < 0 || out_owner_of_sudo(&uid, &gid))
		return false;
	return (!place.exists || place.there.st_uid == geteuid()) &&
	       faccessat(place.dir_fd, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

uint64_t out_rights_for(const char *path)
{
	uint64_t held = rights_permitted() & RIGHTS_TO_WRITE;
	bool can;

	if (!path || !strcmp(path, "-") || !held)
		return 0;
	rights_use(0);
	can = can_write(path);
	rights_use(rights_permitted());
	return can ? 0 : held;
}
