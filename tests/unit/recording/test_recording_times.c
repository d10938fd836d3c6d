/* SPDX-License-Identifier: Apache-2.0 */
/* Times of recordings: of other producers, whose ticks are not nanoseconds, and of chunk after chunk. */
#include "test.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/file.h"
#include "recording/chunk.h"
#include "recording/recording.h"
#include "recording_fixture.h"

#ifndef TEST_CORPUS
#define TEST_CORPUS "tests/fuzz/corpus/jfr"
#endif

/* Of the corpus' recording, by `jfr print` and `jfr summary` of JDK 17. */
#define JDK17_START_NS	1795258228491323055ULL
#define JDK17_SAMPLES	111
#define FIRST_SAMPLE_NS 1795258228570000030ULL
#define LAST_SAMPLE_NS	1795258230992545845ULL
#define JDK17_TICKS_HZ	1000000000ULL
#define TEN_SECONDS	(10 * NSEC_PER_SEC)

/* The JDK's recording COPIES times, in a file of our own; -1: it is not there. */
static int copy_of_jdk_recording(unsigned int copies, size_t *ret_size)
{
	_cleanup_close_ int from = open(TEST_CORPUS "/jdk17", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *bytes = NULL;
	struct stat st;
	int fd;

	if (from < 0)
		return -1;
	assert_int_equal(fstat(from, &st), 0);
	*ret_size = (size_t)st.st_size;
	bytes = xmalloc(*ret_size);
	assert_int_equal(file_pread_full(from, bytes, *ret_size, 0), 0);
	fd = memfd_create("recording", MFD_CLOEXEC);
	for (unsigned int i = 0; i < copies; i++)
		assert_int_equal(file_pwrite_all(fd, bytes, *ret_size, (off_t)(i * *ret_size)), 0);
	return fd;
}

static struct jfr_chunk_header read_head(int fd, uint64_t at)
{
	struct jfr_chunk_header header;

	assert_int_equal(pread(fd, &header, sizeof(header), (off_t)at), sizeof(header));
	assert_memory_equal(header.magic, jfr_magic, sizeof(jfr_magic));
	return header;
}

static void write_head(int fd, uint64_t at, const struct jfr_chunk_header *header)
{
	assert_int_equal(pwrite(fd, header, sizeof(*header), (off_t)at), sizeof(*header));
}

static void read_back(int fd, struct profile *p)
{
	struct recording_read_options options = { .event = NULL, .merge = false };
	struct err err = { 0 };
	bool truncated = true;

	profile_init(p);
	assert_int_equal(recording_read(fd, &options, p, &truncated, &err), 0);
	assert_false(truncated);
}

static void first_and_last(const struct profile *p, size_t begin, size_t end, uint64_t *ret_first,
			   uint64_t *ret_last)
{
	*ret_first = UINT64_MAX;
	*ret_last = 0;
	for (size_t i = begin; i < end; i++) {
		*ret_first = MIN(*ret_first, p->samples.items[i].time_ns);
		*ret_last = MAX(*ret_last, p->samples.items[i].time_ns);
	}
}

static void times_of_a_jdk_recording(void **state)
{
	size_t size;
	_cleanup_close_ int fd = copy_of_jdk_recording(1, &size);
	uint64_t first, last;
	struct profile p;

	(void)state;
	if (fd < 0)
		skip();
	read_back(fd, &p);
	first_and_last(&p, 0, p.samples.len, &first, &last);
	assert_int_equal(p.start_wall_ns, JDK17_START_NS);
	assert_int_equal(p.start_ns, JDK17_START_NS);
	assert_int_equal(first, FIRST_SAMPLE_NS);
	assert_int_equal(last, LAST_SAMPLE_NS);
	assert_int_equal(p.duration_ns, be64toh(read_head(fd, 0).duration_ns));
	profile_release(&p);
}

/* The same ticks of a slower or a faster clock are longer or shorter. */
static void ticks_have_the_length_that_the_header_says(void **state)
{
	static const struct {
		uint64_t hz, times, part;
	} cases[] = {
		{ JDK17_TICKS_HZ / 2, 2, 1 },
		{ JDK17_TICKS_HZ * 4, 1, 4 },
		{ 2500000000, 2, 5 },
		{ 0, 1, 1 },
	};

	size_t size;
	_cleanup_close_ int fd = copy_of_jdk_recording(1, &size);
	struct jfr_chunk_header header;

	(void)state;
	if (fd < 0)
		skip();
	header = read_head(fd, 0);
	assert_int_equal(be64toh(header.ticks_per_second), JDK17_TICKS_HZ);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t first, last;
		struct profile p;

		header.ticks_per_second = htobe64(cases[i].hz);
		write_head(fd, 0, &header);
		read_back(fd, &p);
		first_and_last(&p, 0, p.samples.len, &first, &last);
		assert_int_equal(first - JDK17_START_NS, (FIRST_SAMPLE_NS - JDK17_START_NS) *
								 cases[i].times / cases[i].part);
		assert_int_equal(last - JDK17_START_NS, (LAST_SAMPLE_NS - JDK17_START_NS) *
								cases[i].times / cases[i].part);
		profile_release(&p);
	}
}

/* A second chunk has a start of its own, in both clocks; the profile begins with the first. */
static void each_chunk_has_its_own_start(void **state)
{
	size_t size;
	_cleanup_close_ int fd = copy_of_jdk_recording(2, &size);
	uint64_t first, last, duration;
	struct jfr_chunk_header header;
	struct profile p;

	(void)state;
	if (fd < 0)
		skip();
	header = read_head(fd, size);
	duration = be64toh(header.duration_ns);
	header.start_wall_ns = htobe64(be64toh(header.start_wall_ns) + TEN_SECONDS);
	header.start_ticks = htobe64(be64toh(header.start_ticks) + 1000);
	write_head(fd, size, &header);
	read_back(fd, &p);
	assert_int_equal(p.samples.len, 2 * JDK17_SAMPLES);
	first_and_last(&p, 0, JDK17_SAMPLES, &first, &last);
	assert_int_equal(first, FIRST_SAMPLE_NS);
	assert_int_equal(last, LAST_SAMPLE_NS);
	first_and_last(&p, JDK17_SAMPLES, p.samples.len, &first, &last);
	assert_int_equal(first, FIRST_SAMPLE_NS + TEN_SECONDS - 1000);
	assert_int_equal(last, LAST_SAMPLE_NS + TEN_SECONDS - 1000);
	assert_int_equal(p.start_ns, JDK17_START_NS);
	assert_int_equal(p.start_wall_ns, JDK17_START_NS);
	assert_int_equal(p.duration_ns, TEN_SECONDS + duration);
	profile_release(&p);
}

/* Of a chunk without its tables the header is all that is read. */
static void a_cut_chunk_says_when_it_began(void **state)
{
	size_t size;
	_cleanup_close_ int fd = copy_of_jdk_recording(1, &size);
	struct recording_read_options options = { .event = NULL, .merge = false };
	struct err err = { 0 };
	bool truncated = false;
	struct profile p;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(ftruncate(fd, JFR_HEADER_BYTES + 100), 0);
	profile_init(&p);
	assert_int_equal(recording_read(fd, &options, &p, &truncated, &err), 0);
	assert_true(truncated);
	assert_int_equal(p.samples.len, 0);
	assert_int_equal(p.start_wall_ns, JDK17_START_NS);
	assert_int_equal(p.duration_ns, be64toh(read_head(fd, 0).duration_ns));
	profile_release(&p);
}

/* --- our own chunks ------------------------------------------------------------------------------ */

static void assert_head(int fd, uint64_t at, uint64_t start_ns, uint64_t duration_ns, bool final)
{
	struct jfr_chunk_header header = read_head(fd, at);

	assert_int_equal(be64toh(header.start_ticks), FIXTURE_START_NS + start_ns);
	assert_int_equal(be64toh(header.start_wall_ns), FIXTURE_START_WALL_NS + start_ns);
	assert_int_equal(be64toh(header.duration_ns), duration_ns);
	assert_int_equal(be64toh(header.ticks_per_second), NSEC_PER_SEC);
	assert_int_equal(be64toh(header.metadata), JFR_HEADER_BYTES);
	assert_int_equal(header.state, 0);
	assert_int_equal(!!(header.flags & JFR_FLAG_FINAL), final);
}

/* Chunk after chunk begins where the one before has ended, in both clocks. */
static void a_chunk_begins_where_the_last_one_ended(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	uint64_t flush_ns = FIXTURE_SAMPLES * NSEC_PER_MSEC, at[3];
	struct err err = { 0 };
	struct profile p, got;

	(void)state;
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	profile_init(&p);
	for (unsigned int i = 0; i < 3; i++) {
		at[i] = (uint64_t)lseek(fd, 0, SEEK_END);
		fixture_add(&p, 2 * i * FIXTURE_SAMPLES);
		assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
		fixture_add(&p, (2 * i + 1) * FIXTURE_SAMPLES);
		if (i < 2)
			assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
		else
			assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_head(fd, at[i], 2 * i * flush_ns, 2 * flush_ns, i == 2);
	assert_int_equal(be64toh(read_head(fd, at[0]).size), at[1]);
	assert_int_equal(be64toh(read_head(fd, at[1]).size), at[2] - at[1]);
	read_back(fd, &got);
	assert_int_equal(got.samples.len, 6 * FIXTURE_SAMPLES);
	for (unsigned int i = 0; i < 6 * FIXTURE_SAMPLES; i++)
		assert_int_equal(got.samples.items[i].time_ns,
				 FIXTURE_START_NS + i * NSEC_PER_MSEC);
	assert_int_equal(got.start_ns, FIXTURE_START_NS);
	assert_int_equal(got.start_wall_ns, FIXTURE_START_WALL_NS);
	assert_int_equal(got.duration_ns, 6 * flush_ns);
	profile_release(&got);
	profile_release(&p);
}

/* A chunk ends with its last sample, and not before what the session says. */
static void a_chunk_ends_with_what_is_in_it(void **state)
{
	static const struct {
		uint64_t duration_ns, end_ns;
	} cases[] = {
		{ 0, (FIXTURE_SAMPLES - 1) * NSEC_PER_MSEC },
		{ 5 * NSEC_PER_SEC, 5 * NSEC_PER_SEC },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
		_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
		struct err err = { 0 };
		struct profile p;

		assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
		profile_init(&p);
		fixture_add(&p, 0);
		p.duration_ns = cases[i].duration_ns;
		assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
		assert_head(fd, 0, 0, cases[i].end_ns, true);
		profile_release(&p);
	}
}

/* A chunk is as long as it is told to be; 0 changes nothing. */
static void chunks_of_any_length(void **state)
{
	static const struct {
		uint64_t bytes, ns;
		bool wants;
	} cases[] = {
		{ 0, 0, false }, { 1, 0, true }, { 0, 1, true }, { 1 << 30, 1ULL << 60, false }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
		_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
		struct err err = { 0 };
		struct profile p;

		assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
		recording_writer_limit_chunks(writer, cases[i].bytes, cases[i].ns);
		profile_init(&p);
		fixture_add(&p, 0);
		assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
		assert_int_equal(recording_writer_wants_rotation(writer), cases[i].wants);
		profile_release(&p);
	}
}

/* Readers show local times: the metadata say how far they are from UTC. */
static void the_zone_of_the_host(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	_cleanup_free_ char *bytes = NULL;
	struct err err = { 0 };
	struct profile p;
	size_t len;

	(void)state;
	setenv("TZ", "XXX-2", 1);
	tzset();
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	unsetenv("TZ");
	tzset();
	profile_init(&p);
	fixture_add(&p, 0);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	len = (size_t)lseek(fd, 0, SEEK_END);
	bytes = xmalloc(len);
	assert_int_equal(file_pread_full(fd, bytes, len, 0), 0);
	assert_non_null(memmem(bytes, len,
			       "\x07"
			       "7200000",
			       8));
	profile_release(&p);
}

/* The part of FD from AT on, as a file. */
static int tail_of(int fd, off_t at)
{
	size_t size = (size_t)(lseek(fd, 0, SEEK_END) - at);
	_cleanup_free_ char *bytes = xmalloc(size);
	int tail = memfd_create("tail", MFD_CLOEXEC);

	assert_int_equal(file_pread_full(fd, bytes, size, at), 0);
	assert_int_equal(file_pwrite_all(tail, bytes, size, 0), 0);
	return tail;
}

/* A later chunk has all that its events name, also when the file is cut in front of it. */
static void each_chunk_can_be_read_alone(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC), tail = -1;
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	struct err err = { 0 };
	struct profile p, got;
	off_t at;

	(void)state;
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	profile_init(&p);
	fixture_add(&p, 0);
	assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
	at = lseek(fd, 0, SEEK_END);
	fixture_add(&p, FIXTURE_SAMPLES);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	tail = tail_of(fd, at);
	read_back(tail, &got);
	assert_int_equal(got.samples.len, FIXTURE_SAMPLES);
	assert_string_equal(str(&got, got.host), "build-7");
	assert_string_equal(str(&got, got.command), "hostprof record -a -d 10s");
	assert_int_equal(got.start_ns, FIXTURE_START_NS);
	assert_int_equal(intern_len(&got.processes), intern_len(&p.processes));
	assert_int_equal(intern_len(&got.frames), intern_len(&p.frames));
	assert_int_equal(intern_len(&got.mappings), intern_len(&p.mappings));
	assert_int_equal(intern_len(&got.events), intern_len(&p.events));
	profile_release(&got);
	profile_release(&p);
}

/* Threads that differ only in one word of their identity; each sample keeps its own. */
static void threads_of_equal_names_are_apart(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	struct profile_event cpu = { .period = 1 };
	struct err err = { 0 };
	struct profile p, got;
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	(void)state;
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	profile_init(&p);
	fixture_head(&p);
	cpu.name = profile_string(&p, "cpu");
	cpu.unit = profile_string(&p, "nanoseconds");
	for (uint32_t i = 0; i < 7; i++) {
		struct profile_process proc = { .pid = 7 + (i == 1),
						.exec_count = i == 2,
						.start_ns = 100 + (i == 3),
						.name = profile_string(&p, "java") };
		struct profile_thread thread = { .tid = 9 + (i == 4),
						 .java_tid = 3 + (i == 6),
						 .is_virtual = i >= 5 };
		struct profile_sample s = { .weight = 1, .count = 1, .time_ns = FIXTURE_START_NS };

		thread.process = profile_process(&p, &proc);
		thread.name = profile_string(&p, i >= 5 ? "other" : "worker");
		s.event = profile_event(&p, &cpu);
		s.thread = profile_thread(&p, &thread);
		s.stack = profile_stack(&p, NULL, 0);
		profile_add(&p, &s);
	}
	for (uint32_t i = 0; i < 7; i++)
		describe_sample(&a, &p, i);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	read_back(fd, &got);
	assert_int_equal(got.samples.len, 7);
	assert_int_equal(intern_len(&got.threads), 7);
	for (uint32_t i = 0; i < 7; i++)
		describe_sample(&b, &got, i);
	assert_string_equal(strbuf_str(&b), strbuf_str(&a));
	strbuf_release(&a);
	strbuf_release(&b);
	profile_release(&got);
	profile_release(&p);
}

/* What a chunk's tables take of memory ends it, too: a storm of programs that nobody else is like. */
static void rotation_by_tables(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	struct err err = { 0 };
	struct profile p, fresh;
	char name[1001];
	unsigned int number = 0;

	(void)state;
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	profile_init(&p);
	profile_init(&fresh);
	fixture_add(&p, 0);
	while (!recording_writer_wants_rotation(writer)) {
		for (unsigned int i = 0; i < 100; i++) {
			snprintf(name, sizeof(name), "%01000u", number++);
			profile_string(&p, name);
		}
		assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
		assert_true(number < 12000); /* 16 MB of a recording would be more */
	}
	assert_true(profile_table_bytes(&p) >= 10 << 20);
	assert_true(number > 7000); /* the kilobyte of each, and what finds it */
	assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
	assert_false(recording_writer_wants_rotation(writer));
	assert_int_equal(recording_writer_flush(writer, &fresh, &err), 0);
	assert_false(recording_writer_wants_rotation(writer));
	profile_release(&p);
	profile_release(&fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_of_a_jdk_recording),
		cmocka_unit_test(ticks_have_the_length_that_the_header_says),
		cmocka_unit_test(each_chunk_has_its_own_start),
		cmocka_unit_test(a_cut_chunk_says_when_it_began),
		cmocka_unit_test(a_chunk_begins_where_the_last_one_ended),
		cmocka_unit_test(a_chunk_ends_with_what_is_in_it),
		cmocka_unit_test(threads_of_equal_names_are_apart),
		cmocka_unit_test(each_chunk_can_be_read_alone),
		cmocka_unit_test(chunks_of_any_length),
		cmocka_unit_test(rotation_by_tables),
		cmocka_unit_test(the_zone_of_the_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
