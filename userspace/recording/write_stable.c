/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/write_stable.h"

/* What a name costs besides its bytes: its entry, twice its place in the table of them, its key; of all a half as they grow by doubling. */
#define NAME_BYTES 48

/* So much is kept of what there may be: one look at all then pays for many names. */
#define KEPT_BYTES (JFR_STABLE_BYTES / 4 * 3)

void jfr_stable_init(struct jfr_stable *stable)
{
	*stable = (struct jfr_stable){ 0 };
	intern_init(&stable->classes.names);
	intern_init(&stable->threads.names);
}

static void table_release(struct jfr_stable_table *table)
{
	intern_release(&table->names);
	vec_release(&table->about);
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
		vec_push(&table->about, ((struct jfr_stable_name){ table->next_key++, 0 }));
	table->about.items[id].used = table->chunks;
	return table->about.items[id].key;
}

static size_t table_bytes(const struct jfr_stable_table *table)
{
	return table->names.bytes + (size_t)intern_len(&table->names) * NAME_BYTES;
}

struct name_age {
	uint32_t used, id;
};

/* The newest first; of one chunk, those that came last. */
static int compare_ages(const void *a, const void *b)
{
	const struct name_age *x = a, *y = b;

	if (x->used != y->used)
		return x->used > y->used ? -1 : 1;
	return x->id > y->id ? -1 : x->id < y->id;
}

/* The newest COUNT ones. */
static void keep(struct jfr_stable_table *table, const struct name_age *ages, size_t count)
{
	struct jfr_stable_table kept = { .next_key = table->next_key, .chunks = table->chunks };

	intern_init(&kept.names);
	for (size_t i = count; i-- > 0;) {
		size_t len;
		const void *name = intern_get(&table->names, ages[i].id, &len);

		intern_put(&kept.names, name, len, NULL);
		vec_push(&kept.about, table->about.items[ages[i].id]);
	}
	table_release(table);
	*table = kept;
}

static void trim(struct jfr_stable_table *table)
{
	_cleanup_free_ struct name_age *ages = NULL;
	uint32_t count = intern_len(&table->names), kept = 0;
	size_t bytes = 0, len;

	if (table_bytes(table) <= JFR_STABLE_BYTES)
		return;
	ages = xcalloc(count, sizeof(*ages));
	for (uint32_t id = 0; id < count; id++)
		ages[id] = (struct name_age){ table->about.items[id].used, id };
	qsort(ages, count, sizeof(*ages), compare_ages);
	for (; kept < count; kept++) {
		intern_get(&table->names, ages[kept].id, &len);
		bytes += len + NAME_BYTES;
		if (bytes > KEPT_BYTES && ages[kept].used != table->chunks)
			break;
	}
	keep(table, ages, kept);
}

void jfr_stable_end_chunk(struct jfr_stable *stable)
{
	trim(&stable->classes);
	trim(&stable->threads);
	stable->classes.chunks++;
	stable->threads.chunks++;
}
