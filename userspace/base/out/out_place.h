/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an output goes. Its directory is found step by step and held open, so that nobody who may write on
 * the way can lead it elsewhere: a symbolic link is followed only when root, we ourselves or the user of
 * sudo made it, whatever fs.protected_symlinks says. What the name stands for by now must be ours, too, or
 * its directory's owner's where only that one writes.
 */
#ifndef HOSTPROF_BASE_OUT_OUT_PLACE_H
#define HOSTPROF_BASE_OUT_OUT_PLACE_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/macros.h"

struct out_place {
	int dir_fd;	 /* owned, O_PATH */
	char *name;	 /* owned; a single component in it */
	char *path;	 /* owned; what messages call it: its true name where links led to it */
	bool exists;	 /* THERE is what has the name */
	bool is_kernels; /* through a link of /proc: somebody's open descriptor, which has no name */
	struct stat there;
};

#define OUT_PLACE_INIT       \
	{                    \
		.dir_fd = -1 \
	}

/*
 * -EISDIR, -EPERM (of another user), or what the kernel says, as a sentence in ERR. WANTS_NEW: -EEXIST for
 * what has the name itself, be it a link.
 */
int out_place_find(const char *path, bool wants_new, struct out_place *ret_place, struct err *err);
void out_place_release(struct out_place *place);

/*
 * Open what is there, which must still be what was looked at: -EBUSY when it is not. FLAGS as of open(2);
 * a named pipe waits for its reader.
 */
int out_place_open(const struct out_place *place, int flags);
/* A new file, 0600, the user's of sudo; never through a link. -EEXIST: something has the name. */
int out_place_create(const struct out_place *place, const char *name, int flags);
/* The same without a name. */
int out_place_create_unnamed(const struct out_place *place);

#endif
