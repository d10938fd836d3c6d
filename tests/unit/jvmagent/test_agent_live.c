/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects are alive: the agent's table, its collections and its reports. */
#include "test.h"

#include "agent_records.h"

#define OBJECTS 400000

static struct fake_object objects[OBJECTS];
static uint64_t ids[OBJECTS];

/* An agent that follows objects, and its reader. */
static struct agent *following(struct records *r)
{
	struct agent *a = fake_agent();

	memset(objects, 0, sizeof(objects));
	records_open(r, a);
	live_begin(a);
	agent_switch_events(a, CODEMAP_WANT_LIVE);
	return a;
}

static void stop_following(struct agent *a, struct records *r)
{
	agent_switch_events(a, 0);
	assert_int_equal(fake_heap.weak, 0);
	assert_false(fake.on[JVMTI_EVENT_GARBAGE_COLLECTION_FINISH]);
	records_close(r);
	fake_drop(a);
}

static uint64_t track(struct agent *a, unsigned int object)
{
	ids[object] = live_track(a, &fake_jni, (void *)&objects[object]);
	return ids[object];
}

/* A young collection that the control thread hears of. */
static void collect(struct agent *a)
{
	fake_collection(true);
	live_watch(a);
}

struct report {
	unsigned int count;
	uint32_t level;
	uint64_t ids[LIVE_SLOTS];
	uint32_t ages[LIVE_SLOTS];
	unsigned int gone, ends;
	bool told[2 * OBJECTS]; /* by id */
};

/* Objects are read out of the ring, where they still are. */
static void keep_objects(const struct codemap_event *event, void *data)
{
	struct report *report = data;

	if (event->kind == CODEMAP_GONE)
		report->gone += event->objects.count;
	if (event->kind == CODEMAP_LIVE_END)
		report->ends++;
	if (event->kind != CODEMAP_LIVE && event->kind != CODEMAP_LIVE_END)
		return;
	assert_int_equal(event->objects.seq, 7);
	report->level = event->objects.level;
	for (uint32_t i = 0; event->kind == CODEMAP_LIVE && i < event->objects.count; i++) {
		assert_true(report->count < LIVE_SLOTS);
		assert_true(event->objects.items[i].id < 2 * OBJECTS);
		report->told[event->objects.items[i].id] = true;
		report->ages[report->count] = event->objects.items[i].age;
		report->ids[report->count++] = event->objects.items[i].id;
	}
}

static const struct report *drain(struct records *r)
{
	static _Alignas(8) char buffer[CODEMAP_READ_BYTES];
	static struct report report;

	memset(&report, 0, sizeof(report));
	assert_int_equal(codemap_reader_drain(&r->reader, buffer, NULL, keep_objects, &report), 0);
	return &report;
}

static const struct report *ask(struct agent *a, struct records *r, bool full)
{
	const struct report *report;

	drain(r);
	report_live(a, 7, full);
	report = drain(r);
	assert_int_equal(report->ends, 1);
	return report;
}

static bool has(const struct report *report, uint64_t id)
{
	return id && report->told[id];
}

static void what_lives_is_told_and_what_died_is_not(void **state)
{
	const struct report *report;
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(track(a, i), i + 1);
	for (unsigned int i = 0; i < 1000; i++)
		objects[i].dead = i % 10;
	collect(a);
	report = ask(a, &r, false);
	assert_int_equal(report->count, 100);
	assert_int_equal(report->level, 0);
	assert_int_equal(report->gone, 900);
	for (unsigned int i = 0; i < 1000; i++)
		assert_int_equal(has(report, ids[i]), !objects[i].dead);
	assert_int_equal(fake_heap.weak, 100 + 1); /* the dead ones were given back */
	assert_int_equal(ask(a, &r, false)->count, 100);
	stop_following(a, &r);
}

static void what_no_collection_has_looked_at_is_not_told(void **state)
{
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	track(a, 0);
	assert_int_equal(ask(a, &r, false)->count, 0);
	/* One that marks and looks at no young object. */
	fake_collection(false);
	live_watch(a);
	assert_int_equal(ask(a, &r, false)->count, 0);
	track(a, 1);
	collect(a);
	track(a, 2);
	/* Nobody knows whether the second was there when the canary was made. */
	assert_int_equal(ask(a, &r, false)->count, 1);
	assert_true(has(ask(a, &r, false), ids[0]));
	collect(a);
	assert_int_equal(ask(a, &r, false)->count, 3);
	stop_following(a, &r);
}

/* The control thread may come late: two collections, of which only the first one was before the object. */
static void a_late_look_makes_nothing_older(void **state)
{
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	track(a, 0);
	fake_collection(true);
	track(a, 1);
	live_watch(a);
	assert_int_equal(ask(a, &r, false)->count, 1);
	assert_true(has(ask(a, &r, false), ids[0]));
	stop_following(a, &r);
}

static void ages_are_collections(void **state)
{
	const struct report *report;
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		track(a, i);
		collect(a);
	}
	report = ask(a, &r, false);
	assert_int_equal(report->count, 5);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(report->ages[i], 5 - i);
	fake_collection(false); /* it looks at nothing */
	live_watch(a);
	assert_int_equal(ask(a, &r, false)->ages[0], 5);
	stop_following(a, &r);
}

static void a_full_collection_looks_at_all(void **state)
{
	const struct report *report;
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	track(a, 0);
	fake_collection(false);
	live_watch(a);
	track(a, 1);
	report = ask(a, &r, true);
	assert_int_equal(fake_heap.forced, 1);
	assert_int_equal(report->count, 2);
	assert_int_equal(report->ages[1], 1);
	fake_heap.no_collection = true;
	track(a, 2);
	assert_int_equal(ask(a, &r, true)->count, 2);
	assert_int_equal(fake_heap.forced, 2);
	stop_following(a, &r);
}

static void the_dead_go_before_the_living(void **state)
{
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	for (unsigned int i = 0; i < LIVE_CROWDED; i++) {
		track(a, i);
		objects[i].dead = i % 2;
	}
	fake_heap.looks = 0;
	collect(a);
	assert_int_equal(fake_heap.looks, 1); /* the canary */
	track(a, LIVE_CROWDED);
	live_watch(a);
	assert_int_equal(fake_heap.looks, 1); /* no collection since */
	collect(a);
	assert_int_equal(fake_heap.weak, LIVE_CROWDED / 2 + 1 + 1);
	assert_int_equal(a->live.level, 0);
	assert_int_equal(drain(&r)->gone, LIVE_CROWDED / 2);
	stop_following(a, &r);
}

/* So many live that they are thinned before the table is full. */
static void the_living_are_thinned(void **state)
{
	const struct report *report;
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	for (unsigned int i = 0; i <= LIVE_CROWDED; i++)
		track(a, i);
	collect(a);
	report = ask(a, &r, false);
	assert_int_equal(report->level, 1);
	assert_true(report->count > LIVE_CROWDED * 45 / 100 &&
		    report->count < LIVE_CROWDED * 55 / 100);
	assert_int_equal(fake_heap.weak, report->count + 1);
	for (unsigned int i = 0; i < report->count; i++)
		assert_true(codemap_live_keeps(report->ids[i], 1));
	/* The next ones are chosen as the old ones were. */
	for (unsigned int i = 0; i < 1000; i++) {
		uint64_t id = track(a, i);

		assert_int_equal(id, codemap_live_keeps(a->live.next_id, 1) ? a->live.next_id : 0);
	}
	stop_following(a, &r);
}

/* No collection comes, and the control thread sleeps: there is room all the same. */
static void a_full_table_takes_on(void **state)
{
	struct records r;
	struct agent *a = following(&r);
	const struct report *report;

	(void)state;
	for (unsigned int i = 0; i < OBJECTS; i++)
		track(a, i);
	assert_true(fake_heap.weak <= LIVE_SLOTS + 1);
	collect(a);
	report = ask(a, &r, false);
	assert_true(report->level >= 6 && report->level <= 7);
	for (unsigned int i = 0; i < report->count; i++)
		assert_true(codemap_live_keeps(report->ids[i], report->level));
	/* All that the level keeps are there. */
	for (unsigned int i = 0; i < OBJECTS; i++)
		assert_int_equal(ids[i] && codemap_live_keeps(ids[i], report->level),
				 has(report, ids[i]));
	stop_following(a, &r);
}

/*
 * Weights stay right: of 400,000 objects whose parts live for different times, what is told times 2^level is
 * what is alive, within 4 sigma, in each part.
 */
static void thinning_is_unbiased(void **state)
{
	unsigned int alive[3] = { 0 }, told[3] = { 0 };
	const struct report *report;
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	for (unsigned int i = 0; i < OBJECTS; i++) {
		track(a, i);
		/* A third dies at once, another at the age of 20,000, the last lives on. */
		objects[i].dead = i % 3 == 0;
		if (i >= 20000)
			objects[i - 20000].dead |= i % 3 == 0;
		if (i % 5000 == 4999)
			collect(a);
	}
	collect(a);
	report = ask(a, &r, false);
	assert_true(report->level > 0);
	for (unsigned int i = 0; i < OBJECTS; i++)
		alive[i % 3] += !objects[i].dead;
	for (unsigned int i = 0; i < OBJECTS; i++)
		if (ids[i] && has(report, ids[i]))
			told[i % 3]++;
	assert_int_equal(told[0], 0);
	for (unsigned int part = 1; part < 3; part++) {
		double stands = (double)(1U << report->level), n = alive[part] / stands;

		print_message("part %u: %u alive, %u told of level %u\n", part, alive[part],
			      told[part], report->level);
		assert_true((told[part] - n) * (told[part] - n) < 16 * n);
	}
	stop_following(a, &r);
}

/* While an object is looked at, others get its neighbours' slots, and never its own. */
static struct agent *busy_agent;
static unsigned int next_object;

static void allocate_meanwhile(void)
{
	fake_heap.looking = NULL;
	for (unsigned int i = 0; i < 3; i++)
		track(busy_agent, next_object++);
	fake_heap.looking = allocate_meanwhile;
}

static void others_allocate_while_it_looks(void **state)
{
	const struct report *report;
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	busy_agent = a;
	for (next_object = 0; next_object < LIVE_SLOTS; next_object++) {
		track(a, next_object);
		objects[next_object].dead = next_object % 4;
	}
	fake_heap.looking = allocate_meanwhile;
	collect(a);
	fake_heap.looking = NULL;
	assert_true(next_object > LIVE_SLOTS + 1000);
	collect(a);
	report = ask(a, &r, false);
	for (unsigned int i = 0; i < next_object; i++)
		assert_int_equal(has(report, ids[i]),
				 ids[i] && !objects[i].dead &&
					 codemap_live_keeps(ids[i], report->level));
	stop_following(a, &r);
}

static void nothing_is_taken_after_the_end(void **state)
{
	struct records r;
	struct agent *a = following(&r);
	struct live_slot late = { .id = 5, .object = NULL };
	jweak old;

	(void)state;
	track(a, 0);
	live_end(a);
	assert_int_equal(fake_heap.weak, 0);
	assert_false(enter(&a->live, &late, &old));
	assert_int_equal(track(a, 1), 0);
	assert_int_equal(fake_heap.weak, 0);
	/* Ids go on where they were. */
	live_begin(a);
	assert_int_equal(track(a, 2), 2);
	agent_switch_events(a, 0); /* in another activation, too */
	live_close(&a->live);
	assert_int_equal(live_open(&a->live), 0);
	live_begin(a);
	assert_int_equal(track(a, 3), 3);
	stop_following(a, &r);
}

static void without_memory_an_object_is_not_followed(void **state)
{
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	fake_heap.no_weak = true;
	assert_int_equal(track(a, 0), 0);
	fake_heap.no_weak = false;
	fake.fails = FAKE_NO_STRING;
	assert_int_not_equal(track(a, 1), 0);
	/* No canary: nothing is known, until there is one again. */
	collect(a);
	collect(a);
	fake.fails = FAKE_NO_FAILURE;
	live_watch(a);
	collect(a);
	collect(a);
	assert_int_equal(ask(a, &r, false)->count, 1);
	stop_following(a, &r);
}

static void commands_and_leases(void **state)
{
	struct agent *a = fake_agent();
	struct codemap_header *h = a->ring.header;
	struct records r;

	(void)state;
	records_open(&r, a);
	h->command = CODEMAP_COMMAND_START;
	h->want = CODEMAP_WANT_LIVE;
	carry_out(a, 1);
	assert_true(fake.on[JVMTI_EVENT_GARBAGE_COLLECTION_FINISH]);
	assert_int_equal(track(a, 0), 1);
	carry_out(a, 2); /* a replay meanwhile begins nothing anew */
	collect(a);
	drain(&r);
	h->command = CODEMAP_COMMAND_LIVE;
	carry_out(a, 7);
	assert_int_equal(drain(&r)->count, 1);
	assert_int_equal(fake_heap.forced, 0);
	assert_int_equal(h->done_seq, 7);
	h->command = CODEMAP_COMMAND_LIVE_COLLECT;
	carry_out(a, 7);
	assert_int_equal(drain(&r)->count, 1);
	assert_int_equal(fake_heap.forced, 1);
	assert_true(fake.on[JVMTI_EVENT_GARBAGE_COLLECTION_FINISH]);
	h->lease_until_ns = 0;
	watch_lease(a);
	assert_false(fake.on[JVMTI_EVENT_GARBAGE_COLLECTION_FINISH]);
	assert_int_equal(fake_heap.weak, 0);
	/* Whoever asks then hears nothing. */
	h->command = CODEMAP_COMMAND_LIVE;
	carry_out(a, 8);
	assert_int_equal(drain(&r)->ends, 0);
	records_close(&r);
	fake_drop(a);
}

/* Without room in the ring a report ends without an end. */
static void a_report_that_does_not_fit_is_not_whole(void **state)
{
	struct records r;
	struct agent *a = following(&r);

	(void)state;
	track(a, 0);
	collect(a);
	a->ring.header->tail = 0;
	a->ring.head = CODEMAP_RING_BYTES - 64;
	report_live(a, 7, false);
	assert_int_equal(a->ring.head, CODEMAP_RING_BYTES - 64);
	a->ring.header->lease_until_ns = 0;
	stop_following(a, &r);
}

static void it_fits_its_memory(void **state)
{
	struct agent *a = fake_agent();

	(void)state;
	assert_true(a->ring.header->agent_bytes >= live_bytes());
	assert_true(a->ring.header->agent_bytes <= 7U << 20);
	fake_drop(a);
	fake_reset();
	fake.refused.can_generate_garbage_collection_events = 1;
	agent.vm = &fake_vm;
	assert_int_equal(open_memory(&agent), AGENT_OK);
	assert_int_equal(open_jvmti(&agent), AGENT_OK);
	assert_int_equal(agent.can & CODEMAP_WANT_LIVE, 0);
	assert_true(agent.ring.header->cannot & CODEMAP_WANT_LIVE);
	fake_drop(&agent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_lives_is_told_and_what_died_is_not),
		cmocka_unit_test(what_no_collection_has_looked_at_is_not_told),
		cmocka_unit_test(a_late_look_makes_nothing_older),
		cmocka_unit_test(ages_are_collections),
		cmocka_unit_test(a_full_collection_looks_at_all),
		cmocka_unit_test(the_dead_go_before_the_living),
		cmocka_unit_test(the_living_are_thinned),
		cmocka_unit_test(a_full_table_takes_on),
		cmocka_unit_test(thinning_is_unbiased),
		cmocka_unit_test(others_allocate_while_it_looks),
		cmocka_unit_test(nothing_is_taken_after_the_end),
		cmocka_unit_test(without_memory_an_object_is_not_followed),
		cmocka_unit_test(commands_and_leases),
		cmocka_unit_test(a_report_that_does_not_fit_is_not_whole),
		cmocka_unit_test(it_fits_its_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
