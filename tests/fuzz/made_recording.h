/* SPDX-License-Identifier: Apache-2.0 */
/* A sound recording with an event of every type in each of its two chunks, for those who damage it. */
#ifndef HOSTPROF_FUZZ_MADE_RECORDING_H
#define HOSTPROF_FUZZ_MADE_RECORDING_H

#include <sys/mman.h>

#include "base/file.h"
#include "recording/recording.h"
#include "recording/samples/event_names.h"
#include "recording_fixture.h"

struct made_kind {
	const char *event, *unit, *reason;
};

static inline uint32_t made_waker(struct profile *p, uint32_t thread, uint32_t stack)
{
	const struct profile_waker waker = { .thread = thread, .stack = stack };

	return profile_waker(p, &waker);
}

/* Everything that a sample may have, of each kind of event and each reason that has a type of its own. */
static inline void made_samples(struct profile *p)
{
	static const struct made_kind kinds[] = {
		{ JFR_CPU_EVENT, "nanoseconds", "" },
		{ JFR_ALLOC_EVENT, "bytes", "" },
		{ JFR_LIVE_EVENT, "bytes", "" },
		{ JFR_MALLOC_EVENT, "bytes", "" },
		{ JFR_OFFCPU_EVENT, "nanoseconds", JFR_RUN_QUEUE },
		{ JFR_OFFCPU_EVENT, "nanoseconds", "socket read" },
		{ JFR_WALL_EVENT, "nanoseconds", JFR_OFF_CPU },
		{ JFR_WALL_EVENT, "nanoseconds", "sleep" },
		{ JFR_LOCK_EVENT, "nanoseconds", JFR_BY_ENTER },
		{ JFR_LOCK_EVENT, "nanoseconds", JFR_BY_WAIT },
		{ JFR_LOCK_EVENT, "nanoseconds", JFR_BY_PARK },
		{ JFR_NATIVE_LOCK_EVENT, "nanoseconds", "rwlock" },
		{ JFR_KERNEL_LOCK_EVENT, "nanoseconds", "spinlock" },
		{ JFR_SAFEPOINT_EVENT, "nanoseconds", JFR_REACHING },
		{ JFR_SAFEPOINT_EVENT, "nanoseconds", "G1CollectForAllocation" },
		{ JFR_SAFEPOINT_EVENT, "nanoseconds", JFR_LEAVING },
		{ JFR_JIT_EVENT, "nanoseconds", "C2 tier 4, OSR" },
		{ JFR_CLASSLOAD_EVENT, "count", "" },
		{ JFR_GC_EVENT, "nanoseconds", "G1 Evacuation Pause" },
		{ "page-faults", "count", "" },
	};
	uint32_t frames[32], threads[3], count = fixture_frames(p, frames);

	fixture_head(p);
	fixture_threads(p, threads);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(kinds); i++) {
		const struct made_kind *kind = &kinds[i % ARRAY_SIZE(kinds)];
		const struct profile_event event = { profile_string(p, kind->event),
						     profile_string(p, kind->unit), 0 };
		const uint32_t code = profile_stack(p, frames + i % 4, count - i % 4);
		const bool is_first = i < ARRAY_SIZE(kinds);
		const struct profile_sample s = {
			.time_ns = FIXTURE_START_NS + i * NSEC_PER_MSEC,
			.weight = 1000 + i,
			.count = 1,
			.objects = 3 * i,
			.event = profile_event(p, &event),
			.stack = is_first ? fixture_allocation(p, frames, 4, i) : code,
			.thread = threads[i % 3],
			.state = i % 7,
			.age = i % 5,
			.chance = 1 + i % 4,
			.queued = i,
			.reason = profile_string(p, kind->reason),
			.waker = is_first ? made_waker(p, threads[0], code) : 0,
			.identity = 4711 + i,
			.owner = 1 + threads[1],
		};

		profile_add(p, &s);
	}
	fixture_add_figures(p);
	p->duration_ns = 2 * ARRAY_SIZE(kinds) * NSEC_PER_MSEC;
}

/* Its bytes into OUT, which is empty; caller releases. */
static inline void made_recording(struct strbuf *out)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct recording_writer *writer;
	struct profile profile;
	struct err err;
	off_t end;

	assert_true(fd >= 0 && recording_writer_new(fd, &writer, &err) == 0);
	profile_init(&profile);
	made_samples(&profile);
	assert_int_equal(recording_writer_rotate(writer, &profile, &err), 0);
	profile_release(&profile);
	profile_init(&profile);
	made_samples(&profile);
	assert_int_equal(recording_writer_finish(writer, &profile, &err), 0);
	profile_release(&profile);
	recording_writer_free(writer);
	end = lseek(fd, 0, SEEK_END);
	assert_true(end > 0);
	strbuf_grow(out, (size_t)end);
	assert_int_equal(file_pread_full(fd, out->buf, (size_t)end, 0), 0);
	out->len = (size_t)end;
	close(fd);
}

#endif
