// SPDX-License-Identifier: Apache-2.0
/* What readers may do, which is nothing, and that nobody waits for one. */
#include "reader_world.h"

#include "wall/futex.h"

/* Who waits for one that is runnable waits longer. */
#define LONG_NS (8 * NSEC_PER_SEC)

/* --- what it may ------------------------------------------------------------------------------ */

static void expect_status(pid_t pid, const char *key, const char *expected)
{
	char value[128];

	read_status(pid, key, value);
	assert_string_equal(value, expected);
}

static void what_a_reader_has(void **state)
{
	_cleanup_close_ int ours = open("/dev/null", O_RDONLY); /* not close-on-exec */
	pid_t reader;

	(void)state;
	expect_demangled(MANGLED, NAME);
	reader = find_reader();
	assert_true(reader > 0);
	expect_status(reader, "CapEff", "0000000000000000");
	expect_status(reader, "CapPrm", "0000000000000000");
	expect_status(reader, "CapInh", "0000000000000000");
	expect_status(reader, "CapAmb", "0000000000000000");
	expect_status(reader, "NoNewPrivs", "1");
	if (!SANITIZED)
		expect_status(reader, "Seccomp", "2");
	if (getuid() != 0)
		return;
	expect_status(reader, "CapBnd", "0000000000000000");
	expect_status(reader, "Uid", "4294967280\t4294967280\t4294967280\t4294967280");
	expect_status(reader, "Gid", "4294967280\t4294967280\t4294967280\t4294967280");
	expect_status(reader, "Groups", " ");
	/* Three of /dev/null, and the socket. */
	assert_int_equal(count_fds(reader), 4);
}

/* --- readers that are taken over: what they do, in the place of one ---------------------------- */

static bool takes_none(uint32_t op)
{
	(void)op;
	return false;
}

static void give_up_rights(const struct wall_call *call)
{
	reader_rights_give_up(call->len);
}

static int64_t opens_a_file(struct wall_call *call, int fd, int *ret_fd)
{
	(void)call;
	(void)fd;
	*ret_fd = -1;
	return open("/", O_RDONLY) < 0 ? -1 : 0;
}

static int64_t makes_code(struct wall_call *call, int fd, int *ret_fd)
{
	(void)call;
	(void)fd;
	*ret_fd = -1;
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return 0;
}

static int64_t takes_memory(struct wall_call *call, int fd, int *ret_fd)
{
	(void)fd;
	*ret_fd = -1;
	for (int i = 0; i < 256; i++)
		*(char *volatile *)call->data = xcalloc(1, 1U << 20);
	return 0;
}

static int64_t spins(struct wall_call *call, int fd, int *ret_fd)
{
	(void)fd;
	*ret_fd = -1;
	while (atomic_load(&call->asked))
		;
	return 0;
}

/* It says that it is us, so that we would wait for somebody who gets on. */
static int64_t sleeps(struct wall_call *call, int fd, int *ret_fd)
{
	(void)fd;
	*ret_fd = -1;
	atomic_store(&call->broker, (uint32_t)call->count);
	for (;;)
		futex_wait(&call->asked, atomic_load(&call->asked), NULL);
	return 0;
}

static int64_t gives_a_file(struct wall_call *call, int fd, int *ret_fd)
{
	(void)call;
	(void)fd;
	*ret_fd = dup(0);
	return 0;
}

static bool opens_all(uint32_t op)
{
	(void)op;
	return true;
}

static int64_t ask_one_that(int64_t (*carry_out)(struct wall_call *call, int fd, int *ret_fd),
			    enum reader_op op)
{
	static struct trade trade;
	const struct reader_ask ask = {
		.op = op, .fd = -1, .owner = 1, .count = (uint32_t)getpid()
	};
	struct err err = { 0 };
	int64_t r;

	without(NULL);
	trade = (struct trade){ "hostprof-reader", true,      give_up_rights, takes_none,
				opens_all,	   carry_out, opens_all };
	reader_set_trade(&trade);
	reader_set_memory(64U << 20);
	assert_int_equal(wall_begin(&trade, NULL, &err), 0);
	r = reader_call(&ask, &err);
	if (r < 0)
		expect_no_reader();
	without(NULL);
	return r;
}

static void what_it_does_that_it_may_not(void **state)
{
	(void)state;
	if (SANITIZED)
		skip();
	assert_int_equal(ask_one_that(opens_a_file, READER_IMAGE_END), -ECHILD);
	assert_int_equal(ask_one_that(makes_code, READER_IMAGE_END), -ECHILD);
	assert_int_equal(ask_one_that(takes_memory, READER_IMAGE_END), -ECHILD);
	/* To give a descriptor takes sendmsg(). */
	assert_int_equal(ask_one_that(gives_a_file, READER_IMAGE_END), -ECHILD);
}

/* Long before it is late for one that only wants a cpu. */
static void it_is_ended_when_it_is_late(void **state)
{
	uint64_t begin_ns = clock_now_ns();

	(void)state;
	assert_int_equal(ask_one_that(spins, READER_DEMANGLE), -ETIMEDOUT);
	assert_int_equal(ask_one_that(sleeps, READER_DEMANGLE), -ETIMEDOUT);
	assert_true(clock_now_ns() - begin_ns < LONG_NS);
}

/* --- readers that come to an end -------------------------------------------------------------- */

/* What is asked next has nothing to do with it. */
static void one_that_was_killed_is_replaced(void **state)
{
	_cleanup_close_ int fd = open_self();
	struct image_content content;
	struct reader_figures figures;

	(void)state;
	for (int i = 0; i < 10; i++) {
		expect_demangled(MANGLED, NAME);
		signal_reader(SIGKILL);
		expect_no_reader();
	}
	image_content_read(fd, 0, "self", SIZE_MAX, &content);
	assert_string_equal(content.failure ? content.failure : "", "");
	assert_true(content.symbols.ranges.len > 50);
	image_content_release(&content);
	reader_get_figures(&figures);
	assert_int_equal(figures.deaths, 0);
	assert_int_equal(figures.refused, 0);
	assert_int_equal(figures.late, 0);
	assert_true(figures.cpu_ns > 0);
}

static void one_that_stops_is_ended(void **state)
{
	uint64_t begin_ns;
	struct reader_figures figures;
	bool cpp, late;

	(void)state;
	expect_demangled(MANGLED, NAME);
	signal_reader(SIGSTOP);
	begin_ns = clock_now_ns();
	assert_null(reader_demangle(MANGLED, 0, &cpp, &late));
	assert_true(late);
	assert_true(clock_now_ns() - begin_ns < NEVER_NS);
	expect_no_reader();
	expect_demangled(MANGLED, NAME);
	reader_get_figures(&figures);
	assert_int_equal(figures.late, 1);
}

/* Its share of memory is not enough: three readers die of it, then it is given up. */
static void a_file_that_ends_readers(void **state)
{
	_cleanup_close_ int fd = open_many();
	struct image_content content;
	struct reader_figures figures;

	(void)state;
	if (SANITIZED)
		skip();
	reader_set_memory(6U << 20); /* its tables, but not what is made of them */
	image_content_read(fd, 0, "many", SIZE_MAX, &content);
	assert_non_null(content.failure);
	assert_string_equal(content.failure, "cannot read many: its reader died of it");
	image_content_release(&content);
	reader_get_figures(&figures);
	assert_int_equal(figures.deaths, 3);
	assert_int_equal(figures.refused, 1);
	assert_string_equal(figures.first, "many");
	reader_set_memory(0);
	image_content_read(fd, 0, "many", SIZE_MAX, &content);
	assert_null(content.failure);
	image_content_release(&content);
}

static void resident(void **state)
{
	(void)state;
	assert_int_equal(reader_resident_bytes(), 0);
	expect_demangled(MANGLED, NAME);
	assert_in_range(reader_resident_bytes(), 64U << 10, SANITIZED ? 1U << 30 : 64U << 20);
	reader_end();
	assert_int_equal(reader_resident_bytes(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_a_reader_has, with_readers, without),
		cmocka_unit_test(what_it_does_that_it_may_not),
		cmocka_unit_test(it_is_ended_when_it_is_late),
		cmocka_unit_test_setup_teardown(one_that_was_killed_is_replaced, with_readers,
						without),
		cmocka_unit_test_setup_teardown(one_that_stops_is_ended, with_readers, without),
		cmocka_unit_test_setup_teardown(a_file_that_ends_readers, with_readers, without),
		cmocka_unit_test_setup_teardown(resident, with_readers, without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
