/* SPDX-License-Identifier: Apache-2.0 */
/* Small profiles by hand, for the tests of views. Stacks are given root first, as people read. */
#ifndef HOSTPROF_TESTS_PROFILE_FIXTURE_H
#define HOSTPROF_TESTS_PROFILE_FIXTURE_H

#include "base/macros.h"
#include "profile/profile.h"

#define FIXTURE_MAX_DEPTH 64

static inline uint32_t fixture_mapping(struct profile *p, const char *path, const char *build_id,
				       uint64_t start, uint64_t limit)
{
	struct profile_mapping m = { .path = profile_string(p, path),
				     .build_id = profile_string(p, build_id),
				     .start = start,
				     .limit = limit,
				     .offset = start };

	return profile_mapping(p, &m);
}

static inline uint32_t fixture_code(struct profile *p, enum frame_kind kind, const char *name,
				    uint32_t mapping, uint64_t address)
{
	struct profile_frame f = { .name = profile_string(p, name),
				   .mapping = mapping,
				   .address = address,
				   .bci = -1,
				   .kind = kind };

	return profile_frame(p, &f);
}

static inline uint32_t fixture_native(struct profile *p, const char *name)
{
	return fixture_code(p, FRAME_NATIVE, name, PROFILE_NONE, 0);
}

static inline uint32_t fixture_kernel(struct profile *p, const char *name)
{
	return fixture_code(p, FRAME_KERNEL, name, PROFILE_NONE, 0);
}

static inline uint32_t fixture_java(struct profile *p, enum frame_kind kind, const char *class_name,
				    const char *name, int32_t line)
{
	struct profile_frame f = { .name = profile_string(p, name),
				   .class_name = profile_string(p, class_name),
				   .file = profile_string(p, "Source.java"),
				   .mapping = PROFILE_NONE,
				   .line = line,
				   .bci = line,
				   .kind = kind };

	return profile_frame(p, &f);
}

/* Of a method with a descriptor. */
static inline uint32_t fixture_overload(struct profile *p, enum frame_kind kind,
					const char *class_name, const char *name,
					const char *descriptor)
{
	struct profile_frame f = { .name = profile_string(p, name),
				   .class_name = profile_string(p, class_name),
				   .descriptor = profile_string(p, descriptor),
				   .mapping = PROFILE_NONE,
				   .bci = -1,
				   .kind = kind };

	return profile_frame(p, &f);
}

static inline uint32_t fixture_process(struct profile *p, const char *name, uint32_t pid)
{
	struct profile_process proc = { .pid = pid, .name = profile_string(p, name) };

	return profile_process(p, &proc);
}

static inline uint32_t fixture_thread(struct profile *p, uint32_t process, const char *name,
				      uint32_t tid)
{
	struct profile_thread t = { .process = process,
				    .tid = tid,
				    .name = profile_string(p, name) };

	return profile_thread(p, &t);
}

static inline uint32_t fixture_event(struct profile *p, const char *name, const char *unit,
				     uint64_t period)
{
	struct profile_event e = { .name = profile_string(p, name),
				   .unit = profile_string(p, unit),
				   .period = period };

	return profile_event(p, &e);
}

/* FRAMES root first. */
static inline void fixture_sample(struct profile *p, uint32_t event, uint32_t thread,
				  uint64_t count, uint64_t weight, const uint32_t *frames,
				  uint32_t len)
{
	uint32_t leaf_first[FIXTURE_MAX_DEPTH];
	struct profile_sample s = {
		.event = event, .thread = thread, .count = count, .weight = weight
	};

	for (uint32_t i = 0; i < len; i++)
		leaf_first[i] = frames[len - 1 - i];
	s.stack = profile_stack(p, leaf_first, len);
	profile_add(p, &s);
}

#define FIXTURE_FRAMES(...)                  \
	((const uint32_t[]){ __VA_ARGS__ }), \
		(uint32_t)ARRAY_SIZE(((const uint32_t[]){ __VA_ARGS__ }))

#endif
