/* SPDX-License-Identifier: Apache-2.0 */
/* What processes take of memory: ours, a child's, and that of one that has gone. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/budget/resident.h"

#define BLOCK_BYTES (64U << 20)

static void expect_nothing(struct resident resident)
{
	assert_int_equal(resident.address_bytes, 0);
	assert_int_equal(resident.resident_bytes, 0);
	assert_int_equal(resident.own_bytes, 0);
}

static void ours(void **state)
{
	struct resident before = resident_read(0), after;
	char *block =
		mmap(NULL, BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(block, MAP_FAILED);
	assert_true(before.address_bytes > before.resident_bytes);
	assert_true(before.resident_bytes > before.own_bytes);
	memset(block, 1, BLOCK_BYTES);
	after = resident_read(0);
	assert_in_range(after.own_bytes - before.own_bytes, BLOCK_BYTES - (1U << 20),
			BLOCK_BYTES + (8U << 20));
	munmap(block, BLOCK_BYTES);
}

/* It waits to be ended. */
static pid_t start_child(size_t bytes)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid)
		return pid;
	memset(mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
		    -1, 0),
	       1, bytes);
	for (;;)
		pause();
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* The file that stays open is of the process that it was opened for, and of no other. */
static void one_after_the_other(void **state)
{
	struct resident_watch watch = { .is_open = false };
	pid_t large = start_child(BLOCK_BYTES), small = start_child(4096);
	int fd;

	(void)state;
	while (resident_read((uint32_t)large).own_bytes < BLOCK_BYTES)
		usleep(1000);
	assert_true(resident_watch_read(&watch, (uint32_t)large).own_bytes >= BLOCK_BYTES);
	fd = watch.fd;
	/* One that is opened anew may have the same number, but not this. */
	assert_int_equal(fcntl(fd, F_SETFD, 0), 0);
	assert_true(resident_watch_read(&watch, (uint32_t)large).own_bytes >= BLOCK_BYTES);
	assert_int_equal(watch.fd, fd);
	assert_int_equal(fcntl(fd, F_GETFD), 0);
	assert_in_range(resident_watch_read(&watch, (uint32_t)small).own_bytes, 1, BLOCK_BYTES / 2);
	end_child(small);
	expect_nothing(resident_watch_read(&watch, (uint32_t)small));
	expect_nothing(resident_watch_read(&watch, (uint32_t)small));
	assert_true(resident_watch_read(&watch, (uint32_t)large).own_bytes >= BLOCK_BYTES);
	end_child(large);
	resident_watch_release(&watch);
	assert_false(watch.is_open);
	assert_int_equal(fcntl(fd, F_GETFD), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ours),
		cmocka_unit_test(one_after_the_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
