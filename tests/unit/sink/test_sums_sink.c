// SPDX-License-Identifier: Apache-2.0
/* Sums of events, over flushes, chunks and the end of a run. */
#include "test.h"

#include "profile_fixture.h"
#include "sink/sums_sink.h"

static void add(struct profile *p, uint32_t event, uint64_t weight, uint64_t count,
		uint64_t objects)
{
	profile_add(p,
		    &(struct profile_sample){
			    .event = event, .weight = weight, .count = count, .objects = objects });
}

static void expect_row(const struct event_sums *sums, size_t i, const char *name, const char *unit,
		       struct event_sum wanted)
{
	const struct event_sums_row *row = &sums->rows.items[i];

	assert_string_equal(row->name, name);
	assert_string_equal(row->unit, unit);
	assert_int_equal(row->sum.samples, wanted.samples);
	assert_int_equal(row->sum.weight, wanted.weight);
	assert_int_equal(row->sum.objects, wanted.objects);
}

/* The second chunk has its events in another order. */
static void sums_of_a_run(void **state)
{
	struct event_sums sums = { 0 };
	struct sink sink = sums_sink(&sums);
	const struct sink_sums none = { 0 };
	uint32_t cpu, alloc;
	struct err err;
	struct profile p;

	(void)state;
	profile_init(&p);
	cpu = fixture_event(&p, "cpu", "nanoseconds", 10);
	alloc = fixture_event(&p, "alloc", "bytes", 0);
	add(&p, cpu, 10, 1, 0);
	add(&p, alloc, 500, 2, 7);
	assert_int_equal(sink.ops->flush(sink.self, &p, &err), 0);
	profile_clear_samples(&p);
	add(&p, alloc, 1000, 1, 1);
	assert_int_equal(sink.ops->rotate(sink.self, &p, &err), 0);
	profile_release(&p);
	profile_init(&p);
	alloc = fixture_event(&p, "alloc", "bytes", 0);
	cpu = fixture_event(&p, "cpu", "nanoseconds", 10);
	add(&p, cpu, 30, 3, 0);
	add(&p, alloc, 1, 1, 1);
	assert_int_equal(sink.ops->end(sink.self, &p, &none, &err), 0);
	profile_release(&p);
	assert_int_equal(sums.rows.len, 2);
	expect_row(&sums, 0, "cpu", "nanoseconds", (struct event_sum){ 4, 40, 0 });
	expect_row(&sums, 1, "alloc", "bytes", (struct event_sum){ 4, 1501, 9 });
	event_sums_release(&sums);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(sums_of_a_run) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
