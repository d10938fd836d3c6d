// SPDX-License-Identifier: Apache-2.0
/* Waits in a recording: with all that is known of them, and as views have them. */
#include "waits_fixture.h"

static void all_is_there(void **state)
{
	const struct profile_sample *sample;
	struct profile p;

	(void)state;
	add(8000, 400, 4, STATE_BLOCKED, "file I/O");
	read_back(&p, false);
	assert_int_equal(p.samples.len, 1);
	sample = &p.samples.items[0];
	assert_int_equal(sample->time_ns, START_NS + 5);
	assert_int_equal(sample->weight, 8000);
	assert_int_equal(sample->queued, 400);
	assert_int_equal(sample->chance, 4);
	assert_int_equal(sample->count, 1);
	assert_int_equal(sample->state, STATE_BLOCKED);
	assert_string_equal(text(&p, sample->reason), "file I/O");
	assert_string_equal(text(&p, profile_get_event(&p, sample->event)->unit), "nanoseconds");
	assert_int_equal(profile_get_thread(&p, sample->thread)->tid, 8);
	assert_int_equal(profile_get_stack(&p, sample->stack).len, 1);
	profile_release(&p);
}

static void states_are_kept(void **state)
{
	static const uint32_t states[] = { STATE_SLEEPING,	STATE_BLOCKED, STATE_QUEUED,
					   STATE_STOPPED,	STATE_UNKNOWN, STATE_RUNNING_USER,
					   STATE_RUNNING_KERNEL };
	struct profile p;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		add(1000, 0, 1, states[i], "sleep");
	read_back(&p, false);
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		assert_int_equal(p.samples.items[i].state, states[i]);
	profile_release(&p);
}

/* The reason is the leaf; what was queued is apart, and the sum is what it was. */
static void as_views_have_it(void **state)
{
	const struct profile_sample *sample;
	struct profile p;

	(void)state;
	add(8000, 400, 4, STATE_SLEEPING, "socket read");
	add(1000, 0, 1, STATE_SLEEPING, "socket read");
	add(500, 500, 1, STATE_QUEUED, "run queue");
	add(30, 0, 1, STATE_SLEEPING, "poll");
	read_back(&p, true);
	/* With [poll] and [run queue], whose two are merged. */
	assert_int_equal(p.samples.len, 3);
	sample = find(&p, "[socket read]");
	assert_non_null(sample);
	assert_int_equal(sample->weight, 7600 + 1000);
	assert_int_equal(sample->count, 2);
	assert_int_equal(sample->state, STATE_SLEEPING);
	assert_int_equal(profile_get_stack(&p, sample->stack).len, 2);
	sample = find(&p, "[poll]");
	assert_non_null(sample);
	assert_int_equal(sample->weight, 30);
	assert_int_equal(sample->count, 1);
	profile_release(&p);
}

/* Of one that was woken and of one that was preempted: they are of one kind. */
static void run_queue_is_one_reason(void **state)
{
	uint64_t weight = 0, count = 0;
	struct profile p;

	(void)state;
	add(8000, 400, 4, STATE_SLEEPING, "socket read");
	add(500, 500, 1, STATE_QUEUED, "run queue");
	read_back(&p, true);
	for (size_t i = 0; i < p.samples.len; i++) {
		const struct profile_sample *sample = &p.samples.items[i];

		if (sample->stack != find(&p, "[run queue]")->stack)
			continue;
		weight += sample->weight;
		count += sample->count;
		assert_int_equal(sample->state, STATE_QUEUED);
	}
	assert_int_equal(weight, 900);
	/* The first one's wait is counted with its reason. */
	assert_int_equal(count, 1);
	profile_release(&p);
}

/* --- wall --- */

static void wall_event(void)
{
	event = profile_event(
		&written, &(struct profile_event){ .name = profile_string(&written, "wall"),
						   .unit = profile_string(&written, "nanoseconds"),
						   .period = 1000 });
}

/* What runs has no reason; weights are no multiples of a length. */
static void wall_is_kept(void **state)
{
	const struct profile_sample *sample;
	struct profile p;

	(void)state;
	wall_event();
	add(1003, 0, 0, STATE_RUNNING_USER, "");
	add(8005, 400, 4, STATE_SLEEPING, "poll");
	read_back(&p, false);
	assert_int_equal(p.samples.len, 2);
	sample = &p.samples.items[0];
	assert_int_equal(sample->weight, 1003);
	assert_int_equal(sample->state, STATE_RUNNING_USER);
	assert_int_equal(sample->reason, 0);
	assert_int_equal(sample->chance, 0);
	assert_string_equal(text(&p, profile_get_event(&p, sample->event)->name), "wall");
	assert_string_equal(text(&p, profile_get_event(&p, sample->event)->unit), "nanoseconds");
	sample = &p.samples.items[1];
	assert_int_equal(sample->weight, 8005);
	assert_int_equal(sample->queued, 400);
	assert_int_equal(sample->chance, 4);
	assert_int_equal(sample->state, STATE_SLEEPING);
	assert_string_equal(text(&p, sample->reason), "poll");
	profile_release(&p);
}

/* The leaf of a wait is its reason; the sum is what it was. */
static void wall_as_views_have_it(void **state)
{
	struct profile p;
	uint64_t sum = 0;

	(void)state;
	wall_event();
	add(1003, 0, 0, STATE_RUNNING_USER, "");
	add(8005, 400, 4, STATE_SLEEPING, "poll");
	read_back(&p, true);
	assert_int_equal(p.samples.len, 3);
	assert_int_equal(find(&p, "recv")->weight, 1003);
	assert_int_equal(find(&p, "[poll]")->weight, 7605);
	assert_int_equal(find(&p, "[run queue]")->weight, 400);
	for (size_t i = 0; i < p.samples.len; i++)
		sum += p.samples.items[i].weight;
	assert_int_equal(sum, 9008);
	profile_release(&p);
}

/* --- locks --- */

static void begin_locks(void)
{
	event = profile_event(&written, &(struct profile_event){
						.name = profile_string(&written, "lock"),
						.unit = profile_string(&written, "nanoseconds") });
}

static void add_lock(const char *class_name, uint64_t length, uint32_t chance, const char *reason)
{
	uint32_t plain = stack;

	stack = stack_of_class(class_name);
	add(length * chance, 0, chance, STATE_SLEEPING, reason);
	written.samples.items[written.samples.len - 1].identity = (uint32_t)length;
	stack = plain;
}

static void locks_are_there(void **state)
{
	static const char *const reasons[] = { "monitor enter", "Object.wait", "park" };
	struct profile p;

	(void)state;
	begin_locks();
	for (uint32_t i = 0; i < 3; i++)
		add_lock("a.Lock", 3000 + i, 1 + i, reasons[i]);
	read_back(&p, false);
	assert_int_equal(p.samples.len, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct profile_sample *sample = &p.samples.items[i];
		struct profile_stack frames = profile_get_stack(&p, sample->stack);

		/* The time is that of the end. */
		assert_int_equal(sample->time_ns, START_NS + 5);
		assert_int_equal(sample->weight, (3000 + i) * (1 + i));
		assert_int_equal(sample->chance, 1 + i);
		/* Of a park an eighth of an address. */
		assert_int_equal(sample->identity, 3000 + i);
		assert_int_equal(sample->state, STATE_SLEEPING);
		assert_string_equal(text(&p, sample->reason), reasons[i]);
		assert_string_equal(text(&p, profile_get_event(&p, sample->event)->name), "lock");
		assert_int_equal(profile_get_thread(&p, sample->thread)->tid, 8);
		assert_int_equal(frames.len, 2);
		assert_string_equal(text(&p, profile_get_frame(&p, frames.frames[0])->class_name),
				    "a.Lock");
	}
	profile_release(&p);
}

/* The class is the leaf; what differs in its reason alone is one. */
static void locks_as_views_have_them(void **state)
{
	struct profile p;

	(void)state;
	begin_locks();
	add_lock("a.Lock", 3000, 2, "monitor enter");
	add_lock("a.Lock", 500, 1, "Object.wait");
	add_lock("b.Lock", 70, 1, "monitor enter");
	read_back(&p, true);
	assert_int_equal(p.samples.len, 2);
	assert_int_equal(p.samples.items[0].weight, 6500);
	assert_int_equal(p.samples.items[0].count, 2);
	assert_int_equal(p.samples.items[0].chance, 0);
	assert_int_equal(p.samples.items[1].weight, 70);
	profile_release(&p);
}

static uint32_t owner_of(const char *name, uint32_t tid)
{
	const struct profile_thread owner = { .process = profile_get_thread(&written, 0)->process,
					      .tid = tid,
					      .name = profile_string(&written, name),
					      .java_tid = 40 + tid };

	return 1 + profile_thread(&written, &owner);
}

/* Of two that were enters, of one that was a park; of one nobody knows. */
static void add_owned_locks(void)
{
	static const char *const reasons[] = { "monitor enter", "monitor enter", "park", "park" };
	const uint32_t owners[] = { owner_of("first", 11), owner_of("second", 12),
				    owner_of("first", 11), 0 };

	begin_locks();
	for (uint32_t i = 0; i < ARRAY_SIZE(owners); i++) {
		add_lock("a.Lock", 3000 + i, 1, reasons[i]);
		written.samples.items[written.samples.len - 1].owner = owners[i];
	}
}

static void owners_are_there(void **state)
{
	static const char *const names[] = { "first", "second", "first" };
	struct profile p;

	(void)state;
	add_owned_locks();
	read_back(&p, false);
	assert_int_equal(p.samples.len, 4);
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct profile_thread *owner =
			profile_get_thread(&p, p.samples.items[i].owner - 1);

		assert_string_equal(text(&p, owner->name), names[i]);
		assert_int_equal(owner->java_tid, 40 + owner->tid);
		assert_int_equal(p.samples.items[i].identity, 3000 + i);
	}
	assert_int_equal(p.samples.items[3].owner, 0);
	profile_release(&p);
}

static void owners_as_views_have_them(void **state)
{
	static const char *const leaves[] = { "[held by first]", "[held by second]", "" };
	static const uint64_t weights[] = { 6002, 3001, 3003 };
	struct profile p;

	(void)state;
	add_owned_locks();
	read_back(&p, true);
	assert_int_equal(p.samples.len, 1);
	profile_release(&p);
	begin(state);
	add_owned_locks();
	read_back_as(&p, &(struct recording_read_options){ .merge = true, .lock_owners = true });
	assert_int_equal(p.samples.len, 3);
	for (uint32_t i = 0; i < ARRAY_SIZE(leaves); i++) {
		struct profile_stack frames = profile_get_stack(&p, p.samples.items[i].stack);

		assert_string_equal(text(&p, profile_get_frame(&p, frames.frames[0])->name),
				    leaves[i]);
		assert_int_equal(frames.len, *leaves[i] ? 3 : 2);
		assert_int_equal(p.samples.items[i].weight, weights[i]);
		assert_int_equal(p.samples.items[i].owner, 0);
	}
	profile_release(&p);
}

/* --- safepoints --- */

static void begin_safepoints(void)
{
	event = profile_event(&written, &(struct profile_event){
						.name = profile_string(&written, "safepoint"),
						.unit = profile_string(&written, "nanoseconds") });
}

static void safepoints_are_there(void **state)
{
	static const char *const reasons[] = { "reaching safepoint", "GC: ZMarkStart", "Cleanup",
					       "safepoint", "leaving safepoint" };
	struct profile p;

	(void)state;
	begin_safepoints();
	for (uint32_t i = 0; i < 5; i++)
		add(2 + i, 0, 0, STATE_RUNNING_USER, reasons[i]);
	read_back(&p, false);
	assert_int_equal(p.samples.len, 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct profile_sample *sample = &p.samples.items[i];

		/* The time is that of the end. */
		assert_int_equal(sample->time_ns, START_NS + 5);
		assert_int_equal(sample->weight, 2 + i);
		assert_int_equal(sample->count, 1);
		assert_int_equal(sample->queued, 0);
		assert_int_equal(sample->state, STATE_RUNNING_USER);
		assert_string_equal(text(&p, sample->reason), reasons[i]);
		assert_string_equal(text(&p, profile_get_event(&p, sample->event)->name),
				    "safepoint");
		assert_int_equal(profile_get_thread(&p, sample->thread)->tid, 8);
		assert_int_equal(profile_get_stack(&p, sample->stack).len, 1);
	}
	profile_release(&p);
}

static void safepoints_as_views_have_them(void **state)
{
	struct profile p;

	(void)state;
	begin_safepoints();
	add(30, 0, 0, STATE_RUNNING_USER, "reaching safepoint");
	add(4000, 0, 0, STATE_RUNNING_USER, "GC: ZMarkStart");
	add(500, 0, 0, STATE_RUNNING_USER, "GC: ZMarkStart");
	read_back(&p, true);
	assert_int_equal(p.samples.len, 2);
	assert_int_equal(find(&p, "[reaching safepoint]")->weight, 30);
	assert_int_equal(find(&p, "[GC: ZMarkStart]")->weight, 4500);
	assert_int_equal(find(&p, "[GC: ZMarkStart]")->count, 2);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(all_is_there, begin),
		cmocka_unit_test_setup(states_are_kept, begin),
		cmocka_unit_test_setup(as_views_have_it, begin),
		cmocka_unit_test_setup(run_queue_is_one_reason, begin),
		cmocka_unit_test_setup(wall_is_kept, begin),
		cmocka_unit_test_setup(wall_as_views_have_it, begin),
		cmocka_unit_test_setup(locks_are_there, begin),
		cmocka_unit_test_setup(locks_as_views_have_them, begin),
		cmocka_unit_test_setup(owners_are_there, begin),
		cmocka_unit_test_setup(owners_as_views_have_them, begin),
		cmocka_unit_test_setup(safepoints_are_there, begin),
		cmocka_unit_test_setup(safepoints_as_views_have_them, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
