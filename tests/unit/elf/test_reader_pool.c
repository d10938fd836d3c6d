// SPDX-License-Identifier: Apache-2.0
/* No reader sees files of two owners: whose is which, and what becomes of readers when there are many. */
#include "reader_world.h"

#include <pthread.h>
#include <sys/stat.h>

#include "elf/reader/reader_cfi.h"
#include "elf/reader/reader_pool.h"

#define USER(n) ((uint64_t)(1000 + (n)) << 32)

/* --- the rule --------------------------------------------------------------------------------- */

static struct file_id id_on(const char *path)
{
	_cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
	struct file_id id;

	assert_int_equal(file_id_read(fd, &id), 0);
	id.owner = 0;
	id.shared = false;
	return id;
}

static uint64_t group_of(const struct file_id *id)
{
	return reader_owner_group(reader_owner(id));
}

static void whose_is_which(void **state)
{
	struct file_id root = id_on("/usr/bin"), own = root, user = root, shared = root;
	struct file_id container = root, there = root, theirs = root;

	(void)state;
	own.owner = geteuid();
	user.owner = 4242;
	shared.shared = true;
	container.minor++; /* a file system that is not ours */
	theirs = container;
	theirs.owner = 4242;
	there = container;
	there.minor++;
	assert_true(group_of(&root) == READER_TRUSTED);
	assert_true(group_of(&own) == READER_TRUSTED);
	assert_true(group_of(&user) != READER_TRUSTED);
	assert_true(group_of(&theirs) == group_of(&user)); /* one user, wherever he writes */
	assert_true(group_of(&shared) != READER_TRUSTED);
	assert_true(group_of(&container) != READER_TRUSTED);
	assert_true(group_of(&there) != group_of(&container));
	user.owner++;
	assert_true(group_of(&theirs) != group_of(&user));
	theirs.shared = true;
	assert_true(group_of(&theirs) != reader_owner_group((uint64_t)4242 << 32));
}

/* What a broker copies of a server's file looks like root's. */
static void a_copy_is_nobodys(void **state)
{
	_cleanup_close_ int self = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	_cleanup_close_ int copy = foreign_file_copy(self);
	struct file_id id;

	(void)state;
	assert_int_equal(file_id_read(copy, &id), 0);
	assert_true(group_of(&id) != READER_TRUSTED);
}

/* --- their processes --------------------------------------------------------------------------- */

struct readers {
	pid_t pids[16];
	size_t count;
};

static struct readers list_readers(void)
{
	struct readers found = { .count = 0 };
	DIR *dir = opendir("/proc");

	for (struct dirent *d; (d = readdir(dir)) && found.count < ARRAY_SIZE(found.pids);) {
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

		if (pid && is_reader(pid) && parent_of(parent_of(parent_of(pid))) == getpid())
			found.pids[found.count++] = pid;
	}
	closedir(dir);
	return found;
}

static bool is_among(const struct readers *readers, pid_t pid)
{
	for (size_t i = 0; i < readers->count; i++)
		if (readers->pids[i] == pid)
			return true;
	return false;
}

/* Have a file of OWNER read; the reader that came with that, 0: none did. */
static pid_t read_one(uint64_t owner)
{
	_cleanup_close_ int fd = open_self();
	struct readers before = list_readers(), after;
	char id[BUILD_ID_BYTES];

	assert_int_equal(reader_build_id(fd, owner, id), 0);
	after = list_readers();
	for (size_t i = 0; i < after.count; i++)
		if (!is_among(&before, after.pids[i]))
			return after.pids[i];
	return 0;
}

static void expect_ended(pid_t pid)
{
	uint64_t end_ns = clock_now_ns() + NEVER_NS;

	while (is_reader(pid) && clock_now_ns() < end_ns)
		usleep(2000);
	assert_false(is_reader(pid));
}

static void each_owner_has_his_own(void **state)
{
	pid_t pids[READER_POOL_LOOP], trusted = read_one(READER_TRUSTED);

	(void)state;
	assert_true(trusted > 0);
	for (unsigned int i = 0; i < READER_POOL_LOOP; i++) {
		pids[i] = read_one(USER(i));
		assert_true(pids[i] > 0);
	}
	/* All are there yet, and are asked again. */
	assert_int_equal(read_one(READER_TRUSTED), 0);
	for (unsigned int i = 0; i < READER_POOL_LOOP; i++)
		assert_int_equal(read_one(USER(i)), 0);
	/* One more: the oldest ends, and a new one comes for each of the two. */
	assert_true(read_one(USER(READER_POOL_LOOP)) > 0);
	expect_ended(pids[0]);
	assert_true(read_one(USER(0)) > 0);
	expect_ended(pids[1]);
	assert_true(is_reader(trusted));
	assert_int_equal(list_readers().count, READER_POOL_LOOP + 1);
	assert_in_range(reader_resident_bytes(), (READER_POOL_LOOP + 1) * (64U << 10),
			(READER_POOL_LOOP + 1) * (64U << 20));
}

static void *read_two(void *data)
{
	pid_t *pids = data;

	pids[0] = read_one(USER(0));
	pids[1] = read_one(USER(1));
	expect_ended(pids[0]);
	reader_pool_drop();
	return NULL;
}

/* Who parses one file after the other has one besides that for trusted files. */
static void a_worker_has_one(void **state)
{
	pthread_t thread;
	pid_t pids[2];

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, read_two, pids), 0);
	pthread_join(thread, NULL);
	assert_true(pids[0] > 0 && pids[1] > 0);
	expect_ended(pids[1]);
}

/* The next process in the same place has other files under the same numbers. */
static void handles_of_one_that_was_ended(void **state)
{
	_cleanup_close_ int fd = open_self();
	struct reader_cfi *first, *other, *again;
	struct cfi_rows rows = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(reader_cfi_open(fd, USER(0), &first, &err), 0);
	assert_int_equal(reader_cfi_open(fd, USER(1), &other, &err), 0);
	for (unsigned int i = 2; i <= READER_POOL_LOOP; i++)
		assert_true(read_one(USER(i)) > 0);
	assert_int_equal(reader_cfi_page(first, 0x1000, &rows, &err), -ESTALE);
	/* That has ended the one of USER(1), whose place this one takes. */
	assert_int_equal(reader_cfi_open(fd, USER(0), &again, &err), 0);
	assert_int_equal(reader_cfi_page(first, 0x1000, &rows, &err), -ESTALE);
	assert_int_equal(reader_cfi_page(again, 0x1000, &rows, &err), 0);
	reader_cfi_close(first);
	reader_cfi_close(other);
	assert_int_equal(reader_cfi_page(again, 0x1000, &rows, &err), 0);
	reader_cfi_close(again);
	vec_release(&rows.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whose_is_which),
		cmocka_unit_test(a_copy_is_nobodys),
		cmocka_unit_test_setup_teardown(each_owner_has_his_own, with_readers, without),
		cmocka_unit_test_setup_teardown(a_worker_has_one, with_readers, without),
		cmocka_unit_test_setup_teardown(handles_of_one_that_was_ended, with_readers,
						without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
