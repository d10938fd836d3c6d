/* SPDX-License-Identifier: Apache-2.0 */
/* Names of classes by their Klass*, of fabricated memory: forms of names, unloading, and what is no class. */
#include "test.h"

#include <errno.h>

#include "base/clock.h"
#include "fake_memory.h"
#include "jvm/names/klass_names.h"
#include "layout_17.h"

static const struct jvm_layout layout_17 = { LAYOUT_17_NAMES, .feature_release = 17 };

struct world {
	struct fake_memory fake;
	struct klass_names *names;
	uint64_t klass, symbol;
};

static void put_symbol(struct world *w, const char *text, size_t len)
{
	fake_put_u16(&w->fake, w->symbol, 0x1234); /* _hash_and_refcount */
	fake_put_u16(&w->fake, w->symbol + 2, (uint16_t)len);
	fake_put_u16(&w->fake, w->symbol + layout_17.symbol_length, (uint16_t)len);
	fake_put(&w->fake, w->symbol + layout_17.symbol_body, text, len);
}

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	fake_init(&w->fake);
	w->klass = fake_alloc(&w->fake, 512);
	w->symbol = fake_alloc(&w->fake, 2048);
	fake_put_u64(&w->fake, w->klass + layout_17.klass_name, w->symbol);
	put_symbol(w, "pkg/One", 7);
	w->names = klass_names_new(&w->fake.memory, &layout_17);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	klass_names_free(w->names);
	free(w);
	return 0;
}

static void expect_name(struct world *w, const char *raw, const char *expected)
{
	const char *name = NULL;

	put_symbol(w, raw, strlen(raw));
	assert_int_equal(klass_names_read(w->names, w->klass, &name), 0);
	assert_string_equal(name, expected);
}

static void test_forms(void **state)
{
	struct world *w = *state;

	expect_name(w, "java/lang/String", "java.lang.String");
	expect_name(w, "[B", "byte[]");
	expect_name(w, "[[[J", "long[][][]");
	expect_name(w, "[Ljava/lang/String;", "java.lang.String[]");
	expect_name(w, "[[Lpkg/Outer$Inner;", "pkg.Outer$Inner[][]");
	expect_name(w, "pkg/Main$$Lambda+0x00007f", "pkg.Main$$Lambda/0x00007f");
	expect_name(w, "B", "B");
	expect_name(w, "[", "[");
	expect_name(w, "[L", "[L");
	expect_name(w, "a\nb", "a?b");
}

/* Of samples that come at the same time the first one reads, and what is there yet takes one read. */
static void test_many_at_a_time(void **state)
{
	struct world *w = *state;
	const char *name;
	uint64_t now_ns;
	unsigned int reads;

	put_symbol(w, "pkg/One", 7);
	assert_int_equal(klass_names_read_as_of(w->names, w->klass, 1, &name), 0);
	now_ns = clock_now_ns();
	put_symbol(w, "pkg/Third", 9);
	reads = w->fake.reads;
	assert_int_equal(klass_names_read_as_of(w->names, w->klass, now_ns, &name), 0);
	assert_string_equal(name, "pkg.One");
	assert_int_equal(w->fake.reads, reads);
	assert_int_equal(klass_names_read_as_of(w->names, w->klass, now_ns + 50000000, &name), 0);
	assert_string_equal(name, "pkg.Third");
	reads = w->fake.reads;
	assert_int_equal(klass_names_read_as_of(w->names, w->klass, now_ns + 500000000, &name), 0);
	assert_string_equal(name, "pkg.Third");
	assert_int_equal(w->fake.reads, reads + 1);
}

static void test_long_name_is_cut(void **state)
{
	struct world *w = *state;
	char raw[1500];
	const char *name;

	memset(raw, 'x', sizeof(raw));
	put_symbol(w, raw, sizeof(raw));
	assert_int_equal(klass_names_read(w->names, w->klass, &name), 0);
	assert_int_equal(strlen(name), 1024);
}

/* Another class in its place is read anew; who asks late gets the one that was there when it was read. */
static void test_unloaded(void **state)
{
	struct world *w = *state;
	const char *name;

	expect_name(w, "pkg/One", "pkg.One");
	put_symbol(w, "pkg/Third", 9);
	assert_int_equal(klass_names_find(w->names, w->klass, &name), 0);
	assert_string_equal(name, "pkg.One");
	assert_int_equal(klass_names_read(w->names, w->klass, &name), 0);
	assert_string_equal(name, "pkg.Third");
	assert_int_equal(klass_names_find(w->names, w->klass, &name), 0);
	assert_string_equal(name, "pkg.Third");
}

static void test_find_reads(void **state)
{
	struct world *w = *state;
	const char *name;

	assert_int_equal(klass_names_find(w->names, w->klass, &name), 0);
	assert_string_equal(name, "pkg.One");
}

static uint64_t identity_of(const struct world *w)
{
	uint64_t word;

	memcpy(&word, w->fake.bytes + (w->symbol - FAKE_BASE), sizeof(word));
	return WIRE_CLASS_IDENTITY(w->symbol, word, layout_17.symbol_mask);
}

/* The class that was seen, or none. */
static void test_proven(void **state)
{
	struct world *w = *state;
	uint64_t one = identity_of(w), third;
	const char *name;
	unsigned int reads;

	assert_int_equal(klass_names_find_proven(w->names, w->klass, one, &name), 0);
	assert_string_equal(name, "pkg.One");
	reads = w->fake.reads;
	assert_int_equal(klass_names_find_proven(w->names, w->klass, one, &name), 0);
	assert_int_equal(w->fake.reads, reads);
	put_symbol(w, "pkg/Third", 9);
	third = identity_of(w);
	assert_true(third != one);
	/* It was read while it was there. */
	assert_int_equal(klass_names_find_proven(w->names, w->klass, one, &name), 0);
	assert_string_equal(name, "pkg.One");
	assert_int_equal(klass_names_find_proven(w->names, w->klass, third, &name), 0);
	assert_string_equal(name, "pkg.Third");
	assert_int_equal(klass_names_find_proven(w->names, w->klass, one, &name), -ESTALE);
	assert_int_equal(klass_names_find_proven(w->names, w->klass + 4, one, &name), -EBADMSG);
}

static void test_no_class(void **state)
{
	struct world *w = *state;
	const char *name;

	assert_int_equal(klass_names_read(w->names, 0, &name), -EBADMSG);
	assert_int_equal(klass_names_read(w->names, w->klass + 4, &name), -EBADMSG);
	assert_int_equal(klass_names_read(w->names, 0x7000000000, &name), -EBADMSG);
	put_symbol(w, "", 0);
	assert_int_equal(klass_names_read(w->names, w->klass, &name), -EBADMSG);
	fake_put_u64(&w->fake, w->klass + layout_17.klass_name, w->symbol + 1);
	assert_int_equal(klass_names_read(w->names, w->klass, &name), -EBADMSG);
	fake_put_u64(&w->fake, w->klass + layout_17.klass_name, 0);
	assert_int_equal(klass_names_read(w->names, w->klass, &name), -EBADMSG);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_forms),	   TEST(test_long_name_is_cut), TEST(test_unloaded),
		TEST(test_find_reads),	   TEST(test_no_class),		TEST(test_proven),
		TEST(test_many_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
