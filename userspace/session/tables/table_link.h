/* SPDX-License-Identifier: Apache-2.0 */
/* The unwind tables of the loaded BPF programs as the stores of unwind/ write them. */
#ifndef HOSTPROF_SESSION_TABLES_TABLE_LINK_H
#define HOSTPROF_SESSION_TABLES_TABLE_LINK_H

#include "capture/capture.h"
#include "unwind/tables/table_memory.h"

struct table_link {
	struct capture *of; /* borrowed, as are the next's memory and descriptors */
	struct capture_tables capture;
	struct table_memory memory; /* its `data` is this struct, which must not move */
};

void table_link_init(struct table_link *link, struct capture *capture);

#endif
