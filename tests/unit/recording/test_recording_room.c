// SPDX-License-Identifier: Apache-2.0
/* A disk that has no room for a while: what waits, what is dropped and counted, what stays readable. */
#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"
#include "recording/recording.h"
#include "recording_fixture.h"

static struct {
	int fd;
	struct recording_writer *writer;
	struct profile p, expected;
	unsigned int added;
	off_t room;		 /* a write that would end behind it is cut, then fails */
	bool headers_fail;	 /* writes before `room` do, too */
	unsigned int pauses;	 /* that the writer made */
	unsigned int room_after; /* so many there is room; 0: never */
} f;

static struct err err;

#define FOR_EVER INT64_MAX

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
	off_t most = f.room - at;

	if (most <= 0 || (f.headers_fail && len < 100)) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, data, MIN((off_t)len, most), at);
}

int usleep(useconds_t usec)
{
	(void)usec;
	f.pauses++;
	if (f.pauses == f.room_after)
		f.room = FOR_EVER;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	f.room = FOR_EVER;
	f.fd = memfd_create("recording", MFD_CLOEXEC);
	profile_init(&f.p);
	profile_init(&f.expected);
	return recording_writer_new(f.fd, &f.writer, &err);
}

static int tear_down(void **state)
{
	(void)state;
	recording_writer_free(f.writer);
	profile_release(&f.p);
	profile_release(&f.expected);
	return close(f.fd);
}

/* Those of one add(). */
static uint64_t samples_of_one(void)
{
	struct profile p;
	uint64_t samples = 0;

	profile_init(&p);
	fixture_add(&p, 0);
	for (size_t i = 0; i < p.samples.len; i++)
		samples += p.samples.items[i].count;
	profile_release(&p);
	return samples;
}

/* More samples; EXPECTED ones are in the recording in the end. */
static void add(bool expected)
{
	fixture_add(&f.p, f.added);
	if (expected)
		fixture_add(&f.expected, f.added);
	f.added += FIXTURE_SAMPLES;
}

static off_t size(void)
{
	struct stat st;

	assert_int_equal(fstat(f.fd, &st), 0);
	return st.st_size;
}

static void flush(void)
{
	struct err none = { 0 };

	assert_int_equal(recording_writer_flush(f.writer, &f.p, &none), 0);
	assert_int_equal(none.code, 0);
	assert_int_equal(f.p.samples.len, 0);
}

static uint64_t dropped(void)
{
	struct recording_shortage shortage;

	recording_writer_get_shortage(f.writer, &shortage);
	return shortage.dropped;
}

static bool was_short(void)
{
	struct recording_shortage shortage;

	recording_writer_get_shortage(f.writer, &shortage);
	return shortage.was_met;
}

/* All samples that are in the file are those expected, and the file is sound. */
static void expect_file(bool ended)
{
	const struct recording_read_options options = { 0 };
	struct lines a = { VEC_INIT }, b = { VEC_INIT };
	struct profile got;
	bool truncated = ended;

	profile_init(&got);
	assert_int_equal(recording_read(f.fd, &options, &got, &truncated, &err), 0);
	assert_int_equal(truncated, !ended);
	describe_profile(&a, &f.expected);
	describe_profile(&b, &got);
	for (size_t i = 0; i < a.items.len && i < b.items.len; i++)
		assert_string_equal(b.items.items[i], a.items.items[i]);
	assert_int_equal(b.items.len, a.items.len);
	lines_release(&a);
	lines_release(&b);
	profile_release(&got);
	assert_int_equal(lseek(f.fd, 0, SEEK_SET), 0);
}

/* --- */

static void it_passes(void **state)
{
	off_t good;

	(void)state;
	add(true);
	flush();
	good = size();
	f.room = good + 50;
	for (int i = 0; i < 3; i++) {
		expect_file(false);
		add(false);
		flush();
		assert_int_equal(size(), good);
	}
	for (unsigned int i = 1; i <= 4; i++)
		fixture_add(&f.expected, i * FIXTURE_SAMPLES);
	f.room = FOR_EVER;
	add(false);
	flush();
	expect_file(false);
	add(true);
	assert_int_equal(recording_writer_finish(f.writer, &f.p, &err), 0);
	expect_file(true);
	assert_true(was_short());
	assert_int_equal(dropped(), 0);
	assert_int_equal(f.pauses, 0);
}

static void it_begins_without(void **state)
{
	(void)state;
	f.room = 0;
	add(true);
	flush();
	assert_int_equal(size(), 0);
	f.room = FOR_EVER;
	add(true);
	flush();
	expect_file(false);
	assert_int_equal(recording_writer_finish(f.writer, &f.p, &err), 0);
	expect_file(true);
}

/* The data have found room, the header that tells of them has not. */
static void a_header_has_no_room(void **state)
{
	off_t good;

	(void)state;
	add(true);
	flush();
	good = size();
	f.headers_fail = true;
	add(false);
	flush();
	assert_int_equal(size(), good);
	expect_file(false);
	f.headers_fail = false;
	fixture_add(&f.expected, FIXTURE_SAMPLES);
	assert_int_equal(recording_writer_finish(f.writer, &f.p, &err), 0);
	expect_file(true);
}

/* What waits has a limit. */
static void too_much_waits(void **state)
{
	uint64_t flushes = 0, read = 0, told = 0;
	const struct recording_read_options options = { 0 };
	struct profile got;
	bool truncated;

	(void)state;
	flush();
	f.room = size();
	while (!dropped()) {
		for (unsigned int i = 0; i < 1000; i++)
			add(false);
		flush();
		assert_true(++flushes < 100);
	}
	assert_true(flushes > 1);
	assert_int_equal(dropped(), 1000 * samples_of_one());
	f.room = FOR_EVER;
	flush();
	add(false);
	assert_int_equal(recording_writer_finish(f.writer, &f.p, &err), 0);
	profile_init(&got);
	assert_int_equal(recording_read(f.fd, &options, &got, &truncated, &err), 0);
	for (size_t i = 0; i < got.samples.len; i++)
		read += got.samples.items[i].count;
	assert_int_equal(read + dropped(), (flushes * 1000 + 1) * samples_of_one());
	for (size_t i = 0; i < got.counters.len; i++)
		if (!strcmp(str(&got, got.counters.items[i].name), "recording.not-written"))
			told = got.counters.items[i].value;
	assert_int_equal(told, dropped());
	profile_release(&got);
}

static void at_second(unsigned int second)
{
	fixture_head(&f.p);
	f.p.duration_ns = second * NSEC_PER_SEC;
}

/* A chunk ends without what has waited for a minute, and the next one is whole. */
static void it_takes_too_long(void **state)
{
	(void)state;
	recording_writer_limit_chunks(f.writer, 0, 10 * NSEC_PER_SEC);
	add(true);
	at_second(5);
	flush();
	f.room = size();
	add(false);
	at_second(20);
	flush();
	assert_false(recording_writer_wants_rotation(f.writer));
	at_second(79);
	flush();
	assert_false(recording_writer_wants_rotation(f.writer));
	at_second(80);
	flush();
	assert_true(recording_writer_wants_rotation(f.writer));
	add(false);
	assert_int_equal(recording_writer_rotate(f.writer, &f.p, &err), 0);
	assert_int_equal(dropped(), 2 * samples_of_one());
	profile_release(&f.p);
	profile_init(&f.p);
	f.room = FOR_EVER;
	add(true);
	flush();
	at_second(85);
	flush();
	/* With room a chunk ends at its own time again. */
	assert_false(recording_writer_wants_rotation(f.writer));
	at_second(91);
	flush();
	assert_true(recording_writer_wants_rotation(f.writer));
}

static void the_end_waits(void **state)
{
	(void)state;
	add(true);
	flush();
	f.room = size();
	f.room_after = 2;
	add(true);
	assert_int_equal(recording_writer_finish(f.writer, &f.p, &err), 0);
	assert_int_equal(f.pauses, 2);
	expect_file(true);
}

static void but_not_for_ever(void **state)
{
	(void)state;
	add(true);
	flush();
	f.room = size();
	add(false);
	assert_int_equal(recording_writer_finish(f.writer, &f.p, &err), -ENOSPC);
	assert_in_range(f.pauses, 1, 20);
	assert_string_equal(err.text, "cannot write the recording: No space left on device");
	expect_file(false);
	assert_int_equal(recording_writer_flush(f.writer, &f.p, &err), -ENOSPC);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(it_passes),	TEST(it_begins_without), TEST(a_header_has_no_room),
		TEST(too_much_waits),	TEST(it_takes_too_long), TEST(the_end_waits),
		TEST(but_not_for_ever),
	};

	return cmocka_run_group_tests_name("recording_room", tests, NULL, NULL);
}
