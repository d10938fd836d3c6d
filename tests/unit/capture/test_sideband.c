// SPDX-License-Identifier: Apache-2.0
/* Side-band records from byte buffers, as the kernel lays them out. */
#include "test.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>

#include "base/macros.h"
#include "capture/sideband.h"

struct buffer {
	uint8_t bytes[512];
	size_t len;
};

static void put(struct buffer *b, const void *data, size_t len)
{
	memcpy(b->bytes + b->len, data, len);
	b->len += len;
}

static void put32(struct buffer *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put64(struct buffer *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

/* Strings are padded to 8 bytes. */
static void put_string(struct buffer *b, const char *s)
{
	static const uint8_t zeros[8];

	put(b, s, strlen(s) + 1);
	put(b, zeros, -b->len & 7);
}

static struct buffer begin(uint32_t type, uint16_t misc)
{
	struct buffer b = { .len = 0 };
	struct perf_event_header header = { .type = type, .misc = misc };

	put(&b, &header, sizeof(header));
	return b;
}

/* The sample_id trailer, and the size into the header. */
static void end(struct buffer *b, uint64_t time)
{
	struct perf_event_header header;

	put32(b, 71);
	put32(b, 72);
	put64(b, time);
	memcpy(&header, b->bytes, sizeof(header));
	header.size = (uint16_t)b->len;
	memcpy(b->bytes, &header, sizeof(header));
}

static struct buffer mmap2(const char *name)
{
	struct buffer b = begin(PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);

	put32(&b, 10);
	put32(&b, 11);
	put64(&b, 0x7f0000001000);
	put64(&b, 0x2000);
	put64(&b, 0x3000);
	put32(&b, 8);
	put32(&b, 1);
	put64(&b, 424242);
	put64(&b, 77);
	put32(&b, PROT_READ | PROT_EXEC);
	put32(&b, MAP_PRIVATE);
	put_string(&b, name);
	end(&b, 123456789);
	return b;
}

static void test_mmap2(void **state)
{
	struct buffer b = mmap2("/usr/lib/libfoo.so");
	struct side_event e;

	(void)state;
	assert_int_equal(sideband_decode(b.bytes, b.len, &e), 0);
	assert_int_equal(e.kind, SIDE_MMAP);
	assert_int_equal(e.pid, 10);
	assert_int_equal(e.tid, 11);
	assert_int_equal(e.addr, 0x7f0000001000);
	assert_int_equal(e.len, 0x2000);
	assert_int_equal(e.pgoff, 0x3000);
	assert_int_equal(e.major, 8);
	assert_int_equal(e.minor, 1);
	assert_int_equal(e.inode, 424242);
	assert_int_equal(e.inode_generation, 77);
	assert_int_equal(e.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(e.flags, MAP_PRIVATE);
	assert_int_equal(e.time_ns, 123456789);
	assert_string_equal(e.name, "/usr/lib/libfoo.so");
}

static struct buffer comm(uint16_t misc)
{
	struct buffer b = begin(PERF_RECORD_COMM, misc);

	put32(&b, 20);
	put32(&b, 21);
	put_string(&b, "fifteen-letters");
	end(&b, 5);
	return b;
}

static void test_comm_and_exec(void **state)
{
	struct buffer plain = comm(0), exec = comm(PERF_RECORD_MISC_COMM_EXEC);
	struct side_event e;

	(void)state;
	assert_int_equal(sideband_decode(plain.bytes, plain.len, &e), 0);
	assert_int_equal(e.kind, SIDE_COMM);
	assert_int_equal(e.pid, 20);
	assert_int_equal(e.tid, 21);
	assert_string_equal(e.name, "fifteen-letters");
	assert_int_equal(sideband_decode(exec.bytes, exec.len, &e), 0);
	assert_int_equal(e.kind, SIDE_EXEC);
}

static struct buffer task(uint32_t type)
{
	struct buffer b = begin(type, 0);

	put32(&b, 31); /* pid */
	put32(&b, 30); /* ppid */
	put32(&b, 33); /* tid */
	put32(&b, 32); /* ptid */
	put64(&b, 999);
	end(&b, 1000);
	return b;
}

static void test_fork_and_exit(void **state)
{
	struct buffer fork_record = task(PERF_RECORD_FORK), exit_record = task(PERF_RECORD_EXIT);
	struct side_event e;

	(void)state;
	assert_int_equal(sideband_decode(fork_record.bytes, fork_record.len, &e), 0);
	assert_int_equal(e.kind, SIDE_FORK);
	assert_int_equal(e.pid, 31);
	assert_int_equal(e.ppid, 30);
	assert_int_equal(e.tid, 33);
	assert_int_equal(e.ptid, 32);
	assert_int_equal(e.time_ns, 1000);
	assert_int_equal(sideband_decode(exit_record.bytes, exit_record.len, &e), 0);
	assert_int_equal(e.kind, SIDE_EXIT);
}

static void test_lost(void **state)
{
	struct buffer b = begin(PERF_RECORD_LOST, 0);
	struct side_event e;

	(void)state;
	put64(&b, 1);
	put64(&b, 4711);
	end(&b, 6);
	assert_int_equal(sideband_decode(b.bytes, b.len, &e), 0);
	assert_int_equal(e.kind, SIDE_LOST);
	assert_int_equal(e.lost, 4711);
}

/* Cut anywhere, a record is refused and nothing is written. */
/* Without the trailer that records of the side-band's own event have. */
static void test_throttle(void **state)
{
	static const uint32_t types[] = { PERF_RECORD_THROTTLE, PERF_RECORD_UNTHROTTLE };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct buffer b = begin(types[i], 0);
		struct perf_event_header header;
		struct side_event e;

		put64(&b, 987654321);
		put64(&b, 5);
		put64(&b, 6);
		memcpy(&header, b.bytes, sizeof(header));
		header.size = (uint16_t)b.len;
		memcpy(b.bytes, &header, sizeof(header));
		assert_int_equal(sideband_decode(b.bytes, b.len, &e), 0);
		assert_int_equal(e.kind, i ? SIDE_UNTHROTTLE : SIDE_THROTTLE);
		assert_int_equal(e.time_ns, 987654321);
		header.size -= 8;
		memcpy(b.bytes, &header, sizeof(header));
		assert_int_equal(sideband_decode(b.bytes, b.len - 8, &e), -EBADMSG);
	}
}

static void test_short_records(void **state)
{
	struct buffer records[] = { mmap2("/a"), comm(0), task(PERF_RECORD_FORK) };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		for (size_t len = 0; len < records[i].len; len++) {
			struct side_event e = { .time_ns = 1 };
			struct perf_event_header *header = (void *)records[i].bytes;

			header->size = (uint16_t)len;
			/* A shorter name and trailer may still be a record; a shorter body not. */
			if (len >= records[i].len - 8 && i != 2)
				continue;
			if (sideband_decode(records[i].bytes, len, &e) == 0)
				fail_msg("record %zu is taken with %zu bytes", i, len);
			assert_int_equal(e.time_ns, 1);
		}
	}
}

static void test_malformed(void **state)
{
	struct buffer unterminated = mmap2("/abcdefg"), other = begin(PERF_RECORD_SAMPLE, 0);
	struct buffer build_id = mmap2("/a"), b = mmap2("/a");
	struct perf_event_header *header = (void *)build_id.bytes;
	struct side_event e;

	(void)state;
	memset(unterminated.bytes + 72, 'x', unterminated.len - 72 - 16);
	assert_int_equal(sideband_decode(unterminated.bytes, unterminated.len, &e), -EBADMSG);
	end(&other, 1);
	assert_int_equal(sideband_decode(other.bytes, other.len, &e), -ENODATA);
	header->misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	assert_int_equal(sideband_decode(build_id.bytes, build_id.len, &e), -EBADMSG);
	/* The header's size must be the size that was handed over. */
	assert_int_equal(sideband_decode(b.bytes, b.len + 8, &e), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mmap2),	      cmocka_unit_test(test_comm_and_exec),
		cmocka_unit_test(test_fork_and_exit), cmocka_unit_test(test_lost),
		cmocka_unit_test(test_throttle),      cmocka_unit_test(test_short_records),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
