// SPDX-License-Identifier: Apache-2.0
/*
 * The ways of elf/image_open.c, all in one call: what is behind the mapping itself, else what its process, which may
 * have ended, showed under that name. Only what has the number that the kernel's records have is taken; the rest is for
 * those who can read the file.
 */
#include "wall/broker_look.h"

#include <errno.h>
#include <stdbool.h>

#include "wall/foreign_file.h"

static int look_behind(struct wall_call *call)
{
	char link[WALL_LINK_BYTES];

	wall_link(call->pid, call->offset, call->offset + call->len, link);
	return foreign_file_look(link, &call->id);
}

static int look_in_root(struct wall_call *call)
{
	return foreign_file_look_in_root(call->pid, call->path, &call->id);
}

static int look_at_exe(struct wall_call *call)
{
	char link[64];
	int r;

	snprintf(link, sizeof(link), "/proc/%u/exe", call->pid);
	r = foreign_file_look(link, &call->id);
	/* It is one file of many that the process maps. */
	return r == 0 && call->id.inode != call->key.inode ? -ENOENT : r;
}

/* In our own root a number says nothing without its device. */
static int look_by_path(struct wall_call *call)
{
	int r = foreign_file_look_in_root(0, call->path, &call->id);

	return r == 0 && (call->id.major != call->key.major || call->id.minor != call->key.minor)
		       ? -ESTALE
		       : r;
}

int64_t broker_look(struct wall_call *call)
{
	static int (*const ways[])(struct wall_call * call) = { look_behind, look_in_root,
								look_at_exe, look_by_path };
	int first_error = -ENOENT;

	for (unsigned int i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		int r = ways[i](call);

		if (r == 0)
			return call->id.inode == call->key.inode ? 0 : -ESTALE;
		if (r == -ESTALE)
			return r;
		if (first_error == -ENOENT)
			first_error = r;
	}
	return first_error;
}
