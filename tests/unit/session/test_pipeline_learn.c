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

static void those_of_a_host(void **state)
{
	struct fixture *f = *state;

	begin_with_two(f);
	assert_int_equal(learnt_of(f, PID_A), 1);
	assert_int_equal(learnt_of(f, PID_C), 0);
}

static void those_of_a_cgroup(void **state)
{
	struct fixture *f = *state;

	begin_with_two(f);
	f->capture->cgroup = "/some/other";
	assert_int_equal(learnt_of(f, PID_A), 0);
	f->capture->cgroup = registry_find(f->pipeline.registry, PID_A)->cgroup;
	f->capture->cgroup = f->capture->cgroup ? f->capture->cgroup : "";
	assert_int_equal(learnt_of(f, PID_A), 1);
}

static void none_that_is_gone(void **state)
{
	struct fixture *f = *state;

	begin_with_two(f);
	f->capture->find_error = -ENOENT;
	assert_int_equal(learnt_of(f, PID_A), 0);
}

/* What takes longer is left to the samples; a host's JVMs may take less time than targets. */
static void none_when_it_took_long(void **state)
{
	static const uint32_t pids[] = { PID_A, PID_B };
	struct fixture *f = *state;

	begin_with_two(f);
	f->capture->find_takes_us = 31000;
	assert_int_equal(learnt_of(f, PID_A) + learnt_of(f, PID_B), 1);
	f->options.pids = pids;
	f->options.pid_count = 2;
	assert_int_equal(learnt_of(f, PID_A) + learnt_of(f, PID_B), 2);
	f->capture->find_takes_us = 201000;
	assert_int_equal(learnt_of(f, PID_A) + learnt_of(f, PID_B), 1);
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
		TEST(those_of_targets),	 TEST(those_of_a_host),	       TEST(those_of_a_cgroup),
		TEST(none_that_is_gone), TEST(none_when_it_took_long), TEST(none_of_others),
	};

	return cmocka_run_group_tests_name("pipeline_learn", tests, NULL, NULL);
}
