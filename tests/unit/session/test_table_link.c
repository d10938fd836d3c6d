// SPDX-License-Identifier: Apache-2.0
/* What a store of unwind/ writes comes to the capture's maps, and where its arrays are. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "capture/map_entry.h"
#include "session/tables/table_link.h"

#define CAPTURE	  ((struct capture *)0x1000) /* never looked into */
#define PAGES_FD  71
#define SPACES_FD 72

static struct wire_block blocks[2];
static struct wire_rule rules[3];
static struct wire_range ranges[4];

static struct {
	struct table_link link;
	int answer;
	/* What the capture was asked. */
	int map_fd;
	uint32_t tgid, serial;
	const void *key, *value;
	uint64_t blob;
	unsigned int calls;
} f;

/* --- in place of capture/ --- */

void capture_get_tables(const struct capture *capture, struct capture_tables *ret_tables)
{
	assert_ptr_equal(capture, CAPTURE);
	*ret_tables = (struct capture_tables){ .blocks = blocks,
					       .rules = rules,
					       .ranges = ranges,
					       .block_count = 2,
					       .rule_count = 3,
					       .range_count = 4,
					       .pages_fd = PAGES_FD,
					       .spaces_fd = SPACES_FD,
					       .page_limit = 55,
					       .space_limit = 66 };
}

static int note_map(int map_fd, const void *key, const void *value)
{
	f.calls++;
	f.map_fd = map_fd;
	f.key = key;
	f.value = value;
	if (map_fd == SPACES_FD)
		memcpy(&f.tgid, key, sizeof(f.tgid));
	return f.answer;
}

int map_entry_set(int map_fd, const void *key, const void *value)
{
	return note_map(map_fd, key, value);
}

int map_entry_get(int map_fd, const void *key, void *ret_value)
{
	return note_map(map_fd, key, ret_value);
}

int capture_set_jvm(struct capture *capture, uint32_t serial, const struct wire_jvm *jvm)
{
	assert_ptr_equal(capture, CAPTURE);
	f.calls++;
	f.serial = serial;
	f.value = jvm;
	return f.answer;
}

int capture_set_far_blob(struct capture *capture, const struct wire_far_key *key, uint64_t blob)
{
	assert_ptr_equal(capture, CAPTURE);
	f.calls++;
	f.key = key;
	f.blob = blob;
	return f.answer;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	memset(&f.link, 0xee, sizeof(f.link));
	table_link_init(&f.link, CAPTURE);
	f.answer = -E2BIG;
	return 0;
}

static void arrays_and_limits(void **state)
{
	const struct table_memory *memory = &f.link.memory;

	(void)state;
	assert_ptr_equal(memory->blocks, blocks);
	assert_ptr_equal(memory->rules, rules);
	assert_ptr_equal(memory->ranges, ranges);
	assert_int_equal(memory->block_count, 2);
	assert_int_equal(memory->rule_count, 3);
	assert_int_equal(memory->range_count, 4);
	assert_int_equal(memory->page_limit, 55);
	assert_int_equal(memory->space_limit, 66);
}

static void pages(void **state)
{
	const struct table_memory *memory = &f.link.memory;
	const struct wire_page_key key = { 1, 2 };
	const struct wire_page page = { 0 };

	(void)state;
	assert_int_equal(memory->set_page(&key, &page, memory->data), -E2BIG);
	assert_int_equal(f.map_fd, PAGES_FD);
	assert_ptr_equal(f.key, &key);
	assert_ptr_equal(f.value, &page);
	f.answer = 0;
	assert_int_equal(memory->set_page(&key, NULL, memory->data), 0);
	assert_null(f.value);
	assert_int_equal(f.calls, 2);
}

static void spaces(void **state)
{
	const struct table_memory *memory = &f.link.memory;
	struct wire_space space = { 0 };

	(void)state;
	assert_int_equal(memory->set_space(4711, &space, memory->data), -E2BIG);
	assert_int_equal(f.map_fd, SPACES_FD);
	assert_int_equal(f.tgid, 4711);
	assert_ptr_equal(f.value, &space);
	f.map_fd = 0;
	f.answer = -ENOENT;
	assert_int_equal(memory->get_space(4712, &space, memory->data), -ENOENT);
	assert_int_equal(f.map_fd, SPACES_FD);
	assert_int_equal(f.tgid, 4712);
	assert_ptr_equal(f.value, &space);
	assert_int_equal(f.calls, 2);
}

static void jvms(void **state)
{
	const struct table_memory *memory = &f.link.memory;
	const struct wire_far_key key = { .serial = 5 };
	const struct wire_jvm jvm = { .serial = 5 };

	(void)state;
	assert_int_equal(memory->set_jvm(5, &jvm, memory->data), -E2BIG);
	assert_int_equal(f.serial, 5);
	assert_ptr_equal(f.value, &jvm);
	assert_int_equal(memory->set_far_blob(&key, 0x1234, memory->data), -E2BIG);
	assert_ptr_equal(f.key, &key);
	assert_int_equal(f.blob, 0x1234);
	assert_int_equal(f.calls, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(arrays_and_limits, set_up),
		cmocka_unit_test_setup(pages, set_up),
		cmocka_unit_test_setup(spaces, set_up),
		cmocka_unit_test_setup(jvms, set_up),
	};

	return cmocka_run_group_tests_name("table_link", tests, NULL, NULL);
}
