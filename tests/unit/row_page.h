/* SPDX-License-Identifier: Apache-2.0 */
#ifndef HOSTPROF_TESTS_ROW_PAGE_H
#define HOSTPROF_TESTS_ROW_PAGE_H

#include "unwind/tables.h"
#include "unwind/tables/row_store.h"

/* Are its rows published? */
static inline bool row_page_is_there(const struct row_store *store, const struct wire_page_key *key)
{
	struct unwind_tables tables;

	row_store_tables(store, &tables);
	return tables.page(key, tables.data) != NULL;
}

#endif
