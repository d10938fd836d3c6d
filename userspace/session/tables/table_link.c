// SPDX-License-Identifier: Apache-2.0
#include "session/tables/table_link.h"

#include "capture/map_entry.h"

static int set_page(const struct wire_page_key *key, const struct wire_page *value, void *data)
{
	const struct table_link *link = data;

	return map_entry_set(link->capture.pages_fd, key, value);
}

static int set_space(uint32_t tgid, const struct wire_space *value, void *data)
{
	const struct table_link *link = data;

	return map_entry_set(link->capture.spaces_fd, &tgid, value);
}

static int get_space(uint32_t tgid, struct wire_space *ret_value, void *data)
{
	const struct table_link *link = data;

	return map_entry_get(link->capture.spaces_fd, &tgid, ret_value);
}

static int set_jvm(uint32_t serial, const struct wire_jvm *value, void *data)
{
	const struct table_link *link = data;

	return capture_set_jvm(link->of, serial, value);
}

static int set_far_blob(const struct wire_far_key *key, uint64_t blob, void *data)
{
	const struct table_link *link = data;

	return capture_set_far_blob(link->of, key, blob);
}

void table_link_init(struct table_link *link, struct capture *capture)
{
	const struct capture_tables *tables = &link->capture;

	link->of = capture;
	capture_get_tables(capture, &link->capture);
	link->memory = (struct table_memory){
		.blocks = tables->blocks,
		.rules = tables->rules,
		.ranges = tables->ranges,
		.block_count = tables->block_count,
		.rule_count = tables->rule_count,
		.range_count = tables->range_count,
		.set_page = set_page,
		.set_space = set_space,
		.get_space = get_space,
		.set_jvm = set_jvm,
		.set_far_blob = set_far_blob,
		.page_limit = tables->page_limit,
		.space_limit = tables->space_limit,
		.data = link,
	};
}
