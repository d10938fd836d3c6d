// SPDX-License-Identifier: Apache-2.0
/* Native memory that was not given back: what BPF has and what its samples say are held to each other. */
#include "test.h"

#include <errno.h>

#include "base/clock.h"
#include "fake_capture.h"
#include "session/malloc/malloc_kept.h"

#define SECOND NSEC_PER_SEC
#define NOW_S  1000

static struct world {
	struct capture *capture;
	struct malloc_kept kept;
	struct profile profile;
	size_t added; /* calls */
} w;

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	w.capture = fake_capture_new();
	w.kept.is_on = true;
	profile_init(&w.profile);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	malloc_kept_release(&w.kept);
	profile_release(&w.profile);
	fake_capture_free(w.capture);
	return 0;
}

/* An id tells when it was given. */
static uint64_t id_at(uint64_t second, uint64_t cpu)
{
	return second * SECOND << WIRE_MALLOC_ID_SHIFT | cpu;
}

static uint64_t add(uint64_t serial, uint64_t second, uint64_t cpu, uint64_t weight)
{
	const struct live_object object = {
		.id = id_at(second, cpu), .time_ns = second * SECOND, .weight = weight, .objects = 2
	};

	live_objects_add(&w.kept.objects, serial, &object);
	return object.id;
}

static void note_added(uint64_t serial, size_t first, void *data)
{
	assert_ptr_equal(data, &w);
	assert_true(serial == 1 || serial == 2);
	assert_true(first <= w.profile.samples.len);
	w.added++;
}

static void tell(void)
{
	malloc_kept_tell(&w.kept, w.capture, NOW_S * SECOND, 7, &w.profile, note_added, &w);
}

/* What BPF has yet, with its age. */
static void what_is_kept_is_told(void **state)
{
	(void)state;
	fake_keep(w.capture, 0x1000, add(1, NOW_S - 30, 0, 500));
	add(1, NOW_S - 20, 0, 600); /* freed */
	fake_keep(w.capture, 0x2000, add(2, NOW_S - 10, 0, 700));
	fake_keep(w.capture, 0x3000, id_at(NOW_S - 5, 3)); /* its sample was dropped */
	tell();
	assert_int_equal(w.added, 2);
	assert_int_equal(w.profile.samples.len, 2);
	assert_int_equal(w.profile.samples.items[0].weight, 500);
	assert_int_equal(w.profile.samples.items[0].age, 30);
	assert_int_equal(w.profile.samples.items[0].objects, 2);
	assert_int_equal(w.profile.samples.items[0].event, 7);
	assert_int_equal(w.profile.samples.items[0].time_ns, (NOW_S - 30) * SECOND);
	assert_int_equal(w.profile.samples.items[1].weight, 700);
	assert_int_equal(w.profile.samples.items[1].age, 10);
}

static size_t known(void)
{
	struct hmap ids = HMAP_INIT;
	size_t count;

	live_objects_put_ids(&w.kept.objects, &ids);
	count = ids.len;
	hmap_release(&ids);
	return count;
}

/* Once a second; what is young may still come, on either side. */
static void both_sides_are_settled(void **state)
{
	uint64_t now_ns = NOW_S * SECOND;

	(void)state;
	fake_keep(w.capture, 0x1000, add(1, NOW_S - 30, 0, 500));
	add(1, NOW_S - 20, 0, 600);
	add(1, NOW_S - 1, 0, 600);
	fake_keep(w.capture, 0x2000, id_at(NOW_S - 30, 1));
	fake_keep(w.capture, 0x3000, id_at(NOW_S - 1, 1));
	malloc_kept_settle(&w.kept, w.capture, now_ns);
	assert_int_equal(known(), 2);
	assert_int_equal(w.capture->kept.keys.len, 2);
	assert_int_equal(w.capture->kept.keys.items[0].address, 0x1000);
	assert_int_equal(w.capture->kept.keys.items[1].address, 0x3000);
	add(1, NOW_S - 40, 0, 600);
	malloc_kept_settle(&w.kept, w.capture, now_ns + SECOND / 2);
	assert_int_equal(known(), 3);
	malloc_kept_settle(&w.kept, w.capture, now_ns + SECOND);
	assert_int_equal(known(), 2);
}

/* Of a program that starts others all day most have given back all that they had. */
static void who_has_nothing_left_is_forgotten(void **state)
{
	uint64_t now_ns = NOW_S * SECOND;

	(void)state;
	for (uint64_t serial = 10; serial < 100; serial++)
		add(serial, NOW_S - 20, serial, 500);
	fake_keep(w.capture, 0x1000, add(1, NOW_S - 30, 0, 500));
	add(2, NOW_S - 1, 1, 500);
	malloc_kept_settle(&w.kept, w.capture, now_ns);
	assert_int_equal(w.kept.objects.owners.len, 2);
	assert_int_equal(known(), 2);
	/* It may come back. */
	add(10, NOW_S, 2, 500);
	assert_int_equal(w.kept.objects.owners.len, 3);
	assert_int_equal(known(), 3);
}

/* An id's time has lost its first bits, and may be later than the clock was looked at. */
static void ids_of_any_time(void **state)
{
	const uint64_t wrap_ns = 1ULL << (64 - WIRE_MALLOC_ID_SHIFT);
	uint64_t now_ns = wrap_ns + 2 * SECOND;

	(void)state;
	fake_keep(w.capture, 0x1000, (now_ns - 3 * SECOND) << WIRE_MALLOC_ID_SHIFT); /* young */
	fake_keep(w.capture, 0x2000, (now_ns - 9 * SECOND) << WIRE_MALLOC_ID_SHIFT);
	fake_keep(w.capture, 0x3000, (now_ns + 1000) << WIRE_MALLOC_ID_SHIFT);
	malloc_kept_settle(&w.kept, w.capture, now_ns);
	assert_int_equal(w.capture->kept.keys.len, 2);
	assert_int_equal(w.capture->kept.keys.items[0].address, 0x1000);
	assert_int_equal(w.capture->kept.keys.items[1].address, 0x3000);
}

/* What BPF could not say is not gone, and the profile says so. */
static void unread(void **state)
{
	(void)state;
	add(1, NOW_S - 30, 0, 500);
	w.capture->kept_error = -ENOMEM;
	malloc_kept_settle(&w.kept, w.capture, NOW_S * SECOND);
	assert_int_equal(known(), 1);
	tell();
	assert_true(w.kept.unread);
	w.capture->kept_error = 0;
	tell();
	assert_false(w.kept.unread);
}

/* Half of it goes when there is too much, on both sides, and the rest stands for it. */
static void a_crowd_is_thinned(void **state)
{
	uint64_t weight = 0;

	(void)state;
	live_objects_set_limit(&w.kept.objects, UINT64_MAX);
	for (uint64_t i = 0; i < WIRE_MALLOC_MOST_KEPT / 2 + 2; i++) {
		uint64_t id = add(1 + i % 2, NOW_S - 100 + i % 50, i, 1);

		fake_keep(w.capture, i * 16, id + (i >= 50 * 256 ? i << 40 : 0));
	}
	malloc_kept_settle(&w.kept, w.capture, NOW_S * SECOND);
	assert_int_equal(w.kept.level, 1);
	for (size_t i = 0; i < w.capture->kept.ids.len; i++)
		assert_true(codemap_live_keeps(w.capture->kept.ids.items[i], 1));
	add(2, NOW_S - 2, 77, 1);
	fake_keep(w.capture, 0xabcdef, id_at(NOW_S - 2, 77));
	tell();
	for (size_t i = 0; i < w.profile.samples.len; i++)
		weight += w.profile.samples.items[i].weight;
	assert_int_equal(weight, 2 * w.profile.samples.len);
}

/* Of an event that does not ask for it. */
static void off(void **state)
{
	(void)state;
	w.kept.is_on = false;
	fake_keep(w.capture, 0x1000, add(1, NOW_S - 30, 0, 500));
	add(1, NOW_S - 20, 0, 600);
	malloc_kept_settle(&w.kept, w.capture, NOW_S * SECOND);
	tell();
	assert_int_equal(known(), 2);
	assert_int_equal(w.profile.samples.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_kept_is_told, setup, teardown),
		cmocka_unit_test_setup_teardown(both_sides_are_settled, setup, teardown),
		cmocka_unit_test_setup_teardown(who_has_nothing_left_is_forgotten, setup, teardown),
		cmocka_unit_test_setup_teardown(ids_of_any_time, setup, teardown),
		cmocka_unit_test_setup_teardown(unread, setup, teardown),
		cmocka_unit_test_setup_teardown(a_crowd_is_thinned, setup, teardown),
		cmocka_unit_test_setup_teardown(off, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
