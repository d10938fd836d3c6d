// SPDX-License-Identifier: Apache-2.0
/* What the registry asks of /proc, and when; this /proc is the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "process/exec_maps.h"
#include "process/proc.h"
#include "process/registry.h"

/* Whose exit record came this long ago may be looked for again: see EXIT_GRACE_NS. */
#define GRACE 100000000ULL
#define AT    1000000000ULL
#define PID   17U

static struct proc_entry {
	bool is_there;
	struct proc_stat stat;
	const char *exe, *cgroup;
	uint64_t code;				 /* a mapping of a page */
	unsigned int stats, exes, cgroups, maps; /* reads */
	int late;				 /* why its mappings cannot be read */
} procs[32];

/* --- in place of process/ --- */

int proc_read_stat(uint32_t pid, struct proc_stat *ret_stat)
{
	procs[pid].stats++;
	*ret_stat = procs[pid].stat;
	return procs[pid].is_there ? 0 : -ENOENT;
}

static int read_text(uint32_t pid, const char *text, char **ret_text)
{
	if (!procs[pid].is_there || !text)
		return -ENOENT;
	*ret_text = xstrdup(text);
	return 0;
}

int proc_read_exe(uint32_t pid, char **ret_path)
{
	procs[pid].exes++;
	return read_text(pid, procs[pid].exe, ret_path);
}

int proc_read_cgroup(uint32_t pid, char **ret_path)
{
	procs[pid].cgroups++;
	return read_text(pid, procs[pid].cgroup, ret_path);
}

bool proc_is_there(uint32_t pid)
{
	return procs[pid].is_there;
}

int proc_for_each_pid(int (*fn)(uint32_t pid, void *data), void *data)
{
	int r = 0;

	for (uint32_t pid = 1; pid < ARRAY_SIZE(procs) && r >= 0; pid++)
		if (procs[pid].is_there)
			r = fn(pid, data);
	return r;
}

int exec_maps_read(uint32_t pid, const char *path, exec_map_fn fn, void *data)
{
	char name[16] = "/bin/code";
	struct exec_map map = { .m = { .path = name, .key = { .inode = 5 } } };
	unsigned int of_path;

	if (sscanf(path, "/proc/%u/maps", &of_path) != 1 || of_path != pid || !procs[pid].is_there)
		return -ENOENT;
	procs[pid].maps++;
	if (procs[pid].late)
		return procs[pid].late;
	map.m.start = procs[pid].code;
	map.m.end = map.m.start + 4096;
	fn(&map, data);
	return 0;
}

/* --- */

static void put_proc(uint32_t pid, const char *comm, uint64_t start_ns, uint64_t code)
{
	procs[pid] = (struct proc_entry){ .is_there = true,
					  .stat = { .ppid = 1, .start_ns = start_ns },
					  .exe = "/bin/program",
					  .cgroup = "/some.slice",
					  .code = code };
	strcpy(procs[pid].stat.comm, comm);
}

static int setup(void **state)
{
	memset(procs, 0, sizeof(procs));
	*state = registry_new();
	return 0;
}

static int teardown(void **state)
{
	registry_free(*state);
	return 0;
}

static void an_unknown_process(void **state)
{
	struct process *process;

	put_proc(PID, "a name that is too long", 555, 0x1000);
	process = registry_get(*state, PID, AT);
	assert_string_equal(process->comm, "a name that is ");
	assert_int_equal(process->start_ns, 555);
	assert_int_equal(process->ppid, 1);
	assert_int_equal(process->begin_ns, 0);
	assert_int_equal(process->exec_count, 0);
	assert_string_equal(process->exe, "/bin/program");
	assert_string_equal(process->cgroup, "/some.slice");
	assert_non_null(process_find_mapping(process, 0x1fff));
	assert_false(process->exited);
	assert_ptr_equal(registry_get(*state, PID, AT + 1), process);
	assert_int_equal(procs[PID].stats, 1);
	assert_int_equal(procs[PID].maps, 1);
	assert_int_equal(procs[PID].exes, 1);
	assert_int_equal(procs[PID].cgroups, 1);
}

/* Asked for once, and forgotten as others are. */
static void one_that_is_gone(void **state)
{
	struct process *process = registry_get(*state, PID, AT);

	assert_true(process->exited);
	assert_string_equal(process->comm, "");
	registry_get(*state, PID, AT + GRACE);
	assert_int_equal(procs[PID].stats, 1);
	assert_int_equal(procs[PID].exes, 0);
	registry_expire(*state, AT, NULL, NULL);
	assert_ptr_equal(registry_find(*state, PID), process);
	registry_expire(*state, AT + 1, NULL, NULL);
	assert_null(registry_find(*state, PID));
}

static void the_idle_task(void **state)
{
	const struct process *idle = registry_get(*state, 0, AT);

	assert_string_equal(idle->comm, "swapper");
	assert_false(idle->exited);
	assert_int_equal(procs[0].stats + procs[0].exes + procs[0].cgroups, 0);
	registry_check(*state, AT);
	assert_false(idle->exited);
}

/* --- after an exit --- */

static struct process *exited(struct registry *registry)
{
	struct process *process;

	put_proc(PID, "first", 555, 0x1000);
	process = registry_get(registry, PID, AT - 5);
	registry_exit(registry, AT, PID);
	assert_true(process->exited);
	procs[PID].stats = 0;
	return process;
}

/* It runs on for a moment, and that tells nothing. */
static void samples_of_an_exiting_process(void **state)
{
	struct process *process = exited(*state);

	assert_ptr_equal(registry_get(*state, PID, AT + GRACE), process);
	assert_int_equal(procs[PID].stats, 0);
	assert_true(process->exited);
}

static void another_process_has_its_pid(void **state)
{
	struct process *process = exited(*state);
	uint64_t serial = process->serial;

	put_proc(PID, "second", AT + 1, 0x5000);
	process = registry_get(*state, PID, AT + GRACE + 1);
	assert_string_equal(process->comm, "second");
	assert_int_not_equal(process->serial, serial);
	assert_false(process->exited);
	assert_null(process_find_mapping(process, 0x1000));
	assert_non_null(process_find_mapping(process, 0x5000));
}

/* Only its first thread has ended. */
static void it_lives(void **state)
{
	struct process *process = exited(*state);

	procs[PID].stat.start_ns = AT; /* to the clock tick */
	assert_ptr_equal(registry_get(*state, PID, AT + GRACE + 1), process);
	assert_false(process->exited);
	assert_non_null(process_find_mapping(process, 0x1000));
	registry_expire(*state, AT + 100 * GRACE, NULL, NULL);
	assert_ptr_equal(registry_find(*state, PID), process);
}

static void it_is_gone_indeed(void **state)
{
	struct process *process = exited(*state);

	procs[PID].is_there = false;
	assert_ptr_equal(registry_get(*state, PID, AT + 2 * GRACE), process);
	assert_ptr_equal(registry_get(*state, PID, AT + 3 * GRACE), process);
	assert_int_equal(procs[PID].stats, 1);
	registry_get(*state, PID, AT + 3 * GRACE + 1);
	assert_int_equal(procs[PID].stats, 2);
	assert_string_equal(process->comm, "first");
	assert_non_null(process_find_mapping(process, 0x1000));
}

static void the_first_exit_counts(void **state)
{
	exited(*state);
	registry_exit(*state, AT + 5000, PID);
	registry_expire(*state, AT + 1, NULL, NULL);
	assert_null(registry_find(*state, PID));
}

/* The exit record was that of its last program's thread. */
static void an_exec_lives(void **state)
{
	struct process *process = exited(*state);

	registry_exec(*state, AT + 1, PID, "next");
	assert_false(process->exited);
	assert_int_equal(process->begin_ns, AT + 1);
	registry_expire(*state, AT + 100 * GRACE, NULL, NULL);
	assert_ptr_equal(registry_find(*state, PID), process);
}

/* --- losses --- */

static void what_was_lost_is_read_once(void **state)
{
	struct process *process;

	put_proc(PID, "first", 555, 0x1000);
	process = registry_get(*state, PID, AT);
	procs[PID].code = 0x8000;
	registry_check(*state, AT);
	registry_get(*state, PID, AT);
	assert_int_equal(procs[PID].maps, 1); /* nothing was lost */
	registry_note_loss(*state);
	registry_get(*state, PID, AT);
	assert_int_equal(procs[PID].maps, 1); /* it may go on */
	registry_check(*state, AT);
	registry_get(*state, PID, AT);
	registry_get(*state, PID, AT);
	assert_int_equal(procs[PID].maps, 2);
	assert_non_null(process_find_mapping(process, 0x8000));
	registry_check(*state, AT);
	registry_get(*state, PID, AT);
	assert_int_equal(procs[PID].maps, 2);
}

/* It is asked again with a later sample, until it has answered. */
static void mappings_that_come_late(void **state)
{
	static const int late[] = { -ETIMEDOUT, -EBUSY, -ECHILD };
	const uint64_t step = 100000000ULL;
	struct process *process;

	put_proc(PID, "first", 555, 0x1000);
	procs[PID].late = -EACCES;
	process = registry_get(*state, PID, AT);
	registry_get(*state, PID, AT + 10 * step);
	assert_int_equal(procs[PID].maps, 1); /* it never will */
	put_proc(PID + 1, "second", 555, 0x1000);
	for (unsigned int i = 0; i < ARRAY_SIZE(late); i++) {
		procs[PID + 1].late = late[i];
		process = registry_get(*state, PID + 1, AT + i * step);
		registry_get(*state, PID + 1, AT + (i + 1) * step - 1);
		assert_int_equal(procs[PID + 1].maps, i + 1);
	}
	assert_null(process_find_mapping(process, 0x1000));
	procs[PID + 1].late = 0;
	registry_get(*state, PID + 1, AT + 3 * step);
	assert_non_null(process_find_mapping(process, 0x1000));
	registry_get(*state, PID + 1, AT + 30 * step);
	assert_int_equal(procs[PID + 1].maps, 4);
	process->exited = true;
}

static void count_gone(struct process *process, void *data)
{
	unsigned int *gone = data;

	assert_int_equal(process->pid, PID);
	(*gone)++;
}

static void exits_that_were_lost(void **state)
{
	put_proc(PID, "first", 555, 0x1000);
	put_proc(PID + 1, "second", 555, 0x1000);
	registry_get(*state, PID, AT);
	registry_get(*state, PID + 1, AT);
	procs[PID].is_there = false;
	registry_note_loss(*state);
	registry_check(*state, AT + 7);
	assert_true(registry_find(*state, PID)->exited);
	assert_false(registry_find(*state, PID + 1)->exited);
	registry_expire(*state, AT + 7, NULL, NULL);
	assert_non_null(registry_find(*state, PID));
	registry_expire(*state, AT + 8, NULL, NULL);
	assert_null(registry_find(*state, PID));
	assert_non_null(registry_find(*state, PID + 1));
}

/* Of one whose first thread ended before the others. */
static void an_exit_that_nobody_tells(void **state)
{
	const uint64_t minute = 60 * NSEC_PER_SEC;

	put_proc(PID, "first", 555, 0x1000);
	registry_get(*state, PID, AT);
	registry_check(*state, minute); /* the first one looks at all */
	procs[PID].is_there = false;
	registry_check(*state, 2 * minute - 1);
	assert_false(registry_find(*state, PID)->exited);
	registry_check(*state, 2 * minute);
	assert_true(registry_find(*state, PID)->exited);
}

/* Its pid was told twice: it is handed out once. */
static void one_that_exits_execs_and_exits(void **state)
{
	unsigned int gone = 0;

	exited(*state);
	registry_exec(*state, AT + 1, PID, "next");
	registry_exit(*state, AT + 2, PID);
	registry_expire(*state, AT + 2, count_gone, &gone);
	assert_int_equal(gone, 0);
	registry_expire(*state, AT + 3, count_gone, &gone);
	assert_int_equal(gone, 1);
	assert_null(registry_find(*state, PID));
}

/* --- the snapshot --- */

static void details_come_later(void **state)
{
	struct err err;

	for (uint32_t pid = 1; pid <= 5; pid++)
		put_proc(pid, "there", 555, 0x1000);
	registry_exec(*state, AT, 3, "known");
	assert_int_equal(registry_snapshot(*state, &err), 0);
	assert_string_equal(registry_find(*state, 3)->comm, "known");
	assert_int_equal(procs[3].stats, 0);
	for (uint32_t pid = 1; pid <= 5; pid++)
		assert_int_equal(procs[pid].exes, 0);
	registry_complete(*state, 2);
	assert_int_equal(procs[4].exes + procs[5].exes, 2);
	assert_int_equal(procs[1].exes + procs[2].exes, 0);
	assert_string_equal(registry_find_complete(*state, 1)->exe, "/bin/program");
	registry_complete(*state, 100);
	registry_complete(*state, 100);
	for (uint32_t pid = 1; pid <= 5; pid++)
		assert_int_equal(procs[pid].cgroups, pid == 3 ? 0 : 1);
}

/* --- children --- */

static void a_child_has_what_its_parent_had(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char cgroup[128];
	const struct process *child;

	put_proc(PID, "parent", 555, 0x1000);
	snprintf(cgroup, sizeof(cgroup), "/docker/%s", id);
	procs[PID].cgroup = cgroup;
	registry_fork(*state, AT, PID + 1, PID);
	child = registry_find(*state, PID + 1);
	assert_int_equal(child->ppid, PID);
	assert_int_equal(child->start_ns, AT);
	assert_int_equal(child->begin_ns, AT);
	assert_string_equal(child->comm, "parent");
	assert_string_equal(child->exe, "/bin/program");
	assert_string_equal(child->cgroup, cgroup);
	assert_string_equal(child->container_id, id);
	assert_int_not_equal(child->serial, registry_find(*state, PID)->serial);
	assert_int_equal(procs[PID + 1].stats + procs[PID + 1].maps, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_unknown_process),
		TEST(one_that_is_gone),
		TEST(the_idle_task),
		TEST(samples_of_an_exiting_process),
		TEST(another_process_has_its_pid),
		TEST(it_lives),
		TEST(it_is_gone_indeed),
		TEST(the_first_exit_counts),
		TEST(an_exec_lives),
		TEST(what_was_lost_is_read_once),
		TEST(mappings_that_come_late),
		TEST(exits_that_were_lost),
		TEST(an_exit_that_nobody_tells),
		TEST(one_that_exits_execs_and_exits),
		TEST(details_come_later),
		TEST(a_child_has_what_its_parent_had),
	};

	return cmocka_run_group_tests_name("registry_proc", tests, NULL, NULL);
}
