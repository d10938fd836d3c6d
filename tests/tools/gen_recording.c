/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording of a busy host that never ran, for measurements: gen_recording OUT SAMPLES [STACKS].
 * With OUT ending in .jfr it is streamed through the recording writer as `record` does; any other
 * known extension writes that view at once. The same arguments give the same bytes.
 *
 * Shape: 24 processes of 8 threads, every sixth a JVM; stacks of about 60 frames (up to 160) grown
 * from one another, so that they share their root sides; some are hot and most are rare.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#include "base/units.h"
#include "output/view.h"
#include "recording/recording.h"

#define PROCESSES	  24
#define THREADS		  8 /* of a process */
#define JVM_EVERY	  6
#define NATIVE_FRAMES	  20000
#define JAVA_FRAMES	  30000
#define KERNEL_FRAMES	  3000
#define MAX_DEPTH	  160
#define PERIOD_NS	  10101010 /* 99 Hz */
#define SAMPLES_PER_FLUSH 4000
#define STACKS_PER_SAMPLE 10 /* default: one distinct stack in ten samples */

struct host {
	struct profile p;
	uint64_t seed;
	uint32_t cpu;
	uint32_t threads[PROCESSES * THREADS];
	uint32_t native[NATIVE_FRAMES], java[JAVA_FRAMES], kernel[KERNEL_FRAMES];
	uint32_t start; /* "[thread start]" */
	uint32_t stack_count;
	uint32_t (*stacks)[MAX_DEPTH]; /* owned; root first, indexes of `code` */
	uint8_t *depths;	       /* owned */
};

/* xorshift64* (Vigna, "An experimental exploration of Marsaglia's xorshift generators", 2014). */
static uint64_t next_random(struct host *h)
{
	h->seed ^= h->seed >> 12;
	h->seed ^= h->seed << 25;
	h->seed ^= h->seed >> 27;
	return h->seed * 0x2545f4914f6cdd1dULL;
}

static uint32_t below(struct host *h, uint32_t limit)
{
	return (uint32_t)((next_random(h) >> 32) * limit >> 32);
}

/* Small numbers often, large ones rarely. */
static uint32_t skewed(struct host *h, uint32_t limit)
{
	uint64_t x = next_random(h) >> 32;

	return (uint32_t)((x * x >> 32) * limit >> 32);
}

static uint32_t add_mapping(struct host *h, const char *path, uint64_t start)
{
	struct profile_mapping m = { .path = profile_string(&h->p, path),
				     .build_id = profile_string(&h->p, "0123456789abcdef01234567"),
				     .start = start,
				     .limit = start + (1 << 24),
				     .offset = start & 0xffffff };

	return profile_mapping(&h->p, &m);
}

static void add_code(struct host *h)
{
	uint32_t kernel = add_mapping(h, "[kernel]", 0xffffffff81000000);
	char text[96];

	for (uint32_t i = 0; i < NATIVE_FRAMES; i++) {
		struct profile_frame f = { .bci = -1, .address = 0x1000 + i * 16 };

		snprintf(text, sizeof(text), "/usr/lib/libmodule%u.so.1", i % 60);
		f.mapping = add_mapping(h, text, 0x1000);
		snprintf(text, sizeof(text), "module%u::Worker%u::handle(int)", i % 60, i / 3);
		f.name = profile_string(&h->p, text);
		f.kind = i % 3 ? FRAME_CPP : FRAME_NATIVE;
		h->native[i] = profile_frame(&h->p, &f);
	}
	for (uint32_t i = 0; i < JAVA_FRAMES; i++) {
		struct profile_frame f = { .mapping = PROFILE_NONE,
					   .line = (int32_t)(i % 900) + 1,
					   .bci = (int32_t)(i % 200),
					   .kind = FRAME_JAVA_INTERPRETED + i % 4 };

		snprintf(text, sizeof(text), "com.example.service.part%u.Handler%u", i % 40,
			 i / 12);
		f.class_name = profile_string(&h->p, text);
		snprintf(text, sizeof(text), "Handler%u.java", i / 12);
		f.file = profile_string(&h->p, text);
		snprintf(text, sizeof(text), "method%u", i / 3 % 4);
		f.name = profile_string(&h->p, text);
		h->java[i] = profile_frame(&h->p, &f);
	}
	for (uint32_t i = 0; i < KERNEL_FRAMES; i++) {
		struct profile_frame f = { .mapping = kernel, .bci = -1, .kind = FRAME_KERNEL };

		snprintf(text, sizeof(text), "subsystem%u_do_work", i);
		f.name = profile_string(&h->p, text);
		f.address = 0xffffffff81000000 + i * 64;
		h->kernel[i] = profile_frame(&h->p, &f);
	}
}

static void add_threads(struct host *h)
{
	for (uint32_t i = 0; i < PROCESSES * THREADS; i++) {
		uint32_t process = i / THREADS;
		struct profile_process proc = { .pid = 1000 + process };
		struct profile_thread t = { .tid = 5000 + i };
		char text[64];

		snprintf(text, sizeof(text), process % JVM_EVERY ? "server%u" : "java",
			 process % 9);
		proc.name = profile_string(&h->p, text);
		if (process % JVM_EVERY == 0) {
			proc.jvm_version = profile_string(&h->p, "17.0.12");
			proc.main_class = profile_string(&h->p, "com.example.Main");
		}
		t.process = profile_process(&h->p, &proc);
		snprintf(text, sizeof(text), "worker-%u", i % THREADS);
		t.name = profile_string(&h->p, text);
		h->threads[i] = profile_thread(&h->p, &t);
	}
}

static void add_tables(struct host *h)
{
	struct profile_event e = { .period = PERIOD_NS };
	struct profile_frame start = { .mapping = PROFILE_NONE, .bci = -1, .kind = FRAME_MARK };

	e.name = profile_string(&h->p, "cpu");
	e.unit = profile_string(&h->p, "nanoseconds");
	h->cpu = profile_event(&h->p, &e);
	h->p.host = profile_string(&h->p, "nowhere");
	h->p.command = profile_string(&h->p, "gen_recording");
	h->p.start_wall_ns = 1700000000000000000;
	h->p.start_ns = 1000000000;
	start.name = profile_string(&h->p, "[thread start]");
	h->start = profile_frame(&h->p, &start);
	add_code(h);
	add_threads(h);
}

/* A frame for DEPTH: native at the root side, then Java, native again, kernel at the leaf. */
static uint32_t choose_frame(struct host *h, uint32_t depth, uint32_t len)
{
	if (!depth)
		return h->start;
	if (depth < 5)
		return h->native[skewed(h, 40)];
	if (depth + 3 > len && below(h, 4) == 0)
		return h->kernel[skewed(h, KERNEL_FRAMES)];
	if (depth + 8 > len)
		return h->native[skewed(h, NATIVE_FRAMES)];
	return h->java[skewed(h, JAVA_FRAMES)];
}

/* Every stack begins as another one does, mostly for nearly all of its length. */
static void grow_stacks(struct host *h)
{
	h->stacks = xcalloc(h->stack_count, sizeof(*h->stacks));
	h->depths = xcalloc(h->stack_count, sizeof(*h->depths));
	for (uint32_t i = 0; i < h->stack_count; i++) {
		uint32_t from = i ? below(h, i) : 0;
		uint32_t cut = i < 50 ? MAX_DEPTH : skewed(h, 24);
		uint32_t keep = i ? h->depths[from] - MIN(cut, h->depths[from] - 1U) : 0;
		uint32_t len = keep + 1 + (i < 50 ? 40 + skewed(h, 80) : skewed(h, 20));

		len = MIN(len, (uint32_t)MAX_DEPTH);
		memcpy(h->stacks[i], h->stacks[from], keep * sizeof(uint32_t));
		for (uint32_t depth = keep; depth < len; depth++)
			h->stacks[i][depth] = choose_frame(h, depth, len);
		h->depths[i] = (uint8_t)len;
	}
}

static void add_sample(struct host *h, uint64_t index, bool merge)
{
	uint32_t which = skewed(h, h->stack_count), len = h->depths[which];
	uint32_t leaf_first[MAX_DEPTH];
	struct profile_sample s = { .event = h->cpu, .weight = PERIOD_NS, .count = 1 };

	for (uint32_t i = 0; i < len; i++)
		leaf_first[i] = h->stacks[which][len - 1 - i];
	s.stack = profile_stack(&h->p, leaf_first, len);
	/* A stack belongs to one process, and there mostly to one thread. */
	s.thread = h->threads[which % PROCESSES * THREADS + skewed(h, THREADS)];
	s.time_ns = h->p.start_ns + index * (PERIOD_NS / 100);
	h->p.duration_ns = s.time_ns - h->p.start_ns;
	if (merge)
		profile_add_batch(&h->p, &s, 1);
	else
		profile_add(&h->p, &s);
}

static int stream(struct host *h, const char *path, uint64_t samples, struct err *err)
{
	_cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	int r;

	if (fd < 0)
		return err_set(err, -1, "cannot write %s", path);
	r = recording_writer_new(fd, &writer, err);
	for (uint64_t i = 0; !r && i < samples; i++) {
		add_sample(h, i, false);
		if (i % SAMPLES_PER_FLUSH == SAMPLES_PER_FLUSH - 1)
			r = recording_writer_flush(writer, &h->p, err);
	}
	return r ? r : recording_writer_finish(writer, &h->p, err);
}

static int write_view(struct host *h, const struct view_format *format, const char *path,
		      uint64_t samples, struct err *err)
{
	const struct view_options options = { .event = PROFILE_NONE };
	_cleanup_fclose_ FILE *out = fopen(path, "we");

	if (!out)
		return err_set(err, -1, "cannot write %s", path);
	for (uint64_t i = 0; i < samples; i++)
		add_sample(h, i, true);
	return format->write(&h->p, &options, out, err);
}

int main(int argc, char **argv)
{
	struct host *h = xcalloc(1, sizeof(*h));
	const struct view_format *format = argc > 2 ? view_format_find(NULL, argv[1]) : NULL;
	uint64_t samples = 0, stacks = 0;
	struct err err = { 0 };
	int r;

	if (!format || units_parse_u64(argv[2], &samples) < 0 ||
	    (argc > 3 && units_parse_u64(argv[3], &stacks) < 0)) {
		fprintf(stderr, "usage: gen_recording OUT SAMPLES [STACKS]\n");
		return 2;
	}
	profile_init(&h->p);
	h->seed = 1;
	h->stack_count = (uint32_t)(stacks ? stacks : samples / STACKS_PER_SAMPLE + 1);
	add_tables(h);
	grow_stacks(h);
	r = format->write ? write_view(h, format, argv[1], samples, &err)
			  : stream(h, argv[1], samples, &err);
	if (r)
		fprintf(stderr, "gen_recording: %s\n", err.text);
	profile_release(&h->p);
	free(h->stacks);
	free(h->depths);
	free(h);
	return r ? 1 : 0;
}
