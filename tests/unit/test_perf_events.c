// SPDX-License-Identifier: Apache-2.0
/* What is asked of perf_event_open(): the system calls are the test's. */
#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capture/perf_events.h"

#define PROG_FD	 77
#define FIRST_FD 5000 /* far above any that is open */
#define LINK_FD	 6000

static struct {
	struct perf_event_attr attrs[4];
	long cpus[4];
	unsigned int opened;
	unsigned int fail_at; /* the number of the event that cannot be opened, from 1 on */
	bool no_link;
	uint64_t cookies[4];
	unsigned int links;
	char log[256];
} seen;

static void note(const char *what, int fd)
{
	size_t len = strlen(seen.log);

	snprintf(seen.log + len, sizeof(seen.log) - len, "%s %d\n", what, fd);
}

long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	va_list ap;
	long pid, group;

	if (number != SYS_perf_event_open)
		return -1;
	va_start(ap, number);
	attr = va_arg(ap, const struct perf_event_attr *);
	pid = va_arg(ap, int);
	seen.cpus[seen.opened] = va_arg(ap, int);
	group = va_arg(ap, int);
	va_end(ap);
	if (pid != -1 || group != -1) /* all processes, no group */
		return -1;
	seen.attrs[seen.opened++] = *attr;
	if (seen.opened == seen.fail_at) {
		errno = EMFILE;
		return -1;
	}
	return FIRST_FD + (long)seen.opened - 1;
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	if (prog_fd != PROG_FD || type != BPF_PERF_EVENT ||
	    target_fd != FIRST_FD + (int)seen.opened - 1)
		return -1;
	seen.cookies[seen.links++] = opts->perf_event.bpf_cookie;
	errno = EACCES;
	return seen.no_link ? -1 : LINK_FD + (int)seen.links - 1;
}

int ioctl(int fd, unsigned long request, ...)
{
	note(request == PERF_EVENT_IOC_ENABLE	 ? "on"
	     : request == PERF_EVENT_IOC_DISABLE ? "off"
						 : "?",
	     fd);
	return 0;
}

int close(int fd)
{
	if (fd >= FIRST_FD)
		note("close", fd);
	return 0;
}

static const struct capture_event events[] = {
	{ .name = "cpu",
	  .type = PERF_TYPE_SOFTWARE,
	  .config = PERF_COUNT_SW_CPU_CLOCK,
	  .period = 1003009 },
	{ .name = "cycles",
	  .type = PERF_TYPE_HARDWARE,
	  .config = PERF_COUNT_HW_CPU_CYCLES,
	  .freq_hz = 997 },
	{ .name = "page-faults",
	  .type = PERF_TYPE_SOFTWARE,
	  .config = PERF_COUNT_SW_PAGE_FAULTS,
	  .period = 64 },
};

static int setup(void **state)
{
	(void)state;
	memset(&seen, 0, sizeof(seen));
	return 0;
}

static struct perf_events_options all(void)
{
	return (struct perf_events_options){ .events = events, .count = 3, .prog_fd = PROG_FD };
}

static void each_as_it_was_asked_for(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	assert_int_equal(perf_events_open(&options, 3, &opened, &err), 0);
	assert_int_equal(opened.count, 3);
	assert_int_equal(seen.opened, 3);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(seen.attrs[i].size, sizeof(struct perf_event_attr));
		assert_int_equal(seen.attrs[i].type, events[i].type);
		assert_int_equal(seen.attrs[i].config, events[i].config);
		assert_true(seen.attrs[i].disabled);
		assert_false(seen.attrs[i].exclude_user);
		assert_false(seen.attrs[i].exclude_kernel);
		assert_int_equal(seen.cpus[i], 3);
		assert_int_equal(opened.fds[i], FIRST_FD + i);
		assert_int_equal(opened.links[i], LINK_FD + i);
		assert_int_equal(seen.cookies[i], i); /* tells the program which it was */
	}
	assert_false(seen.attrs[0].freq);
	assert_int_equal(seen.attrs[0].sample_period, 1003009);
	assert_true(seen.attrs[1].freq);
	assert_int_equal(seen.attrs[1].sample_freq, 997);
	assert_false(seen.attrs[2].freq);
	assert_int_equal(seen.attrs[2].sample_period, 64);
}

/* The program must see every tick of a clock. */
static void clocks_leave_nothing_out(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.exclude_user = true;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), 0);
	assert_false(seen.attrs[0].exclude_user);
	assert_true(seen.attrs[1].exclude_user);
	assert_true(seen.attrs[2].exclude_user);
	assert_false(seen.attrs[1].exclude_kernel);
	setup(NULL);
	options.exclude_user = false;
	options.exclude_kernel = true;
	assert_int_equal(perf_events_open(&options, 0, &opened, &err), 0);
	assert_false(seen.attrs[0].exclude_kernel);
	assert_true(seen.attrs[1].exclude_kernel);
	assert_true(seen.attrs[2].exclude_kernel);
	assert_false(seen.attrs[1].exclude_user);
}

static void all_or_none(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened = { .count = 0 };
	struct err err = { 0 };

	(void)state;
	seen.fail_at = 2;
	assert_int_equal(perf_events_open(&options, 1, &opened, &err), -EMFILE);
	assert_non_null(strstr(err.text, "'cycles' on cpu 1"));
	assert_string_equal(seen.log, "close 6000\nclose 5000\n");
	assert_int_equal(opened.count, 0);
	setup(NULL);
	seen.no_link = true;
	assert_int_equal(perf_events_open(&options, 1, &opened, &err), -EACCES);
	assert_string_equal(seen.log, "close 5000\n");
}

static void on_and_off(void **state)
{
	struct perf_events_options options = all();
	struct perf_events opened;
	struct err err;

	(void)state;
	options.count = 2;
	perf_events_open(&options, 0, &opened, &err);
	assert_int_equal(perf_events_enable(&opened), 0);
	perf_events_disable(&opened);
	perf_events_release(&opened);
	perf_events_release(&opened);
	perf_events_enable(&opened);
	assert_string_equal(seen.log, "on 5000\non 5001\noff 5000\noff 5001\n"
				      "close 6000\nclose 5000\nclose 6001\nclose 5001\n");
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_as_it_was_asked_for),
		TEST(clocks_leave_nothing_out),
		TEST(all_or_none),
		TEST(on_and_off),
	};

	return cmocka_run_group_tests_name("perf_events", tests, NULL, NULL);
}
