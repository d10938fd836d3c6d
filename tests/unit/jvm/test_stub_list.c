/* SPDX-License-Identifier: Apache-2.0 */
/* A fabricated list of stubs, whose head lies in the pages of a static variable that is known. */
#include "test.h"

#include "fake_memory.h"
#include "jvm/names/stub_list.h"

#define CODE	  0x7f5000000000ULL
#define CODE_END  (CODE + 0x100000)
#define CALL_STUB (CODE + 0x400)
#define PAGE	  4096ULL

static struct fake_memory fake;
static struct jvm_layout layout;
static struct stub_list list;
static bool is_jdk_8;

static int setup(void **state)
{
	(void)state;
	fake_init(&fake);
	fake_alloc(&fake, 6 * PAGE); /* the library's variables */
	layout = (struct jvm_layout){ .call_stub_at = FAKE_BASE + 2 * PAGE + 0x88 };
	layout.wire.code_start = CODE;
	layout.wire.code_end = CODE_END;
	layout.wire.call_stub_return = CALL_STUB + 0x90;
	is_jdk_8 = false;
	stub_list_init(&list, &fake.memory, &layout);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	stub_list_release(&list);
	return 0;
}

/* malloc() gives multiples of 16. */
static uint64_t element(uint64_t next, const char *name, uint64_t start, uint64_t end)
{
	uint64_t text = fake_string(&fake, name);
	const uint64_t words[] = { next, text, text, start, end, 0 };
	const uint64_t words_8[] = { next, text, text, 7, start, end };

	fake.used = (fake.used + 15) & ~(size_t)15;
	return fake_add(&fake, is_jdk_8 ? words_8 : words, sizeof(words));
}

/* Of three stubs; the head is at AT. */
static uint64_t add_list(uint64_t at)
{
	uint64_t call = element(0, "call_stub", CALL_STUB, CALL_STUB + 0x100);
	uint64_t sin = element(call, "libmSin", CODE + 0x1000, CODE + 0x1800);
	uint64_t copy = element(sin, "jbyte_arraycopy", CODE + 0x2000, CODE + 0x2400);

	fake_put_u64(&fake, at, copy);
	return copy;
}

static void expect_names(void)
{
	assert_string_equal(stub_list_find(&list, CALL_STUB), "call_stub");
	assert_string_equal(stub_list_find(&list, CODE + 0x1000), "libmSin");
	assert_string_equal(stub_list_find(&list, CODE + 0x17ff), "libmSin");
	assert_string_equal(stub_list_find(&list, CODE + 0x2003), "jbyte_arraycopy");
	assert_null(stub_list_find(&list, CODE + 0xfff));
	assert_null(stub_list_find(&list, CODE + 0x1800));
}

static void names_each_stub(void **state)
{
	(void)state;
	add_list(FAKE_BASE + 2 * PAGE + 0x200);
	expect_names();
}

static int refused;

static int refusing_read(const struct vm_memory *memory, const struct vm_span *spans,
			 unsigned int count)
{
	(void)memory;
	return refused ? refused : fake.memory.read(&fake.memory, spans, count);
}

/* A process that may not be asked just now has its list all the same; one that never may be is not asked for ever. */
static void a_process_that_is_busy(void **state)
{
	static const struct vm_memory memory = { .read = refusing_read };

	(void)state;
	add_list(FAKE_BASE + 2 * PAGE);
	stub_list_init(&list, &memory, &layout);
	refused = -EBUSY;
	assert_null(stub_list_find(&list, CODE + 0x1000));
	assert_false(list.searched);
	refused = 0;
	assert_string_equal(stub_list_find(&list, CODE + 0x1000), "libmSin");
	assert_true(list.searched);
	stub_list_release(&list);
	stub_list_init(&list, &memory, &layout);
	refused = -ETIMEDOUT;
	for (unsigned int i = 0; i < 100; i++)
		assert_null(stub_list_find(&list, CODE + 0x1000));
	assert_true(list.searched);
}

static void jdk_8_has_an_index(void **state)
{
	(void)state;
	is_jdk_8 = true;
	add_list(FAKE_BASE + 2 * PAGE + 0x200);
	expect_names();
}

static void the_head_may_be_some_pages_away(void **state)
{
	static const unsigned int pages[] = { 0, 1, 3, 5 };

	for (unsigned int i = 0; i < ARRAY_SIZE(pages); i++) {
		setup(state);
		add_list(FAKE_BASE + pages[i] * PAGE + 0x38);
		expect_names();
		stub_list_release(&list);
	}
}

/* What lies below the first page, or above the last one, cannot be read. */
static void a_list_that_is_nowhere(void **state)
{
	unsigned int reads;

	(void)state;
	assert_null(stub_list_find(&list, CALL_STUB));
	reads = fake.reads;
	assert_null(stub_list_find(&list, CALL_STUB));
	assert_int_equal(fake.reads, reads);
	layout.call_stub_at = 0;
	stub_list_init(&list, &fake.memory, &layout);
	assert_null(stub_list_find(&list, CALL_STUB));
	assert_int_equal(fake.reads, reads);
}

/* Of a build whose list was found before: there it is looked for first, and elsewhere when it is not. */
static void where_others_have_it(void **state)
{
	unsigned int reads = 0;

	for (unsigned int i = 0; i < 3; i++) {
		setup(state);
		add_list(FAKE_BASE + 4 * PAGE + 0x458);
		/* What stands there in another build. */
		if (i == 2)
			fake_put_u64(&fake, FAKE_BASE + 4 * PAGE + 0x458, 0);
		if (i == 2)
			add_list(FAKE_BASE + 3 * PAGE + 0x10);
		expect_names();
		if (i == 1)
			assert_in_range(fake.reads, 2, reads - 3);
		reads = fake.reads;
		stub_list_release(&list);
	}
}

/* It has elements that look like stubs, but none that holds the call stub. */
static void another_list(void **state)
{
	uint64_t other = element(0, "other", CODE + 0x1000, CODE + 0x1800);

	(void)state;
	fake_put_u64(&fake, FAKE_BASE + 2 * PAGE + 8, other);
	assert_null(stub_list_find(&list, CODE + 0x1000));
	stub_list_release(&list);
	stub_list_init(&list, &fake.memory, &layout);
	add_list(FAKE_BASE + 2 * PAGE + 0x200);
	expect_names();
}

/* Addresses that lead nowhere, and words that are none. */
static void words_before_the_head(void **state)
{
	const uint64_t words[] = {
		1, 0x7fff12345670ULL, ~0ULL, FAKE_BASE + 8, 0x8000000000000000ULL, FAKE_BASE + 16
	};

	(void)state;
	fake_put(&fake, FAKE_BASE + 2 * PAGE, words, sizeof(words));
	add_list(FAKE_BASE + 2 * PAGE + 0x200);
	expect_names();
}

static void a_list_without_an_end(void **state)
{
	uint64_t call = element(0, "call_stub", CALL_STUB, CALL_STUB + 0x100);

	(void)state;
	fake_put_u64(&fake, call, call);
	fake_put_u64(&fake, FAKE_BASE + 2 * PAGE + 8, call);
	assert_string_equal(stub_list_find(&list, CALL_STUB), "call_stub");
}

/* It has no end yet, or is somewhere else. */
static void stubs_that_are_none(void **state)
{
	uint64_t call = element(0, "call_stub", CALL_STUB, CALL_STUB + 0x100);
	uint64_t outside = element(call, "outside", CODE_END - 8, CODE_END + 8);
	uint64_t empty = element(outside, "", CODE + 0x3000, CODE + 0x3100);
	uint64_t nameless = element(empty, "nameless", CODE + 0x4000, CODE + 0x4100);
	uint64_t begun = element(nameless, "begun", CODE + 0x5000, 0);
	uint64_t odd = element(begun, "od\x1b[2Jd_stub (stub gen)", CODE + 0x6000, CODE + 0x6100);

	(void)state;
	fake_put_u64(&fake, nameless + 16, 0xdead0000);
	fake_put_u64(&fake, FAKE_BASE + 2 * PAGE + 8, odd);
	assert_string_equal(stub_list_find(&list, CODE + 0x6000), "od?[2Jd");
	assert_string_equal(stub_list_find(&list, CALL_STUB), "call_stub");
	assert_null(stub_list_find(&list, CODE_END - 8));
	assert_null(stub_list_find(&list, CODE + 0x3000));
	assert_null(stub_list_find(&list, CODE + 0x4000));
	assert_null(stub_list_find(&list, CODE + 0x5000));
}

static void the_innermost_counts(void **state)
{
	uint64_t call = element(0, "call_stub", CALL_STUB, CALL_STUB + 0x100);
	uint64_t inner = element(call, "inner", CODE + 0x1100, CODE + 0x1200);
	uint64_t outer = element(inner, "outer", CODE + 0x1000, CODE + 0x2000);

	(void)state;
	fake_put_u64(&fake, FAKE_BASE + 2 * PAGE + 8, outer);
	assert_string_equal(stub_list_find(&list, CODE + 0x10ff), "outer");
	assert_string_equal(stub_list_find(&list, CODE + 0x1100), "inner");
	assert_string_equal(stub_list_find(&list, CODE + 0x1200), "outer");
}

/* Compilers make theirs when they start. */
static void a_list_that_grows(void **state)
{
	uint64_t at = FAKE_BASE + 2 * PAGE + 0x200, head = add_list(at), added;
	unsigned int reads;

	(void)state;
	assert_null(stub_list_find(&list, CODE + 0x8000));
	added = element(head, "sha256_implCompress", CODE + 0x8000, CODE + 0x9000);
	fake_put_u64(&fake, at, added);
	assert_string_equal(stub_list_find(&list, CODE + 0x8000), "sha256_implCompress");
	expect_names();
	reads = fake.reads;
	assert_string_equal(stub_list_find(&list, CODE + 0x8000), "sha256_implCompress");
	assert_int_equal(fake.reads, reads);
}

/* A process may give it another head each time that it is asked. */
static void a_list_that_grows_without_end(void **state)
{
	uint64_t at = FAKE_BASE + 2 * PAGE + 0x200, head = add_list(at), other;
	unsigned int reads;

	(void)state;
	other = element(head, "other", CODE + 0x8000, CODE + 0x8100);
	for (unsigned int i = 0; i < 6000; i++) {
		fake_put_u64(&fake, at, i % 2 ? head : other);
		assert_null(stub_list_find(&list, CODE + 0x9000));
	}
	reads = fake.reads;
	fake_put_u64(&fake, at, other);
	assert_null(stub_list_find(&list, CODE + 0x9000));
	assert_int_equal(fake.reads, reads);
}

/* A page full of addresses, each of a list that is a circle and has no call stub. */
static void lists_without_an_end_everywhere(void **state)
{
	uint64_t other = element(0, "other", CODE + 0x1000, CODE + 0x1800);

	(void)state;
	fake_put_u64(&fake, other, other);
	for (unsigned int i = 0; i < PAGE / 8; i++)
		fake_put_u64(&fake, FAKE_BASE + 2 * PAGE + 8ULL * i, other);
	assert_null(stub_list_find(&list, CODE + 0x1000));
	assert_true(list.elements <= 16 * 1024);
	assert_null(stub_list_find(&list, CODE + 0x1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(names_each_stub, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_that_is_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(jdk_8_has_an_index, setup, teardown),
		cmocka_unit_test_setup_teardown(where_others_have_it, setup, teardown),
		cmocka_unit_test_setup_teardown(the_head_may_be_some_pages_away, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_that_is_nowhere, setup, teardown),
		cmocka_unit_test_setup_teardown(another_list, setup, teardown),
		cmocka_unit_test_setup_teardown(words_before_the_head, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_without_an_end, setup, teardown),
		cmocka_unit_test_setup_teardown(stubs_that_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(the_innermost_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_that_grows, setup, teardown),
		cmocka_unit_test_setup_teardown(a_list_that_grows_without_end, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_without_an_end_everywhere, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
