/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the host's threads has a lock, where the JVM's pid namespace has numbers of its own; how long is looked for it. */
#include "test.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "fake_clock.h"
#include "jvm/jvm_private.h"
#include "jvm/shown/lock_owner_find.h"

#define THREADS 8
#define AHEAD	1000000 /* by which the host's numbers are, of the namespace's */
#define READ_MS 2	/* to read the status of a thread takes */

static struct jvm jvm;
static unsigned int reads;
static uint64_t read_ns;
static pthread_t threads[THREADS];
static uint32_t tids[THREADS];
static pthread_barrier_t begun, end;

/* --- the JVM's ----------------------------------------------------------------------------- */

bool jvm_has_layout(struct jvm *of)
{
	return of == &jvm;
}

void jvm_learn_tids(struct jvm *of)
{
	of->knows_same_tids = true;
}

uint32_t jvm_ns_tid(struct jvm *of, uint32_t tid)
{
	assert_ptr_equal(of, &jvm);
	reads++;
	fake_advance(read_ns);
	return tid + AHEAD;
}

static int found_r;
static uint32_t found_tid;
static uint64_t looked_for;

static int find(uint64_t value, struct lock_owner_found *ret_found)
{
	looked_for = value;
	ret_found->tid = found_tid;
	ret_found->is_virtual = false;
	return found_r;
}

int lock_owner_find_place(const struct vmstructs *vs, uint64_t place, uint64_t deadline_ns,
			  struct lock_owner_found *ret_found)
{
	(void)vs;
	(void)deadline_ns;
	return find(place, ret_found);
}

int lock_owner_find_number(const struct vmstructs *vs, uint64_t number, uint64_t deadline_ns,
			   struct lock_owner_found *ret_found)
{
	(void)vs;
	(void)deadline_ns;
	return find(number, ret_found);
}

int lock_owner_find_anonymous(const struct vmstructs *vs, uint64_t monitor, uint64_t deadline_ns,
			      struct lock_owner_found *ret_found)
{
	(void)vs;
	(void)deadline_ns;
	return find(monitor, ret_found);
}

/* --- its threads --------------------------------------------------------------------------- */

static void *stay(void *data)
{
	*(uint32_t *)data = (uint32_t)gettid();
	pthread_barrier_wait(&begun);
	pthread_barrier_wait(&end);
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	fake_begin();
	reads = 0;
	read_ns = 0;
	memset(&jvm, 0, sizeof(jvm));
	jvm.pid = (uint32_t)getpid();
	pthread_barrier_init(&begun, NULL, THREADS + 1);
	pthread_barrier_init(&end, NULL, THREADS + 1);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, stay, &tids[i]);
	pthread_barrier_wait(&begun);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	pthread_barrier_wait(&end);
	for (unsigned int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&begun);
	pthread_barrier_destroy(&end);
	return 0;
}

/* --- tests --------------------------------------------------------------------------------- */

static uint64_t owner_of(uint32_t ns_tid)
{
	return jvm_find_owner(&jvm, WIRE_OWNER(TID, ns_tid));
}

static uint64_t anonymous_owner(int r, uint32_t ns_tid)
{
	const struct wire_lock_begin begin = { .monitor = 0x1000 };

	found_r = r;
	found_tid = ns_tid;
	return jvm_find_anonymous_owner(&jvm, &begin);
}

/* Of the JavaThread at 0x2000. */
static uint64_t owner_at_place(int r, uint32_t ns_tid)
{
	found_r = r;
	found_tid = ns_tid;
	return jvm_find_owner(&jvm, WIRE_OWNER(PLACE, 0x2000));
}

static void the_namespace_has_its_own(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < THREADS; i++) {
		assert_int_equal(owner_of(tids[i] + AHEAD), WIRE_OWNER(TID, tids[i]));
		assert_int_equal(anonymous_owner(0, tids[i] + AHEAD), WIRE_OWNER(TID, tids[i]));
		assert_int_equal(looked_for, 0x1000);
		assert_int_equal(owner_at_place(0, tids[i] + AHEAD), WIRE_OWNER(TID, tids[i]));
		assert_int_equal(looked_for, 0x2000);
	}
	assert_int_equal(owner_of(tids[0]), 0);
	assert_int_equal(anonymous_owner(-ESTALE, tids[0] + AHEAD), 0);
	assert_int_equal(anonymous_owner(0, 0), 0);
	assert_int_equal(owner_at_place(-ESRCH, tids[0] + AHEAD), 0);
}

static void one_namespace(void **state)
{
	(void)state;
	jvm.same_tids = true;
	assert_int_equal(owner_of(tids[3]), WIRE_OWNER(TID, tids[3]));
	assert_int_equal(reads, 0);
}

/* Threads of which there is no end are not all looked at. */
/* It is known to be one: nobody is looked for. */
static void a_virtual_one(void **state)
{
	(void)state;
	looked_for = 0;
	assert_true(jvm_find_owner(&jvm, WIRE_OWNER(VIRTUAL, 77)) == WIRE_OWNER(NUMBER, 77));
	assert_int_equal(looked_for, 0);
}

static void not_for_ever(void **state)
{
	(void)state;
	read_ns = READ_MS * NSEC_PER_MSEC;
	assert_int_equal(owner_of(1), 0);
	assert_int_equal(reads, 3);
	reads = 0;
	fake_advance(NSEC_PER_SEC);
	assert_int_equal(anonymous_owner(0, 1), 0);
	assert_int_equal(reads, 3);
}

/* To look for a thread takes of the JVM's time, for whichever owner. */
static void of_its_time(void **state)
{
	(void)state;
	read_ns = READ_MS * NSEC_PER_MSEC;
	for (unsigned int i = 0; i < 10; i++)
		anonymous_owner(0, 1);
	assert_in_range(reads, 1, 6);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_namespace_has_its_own),
		TEST(one_namespace),
		TEST(a_virtual_one),
		TEST(not_for_ever),
		TEST(of_its_time),
	};

	return cmocka_run_group_tests_name("jvm_owners", tests, NULL, NULL);
}
