// SPDX-License-Identifier: Apache-2.0
/* Which cpu has which ring, and what is handed on of their records; libbpf is the test's. */
#include "test.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/macros.h"
#include "capture/map_bytes.h"
#include "capture/rings/rings.h"

#define ARRAY_FD 500
#define CPUS	 6
#define BYTES	 (1 << 20)

struct ring_buffer {
	ring_buffer_sample_fn fn;
	void *ctx;
	int fds[CPUS];
	unsigned int count;
};

static struct {
	struct ring_buffer buffer;
	bool is_open;
	unsigned int made;
	unsigned int fail_at; /* the ring of this number cannot be made, from 1 on */
	bool no_batch, no_update, no_array;
	int ring_of[CPUS]; /* what the program was given; 0: none */
	unsigned int updates, batches;
} kernel;

/* --- in place of libbpf --- */

int bpf_map_create(enum bpf_map_type type, const char *name, __u32 key_size, __u32 value_size,
		   __u32 max_entries, const struct bpf_map_create_opts *opts)
{
	(void)name;
	if (type == BPF_MAP_TYPE_ARRAY_OF_MAPS) {
		assert_int_equal(key_size, 4);
		assert_int_equal(value_size, 4);
		assert_int_equal(max_entries, CPUS);
		assert_int_equal(opts->inner_map_fd, kernel.buffer.fds[0]);
		errno = EPERM;
		return kernel.no_array ? -1 : fcntl(opts->inner_map_fd, F_DUPFD_CLOEXEC, ARRAY_FD);
	}
	assert_int_equal(type, BPF_MAP_TYPE_RINGBUF);
	assert_int_equal(key_size + value_size, 0);
	assert_int_equal(max_entries, BYTES);
	if (++kernel.made == kernel.fail_at) {
		errno = ENOMEM;
		return -1;
	}
	return eventfd(0, EFD_CLOEXEC);
}

struct ring_buffer *ring_buffer__new(int fd, ring_buffer_sample_fn fn, void *ctx,
				     const struct ring_buffer_opts *opts)
{
	(void)opts;
	kernel.buffer = (struct ring_buffer){ .fn = fn, .ctx = ctx, .fds = { fd }, .count = 1 };
	kernel.is_open = true;
	return &kernel.buffer;
}

int ring_buffer__add(struct ring_buffer *rb, int fd, ring_buffer_sample_fn fn, void *ctx)
{
	assert_true(fn == rb->fn && ctx == rb->ctx);
	rb->fds[rb->count++] = fd;
	return 0;
}

void ring_buffer__free(struct ring_buffer *rb)
{
	kernel.is_open &= !rb;
}

int ring_buffer__epoll_fd(const struct ring_buffer *rb)
{
	return rb->fds[0];
}

/* Of each ring: a sample, then a miss, then what is neither. */
int ring_buffer__consume(struct ring_buffer *rb)
{
	for (unsigned int i = 0; i < rb->count; i++) {
		struct wire_sample sample = { .size = sizeof(sample),
					      .kind = WIRE_SAMPLE,
					      .cpu = (uint16_t)i };
		struct wire_miss miss = { .size = sizeof(miss), .kind = WIRE_MISS, .tid = i };
		struct wire_sample bad = sample;

		bad.user_words = 7;
		assert_int_equal(rb->fn(rb->ctx, &miss, sizeof(miss)), 0);
		assert_int_equal(rb->fn(rb->ctx, &sample, sizeof(sample)), 0);
		assert_int_equal(rb->fn(rb->ctx, &bad, sizeof(bad)), 0);
		assert_int_equal(rb->fn(rb->ctx, &sample, sizeof(sample) - 8), 0);
	}
	return 0;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, ARRAY_FD);
	assert_int_equal(flags, BPF_ANY);
	kernel.updates++;
	errno = EPERM;
	if (kernel.no_update)
		return -1;
	kernel.ring_of[*(const uint32_t *)key] = *(const int *)value;
	return 0;
}

int bpf_map_update_batch(int fd, const void *keys, const void *values, __u32 *count,
			 const struct bpf_map_batch_opts *opts)
{
	(void)opts;
	kernel.batches++;
	errno = ENOTSUP;
	if (kernel.no_batch)
		return -1;
	for (uint32_t i = 0; i < *count; i++)
		bpf_map_update_elem(fd, (const uint32_t *)keys + i, (const int *)values + i,
				    BPF_ANY);
	return 0;
}

uint64_t bpf_map_bytes(int map_fd)
{
	assert_true(map_fd >= 0);
	return BYTES + 1;
}

/* --- */

static bool online[CPUS];
static struct rings *rings;

static int setup(void **state)
{
	(void)state;
	memset(&kernel, 0, sizeof(kernel));
	memset(online, 0, sizeof(online));
	online[1] = online[2] = online[4] = true;
	rings = NULL;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rings_free(rings);
	return kernel.is_open ? -1 : 0;
}

static int open_rings(void)
{
	const struct cpu_list cpus = { online, CPUS };
	struct err err = { 0 };
	int r = rings_open(CPUS, BYTES, &cpus, &rings, &err);

	if (r == 0) {
		assert_int_equal(rings_array_fd(rings), ARRAY_FD);
		assert_int_equal(kernel.updates + kernel.batches, 0);
		r = rings_publish(rings, &err);
	}
	assert_int_equal(r, err.code);
	return r;
}

/* The program finds a cpu's ring by its number. */
static void expect_rings_of_cpus(void)
{
	for (unsigned int cpu = 0, i = 0; cpu < CPUS; cpu++)
		assert_int_equal(kernel.ring_of[cpu], online[cpu] ? kernel.buffer.fds[i++] : 0);
}

static void each_cpu_its_own(void **state)
{
	(void)state;
	assert_int_equal(open_rings(), 0);
	assert_int_equal(kernel.buffer.count, 3);
	assert_int_equal(kernel.batches, 1);
	assert_int_equal(kernel.updates, 3);
	expect_rings_of_cpus();
	assert_int_equal(rings_bytes(rings), 3 * (BYTES + 1));
	assert_int_equal(rings_mapped_bytes(rings), 3 * 2 * BYTES);
	assert_int_equal(fcntl(rings_fd(rings), F_GETFD), FD_CLOEXEC);
}

/* Older kernels take them one by one. */
static void without_batches(void **state)
{
	(void)state;
	kernel.no_batch = true;
	assert_int_equal(open_rings(), 0);
	assert_int_equal(kernel.updates, 3);
	expect_rings_of_cpus();
}

static void all_or_none(void **state)
{
	(void)state;
	kernel.fail_at = 3;
	assert_int_equal(open_rings(), -ENOMEM);
	assert_int_equal(kernel.updates, 0);
	assert_false(kernel.is_open);
	setup(state);
	kernel.no_array = true;
	assert_int_equal(open_rings(), -EPERM);
	assert_false(kernel.is_open);
	setup(state);
	kernel.no_batch = kernel.no_update = true;
	assert_int_equal(open_rings(), -EPERM);
	assert_int_equal(kernel.updates, 1);
}

static void a_cpu_that_comes(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(open_rings(), 0);
	online[5] = true;
	assert_int_equal(rings_add(rings, 5, &err), 0);
	expect_rings_of_cpus();
	/* One that was there keeps its ring, which is given again. */
	kernel.ring_of[2] = 0;
	assert_int_equal(rings_add(rings, 2, &err), 0);
	assert_int_equal(kernel.made, 4);
	expect_rings_of_cpus();
	kernel.no_update = true;
	assert_int_equal(rings_add(rings, 2, &err), -EPERM);
	kernel.fail_at = 5;
	assert_int_equal(rings_add(rings, 0, &err), -ENOMEM);
	assert_int_equal(rings_bytes(rings), 4 * (BYTES + 1));
}

static void see_miss(const struct wire_miss *miss, void *data)
{
	strcat(data, (const char[]){ 'm', (char)('0' + miss->tid), 0 });
}

static void see_sample(const struct wire_sample *sample, void *data)
{
	strcat(data, (const char[]){ 's', (char)('0' + sample->cpu), 0 });
}

static void see_invalid(const void *record, size_t len, void *data)
{
	const struct wire_sample *sample = record;

	strcat(data,
	       (const char[]){ len == sizeof(*sample) ? 'x' : 'y', (char)('0' + sample->cpu), 0 });
}

/* And of those that are not whole each is told. */
static void records_in_order(void **state)
{
	char seen[64] = "";
	const struct rings_handler handler = {
		.miss = see_miss, .sample = see_sample, .invalid = see_invalid, .data = seen
	};

	(void)state;
	assert_int_equal(open_rings(), 0);
	rings_drain(rings, &handler);
	assert_string_equal(seen, "m0s0x0y0m1s1x1y1m2s2x2y2");
}

/* With standard input closed the first ring has descriptor 0: it is there, and is closed. */
static void descriptor_zero(void **state)
{
	int kept = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 100);
	unsigned int made;
	struct err err;

	(void)state;
	close(STDIN_FILENO);
	assert_int_equal(open_rings(), 0);
	assert_true(fcntl(0, F_GETFD) >= 0);
	assert_int_equal(rings_bytes(rings), 3 * (BYTES + 1));
	made = kernel.made;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		if (online[cpu])
			assert_int_equal(rings_add(rings, cpu, &err), 0);
	assert_int_equal(kernel.made, made);
	rings_free(rings);
	rings = NULL;
	assert_int_equal(fcntl(0, F_GETFD), -1);
	dup2(kept, STDIN_FILENO);
	close(kept);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(descriptor_zero), TEST(each_cpu_its_own), TEST(without_batches),
		TEST(all_or_none),     TEST(a_cpu_that_comes), TEST(records_in_order),
	};

	return cmocka_run_group_tests_name("rings", tests, NULL, NULL);
}
