/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of a hostile JVM's threads: classes, fields, lists and objects that somebody made. The input's first byte chooses a
 * fabricated JVM with threads, the second after how many reads its memory changes once more, the third how much of the rest
 * does so: offset (2 bytes), how many bytes (1), those bytes; 255 for their number: an address (2 bytes) in it.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define assert_true(condition)    \
	do {                      \
		if (!(condition)) \
			abort();  \
	} while (0)
#define assert_int_equal(a, b) assert_true((a) == (b))

#include "base/clock.h"
#include "base/macros.h"
#include "fake_threads.h"
#include "jvm/heap/java_thread_read.h"

#define MAX_CHANGE  32
#define MAX_THREADS 65536
/* Names are cut there; a char becomes three bytes at most. */
#define MAX_NAME_BYTES (512 * 3)
/* A chain that leads in a circle is followed 65,536 times, and each of it looked at. */
#define MAX_READS  (1U << 19)
#define MAX_NAMES  40U
#define LOOK_NS	   NSEC_PER_SEC
#define POINTER	   255
#define LATE_HALFS 16U

struct change {
	const uint8_t *data;
	size_t size;
};

/* What is changed when so many reads are left. */
static struct change later;
static unsigned int reads, later_at;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_pointer(size_t at, const uint8_t *data)
{
	uint64_t address = FAKE_BASE + (data[0] | (uint64_t)data[1] << 8);

	if (at <= FAKE_BYTES - sizeof(address))
		memcpy(memory()->bytes + at, &address, sizeof(address));
}

static void change(struct change c)
{
	while (c.size > 4) {
		size_t at = c.data[0] | (size_t)c.data[1] << 8, len = c.data[2];

		c.data += 3;
		c.size -= 3;
		if (len == POINTER) {
			put_pointer(at, c.data);
			len = 2;
		} else {
			len = MIN(len % MAX_CHANGE, MIN(c.size, FAKE_BYTES - at));
			memcpy(memory()->bytes + at, c.data, len);
		}
		c.data += len;
		c.size -= len;
	}
}

static int read_changing(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	if (++reads == later_at)
		change(later);
	assert_true(reads < MAX_READS);
	return fake_read(m, spans, count);
}

/* An honest JVM of RELEASE with threads of all kinds of names. */
static void make_jvm(uint32_t release)
{
	const unsigned int width = release == 8 ? 2 : 1;

	begin(release);
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
	size_t now;

	if (size < 3)
		return 0;
	make_jvm(releases[data[0] % ARRAY_SIZE(releases)]);
	now = (size - 3) * (LATE_HALFS - data[2] % LATE_HALFS) / LATE_HALFS;
	change((struct change){ data + 3, now });
	later = (struct change){ data + 3 + now, size - 3 - now };
	later_at = 1 + data[1];
	reads = 0;
	memory()->memory.read = read_changing;
	read_threads();
	fake_vm_release(&w.vm);
	return 0;
}
