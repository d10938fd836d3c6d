/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a hostile JVM's threads: classes, fields, lists and objects that somebody made. The input's first byte chooses a
 * fabricated JVM with threads, the rest changes it (heap_changes.h).
 */
#include "heap_changes.h"

#include "base/clock.h"
#include "jvm/heap/java_thread_read.h"

#define MAX_THREADS 65536
/* Names are cut there; a char becomes three bytes at most. */
#define MAX_NAME_BYTES (512 * 3)
#define MAX_NAMES      40U
#define LOOK_NS	       NSEC_PER_SEC

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An honest JVM of RELEASE with threads of all kinds of names. */
static void make_jvm(uint32_t release)
{
	const unsigned int width = release == 8 ? 2 : 1;

	begin(release);
	changes_begin();
	add_thread(11, add_string("a-long-name-of-a-thread!", 24, width));
	add_thread(12, release == 8 ? 0 : add_string(u"\u65e5\xd83d\xde00", 6, 2));
	add_thread(13, 0);
	add_thread(14, add_string("", 0, width));
	list_threads();
	open_vm();
}

static void check_name(const struct java_thread_read *read)
{
	size_t len;

	assert_true(!read->result == (read->name != NULL));
	if (!read->name)
		return;
	len = strlen(read->name);
	assert_true(len <= MAX_NAME_BYTES);
	for (size_t i = 0; i < len; i++)
		assert_true((unsigned char)read->name[i] >= ' ');
}

/* What is confirmed is what would be read. */
static void check_trails(const struct java_thread_layout *layout, struct java_thread_read *names,
			 unsigned int count)
{
	struct java_trail_look looks[MAX_NAMES];

	later_at = 0;
	for (unsigned int i = 0; i < count; i++)
		looks[i] = (struct java_trail_look){
			layout, java_thread_trail_whole(names[i].result ? NULL : names[i].trail),
			false
		};
	java_thread_trails_check(looks, count);
	for (unsigned int i = 0; i < count; i++) {
		struct java_thread_read again = { .at = names[i].at };

		if (!looks[i].same)
			continue;
		java_thread_read(layout, &again, 1);
		assert_true(!again.result && !strcmp(again.name, names[i].name) &&
			    again.id == names[i].id);
		free(again.name);
	}
}

static void read_names(const struct java_thread_layout *layout, const struct java_thread_list *list)
{
	static struct java_thread_trail trails[MAX_NAMES];
	struct java_thread_read names[MAX_NAMES] = { 0 };
	unsigned int count = (unsigned int)MIN(list->items.len, (size_t)MAX_NAMES);

	for (unsigned int i = 0; i < count; i++) {
		names[i].at = list->items.items[i];
		names[i].trail = &trails[i];
	}
	java_thread_read(layout, names, count);
	check_trails(layout, names, count);
	for (unsigned int i = 0; i < count; i++) {
		check_name(&names[i]);
		free(names[i].name);
	}
}

/* Who is said to be there still is; once nothing changes any more. */
static void check_list(const struct java_thread_layout *layout, const struct java_thread_list *list)
{
	struct java_trail_look look = { layout, java_thread_list_trail(list), false };
	struct java_thread_list again = { 0 };

	later_at = 0;
	java_thread_trails_check(&look, 1);
	if (look.same) {
		assert_true(java_thread_list_read(layout, clock_now_ns() + LOOK_NS, &again) == 0);
		assert_true(again.items.len == list->items.len);
		for (size_t i = 0; i < again.items.len; i++)
			assert_true(again.items.items[i].address == list->items.items[i].address &&
				    again.items.items[i].tid == list->items.items[i].tid);
	}
	java_thread_list_release(&again);
}

static void read_threads(void)
{
	struct java_thread_layout layout;
	struct java_thread_list list = { 0 };

	if (java_thread_layout_read(w.vm.vs, &w.layout, &layout) < 0)
		return;
	(void)java_thread_list_read(&layout, clock_now_ns() + LOOK_NS, &list);
	assert_true(list.items.len <= MAX_THREADS);
	for (size_t i = 0; i < list.items.len; i++)
		assert_true(list.items.items[i].tid > 0 && list.items.items[i].tid <= INT32_MAX);
	read_names(&layout, &list);
	check_list(&layout, &list);
	java_thread_list_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint32_t releases[] = { 8, 17, 21, 25 };

	if (size < 3)
		return 0;
	make_jvm(releases[data[0] % ARRAY_SIZE(releases)]);
	changes_apply(data, size);
	read_threads();
	fake_vm_release(&w.vm);
	return 0;
}
