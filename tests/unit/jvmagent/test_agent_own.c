/* SPDX-License-Identifier: Apache-2.0 */
/* Whose an agent is: a child that forked has none, however that is found out. */
#include "test.h"

#include <sys/wait.h>

#include "agent_records.h"

static int attach_with(const char *options)
{
	return Agent_OnAttach(&fake_vm, (char *)(uintptr_t)options, NULL);
}

/* Does a child that forked now think that the agent is its own? */
static bool child_enters(struct agent *a)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(agent_enter(a));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* By a page that forks wipe, else by the pid; the page is one for all activations. */
static void a_child_has_no_agent(void **state)
{
	uint32_t *first = NULL;

	(void)state;
	fake_reset();
	for (int i = 0; i < 4; i++) {
		fake_os.no_wipe = i == 0;
		assert_int_equal(attach_with(NULL), AGENT_OK);
		assert_int_equal(agent.own != NULL, i != 0);
		assert_true(agent_enter(&agent));
		agent_leave(&agent);
		assert_false(child_enters(&agent));
		first = first ? first : agent.own;
		assert_ptr_equal(agent.own, first);
		/* As a child that is attached to finds it. */
		if (agent.own)
			*agent.own = 0;
		assert_int_equal(attach_with("stop"), AGENT_OK);
		pthread_join(fake.control, NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_child_has_no_agent),
	};

	return cmocka_run_group_tests_name("agent_own", tests, NULL, NULL);
}
