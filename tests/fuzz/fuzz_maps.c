// SPDX-License-Identifier: Apache-2.0
/* /proc/PID/maps, stat and status text; the set of mappings must stay sorted. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "maps_text.h"
#include "process/mappings.h"
#include "process/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct process process = { 0 };
	struct proc_status status;
	struct proc_stat stat;
	char id[65], *path = xstrndup(text, size);

	mappings_add_text(&process, text, size);
	for (size_t i = 0; i < process.mappings.len; i++) {
		const struct mapping *m = &process.mappings.items[i];

		if (m->start >= m->end || (i > 0 && m[-1].end > m->start))
			abort();
		if (process_find_mapping(&process, m->start) != m)
			abort();
	}
	mappings_clear(&process);
	proc_parse_stat(text, size, &stat);
	proc_parse_status(text, size, &status);
	container_id_from_cgroup(path, id);
	free(path);
	return 0;
}
