/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/write_stable.h"

void jfr_stable_init(struct jfr_stable *stable)
{
	*stable = (struct jfr_stable){ 0 };
	intern_init(&stable->classes.names);
	intern_init(&stable->threads.names);
}

static void table_release(struct jfr_stable_table *table)
{
	intern_release(&table->names);
	vec_release(&table->keys);
}

void jfr_stable_release(struct jfr_stable *stable)
{
	table_release(&stable->classes);
	table_release(&stable->threads);
}

uint32_t jfr_stable_key(struct jfr_stable_table *table, const void *name, size_t len)
{
	bool is_new;
	uint32_t id = intern_put(&table->names, name, len, &is_new);

	if (is_new)
		vec_push(&table->keys, table->next_key++);
	return table->keys.items[id];
}

static void keep_used(struct jfr_stable_table *table, const struct hmap *used)
{
	struct jfr_stable_table kept = { .next_key = table->next_key };
	uint64_t ignored;

	intern_init(&kept.names);
	for (uint32_t id = 0; id < intern_len(&table->names); id++) {
		const void *name;
		size_t len;

		if (!hmap_get(used, table->keys.items[id], &ignored))
			continue;
		name = intern_get(&table->names, id, &len);
		intern_put(&kept.names, name, len, NULL);
		vec_push(&kept.keys, table->keys.items[id]);
	}
	table_release(table);
	*table = kept;
}

void jfr_stable_trim(struct jfr_stable_table *table, const uint32_t *used, size_t count)
{
	struct hmap keys = HMAP_INIT;

	if (table->keys.len <= JFR_STABLE_MAX)
		return;
	for (size_t i = 0; i < count; i++)
		hmap_put(&keys, used[i], 1);
	keep_used(table, &keys);
	hmap_release(&keys);
}
