/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one turn of the loop takes of code maps: a JVM that writes as much as it can takes neither the
 * loop's time nor that of other JVMs.
 */
#include "test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "codemap_fixture.h"
#include "jvm/jvm_private.h"

#define SMALL_RING (64U << 10)
#define LARGE_RING (16U << 20)
/* As many as jvm_table_poll() has no time for in one turn. */
#define GREEDY 5

static uint64_t clock_ns, look_ns; /* so much passes with each look at the clock */

int clock_gettime(clockid_t id, struct timespec *ret)
{
	(void)id;
	clock_ns += look_ns;
	ret->tv_sec = (time_t)(clock_ns / NSEC_PER_SEC);
	ret->tv_nsec = (long)(clock_ns % NSEC_PER_SEC);
	return 0;
}

struct source {
	struct process process;
	struct jvm *jvm;
	struct codemap_header *header; /* with the ring behind it */
	uint32_t ring_bytes;
};

static struct jvm_table *table;
static struct source sources[GREEDY + 1];
static char path[] = "/nowhere/libjvm.so";

static int set_up(void **state)
{
	(void)state;
	clock_ns = 1000 * NSEC_PER_SEC;
	look_ns = 0;
	table = jvm_table_new();
	memset(sources, 0, sizeof(sources));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	jvm_table_free(table);
	for (unsigned int i = 0; i < ARRAY_SIZE(sources); i++) {
		vec_release(&sources[i].process.mappings);
		if (sources[i].header)
			munmap(sources[i].header, CODEMAP_HEADER_BYTES + sources[i].ring_bytes);
	}
	return 0;
}

static void open_code_map(struct source *s)
{
	int fd = memfd_create(CODEMAP_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct err err = { 0 };

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, CODEMAP_HEADER_BYTES + s->ring_bytes), 0);
	s->header = mmap(NULL, CODEMAP_HEADER_BYTES + s->ring_bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED, fd, 0);
	assert_ptr_not_equal(s->header, MAP_FAILED);
	s->header->magic = CODEMAP_MAGIC;
	s->header->version = CODEMAP_VERSION;
	s->header->header_bytes = CODEMAP_HEADER_BYTES;
	s->header->ring_bytes = s->ring_bytes;
	s->header->events_on = CODEMAP_WANT_CODE;
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(codemap_reader_open_fd(fd, &s->jvm->reader, &err), 0);
	assert_int_equal(codemap_reader_take_lease(&s->jvm->reader, clock_ns, &err), 0);
	s->jvm->store = codemap_store_new();
}

static struct source *begin(unsigned int number, uint32_t ring_bytes)
{
	struct source *s = &sources[number];

	s->process.pid = 0x70000000 + number;
	s->process.serial = number + 1;
	vec_push(&s->process.mappings,
		 ((struct mapping){ .start = 0x1000, .end = 0x2000, .path = path }));
	s->jvm = jvm_table_get(table, &s->process);
	s->ring_bytes = ring_bytes;
	open_code_map(s);
	return s;
}

/* COUNT records, the cheapest there are; all of the ring's room when it is 0. */
static void write_records(struct source *s, uint64_t count)
{
	const struct codemap_record record = { sizeof(record), CODEMAP_REPLAY_END, 0, 1 };
	uint64_t room = s->ring_bytes - (s->header->head - s->header->tail);

	count = count ? count : room / sizeof(record);
	while (count--) {
		memcpy((char *)s->header + CODEMAP_HEADER_BYTES + s->header->head % s->ring_bytes,
		       &record, sizeof(record));
		s->header->head += sizeof(record);
	}
}

static bool is_read(const struct source *s)
{
	return s->header->tail == s->header->head;
}

static void a_turn_takes_its_time_and_goes_on_in_the_next(void **state)
{
	struct source *s = begin(0, SMALL_RING);
	unsigned int turns = 0;

	(void)state;
	look_ns = NSEC_PER_MSEC / 2;
	write_records(s, 0);
	while (!is_read(s)) {
		uint64_t tail = s->header->tail, began_ns = clock_ns;

		jvm_table_poll(table);
		assert_true(clock_ns - began_ns < 25 * NSEC_PER_MSEC);
		assert_true(s->header->tail > tail);
		assert_true(s->header->lease_until_ns > began_ns);
		assert_true(jvm_reads_code_map(s->jvm));
		turns++;
	}
	/* 4,096 records, some forty in a turn */
	assert_in_range(turns, 80, 200);
}

static void a_turn_takes_its_bytes(void **state)
{
	struct source *s = begin(0, LARGE_RING);

	(void)state;
	write_records(s, 0);
	for (uint64_t turn = 1; turn <= 3; turn++) {
		jvm_table_poll(table);
		assert_in_range(s->header->tail, turn * CODEMAP_RING_BYTES,
				turn * (CODEMAP_RING_BYTES + CODEMAP_READ_BYTES));
	}
}

/* The ring of an agent of ours is read in one. */
static void a_full_ring_of_ours_is_no_rest(void **state)
{
	struct source *s = begin(0, CODEMAP_RING_BYTES);

	(void)state;
	write_records(s, 0);
	jvm_table_poll(table);
	assert_true(is_read(s));
}

static void greedy_ones_wait_for_the_others(void **state)
{
	struct source *small;

	(void)state;
	for (unsigned int i = 0; i < GREEDY; i++)
		begin(i, SMALL_RING);
	small = begin(GREEDY, SMALL_RING);
	look_ns = NSEC_PER_MSEC / 2;
	for (unsigned int turn = 0; turn < 20; turn++) {
		uint64_t began_ns = clock_ns;

		for (unsigned int i = 0; i < GREEDY; i++)
			write_records(&sources[i], 0);
		write_records(small, 2);
		jvm_table_poll(table);
		assert_true(turn == 0 || is_read(small));
		assert_true(clock_ns - began_ns < 70 * NSEC_PER_MSEC);
		for (unsigned int i = 0; i <= GREEDY; i++)
			assert_true(sources[i].header->lease_until_ns > began_ns);
	}
	/* Nor does one of them get nothing. */
	for (unsigned int i = 0; i < GREEDY; i++)
		assert_true(sources[i].header->tail > 100 * sizeof(struct codemap_record));
}

/* An agent that leaves has written its last records. */
static void what_an_agent_left_is_read_to_its_end(void **state)
{
	struct source *s = begin(0, SMALL_RING);
	unsigned int turns = 0;

	(void)state;
	look_ns = NSEC_PER_MSEC / 2;
	write_records(s, 100);
	s->header->closed_ns = 1;
	while (jvm_reads_code_map(s->jvm)) {
		jvm_table_poll(table);
		assert_true(turns++ < 10);
	}
	assert_true(is_read(s));
}

/* COUNT stubs, of 2 kB each in our memory. */
static void tell(const struct source *s, unsigned int count)
{
	static char name[1024];
	struct codemap_event e = { .kind = CODEMAP_DYNAMIC, .time_ns = 1 };

	memset(name, 'n', sizeof(name));
	e.dynamic.name = (struct codemap_text){ name, sizeof(name) };
	e.dynamic.code_bytes = 16;
	for (e.dynamic.address = 16; count-- > 0; e.dynamic.address += 16)
		codemap_store_add(s->jvm->store, &e);
}

/* Who told the most is forgotten, and asked again. */
static void all_code_maps_have_a_limit(void **state)
{
	struct source *large = begin(0, SMALL_RING), *small = begin(1, SMALL_RING);
	uint32_t pid = 1;

	(void)state;
	jvm_table_limit_code_maps(table, 8 << 20);
	tell(small, 3000);
	tell(large, 4000);
	jvm_table_poll(table);
	assert_int_equal(jvm_table_forgotten(table, &pid), 0);
	tell(large, 6000);
	assert_true(codemap_store_bytes(large->jvm->store) > (5 << 20));
	tell(small, 5000);
	jvm_table_poll(table);
	assert_int_equal(jvm_table_forgotten(table, &pid), 1);
	assert_int_equal(pid, large->process.pid);
	assert_true(codemap_store_bytes(large->jvm->store) < 1000);
	assert_true(codemap_store_bytes(small->jvm->store) > (3 << 20));
	assert_true(codemap_store_needs_replay(large->jvm->store));
	assert_false(codemap_store_needs_replay(small->jvm->store));
	/* What is small makes no room. */
	assert_true(jvm_table_forget_largest(table));
	assert_false(jvm_table_forget_largest(table));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_turn_takes_its_time_and_goes_on_in_the_next),
		TEST(a_turn_takes_its_bytes),
		TEST(a_full_ring_of_ours_is_no_rest),
		TEST(greedy_ones_wait_for_the_others),
		TEST(all_code_maps_have_a_limit),
		TEST(what_an_agent_left_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
