// SPDX-License-Identifier: Apache-2.0
/* When memory is given up, by what the kernel says of it; and what the allocator is told. */
#include "test.h"

#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/reader/reader.h"
#include "session/memory_plan.h"

#define SECOND NSEC_PER_SEC

static struct {
	uint64_t readers; /* bytes */
	unsigned int trims;
	size_t kept, holes;
	int arenas, mmap_threshold, trim_threshold;
} f;

/* --- in place of the C library --- */

int malloc_trim(size_t pad)
{
	f.trims++;
	f.kept = pad;
	return 1;
}

struct mallinfo2 mallinfo2(void)
{
	return (struct mallinfo2){ .fordblks = f.holes };
}

int mallopt(int param, int value)
{
	switch (param) {
	case M_ARENA_MAX: f.arenas = value; break;
	case M_MMAP_THRESHOLD: f.mmap_threshold = value; break;
	case M_TRIM_THRESHOLD: f.trim_threshold = value; break;
	default: fail();
	}
	return 1;
}

/* --- in place of elf/reader/ --- */

uint64_t reader_resident_bytes(void)
{
	return f.readers;
}

/* --- in place of /proc/self/statm --- */

/* Of its seven numbers those of data, … do not matter. */
static void show(struct memory_guard *guard, const char *statm)
{
	char path[64];
	int fd;

	if (!guard->self.is_open)
		guard->self =
			(struct resident_watch){ true, memfd_create("statm", MFD_CLOEXEC), 0 };
	assert_true(guard->self.fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", guard->self.fd);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_true(dprintf(fd, "%s 0 0 0 0 0", statm) > 0);
	close(fd);
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	return 0;
}

/* Of a limit of 8,000 pages, of which maps take 1,000. */
static bool wants_room(const char *statm)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct memory_guard guard;
	bool wants;

	memset(&guard, 0xee, sizeof(guard));
	memory_guard_init(&guard, 8000 * page, 1000 * page);
	show(&guard, statm);
	wants = memory_guard_wants_room(&guard, SECOND);
	assert_int_equal(guard.sheds, wants);
	memory_guard_release(&guard);
	return wants;
}

static void seven_eighths_are_enough(void **state)
{
	(void)state;
	assert_false(wants_room("9000 5999 77 8 0 900 0\n"));
	assert_true(wants_room("9000 6000 77 8 0 900 0\n"));
	assert_true(wants_room("9000 123456789 77 8 0 900 0\n"));
	assert_false(wants_room("900000 1 77 8 0 900 0\n"));
}

static void readers_count(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	(void)state;
	f.readers = 1000 * page;
	assert_true(wants_room("9000 5000 77 8 0 900 0\n"));
	assert_false(wants_room("9000 4999 77 8 0 900 0\n"));
}

/* Nothing is known: nothing is given up. */
static void without_proc(void **state)
{
	(void)state;
	assert_false(wants_room(""));
	assert_false(wants_room("90000"));
	assert_false(wants_room("90000 "));
	assert_false(wants_room("90000,90000"));
	assert_false(wants_room("x 90000"));
}

/* What was given up takes a while to be seen. */
static void not_all_the_time(void **state)
{
	struct memory_guard guard;

	(void)state;
	memory_guard_init(&guard, 8, 0);
	show(&guard, "9 9");
	assert_false(memory_guard_wants_room(&guard, SECOND / 2 - 1));
	assert_true(memory_guard_wants_room(&guard, SECOND / 2));
	assert_false(memory_guard_wants_room(&guard, SECOND - 1));
	assert_true(memory_guard_wants_room(&guard, SECOND));
	assert_int_equal(guard.sheds, 2);
	memory_guard_release(&guard);
}

/* When it is asked again that found no room at AT_NS. */
static uint64_t looks_again_ns(struct memory_guard *guard, const char *statm, uint64_t at_ns)
{
	uint64_t step_ns = SECOND / 100, ns = at_ns;

	show(guard, statm);
	assert_false(memory_guard_wants_room(guard, at_ns));
	show(guard, "9000 9000");
	while (!memory_guard_wants_room(guard, ns))
		ns += step_ns;
	return ns - at_ns;
}

/* The less room there is the sooner. */
static void far_below_it_is_looked_seldom(void **state)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct memory_guard guard;

	(void)state;
	memory_guard_init(&guard, 8000 * page, 1000 * page);
	assert_int_equal(looks_again_ns(&guard, "9000 0", SECOND), SECOND * 6 / 10);
	assert_int_equal(looks_again_ns(&guard, "9000 3000", 10 * SECOND), SECOND * 3 / 10);
	assert_int_equal(looks_again_ns(&guard, "9000 5000", 20 * SECOND), SECOND / 10);
	assert_int_equal(looks_again_ns(&guard, "9000 5500", 30 * SECOND), SECOND * 5 / 100);
	assert_int_equal(looks_again_ns(&guard, "9000 5999", 40 * SECOND), SECOND / 100);
	memory_guard_release(&guard);
}

/* All that is free goes back; no arena or threshold keeps a large file's parsing. */
static void the_allocator(void **state)
{
	(void)state;
	memory_guard_trim();
	assert_int_equal(f.trims, 1);
	assert_int_equal(f.kept, 0);
	memory_tune_allocator();
	assert_int_equal(f.arenas, 1);
	assert_int_equal(f.mmap_threshold, 128 << 10);
	assert_int_equal(f.trim_threshold, 512 << 10);
}

/* What is short is shared, too; what there is besides has its place. */
static void shares_of_a_shortage(void **state)
{
	const uint64_t mb = 1 << 20;
	struct memory_plan plan;

	(void)state;
	memset(&plan, 0xee, sizeof(plan));
	memory_plan_begin(&plan, 24 * mb);
	assert_int_equal(plan.parse_bytes, 0);
	memory_plan_share(&plan, 50 * mb, 50 * mb);
	assert_int_equal(plan.parse_bytes, 3 * mb * 40 / 100);
	assert_int_equal(plan.symbol_bytes, 3 * mb * 30 / 100);
	assert_int_equal(plan.queue_bytes, 3 * mb * 15 / 100);
	assert_int_equal(plan.file_bytes, 3 * mb * 10 / 100);
	/* Of a small limit the program's own part is a third. */
	memory_plan_share(&plan, mb, 3 * mb);
	assert_int_equal(plan.parse_bytes, (24 - 8 - 1 - 3) * mb * 40 / 100);
}

static uint64_t pages(uint64_t count)
{
	return count * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* A 128th of its limit are 100 pages. Has it given back what is free so often then? */
static void tidy(struct memory_guard *guard, unsigned int trims)
{
	memory_guard_tidy(guard);
	assert_int_equal(f.trims, trims);
}

static void begin_tidy(struct memory_guard *guard)
{
	memory_guard_init(guard, pages(12800), 0);
	show(guard, "9000 1000 1");
	tidy(guard, 1);
}

/* What was freed goes back when there is a 128th more than after the last time, not at each look. */
static void holes_are_given_back(void **state)
{
	struct memory_guard guard;

	(void)state;
	begin_tidy(&guard);
	assert_int_equal(f.kept, 0);
	show(&guard, "9000 1100 1");
	tidy(&guard, 1);
	show(&guard, "9000 1101 1");
	tidy(&guard, 2);
	tidy(&guard, 2);
	show(&guard, "9000 1202 1");
	tidy(&guard, 3);
	memory_guard_release(&guard);
}

/* Of processes that have ended: nothing grows, and what they had is not given back by itself. */
static void what_became_free_is_given_back(void **state)
{
	struct memory_guard guard;

	(void)state;
	f.holes = pages(50);
	begin_tidy(&guard);
	f.holes = pages(150);
	tidy(&guard, 1);
	f.holes++;
	tidy(&guard, 2);
	/* They are holes still, but nobody's memory. */
	tidy(&guard, 2);
	/* They were used, and are free again. */
	f.holes = pages(20);
	tidy(&guard, 2);
	f.holes = pages(121);
	tidy(&guard, 3);
	memory_guard_release(&guard);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(seven_eighths_are_enough, set_up),
		cmocka_unit_test_setup(readers_count, set_up),
		cmocka_unit_test_setup(without_proc, set_up),
		cmocka_unit_test_setup(not_all_the_time, set_up),
		cmocka_unit_test_setup(far_below_it_is_looked_seldom, set_up),
		cmocka_unit_test_setup(holes_are_given_back, set_up),
		cmocka_unit_test_setup(what_became_free_is_given_back, set_up),
		cmocka_unit_test_setup(the_allocator, set_up),
		cmocka_unit_test_setup(shares_of_a_shortage, set_up),
	};

	return cmocka_run_group_tests_name("memory_guard", tests, NULL, NULL);
}
