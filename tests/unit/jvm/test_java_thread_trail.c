/* SPDX-License-Identifier: Apache-2.0 */
/* A name that was read is confirmed by one look at all that led to it: whatever of it has changed, it is not. */
#include "test.h"

#include "fake_threads.h"
#include "jvm/heap/java_thread_read.h"

#define THREADS 4

static struct java_thread_layout layout;
static struct java_thread_trail trails[THREADS];
static struct java_thread_read found[THREADS];
static bool same[THREADS];

/* The JVM of begin(), and the ways to its threads' names. */
static void lay_trails(void)
{
	list_threads();
	open_vm();
	memset(found, 0, sizeof(found));
	assert_int_equal(java_thread_layout_read(w.vm.vs, &w.layout, &layout), 0);
	for (unsigned int i = 0; i < w.thread_count; i++) {
		found[i].at = (struct java_thread_at){ w.threads[i], 11 + i };
		found[i].trail = &trails[i];
	}
	java_thread_read(&layout, found, w.thread_count);
}

static void end(void)
{
	for (unsigned int i = 0; i < THREADS; i++)
		free(found[i].name);
	fake_vm_release(&w.vm);
}

static void check(unsigned int count)
{
	struct java_trail_look looks[THREADS];

	for (unsigned int i = 0; i < count; i++)
		looks[i] = (struct java_trail_look){ &layout, java_thread_trail_whole(&trails[i]),
						     false };
	java_thread_trails_check(looks, count);
	for (unsigned int i = 0; i < count; i++)
		same[i] = looks[i].same;
}

static bool is_same(void)
{
	check(1);
	return same[0];
}

/* Each byte that was read, in each shape of a JVM. */
static void every_byte_counts(void **state)
{
	static const uint32_t releases[] = { 8, 17, 25 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(releases); i++) {
		begin(releases[i]);
		add_thread(11, add_string("a name", 6, releases[i] == 8 ? 2 : 1));
		lay_trails();
		assert_int_equal(found[0].result, 0);
		assert_true(is_same());
		assert_int_equal(trails[0].spans, releases[i] == 8 ? 12 : 14);
		for (uint32_t s = 0; s < trails[0].spans; s++)
			for (uint32_t k = 0; k < trails[0].span[s].len; k++) {
				uint8_t *byte = memory()->bytes +
						(trails[0].span[s].address - FAKE_BASE) + k;

				*byte ^= 1;
				assert_false(is_same());
				*byte ^= 1;
			}
		assert_true(is_same());
		end();
	}
}

static void all_in_one_call(void **state)
{
	unsigned int before;

	(void)state;
	begin(17);
	for (int i = 0; i < THREADS; i++)
		add_thread(11 + i, add_string("worker", 6, 1));
	lay_trails();
	before = memory()->reads;
	check(THREADS);
	assert_int_equal(memory()->reads, before + 1);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(same[i], true);
	/* One of them is another one's loss only where memory is not there. */
	put_tid(2, 99);
	check(THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(same[i], i != 2);
	trails[1].span[0].address = 0x10;
	check(THREADS);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(same[i], false);
	end();
}

/* Of another JVM, whose collection is under way, nothing is known; of this one all is. */
static void many_jvms(void **state)
{
	enum { LOOKS = 3 * VM_MEMORY_MAX_PARTS };
	const struct vm_span long_span = { FAKE_BASE, memory()->bytes, JAVA_TRAIL_BYTES };
	static struct java_trail_look looks[LOOKS];
	struct java_thread_layout other;
	const struct vm_span short_span = { FAKE_BASE, memory()->bytes, 1 };
	struct java_thread_trail longest = { 0 }, shortest = { 0 };
	const uint8_t active = 1;

	(void)state;
	begin(17);
	add_thread(11, add_string("worker", 6, 1));
	add_thread(12, add_string("other", 5, 1));
	lay_trails();
	other = layout;
	other.pause.active_at = w.heap + GC_ACTIVE + 1;
	fake_put(memory(), other.pause.active_at, &active, 1);
	for (unsigned int per_jvm = 1; per_jvm < 8; per_jvm++) {
		for (unsigned int i = 0; i < LOOKS; i++)
			looks[i] = (struct java_trail_look){
				i / per_jvm % 2 ? &other : &layout,
				java_thread_trail_whole(i % 5 ? &trails[i % 2] : NULL), i % 3
			};
		java_thread_trails_check(looks, LOOKS);
		for (unsigned int i = 0; i < LOOKS; i++)
			assert_int_equal(looks[i].same, i % 5 && i / per_jvm % 2 == 0);
	}
	/* Ways so short that there is room for more of them than for JVMs. */
	java_thread_trail_add(&shortest, &short_span, 1);
	for (unsigned int i = 0; i < LOOKS; i++)
		looks[i] = (struct java_trail_look){ i % 2 ? &other : &layout,
						     java_thread_trail_whole(&shortest), i % 3 };
	java_thread_trails_check(looks, LOOKS);
	for (unsigned int i = 0; i < LOOKS; i++)
		assert_int_equal(looks[i].same, i % 2 == 0);
	/* More than a call can bring. */
	java_thread_trail_add(&longest, &long_span, 1);
	for (unsigned int i = 0; i < LOOKS; i++)
		looks[i] = (struct java_trail_look){
			&layout, java_thread_trail_whole(i % 50 ? &longest : &trails[0]), false
		};
	java_thread_trails_check(looks, LOOKS);
	for (unsigned int i = 0; i < LOOKS; i++)
		assert_true(looks[i].same);
	java_thread_trails_check(NULL, 0);
	end();
}

/* While that is read. */
static int collect_meanwhile(const struct vm_memory *m, const struct vm_span *spans,
			     unsigned int count)
{
	int r = fake_read(m, spans, count);

	++*(uint8_t *)spans[count - 1].data;
	return r;
}

static int (*meddling)(const struct vm_memory *m, const struct vm_span *spans, unsigned int count);

static int read_meddled(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	return meddling(m, spans, count);
}

static int begin_meanwhile(const struct vm_memory *m, const struct vm_span *spans,
			   unsigned int count)
{
	int r = fake_read(m, spans, count);

	*(uint8_t *)spans[count - 2].data = 1;
	return r;
}

static int end_meanwhile(const struct vm_memory *m, const struct vm_span *spans, unsigned int count)
{
	int r = fake_read(m, spans, count);

	*(uint8_t *)spans[0].data = 1;
	return r;
}

static void a_collection(void **state)
{
	const uint8_t active = 1, none = 0;

	(void)state;
	begin(21);
	meddling = fake_read;
	memory()->memory.read = read_meddled;
	add_thread(11, add_string("name", 4, 1));
	lay_trails();
	fake_put(memory(), w.heap + GC_ACTIVE, &active, 1);
	assert_false(is_same());
	fake_put(memory(), w.heap + GC_ACTIVE, &none, 1);
	/* Those that have ended moved nothing, as it seems. */
	collect(5);
	assert_true(is_same());
	meddling = collect_meanwhile;
	assert_false(is_same());
	meddling = begin_meanwhile;
	assert_false(is_same());
	meddling = end_meanwhile;
	assert_false(is_same());
	end();
}

static void ways_that_are_none(void **state)
{
	struct java_trail_look looks[2];
	const struct vm_span long_span = { FAKE_BASE, memory()->bytes, JAVA_TRAIL_BYTES };
	const struct vm_span short_span = { FAKE_BASE, memory()->bytes, 1 };

	(void)state;
	begin(17);
	add_thread(11, add_string("name", 4, 1));
	lay_trails();
	looks[0] = (struct java_trail_look){ &layout, java_thread_trail_whole(NULL), true };
	looks[1] = (struct java_trail_look){ &layout, java_thread_trail_whole(&trails[0]), false };
	java_thread_trails_check(looks, 2);
	assert_false(looks[0].same);
	assert_true(looks[1].same);
	java_thread_trail_add(&trails[0], &long_span, 1);
	assert_false(is_same());
	java_thread_trail_add(&trails[0], &short_span, 1);
	assert_false(is_same());
	trails[0].spans = trails[0].bytes = 0;
	assert_false(is_same());
	java_thread_trail_add(&trails[0], &long_span, 1);
	assert_int_equal(java_thread_trail_bytes(&trails[0]), sizeof(trails[0]));
	assert_true(is_same());
	trails[0].spans = trails[0].bytes = 0;
	for (unsigned int i = 0; i <= JAVA_TRAIL_SPANS; i++) {
		assert_int_equal(is_same(), i > 0);
		java_thread_trail_add(&trails[0], &short_span, 1);
	}
	assert_false(is_same());
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_byte_counts),  cmocka_unit_test(all_in_one_call),
		cmocka_unit_test(many_jvms),	      cmocka_unit_test(a_collection),
		cmocka_unit_test(ways_that_are_none),
	};

	return cmocka_run_group_tests_name("java_thread_trail", tests, NULL, NULL);
}
