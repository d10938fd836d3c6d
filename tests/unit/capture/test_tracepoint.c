// SPDX-License-Identifier: Apache-2.0
/* Tracepoints by name; tracefs is the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/probes/tracepoint.h"

static struct {
	const char *mounted; /* NULL: nowhere */
	int error;	     /* of reading */
	const char *id;
	char read[256];
} tracefs;

int access(const char *path, int mode)
{
	char events[128];

	(void)mode;
	snprintf(events, sizeof(events), "%s/events", tracefs.mounted ? tracefs.mounted : "");
	errno = ENOENT;
	return tracefs.mounted && strcmp(path, events) == 0 ? 0 : -1;
}

int file_read(const char *path, size_t limit, struct strbuf *out)
{
	(void)limit;
	snprintf(tracefs.read, sizeof(tracefs.read), "%s", path);
	if (tracefs.error)
		return tracefs.error;
	strbuf_addstr(out, tracefs.id);
	return 0;
}

static int setup(void **state)
{
	(void)state;
	memset(&tracefs, 0, sizeof(tracefs));
	tracefs.mounted = "/sys/kernel/tracing";
	tracefs.id = "314\n";
	return 0;
}

static void by_its_number(void **state)
{
	uint64_t number;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(tracepoint_parse("sched:sched_switch", &number, &err), 0);
	assert_int_equal(number, 314);
	assert_string_equal(tracefs.read, "/sys/kernel/tracing/events/sched/sched_switch/id");
	tracefs.mounted = "/sys/kernel/debug/tracing";
	assert_int_equal(tracepoint_parse("kvm:kvm_exit", &number, &err), 0);
	assert_string_equal(tracefs.read, "/sys/kernel/debug/tracing/events/kvm/kvm_exit/id");
}

static void expect_error(const char *name, int code, const char *text, const char *hint)
{
	uint64_t number;
	struct err err = { 0 };

	assert_int_equal(tracepoint_parse(name, &number, &err), code);
	if (!strstr(err.text, text) || !strstr(err.hint, hint))
		fail_msg("%s: %s / %s", name, err.text, err.hint);
}

/* Nothing that would lead elsewhere in the tree is read. */
static void malformed(void **state)
{
	static const char *const names[] = { ":x",     "a:",	"a:b:c", "../a:b",
					     "a:../b", "a b:c", "a:b/c" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		expect_error(names[i], -EINVAL, "no tracepoint's name", "GROUP:NAME");
	assert_string_equal(tracefs.read, "");
}

static void what_is_missing(void **state)
{
	(void)state;
	tracefs.error = -ENOENT;
	expect_error("sched:x", -ENOENT, "no tracepoint 'sched:x'", "/sys/kernel/tracing/events");
	tracefs.error = -EACCES;
	expect_error("sched:x", -EACCES, "may not be read", "root");
	tracefs.error = 0;
	tracefs.id = "\n";
	expect_error("sched:x", -ENOENT, "no tracepoint", "lists");
	tracefs.mounted = NULL;
	expect_error("sched:x", -ENOENT, "tracefs is not mounted",
		     "mount -t tracefs tracefs /sys/kernel/tracing");
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_its_number),
		TEST(malformed),
		TEST(what_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
