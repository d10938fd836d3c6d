// SPDX-License-Identifier: Apache-2.0
/* The part of capture that is memory which is followed until it is given back. */
#include <bpf/bpf.h>
#include <errno.h>

#include "capture/capture_private.h"

/* One call gives so many. */
#define KEPT_BATCH 1024

int capture_get_kept(const struct capture *c, struct capture_kept *ret_kept)
{
	int fd = bpf_session_map_fd(c->session, BPF_SESSION_MALLOC_KEPT), r;
	uint32_t place, *from = NULL;

	*ret_kept = (struct capture_kept){ 0 };
	do {
		uint32_t count = KEPT_BATCH;

		vec_reserve(&ret_kept->keys, ret_kept->keys.len + count);
		vec_reserve(&ret_kept->ids, ret_kept->ids.len + count);
		r = bpf_map_lookup_batch(fd, from, &place,
					 ret_kept->keys.items + ret_kept->keys.len,
					 ret_kept->ids.items + ret_kept->ids.len, &count, NULL);
		/* -ENOENT: these are the last ones; else none came. */
		if (r < 0 && errno != ENOENT)
			return -errno;
		ret_kept->keys.len += count;
		ret_kept->ids.len += count;
		from = &place;
	} while (r == 0);
	return 0;
}

void capture_kept_release(struct capture_kept *kept)
{
	vec_release(&kept->keys);
	vec_release(&kept->ids);
}

void capture_drop_kept(struct capture *c, const struct wire_kept_key *key)
{
	(void)bpf_map_delete_elem(bpf_session_map_fd(c->session, BPF_SESSION_MALLOC_KEPT), key);
}
