/* SPDX-License-Identifier: Apache-2.0 */
/* A jitdump as runtimes write it: tools/perf/Documentation/jitdump-specification.txt. */
#ifndef HOSTPROF_TESTS_DUMP_BYTES_H
#define HOSTPROF_TESTS_DUMP_BYTES_H

#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "base/strbuf.h"

static inline void dump_add(struct strbuf *dump, const void *bytes, size_t len)
{
	strbuf_add(dump, bytes, len);
}

static inline void dump_u32(struct strbuf *dump, uint32_t value)
{
	dump_add(dump, &value, sizeof(value));
}

static inline void dump_u64(struct strbuf *dump, uint64_t value)
{
	dump_add(dump, &value, sizeof(value));
}

static inline void dump_header(struct strbuf *dump)
{
	const uint32_t words[] = { 0x4a695444, 1, 40, 62, 0, 77 };

	dump_add(dump, words, sizeof(words));
	dump_u64(dump, 123456789);
	dump_u64(dump, 0);
}

/* Of KIND, with so many BYTES behind it. */
static inline void dump_record(struct strbuf *dump, uint32_t kind, size_t bytes)
{
	dump_u32(dump, kind);
	dump_u32(dump, (uint32_t)(16 + bytes));
	dump_u64(dump, 987654321);
}

/* Anything of SIZE bytes. */
static inline void dump_noise(struct strbuf *dump, size_t size)
{
	for (size_t i = 0; i < size; i++)
		dump_add(dump, "\xc3", 1);
}

static inline void dump_load(struct strbuf *dump, uint64_t start, uint64_t size, const char *name)
{
	dump_record(dump, 0, 40 + strlen(name) + 1 + size);
	dump_u64(dump, 77);
	dump_u64(dump, 0xbad); /* where a file would have it */
	dump_u64(dump, start);
	dump_u64(dump, size);
	dump_u64(dump, 1);
	dump_add(dump, name, strlen(name) + 1);
	dump_noise(dump, size);
}

static inline void dump_move(struct strbuf *dump, uint64_t from, uint64_t to, uint64_t size)
{
	dump_record(dump, 1, 48);
	dump_u64(dump, 77);
	dump_u64(dump, 0xbad);
	dump_u64(dump, from);
	dump_u64(dump, to);
	dump_u64(dump, size);
	dump_u64(dump, 1);
}

static inline int dump_file(const struct strbuf *dump)
{
	int fd = memfd_create("jitdump", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, dump->buf, dump->len), 0);
	return fd;
}

#endif
