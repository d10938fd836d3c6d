/* SPDX-License-Identifier: Apache-2.0 */
/* The JVMs of processes that come and go; this one maps no libjvm.so, so that no layout is read. */
#include "test.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "jvm/jvm_private.h"
#include "process/mappings.h"

static char path[] = "/opt/jdk/lib/server/libjvm.so";

static void add_libjvm(struct process *process)
{
	vec_push(&process->mappings,
		 ((struct mapping){ .start = 0x1000, .end = 0x2000, .path = path }));
}

struct fixture {
	struct jvm_table *table;
	struct process first, next;
};

static int setup(void **state)
{
	static struct fixture f;

	f = (struct fixture){ .first = { .pid = (uint32_t)getpid(), .serial = 1 },
			      .next = { .pid = (uint32_t)getpid(), .serial = 2 } };
	add_libjvm(&f.first);
	add_libjvm(&f.next);
	*state = &f;
	f.table = jvm_table_new();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	jvm_table_free(f->table);
	vec_release(&f->first.mappings);
	vec_release(&f->next.mappings);
	return 0;
}

/* The pid is used again while samples of its last owner may still come. */
static void test_pid_used_again(void **state)
{
	struct fixture *f = *state;
	struct jvm *first = jvm_table_get(f->table, &f->first);
	struct jvm *next = jvm_table_get(f->table, &f->next);

	assert_ptr_not_equal(first, next);
	assert_ptr_equal(jvm_table_get(f->table, &f->first), first);
	assert_int_equal(first->serial, 1);
	jvm_table_forget(f->table, &f->first);
	assert_null(f->first.attached.first);
	assert_ptr_equal(jvm_table_find(f->table, f->next.pid, &f->next.mappings.items[0], false),
			 next);
}

/* Its samples came before the registry knew it. */
static void test_claimed(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, libjvm, true);

	assert_int_equal(jvm->serial, 0);
	assert_ptr_equal(jvm_table_get(f->table, &f->next), jvm);
	assert_int_equal(jvm->serial, 2);
}

/* One that was made before the process began is of a process that had its pid. */
static void test_of_a_process_before(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, libjvm, true);

	f->next.begin_ns = jvm->made_ns + 1;
	assert_ptr_not_equal(jvm_table_get(f->table, &f->next), jvm);
	f->first.begin_ns = jvm->made_ns;
	assert_int_equal(jvm->serial, 0);
}

/* Where, in which file and in which process: a JVM is known by all three. */
static void test_found_by_its_mapping(void **state)
{
	struct fixture *f = *state;
	struct mapping libjvm = f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, &libjvm, true);

	assert_ptr_equal(jvm_table_find(f->table, f->next.pid, &libjvm, false), jvm);
	assert_null(jvm_table_find(f->table, f->next.pid + 1, &libjvm, false));
	libjvm.start += 0x1000;
	assert_null(jvm_table_find(f->table, f->next.pid, &libjvm, false));
	libjvm.start -= 0x1000;
	libjvm.key.inode++;
	assert_null(jvm_table_find(f->table, f->next.pid, &libjvm, false));
	assert_int_equal(jvm->id, 1);
	assert_int_equal(jvm_table_find(f->table, f->next.pid, &libjvm, true)->id, 2);
}

/* Nobody claims it for half a minute: it goes. */
static void test_unclaimed(void **state)
{
	struct fixture *f = *state;
	const struct mapping *libjvm = &f->next.mappings.items[0];
	struct jvm *jvm = jvm_table_find(f->table, f->next.pid, libjvm, true);

	jvm_table_get(f->table, &f->first)->made_ns -= 60 * NSEC_PER_SEC;
	jvm = jvm_table_find(f->table, f->next.pid + 1, libjvm, true);
	jvm->made_ns -= 29 * NSEC_PER_SEC;
	jvm_table_find(f->table, f->next.pid + 2, libjvm, true)->made_ns -= 31 * NSEC_PER_SEC;
	jvm_table_poll(f->table);
	assert_true(jvm_table_replayed(f->table));
	assert_ptr_equal(jvm_table_find(f->table, f->next.pid + 1, libjvm, false), jvm);
	assert_null(jvm_table_find(f->table, f->next.pid + 2, libjvm, false));
	assert_ptr_equal(jvm_table_find(f->table, f->first.pid, libjvm, false),
			 jvm_table_get(f->table, &f->first));
}

/* A launcher that looks into another library first: what goes is not reported, only what comes. */
static void test_loaded_in_the_place_of_another(void **state)
{
	struct fixture *f = *state;
	struct process launcher = { .pid = (uint32_t)getpid(), .serial = 3 };
	char other[] = "/opt/jdk/lib/libother.so";
	struct mapping m = { .start = 0x1000, .end = 0x2000, .path = other };

	mappings_add(&launcher, &m);
	assert_null(jvm_table_get(f->table, &launcher));
	m.path = path;
	mappings_add(&launcher, &m);
	assert_int_equal(launcher.mappings.len, 1);
	assert_non_null(jvm_table_get(f->table, &launcher));
	mappings_clear(&launcher);
}

/* One that stays without VMStructs is walked blindly, instead of being asked for ever. */
static void test_no_hotspot(void **state)
{
	struct fixture *f = *state;
	struct jvm *jvm = jvm_table_get(f->table, &f->first);
	struct wire_jvm wire;

	assert_int_equal(jvm_get_wire(jvm, true, &wire), -ENODATA);
	assert_false(jvm->no_layout);
	jvm->made_ns -= 11 * NSEC_PER_SEC;
	assert_int_equal(jvm_get_wire(jvm, true, &wire), 0);
	assert_int_equal(wire.serial, jvm->id);
	assert_int_equal(wire.code_end, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_pid_used_again),	TEST(test_claimed),
		TEST(test_of_a_process_before), TEST(test_found_by_its_mapping),
		TEST(test_unclaimed),		TEST(test_loaded_in_the_place_of_another),
		TEST(test_no_hotspot),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
