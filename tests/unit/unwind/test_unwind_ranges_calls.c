// SPDX-License-Identifier: Apache-2.0
/* Ranges of mappings that the test makes up: which become one, which are left out, what is found in them. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "process/exec_maps.h"
#include "process/mappings.h"
#include "unwind/unwind_ranges.h"
#include "unwind/walk.h"

#define PAGE 0x1000ULL

/* A mapping, and the piece of a file that it is found to be. */
struct made {
	uint64_t start, end;
	struct unwind_piece piece;
	bool writable;
	const char *path;
};

static struct {
	struct unwind_ranges ranges;
	struct made made[8];
	unsigned int count;	 /* of the process's own list */
	unsigned int task_count; /* of its thread's */
	uint64_t many;		 /* instead of MADE so many pages with a gap after each */
	int maps_error, task_error;
	char asked[128]; /* the lists that were read */
	struct file_id file;
	unsigned int seen; /* mappings whose file was told */
} f;

/* --- in place of unwind_files.c, jvm/ and process/ --- */

struct unwind_piece unwind_files_piece(struct unwind_files *files, uint32_t pid,
				       const struct mapping *mapping, const struct file_id *seen)
{
	assert_ptr_equal(files, &f);
	assert_int_equal(pid, 77);
	f.seen += seen == &f.file;
	for (size_t i = 0; i < ARRAY_SIZE(f.made); i++)
		if (f.made[i].start == mapping->start)
			return f.made[i].piece;
	return (struct unwind_piece){ 0 };
}

bool libjvm_is_path(const char *path, size_t len)
{
	return len == strlen(path) && strcmp(path, "/jdk/libjvm.so") == 0;
}

static void tell(const struct made *made, exec_map_fn fn, void *data)
{
	char path[64] = "";
	const struct exec_map map = {
		.m = { .start = made->start, .end = made->end, .path = made->path ? path : NULL },
		.writable = made->writable,
		.file = &f.file
	};

	snprintf(path, sizeof(path), "%s", made->path ? made->path : "");
	fn(&map, data);
	memset(path, 'x', sizeof(path) - 1); /* it was good until then */
}

static void tell_all(unsigned int count, exec_map_fn fn, void *data)
{
	for (unsigned int i = 0; i < count; i++)
		tell(&f.made[i], fn, data);
	for (uint64_t i = 1; i <= f.many; i++)
		tell(&(struct made){ .start = 2 * i * PAGE, .end = (2 * i + 1) * PAGE }, fn, data);
}

int exec_maps_read_files(uint32_t pid, const char *path, unsigned int looks, exec_map_fn fn,
			 void *data)
{
	bool of_task = strstr(path, "task") != NULL;

	(void)pid;
	assert_int_equal(looks, IMAGE_MAX_LOOKS);
	strcat(strcat(f.asked, path), " ");
	tell_all(of_task ? f.task_count : f.count, fn, data);
	return of_task ? f.task_error : f.maps_error;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unwind_ranges_release(&f.ranges);
	return 0;
}

static int read_of(uint32_t tid)
{
	f.asked[0] = '\0';
	return unwind_ranges_read(&f.ranges, (struct unwind_files *)&f, 77, tid);
}

/* How many ranges these two mappings become. */
static size_t joined(struct made first, struct made second)
{
	f.made[0] = first;
	f.made[1] = second;
	f.count = 2;
	read_of(0);
	return f.ranges.v.len;
}

static void pieces_of_one_are_one(void **state)
{
	const struct made first = { .start = 0x1000, .end = 0x2000, .piece = { 5, 3 } };
	struct made second = { .start = 0x2000, .end = 0x4000, .piece = { 5, 3 } };

	(void)state;
	assert_int_equal(joined(first, second), 1);
	assert_int_equal(f.ranges.v.items[0].start, 0x1000);
	assert_int_equal(f.ranges.v.items[0].end, 0x4000);
	assert_int_equal(f.ranges.v.items[0].file, 5);
	assert_int_equal(f.ranges.v.items[0].bias, 3);
	assert_int_equal(f.ranges.v.items[0].serial, 0);
	assert_int_equal(f.seen, 2); /* nobody looks for what was told */
	second.piece.file = 6;
	assert_int_equal(joined(first, second), 2);
	assert_int_equal(f.ranges.v.items[0].end, 0x2000);
	assert_int_equal(f.ranges.v.items[1].start, 0x2000);
	assert_int_equal(f.ranges.v.items[1].end, 0x4000);
	assert_int_equal(f.ranges.v.items[1].file, 6);
	second.piece = (struct unwind_piece){ 5, 4 };
	assert_int_equal(joined(first, second), 2);
	assert_int_equal(f.ranges.v.items[1].bias, 4);
	second.piece = first.piece;
	second.start = 0x3000; /* a gap */
	assert_int_equal(joined(first, second), 2);
}

/* The kernel's count of a process's code leaves out what is writable. */
static void executable_pages_are_counted(void **state)
{
	(void)state;
	joined((struct made){ .start = 0x1000, .end = 0x4000 },
	       (struct made){ .start = 0x4000, .end = 0x9000, .writable = true });
	assert_int_equal(f.ranges.exec_pages, 3);
	assert_int_equal(f.ranges.v.len, 1);
	joined((struct made){ .start = 0x1000, .end = 0x4000 },
	       (struct made){ .start = 0x6000, .end = 0x8000 });
	assert_int_equal(f.ranges.exec_pages, 5);
	/* Not those of the list before. */
	f.count = 0;
	read_of(0);
	assert_int_equal(f.ranges.exec_pages, 0);
	assert_int_equal(f.ranges.v.len, 0);
}

static void the_kernels_half_is_left_out(void **state)
{
	struct process process = { .pid = 77 };
	struct mapping m = { .start = UNWIND_USER_END - PAGE, .end = UNWIND_USER_END };

	(void)state;
	joined((struct made){ .start = UNWIND_USER_END - PAGE, .end = UNWIND_USER_END },
	       (struct made){ .start = UNWIND_USER_END, .end = UNWIND_USER_END + PAGE });
	assert_int_equal(f.ranges.v.len, 1);
	assert_int_equal(f.ranges.v.items[0].end, UNWIND_USER_END);
	assert_int_equal(f.ranges.exec_pages, 1);
	/* The same of what the registry has; the pages are not known then. */
	vec_push(&process.mappings, m);
	m.start = UNWIND_USER_END;
	m.end = UNWIND_USER_END + PAGE;
	vec_push(&process.mappings, m);
	unwind_ranges_of_process(&f.ranges, (struct unwind_files *)&f, &process);
	assert_int_equal(f.ranges.v.len, 1);
	assert_int_equal(f.ranges.v.items[0].start, UNWIND_USER_END - PAGE);
	assert_int_equal(f.ranges.v.items[0].end, UNWIND_USER_END);
	assert_int_equal(f.ranges.exec_pages, 0);
	vec_release(&process.mappings);
}

/* More than the look-up of BPF takes are not published. */
static void there_is_a_limit(void **state)
{
	(void)state;
	f.many = UNWIND_MAX_RANGES + 10;
	read_of(0);
	assert_int_equal(f.ranges.v.len, UNWIND_MAX_RANGES);
	assert_int_equal(f.ranges.v.items[0].start, 2 * PAGE);
}

static void hotspots_library(void **state)
{
	struct made made = { .start = 0x1000, .end = 0x2000, .path = "/lib/other.so" };
	struct made library = { .start = 0x3000, .end = 0x4000, .path = "/jdk/libjvm.so" };

	(void)state;
	joined(made, (struct made){ .start = 0x2000, .end = 0x3000 }); /* code without a name */
	assert_int_equal(f.ranges.libjvm.end, 0);
	joined(made, library);
	assert_int_equal(f.ranges.libjvm.start, 0x3000);
	assert_int_equal(f.ranges.libjvm.end, 0x4000);
	assert_string_equal(f.ranges.libjvm.path, "/jdk/libjvm.so");
	/* Of two pieces the first. */
	made = library;
	made.start = 0x5000;
	made.end = 0x6000;
	joined(library, made);
	assert_int_equal(f.ranges.libjvm.start, 0x3000);
	assert_int_equal(f.ranges.libjvm.end, 0x4000);
	/* The next list has it elsewhere, or not at all. */
	joined(made, (struct made){ .start = 0x7000, .end = 0x8000 });
	assert_int_equal(f.ranges.libjvm.start, 0x5000);
	assert_string_equal(f.ranges.libjvm.path, "/jdk/libjvm.so");
	joined((struct made){ .start = 0x1000, .end = 0x2000 }, (struct made){ 0 });
	assert_int_equal(f.ranges.libjvm.start, 0);
	assert_int_equal(f.ranges.libjvm.end, 0);
}

/* A process whose first thread has ended has no list of its own. */
static void whose_list(void **state)
{
	(void)state;
	f.made[0] = (struct made){ .start = 0x1000, .end = 0x2000 };
	f.count = 1;
	assert_int_equal(read_of(78), 0);
	assert_string_equal(f.asked, "/proc/77/maps ");
	f.count = 0;
	assert_int_equal(read_of(0), -ENODATA);
	assert_string_equal(f.asked, "/proc/77/maps ");
	assert_int_equal(read_of(77), -ENODATA);
	assert_string_equal(f.asked, "/proc/77/maps ");
	assert_int_equal(read_of(78), -ENODATA);
	assert_string_equal(f.asked, "/proc/77/maps /proc/77/task/78/maps ");
	f.task_count = 1;
	assert_int_equal(read_of(78), 0);
	assert_int_equal(f.ranges.v.len, 1);
	assert_int_equal(read_of(78), 0);
	assert_int_equal(f.ranges.v.len, 1); /* it was emptied */
	f.task_error = -ESRCH;
	assert_int_equal(read_of(78), -ESRCH);
	f.maps_error = -EACCES;
	assert_int_equal(read_of(78), -EACCES);
	assert_string_equal(f.asked, "/proc/77/maps ");
}

static void equal_but_for_serials(void **state)
{
	static const struct wire_range same[] = {
		{ .start = 0x1000, .end = 0x2000, .bias = 3, .file = 5, .serial = 9 },
		{ .start = 0x5000, .end = 0x6000, .bias = 4, .file = 6, .serial = 9 },
	};
	struct wire_range other[2];

	(void)state;
	joined((struct made){ .start = 0x1000, .end = 0x2000, .piece = { 5, 3 } },
	       (struct made){ .start = 0x5000, .end = 0x6000, .piece = { 6, 4 } });
	assert_true(unwind_ranges_equal(&f.ranges, same, 2));
	assert_false(unwind_ranges_equal(&f.ranges, same, 1));
	for (size_t i = 0; i < 2; i++) {
		memcpy(other, same, sizeof(same));
		other[i].start++;
		assert_false(unwind_ranges_equal(&f.ranges, other, 2));
		memcpy(other, same, sizeof(same));
		other[i].end++;
		assert_false(unwind_ranges_equal(&f.ranges, other, 2));
		memcpy(other, same, sizeof(same));
		other[i].bias++;
		assert_false(unwind_ranges_equal(&f.ranges, other, 2));
		memcpy(other, same, sizeof(same));
		other[i].file++;
		assert_false(unwind_ranges_equal(&f.ranges, other, 2));
	}
}

static void an_address_is_found(void **state)
{
	(void)state;
	f.many = 7; /* 2000-3000, 4000-5000, … */
	read_of(0);
	for (uint64_t page = 0; page < 20; page++) {
		bool is_there = page >= 2 && page <= 14 && page % 2 == 0;
		const struct wire_range *first = unwind_ranges_find(&f.ranges, page * PAGE);
		const struct wire_range *last =
			unwind_ranges_find(&f.ranges, page * PAGE + PAGE - 1);

		assert_ptr_equal(first, is_there ? &f.ranges.v.items[page / 2 - 1] : NULL);
		assert_ptr_equal(last, first);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(pieces_of_one_are_one),
		TEST(executable_pages_are_counted),
		TEST(the_kernels_half_is_left_out),
		TEST(there_is_a_limit),
		TEST(hotspots_library),
		TEST(whose_list),
		TEST(equal_but_for_serials),
		TEST(an_address_is_found),
	};

	return cmocka_run_group_tests_name("unwind_ranges_calls", tests, NULL, NULL);
}
