/* SPDX-License-Identifier: Apache-2.0 */
/* What another producer of JFR writes: names, frames, times; and files that are refused. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>

#include "foreign_jfr.h"

#define PROCESS "[4242 0 0 java    17.0.9+9 com.acme.Main]"

/* Samples in front of the tables that name them, and of a thread and a stack that no table has. */
static void names_frames_and_times(void **state)
{
	struct chunk chunk;
	struct profile p;
	struct err err;
	bool truncated = true;

	(void)state;
	make_chunk(&chunk, "OpenJDK 64-Bit Server VM (17.0.9+9) for linux-amd64 (x)");
	assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err), 0);
	assert_false(truncated);
	assert_int_equal(p.samples.len, 3);
	expect_sample(
		&p, 0,
		"1795000000003000000 1 1 0 (cpu count 0){4243 worker 31 " PROCESS "}"
		"<place|com.acme.Order||0|10|20|5|-><pooled|java.lang.Thread||0|557|7|3|(I)V|->"
		"<place|||0|30|40|6|->");
	expect_sample(
		&p, 1,
		"1794999999998000000 1 1 2 (cpu count 0){4244 GC Thread#0 0 " PROCESS "}"
		"<|com.acme.Order||0|1|2|5|(I)V|-><|||0|3|4|3|-><place|com.acme.Order||0|5|6|5|->");
	expect_sample(&p, 2, "1795000000000000000 1 1 3 (cpu count 0){0 unknown 0 " PROCESS "}");
	assert_int_equal(p.start_ns, START_WALL_NS);
	assert_int_equal(p.duration_ns, NSEC_PER_SEC);
	profile_release(&p);
	strbuf_release(&chunk.bytes);
}

static void frames_of_a_native_profiler(void **state)
{
	struct profile_stack stack;
	struct chunk chunk;
	struct profile p;
	struct err err;
	bool truncated;

	(void)state;
	native_frames = true;
	make_chunk(&chunk, NULL);
	native_frames = false;
	assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err), 0);
	stack = profile_get_stack(&p, p.samples.items[1].stack);
	assert_int_equal(profile_get_frame(&p, stack.frames[0])->kind, FRAME_NATIVE);
	assert_int_equal(profile_get_frame(&p, stack.frames[0])->descriptor, 0);
	assert_int_equal(profile_get_frame(&p, stack.frames[2])->kind, FRAME_JAVA_JIT);
	profile_release(&p);
	strbuf_release(&chunk.bytes);
}

/* A version without parentheses is taken whole; a recording that does not say has none. */
static void the_process(void **state)
{
	static const struct {
		const char *text, *version, *main_class;
		uint32_t pid;
	} cases[] = {
		{ "17 (half", "17 (half", "com.acme.Main", 4242 },
		{ "a ) b (c) (d)", "c", "com.acme.Main", 4242 },
		{ NULL, "", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const struct profile_process *process;
		struct chunk chunk;
		struct profile p;
		struct err err;
		bool truncated;

		make_chunk(&chunk, cases[i].text);
		assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err),
				 0);
		assert_int_equal(intern_len(&p.processes), 1);
		process = profile_get_process(&p, 0);
		assert_string_equal(str(&p, process->name), "java");
		assert_string_equal(str(&p, process->jvm_version), cases[i].version);
		assert_string_equal(str(&p, process->main_class), cases[i].main_class);
		assert_int_equal(process->pid, cases[i].pid);
		profile_release(&p);
		strbuf_release(&chunk.bytes);
	}
}

static void expect_refused(const struct chunk *chunk, size_t len, int code, const char *text)
{
	struct profile p;
	struct err err;
	bool truncated;

	assert_int_equal(read_bytes(chunk->bytes.buf, len, &p, &truncated, &err), code);
	assert_string_equal(err.text, text);
	profile_release(&p);
}

/* What a header may say, and what is said of one that may not. */
static void headers(void **state)
{
	static const char old[] = "the recording has a version of JFR that we do not read";
	struct chunk chunk;
	struct profile p;
	struct err err;
	bool truncated = false;

	(void)state;
	make_chunk(&chunk, NULL);
	expect_refused(&chunk, JFR_HEADER_BYTES - 1, -EBADMSG, "this is not a JFR recording");
	/* a header and nothing else: a recording that has just begun */
	assert_int_equal(read_bytes(chunk.bytes.buf, JFR_HEADER_BYTES, &p, &truncated, &err), 0);
	assert_true(truncated);
	profile_release(&p);
	chunk.header.major = htobe16(3);
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EOPNOTSUPP, old);
	chunk.header.major = htobe16(1);
	finish(&chunk);
	assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err), 0);
	assert_int_equal(p.samples.len, 3);
	profile_release(&p);
	chunk.header.flags = (uint8_t)~JFR_FLAG_COMPRESSED;
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EOPNOTSUPP, old);
	chunk.header.flags = JFR_FLAG_COMPRESSED;
	chunk.header.magic[3] = 1;
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EBADMSG, "this is not a JFR recording");
	strbuf_release(&chunk.bytes);
}

/* The size is that of the file, less (something else follows), more, or not one at all. */
static void sizes(void **state)
{
	static const struct {
		int64_t more;
		bool truncated;
	} cases[] = { { 0, false }, { 1, true }, { 1 << 20, true } };
	struct chunk chunk;
	struct profile p;
	struct err err;
	bool truncated;

	(void)state;
	make_chunk(&chunk, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		finish(&chunk);
		chunk.header.size = htobe64(chunk.bytes.len + (uint64_t)cases[i].more);
		memcpy(chunk.bytes.buf, &chunk.header, sizeof(chunk.header));
		truncated = !cases[i].truncated;
		assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err),
				 0);
		assert_int_equal(truncated, cases[i].truncated);
		/* Of one that is cut what its last tables name. */
		assert_int_equal(p.samples.len, cases[i].truncated ? 2 : 3);
		profile_release(&p);
	}
	finish(&chunk);
	chunk.header.size = htobe64(JFR_HEADER_BYTES - 1);
	memcpy(chunk.bytes.buf, &chunk.header, sizeof(chunk.header));
	assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err), 0);
	assert_true(truncated);
	assert_int_equal(p.samples.len, 2);
	profile_release(&p);
	finish(&chunk);
	strbuf_add(&chunk.bytes, "tail", 4);
	truncated = false;
	assert_int_equal(read_bytes(chunk.bytes.buf, chunk.bytes.len, &p, &truncated, &err), 0);
	assert_true(truncated);
	assert_int_equal(p.samples.len, 3);
	profile_release(&p);
	strbuf_release(&chunk.bytes);
}

/* Without tables, or with an event that does not end in the chunk, a whole chunk is damaged. */
static void chunks_that_are_damaged(void **state)
{
	struct chunk chunk;
	size_t whole;

	(void)state;
	make_chunk(&chunk, NULL);
	whole = chunk.bytes.len;
	strbuf_add(&chunk.bytes, "\x05\x65", 2);
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EBADMSG,
		       "the recording is damaged in the chunk at byte 0");
	chunk.bytes.len = whole;
	strbuf_add(&chunk.bytes, "\x01", 1);
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EBADMSG,
		       "the recording is damaged in the chunk at byte 0");
	chunk.bytes.len = JFR_HEADER_BYTES;
	put_metadata(&chunk.bytes);
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EBADMSG,
		       "the recording is damaged in the chunk at byte 0");
	chunk.bytes.len = JFR_HEADER_BYTES;
	put_checkpoint(&chunk.bytes);
	finish(&chunk);
	expect_refused(&chunk, chunk.bytes.len, -EBADMSG,
		       "the recording is damaged in the chunk at byte 0");
	strbuf_release(&chunk.bytes);
}

/* One chunk is held in memory; of a size that is in no file is said what there is. */
static void a_chunk_that_is_too_large(void **state)
{
	struct recording_read_options options = { .event = NULL, .merge = false };
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	struct err err = { 0 };
	struct chunk chunk;
	struct profile p;
	bool truncated;

	(void)state;
	make_chunk(&chunk, NULL);
	chunk.header.size = htobe64(UINT64_MAX);
	assert_int_equal(file_pwrite_all(fd, &chunk.header, sizeof(chunk.header), 0), 0);
	assert_int_equal(ftruncate(fd, (1LL << 30) + 1), 0);
	profile_init(&p);
	assert_int_equal(recording_read(fd, &options, &p, &truncated, &err), -E2BIG);
	assert_string_equal(err.text, "the recording has a chunk of more than 1024 MiB");
	profile_release(&p);
	strbuf_release(&chunk.bytes);
}

static void what_is_no_file(void **state)
{
	struct recording_read_options options = { .event = NULL, .merge = false };
	_cleanup_close_ int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = { 0 };
	struct profile p;
	bool truncated = true;

	(void)state;
	profile_init(&p);
	assert_int_equal(recording_read(dir, &options, &p, &truncated, &err), -EINVAL);
	assert_string_equal(err.text, "a recording is a regular file, and this is none");
	assert_int_equal(recording_read(-1, &options, &p, &truncated, &err), -EBADF);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_frames_and_times),
		cmocka_unit_test(the_process),
		cmocka_unit_test(frames_of_a_native_profiler),
		cmocka_unit_test(headers),
		cmocka_unit_test(sizes),
		cmocka_unit_test(chunks_that_are_damaged),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(a_chunk_that_is_too_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
