// SPDX-License-Identifier: Apache-2.0
/* Whose JVMs' layouts are read before their first samples come. */
#include "pipeline_parts.h"
#include "session/pipeline_books.h"

static void put_library(struct fixture *f, uint32_t pid, const char *path)
{
	put_side(f, 0,
		 (struct side_event){ .kind = SIDE_MMAP,
				      .pid = pid,
				      .addr = MAPPED,
				      .len = 0x1000,
				      .name = path });
}

static unsigned int learnt_of(struct fixture *f, uint32_t pid)
{
	parts.learnt = 0;
	parts.learnt_pid = pid;
	pipeline_books_learn_jvms(&f->pipeline);
	return parts.learnt;
}

static void begin_with_two(struct fixture *f)
{
	begin(f);
	put_library(f, PID_A, "/jdk/lib/server/libjvm.so");
	put_library(f, PID_B, "/jdk/lib/server/libjvm.so");
	put_library(f, PID_C, "/jdk/lib/libjava.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
}

static void those_of_targets(void **state)
{
	static const uint32_t pids[] = { PID_A, PID_B, PID_C };
	struct fixture *f = *state;

	f->options.pids = pids;
	f->options.pid_count = 3;
	begin_with_two(f);
	assert_int_equal(learnt_of(f, PID_A), 1);
	assert_int_equal(learnt_of(f, PID_B), 1);
	assert_int_equal(learnt_of(f, PID_C), 0);
}

static void none_of_a_host(void **state)
{
	struct fixture *f = *state;

	begin_with_two(f);
	assert_int_equal(learnt_of(f, PID_A), 0);
}

static void none_of_others(void **state)
{
	static const uint32_t pids[] = { PID_B };
	struct fixture *f = *state;

	f->options.pids = pids;
	f->options.pid_count = 1;
	begin_with_two(f);
	assert_int_equal(learnt_of(f, PID_A), 0);
	assert_int_equal(learnt_of(f, PID_B), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(those_of_targets),
		TEST(none_of_a_host),
		TEST(none_of_others),
	};

	return cmocka_run_group_tests_name("pipeline_learn", tests, NULL, NULL);
}
