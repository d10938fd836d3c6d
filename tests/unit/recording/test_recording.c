/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings, written and read back. `test_recording --write FILE` leaves the recording of the
 * first test in FILE, for tests with other readers of JFR.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "recording/recording.h"
#include "recording_fixture.h"

#ifndef TEST_CORPUS
#define TEST_CORPUS "tests/fuzz/corpus/jfr"
#endif

#define JDK17_SAMPLES 111 /* as `jfr summary` counts them */

static int new_file(void)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static off_t file_size(int fd)
{
	struct stat st;

	assert_int_equal(fstat(fd, &st), 0);
	return st.st_size;
}

static struct recording_writer *new_writer(int fd)
{
	struct recording_writer *writer = NULL;
	struct err err = { 0 };

	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	return writer;
}

/* Read FD and return what recording_read() does. */
static int read_back(int fd, const char *event, bool merge, struct profile *p, bool *truncated)
{
	struct recording_read_options options = { .event = event, .merge = merge };
	struct err err = { 0 };
	int r;

	profile_init(p);
	r = recording_read(fd, &options, p, truncated, &err);
	assert_int_equal(err.code, r);
	return r;
}

static void assert_profiles_equal(const struct profile *expected, const struct profile *got)
{
	struct lines a = { VEC_INIT }, b = { VEC_INIT };

	describe_profile(&a, expected);
	describe_profile(&b, got);
	for (size_t i = 0; i < a.items.len && i < b.items.len; i++)
		assert_string_equal(b.items.items[i], a.items.items[i]);
	assert_int_equal(b.items.len, a.items.len);
	lines_release(&a);
	lines_release(&b);
}

/* Everything in one chunk, finished. */
static void write_whole(int fd)
{
	_cleanup_(recording_writer_freep) struct recording_writer *writer = new_writer(fd);
	struct err err = { 0 };
	struct profile p;

	profile_init(&p);
	fixture_add(&p, 0);
	fixture_add_figures(&p);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	assert_int_equal(p.samples.len, 0);
	profile_release(&p);
}

static void test_roundtrip(void **state)
{
	_cleanup_close_ int fd = new_file();
	struct profile expected, got;
	bool truncated = true;

	(void)state;
	profile_init(&expected);
	fixture_add(&expected, 0);
	fixture_add_figures(&expected);
	write_whole(fd);
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_false(truncated);
	assert_profiles_equal(&expected, &got);
	profile_release(&expected);
	profile_release(&got);
}

/* Of the first chunk; the second one has more of the same process. */
static const struct profile_quality early_quality = { 0, 0, 7, 6, 70, 5, 50 };

/* Two flushes, a new chunk with new tables, one flush more. */
static void write_two_chunks(int fd)
{
	_cleanup_(recording_writer_freep) struct recording_writer *writer = new_writer(fd);
	struct err err = { 0 };
	struct profile p;

	profile_init(&p);
	fixture_add(&p, 0);
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	assert_int_equal(p.samples.len, 0);
	profile_string(&p, "shifts the ids that follow");
	fixture_add(&p, FIXTURE_SAMPLES);
	profile_add_quality(&p, &early_quality);
	assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
	profile_release(&p);
	profile_init(&p);
	profile_string(&p, "and so does this");
	fixture_add(&p, 2 * FIXTURE_SAMPLES);
	fixture_add_figures(&p);
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	profile_release(&p);
}

static void test_chunks(void **state)
{
	_cleanup_close_ int fd = new_file();
	struct profile expected, got;
	bool truncated = true;

	(void)state;
	profile_init(&expected);
	for (unsigned int i = 0; i < 3; i++)
		fixture_add(&expected, i * FIXTURE_SAMPLES);
	profile_add_quality(&expected, &early_quality);
	fixture_add_figures(&expected);
	write_two_chunks(fd);
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_false(truncated);
	assert_profiles_equal(&expected, &got);
	profile_release(&expected);
	profile_release(&got);
}

static void test_event_and_merge(void **state)
{
	_cleanup_close_ int fd = new_file();
	struct profile got;
	bool truncated;
	uint64_t weight = 0, count = 0, expected_weight = 0, expected_count = 0;

	(void)state;
	write_two_chunks(fd);
	for (unsigned int i = 0; i < 3 * FIXTURE_SAMPLES; i++) {
		if (i % 5 == 4)
			continue;
		expected_weight += i % FIXTURE_SAMPLES ? 1000 + i : UINT64_MAX;
		expected_count += 1 + i % 3;
	}
	assert_int_equal(read_back(fd, "cpu", true, &got, &truncated), 0);
	for (size_t i = 0; i < got.samples.len; i++) {
		const struct profile_sample *s = &got.samples.items[i];

		assert_string_equal(str(&got, profile_get_event(&got, s->event)->name), "cpu");
		weight += s->weight;
		count += s->count;
	}
	assert_true(got.samples.len < 3 * FIXTURE_SAMPLES * 4 / 5);
	assert_int_equal(weight, expected_weight);
	assert_int_equal(count, expected_count);
	profile_release(&got);
}

/* What kill -9 leaves. */
static void test_flush_without_finish(void **state)
{
	_cleanup_close_ int fd = new_file();
	struct recording_writer *writer = new_writer(fd);
	struct profile expected, p, got;
	struct err err = { 0 };
	bool truncated = false;

	(void)state;
	profile_init(&p);
	profile_init(&expected);
	fixture_add(&p, 0);
	fixture_add(&expected, 0);
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	recording_writer_free(writer);
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_true(truncated);
	assert_profiles_equal(&expected, &got);
	profile_release(&got);

	/* A flush that had begun: its data are there, the header does not know them. */
	assert_int_equal(pwrite(fd, "\x15\x20half of an event", 19, file_size(fd)), 19);
	truncated = false;
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_true(truncated);
	assert_profiles_equal(&expected, &got);
	profile_release(&got);
	profile_release(&p);
	profile_release(&expected);
}

static void test_truncated_anywhere(void **state)
{
	_cleanup_close_ int whole = new_file(), fd = new_file();
	size_t seen = 0;
	off_t size;
	char *bytes;

	(void)state;
	write_two_chunks(whole);
	size = file_size(whole);
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, whole, 0);
	assert_ptr_not_equal(bytes, MAP_FAILED);
	for (off_t len = 1; len < size; len++) {
		struct profile got;
		bool truncated = false;
		int r;

		assert_int_equal(pwrite(fd, bytes + len - 1, 1, len - 1), 1);
		r = read_back(fd, NULL, false, &got, &truncated);
		if (r == 0)
			assert_true(truncated);
		else
			assert_int_equal(r, -EBADMSG);
		/* Whole flushes, and never less of them. */
		assert_int_equal(got.samples.len % FIXTURE_SAMPLES, 0);
		assert_true(got.samples.len >= seen);
		seen = got.samples.len;
		profile_release(&got);
	}
	assert_int_equal(seen, 2 * FIXTURE_SAMPLES);
	munmap(bytes, (size_t)size);
}

/* Bytes changed in turn: any answer is good, as long as there is one. */
static void test_damaged_anywhere(void **state)
{
	_cleanup_close_ int fd = new_file();
	off_t size;

	(void)state;
	write_two_chunks(fd);
	size = file_size(fd);
	for (off_t at = 0; at < size; at += 1 + at % 4) {
		static const uint8_t masks[] = { 0x80, 0xff, 0x01 };
		uint8_t byte, bad;
		struct profile got;
		bool truncated;

		assert_int_equal(pread(fd, &byte, 1, at), 1);
		bad = byte ^ masks[at % 3];
		assert_int_equal(pwrite(fd, &bad, 1, at), 1);
		read_back(fd, NULL, at % 2, &got, &truncated);
		profile_release(&got);
		assert_int_equal(pwrite(fd, &byte, 1, at), 1);
	}
}

static void test_not_a_recording(void **state)
{
	static const char text[] =
		"PERFILE2, which is something else, and long enough for a header";
	_cleanup_close_ int fd = new_file();
	struct profile got;
	bool truncated;

	(void)state;
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), -EBADMSG);
	profile_release(&got);
	for (int i = 0; i < 3; i++)
		assert_true(write(fd, text, sizeof(text)) > 0);
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), -EBADMSG);
	profile_release(&got);
}

static void test_strings(void **state)
{
	_cleanup_close_ int fd = new_file();
	_cleanup_(recording_writer_freep) struct recording_writer *writer = new_writer(fd);
	_cleanup_strbuf_ struct strbuf big = STRBUF_INIT;
	const struct profile_process *proc;
	struct err err = { 0 };
	struct profile p, got;
	bool truncated;

	(void)state;
	while (big.len < 70000)
		strbuf_addstr(&big, "\xe2\x82\xac");
	profile_init(&p);
	fixture_head(&p);
	profile_process(&p,
			&(struct profile_process){
				.name = profile_string(&p, "a\xff\xc3(\xed\xa0\x80z"),
				.exe = profile_string(&p, strbuf_str(&big)),
				.cgroup = profile_string(&p, "\xf0\x9f\x98\x80 \xf5\x80\x80\x80"),
			});
	assert_int_equal(recording_writer_finish(writer, &p, &err), 0);
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_int_equal(intern_len(&got.processes), 1);
	proc = profile_get_process(&got, 0);
	assert_string_equal(str(&got, proc->name), "a\xef\xbf\xbd\xef\xbf\xbd("
						   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz");
	assert_int_equal(strlen(str(&got, proc->exe)), 65535);
	assert_memory_equal(str(&got, proc->exe), strbuf_str(&big), 65535);
	assert_string_equal(str(&got, proc->cgroup),
			    "\xf0\x9f\x98\x80 \xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	profile_release(&p);
	profile_release(&got);
}

static void set_file_limit(rlim_t bytes)
{
	struct rlimit limit = { bytes, RLIM_INFINITY };

	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* The file's limit stands in for a full disk: a write is cut short, then fails. */
static void test_full_disk(void **state)
{
	char path[] = "/tmp/hostprof-test-XXXXXX";
	_cleanup_close_ int fd = mkstemp(path);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	struct profile expected, p, got;
	struct err err = { 0 };
	bool truncated = false;
	off_t good;

	(void)state;
	assert_true(fd >= 0);
	unlink(path);
	writer = new_writer(fd);
	profile_init(&p);
	profile_init(&expected);
	fixture_add(&p, 0);
	fixture_add(&expected, 0);
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	good = file_size(fd);
	fixture_add(&p, FIXTURE_SAMPLES);
	signal(SIGXFSZ, SIG_IGN);
	set_file_limit((rlim_t)good + 100);
	assert_int_equal(recording_writer_flush(writer, &p, &err), -EFBIG);
	set_file_limit(RLIM_INFINITY);
	assert_int_equal(err.code, -EFBIG);
	assert_int_equal(file_size(fd), good);
	assert_int_equal(recording_writer_finish(writer, &p, &err), -EFBIG);
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_true(truncated);
	assert_profiles_equal(&expected, &got);
	profile_release(&got);
	profile_release(&p);
	profile_release(&expected);
}

static void test_wants_rotation(void **state)
{
	_cleanup_close_ int fd = new_file();
	_cleanup_(recording_writer_freep) struct recording_writer *writer = new_writer(fd);
	struct err err = { 0 };
	struct profile p;

	(void)state;
	assert_false(recording_writer_wants_rotation(writer));
	profile_init(&p);
	fixture_head(&p);
	p.duration_ns = 59 * NSEC_PER_SEC;
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	assert_false(recording_writer_wants_rotation(writer));
	p.duration_ns = 60 * NSEC_PER_SEC;
	assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
	assert_true(recording_writer_wants_rotation(writer));
	assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
	assert_false(recording_writer_wants_rotation(writer));
	profile_release(&p);
}

static void test_rotation_by_size(void **state)
{
	_cleanup_close_ int fd = new_file();
	_cleanup_(recording_writer_freep) struct recording_writer *writer = new_writer(fd);
	struct err err = { 0 };
	struct profile p;
	unsigned int flushes = 0;

	(void)state;
	profile_init(&p);
	while (!recording_writer_wants_rotation(writer)) {
		for (unsigned int i = 0; i < 1000; i++)
			fixture_add(&p, 0);
		assert_int_equal(recording_writer_flush(writer, &p, &err), 0);
		assert_true(++flushes < 100);
	}
	assert_true(file_size(fd) >= 16 << 20);
	assert_true(file_size(fd) < 18 << 20);
	profile_release(&p);
}

/* Made by JDK 17 with jdk.ExecutionSample and jdk.JVMInformation enabled. */
static void test_jdk_recording(void **state)
{
	_cleanup_close_ int fd = open(TEST_CORPUS "/jdk17", O_RDONLY | O_CLOEXEC);
	const struct profile_process *proc;
	struct profile got;
	bool truncated = true;
	uint64_t in_main = 0;

	(void)state;
	if (fd < 0)
		skip();
	assert_int_equal(read_back(fd, NULL, false, &got, &truncated), 0);
	assert_false(truncated);
	assert_int_equal(got.samples.len, JDK17_SAMPLES);
	for (size_t i = 0; i < got.samples.len; i++) {
		struct profile_stack stack = profile_get_stack(&got, got.samples.items[i].stack);
		const struct profile_frame *root =
			profile_get_frame(&got, stack.frames[stack.len - 1]);

		assert_int_equal(got.samples.items[i].weight, 1);
		assert_int_equal(got.samples.items[i].state, STATE_RUNNING_USER);
		in_main += !strcmp(str(&got, root->class_name), "Burn") &&
			   !strcmp(str(&got, root->name), "main") &&
			   root->kind == FRAME_JAVA_INTERPRETED;
	}
	assert_int_equal(in_main, JDK17_SAMPLES);
	assert_int_equal(intern_len(&got.processes), 1);
	proc = profile_get_process(&got, 0);
	assert_string_equal(str(&got, proc->main_class), "Burn");
	assert_non_null(strstr(str(&got, proc->jvm_version), "17."));
	profile_release(&got);
}

static void test_needs_a_file(void **state)
{
	struct recording_writer *writer = NULL;
	struct err err = { 0 };
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(recording_writer_new(fds[1], &writer, &err), -ESPIPE);
	assert_non_null(strstr(err.hint, "regular file"));
	assert_null(writer);
	close(fds[0]);
	close(fds[1]);
}

static int write_file(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		return 1;
	write_two_chunks(fd);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roundtrip),
		cmocka_unit_test(test_chunks),
		cmocka_unit_test(test_event_and_merge),
		cmocka_unit_test(test_flush_without_finish),
		cmocka_unit_test(test_truncated_anywhere),
		cmocka_unit_test(test_damaged_anywhere),
		cmocka_unit_test(test_not_a_recording),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_wants_rotation),
		cmocka_unit_test(test_rotation_by_size),
		cmocka_unit_test(test_jdk_recording),
		cmocka_unit_test(test_needs_a_file),
	};

	if (argc == 3 && !strcmp(argv[1], "--write"))
		return write_file(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
