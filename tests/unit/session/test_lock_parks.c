// SPDX-License-Identifier: Apache-2.0
/* JVMs whose threads are seen to park: probed once, asked until they tell, and forgotten; BPF, JVMs and time are the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "jvm/continuation/jvm_yielding.h"
#include "jvm/layout/libjvm.h"
#include "session/locks/lock_parks.h"
#include "session/locks/lock_probes.h"

#define PID 4711

static const struct mapping library = { .start = 0x800, .end = 0x4000 };

static struct {
	struct lock_parks parks;
	struct process process, other; /* of one pid, one after the other */
	int probes, told, set;	       /* what they answer */
	bool is_known;		       /* to the table */
	unsigned int probed, asked;
	/* Of its virtual threads: what is answered, and what was done. */
	int code, yields;
	unsigned int code_asked, yields_probed, waits_probed, unseen;
	uint64_t preempt;
	bool heap_is_read;
	/* What BPF has of PID. */
	bool is_set;
	struct wire_parking parking;
	uint64_t since_ns; /* since when its virtual threads' waits are seen; 0: they are not */
} f;

int lock_probes_open_parks(struct capture *capture, const struct process *process, struct err *err)
{
	assert_ptr_equal(capture, &f);
	assert_int_equal(process->pid, PID);
	assert_true(f.is_set); /* or the first parks would be nobody's */
	f.probed++;
	return f.probes < 0 ? err_set(err, f.probes, "no probes") : 0;
}

int jvm_probes_open_code(struct capture *capture, const struct process *process,
			 enum wire_trigger trigger, const uint64_t *addresses, uint32_t count,
			 struct err *err)
{
	bool of_waits = trigger == WIRE_TRIGGER_OFFCPU_YIELD;

	assert_ptr_equal(capture, &f);
	assert_int_equal(process->pid, PID);
	assert_true(of_waits || trigger == WIRE_TRIGGER_LOCK_YIELD);
	if (f.yields < 0)
		err_set(err, f.yields, "process %u", process->pid);
	assert_int_equal(count, of_waits && f.preempt ? 3 : 2);
	assert_true(addresses[WIRE_YIELD_FREEZE] == 0x1000 && addresses[WIRE_YIELD_THAW] == 0x2000);
	if (count == 3)
		assert_int_equal(addresses[WIRE_YIELD_PREEMPT], 0x3000);
	if (of_waits)
		f.waits_probed++;
	else
		f.yields_probed++;
	return f.yields;
}

int jvm_get_yield_code(struct jvm *jvm, uint64_t start, uint64_t end,
		       struct jvm_yield_code *ret_code)
{
	assert_ptr_equal(jvm, &f);
	assert_true(start == library.start && end == library.end);
	f.code_asked++;
	*ret_code = (struct jvm_yield_code){ 0x1000, 0x2000, f.preempt };
	return f.code;
}

const struct mapping *libjvm_find_mapping(const struct process *process)
{
	assert_int_equal(process->pid, PID);
	return &library;
}

static void note_unseen(const struct err *err, void *data)
{
	assert_ptr_equal(data, &f);
	assert_non_null(strstr(err->text, "4711"));
	f.unseen++;
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	assert_ptr_equal(table, &f.parks);
	assert_non_null(process);
	return f.is_known ? (struct jvm *)&f : NULL;
}

int jvm_get_parking(struct jvm *jvm, struct wire_parking *ret_parking)
{
	assert_ptr_equal(jvm, &f);
	f.asked++;
	if (f.told == 0)
		*ret_parking =
			(struct wire_parking){ .blocker.field = 52,
					       .yielding.klass = f.heap_is_read ? 0x7000 : 0 };
	return f.told;
}

int capture_set_parking(struct capture *capture, uint32_t tgid, const struct wire_parking *parking)
{
	assert_ptr_equal(capture, &f);
	assert_int_equal(tgid, PID);
	if (f.set < 0)
		return f.set;
	f.is_set = parking != NULL;
	if (parking)
		f.parking = *parking;
	return 0;
}

int capture_set_yields_since(struct capture *capture, uint32_t tgid, uint64_t since_ns)
{
	assert_ptr_equal(capture, &f);
	assert_int_equal(tgid, PID);
	f.since_ns = since_ns;
	return 0;
}

static void begin(struct virtual_yields_wanted wanted)
{
	lock_parks_init(&f.parks, (struct capture *)&f, (struct jvm_table *)&f.parks, wanted,
			&(struct virtual_yields_unseen){ note_unseen, &f });
}

static int setup(void **state)
{
	(void)state;
	fake_begin();
	memset(&f, 0, sizeof(f));
	f.process.pid = f.other.pid = PID;
	f.is_known = true;
	f.code = -EOPNOTSUPP;
	f.heap_is_read = true;
	begin((struct virtual_yields_wanted){ .locks = true });
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	lock_parks_release(&f.parks);
	return 0;
}

static int add(struct process *process)
{
	struct err err = { 0 };
	int r = lock_parks_add(&f.parks, process, &err);

	assert_int_equal(err.code, MIN(r, 0));
	return r;
}

static void poll_after(uint64_t ns)
{
	fake_advance(ns);
	lock_parks_poll(&f.parks, clock_now_ns());
}

static void one_that_tells_at_once(void **state)
{
	(void)state;
	assert_int_equal(add(&f.process), 0);
	assert_int_equal(f.parking.blocker.field, 52);
	poll_after(NSEC_PER_SEC);
	assert_int_equal(f.asked, 1);
	assert_int_equal(add(&f.process), 1);
	assert_int_equal(f.probed, 1);
}

/* Its waits are told meanwhile; it is asked more and more seldom. */
static void one_that_starts(void **state)
{
	(void)state;
	f.is_known = false;
	assert_int_equal(add(&f.process), 0);
	assert_true(f.is_set);
	assert_int_equal(f.parking.blocker.field, 0);
	f.is_known = true;
	f.told = -EAGAIN;
	poll_after(19 * NSEC_PER_MSEC);
	assert_int_equal(f.asked, 0);
	poll_after(NSEC_PER_MSEC);
	assert_int_equal(f.asked, 1);
	poll_after(39 * NSEC_PER_MSEC);
	assert_int_equal(f.asked, 1);
	poll_after(NSEC_PER_MSEC);
	assert_int_equal(f.asked, 2);
	for (int i = 0; i < 600; i++)
		poll_after(100 * NSEC_PER_MSEC);
	assert_in_range(f.asked, 10, 16);
	f.told = 0;
	poll_after(10 * NSEC_PER_SEC);
	assert_int_equal(f.parking.blocker.field, 52);
}

static void one_that_cannot_tell(void **state)
{
	(void)state;
	f.told = -EOPNOTSUPP;
	assert_int_equal(add(&f.process), 0);
	poll_after(60 * NSEC_PER_SEC);
	assert_int_equal(f.asked, 1);
	assert_true(f.is_set);
}

static void one_without_probes(void **state)
{
	(void)state;
	/* Who has its monitors is known all the same. */
	f.probes = -ENODATA;
	assert_int_equal(add(&f.process), -ENODATA);
	assert_true(f.is_set);
	assert_int_equal(f.asked, 1);
	assert_int_equal(add(&f.process), 1);
	lock_parks_forget(&f.parks, &f.process);
	assert_false(f.is_set);
	f.probes = 0;
	f.set = -E2BIG;
	assert_int_equal(add(&f.process), -E2BIG);
	assert_int_equal(f.parks.watch.items.len, 0);
}

static void one_that_has_ended(void **state)
{
	(void)state;
	f.told = -EAGAIN;
	assert_int_equal(add(&f.process), 0);
	f.process.exited = true;
	poll_after(NSEC_PER_SEC);
	assert_int_equal(f.asked, 1);
	/* The next one has its pid by then. */
	assert_int_equal(add(&f.other), 0);
	lock_parks_forget(&f.parks, &f.process);
	assert_true(f.is_set);
	lock_parks_forget(&f.parks, &f.process);
	assert_int_equal(f.parks.watch.items.len, 1);
	lock_parks_forget(&f.parks, &f.other);
	assert_false(f.is_set);
}

/* Its first virtual thread makes the code; then it is probed, once. */
static void one_that_gets_virtual_threads(void **state)
{
	(void)state;
	f.code = -EAGAIN;
	assert_int_equal(add(&f.process), 0);
	assert_int_equal(f.code_asked, 1);
	poll_after(NSEC_PER_SEC);
	assert_int_equal(f.code_asked, 2);
	assert_int_equal(f.yields_probed, 0);
	f.code = 0;
	poll_after(NSEC_PER_SEC);
	assert_int_equal(f.yields_probed, 1);
	poll_after(60 * NSEC_PER_SEC);
	assert_int_equal(f.yields_probed, 1);
	assert_int_equal(f.unseen, 0);
}

/* -e offcpu: no thread is seen to park, but virtual ones to wait, for monitors too where the JVM lets them. */
static void waits_alone(void **state)
{
	(void)state;
	lock_parks_release(&f.parks);
	begin((struct virtual_yields_wanted){ .waits = true });
	f.code = 0;
	assert_int_equal(add(&f.process), 0);
	assert_true(f.is_set);
	assert_int_equal(f.probed, 0);
	assert_int_equal(f.yields_probed, 0);
	assert_int_equal(f.waits_probed, 1);
	assert_true(f.since_ns == clock_now_ns());
	lock_parks_forget(&f.parks, &f.process);
	assert_true(f.since_ns == 0);
	f.preempt = 0x3000;
	assert_int_equal(add(&f.other), 0);
	assert_int_equal(f.waits_probed, 2);
}

static unsigned int named;

static void count_jvm(struct jvm *jvm, const struct process *process, void *data)
{
	assert_ptr_equal(jvm, &f);
	assert_ptr_equal(process, &f.process);
	assert_ptr_equal(data, &named);
	named++;
}

static void each_that_is_seen(void **state)
{
	(void)state;
	lock_parks_release(&f.parks);
	begin((struct virtual_yields_wanted){ .waits = true });
	named = 0;
	f.code = -EAGAIN;
	assert_int_equal(add(&f.process), 0);
	virtual_yields_for_each(&f.parks.yields, count_jvm, &named);
	assert_int_equal(named, 0);
	assert_true(f.since_ns == 0);
	f.code = 0;
	poll_after(NSEC_PER_SEC);
	virtual_yields_for_each(&f.parks.yields, count_jvm, &named);
	assert_int_equal(named, 1);
	f.is_known = false;
	virtual_yields_for_each(&f.parks.yields, count_jvm, &named);
	f.is_known = true;
	f.process.exited = true;
	virtual_yields_for_each(&f.parks.yields, count_jvm, &named);
	assert_int_equal(named, 1);
}

static void waits_beside_locks(void **state)
{
	(void)state;
	lock_parks_release(&f.parks);
	begin((struct virtual_yields_wanted){ .locks = true, .waits = true });
	f.code = 0;
	f.preempt = 0x3000;
	assert_int_equal(add(&f.process), 0);
	assert_int_equal(f.probed, 1);
	assert_int_equal(f.yields_probed, 1);
	assert_int_equal(f.waits_probed, 1);
	lock_parks_forget(&f.parks, &f.process);
	/* What the first cannot be the second cannot. */
	f.yields = -EINVAL;
	assert_int_equal(add(&f.other), 0);
	assert_int_equal(f.yields_probed, 2);
	assert_int_equal(f.waits_probed, 1);
	assert_int_equal(f.unseen, 1);
}

/* Whenever that comes, what is parked for a second later is told. */
static void one_that_gets_them_late(void **state)
{
	(void)state;
	f.code = -EAGAIN;
	assert_int_equal(add(&f.process), 0);
	for (int i = 0; i < 600; i++)
		poll_after(100 * NSEC_PER_MSEC);
	assert_in_range(f.code_asked, 60, 70);
	f.code = 0;
	poll_after(NSEC_PER_SEC);
	assert_int_equal(f.yields_probed, 1);
}

static void one_that_cannot_be_probed(void **state)
{
	(void)state;
	f.code = 0;
	f.yields = -ENOENT;
	assert_int_equal(add(&f.process), 0);
	assert_int_equal(f.unseen, 0);
	f.yields = -EINVAL;
	poll_after(NSEC_PER_SEC);
	assert_int_equal(f.unseen, 1);
	poll_after(60 * NSEC_PER_SEC);
	assert_int_equal(f.unseen, 1);
	assert_int_equal(f.yields_probed, 2);
}

/* Nobody knows whose they are. */
static void one_whose_heap_is_not_read(void **state)
{
	(void)state;
	f.code = 0;
	f.heap_is_read = false;
	assert_int_equal(add(&f.process), 0);
	assert_int_equal(f.unseen, 1);
	assert_int_equal(f.yields_probed, 0);
	poll_after(60 * NSEC_PER_SEC);
	assert_int_equal(f.unseen, 1);
	lock_parks_forget(&f.parks, &f.process);
	/* The same of one that cannot be read at all. */
	f.told = -EOPNOTSUPP;
	assert_int_equal(add(&f.other), 0);
	assert_int_equal(f.unseen, 2);
	lock_parks_forget(&f.parks, &f.other);
	assert_int_equal(f.parks.yields.watch.items.len, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_tells_at_once),	  TEST(one_that_starts),
		TEST(one_that_cannot_tell),	  TEST(one_without_probes),
		TEST(one_that_has_ended),	  TEST(one_that_gets_virtual_threads),
		TEST(one_whose_heap_is_not_read), TEST(one_that_cannot_be_probed),
		TEST(one_that_gets_them_late),	  TEST(waits_alone),
		TEST(each_that_is_seen),	  TEST(waits_beside_locks),
	};

	return cmocka_run_group_tests_name("lock_parks", tests, NULL, NULL);
}
