/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a code map's records: parsed, taken into a store, and looked up. */
#include <stdlib.h>
#include <string.h>

#include "jvm/codemap/codemap_store.h"
#include "session/alloc/live_objects.h"

#define JVM 1

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
	if (event->kind == CODEMAP_CLASS && codemap_store_class_name(store, event->class.id) &&
	    strlen(codemap_store_class_name(store, event->class.id)) > CODEMAP_MAX_RECORD_BYTES)
		abort();
}

/* As jvm/jvm_live.c takes them, and session/alloc/live_objects.c. */
static void take_objects(struct live_objects *all, struct profile *profile,
			 const struct codemap_event *event)
{
	const uint32_t count = event->objects.count, level = event->objects.level;
	const struct codemap_object *items = event->objects.items;

	if (event->kind == CODEMAP_LIVE) {
		live_objects_tell(all, JVM, items, count, level, 0, profile);
		return;
	}
	if (event->kind != CODEMAP_GONE)
		return;
	live_objects_thin(all, JVM, level);
	for (uint32_t i = 0; i < count; i++) {
		const struct live_object object = { .id = items[i].id, .weight = 1, .objects = 1 };

		if (items[i].age % 2)
			live_objects_drop(all, JVM, items[i].id);
		else
			live_objects_add(all, JVM, &object);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct codemap_store *store = codemap_store_new();
	struct live_objects objects = { 0 };
	struct profile profile;
	char *copy = malloc(size + 1);

	profile_init(&profile);
	/* malloc() aligns as the reader's buffer is; a copy of its size shows overruns. */
	memcpy(copy, data, size);
	for (size_t at = 0; at < size;) {
		struct codemap_event event;
		ssize_t n = codemap_parse(copy + at, size - at, &event);

		if (n <= 0)
			break;
		codemap_store_add(store, &event);
		look_up(store, &event);
		take_objects(&objects, &profile, &event);
		at += (size_t)n;
	}
	codemap_store_expire(store, UINT64_MAX / 2);
	free(copy);
	live_objects_release(&objects);
	profile_release(&profile);
	codemap_store_free(store);
	return 0;
}
