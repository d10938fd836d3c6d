// SPDX-License-Identifier: Apache-2.0
/* Entries of a BPF map, which is the test's: what is set, taken back, and what failed. */
#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>

#include "capture/map_entry.h"

static int held, error; /* 0: none */

static int done(int ok)
{
	errno = error ? error : ENOENT;
	return ok && !error ? 0 : -1;
}

int bpf_map_update_elem(int fd, const void *key, const void *value, __u64 flags)
{
	assert_int_equal(fd, 7);
	assert_int_equal(*(const int *)key, 1);
	assert_int_equal(flags, BPF_ANY);
	held = *(const int *)value;
	return done(1);
}

int bpf_map_delete_elem(int fd, const void *key)
{
	int had = held;

	assert_int_equal(fd, 7);
	assert_int_equal(*(const int *)key, 1);
	held = 0;
	return done(had);
}

int bpf_map_lookup_elem(int fd, const void *key, void *value)
{
	assert_int_equal(fd, 7);
	assert_int_equal(*(const int *)key, 1);
	*(int *)value = held;
	return done(held);
}

static void set_and_taken_back(void **state)
{
	const int key = 1, value = 5;
	int got;

	(void)state;
	error = 0;
	assert_int_equal(map_entry_get(7, &key, &got), -ENOENT);
	assert_int_equal(map_entry_set(7, &key, &value), 0);
	assert_int_equal(map_entry_get(7, &key, &got), 0);
	assert_int_equal(got, 5);
	assert_int_equal(map_entry_set(7, &key, NULL), 0);
	assert_int_equal(held, 0);
	assert_int_equal(map_entry_set(7, &key, NULL), 0); /* it is gone already */
}

static void failures(void **state)
{
	const int key = 1, value = 5;
	int got;

	(void)state;
	error = E2BIG;
	assert_int_equal(map_entry_set(7, &key, &value), -E2BIG);
	error = EPERM;
	assert_int_equal(map_entry_set(7, &key, NULL), -EPERM);
	assert_int_equal(map_entry_get(7, &key, &got), -EPERM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_and_taken_back),
		cmocka_unit_test(failures),
	};

	return cmocka_run_group_tests_name("map_entry", tests, NULL, NULL);
}
