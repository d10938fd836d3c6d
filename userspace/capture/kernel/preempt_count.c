/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/kernel/preempt_count.h"

#include <bpf/btf.h>
#include <stdbool.h>
#include <string.h>

#include "base/macros.h"

#define NOWHERE UINT32_MAX

/* In the section of variables that each cpu has. */
struct places {
	uint32_t runqueues, count, hot;
	const struct btf_type *hot_type;
};

static bool is_named(const struct btf *btf, const struct btf_type *type, const char *name)
{
	const char *text = btf__name_by_offset(btf, type->name_off);

	return text && !strcmp(text, name);
}

static const struct btf_type *find_section(const struct btf *btf)
{
	for (uint32_t id = 1; id < btf__type_cnt(btf); id++) {
		const struct btf_type *type = btf__type_by_id(btf, id);

		if (btf_is_datasec(type) && is_named(btf, type, ".data..percpu"))
			return type;
	}
	return NULL;
}

static struct places find_places(const struct btf *btf, const struct btf_type *section)
{
	const struct btf_var_secinfo *at = btf_var_secinfos(section);
	struct places places = { NOWHERE, NOWHERE, NOWHERE, NULL };

	for (uint32_t i = 0; i < btf_vlen(section); i++, at++) {
		const struct btf_type *var = btf__type_by_id(btf, at->type);

		if (is_named(btf, var, "runqueues"))
			places.runqueues = at->offset;
		else if (is_named(btf, var, "__preempt_count"))
			places.count = at->offset;
		else if (is_named(btf, var, "pcpu_hot"))
			places.hot = at->offset, places.hot_type = btf__type_by_id(btf, var->type);
	}
	return places;
}

/* In bytes; members of members that have no name are its own. */
static uint32_t find_member(const struct btf *btf, const struct btf_type *type, const char *name,
			    unsigned int depth)
{
	if (!type || !btf_is_composite(type) || !depth)
		return NOWHERE;
	for (uint32_t i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *member = &btf_members(type)[i];
		uint32_t begin = btf_member_bit_offset(type, i) / 8, inner;

		if (!strcmp(btf__name_by_offset(btf, member->name_off), name))
			return begin;
		if (member->name_off)
			continue;
		inner = find_member(btf, btf__type_by_id(btf, member->type), name, depth - 1);
		if (inner != NOWHERE)
			return begin + inner;
	}
	return NOWHERE;
}

int64_t preempt_count_in(const struct btf *btf)
{
	const struct btf_type *section = find_section(btf);
	struct places places;
	uint32_t member;

	if (!section)
		return 0;
	places = find_places(btf, section);
	if (places.runqueues == NOWHERE)
		return 0;
	if (places.count != NOWHERE)
		return (int64_t)places.count - places.runqueues;
	member = find_member(btf, places.hot_type, "preempt_count", 4);
	return member == NOWHERE ? 0 : (int64_t)places.hot + member - places.runqueues;
}

int64_t preempt_count_find(void)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int64_t at = btf ? preempt_count_in(btf) : 0;

	btf__free(btf);
	return at;
}
