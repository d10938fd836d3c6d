/* SPDX-License-Identifier: Apache-2.0 */
/* Waits that are written into a recording and read back. Included once per test. */
#ifndef HOSTPROF_TESTS_WAITS_FIXTURE_H
#define HOSTPROF_TESTS_WAITS_FIXTURE_H

#include "test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profile/profile.h"
#include "recording/recording.h"

#define START_NS 1000000000ULL

static struct profile written;
static uint32_t stack, thread, event;

static inline uint32_t leaf_frame(struct profile *p)
{
	const struct profile_frame frame = { .name = profile_string(p, "recv"),
					     .mapping = PROFILE_NONE,
					     .bci = -1,
					     .kind = FRAME_NATIVE };

	return profile_frame(p, &frame);
}

static inline int begin(void **state)
{
	uint32_t frame;

	(void)state;
	profile_init(&written);
	written.start_ns = START_NS;
	frame = leaf_frame(&written);
	stack = profile_stack(&written, &frame, 1);
	thread = profile_thread(
		&written,
		&(struct profile_thread){
			.process = profile_process(
				&written,
				&(struct profile_process){
					.pid = 7, .name = profile_string(&written, "app") }),
			.tid = 8,
			.name = profile_string(&written, "worker") });
	event = profile_event(&written, &(struct profile_event){
						.name = profile_string(&written, "offcpu"),
						.unit = profile_string(&written, "nanoseconds") });
	return 0;
}

static inline void add(uint64_t weight, uint64_t queued, uint32_t chance, uint32_t state,
		       const char *reason)
{
	const struct profile_sample sample = { .time_ns = START_NS + 5,
					       .weight = weight,
					       .count = 1,
					       .event = event,
					       .stack = stack,
					       .thread = thread,
					       .state = state,
					       .chance = chance,
					       .queued = queued,
					       .reason = profile_string(&written, reason) };

	profile_add(&written, &sample);
}

/* What was added, written and read. */
static inline void read_back_as(struct profile *p, const struct recording_read_options *options)
{
	int fd = memfd_create("waits", MFD_CLOEXEC);
	struct recording_writer *writer;
	struct err err = { 0 };
	bool truncated;

	assert_true(fd >= 0);
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	assert_int_equal(recording_writer_finish(writer, &written, &err), 0);
	recording_writer_free(writer);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	profile_init(p);
	assert_int_equal(recording_read(fd, options, p, &truncated, &err), 0);
	assert_false(truncated);
	close(fd);
	profile_release(&written);
}

static inline void read_back(struct profile *p, bool merge)
{
	read_back_as(p, &(struct recording_read_options){ .merge = merge });
}

static inline const char *text(const struct profile *p, uint32_t id)
{
	return profile_get_string(p, id);
}

/* The sample whose leaf is that. */
static inline const struct profile_sample *find(const struct profile *p, const char *leaf)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		struct profile_stack frames = profile_get_stack(p, p->samples.items[i].stack);

		if (!strcmp(text(p, profile_get_frame(p, frames.frames[0])->name), leaf))
			return &p->samples.items[i];
	}
	return NULL;
}

static inline uint32_t stack_of_class(const char *name)
{
	const struct profile_frame frame = { .class_name = profile_string(&written, name),
					     .mapping = PROFILE_NONE,
					     .bci = -1,
					     .kind = FRAME_CLASS };
	uint32_t frames[] = { profile_frame(&written, &frame), leaf_frame(&written) };

	return profile_stack(&written, frames, 2);
}

#endif
