/* SPDX-License-Identifier: Apache-2.0 */
/* A BPF session whose libbpf is the test's: what it is opened with, and what was told. Included once per test. */
#ifndef HOSTPROF_TESTS_BPF_SESSION_WORLD_H
#define HOSTPROF_TESTS_BPF_SESSION_WORLD_H

#include "fake_libbpf.h"

static inline int set_up(void **state)
{
	(void)state;
	strbuf_release(&f.log);
	memset(&f, 0, sizeof(f));
	return 0;
}

static inline struct bpf_session_options usual(const struct capture_event *events,
					       unsigned int count)
{
	return (struct bpf_session_options){
		.settings = { .budget_ns = 11,
			      .cgroup_id = 12,
			      .self_tgid = 13,
			      .filter_tgids = 1,
			      .include_idle = 1 },
		.events = events,
		.event_count = count,
		.possible_cpus = CPUS,
		.online_cpus = CPUS - 2,
		.rings_fd = RINGS_FD,
		.ring_bytes = 1 << 20,
		.miss_copy_bytes = WIRE_MISS_MAX_COPY - 50000,
		.table_bytes = 64 << 20,
	};
}

static inline struct bpf_session *opened(const struct bpf_session_options *options)
{
	struct bpf_session *session;
	struct err err = { 0 };

	assert_int_equal(bpf_session_open(options, &session, &err), 0);
	return session;
}

/* Is LINE, a text with numbers, in the log? */
static inline void expect_line(const char *format, ...)
{
	char line[128];
	va_list ap;

	line[0] = '\n';
	va_start(ap, format);
	vsnprintf(line + 1, sizeof(line) - 1, format, ap);
	va_end(ap);
	if (!strstr(strbuf_str(&f.log), line))
		fail_msg("no '%s' in: %s", line + 1, strbuf_str(&f.log));
}

#endif
