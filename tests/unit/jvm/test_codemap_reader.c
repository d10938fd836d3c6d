/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "codemap_fixture.h"
#include "jvm/codemap/codemap_find.h"
#include "jvm/codemap/codemap_reader.h"

#define RING (64U << 10)

/* The agent's side: a memfd as it makes it, and its mapping. */
struct memory {
	int fd;
	char *map;
	struct codemap_header *header;
};

static struct memory make_memory(unsigned int seals)
{
	struct memory m;

	m.fd = memfd_create(CODEMAP_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_true(m.fd >= 0);
	assert_int_equal(ftruncate(m.fd, CODEMAP_HEADER_BYTES + RING), 0);
	m.map = mmap(NULL, CODEMAP_HEADER_BYTES + RING, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd,
		     0);
	assert_ptr_not_equal(m.map, MAP_FAILED);
	m.header = (void *)m.map;
	m.header->magic = CODEMAP_MAGIC;
	m.header->version = CODEMAP_VERSION;
	m.header->header_bytes = CODEMAP_HEADER_BYTES;
	m.header->ring_bytes = RING;
	assert_int_equal(fcntl(m.fd, F_ADD_SEALS, seals), 0);
	return m;
}

static void drop_memory(struct memory *m)
{
	munmap(m->map, CODEMAP_HEADER_BYTES + RING);
	close(m->fd);
}

static int open_reader(const struct memory *m, struct codemap_reader *reader)
{
	struct err err = { 0 };
	int fd = dup(m->fd);
	int ret = codemap_reader_open_fd(fd, reader, &err);

	if (ret) {
		assert_true(err.text[0]);
		close(fd);
	}
	return ret;
}

/* Records that came, by kind, and the last number of a method. */
struct seen {
	unsigned int records;
	uint64_t sum;
};

static void see(const struct codemap_event *event, void *data)
{
	struct seen *seen = data;

	seen->records++;
	if (event->kind == CODEMAP_METHOD)
		seen->sum += event->method.number;
}

static int drain(struct codemap_reader *reader, struct seen *seen)
{
	static _Alignas(8) char buffer[CODEMAP_READ_BYTES];

	return codemap_reader_drain(reader, buffer, NULL, see, seen);
}

/* Write one method record at the head as the agent does, with padding at the ring's end. */
static void write_method(struct memory *m, uint64_t number, size_t text)
{
	struct record_buffer b = { .len = 0 };
	char name[4000];
	uint64_t at = m->header->head % RING;

	memset(name, 'x', text);
	name[text] = '\0';
	put_method(&b, number, "pkg/A", name, "", 0, 0);
	if (RING - at < b.len) {
		struct codemap_record pad = { (uint32_t)(RING - at), CODEMAP_PAD, 0, 0 };

		if (pad.size >= sizeof(pad))
			memcpy(m->map + CODEMAP_HEADER_BYTES + at, &pad, sizeof(pad));
		m->header->head += RING - at;
		at = 0;
	}
	memcpy(m->map + CODEMAP_HEADER_BYTES + at, b.data, b.len);
	m->header->head += b.len;
}

static void reads_around_the_end_of_the_ring(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	struct codemap_reader reader;
	struct err err = { 0 };
	struct seen seen = { 0, 0 };
	uint64_t sum = 0, count = 0;

	(void)state;
	assert_int_equal(open_reader(&m, &reader), 0);
	assert_int_equal(codemap_reader_take_lease(&reader, clock_now_ns(), &err), 0);
	/* Sizes that leave every rest before the ring's end, also the one of 8 bytes. */
	for (uint64_t i = 1; i <= 2000; i++) {
		write_method(&m, i, i * 37 % 3000);
		sum += i;
		count++;
		if (i % 5 == 0)
			assert_int_equal(drain(&reader, &seen), 0);
	}
	assert_int_equal(drain(&reader, &seen), 0);
	assert_int_equal(seen.records, count);
	assert_int_equal(seen.sum, sum);
	assert_int_equal(m.header->tail, m.header->head);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

static void a_rest_of_eight_bytes_has_no_record(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	struct codemap_reader reader;
	struct err err = { 0 };
	struct seen seen = { 0, 0 };

	(void)state;
	m.header->head = RING - 8;
	memset(m.map + CODEMAP_HEADER_BYTES + RING - 8, 0xff, 8);
	assert_int_equal(open_reader(&m, &reader), 0);
	assert_int_equal(codemap_reader_take_lease(&reader, clock_now_ns(), &err), 0);
	write_method(&m, 5, 10);
	assert_int_equal(drain(&reader, &seen), 0);
	assert_int_equal(seen.sum, 5);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

static void see_time(const struct codemap_event *event, void *data)
{
	*(uint64_t *)data = event->time_ns;
}

/* A JVM in a time namespace has another clock: its times come in ours, the lease goes in its. */
static void times_are_in_our_clock(void **state)
{
	static _Alignas(8) char buffer[CODEMAP_READ_BYTES];
	struct memory m = make_memory(F_SEAL_SHRINK);
	struct codemap_reader reader;
	struct err err = { 0 };
	uint64_t time_ns = 0;

	(void)state;
	assert_int_equal(open_reader(&m, &reader), 0);
	reader.clock_offset_ns = 5000;
	assert_int_equal(codemap_reader_take_lease(&reader, 100, &err), 0);
	assert_int_equal(m.header->lease_until_ns, 100 + 5000 + CODEMAP_LEASE_NS);
	assert_true(codemap_reader_renew_lease(&reader, 200));
	assert_int_equal(m.header->lease_until_ns, 200 + 5000 + CODEMAP_LEASE_NS);
	write_method(&m, 1, 10);
	((struct codemap_record *)(void *)(m.map + CODEMAP_HEADER_BYTES))->time_ns = 7000;
	assert_int_equal(codemap_reader_drain(&reader, buffer, NULL, see_time, &time_ns), 0);
	assert_int_equal(time_ns, 2000);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

static void refuses_memory_that_may_shrink(void **state)
{
	struct memory m = make_memory(0);
	struct codemap_reader reader;

	(void)state;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	drop_memory(&m);
}

static void refuses_wrong_headers(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	const struct codemap_header good = *m.header;
	struct codemap_reader reader;

	(void)state;
	m.header->magic++;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	*m.header = good;
	m.header->version = 99;
	assert_int_equal(open_reader(&m, &reader), -EOPNOTSUPP);
	*m.header = good;
	m.header->ring_bytes = RING * 2;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	m.header->ring_bytes = RING - 8;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	m.header->ring_bytes = 0;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	*m.header = good;
	m.header->header_bytes = 0xfffffff8;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	*m.header = good;
	m.header->header_bytes = 8;
	assert_int_equal(open_reader(&m, &reader), -EBADMSG);
	*m.header = good;
	assert_int_equal(open_reader(&m, &reader), 0);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

static int drain_with(uint64_t head, uint32_t first_size)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	struct codemap_record record = { first_size, CODEMAP_GAP, 0, 0 };
	struct codemap_reader reader;
	struct err err = { 0 };
	struct seen seen = { 0, 0 };
	int ret;

	assert_int_equal(open_reader(&m, &reader), 0);
	assert_int_equal(codemap_reader_take_lease(&reader, clock_now_ns(), &err), 0);
	memcpy(m.map + CODEMAP_HEADER_BYTES, &record, sizeof(record));
	m.header->head = head;
	ret = drain(&reader, &seen);
	codemap_reader_close(&reader);
	drop_memory(&m);
	return ret;
}

static void refuses_hostile_rings(void **state)
{
	(void)state;
	assert_int_equal(drain_with(24, 24), 0);
	assert_int_equal(drain_with(24, 0), -EBADMSG);
	assert_int_equal(drain_with(24, 8), -EBADMSG);
	assert_int_equal(drain_with(24, 32), -EBADMSG);
	assert_int_equal(drain_with(8, 24), -EBADMSG);
	assert_int_equal(drain_with(25, 24), -EBADMSG);
	assert_int_equal(drain_with(RING + 8, 24), -EBADMSG);
	assert_int_equal(drain_with(~7UL, 24), -EBADMSG);
	assert_int_equal(drain_with(RING, RING * 2), -EBADMSG);
}

static void one_consumer_at_a_time(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	uint64_t now = clock_now_ns();
	struct codemap_reader reader;
	struct err err = { 0 };

	(void)state;
	m.header->head = 4096;
	m.header->lease_pid = 1;
	m.header->lease_until_ns = now + CODEMAP_LEASE_NS / 2;
	assert_int_equal(open_reader(&m, &reader), 0);
	assert_int_equal(codemap_reader_take_lease(&reader, now, &err), -EBUSY);
	assert_non_null(strstr(err.text, "pid 1 "));
	/* It has lapsed. */
	now += CODEMAP_LEASE_NS;
	assert_int_equal(codemap_reader_take_lease(&reader, now, &err), 0);
	assert_int_equal(m.header->lease_pid, getpid());
	assert_int_equal(m.header->lease_until_ns, now + CODEMAP_LEASE_NS);
	assert_int_equal(m.header->tail, 4096);
	codemap_reader_command(&reader, CODEMAP_COMMAND_START, CODEMAP_WANT_CODE);
	assert_int_equal(m.header->command_seq, 1);
	assert_int_equal(m.header->command, CODEMAP_COMMAND_START);
	assert_int_equal(m.header->want, CODEMAP_WANT_CODE);
	codemap_reader_release_lease(&reader);
	assert_int_equal(m.header->lease_until_ns, 0);
	assert_int_equal(m.header->command, CODEMAP_COMMAND_STOP);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

/* One that was stopped for longer than its lease must not disturb its successor. */
static void a_lease_that_another_took_is_given_up(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	uint64_t now = clock_now_ns();
	struct codemap_reader reader;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(open_reader(&m, &reader), 0);
	assert_int_equal(codemap_reader_take_lease(&reader, now, &err), 0);
	assert_true(codemap_reader_renew_lease(&reader, now + 1));
	assert_int_equal(m.header->lease_until_ns, now + 1 + CODEMAP_LEASE_NS);
	m.header->lease_pid = 1;
	m.header->lease_until_ns = 4711;
	assert_false(codemap_reader_renew_lease(&reader, now + 2));
	codemap_reader_release_lease(&reader);
	assert_int_equal(m.header->lease_until_ns, 4711);
	assert_int_equal(m.header->command_seq, 0);
	/* Also when it is given back before that was noticed. */
	m.header->lease_until_ns = 0;
	assert_int_equal(codemap_reader_take_lease(&reader, now, &err), 0);
	m.header->lease_pid = 1;
	codemap_reader_release_lease(&reader);
	assert_int_equal(m.header->lease_until_ns, now + CODEMAP_LEASE_NS);
	assert_int_equal(m.header->command_seq, 0);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

static void finds_the_newest_memory_of_a_process(void **state)
{
	struct memory first = make_memory(F_SEAL_SHRINK), second = make_memory(F_SEAL_SHRINK);
	struct codemap_reader reader;
	struct err err = { 0 };

	(void)state;
	second.header->ns_pid = (uint32_t)getpid();
	assert_int_equal(codemap_reader_open((uint32_t)getpid(), &reader, &err), 0);
	assert_int_equal(reader.header->ns_pid, getpid());
	assert_int_equal(reader.clock_offset_ns, 0);
	codemap_reader_close(&reader);
	drop_memory(&first);
	drop_memory(&second);
	assert_int_equal(codemap_reader_open((uint32_t)getpid(), &reader, &err), -ENODATA);
	assert_int_equal(codemap_reader_open(0x7ffffff0, &reader, &err), -ESRCH);
}

/* A JVM without stdin has it in its place. */
static void finds_memory_of_any_number(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	struct codemap_reader reader;
	struct err err = { 0 };
	int kept = dup(0);

	(void)state;
	m.header->ns_pid = (uint32_t)getpid();
	assert_int_equal(dup2(m.fd, 0), 0);
	close(m.fd);
	m.fd = -1;
	assert_int_equal(codemap_reader_open((uint32_t)getpid(), &reader, &err), 0);
	codemap_reader_close(&reader);
	drop_memory(&m);
	if (kept >= 0) {
		dup2(kept, 0);
		close(kept);
	} else {
		close(0);
	}
}

static void the_memory_of_a_forked_child_is_its_parents(void **state)
{
	struct memory m = make_memory(F_SEAL_SHRINK);
	struct codemap_reader reader;
	struct err err = { 0 };
	pid_t child;
	int r;

	(void)state;
	m.header->ns_pid = (uint32_t)getpid();
	child = fork();
	if (child == 0) {
		pause();
		_exit(0);
	}
	r = codemap_reader_open((uint32_t)child, &reader, &err);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(r, -ENODATA);
	assert_int_equal(codemap_reader_open((uint32_t)getpid(), &reader, &err), 0);
	codemap_reader_close(&reader);
	drop_memory(&m);
}

static void reads_clock_offsets(void **state)
{
	const char text[] = "monotonic        -86400         250000000\n"
			    "boottime             0                 0\n";

	(void)state;
	assert_int_equal(codemap_parse_timens(text, sizeof(text) - 1), -86399750000000);
	assert_int_equal(codemap_parse_timens("monotonic 9223372036854775807 0", 31), 0);
	assert_int_equal(codemap_parse_timens("", 0), 0);
	assert_int_equal(codemap_parse_timens("monotonic x", 11), 0);
}

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x00000080
#endif

/* Say the pid of a child of ours, whose clock is ahead; it lives until the other end is closed. */
static void start_ahead(const char *offsets, int end)
{
	int fd = open("/proc/self/timens_offsets", O_WRONLY | O_CLOEXEC);
	char byte;
	pid_t pid;

	if (syscall(SYS_unshare, CLONE_NEWTIME) < 0 || fd < 0 ||
	    write(fd, offsets, strlen(offsets)) < 0)
		_exit(0);
	pid = fork();
	if (pid > 0 && write(end, &pid, sizeof(pid)) < 0)
		_exit(1);
	while (read(end, &byte, 1) > 0)
		;
	_exit(0);
}

/* A container may have a clock of its own. */
static void a_process_of_another_time(void **state)
{
	pid_t pid, other = 0;
	int ends[2];

	(void)state;
	assert_int_equal(codemap_clock_offset_ns((uint32_t)getpid()), 0);
	if (geteuid() != 0 || access("/proc/self/timens_offsets", F_OK))
		skip();
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		start_ahead("monotonic 3600 5", ends[1]);
	}
	close(ends[1]);
	if (read(ends[0], &other, sizeof(other)) == sizeof(other))
		assert_true(codemap_clock_offset_ns((uint32_t)other) ==
			    3600 * (int64_t)NSEC_PER_SEC + 5);
	close(ends[0]);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_around_the_end_of_the_ring),
		cmocka_unit_test(a_rest_of_eight_bytes_has_no_record),
		cmocka_unit_test(times_are_in_our_clock),
		cmocka_unit_test(refuses_memory_that_may_shrink),
		cmocka_unit_test(refuses_wrong_headers),
		cmocka_unit_test(refuses_hostile_rings),
		cmocka_unit_test(one_consumer_at_a_time),
		cmocka_unit_test(a_lease_that_another_took_is_given_up),
		cmocka_unit_test(finds_the_newest_memory_of_a_process),
		cmocka_unit_test(finds_memory_of_any_number),
		cmocka_unit_test(the_memory_of_a_forked_child_is_its_parents),
		cmocka_unit_test(reads_clock_offsets),
		cmocka_unit_test(a_process_of_another_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
