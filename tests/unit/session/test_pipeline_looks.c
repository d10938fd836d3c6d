// SPDX-License-Identifier: Apache-2.0
/* Whose files are looked at. */
#include "pipeline_parts.h"

static const char *opened_of(struct fixture *f, uint32_t pid)
{
	put_side(f, 0,
		 (struct side_event){ .kind = SIDE_MMAP,
				      .pid = pid,
				      .addr = MAPPED,
				      .len = 0x1000,
				      .inode = 77,
				      .name = "/bin/b" });
	pipeline_drain(&f->pipeline);
	return strstr(noted(), "open ");
}

/* Who is no target, and cannot become one. */
static void files_of_others_are_not_looked_at(void **state)
{
	static const uint32_t pids[] = { PID_C, PID_B };
	struct fixture *f = *state;

	f->options.pids = pids;
	f->options.pid_count = 2;
	begin(f);
	assert_null(opened_of(f, PID_A));
	assert_non_null(opened_of(f, PID_B));
	assert_non_null(opened_of(f, PID_C));
	f->options.follow_children = true;
	assert_non_null(opened_of(f, PID_A));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_of_others_are_not_looked_at),
	};

	return cmocka_run_group_tests_name("pipeline_looks", tests, NULL, NULL);
}
