/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a code map's records: parsed, taken into a store, and looked up. */
#include <stdlib.h>
#include <string.h>

#include "jvm/codemap/codemap_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look_up(const struct codemap_store *store, const struct codemap_event *event)
{
	struct java_frame frames[JAVA_MAX_INLINE];
	unsigned int count = 0;
	const char *stub = NULL;
	uint64_t java_tid;

	if (event->kind == CODEMAP_LOAD || event->kind == CODEMAP_DYNAMIC)
		for (uint64_t at = 0; at < 64; at += 7)
			if (codemap_store_find(store, event->load.address + at, event->time_ns + at,
					       frames, &count, &stub) == JAVA_FRAMES &&
			    (!count || count > JAVA_MAX_INLINE))
				abort();
	if (event->kind == CODEMAP_THREAD)
		codemap_store_thread_name(store, event->thread.tid, event->time_ns, &java_tid);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct codemap_store *store = codemap_store_new();
	char *copy = malloc(size + 1);

	/* malloc() aligns as the reader's buffer is; a copy of its size shows overruns. */
	memcpy(copy, data, size);
	for (size_t at = 0; at < size;) {
		struct codemap_event event;
		ssize_t n = codemap_parse(copy + at, size - at, &event);

		if (n <= 0)
			break;
		codemap_store_add(store, &event);
		look_up(store, &event);
		at += (size_t)n;
	}
	codemap_store_expire(store, UINT64_MAX / 2);
	free(copy);
	codemap_store_free(store);
	return 0;
}
