// SPDX-License-Identifier: Apache-2.0
/* What is said of events of a machine of the test's: it has cycles and page faults, caches and uprobes, and nothing else. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "capture/event.h"
#include "capture/preflight/preflight.h"
#include "cmd/list/list_events.h"

static bool permitted;

bool preflight_may_open_events(void)
{
	return permitted;
}

int access(const char *path, int mode)
{
	if (!strcmp(path, "/sys/bus/event_source/devices/cpu"))
		return 0;
	return faccessat(AT_FDCWD, path, mode, 0);
}

static bool is_there(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return attr->config == PERF_COUNT_HW_CPU_CYCLES && attr->freq;
	if (attr->type == PERF_TYPE_SOFTWARE)
		return attr->config == PERF_COUNT_SW_PAGE_FAULTS;
	return attr->type == PERF_TYPE_HW_CACHE && attr->config == PERF_COUNT_HW_CACHE_LL;
}

long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	va_list ap;

	if (number != SYS_perf_event_open)
		return -1;
	va_start(ap, number);
	attr = va_arg(ap, const struct perf_event_attr *);
	va_end(ap);
	errno = ENOENT;
	return is_there(attr) ? open("/dev/null", O_RDONLY | O_CLOEXEC) : -1;
}

/* The line of NAME in the part of the table that begins with HEADING. */
static const char *line_of(const char *table, const char *heading, const char *name)
{
	static char line[256];
	char wanted[64];
	const char *at = strstr(table, heading), *end;

	assert_non_null(at);
	end = strstr(at, heading[0] == 'T' ? "Not to be had" : "hostprof help");
	assert_non_null(end);
	snprintf(wanted, sizeof(wanted), "\n  %s ", name);
	at = strstr(at, wanted);
	if (!at || at > end)
		return NULL;
	snprintf(line, sizeof(line), "%.*s", (int)strcspn(at + 1, "\n"), at + 1);
	return line;
}

static void a_table(void **state)
{
	static const char *const there[] = {
		"cycles",    "cpu-cycles",	 "page-faults",	      "faults",
		"LLC-loads", "alloc[=INTERVAL]", "malloc[=INTERVAL]", "offcpu[=MIN]"
	};
	static const char *const absent[] = { "instructions", "cpu", "LLC-load-misses",
					      "context-switches", "wall[=INTERVAL]" };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	permitted = true;
	list_events(&out, false);
	for (size_t i = 0; i < ARRAY_SIZE(there); i++)
		if (!line_of(strbuf_str(&out), "To be had", there[i]) ||
		    line_of(strbuf_str(&out), "Not to be had", there[i]))
			fail_msg("%s: %s", there[i], strbuf_str(&out));
	for (size_t i = 0; i < ARRAY_SIZE(absent); i++) {
		const char *line = line_of(strbuf_str(&out), "Not to be had", absent[i]);

		if (!line || line_of(strbuf_str(&out), "To be had", absent[i]))
			fail_msg("%s: %s", absent[i], strbuf_str(&out));
		assert_non_null(strstr(line_of(strbuf_str(&out), "Not to be had", absent[i]),
				       "this machine does not count that"));
	}
}

/* Either itself, or those that it stands for. */
static void all_that_is_explained(void **state)
{
	static const char *const others[] = { "CACHE-OP", "PMU/TERM/", "EVENT=PERIOD" };
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	permitted = true;
	list_events(&out, false);
	for (const struct capture_event_row *row = capture_event_rows; row->name; row++) {
		bool is_there = line_of(strbuf_str(&out), "To be had", row->name) ||
				line_of(strbuf_str(&out), "Not to be had", row->name);

		for (size_t i = 0; i < ARRAY_SIZE(others); i++)
			is_there |= !strcmp(others[i], row->name);
		if (!is_there)
			fail_msg("%s: %s", row->name, strbuf_str(&out));
	}
}

static void json(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;
	const char *cycles, *instructions;

	(void)state;
	permitted = true;
	list_events(&out, true);
	cycles = strstr(strbuf_str(&out), "\"name\": \"cycles\"");
	instructions = strstr(strbuf_str(&out), "\"name\": \"instructions\"");
	assert_true(cycles && instructions);
	assert_true(strstr(cycles, "\"works\": true") < strchr(cycles, '}'));
	assert_true(strstr(instructions, "\"works\": false") < strchr(instructions, '}'));
	assert_true(strstr(instructions, "\"why\": \"this machine does") <
		    strchr(instructions, '}'));
}

static void without_rights(void **state)
{
	_cleanup_strbuf_ struct strbuf out = STRBUF_INIT;

	(void)state;
	permitted = false;
	list_events(&out, false);
	assert_null(line_of(strbuf_str(&out), "To be had", "cycles"));
	assert_non_null(
		strstr(line_of(strbuf_str(&out), "Not to be had", "cycles"), "not permitted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_table),
		cmocka_unit_test(all_that_is_explained),
		cmocka_unit_test(json),
		cmocka_unit_test(without_rights),
	};

	return cmocka_run_group_tests_name("list_events", tests, NULL, NULL);
}
