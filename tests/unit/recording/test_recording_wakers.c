// SPDX-License-Identifier: Apache-2.0
/* Who has ended a wait, in a recording and as views have it. */
#include "waits_fixture.h"

#include "recording/write_values.h"

/* A wait of 8,000 ns. */
static void add_woken(uint32_t waker, uint64_t queued)
{
	const struct profile_sample sample = { .time_ns = START_NS + 5,
					       .weight = 8000,
					       .count = 1,
					       .event = event,
					       .stack = stack,
					       .thread = thread,
					       .state = STATE_SLEEPING,
					       .chance = 1,
					       .queued = queued,
					       .reason = profile_string(&written, "futex"),
					       .waker = waker };

	profile_add(&written, &sample);
}

/* Leaf first: of the kernel, inlined, in a thread "giver" of a process "other" with pid 70; or of an interrupt. */
static uint32_t add_waker(bool is_thread)
{
	const struct profile_frame kernel = { .name = profile_string(&written, "futex_wake"),
					      .mapping = PROFILE_NONE,
					      .bci = -1,
					      .kind = FRAME_KERNEL };
	const struct profile_frame inlined = { .name = profile_string(&written, "give"),
					       .mapping = PROFILE_NONE,
					       .bci = -1,
					       .kind = FRAME_INLINED };
	const struct profile_process other = { .pid = 70,
					       .name = profile_string(&written, "other") };
	const struct profile_thread giver = { .process = profile_process(&written, &other),
					      .tid = 71,
					      .name = profile_string(&written, "giver") };
	uint32_t frames[] = { profile_frame(&written, &kernel), profile_frame(&written, &inlined),
			      leaf_frame(&written) };
	struct profile_waker waker = { PROFILE_NONE, profile_stack(&written, frames, 1) };

	if (is_thread) {
		waker.thread = profile_thread(&written, &giver);
		waker.stack = profile_stack(&written, frames, 3);
	}
	written.tells_wakers = true;
	return profile_waker(&written, &waker);
}

/* What others read: the length of one wait, and not of all that it stands for. Behind the time. */
static void length_is_that_of_one(void **state)
{
	static uint8_t file[1 << 16];
	uint8_t wanted[20], *end = jfr_varint(jfr_varint(wanted, START_NS + 5), 8000 / 4);
	int fd = memfd_create("waits", MFD_CLOEXEC);
	struct recording_writer *writer;
	struct err err = { 0 };
	ssize_t len;

	(void)state;
	add_woken(0, 0);
	written.samples.items[0].chance = 4;
	assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
	assert_int_equal(recording_writer_finish(writer, &written, &err), 0);
	recording_writer_free(writer);
	len = pread(fd, file, sizeof(file), 0);
	assert_true(len > 0);
	assert_non_null(memmem(file, (size_t)len, wanted, (size_t)(end - wanted)));
	close(fd);
	profile_release(&written);
}

static void wakers_are_kept(void **state)
{
	const struct profile_waker *waker;
	struct profile p;

	(void)state;
	add_woken(add_waker(true), 0);
	add_woken(add_waker(false), 0);
	add_woken(0, 0);
	read_back(&p, false);
	assert_int_equal(p.samples.len, 3);
	waker = profile_get_waker(&p, p.samples.items[0].waker);
	assert_int_equal(profile_get_thread(&p, waker->thread)->tid, 71);
	assert_string_equal(text(&p, profile_get_thread(&p, waker->thread)->name), "giver");
	assert_int_equal(
		profile_get_process(&p, profile_get_thread(&p, waker->thread)->process)->pid, 70);
	assert_int_equal(profile_get_stack(&p, waker->stack).len, 3);
	waker = profile_get_waker(&p, p.samples.items[1].waker);
	assert_int_equal(waker->thread, PROFILE_NONE);
	assert_int_equal(profile_get_stack(&p, waker->stack).len, 1);
	assert_int_equal(p.samples.items[2].waker, 0);
	assert_int_equal(profile_get_stack(&p, p.samples.items[0].stack).len, 1);
	profile_release(&p);
}

/* Of one sample, from the root. */
static const char *path_of(const struct profile *p, const struct profile_sample *sample)
{
	struct profile_stack frames = profile_get_stack(p, sample->stack);
	static char path[256];

	path[0] = '\0';
	for (uint32_t i = frames.len; i-- > 0;) {
		const struct profile_frame *frame = profile_get_frame(p, frames.frames[i]);

		assert_int_not_equal(frame->kind, FRAME_INLINED);
		strcat(strcat(path, ";"), text(p, frame->name));
	}
	return path;
}

/* The wait's own stack comes first, then its waker's from the leaf on. What was queued nobody has ended. */
static void wakers_as_views_have_them(void **state)
{
	struct profile p;

	(void)state;
	add_woken(add_waker(true), 3000);
	add_woken(add_waker(true), 0);
	add_woken(add_waker(false), 0);
	add_woken(0, 0);
	read_back(&p, true);
	assert_int_equal(p.samples.len, 4);
	assert_string_equal(
		path_of(&p, &p.samples.items[0]),
		";recv;[futex];[woken by];futex_wake;give;recv;[giver tid=71];other-70");
	assert_int_equal(p.samples.items[0].weight, 5000 + 8000);
	assert_int_equal(p.samples.items[0].waker, 0);
	assert_string_equal(path_of(&p, &p.samples.items[1]), ";recv;[run queue]");
	assert_int_equal(p.samples.items[1].weight, 3000);
	assert_string_equal(path_of(&p, &p.samples.items[2]),
			    ";recv;[futex];[woken by];futex_wake;[interrupt]");
	assert_string_equal(path_of(&p, &p.samples.items[3]), ";recv;[futex]");
	profile_release(&p);
}

static void waits_without_their_wakers(void **state)
{
	struct profile p;

	(void)state;
	add_woken(add_waker(true), 0);
	add_woken(add_waker(false), 0);
	read_back_as(&p, &(struct recording_read_options){ .merge = true, .no_wakers = true });
	assert_int_equal(p.samples.len, 1);
	assert_string_equal(path_of(&p, &p.samples.items[0]), ";recv;[futex]");
	assert_int_equal(p.samples.items[0].weight, 2 * 8000);
	profile_release(&p);
}

static void wakers_of_wall(void **state)
{
	struct profile p;

	(void)state;
	event = profile_event(
		&written, &(struct profile_event){ .name = profile_string(&written, "wall"),
						   .unit = profile_string(&written, "nanoseconds"),
						   .period = 1000 });
	add_woken(add_waker(true), 0);
	read_back(&p, true);
	assert_int_equal(p.samples.len, 1);
	assert_string_equal(
		path_of(&p, &p.samples.items[0]),
		";recv;[futex];[woken by];futex_wake;give;recv;[giver tid=71];other-70");
	profile_release(&p);
}

/* Who has let go of a lock is behind its class. */
static void wakers_of_locks(void **state)
{
	static const char *const reasons[] = { "monitor enter", "Object.wait", "park" };
	struct profile p;

	(void)state;
	for (int merge = 0; merge < 2; merge++) {
		if (merge)
			begin(NULL);
		event = profile_event(
			&written,
			&(struct profile_event){ .name = profile_string(&written, "lock"),
						 .unit = profile_string(&written, "nanoseconds") });
		stack = stack_of_class("Gate");
		for (size_t i = 0; i < 3; i++) {
			add_woken(add_waker(true), 0);
			written.samples.items[i].reason = profile_string(&written, reasons[i]);
		}
		add_woken(0, 0);
		read_back(&p, merge);
		assert_int_equal(p.samples.len, merge ? 2 : 4);
		if (merge) {
			assert_string_equal(
				path_of(&p, &p.samples.items[0]),
				";recv;;[woken by];futex_wake;give;recv;[giver tid=71];other-70");
			assert_int_equal(p.samples.items[0].count, 3);
			assert_string_equal(path_of(&p, &p.samples.items[1]), ";recv;");
		}
		for (size_t i = 0; i < 3 && !merge; i++) {
			const struct profile_waker *waker =
				profile_get_waker(&p, p.samples.items[i].waker);

			assert_int_equal(profile_get_thread(&p, waker->thread)->tid, 71);
			assert_int_equal(profile_get_stack(&p, waker->stack).len, 3);
		}
		profile_release(&p);
	}
}

static bool find_text(int fd, const char *wanted)
{
	static char bytes[1 << 16];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

	return n > 0 && memmem(bytes, (size_t)n, wanted, strlen(wanted));
}

/* Where nobody asks for them a file is what it was. */
static void no_wakers_no_fields(void **state)
{
	uint64_t bytes[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		int fd = memfd_create("waits", MFD_CLOEXEC);
		struct recording_writer *writer;
		struct err err = { 0 };

		if (i)
			begin(NULL);
		add_woken(0, 0);
		written.tells_wakers = i;
		assert_int_equal(recording_writer_new(fd, &writer, &err), 0);
		assert_int_equal(recording_writer_finish(writer, &written, &err), 0);
		recording_writer_free(writer);
		bytes[i] = (uint64_t)lseek(fd, 0, SEEK_END);
		assert_int_equal(find_text(fd, "wakerStackTrace"), i);
		close(fd);
		profile_release(&written);
	}
	assert_true(bytes[0] + 4 < bytes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(length_is_that_of_one, begin),
		cmocka_unit_test_setup(wakers_are_kept, begin),
		cmocka_unit_test_setup(wakers_as_views_have_them, begin),
		cmocka_unit_test_setup(waits_without_their_wakers, begin),
		cmocka_unit_test_setup(wakers_of_wall, begin),
		cmocka_unit_test_setup(wakers_of_locks, begin),
		cmocka_unit_test_setup(no_wakers_no_fields, begin),
	};

	return cmocka_run_group_tests_name("recording_wakers", tests, NULL, NULL);
}
