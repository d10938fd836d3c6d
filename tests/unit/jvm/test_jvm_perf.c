// SPDX-License-Identifier: Apache-2.0
/* A JVM's counters: strings in them, memory that is none such, and where a process has it. */
#include "test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_memory.h"
#include "jvm/perf/jvm_perf.h"
#include "jvm/perf/perf_data.h"

#define CAUSE "sun.gc.cause"

static uint8_t bytes[512];
static size_t len;

static void put_word(size_t at, uint32_t word)
{
	memcpy(bytes + at, &word, sizeof(word));
}

static void begin(uint32_t count)
{
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, "\xca\xfe\xc0\xc0\x01\x02", 6);
	put_word(24, 32);
	put_word(28, count);
	len = 32;
}

/* Its name behind its head, its data behind the name. */
static size_t put_entry(const char *name, char type, const char *data)
{
	size_t at = len, name_bytes = strlen(name) + 1;

	put_word(at, (uint32_t)(20 + name_bytes + strlen(data) + 1));
	put_word(at + 4, 20);
	bytes[at + 12] = (uint8_t)type;
	put_word(at + 16, (uint32_t)(20 + name_bytes));
	memcpy(bytes + at + 20, name, name_bytes);
	memcpy(bytes + at + 20 + name_bytes, data, strlen(data) + 1);
	len = at + 20 + name_bytes + strlen(data) + 1;
	return at + 20 + name_bytes;
}

/* All of it is looked at as it is, at the end of its memory. */
static int find(const char *name, size_t *ret_offset)
{
	uint8_t *copy = malloc(len);
	int r;

	assert_non_null(copy);
	memcpy(copy, bytes, len);
	r = perf_data_find(copy, len, name, ret_offset);
	free(copy);
	return r;
}

static void strings(void **state)
{
	size_t at, found = 0;

	(void)state;
	begin(3);
	put_entry("sun.gc.causes", 'B', "x");
	put_entry("sun.gc.number", 'J', "12345678");
	at = put_entry(CAUSE, 'B', "No GC");
	assert_int_equal(find(CAUSE, &found), 0);
	assert_int_equal(found, at);
	assert_int_equal(find("sun.gc.caus", &found), -ENODATA);
	assert_int_equal(find("sun.gc.number", &found), -EBADMSG);
	/* It is not there yet. */
	put_word(28, 2);
	assert_int_equal(find(CAUSE, &found), -ENODATA);
}

static void what_is_none(void **state)
{
	size_t found;

	(void)state;
	begin(1);
	put_entry(CAUSE, 'B', "No GC");
	bytes[4] = 0;
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
	bytes[4] = 1;
	bytes[5] = 3;
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
	bytes[5] = 2;
	bytes[0] = 0;
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
	bytes[0] = 0xca;
	len = 31;
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
}

static void hostile_entries(void **state)
{
	size_t found, whole;

	(void)state;
	begin(UINT32_MAX);
	put_entry("a", 'B', "b");
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
	begin(1);
	put_entry(CAUSE, 'B', "No GC");
	whole = len;
	for (len = 32; len < whole; len++)
		assert_int_equal(find(CAUSE, &found), -EBADMSG);
	/* No end of them, a name and data that are elsewhere, a first one behind all. */
	put_word(32, 0);
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
	put_word(32, (uint32_t)(whole - 32));
	put_word(36, UINT32_MAX);
	assert_int_equal(find(CAUSE, &found), -ENODATA);
	put_word(36, 20);
	put_word(48, (uint32_t)(whole - 32));
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
	put_word(24, UINT32_MAX - 8);
	assert_int_equal(find(CAUSE, &found), -EBADMSG);
}

static int find_in(struct fake_memory *fake, const char *line, uint64_t *ret_address)
{
	_cleanup_strbuf_ struct strbuf maps = STRBUF_INIT;

	strbuf_addstr(&maps, "400000-401000 r-xp 00000000 08:01 77 /usr/bin/java\n");
	strbuf_addstr(&maps, line);
	return jvm_perf_find(&fake->memory, &maps, CAUSE, ret_address);
}

static void of_a_process(void **state)
{
	static struct fake_memory fake;
	uint64_t address = 0, at;
	size_t offset;
	char line[128];

	(void)state;
	fake_init(&fake);
	begin(1);
	offset = put_entry(CAUSE, 'B', "No GC");
	at = fake_add(&fake, bytes, sizeof(bytes));
	snprintf(line, sizeof(line), "%llx-%llx rw-s 00000000 00:29 8 /tmp/hsperfdata_me/4711\n",
		 (unsigned long long)at, (unsigned long long)(at + sizeof(bytes)));
	assert_int_equal(find_in(&fake, line, &address), 0);
	assert_true(address == at + offset);
	assert_int_equal(find_in(&fake, "", &address), -ENODATA);
	snprintf(line, sizeof(line), "%llx-%llx rw-s 00001000 00:29 8 /tmp/hsperfdata_me/4711\n",
		 (unsigned long long)at, (unsigned long long)(at + sizeof(bytes)));
	assert_int_equal(find_in(&fake, line, &address), -ENODATA);
	begin(0);
	fake_put(&fake, at, bytes, sizeof(bytes));
	snprintf(line, sizeof(line), "%llx-%llx rw-s 00000000 00:29 8 /tmp/hsperfdata_me/4711\n",
		 (unsigned long long)at, (unsigned long long)(at + sizeof(bytes)));
	assert_int_equal(find_in(&fake, line, &address), -EAGAIN);
	assert_true(find_in(&fake, "1000-2000 rw-s 00000000 00:29 8 /tmp/hsperfdata_me/1\n",
			    &address) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings),
		cmocka_unit_test(what_is_none),
		cmocka_unit_test(hostile_entries),
		cmocka_unit_test(of_a_process),
	};

	return cmocka_run_group_tests_name("jvm_perf", tests, NULL, NULL);
}
