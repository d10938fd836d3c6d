/* SPDX-License-Identifier: Apache-2.0 */
/* A recording as another producer of JFR writes it, made by hand. */
#ifndef HOSTPROF_TESTS_FOREIGN_JFR_H
#define HOSTPROF_TESTS_FOREIGN_JFR_H

#include <endian.h>
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
	  { { "type", "21", true, false },
	    { "name", "31", true, false },
	    { "descriptor", "31", true, false } } },
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
	{ "profiler.Malloc",
	  "107",
	  { { "startTime", "11", false, false },
	    { "eventThread", "22", true, false },
	    { "stackTrace", "36", true, false },
	    { "address", "11", false, false },
	    { "size", "11", false, false } } },
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
	PUT(out, SYMBOL, 7, 1);
	put_text(out, "com/acme/Order");
	PUT(out, 2);
	put_text(out, "place");
	PUT(out, 3);
	put_text(out, "java/lang/Thread");
	PUT(out, 7);
	put_text(out, "(I)V");
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
	/* key, class, name, descriptor */
	PUT(out, METHOD, 4, 1, 1, 2, 9, 2, 2, 4, 7, 3, 9, 2, 9, 4, 1, 5, 7);
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

static inline int read_bytes(const void *bytes, size_t len, struct profile *p, bool *ret_truncated,
			     struct err *err)
{
	struct recording_read_options options = { .event = NULL, .merge = false };
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

#endif
