/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "output/pprof/view_pprof.h"
#include "pprof_decode.h"
#include "profile/frame_kind.h"
#include "view_fixture.h"

static void decode_view(const struct profile *p, const struct view_options *options,
			struct decoded *ret_decoded)
{
	size_t len;
	_cleanup_free_ char *data = view_fixture_render(p, options, view_pprof_write, &len);

	decode_init(ret_decoded, data, len);
}

static void expect_samples(const struct decoded *d, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (unsigned int i = 0; i < d->len[2]; i++)
		decode_sample(&sb, d, i);
	assert_string_equal(strbuf_str(&sb), expected);
}

/* "type/unit" of every ValueType in a table of Profile. */
static void expect_types(const struct decoded *d, unsigned int table, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	for (unsigned int i = 0; i < d->len[table]; i++) {
		uint64_t values[16];

		decode_scalars(d->tables[table][i], values);
		decode_add_string(&sb, d, values[1]);
		strbuf_addch(&sb, '/');
		decode_add_string(&sb, d, values[2]);
		strbuf_addch(&sb, ' ');
	}
	assert_string_equal(strbuf_str(&sb), expected);
}

static void test_samples(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU };
	struct decoded d;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	decode_view(&p, &options, &d);
	expect_types(&d, 1, "samples/count cpu/nanoseconds ");
	expect_samples(&d, "sample 7 70\n"
			   "  (java.util.HashMap.get Source.java:30 < com.acme.Item.price "
			   "Source.java:20 < com.acme.Order.place Source.java:10) @[JIT]+0\n"
			   "  (java.lang.Thread.run Source.java:833) @[JIT]+0\n"
			   "  (clone3) @/usr/lib/libc.so.6+30000\n"
			   "  label pid=4242\n  label comm=java\n"
			   "  label container_id=0123456789abcdef\n"
			   "  label tid=4243\n  label thread=worker;1\n"
			   "sample 3 30\n"
			   "  (vfs_read) @[kernel]+ffffffff81234567\n"
			   "  ([libc.so.6+0x31234]) @/usr/lib/libc.so.6+31234\n"
			   "  (com.acme.Order.place Source.java:10) @[JIT]+0\n"
			   "  (java.lang.Thread.run Source.java:833) @[JIT]+0\n"
			   "  (clone3) @/usr/lib/libc.so.6+30000\n"
			   "  label pid=4242\n  label comm=java\n"
			   "  label container_id=0123456789abcdef\n"
			   "  label tid=4243\n  label thread=worker;1\n"
			   "sample 2 20\n"
			   "  (vfs_read) @[kernel]+ffffffff81234567\n"
			   "  ([libc.so.6+0x31234]) @/usr/lib/libc.so.6+31234\n"
			   "  ([unwind: bad-frame-pointer])\n"
			   "  label pid=99\n  label comm=sh\n  label tid=99\n  label thread=sh\n");
	decode_release(&d);
	profile_release(&p);
}

/* It has its number, and its carrier's tid. */
static void test_virtual_threads(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct profile_thread thread = {
		.process = PROFILE_NONE, .tid = 4243, .java_tid = 4711, .is_virtual = 1
	};
	struct profile_event cpu = { .period = 1 };
	struct profile_sample sample = { .weight = 7, .count = 1 };
	struct decoded d;
	struct profile p;

	(void)state;
	profile_init(&p);
	cpu.name = profile_string(&p, "cpu");
	thread.name = profile_string(&p, "request");
	sample.event = profile_event(&p, &cpu);
	sample.thread = profile_thread(&p, &thread);
	sample.stack = profile_stack(&p, NULL, 0);
	profile_add(&p, &sample);
	decode_view(&p, &options, &d);
	decode_sample(&sb, &d, 0);
	assert_non_null(strstr(strbuf_str(&sb), "  label tid=4243\n  label thread=request\n"
						"  label virtual_thread=4711\n"));
	decode_release(&d);
	profile_release(&p);
}

static void test_head(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU };
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct decoded d;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	decode_view(&p, &options, &d);
	assert_int_equal(d.numbers[9][0], 1790000000000000000);
	assert_int_equal(d.numbers[10][0], 10000000000);
	assert_int_equal(d.numbers[12][0], 10);
	expect_types(&d, 11, "cpu/nanoseconds ");
	decode_add_string(&sb, &d, d.numbers[14][0]);
	for (unsigned int i = 0; i < d.len[13]; i++) {
		strbuf_addch(&sb, '\n');
		decode_add_string(&sb, &d, d.numbers[13][i]);
	}
	assert_string_equal(strbuf_str(&sb), "cpu\nhost: build7\ncommand: hostprof record\n"
					     "complete stacks: 83.33 % (10 of 12 samples)\n"
					     "lost samples: 1 (weight 10)\n"
					     "unwind.bad-frame-pointer: 2\n"
					     "symbols.file-not-read /tmp/gone: removed: 2");
	decode_release(&d);
	profile_release(&p);
}

static void test_mappings(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU };
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct decoded d;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	fixture_mapping(&p, "/not/used", "00", 1, 2);
	decode_view(&p, &options, &d);
	for (unsigned int i = 0; i < d.len[3]; i++) {
		uint64_t m[16];

		decode_scalars(d.tables[3][i], m);
		strbuf_addf(&sb, "%" PRIx64 "-%" PRIx64 " %" PRIx64 " ", m[2], m[3], m[4]);
		decode_add_string(&sb, &d, m[5]);
		strbuf_addch(&sb, ' ');
		decode_add_string(&sb, &d, m[6]);
		strbuf_addf(&sb, " %d%d%d%d\n", (int)m[7], (int)m[8], (int)m[9], (int)m[10]);
	}
	assert_string_equal(
		strbuf_str(&sb),
		"26000-17b000 26000 /usr/lib/libc.so.6 abcdef01 1000\n"
		"ffffffff81000000-ffffffff82000000 ffffffff81000000 [kernel] beef 1000\n"
		"0-0 0 [JIT]  1111\n");
	decode_release(&d);
	profile_release(&p);
}

/* Without an event chosen, every event that has samples is there, each with its own values. */
static void test_all_events(void **state)
{
	struct view_options options = { .event = PROFILE_NONE, .all_user = true };
	struct decoded d;
	struct profile p;
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	(void)state;
	view_fixture_init(&p);
	decode_view(&p, &options, &d);
	expect_types(&d, 1,
		     "samples/count cpu/nanoseconds alloc_objects/count alloc_space/bytes "
		     "inuse_objects/count inuse_space/bytes ");
	assert_int_equal(d.len[2], 5);
	decode_sample(&sb, &d, 3);
	assert_string_equal(strbuf_str(&sb), "sample 0 0 12 4096 0 0\n"
					     "  (byte[])\n"
					     "  (java.lang.Thread.run Source.java:833) @[JIT]+0\n"
					     "  (clone3) @/usr/lib/libc.so.6+30000\n"
					     "  label pid=4242\n  label comm=java\n"
					     "  label container_id=0123456789abcdef\n"
					     "  label tid=4243\n  label thread=worker;1\n");
	decode_release(&d);
	profile_release(&p);
}

static void test_filters(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU, .all_kernel = true };
	struct decoded d;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	decode_view(&p, &options, &d);
	expect_samples(&d, "sample 3 30\n"
			   "  (vfs_read) @[kernel]+ffffffff81234567\n"
			   "  label pid=4242\n  label comm=java\n"
			   "  label container_id=0123456789abcdef\n"
			   "  label tid=4243\n  label thread=worker;1\n"
			   "sample 2 20\n"
			   "  (vfs_read) @[kernel]+ffffffff81234567\n"
			   "  label pid=99\n  label comm=sh\n  label tid=99\n  label thread=sh\n");
	decode_release(&d);
	profile_release(&p);
}

static void test_short_names(void **state)
{
	struct view_options options = { .event = FIXTURE_CPU,
					.all_user = true,
					.names = FRAME_NAMES_SIMPLE };
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	struct decoded d;
	struct profile p;

	(void)state;
	view_fixture_init(&p);
	decode_view(&p, &options, &d);
	decode_sample(&sb, &d, 0);
	assert_non_null(strstr(strbuf_str(&sb), "(HashMap.get Source.java:30 < Item.price "
						"Source.java:20 < Order.place Source.java:10)"));
	assert_non_null(strstr(strbuf_str(&sb), "(Thread.run Source.java:833)"));
	decode_release(&d);
	profile_release(&p);
}

#define FUNCTION 5 /* in profile.proto's Profile */

static void expect_function(const struct decoded *d, unsigned int at, const char *name,
			    const char *system_name)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;
	uint64_t function[16];

	decode_scalars(d->tables[FUNCTION][at], function);
	decode_add_string(&sb, d, function[2]);
	strbuf_addch(&sb, ' ');
	decode_add_string(&sb, d, function[3]);
	assert_int_equal(strncmp(strbuf_str(&sb), name, strlen(name)), 0);
	assert_string_equal(strbuf_str(&sb) + strlen(name) + 1, system_name);
}

/* The name that pprof shows is one for all overloads; what the JVM calls each is beside it. */
static void test_signatures(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct decoded d;
	struct profile p;
	uint32_t of_int, of_text;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	of_int = fixture_overload(&p, FRAME_JAVA_JIT, "A", "go", "(I)V");
	of_text = fixture_overload(&p, FRAME_JAVA_JIT, "A", "go", "(LB;)V");
	fixture_sample(&p, 0, PROFILE_NONE, 3, 3, FIXTURE_FRAMES(of_int));
	fixture_sample(&p, 0, PROFILE_NONE, 4, 4, FIXTURE_FRAMES(of_text));
	decode_view(&p, &options, &d);
	assert_int_equal(d.len[FUNCTION], 2);
	expect_function(&d, 0, "A.go", "A.go(I)V");
	expect_function(&d, 1, "A.go", "A.go(LB;)V");
	decode_release(&d);
	options.names = FRAME_NAMES_SIGNATURES;
	decode_view(&p, &options, &d);
	expect_function(&d, 0, "A.go(I)V", "A.go(I)V");
	expect_function(&d, 1, "A.go(LB;)V", "A.go(LB;)V");
	decode_release(&d);
	profile_release(&p);
}

/* Damaged input: an inlined method without its host, a sample without a thread or a stack. */
static void test_odd_stacks(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct decoded d;
	struct profile p;
	uint32_t inlined;

	(void)state;
	profile_init(&p);
	fixture_event(&p, "cpu", "nanoseconds", 1);
	inlined = fixture_java(&p, FRAME_JAVA_INLINED, "a.B", "c", 0);
	fixture_sample(&p, 0, PROFILE_NONE, 1, 1, FIXTURE_FRAMES(inlined, inlined));
	fixture_sample(&p, 0, PROFILE_NONE, 2, 2, NULL, 0);
	decode_view(&p, &options, &d);
	expect_samples(&d, "sample 1 1\n  (a.B.c Source.java:0 < a.B.c Source.java:0) @[JIT]+0\n"
			   "sample 2 2\n");
	decode_release(&d);
	profile_release(&p);
}

static void test_empty(void **state)
{
	struct view_options options = { .event = PROFILE_NONE };
	struct decoded d;
	struct profile p;

	(void)state;
	profile_init(&p);
	decode_view(&p, &options, &d);
	assert_int_equal(d.len[2], 0);
	decode_release(&d);
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples),	    cmocka_unit_test(test_virtual_threads),
		cmocka_unit_test(test_head),	    cmocka_unit_test(test_mappings),
		cmocka_unit_test(test_all_events),  cmocka_unit_test(test_filters),
		cmocka_unit_test(test_odd_stacks),  cmocka_unit_test(test_empty),
		cmocka_unit_test(test_short_names), cmocka_unit_test(test_signatures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
