// SPDX-License-Identifier: Apache-2.0
/* The part of capture that is the unwind tables: arrays of the programs, mapped to be written. */
#include <errno.h>
#include <sys/mman.h>

#include "capture/capture_private.h"

static int tables_map(struct capture *c, enum bpf_session_map which, size_t entry_bytes,
		      struct capture_mapping *ret_mapping, struct err *err)
{
	size_t bytes = bpf_session_map_entries(c->session, which) * entry_bytes;
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_session_map_fd(c->session, which), 0);

	if (at == MAP_FAILED)
		return err_sys(err, -errno, "cannot map the unwind tables");
	*ret_mapping = (struct capture_mapping){ at, bytes };
	return 0;
}

int capture_map_tables(struct capture *c, struct err *err)
{
	int r = tables_map(c, BPF_SESSION_BLOCKS, sizeof(struct wire_block), &c->blocks, err);

	if (r == 0)
		r = tables_map(c, BPF_SESSION_RULES, sizeof(struct wire_rule), &c->rules, err);
	if (r == 0)
		r = tables_map(c, BPF_SESSION_RANGES, sizeof(struct wire_range), &c->ranges, err);
	return r;
}

void capture_unmap_tables(struct capture *c)
{
	struct capture_mapping *all[] = { &c->blocks, &c->rules, &c->ranges };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i]->at)
			munmap(all[i]->at, all[i]->bytes);
		*all[i] = (struct capture_mapping){ 0 };
	}
}

uint64_t capture_tables_bytes(const struct capture *c)
{
	return c->blocks.bytes + c->rules.bytes + c->ranges.bytes;
}

void capture_get_tables(const struct capture *c, struct capture_tables *ret_tables)
{
	*ret_tables = (struct capture_tables){
		.blocks = c->blocks.at,
		.rules = c->rules.at,
		.ranges = c->ranges.at,
		.block_count = bpf_session_map_entries(c->session, BPF_SESSION_BLOCKS),
		.rule_count = bpf_session_map_entries(c->session, BPF_SESSION_RULES),
		.range_count = bpf_session_map_entries(c->session, BPF_SESSION_RANGES),
		.pages_fd = bpf_session_map_fd(c->session, BPF_SESSION_PAGES),
		.spaces_fd = bpf_session_map_fd(c->session, BPF_SESSION_SPACES),
		.page_limit = bpf_session_map_entries(c->session, BPF_SESSION_PAGES),
		.space_limit = bpf_session_map_entries(c->session, BPF_SESSION_SPACES),
	};
}
