// SPDX-License-Identifier: Apache-2.0
/* Lines for a reader that is slow, stops, or leaves. The descriptor is a pipe of the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "sink/stream_buffer.h"

#define PIPE_BYTES (1 << 20)

static struct stream_buffer buffer;
static struct err err;
static int fds[2];
static char *line; /* "x…x\n" of LINE_BYTES */

#define LINE_BYTES 1000

static int setup(void **state)
{
	(void)state;
	signal(SIGPIPE, SIG_IGN);
	err = (struct err){ 0 };
	line = malloc(LINE_BYTES + 1);
	memset(line, 'x', LINE_BYTES);
	line[LINE_BYTES - 1] = '\n';
	buffer = (struct stream_buffer)STREAM_BUFFER_INIT;
	return pipe2(fds, O_CLOEXEC);
}

static int teardown(void **state)
{
	(void)state;
	stream_buffer_release(&buffer);
	close(fds[0]);
	close(fds[1]);
	free(line);
	return 0;
}

static bool put(enum stream_line kind)
{
	return stream_buffer_put(&buffer, kind, line, LINE_BYTES);
}

/* What is in the pipe now. */
static size_t read_all(void)
{
	static char text[PIPE_BYTES];
	size_t sum = 0;
	ssize_t n;

	fcntl(fds[0], F_SETFL, O_NONBLOCK);
	while ((n = read(fds[0], text, sizeof(text))) > 0)
		sum += (size_t)n;
	return sum;
}

/* --- */

static void lines_go_through(void **state)
{
	char text[64] = "";

	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 100, &err), 0);
	assert_true(stream_buffer_put(&buffer, STREAM_SAMPLE, "one\n", 4));
	assert_true(stream_buffer_put(&buffer, STREAM_OTHER, "two\n", 4));
	assert_int_equal(stream_buffer_send(&buffer), 0);
	assert_int_equal(read(fds[0], text, sizeof(text)), 8);
	assert_string_equal(text, "one\ntwo\n");
	assert_int_equal(stream_buffer_send(&buffer), 0);
	assert_int_equal(buffer.lost_lines, 0);
	assert_false(stream_buffer_has_room_again(&buffer));
}

/* That we do not wait is nobody's business: others write to the same pipe. */
static void the_descriptor_stays_as_it_is(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 100, &err), 0);
	assert_int_equal(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
	assert_true(fcntl(buffer.fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(buffer.fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(fcntl(fds[0], F_GETPIPE_SZ), PIPE_BYTES);
}

/* A socket cannot be opened anew; it is as before afterwards. */
static void a_socket(void **state)
{
	int pair[2];
	char text[8];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(stream_buffer_open(&buffer, pair[0], 1 << 20, &err), 0);
	for (int i = 0; i < 1000; i++)
		assert_true(put(STREAM_SAMPLE));
	assert_int_equal(stream_buffer_send(&buffer), 0); /* what it takes */
	assert_true(buffer.text.len > 0);
	assert_int_equal(read(pair[1], text, sizeof(text)), 8);
	stream_buffer_release(&buffer);
	assert_int_equal(fcntl(pair[0], F_GETFL) & O_NONBLOCK, 0);
	close(pair[0]);
	close(pair[1]);
}

static void nothing_to_write_to(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, 999, 100, &err), -EBADF);
	assert_string_equal(err.text,
			    "cannot write the stream to descriptor 999: Bad file descriptor");
}

/* --- a reader that is slow --- */

static void what_waits_keeps_its_order(void **state)
{
	size_t sum = 0;

	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 4 << 20, &err), 0);
	for (int i = 0; i < 3000; i++) {
		snprintf(line, 24, "%020d", i);
		assert_true(put(STREAM_SAMPLE));
	}
	while (sum < 3000 * LINE_BYTES) {
		char text[LINE_BYTES];

		assert_int_equal(stream_buffer_send(&buffer), 0);
		for (int i = 0; i < 300; i++) {
			assert_int_equal(read(fds[0], text, LINE_BYTES), LINE_BYTES);
			snprintf(line, 24, "%020zu", sum / LINE_BYTES);
			assert_memory_equal(text, line, LINE_BYTES);
			sum += LINE_BYTES;
		}
	}
	assert_int_equal(buffer.text.len, 0);
}

/* Lost lines are one gap: none gets in between before there is room for many. */
static void whole_lines_are_lost_and_counted(void **state)
{
	uint64_t lost[STREAM_LINE_KINDS];

	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 10 * LINE_BYTES, &err), 0);
	for (int i = 0; i < 10; i++)
		assert_true(put(STREAM_SAMPLE));
	assert_false(put(STREAM_SAMPLE));
	assert_false(put(STREAM_CORRECTION));
	assert_false(put(STREAM_OTHER));
	assert_false(stream_buffer_put(&buffer, STREAM_SAMPLE, "short\n", 6));
	assert_false(stream_buffer_has_room_again(&buffer));
	assert_int_equal(buffer.lost_lines, 4);
	assert_int_equal(stream_buffer_send(&buffer), 0);
	assert_true(stream_buffer_has_room_again(&buffer));
	assert_false(put(STREAM_SAMPLE)); /* until somebody has told of it */
	stream_buffer_take_lost(&buffer, lost);
	assert_int_equal(lost[STREAM_SAMPLE], 3);
	assert_int_equal(lost[STREAM_CORRECTION], 1);
	assert_int_equal(lost[STREAM_OTHER], 1);
	assert_false(stream_buffer_has_room_again(&buffer));
	assert_true(put(STREAM_SAMPLE));
	assert_int_equal(buffer.lost_lines, 5);
	stream_buffer_take_lost(&buffer, lost);
	assert_int_equal(lost[STREAM_SAMPLE], 0);
	assert_int_equal(stream_buffer_send(&buffer), 0);
	assert_int_equal(read_all(), 11 * LINE_BYTES);
}

static void half_empty_is_room(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 2 * PIPE_BYTES, &err), 0);
	while (put(STREAM_SAMPLE))
		;
	assert_int_equal(stream_buffer_send(&buffer), 0);
	assert_true(stream_buffer_has_room_again(&buffer)); /* the pipe has the other half */
	while (read_all())
		assert_int_equal(stream_buffer_send(&buffer), 0);
	stream_buffer_take_lost(&buffer, (uint64_t[STREAM_LINE_KINDS]){ 0 });
	while (put(STREAM_SAMPLE))
		;
	assert_false(stream_buffer_has_room_again(&buffer));
}

/* However long it goes on, what was sent takes no memory. */
static void memory_is_flat(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 4 << 20, &err), 0);
	for (int i = 0; i < 100000; i++) {
		put(STREAM_SAMPLE);
		if (i % 100 == 0) {
			assert_int_equal(stream_buffer_send(&buffer), 0);
			read_all();
		}
	}
	assert_true(buffer.text.cap < 1 << 20);
	assert_int_equal(buffer.lost_lines, 0);
}

/* --- a reader that leaves --- */

static void a_reader_that_leaves(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 4 << 20, &err), 0);
	assert_int_equal(stream_buffer_send(&buffer), 0);
	close(fds[0]);
	assert_int_equal(stream_buffer_send(&buffer), -EPIPE); /* though nothing waits */
	assert_true(put(STREAM_SAMPLE));
	assert_int_equal(stream_buffer_send(&buffer), -EPIPE);
	assert_int_equal(stream_buffer_send_all(&buffer, NSEC_PER_SEC), -EPIPE);
	stream_buffer_release(&buffer);
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 100, &err), -EPIPE);
	fds[0] = -1;
}

static void a_full_disk(void **state)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fd, 4 << 20, &err), 0);
	assert_true(put(STREAM_SAMPLE));
	assert_int_equal(stream_buffer_send(&buffer), -ENOSPC);
	close(fd);
}

/* --- the end --- */

static void all_is_sent_at_the_end(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 4 << 20, &err), 0);
	for (int i = 0; i < 3000; i++)
		assert_true(put(STREAM_SAMPLE));
	if (fork() == 0) {
		size_t sum = 0;

		for (int i = 0; i < 200 && sum < 3000 * LINE_BYTES; i++) {
			usleep(10000);
			sum += read_all();
		}
		_exit(0);
	}
	assert_int_equal(stream_buffer_send_all(&buffer, 5 * NSEC_PER_SEC), 0);
	assert_int_equal(buffer.text.len, 0);
}

static void one_who_reads_nothing_is_left(void **state)
{
	(void)state;
	assert_int_equal(stream_buffer_open(&buffer, fds[1], 4 << 20, &err), 0);
	for (int i = 0; i < 3000; i++)
		assert_true(put(STREAM_SAMPLE));
	assert_int_equal(stream_buffer_send_all(&buffer, 20 * NSEC_PER_MSEC), -ETIMEDOUT);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(lines_go_through),
		TEST(the_descriptor_stays_as_it_is),
		TEST(a_socket),
		TEST(nothing_to_write_to),
		TEST(what_waits_keeps_its_order),
		TEST(whole_lines_are_lost_and_counted),
		TEST(half_empty_is_room),
		TEST(memory_is_flat),
		TEST(a_reader_that_leaves),
		TEST(a_full_disk),
		TEST(all_is_sent_at_the_end),
		TEST(one_who_reads_nothing_is_left),
	};

	return cmocka_run_group_tests_name("stream_buffer", tests, NULL, NULL);
}
