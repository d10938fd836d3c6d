// SPDX-License-Identifier: Apache-2.0
/* Where this test's own process has its symbols. */
#include "test.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "symbolize/watch_find.h"

int watch_test_variable[4];
static int watch_test_own;
__thread int watch_test_thread;
int watch_test_function(int x);
int lfind(int x);

__attribute__((noinline)) int lfind(int x)
{
	__asm__ volatile("");
	return x + 2;
}

__attribute__((noinline)) int watch_test_function(int x)
{
	__asm__ volatile("" : : "r"(&watch_test_own), "r"(&watch_test_thread));
	return x + 1;
}

static int find(const char *symbol, uint64_t *address, struct err *err)
{
	*err = (struct err){ 0 };
	*address = 42;
	return watch_find((uint32_t)getpid(), symbol, address, err);
}

static void expect(const char *symbol, const volatile void *at)
{
	uint64_t address;
	struct err err;

	if (find(symbol, &address, &err) < 0)
		fail_msg("%s: %s", symbol, err.text);
	assert_int_equal(address, (uintptr_t)at);
}

static void variables_and_functions(void **state)
{
	(void)state;
	expect("watch_test_variable", watch_test_variable);
	expect("watch_test_own", &watch_test_own);
	expect("watch_test_function", (const void *)(uintptr_t)watch_test_function);
	/* In a library. */
	expect("lsearch", dlsym(RTLD_DEFAULT, "lsearch"));
}

/* libc has one of that name, too. */
static void what_the_program_has(void **state)
{
	(void)state;
	expect("lfind", (const void *)(uintptr_t)lfind);
}

static void what_cannot_be_watched(void **state)
{
	uint64_t address;
	struct err err;

	(void)state;
	assert_int_equal(find("watch_test_nothing", &address, &err), -ENOENT);
	assert_non_null(strstr(err.text, "has no symbol 'watch_test_nothing'"));
	assert_int_equal(find("watch_test_thread", &address, &err), -EINVAL);
	assert_non_null(strstr(err.text, "is another variable in each thread"));
	if (!SANITIZED) { /* which has its own */
		assert_int_equal(find("memcpy", &address, &err), -EINVAL);
		assert_non_null(strstr(err.text, "is chosen among several functions"));
	}
	assert_int_equal(address, 42);
}

/* Two libraries that have it, and the program has not. */
static void at_two_places(void **state)
{
	char path[] = "/tmp/watch-find-XXXXXX", first[32];
	_cleanup_strbuf_ struct strbuf bytes = STRBUF_INIT;
	void *own = dlsym(RTLD_DEFAULT, "lsearch"), *copy;
	int fd = mkstemp(path);
	uint64_t address;
	struct err err;
	Dl_info info;

	(void)state;
	assert_true(fd >= 0 && dladdr(own, &info));
	assert_int_equal(file_read(info.dli_fname, 64 << 20, &bytes), 0);
	assert_int_equal(file_write_all(fd, bytes.buf, bytes.len), 0);
	close(fd);
	copy = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
	unlink(path);
	if (!copy)
		skip();
	assert_int_equal(find("lsearch", &address, &err), -EINVAL);
	assert_non_null(strstr(err.text, "has 'lsearch' at 2 places"));
	snprintf(first, sizeof(first), "%p", own);
	assert_non_null(strstr(err.text, first));
	assert_non_null(strstr(err.hint, "mem:0x"));
	assert_int_equal(address, 42);
	dlclose(copy);
}

static void nobody(void **state)
{
	uint64_t address;
	struct err err = { 0 };

	(void)state;
	assert_true(watch_find(0x7ffffffe, "main", &address, &err) < 0);
	assert_true(err.code < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables_and_functions),
		cmocka_unit_test(what_the_program_has),
		cmocka_unit_test(what_cannot_be_watched),
		cmocka_unit_test(at_two_places),
		cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests_name("watch_find", tests, NULL, NULL);
}
