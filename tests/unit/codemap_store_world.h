/* SPDX-License-Identifier: Apache-2.0 */
/* A store of code that knows nine methods, pkg.Class1 to pkg.Class9, and records on their way to it. */
#ifndef HOSTPROF_TESTS_CODEMAP_STORE_WORLD_H
#define HOSTPROF_TESTS_CODEMAP_STORE_WORLD_H

#include "test.h"

#include "codemap_fixture.h"
#include "jvm/codemap/codemap_store.h"

#define CODE 0x7f0000001000ULL
#define SIZE 0x100

static struct codemap_store *store;
static struct record_buffer buffer;

static int set_up(void **state)
{
	(void)state;
	store = codemap_store_new();
	buffer.len = 0;
	for (uint64_t i = 1; i <= 9; i++) {
		char name[] = "pkg/Class0";

		name[9] = (char)('0' + i);
		put_method(&buffer, i, name, "run", "Class.java", 4, (uint16_t)(40 + i));
	}
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	codemap_store_free(store);
	return 0;
}

/* Hand what was put into the buffer to the store. */
static void feed(void)
{
	for (size_t at = 0; at < buffer.len;) {
		struct codemap_event e;
		ssize_t n = codemap_parse(buffer.data + at, buffer.len - at, &e);

		assert_true(n > 0);
		codemap_store_add(store, &e);
		at += (size_t)n;
	}
	buffer.len = 0;
}

#endif
