/* SPDX-License-Identifier: Apache-2.0 */
/* A recording that goes on and on: what its writer keeps from chunk to chunk has an end. */
#include "test.h"

#include <string.h>
#include <sys/mman.h>

#include "base/file.h"
#include "heap_use.h"
#include "recording/recording.h"
#include "recording_fixture.h"

#define CHUNKS	      300U
#define CHUNK_THREADS 200U
/* Tables grow by doubling. */
#define SPREAD_BYTES (256UL << 10)

/* Threads that no other chunk has, and a library for each. */
static void add_threads(struct profile *p, uint32_t chunk)
{
	const struct profile_event cpu = { .period = 1,
					   .name = profile_string(p, "cpu"),
					   .unit = profile_string(p, "nanoseconds") };
	const struct profile_process process = { .pid = 7, .name = profile_string(p, "java") };
	const uint32_t event = profile_event(p, &cpu), owner = profile_process(p, &process);
	char text[64];

	for (uint32_t i = 0; i < CHUNK_THREADS; i++) {
		const uint32_t number = chunk * CHUNK_THREADS + i;
		struct profile_thread thread = { .process = owner, .tid = number + 1 };
		struct profile_mapping library = { .limit = 0x1000 };
		struct profile_frame frame = { .kind = FRAME_NATIVE, .bci = -1, .address = 0x10 };
		struct profile_sample s = { .weight = 1, .count = 1, .event = event };
		uint32_t id;

		snprintf(text, sizeof(text), "worker-of-chunk-%u", number);
		thread.name = profile_string(p, text);
		snprintf(text, sizeof(text), "/usr/lib/libnumber%u.so", number);
		library.path = profile_string(p, text);
		frame.mapping = profile_mapping(p, &library);
		id = profile_frame(p, &frame);
		s.thread = profile_thread(p, &thread);
		s.stack = profile_stack(p, &id, 1);
		s.time_ns = FIXTURE_START_NS + number;
		profile_add(p, &s);
	}
}

static void write_chunk(struct recording_writer *writer, uint32_t chunk)
{
	struct err err = { 0 };
	struct profile p;

	profile_init(&p);
	fixture_head(&p);
	add_threads(&p, chunk);
	assert_int_equal(recording_writer_rotate(writer, &p, &err), 0);
	profile_release(&p);
}

static void threads_and_libraries_that_come_and_go(void **state)
{
	_cleanup_close_ int fd = memfd_create("recording", MFD_CLOEXEC);
	_cleanup_(recording_writer_freep) struct recording_writer *writer = NULL;
	struct err err = { 0 };
	size_t half = 0;

	(void)state;
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	for (uint32_t chunk = 0; chunk < CHUNKS; chunk++) {
		if (chunk == CHUNKS / 2)
			half = heap_use();
		write_chunk(writer, chunk);
	}
	if (heap_use() > half + SPREAD_BYTES)
		fail_msg("%zu bytes in use after %u chunks, %zu after half of them", heap_use(),
			 CHUNKS, half);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_and_libraries_that_come_and_go),
	};

	return cmocka_run_group_tests_name("recording_age", tests, NULL, NULL);
}
