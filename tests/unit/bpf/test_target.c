// SPDX-License-Identifier: Apache-2.0
/* Which tasks are sampled: the BPF program's own rules over a kernel of the test's. */
#include "test.h"

#include <errno.h>
#include <stdbool.h>

#include "base/hmap.h"
#include "wire.h"

/* What sample/target.h sees of the kernel (vmlinux.h) and of BPF. */
struct task_struct {
	int pid, tgid;
	uint64_t start_time;
	struct task_struct *group_leader;
};

#define BPF_ANY	    0
#define TREE_LEVELS 4
#define LEADER(n, at)                                       \
	{                                                   \
		.pid = (n), .tgid = (n), .start_time = (at) \
	}
#undef __always_inline
#define __always_inline inline

static struct wire_settings settings;
static wire_u64 cpus_wanted[WIRE_MAX_CPUS / 64];
static wire_u32 own_cpu;
static struct hmap targets;
/* The current task's cgroup, and those above it, from the root on. */
static uint64_t ancestors[TREE_LEVELS];

static wire_u64 *bpf_map_lookup_elem(struct hmap *map, const wire_u32 *key)
{
	return hmap_find_ptr(map, *key);
}

static long bpf_map_delete_elem(struct hmap *map, const wire_u32 *key)
{
	free(hmap_find_ptr(map, *key));
	return hmap_remove(map, *key) ? 0 : -ENOENT;
}

static long bpf_map_update_elem(struct hmap *map, const wire_u32 *key, const wire_u64 *value,
				uint64_t flags)
{
	bpf_map_delete_elem(map, key);
	hmap_put_ptr(map, *key, xmemdup(value, sizeof(*value)));
	return flags == BPF_ANY ? 0 : -EINVAL;
}

static wire_u64 bpf_get_current_ancestor_cgroup_id(int level)
{
	return level >= 0 && level < TREE_LEVELS ? ancestors[level] : 0;
}

static wire_u32 bpf_get_smp_processor_id(void)
{
	return own_cpu;
}

/* Of the process 17 and its thread 19. */
static uint64_t bpf_get_current_pid_tgid(void)
{
	return 17ULL << 32 | 19;
}

#include "sample/target.h"

static struct task_struct task_of(struct task_struct *leader, int tid)
{
	return (struct task_struct){ .pid = tid,
				     .tgid = leader->tgid,
				     .start_time = leader->start_time + 5,
				     .group_leader = leader };
}

/* As capture_add_target() does: the start time is not known yet. */
static void add_target(uint32_t pid)
{
	uint64_t start_ns = 0;

	bpf_map_update_elem(&targets, &pid, &start_ns, BPF_ANY);
}

static int setup(void **state)
{
	(void)state;
	settings = (struct wire_settings){ .self_tgid = 4000 };
	for (int i = 0; i < TREE_LEVELS; i++)
		ancestors[i] = (uint64_t)i + 1;
	return 0;
}

static int teardown(void **state)
{
	uint64_t key, value;
	size_t at = 0;

	(void)state;
	while (hmap_next(&targets, &at, &key, &value))
		free(hmap_find_ptr(&targets, key));
	hmap_release(&targets);
	return 0;
}

static bool wanted(struct task_struct *leader)
{
	struct task_struct thread = task_of(leader, leader->tgid + 1);

	return target_wanted(&thread);
}

static void the_whole_host(void **state)
{
	struct task_struct any = LEADER(17, 1000);

	(void)state;
	assert_true(wanted(&any));
}

static void not_ourselves(void **state)
{
	struct task_struct self = LEADER(4000, 1000), other = LEADER(4001, 1000);

	(void)state;
	assert_false(wanted(&self));
	assert_true(wanted(&other));
}

/* Even when it is named. */
static void not_ourselves_as_a_target(void **state)
{
	struct task_struct self = LEADER(4000, 1000);

	(void)state;
	settings.filter_tgids = 1;
	add_target(4000);
	assert_false(wanted(&self));
}

static void idle_cpus_when_asked_for(void **state)
{
	struct task_struct idle = LEADER(0, 0);

	(void)state;
	idle.group_leader = &idle;
	assert_false(target_wanted(&idle));
	settings.include_idle = 1;
	assert_true(target_wanted(&idle));
	settings.exclude_kernel = 1;
	assert_true(target_mode_wanted(&idle, false));
}

static void one_mode_only(void **state)
{
	struct task_struct leader = LEADER(17, 1000), thread = task_of(&leader, 18);

	(void)state;
	settings.exclude_kernel = 1;
	assert_true(target_mode_wanted(&thread, true));
	assert_false(target_mode_wanted(&thread, false));
	settings.exclude_kernel = 0;
	settings.exclude_user = 1;
	assert_false(target_mode_wanted(&thread, true));
	assert_true(target_mode_wanted(&thread, false));
}

static void a_breakpoints_process(void **state)
{
	(void)state;
	assert_true(target_is_meant(WIRE_COOKIE(3, 0)));
	assert_true(target_is_meant(WIRE_COOKIE(3, 17)));
	assert_false(target_is_meant(WIRE_COOKIE(3, 19)));
	assert_false(target_is_meant(WIRE_COOKIE(17, 18)));
	assert_int_equal(WIRE_COOKIE_EVENT(WIRE_COOKIE(3, 18)), 3);
}

static void some_cpus(void **state)
{
	(void)state;
	cpus_wanted[0] = 1ULL << 3;
	cpus_wanted[2] = 1ULL << 63;
	own_cpu = 4;
	assert_true(target_cpu_wanted());
	settings.filter_cpus = 1;
	assert_false(target_cpu_wanted());
	own_cpu = 3;
	assert_true(target_cpu_wanted());
	own_cpu = 64 + 3;
	assert_false(target_cpu_wanted());
	own_cpu = 191;
	assert_true(target_cpu_wanted());
	own_cpu = WIRE_MAX_CPUS - 1;
	assert_false(target_cpu_wanted());
}

/* And those below it. */
static void a_cgroup(void **state)
{
	struct task_struct any = LEADER(17, 1000);

	(void)state;
	settings.cgroup_id = 3;
	settings.cgroup_level = 2;
	assert_true(wanted(&any));
	ancestors[2] = 33;
	assert_false(wanted(&any));
	ancestors[3] = 3; /* another one's id at another level */
	assert_false(wanted(&any));
	ancestors[2] = 0; /* the task is in one above it */
	assert_false(wanted(&any));
	settings.cgroup_id = 0;
	assert_true(wanted(&any));
}

static void named_processes(void **state)
{
	struct task_struct named = LEADER(17, 1000), other = LEADER(18, 1000);

	(void)state;
	settings.filter_tgids = 1;
	add_target(17);
	assert_false(wanted(&other));
	assert_true(wanted(&named));
	assert_true(wanted(&named));
	settings.filter_tgids = 0;
	assert_true(wanted(&other));
}

/* Its first sample tells who the pid was meant to be. */
static void a_pid_that_is_used_again(void **state)
{
	struct task_struct named = LEADER(17, 1000), next = LEADER(17, 2000);

	(void)state;
	settings.filter_tgids = 1;
	add_target(17);
	assert_true(wanted(&named));
	assert_false(wanted(&next));
	assert_true(wanted(&named)); /* it is exiting */
	target_forget(17, 2000);
	assert_true(wanted(&named));
	target_forget(17, 1000);
	assert_false(wanted(&named));
	assert_false(wanted(&next));
}

static void one_that_was_never_sampled(void **state)
{
	struct task_struct next = LEADER(17, 2000);

	(void)state;
	settings.filter_tgids = 1;
	add_target(17);
	target_forget(17, 1000);
	assert_false(wanted(&next));
}

static void children_of_targets(void **state)
{
	struct task_struct named = LEADER(17, 1000), child = LEADER(30, 1500);
	struct task_struct thread = task_of(&named, 18), other = LEADER(40, 10);
	struct task_struct stranger = LEADER(31, 1500), again = LEADER(30, 9000);

	(void)state;
	settings.filter_tgids = 1;
	add_target(17);
	other.group_leader = &other;
	child.group_leader = &child;
	assert_true(wanted(&named));
	target_fork(&other, stranger.tgid, stranger.start_time);
	target_fork(&thread, child.tgid, child.start_time); /* of any of its threads */
	assert_true(wanted(&child));
	assert_false(wanted(&stranger));
	assert_false(wanted(&again));
	target_forget(17, 1000);
	assert_true(wanted(&child));
	target_forget(30, 1500);
	assert_false(wanted(&child));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_whole_host),
		TEST(not_ourselves),
		TEST(not_ourselves_as_a_target),
		TEST(idle_cpus_when_asked_for),
		TEST(one_mode_only),
		TEST(a_breakpoints_process),
		TEST(some_cpus),
		TEST(a_cgroup),
		TEST(named_processes),
		TEST(a_pid_that_is_used_again),
		TEST(one_that_was_never_sampled),
		TEST(children_of_targets),
	};

	return cmocka_run_group_tests_name("target", tests, NULL, NULL);
}
