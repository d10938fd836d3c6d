// SPDX-License-Identifier: Apache-2.0
/* Brokers that do not answer, come back, were killed or stopped: nobody waits for them, and nobody pays who is not to blame. */
#include "wall_world.h"

#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

/* Memory that does not come to who reads it, until it is let; skips the test where there can be none. */
struct page {
	int fd;
	void *at;
};

static struct page page_that_does_not_come(void)
{
	struct page page = { .fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC) };
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	if (page.fd < 0 || ioctl(page.fd, UFFDIO_API, &api) < 0)
		skip();
	page.at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	range.range.start = (uintptr_t)page.at;
	range.range.len = 4096;
	assert_int_equal(ioctl(page.fd, UFFDIO_REGISTER, &range), 0);
	return page;
}

static void fill_page(const struct page *page)
{
	struct uffdio_zeropage zero = { .range = { (uintptr_t)page->at, 4096 } };

	assert_int_equal(ioctl(page->fd, UFFDIO_ZEROPAGE, &zero), 0);
}

static void drop_page(const struct page *page)
{
	close(page->fd);
	munmap(page->at, 4096);
}

static void let_come(const struct page *page)
{
	fill_page(page);
	drop_page(page);
}

static void one_that_does_not_answer_is_left_behind(void **state)
{
	struct page page = page_that_does_not_come();
	uint64_t begin_ns = clock_now_ns();
	struct wall_figures figures;
	char byte, comm[16];
	pid_t pids[4];

	(void)state;
	assert_int_equal(read_own("x", &byte, 1), 1);
	expect_brokers(pids, 1);
	assert_int_equal(read_own(page.at, &byte, 1), -ETIMEDOUT);
	/* Not asked for a while; others are, by another broker. */
	assert_int_equal(read_own("x", &byte, 1), -EBUSY);
	assert_int_equal(wall_read_file(1, "/proc/1/stat", 0, &byte, 1), 1);
	expect_brokers(pids, 2);
	wall_get_figures(&figures);
	assert_int_equal(figures.late, 1);
	assert_int_equal(figures.refused, 1);
	assert_int_equal(figures.lost, 1);
	assert_int_equal(figures.first_pid, getpid());
	assert_int_equal(prctl(PR_GET_NAME, comm), 0);
	assert_string_equal(figures.first_comm, comm);
	assert_true(clock_now_ns() - begin_ns < NEVER_NS);
	let_come(&page);
}

static void *let_come_late(void *data)
{
	usleep(60000);
	fill_page(data);
	return NULL;
}

/* As of a process whose memory somebody has locked who lost his cpu: it is waited for, but not always. */
static void one_that_is_slow_is_waited_for(void **state)
{
	unsigned int came = 0;
	struct wall_figures figures;
	pthread_t thread;
	char byte;

	(void)state;
	for (;;) {
		struct page page = page_that_does_not_come();
		int64_t r;

		assert_int_equal(pthread_create(&thread, NULL, let_come_late, &page), 0);
		r = read_own(page.at, &byte, 1);
		pthread_join(thread, NULL);
		drop_page(&page);
		wall_get_figures(&figures);
		assert_int_equal(figures.late, r != 1);
		if (r != 1)
			break;
		came++;
	}
	/* 300 ms of patience, some 35 each. */
	assert_in_range(came, 3, 12);
}

/* Of several in one call the others are not to blame, and are asked from then on without it. */
static void one_of_several_does_not_answer(void **state)
{
	struct page page = page_that_does_not_come();
	static const char text[] = "x";
	const struct wall_piece pieces[] = { { (uintptr_t)text, 1 }, { (uintptr_t)page.at, 1 } };
	struct wall_part parts[] = { { .count = 1 }, { (uint32_t)getpid(), 1, 0 } };
	struct wall_figures figures;
	char data[2] = "";
	pid_t other = fork();

	(void)state;
	if (!other) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pause();
		_exit(0);
	}
	parts[0].pid = (uint32_t)other;
	assert_int_equal(wall_read_parts(parts, 2, pieces, data), -ETIMEDOUT);
	wall_get_figures(&figures);
	assert_int_equal(figures.late, 1);
	assert_int_equal(figures.first_pid, getpid());
	assert_int_equal(wall_read_parts(parts, 2, pieces, data), 0);
	assert_int_equal(parts[0].result, 1);
	assert_int_equal(data[0], 'x');
	assert_int_equal(parts[1].result, -EBUSY);
	/* The bytes of the second one are where they would be behind those of one that is not asked. */
	parts[0].pid = (uint32_t)getpid();
	parts[1].pid = (uint32_t)other;
	memset(data, 0, sizeof(data));
	assert_int_equal(
		wall_read_parts(parts, 2, (struct wall_piece[]){ pieces[1], pieces[0] }, data), 0);
	assert_int_equal(parts[0].result, -EBUSY);
	assert_int_equal(parts[1].result, 1);
	assert_memory_equal(data, "\0x", 2);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	let_come(&page);
}

/* It ends when it comes back. */
static void one_that_comes_back_is_not_kept(void **state)
{
	struct page page = page_that_does_not_come();
	pid_t pids[4];
	char byte;

	(void)state;
	read_own("x", &byte, 1);
	expect_brokers(pids, 1);
	assert_int_equal(read_own(page.at, &byte, 1), -ETIMEDOUT);
	let_come(&page);
	expect_brokers(pids, 0);
	/* Who was late for a moment is asked again. */
	assert_int_equal(read_own("x", &byte, 1), 1);
}

/* It would not go on, whoever is asked about: it is ended, and another one asked. */
static void one_that_was_stopped_is_replaced(void **state)
{
	struct wall_figures figures;
	pid_t pids[4], before;
	char byte;

	(void)state;
	assert_int_equal(read_own("x", &byte, 1), 1);
	for (int i = 0; i < 6; i++) {
		expect_brokers(pids, 1);
		before = pids[0];
		kill(before, SIGSTOP);
		byte = 0;
		assert_int_equal(read_own("x", &byte, 1), 1);
		assert_int_equal(byte, 'x');
		expect_brokers(pids, 1);
		assert_int_not_equal(pids[0], before);
	}
	wall_get_figures(&figures);
	assert_int_equal(figures.late, 0);
	assert_int_equal(figures.refused, 0);
}

/* Neither it nor who made it; the call that it had is not lost, and nobody is to blame. */
static void one_that_was_killed_is_replaced(void **state)
{
	struct wall_figures figures;
	pid_t pids[4], nursery;
	char byte;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(read_own("x", &byte, 1), 1);
		expect_brokers(pids, 1);
		kill(pids[0], SIGKILL);
	}
	wall_get_figures(&figures);
	assert_int_equal(figures.late, 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(read_own("x", &byte, 1), 1);
		expect_brokers(pids, 1);
		nursery = find_parent(pids[0]);
		assert_true(nursery > 1);
		kill(nursery, SIGKILL);
		kill(pids[0], SIGKILL);
		assert_int_equal(read_own("x", &byte, 1), 1);
		expect_brokers(pids, 1);
	}
}

static void *read_in_thread(void *data)
{
	char byte;

	*(int *)data = read_own("x", &byte, 1);
	return NULL;
}

/* Each thread has its own; it goes with the thread. */
static void threads_do_not_wait_for_each_other(void **state)
{
	pthread_t thread;
	pid_t pids[4];
	int result = 0;
	char byte;

	(void)state;
	assert_int_equal(wall_read_file(1, "/proc/1/stat", 0, &byte, 1), 1);
	expect_brokers(pids, 1);
	kill(pids[0], SIGSTOP);
	pthread_create(&thread, NULL, read_in_thread, &result);
	pthread_join(thread, NULL);
	assert_int_equal(result, 1);
	kill(pids[0], SIGCONT);
	expect_brokers(pids, 1);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, with_wall, without)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(one_that_does_not_answer_is_left_behind),
		TEST(one_that_is_slow_is_waited_for),
		TEST(one_of_several_does_not_answer),
		TEST(one_that_comes_back_is_not_kept),
		TEST(one_that_was_killed_is_replaced),
		TEST(one_that_was_stopped_is_replaced),
		TEST(threads_do_not_wait_for_each_other),
	};

	return cmocka_run_group_tests_name("wall_brokers", tests, NULL, NULL);
}
