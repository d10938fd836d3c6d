// SPDX-License-Identifier: Apache-2.0
/* What doctor says of the rights of a recording: those that there are, and those of processes that run. */
#include "test.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rights.h"
#include "cmd/doctor/doctor_rights.h"
#include "process/proc.h"
#include "session/recorder_rights.h"

static uint64_t here; /* the rights of who asks */
static uint32_t pids[2];
static char told[512];

/* --- in place of base/, process/ and session/ --- */

uint64_t rights_permitted(void)
{
	return here;
}

void rights_add_names(struct strbuf *out, uint64_t rights)
{
	strbuf_addf(out, "%llx", (unsigned long long)rights);
}

uint64_t recorder_rights_of(uint64_t held)
{
	return held & RIGHTS_TO_RECORD;
}

int proc_for_each_pid(int (*fn)(uint32_t pid, void *data), void *data)
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(fn(pids[i], data), 0);
	return 0;
}

/* --- */

static void expect(const char *id, uint64_t wanted, const char *more)
{
	const struct preflight_check *check = doctor_rights_checks;
	struct preflight_result result = { .state = PREFLIGHT_FAIL };
	char text[64];

	while (strcmp(check->id, id) != 0)
		check++;
	check->run(&result);
	snprintf(text, sizeof(text), "%llx%s", (unsigned long long)wanted, more);
	assert_string_equal(result.found, text);
	assert_int_equal(result.state, PREFLIGHT_OK);
}

static void what_would_be_held(void **state)
{
	(void)state;
	here = ~0ULL;
	expect("rights-recorder", RIGHTS_TO_RECORD, "");
	expect("rights-nursery", RIGHTS_OF_NURSERY, "");
	expect("rights-attach", RIGHTS_OF_NURSERY | RIGHTS_TO_ATTACH, "");
	expect("rights-broker", RIGHTS_TO_LOOK, "; seccomp");
	expect("rights-reader", 0, "; seccomp");
	here = RIGHT(CAP_BPF) | RIGHT(CAP_SYS_PTRACE);
	expect("rights-recorder", RIGHT(CAP_BPF), "");
	expect("rights-nursery", RIGHT(CAP_SYS_PTRACE), "");
	expect("rights-broker", RIGHT(CAP_SYS_PTRACE), "; seccomp");
}

static void note(const struct preflight_check *check, const struct preflight_result *result,
		 void *data)
{
	(void)data;
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s|%s|%s\n", check->id,
		 check->title, result->found);
}

/* A process of that name, until it is killed. */
static pid_t start_named(const char *name)
{
	int ready[2];
	pid_t child;
	char byte;

	assert_int_equal(pipe(ready), 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_NAME, name, 0, 0, 0);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return child;
}

static void what_is_held(void **state)
{
	pid_t child = start_named("hostprof-nurse"), other = start_named("host");
	char wanted[128];

	(void)state;
	pids[0] = (uint32_t)child;
	pids[1] = (uint32_t)other;
	doctor_rights_for_each(note, NULL);
	snprintf(wanted, sizeof(wanted), "rights-of-%d|rights of hostprof-nurse %d|", child, child);
	assert_int_equal(strncmp(told, wanted, strlen(wanted)), 0);
	assert_null(strstr(told, "rights of host "));
	for (int i = 0; i < 2; i++) {
		kill((pid_t)pids[i], SIGKILL);
		waitpid((pid_t)pids[i], NULL, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_would_be_held),
					    cmocka_unit_test(what_is_held) };

	return cmocka_run_group_tests_name("doctor_rights", tests, NULL, NULL);
}
