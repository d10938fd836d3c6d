// SPDX-License-Identifier: Apache-2.0
/* What a walk that has stopped is given to go on: rows, ranges, a JVM's layout. The stores are the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "fake_clock.h"
#include "unwind/unwinder_private.h"

static struct {
	struct unwinder unwinder;
	struct job job;
	struct wire_sample sample;
	struct wire_miss miss;
	struct unwind_cursor *c;
	uint64_t missing;
	/* What the stores have, and what they were asked for. */
	struct wire_page_key put;
	uint64_t rows_of, make_cost_ns;
	unsigned int rows_made;
	bool rows_to_come;
	int put_error;
	struct wire_space space;
	int space_error, read_error;
	bool read_since;
	unsigned int space_reads;
	struct mapping libjvm;
	bool has_libjvm, libjvm_when_read;
	struct wire_jvm jvm;
	int learn_error;
	unsigned int learns, refreshes;
	bool has_changed;
	uint32_t set_jvm;
} f;

/* --- in place of the stores and unwind/walk.c --- */

uint64_t walk_missing(const struct walk *walk)
{
	assert_ptr_equal(walk, &f.unwinder.walk);
	return f.missing;
}

bool unwind_files_rows(struct unwind_files *files, uint32_t number, uint64_t address,
		       struct cfi_rows *rows)
{
	(void)files;
	assert_ptr_equal(rows, &f.unwinder.page);
	assert_int_equal(number, 5);
	f.rows_of = address;
	f.rows_made++;
	fake_advance(f.make_cost_ns);
	return !f.rows_to_come;
}

bool unwind_files_has(const struct unwind_files *files, uint32_t number)
{
	(void)files;
	return number == 5;
}

int row_store_put(struct row_store *store, const struct wire_page_key *key,
		  const struct cfi_row *rows, size_t count, uint64_t now_ns)
{
	(void)store;
	(void)rows;
	(void)count;
	(void)now_ns;
	f.put = *key;
	return f.put_error;
}

int unwind_spaces_get(const struct unwind_spaces *spaces, const struct wire_sample *sample,
		      struct wire_space *ret_space)
{
	(void)spaces;
	assert_ptr_equal(sample, &f.sample);
	*ret_space = f.space;
	return f.space_error;
}

bool unwind_spaces_read_since(const struct unwind_spaces *spaces, const struct wire_sample *sample)
{
	(void)spaces;
	(void)sample;
	return f.read_since;
}

int unwind_spaces_read(struct unwind_spaces *spaces, const struct wire_miss *miss,
		       const struct wire_sample *sample, uint64_t now_ns)
{
	(void)spaces;
	(void)now_ns;
	assert_ptr_equal(miss, &f.miss);
	assert_ptr_equal(sample, &f.sample);
	f.space_reads++;
	f.has_libjvm |= f.libjvm_when_read;
	return f.read_error;
}

const struct mapping *unwind_spaces_libjvm(const struct unwind_spaces *spaces,
					   const struct wire_sample *sample)
{
	(void)spaces;
	(void)sample;
	return f.has_libjvm ? &f.libjvm : NULL;
}

int unwind_spaces_set_jvm(struct unwind_spaces *spaces, const struct wire_sample *sample,
			  uint32_t serial)
{
	(void)spaces;
	(void)sample;
	f.set_jvm = serial;
	return 0;
}

const struct wire_jvm *unwind_jvms_find(const struct unwind_jvms *jvms, uint32_t serial)
{
	(void)jvms;
	return serial == f.jvm.serial ? &f.jvm : NULL;
}

int unwind_jvms_learn(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		      uint64_t now_ns, const struct wire_jvm **ret_wire)
{
	(void)jvms;
	(void)now_ns;
	assert_int_equal(pid, 42);
	assert_ptr_equal(libjvm, &f.libjvm);
	f.learns++;
	*ret_wire = &f.jvm;
	return f.learn_error;
}

const struct wire_jvm *unwind_jvms_refresh(struct unwind_jvms *jvms, uint32_t serial,
					   uint64_t now_ns)
{
	(void)jvms;
	(void)now_ns;
	assert_int_equal(serial, f.c->jvm.serial);
	f.refreshes++;
	return f.has_changed ? &f.jvm : NULL;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	fake_begin();
	f.c = &f.unwinder.walk.cursor;
	f.sample.tgid = f.miss.tgid = 42;
	f.job = (struct job){
		.miss = &f.miss, .sample = &f.sample, .live = true, .begin_ns = fake_begun_ns
	};
	f.missing = f.c->pc = 0x12345;
	f.jvm = (struct wire_jvm){ .serial = 7, .code_start = 0x70000, .code_end = 0x80000 };
	return 0;
}

static bool supply(void)
{
	return unwinder_supply(&f.unwinder, &f.job);
}

static void in_a_file(void)
{
	f.c->range =
		(struct wire_range){ .start = 0x12000, .end = 0x13000, .bias = 0x10000, .file = 5 };
}

/* Their disk is slow: the walk ends, and nothing stands for them. */
static void rows_that_are_to_come(void **state)
{
	(void)state;
	in_a_file();
	f.rows_to_come = true;
	assert_false(supply());
	assert_int_equal(f.rows_made, 1);
	assert_int_equal(f.unwinder.pages_made, 0);
	assert_int_equal(f.put.file, 0);
}

static void rows_of_a_page(void **state)
{
	(void)state;
	in_a_file();
	f.make_cost_ns = 5000;
	assert_true(supply());
	assert_int_equal(f.rows_of, 0x2345);
	assert_int_equal(f.put.file, 5);
	assert_int_equal(f.put.page, 2);
	assert_int_equal(f.unwinder.pages_made, 1);
	assert_int_equal(f.unwinder.make_ns, 5000);
	/* They are gone again: not for ever in vain. */
	assert_false(supply());
	assert_int_equal(f.rows_made, 1);
	/* Another page is another matter. */
	f.missing = 0x12fff;
	f.c->range.bias = 0x11000;
	assert_true(supply());
	assert_int_equal(f.put.page, 1);
	assert_int_equal(f.unwinder.pages_made, 2);
	assert_int_equal(f.unwinder.make_ns, 10000);
	/* There is no room for them. */
	f.c->range.bias = 0x10000;
	f.put_error = -ENOSPC;
	assert_false(supply());
}

/* Of a live walk; one that is late is done now or never. */
static void no_time_left(void **state)
{
	(void)state;
	in_a_file();
	fake_advance(BUDGET_NS);
	assert_true(supply());
	fake_advance(1);
	f.missing = 0x12000;
	f.c->range.bias = 0;
	assert_false(supply());
	f.job.live = false;
	assert_true(supply());
}

/* Its number is of a file that is forgotten, as in a list that a child has of its parent: the list is read again, once. */
static void of_a_file_that_is_forgotten(void **state)
{
	(void)state;
	in_a_file();
	f.c->range.file = 4;
	f.space = (struct wire_space){ .serial = 3, .first = 10, .count = 20 };
	f.read_since = true;
	assert_true(supply());
	assert_int_equal(f.rows_made, 0);
	assert_int_equal(f.space_reads, 1);
	assert_int_equal(f.c->serial, 3);
	f.c->range = (struct wire_range){ .start = 0x12000, .end = 0x13000, .file = 4 };
	assert_false(supply());
	assert_int_equal(f.space_reads, 1);
	f.job.read = false;
	f.job.live = false;
	assert_false(supply());
}

static void its_list(void **state)
{
	(void)state;
	f.space = (struct wire_space){ .serial = 3, .first = 10, .count = 20 };
	f.c->range = (struct wire_range){ .start = 1, .end = 2, .file = 5 };
	f.c->jvm = f.jvm;
	assert_true(supply());
	assert_int_equal(f.space_reads, 1);
	assert_int_equal(f.c->serial, 3);
	assert_int_equal(f.c->first, 10);
	assert_int_equal(f.c->count, 20);
	assert_int_equal(f.c->range.start, 0);
	assert_int_equal(f.c->range.end, 0);
	assert_int_equal(f.c->jvm.serial, 0);
	assert_int_equal(f.c->jvm_serial, 0);
	assert_false(f.c->listed);
	/* Once for each walk. */
	assert_false(supply());
	assert_int_equal(f.space_reads, 1);
}

static void its_list_is_new(void **state)
{
	(void)state;
	f.read_since = true;
	assert_true(supply());
	assert_int_equal(f.c->listed, 1);
	assert_int_equal(f.space_reads, 0);
}

static void no_list(void **state)
{
	(void)state;
	f.space_error = -ENOENT;
	assert_false(supply());
	assert_int_equal(f.space_reads, 0);
	f.space_error = 0;
	f.read_error = -EAGAIN;
	assert_false(supply());
	assert_false(f.job.read);
	/* It is late: what is known then is all. */
	f.job.live = false;
	assert_false(supply());
	assert_int_equal(f.c->listed, 1);
	f.c->count = 1;
	assert_true(supply());
}

/* The list that was read anew may be that of a JVM. */
static void its_list_says_jvm(void **state)
{
	(void)state;
	f.space.jvm = 7;
	assert_true(supply());
	assert_int_equal(f.c->jvm.serial, 7);
	assert_int_equal(f.c->jvm.code_end, 0x80000);
	assert_int_equal(f.c->jvm_serial, 7);
	/* The same: what the walk has stays. */
	f.c->jvm.code_end = 0x90000;
	f.job.read = false;
	assert_true(supply());
	assert_int_equal(f.c->jvm.code_end, 0x90000);
	/* Not known yet. */
	f.space.jvm = WIRE_JVM_PENDING;
	f.job.read = false;
	assert_true(supply());
	assert_int_equal(f.c->jvm.serial, 0);
	assert_int_equal(f.c->jvm_serial, WIRE_JVM_PENDING);
}

/* Code without a file of a process that maps HotSpot's library. */
static void in_new_code(void)
{
	f.c->jvm_serial = WIRE_JVM_PENDING;
	f.c->range = (struct wire_range){ .start = 0x12000, .end = 0x13000 };
}

static void a_jvm_is_met(void **state)
{
	(void)state;
	in_new_code();
	f.has_libjvm = true;
	assert_true(supply());
	assert_int_equal(f.learns, 1);
	assert_int_equal(f.set_jvm, 7);
	assert_int_equal(f.c->jvm.serial, 7);
	assert_int_equal(f.c->jvm_serial, 7);
	assert_int_equal(f.space_reads, 0);
	assert_false(f.job.waits);
}

static void a_jvm_that_starts(void **state)
{
	(void)state;
	in_new_code();
	f.has_libjvm = true;
	f.learn_error = -EAGAIN;
	assert_false(supply());
	assert_true(f.job.waits);
	assert_int_equal(f.set_jvm, 0);
	assert_int_equal(f.c->jvm_serial, WIRE_JVM_PENDING);
}

/* A child of a fork: its mappings say where the library is. */
static void a_jvms_child(void **state)
{
	(void)state;
	in_new_code();
	f.libjvm_when_read = true;
	assert_true(supply());
	assert_int_equal(f.space_reads, 1);
	assert_int_equal(f.c->jvm_serial, 7);
	assert_true(f.job.read);
}

static void no_jvm_after_all(void **state)
{
	(void)state;
	in_new_code();
	f.read_error = -EAGAIN;
	f.libjvm_when_read = true;
	assert_true(supply());
	assert_int_equal(f.c->jvm_serial, 0);
	in_new_code();
	f.has_libjvm = f.libjvm_when_read = false;
	f.read_error = 0;
	f.job.read = true;
	assert_true(supply());
	assert_int_equal(f.space_reads, 1);
	assert_int_equal(f.c->jvm_serial, 0);
	/* Late: nobody can be asked. */
	in_new_code();
	f.job.live = false;
	f.has_libjvm = true;
	assert_true(supply());
	assert_int_equal(f.learns, 0);
	assert_int_equal(f.c->jvm_serial, 0);
}

/* In a JVM's code of which nothing is known: it may have been made just now. Asked once. */
static void more_of_a_jvm(void **state)
{
	(void)state;
	f.c->jvm = f.jvm;
	f.c->jvm.code_end--;
	f.c->pc = 0x70000;
	f.has_changed = true;
	assert_true(supply());
	assert_int_equal(f.c->jvm.code_end, 0x80000);
	assert_int_equal(f.c->jvm_serial, 7);
	assert_false(supply());
	assert_int_equal(f.refreshes, 1);
	f.job.looked_again = false;
	f.has_changed = false;
	f.c->pc = 0x7ffff;
	assert_false(supply());
	assert_int_equal(f.refreshes, 2);
	f.job.looked_again = false;
	f.job.live = false;
	assert_false(supply());
	f.job.live = true;
	f.c->pc = 0x80000;
	f.read_since = true;
	assert_true(supply()); /* beside it */
	f.c->pc = 0x6ffff;
	assert_true(supply());
	assert_int_equal(f.refreshes, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(rows_of_a_page, set_up),
		cmocka_unit_test_setup(rows_that_are_to_come, set_up),
		cmocka_unit_test_setup(no_time_left, set_up),
		cmocka_unit_test_setup(of_a_file_that_is_forgotten, set_up),
		cmocka_unit_test_setup(its_list, set_up),
		cmocka_unit_test_setup(its_list_is_new, set_up),
		cmocka_unit_test_setup(no_list, set_up),
		cmocka_unit_test_setup(its_list_says_jvm, set_up),
		cmocka_unit_test_setup(a_jvm_is_met, set_up),
		cmocka_unit_test_setup(a_jvm_that_starts, set_up),
		cmocka_unit_test_setup(a_jvms_child, set_up),
		cmocka_unit_test_setup(no_jvm_after_all, set_up),
		cmocka_unit_test_setup(more_of_a_jvm, set_up),
	};

	return cmocka_run_group_tests_name("unwinder_supply", tests, NULL, NULL);
}
