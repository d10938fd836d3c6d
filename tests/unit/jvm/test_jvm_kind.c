/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include "jvm/jvm_kind.h"
#include "jvm/layout/libjvm.h"

static enum jvm_kind kind_of(const char *maps)
{
	return jvm_kind_of_maps(maps, strlen(maps));
}

static void kind_by_what_is_mapped(void **state)
{
	(void)state;
	assert_int_equal(kind_of("7f00-7f01 r-xp 0 fe:00 1 /usr/lib/jvm/x/lib/server/libjvm.so\n"),
			 JVM_KIND_HOTSPOT);
	assert_int_equal(kind_of("7f00-7f01 r-xp 0 fe:00 1 /jdk/libjvm.so (deleted)\n"),
			 JVM_KIND_HOTSPOT);
	assert_int_equal(kind_of("7f00-7f01 r-xp 0 fe:00 1 /j9/libjvm.so\n"
				 "7f02-7f03 r-xp 0 fe:00 2 /j9/default/libj9vm29.so\n"),
			 JVM_KIND_OPENJ9);
	assert_int_equal(kind_of("7f00-7f01 r-xp 0 fe:00 1 /opt/libjvm.so.debug\n"), JVM_KIND_NONE);
	assert_int_equal(kind_of("7f00-7f01 r-xp 0 fe:00 1 /opt/mylibjvm.so\n"), JVM_KIND_NONE);
	assert_int_equal(jvm_kind_of_maps(NULL, 0), JVM_KIND_NONE);
}

static void we_are_no_jvm(void **state)
{
	(void)state;
	assert_int_equal(jvm_kind_of_process((uint32_t)getpid()), JVM_KIND_NONE);
	assert_int_equal(jvm_kind_of_executable((uint32_t)getpid()), JVM_KIND_NONE);
	assert_int_equal(jvm_kind_of_process(0), JVM_KIND_NONE);
}

static bool is_libjvm(const char *path)
{
	return libjvm_is_path(path, strlen(path));
}

static void library_by_its_name(void **state)
{
	(void)state;
	assert_true(is_libjvm("/usr/lib/jvm/j/lib/server/libjvm.so"));
	assert_true(is_libjvm("/libjvm.so (deleted)"));
	assert_false(is_libjvm("libjvm.so"));
	assert_false(is_libjvm("/usr/mylibjvm.so"));
	assert_false(is_libjvm("/usr/libjvm.so.1"));
	assert_false(is_libjvm(" (deleted)"));
	assert_false(is_libjvm(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kind_by_what_is_mapped),
		cmocka_unit_test(we_are_no_jvm),
		cmocka_unit_test(library_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
