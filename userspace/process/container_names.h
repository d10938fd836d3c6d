/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What people call a container, and what it was made of: from the files that docker, containerd (CRI), cri-o and podman keep on this
 * host. Nobody is asked. Files that are not there, or are no longer as they were, are no error: then the id has to do.
 */
#ifndef HOSTPROF_PROCESS_CONTAINER_NAMES_H
#define HOSTPROF_PROCESS_CONTAINER_NAMES_H

#include "base/cache/lru.h"

struct container_about {
	char name[128];	 /* "": not known */
	char image[256]; /* "docker.io/library/nginx:1.27"; "": not known */
};

/* What was found of each container once; ROOT, borrowed, is in front of all paths ("" but in tests). */
struct container_names {
	const char *root;
	struct lru known; /* hash of the id → struct container_about, owned */
};

/* Of some thousand containers; who has not been asked for the longest is looked up again when he comes back. */
#define CONTAINER_NAMES_BYTES (512U << 10)

void container_names_release(struct container_names *names);

/* Of the container ID (64 hex digits); borrowed until the next call. */
const struct container_about *container_names_find(struct container_names *names, const char *id);

#endif
