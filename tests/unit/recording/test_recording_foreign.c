/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as another producer of JFR writes it, made by hand: names, frames, times; and files that are refused. */
#include "test.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "made_jfr.h"
#include "recording/chunk.h"
#include "recording/recording.h"
#include "recording_fixture.h"

enum { LONG = 11, STRING = 20, CLASS = 21, THREAD = 22, SYMBOL = 31, METHOD = 32, FRAME_TYPE = 33 };

enum { STATE = 34, FRAME = 35, STACK = 36, SAMPLE = 101, JVM = 102 };

enum { ALLOCATION = 103, NEW_TLAB = 104, OUTSIDE_TLAB = 105, LIVE = 106 };

#define OF_A_CLASS                                                                 \
	{ "startTime", "11", false, false }, { "eventThread", "22", true, false }, \
		{ "stackTrace", "36", true, false },                               \
	{                                                                          \
		"objectClass", "21", true, false                                   \
	}

static const struct made_type types[] = {
	{ "boolean", "4", { { 0 } } },
	{ "int", "10", { { 0 } } },
	{ "long", "11", { { 0 } } },
	{ "java.lang.String", "20", { { 0 } } },
	{ "java.lang.Class", "21", { { "name", "31", true, false } } },
	{ "java.lang.Thread",
	  "22",
	  { { "osName", "20", false, false },
	    { "osThreadId", "11", false, false },
	    { "javaName", "20", false, false },
	    { "javaThreadId", "11", false, false } } },
	{ "jdk.types.Symbol", "31", { { "string", "20", false, false } } },
	{ "jdk.types.Method",
	  "32",
	  { { "type", "21", true, false }, { "name", "31", true, false } } },
	{ "jdk.types.FrameType", "33", { { "description", "20", false, false } } },
	{ "jdk.types.ThreadState", "34", { { "name", "20", false, false } } },
	{ "jdk.types.StackFrame",
	  "35",
	  { { "method", "32", true, false },
	    { "lineNumber", "10", false, false },
	    { "bytecodeIndex", "10", false, false },
	    { "type", "33", true, false } } },
	{ "jdk.types.StackTrace",
	  "36",
	  { { "truncated", "4", false, false }, { "frames", "35", false, true } } },
	{ "jdk.ExecutionSample",
	  "101",
	  { { "startTime", "11", false, false },
	    { "sampledThread", "22", true, false },
	    { "stackTrace", "36", true, false },
	    { "state", "34", true, false } } },
	{ "jdk.JVMInformation",
	  "102",
	  { { "startTime", "11", false, false },
	    { "jvmVersion", "20", false, false },
	    { "javaArguments", "20", false, false },
	    { "pid", "11", false, false } } },
	{ "jdk.ObjectAllocationSample", "103", { OF_A_CLASS, { "weight", "11", false, false } } },
	{ "jdk.ObjectAllocationInNewTLAB",
	  "104",
	  { OF_A_CLASS,
	    { "allocationSize", "11", false, false },
	    { "tlabSize", "11", false, false } } },
	{ "jdk.ObjectAllocationOutsideTLAB",
	  "105",
	  { OF_A_CLASS, { "allocationSize", "11", false, false } } },
	{ "profiler.LiveObject",
	  "106",
	  { OF_A_CLASS,
	    { "allocationSize", "11", false, false },
	    { "allocationTime", "11", false, false } } },
};

#define START_WALL_NS 1795000000000000000ULL
#define START_TICKS   5000ULL

/* A producer that has a type for the kernel's frames means native ones by "Native". */
static bool native_frames;

struct chunk {
	struct strbuf bytes;
	struct jfr_chunk_header header;
};

static void put_text(struct strbuf *out, const char *text)
{
	jfr_put_utf8(out, text, strlen(text));
}

static void put_numbers(struct strbuf *out, const uint64_t *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		jfr_put_varint(out, numbers[i]);
}

#define PUT(out, ...)                                       \
	put_numbers(out, (const uint64_t[]){ __VA_ARGS__ }, \
		    sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

static void put_texts(struct strbuf *out, uint64_t type, const char *const *texts, size_t count)
{
	PUT(out, type, count);
	for (size_t i = 0; i < count; i++) {
		jfr_put_varint(out, i + 1);
		put_text(out, texts[i]);
	}
}

/* Names: symbol 4 is a reference to string 1, symbol 5 one to a string that is none. */
static void put_names(struct strbuf *out)
{
	static const char *const strings[] = { "pooled" };
	static const char *const frame_types[] = { "Interpreted", "JIT compiled", "Inlined",
						   "Native", "Kernel" };
	static const char *const states[] = { "STATE_RUNNABLE", "STATE_SLEEPING", "STATE_OTHER" };

	put_texts(out, STRING, strings, ARRAY_SIZE(strings));
	PUT(out, SYMBOL, 6, 1);
	put_text(out, "com/acme/Order");
	PUT(out, 2);
	put_text(out, "place");
	PUT(out, 3);
	put_text(out, "java/lang/Thread");
	PUT(out, 4, 2, 1, 5, 2, 99, 6);
	put_text(out, "[[Ljava/lang/String;");
	put_texts(out, FRAME_TYPE, frame_types, native_frames ? 5 : 4);
	put_texts(out, STATE, states, ARRAY_SIZE(states));
}

/* Threads 1 and 2, methods 1 to 4, stacks 1 and 2. */
static void put_checkpoint(struct strbuf *out)
{
	size_t event = jfr_begin_event(out, 1);

	PUT(out, 1, 2, 0);
	jfr_put_byte(out, 1);
	PUT(out, 8);
	put_names(out);
	PUT(out, CLASS, 3, 1, 1, 2, 3, 3, 6);
	PUT(out, METHOD, 4, 1, 1, 2, 2, 2, 4, 3, 9, 2, 4, 1, 5);
	PUT(out, THREAD, 2, 1);
	put_text(out, "worker-os");
	PUT(out, 4243);
	put_text(out, "worker");
	PUT(out, 31, 2);
	put_text(out, "GC Thread#0");
	PUT(out, 4244, 0, 0);
	/* method, line, bci, type */
	PUT(out, STACK, 2);
	PUT(out, 1, 0, 3, 1, 10, 20, 2, 2, 557, 7, 1, 3, 30, 40, 3);
	PUT(out, 2, 1, 3, 4, 1, 2, 4, 77, 3, 4, 1, 1, 5, 6, 9);
	jfr_end_event(out, event);
}

static void put_sample(struct strbuf *out, uint64_t ticks, uint64_t thread, uint64_t stack,
		       uint64_t state)
{
	size_t event = jfr_begin_event(out, SAMPLE);

	PUT(out, ticks, thread, stack, state);
	jfr_end_event(out, event);
}

static void put_jvm(struct strbuf *out, const char *version)
{
	size_t event = jfr_begin_event(out, JVM);

	PUT(out, START_TICKS);
	put_text(out, version);
	put_text(out, "com.acme.Main --fast 1");
	PUT(out, 4242);
	jfr_end_event(out, event);
}

static void put_metadata(struct strbuf *out)
{
	size_t event = jfr_begin_event(out, 0);

	PUT(out, 1, 2, 3);
	made_metadata(out, types, ARRAY_SIZE(types));
	jfr_end_event(out, event);
}

static void finish(struct chunk *chunk)
{
	chunk->header.size = htobe64(chunk->bytes.len);
	memcpy(chunk->bytes.buf, &chunk->header, sizeof(chunk->header));
}

static void make_chunk(struct chunk *chunk, const char *version)
{
	static const char room[JFR_HEADER_BYTES];

	*chunk = (struct chunk){ STRBUF_INIT,
				 { .magic = { 'F', 'L', 'R', 0 },
				   .major = htobe16(2),
				   .start_wall_ns = htobe64(START_WALL_NS),
				   .duration_ns = htobe64(NSEC_PER_SEC),
				   .start_ticks = htobe64(START_TICKS),
				   .ticks_per_second = htobe64(1000),
				   .flags = JFR_FLAG_COMPRESSED } };
	strbuf_add(&chunk->bytes, room, sizeof(room));
	put_sample(&chunk->bytes, START_TICKS + 3, 1, 1, 1);
	put_sample(&chunk->bytes, START_TICKS - 2, 2, 2, 2);
	if (version)
		put_jvm(&chunk->bytes, version);
	put_metadata(&chunk->bytes);
	put_checkpoint(&chunk->bytes);
	put_sample(&chunk->bytes, START_TICKS, 77, 88, 3);
	finish(chunk);
}

static int read_bytes(const void *bytes, size_t len, struct profile *p, bool *ret_truncated,
		      struct err *err)
{
	struct recording_read_options options = { NULL, false };
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);

	*err = (struct err){ 0 };
	assert_int_equal(file_pwrite_all(fd, bytes, len, 0), 0);
	profile_init(p);
	return recording_read(fd, &options, p, ret_truncated, err);
}

static void expect_sample(const struct profile *p, size_t i, const char *expected)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	describe_sample(&text, p, i);
	assert_string_equal(strbuf_str(&text), expected);
}

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
	expect_sample(&p, 0,
		      "1795000000003000000 1 1 0 (cpu count 0){4243 worker 31 " PROCESS "}"
		      "<place|com.acme.Order||0|10|20|5|-><pooled|java.lang.Thread||0|557|7|3|->"
		      "<place|||0|30|40|6|->");
	expect_sample(
		&p, 1,
		"1794999999998000000 1 1 2 (cpu count 0){4244 GC Thread#0 0 " PROCESS "}"
		"<|com.acme.Order||0|1|2|5|-><|||0|3|4|3|-><place|com.acme.Order||0|5|6|5|->");
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

static void put_event(struct chunk *chunk, uint64_t type, const uint64_t *numbers, size_t count)
{
	size_t event = jfr_begin_event(&chunk->bytes, type);

	put_numbers(&chunk->bytes, numbers, count);
	jfr_end_event(&chunk->bytes, event);
}

#define PUT_EVENT(chunk, type, ...)                               \
	put_event(chunk, type, (const uint64_t[]){ __VA_ARGS__ }, \
		  sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t))

#define GC "{4244 GC Thread#0 0 [0 0 0 java     ]}"

static void read_made(struct chunk *chunk, struct profile *p)
{
	struct err err;
	bool truncated;

	finish(chunk);
	assert_int_equal(read_bytes(chunk->bytes.buf, chunk->bytes.len, p, &truncated, &err), 0);
	strbuf_release(&chunk->bytes);
}

/* The class comes in front of the stack, once in the table; CPU time is the first event. */
static void allocations(void **state)
{
	static const char stack[] = "<|com.acme.Order||0|1|2|5|-><|||0|3|4|3|->"
				    "<place|com.acme.Order||0|5|6|5|->";

	static const struct {
		const char *text, *class;
	} expected[] = {
		{ "1795000000001000000 1000 1 3 objects 42 age 0 (alloc bytes 0)",
		  "<|java.lang.String[][]||0|0|-1|9|->" },
		{ "1795000000002000000 5000 1 3 objects 1 age 0 (alloc bytes 0)",
		  "<|com.acme.Order||0|0|-1|10|->" },
		{ "1795000000003000000 700 1 3 objects 1 age 0 (live bytes 0)",
		  "<|java.lang.String[][]||0|0|-1|9|->" },
		{ "1795000000004000000 24 1 3 objects 1 age 0 (alloc bytes 0)", "" },
		{ "1795000000005000000 20 1 3 objects 1 age 0 (alloc bytes 0)",
		  "<|java.lang.String[][]||0|0|-1|9|->" },
	};
	struct chunk chunk;
	struct profile p;

	(void)state;
	make_chunk(&chunk, NULL);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 1, 2, 2, 3, 24, 1000);
	PUT_EVENT(&chunk, OUTSIDE_TLAB, START_TICKS + 2, 2, 2, 1, 5000);
	PUT_EVENT(&chunk, LIVE, START_TICKS + 3, 2, 2, 3, 700, START_TICKS);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 4, 2, 2, 77, 24, 24);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 5, 2, 2, 3, 40, 20);
	read_made(&chunk, &p);
	assert_int_equal(p.samples.len, 3 + ARRAY_SIZE(expected));
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "%s" GC "%s%s", expected[i].text, expected[i].class, stack);
		expect_sample(&p, 3 + i, strbuf_str(&text));
	}
	assert_int_equal(p.samples.items[3].stack, p.samples.items[5].stack);
	assert_string_equal(str(&p, profile_get_event(&p, 0)->name), "cpu");
	profile_release(&p);
}

/* The JDK can record both; an allocation is not counted twice. */
static void samples_of_allocations_and_tlabs(void **state)
{
	struct chunk chunk;
	struct profile p;

	(void)state;
	make_chunk(&chunk, NULL);
	PUT_EVENT(&chunk, NEW_TLAB, START_TICKS + 1, 2, 2, 3, 24, 1000);
	PUT_EVENT(&chunk, ALLOCATION, START_TICKS + 2, 2, 77, 2, 123456);
	PUT_EVENT(&chunk, OUTSIDE_TLAB, START_TICKS + 3, 2, 2, 1, 5000);
	PUT_EVENT(&chunk, LIVE, START_TICKS + 4, 2, 77, 2, 9, START_TICKS);
	read_made(&chunk, &p);
	assert_int_equal(p.samples.len, 3 + 2);
	expect_sample(&p, 3,
		      "1795000000002000000 123456 1 3 objects 1 age 0 (alloc bytes 0)" GC
		      "<|java.lang.Thread||0|0|-1|9|->");
	expect_sample(&p, 4,
		      "1795000000004000000 9 1 3 objects 1 age 0 (live bytes 0)" GC
		      "<|java.lang.Thread||0|0|-1|9|->");
	profile_release(&p);
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
	struct recording_read_options options = { NULL, false };
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
	struct recording_read_options options = { NULL, false };
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
		cmocka_unit_test(allocations),
		cmocka_unit_test(samples_of_allocations_and_tlabs),
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
