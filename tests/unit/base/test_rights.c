// SPDX-License-Identifier: Apache-2.0
/* Each in a child: what is given up is given up for good. */
#include "test.h"

#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rights.h"
#include "base/strbuf.h"

#define ADMIN RIGHT(CAP_SYS_ADMIN)

/* A line of /proc/self/status. */
static uint64_t status(const char *name)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	unsigned long long value = ~0ULL;
	const char *line;

	if (file_read("/proc/self/status", 65536, &text) < 0)
		return value;
	line = strstr(strbuf_str(&text), name);
	if (line)
		sscanf(line + strlen(name), ":%llx", &value);
	return value;
}

static void in_child(bool (*holds)(void))
{
	int result;
	pid_t child = fork();

	if (child == 0)
		_exit(!holds());
	assert_int_equal(waitpid(child, &result, 0), child);
	assert_int_equal(result, 0);
}

static bool only_what_is_kept(void)
{
	uint64_t wanted = RIGHT(CAP_KILL) | RIGHT(CAP_SYSLOG), had = rights_permitted();

	rights_keep(wanted);
	return status("CapPrm") == (had & wanted) && status("CapEff") == (had & wanted) &&
	       status("CapInh") == 0 && status("CapAmb") == 0 &&
	       (!(had & RIGHT(CAP_SETPCAP)) || status("CapBnd") == 0) && status("NoNewPrivs") == 1;
}

static bool none_of_those_that_are_not_there(void)
{
	rights_keep(RIGHT(CAP_KILL));
	rights_keep(RIGHT(CAP_KILL) | RIGHT(CAP_SYSLOG));
	return (rights_permitted() & ~RIGHT(CAP_KILL)) == 0;
}

/* What was split off from it is had by it. */
static bool admin_stands_for_others(void)
{
	uint64_t had = rights_permitted();

	rights_keep(ADMIN | RIGHT(CAP_SYSLOG));
	rights_keep(RIGHT(CAP_BPF));
	return rights_permitted() == (had & ADMIN);
}

static bool admin_stands_for_no_others(void)
{
	rights_keep(ADMIN | RIGHT(CAP_BPF));
	rights_keep(RIGHT(CAP_BPF) | RIGHT(CAP_SYSLOG));
	return (rights_permitted() & ADMIN) == 0;
}

static bool used_and_not_given_up(void)
{
	uint64_t had = rights_permitted(), wanted = RIGHT(CAP_KILL);

	rights_use(wanted);
	if (status("CapEff") != (had & wanted) || rights_permitted() != had)
		return false;
	rights_use(had);
	return status("CapEff") == had;
}

static void all_of_them(void **state)
{
	(void)state;
	in_child(only_what_is_kept);
	in_child(none_of_those_that_are_not_there);
	in_child(admin_stands_for_others);
	in_child(admin_stands_for_no_others);
	in_child(used_and_not_given_up);
}

static void expect_names(uint64_t rights, const char *wanted)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	rights_add_names(&text, rights);
	assert_string_equal(strbuf_str(&text), wanted);
}

static void names(void **state)
{
	(void)state;
	expect_names(0, "none");
	expect_names(RIGHT(CAP_CHOWN), "cap_chown");
	expect_names(RIGHTS_TO_LOOK, "cap_dac_read_search, cap_sys_ptrace, cap_checkpoint_restore");
	expect_names(RIGHT(CAP_BPF) | 1ULL << 63, "cap_bpf, 63");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all_of_them),
					    cmocka_unit_test(names) };

	return cmocka_run_group_tests_name("rights", tests, NULL, NULL);
}
