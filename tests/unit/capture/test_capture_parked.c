// SPDX-License-Identifier: Apache-2.0
/* What the kernel tells of threads that were off the cpus, read from what shows all threads. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture_parts.h"

/* More than one read takes. */
#define MANY 3000

struct seen {
	uint32_t count;
};

static void note_parked(const struct wire_parked *parked, void *data)
{
	struct seen *seen = data;

	assert_int_equal(parked->tid, seen->count);
	assert_int_equal(parked->kernel_frames, seen->count % 5);
	if (parked->kernel_frames)
		assert_int_equal(parked->words[parked->kernel_frames - 1], seen->count);
	seen->count++;
}

static void put(uint32_t tid)
{
	uint64_t room[(sizeof(struct wire_parked) + 8 * 5) / 8] = { 0 };
	struct wire_parked *parked = (struct wire_parked *)room;

	parked->tid = tid;
	parked->kernel_frames = tid % 5;
	parked->size = (uint32_t)(sizeof(*parked) + 8 * parked->kernel_frames);
	if (parked->kernel_frames)
		parked->words[parked->kernel_frames - 1] = tid;
	assert_int_equal(write(f.parked_fd, parked, parked->size), parked->size);
}

static void all_are_told_of(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	open_capture();
	f.parked_fd = memfd_create("parked", MFD_CLOEXEC);
	for (uint32_t i = 0; i < MANY; i++)
		put(i);
	lseek(f.parked_fd, 0, SEEK_SET);
	assert_int_equal(capture_list_parked(f.capture, note_parked, &seen), 0);
	assert_int_equal(seen.count, MANY);
}

static void what_is_not_whole(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	open_capture();
	f.parked_fd = memfd_create("parked", MFD_CLOEXEC);
	put(0);
	put(1);
	assert_int_equal(write(f.parked_fd, "rest", 4), 4);
	lseek(f.parked_fd, 0, SEEK_SET);
	assert_int_equal(capture_list_parked(f.capture, note_parked, &seen), -EBADMSG);
	assert_int_equal(seen.count, 2);
}

static void what_is_not_there(void **state)
{
	struct seen seen = { 0 };

	(void)state;
	open_capture();
	f.parked_fd = -EPERM;
	assert_int_equal(capture_list_parked(f.capture, note_parked, &seen), -EPERM);
	f.parked_fd = open("/", O_RDONLY | O_CLOEXEC);
	assert_int_equal(capture_list_parked(f.capture, note_parked, &seen), -EISDIR);
	assert_int_equal(seen.count, 0);
}

/* Those of one that wants locks, and of one that may be back, are not counted. */
static void virtual_threads(void **state)
{
	static const struct wire_yield_key wait = { .use = WIRE_YIELD_OF_WAIT },
					   lock = { .use = WIRE_YIELD_OF_LOCK };
	struct capture_unmounted sum;

	(void)state;
	open_capture();
	f.yields.keys[0] = f.yields.keys[2] = f.yields.keys[3] = f.yields.keys[4] = wait;
	f.yields.keys[1] = lock;
	for (uint32_t i = 0; i < 5; i++)
		f.yields.values[i].begin_ns = 1000;
	f.yields.values[2].was_back = 1;
	f.yields.values[3].begin_ns = 5001; /* after that moment */
	f.yields.values[4].begin_ns = 3000;
	f.yields.count = 5;
	f.yields.at_once = 2;
	sum = capture_sum_unmounted(f.capture, 5000);
	assert_int_equal(sum.threads, 2);
	assert_int_equal(sum.ns, 4000 + 2000);
	/* None, and a kernel that does not tell. */
	f.yields.at = f.yields.count = 0;
	sum = capture_sum_unmounted(f.capture, 5000);
	assert_true(sum.threads == 0 && sum.ns == 0);
	f.yields.count = 5;
	f.yields.error = EPERM;
	sum = capture_sum_unmounted(f.capture, 5000);
	assert_true(sum.threads == 0 && sum.ns == 0);
}

static int get(uint64_t id, struct capture_unmounted_wait *ret)
{
	return capture_get_unmounted(f.capture, 17, id, ret);
}

static void one_that_waits(void **state)
{
	struct capture_unmounted_wait wait;

	(void)state;
	open_capture();
	f.yields.keys[0] = f.yields.keys[1] =
		(struct wire_yield_key){ .id = 4, .tgid = 17, .use = WIRE_YIELD_OF_WAIT };
	f.yields.keys[1].id = 5;
	f.yields.values[0].begin_ns = 1000;
	f.yields.values[1] = (struct wire_yield){ .begin_ns = 2000, .was_back = 1 };
	f.yields.count = 2;
	f.yields.owed_ns = -70;
	assert_int_equal(get(4, &wait), 0);
	assert_true(wait.begin_ns == 1000 && wait.is_counted && wait.owed_ns == -70);
	assert_int_equal(get(5, &wait), 0);
	assert_true(wait.begin_ns == 2000 && !wait.is_counted && wait.owed_ns == 0);
	/* One that is not noted had left before. */
	assert_int_equal(get(6, &wait), -ENOENT);
	f.yields.own_ns = 300;
	assert_int_equal(get(6, &wait), -ENOENT);
	f.yields.since_ns = 200;
	assert_int_equal(get(6, &wait), 0);
	assert_true(wait.begin_ns == 300 && !wait.is_counted);
	f.yields.since_ns = 400;
	assert_int_equal(get(6, &wait), 0);
	assert_true(wait.begin_ns == 400);
	f.yields.error = EPERM;
	assert_int_equal(get(6, &wait), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_are_told_of, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(virtual_threads, setup, teardown),
		cmocka_unit_test_setup_teardown(one_that_waits, setup, teardown),
	};

	return cmocka_run_group_tests_name("capture_parked", tests, NULL, NULL);
}
