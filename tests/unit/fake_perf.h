/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of perf_event_open(), noted: the system calls are the test's. Included once per test. */
#ifndef HOSTPROF_TESTS_FAKE_PERF_H
#define HOSTPROF_TESTS_FAKE_PERF_H

#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/perf_events.h"

#define PROG_FD	 77
#define FIRST_FD 5000 /* far above any that is open */
#define LINK_FD	 6000
#define PERIOD	 1003009ULL
/* Of the events below the first is a clock. */
#define OPENED 6

static struct {
	struct perf_event_attr attrs[8];
	long cpus[8];
	unsigned int opened;
	unsigned int fail_at; /* the number of the event that cannot be opened, from 1 on */
	int error;	      /* its errno; 0: EMFILE */
	bool no_link;
	int fd_from, link_from; /* what the first ones are less */
	uint64_t cookies[8];
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
		errno = seen.error ? seen.error : EMFILE;
		return -1;
	}
	return FIRST_FD - seen.fd_from + (long)seen.opened - 1;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;

	va_start(ap, request);
	if (request == PERF_EVENT_IOC_SET_OUTPUT)
		note("output", fd * 10 + va_arg(ap, int));
	va_end(ap);
	return 0;
}

ssize_t read(int fd, void *bytes, size_t size)
{
	const uint64_t values[] = { (uint64_t)fd, 10, 5 };

	assert_true(size == sizeof(values) || fd < FIRST_FD);
	if (fd < FIRST_FD || fd == FIRST_FD + 3)
		return -1;
	memcpy(bytes, values, sizeof(values));
	return sizeof(values);
}

int bpf_link_create(int prog_fd, int target_fd, enum bpf_attach_type type,
		    const struct bpf_link_create_opts *opts)
{
	if (prog_fd != PROG_FD || type != BPF_PERF_EVENT ||
	    target_fd != FIRST_FD - seen.fd_from + (int)seen.opened - 1)
		return -1;
	seen.cookies[seen.links++] = opts->perf_event.bpf_cookie;
	errno = EACCES;
	return seen.no_link ? -1 : LINK_FD - seen.link_from + (int)seen.links - 1;
}

int close(int fd)
{
	if (fd < FIRST_FD && !seen.fd_from && !seen.link_from)
		return close_range((unsigned int)fd, (unsigned int)fd, 0);
	note("close", fd);
	return 0;
}

ssize_t getrandom(void *bytes, size_t len, unsigned int flags)
{
	(void)flags;
	memset(bytes, 0, len);
	return (ssize_t)len;
}

static const struct capture_event events[] = {
	{ .name = "cpu",
	  .type = PERF_TYPE_SOFTWARE,
	  .config = PERF_COUNT_SW_CPU_CLOCK,
	  .period = PERIOD },
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
	return (struct perf_events_options){ .events = events,
					     .count = 3,
					     .prog_fds = { PROG_FD } };
}

static const struct capture_event shared[] = {
	{ .name = "cpu",
	  .type = PERF_TYPE_SOFTWARE,
	  .config = PERF_COUNT_SW_CPU_CLOCK,
	  .period = PERIOD },
	{ .name = "uretprobe:libx.so:f",
	  .period = 1,
	  .trigger = WIRE_TRIGGER_UPROBE,
	  .probe = { .type = 8, .config = 1, .path = "/lib/libx.so", .offset = 0x1230 } },
	{ .name = "sched:sched_switch",
	  .type = PERF_TYPE_TRACEPOINT,
	  .config = 314,
	  .period = 1,
	  .trigger = WIRE_TRIGGER_TRACEPOINT },
	{ .name = "raw", .period = 1, .trigger = WIRE_TRIGGER_RAW },
};

static struct perf_events_options probes(void)
{
	return (struct perf_events_options){
		.events = shared,
		.count = 4,
		.exclude_kernel = true,
		.prog_fds = { [WIRE_TRIGGER_UPROBE] = PROG_FD,
			      [WIRE_TRIGGER_TRACEPOINT] = PROG_FD },
	};
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

#endif
