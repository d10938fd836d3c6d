/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "fake_memory.h"

#define PAGE 4096

static struct fake_memory fake;

static int setup(void **state)
{
	(void)state;
	fake_init(&fake);
	return 0;
}

static void assert_text(uint64_t address, size_t size, const char *expected, unsigned int reads)
{
	char text[32];

	memset(text, 'x', sizeof(text));
	fake.reads = 0;
	assert_int_equal(vm_memory_read_text(&fake.memory, address, text, size), 0);
	assert_string_equal(text, expected);
	assert_int_equal(fake.reads, reads);
}

static void put_at(uint64_t address, const char *text)
{
	fake_put(&fake, address, text, strlen(text) + 1);
}

static void test_text(void **state)
{
	(void)state;
	put_at(FAKE_BASE, "native nmethod");
	assert_text(FAKE_BASE, 32, "native nmethod", 1);
	assert_text(FAKE_BASE, 7, "native", 1);
	assert_text(FAKE_BASE, 1, "", 1);
	put_at(FAKE_BASE, "a\n\xc3\x7f z");
	assert_text(FAKE_BASE, 32, "a??? z", 1);
}

/* The next page is read only when the text goes on there. */
static void test_pages(void **state)
{
	uint64_t end = FAKE_BASE + FAKE_BYTES, address = FAKE_BASE + PAGE - 6;
	char text[32];

	(void)state;
	put_at(address, "stubs");
	assert_text(address, 32, "stubs", 1);
	put_at(address, "adapters");
	assert_text(address, 32, "adapters", 2);
	assert_text(address, 7, "adapte", 1);
	put_at(end - 6, "stubs");
	assert_text(end - 6, 32, "stubs", 1);
	fake_put(&fake, end - 6, "adapte", 6);
	assert_int_equal(vm_memory_read_text(&fake.memory, end - 6, text, sizeof(text)), -EFAULT);
	assert_string_equal(text, "adapte");
	assert_int_equal(vm_memory_read_text(&fake.memory, end, text, sizeof(text)), -EFAULT);
	assert_string_equal(text, "");
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_text),
		TEST(test_pages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
