// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <fcntl.h>
#include <search.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "process/registry.h"

/* Above pid_max (4,194,304): no process can have them. */
#define PID_A 5000001
#define PID_B 5000002

struct fixture {
	struct registry *registry;
	char gone[256]; /* "pid:serial " of what expired */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	f->registry = registry_new();
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	registry_free(f->registry);
	free(f);
	return 0;
}

static void map(struct registry *registry, uint64_t time, uint32_t pid, uint64_t start,
		uint64_t inode, const char *path)
{
	char *copy = strdup(path);
	struct mapping m = { .start = start, .end = start + 0x1000, .path = copy };

	m.key.inode = inode;
	registry_mmap(registry, time, pid, &m);
	free(copy);
}

static void note_gone(struct process *process, void *data)
{
	struct fixture *f = data;
	size_t len = strlen(f->gone);

	snprintf(f->gone + len, sizeof(f->gone) - len, "%u:%llu ", process->pid,
		 (unsigned long long)process->serial);
}

static void count_one(struct process *process, void *data)
{
	(void)process;
	++*(size_t *)data;
}

static size_t process_count(struct registry *registry)
{
	size_t count = 0;

	registry_for_each(registry, count_one, &count);
	return count;
}

static void fork_then_exec(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	uint64_t forked_serial;
	struct process *p;

	registry_exec(registry, 100, PID_A, "parent");
	map(registry, 101, PID_A, 0x400000, 9, "/bin/parent");
	map(registry, 102, PID_A, 0x7000000, 10, "/lib/libc.so");
	registry_fork(registry, 200, PID_B, PID_A);

	p = registry_find(registry, PID_B);
	assert_non_null(p);
	assert_string_equal(p->comm, "parent");
	assert_string_equal(p->exe, "/bin/parent");
	assert_int_equal(p->ppid, PID_A);
	assert_int_equal(p->exec_count, 0);
	assert_int_equal(p->begin_ns, 200);
	assert_int_equal(p->mappings.len, 2);
	assert_string_equal(process_find_mapping(p, 0x400800)->path, "/bin/parent");
	forked_serial = p->serial;

	registry_exec(registry, 300, PID_B, "child");
	p = registry_find(registry, PID_B);
	assert_int_equal(p->exec_count, 1);
	assert_true(p->serial > forked_serial);
	assert_int_equal(p->mappings.len, 0);
	assert_int_equal(p->start_ns, 200);
	assert_int_equal(p->begin_ns, 300);
	assert_string_equal(p->comm, "child");
	map(registry, 301, PID_B, 0x400000, 11, "/bin/child");
	assert_string_equal(p->exe, "/bin/child");
	assert_string_equal(process_find_mapping(p, 0x400800)->path, "/bin/child");
	/* the parent is as it was */
	p = registry_find(registry, PID_A);
	assert_string_equal(process_find_mapping(p, 0x400800)->path, "/bin/parent");
	assert_int_equal(process_count(registry), 2);
}

static void only_the_main_thread_names_the_process(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;

	registry_exec(registry, 1, PID_A, "main");
	registry_comm(registry, PID_A, PID_A + 5, "worker");
	assert_string_equal(registry_find(registry, PID_A)->comm, "main");
	registry_comm(registry, PID_A, PID_A, "a name that is too long");
	assert_string_equal(registry_find(registry, PID_A)->comm, "a name that is ");
}

static void exit_marks_and_expire_removes(void **state)
{
	struct fixture *f = *state;
	char expected[64];

	registry_exec(f->registry, 1000, PID_A, "a");
	snprintf(expected, sizeof(expected), "%u:%llu ", PID_A,
		 (unsigned long long)registry_find(f->registry, PID_A)->serial);
	registry_exit(f->registry, 2000, PID_A);
	assert_true(registry_find(f->registry, PID_A)->exited);
	/* samples of its last moments still find it */
	assert_ptr_equal(registry_get(f->registry, PID_A, 2001), registry_find(f->registry, PID_A));
	registry_expire(f->registry, 2000, note_gone, f);
	assert_string_equal(f->gone, "");
	registry_expire(f->registry, 2001, note_gone, f);
	assert_string_equal(f->gone, expected);
	assert_null(registry_find(f->registry, PID_A));
	assert_int_equal(process_count(f->registry), 0);
}

static void a_pid_that_is_used_again(void **state)
{
	struct fixture *f = *state;
	struct process *first, *second;
	uint64_t first_serial;
	char expected[64];

	registry_exec(f->registry, 1, PID_B, "parent");
	registry_fork(f->registry, 10, PID_A, PID_B);
	first = registry_find(f->registry, PID_A);
	first_serial = first->serial;
	map(f->registry, 11, PID_A, 0x1000, 3, "/old");
	registry_exit(f->registry, 20, PID_A);
	registry_fork(f->registry, 30, PID_A, PID_B);
	second = registry_find(f->registry, PID_A);
	assert_true(second->serial != first_serial);
	assert_false(second->exited);
	assert_int_equal(second->start_ns, 30);
	assert_null(process_find_mapping(second, 0x1000));

	/* the first one is reported when it expires, the second one stays */
	registry_expire(f->registry, 25, note_gone, f);
	snprintf(expected, sizeof(expected), "%u:%llu ", PID_A, (unsigned long long)first_serial);
	assert_string_equal(f->gone, expected);
	assert_ptr_equal(registry_find(f->registry, PID_A), second);
}

static void an_exit_record_that_was_lost(void **state)
{
	struct fixture *f = *state;

	registry_exec(f->registry, 1, PID_B, "parent");
	registry_fork(f->registry, 10, PID_A, PID_B);
	registry_fork(f->registry, 30, PID_A, PID_B);
	registry_expire(f->registry, 31, note_gone, f);
	assert_non_null(strstr(f->gone, "5000001:"));
	assert_non_null(registry_find(f->registry, PID_A));
}

static void threads_are_no_processes(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	struct process *p;

	registry_exec(registry, 1, PID_A, "a");
	p = registry_find(registry, PID_A);
	registry_fork(registry, 2, PID_A, PID_A);
	assert_ptr_equal(registry_find(registry, PID_A), p);
	assert_false(p->exited);
}

static void an_unknown_process_is_read_from_proc(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	uint32_t self = (uint32_t)getpid();
	struct process *p;

	assert_null(registry_find(registry, self));
	p = registry_get(registry, self, clock_now_ns());
	assert_int_equal(p->pid, self);
	assert_int_equal(p->ppid, getppid());
	assert_string_equal(p->comm, "test_registry");
	assert_non_null(strstr(p->exe, "/test_registry"));
	assert_false(p->exited);
	assert_non_null(strstr(
		process_find_mapping(p, (uintptr_t)an_unknown_process_is_read_from_proc)->path,
		"/test_registry"));
	assert_non_null(strstr(process_find_mapping(p, (uintptr_t)hsearch_r)->path, "libc"));
	/* data is not kept */
	assert_null(process_find_mapping(p, (uintptr_t)state));
	assert_ptr_equal(registry_get(registry, self, clock_now_ns()), p);
}

static void an_unknown_process_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct process *p = registry_get(f->registry, PID_A, 1000);

	assert_non_null(p);
	assert_true(p->exited);
	assert_int_equal(p->mappings.len, 0);
	assert_string_equal(p->exe, "");
	registry_expire(f->registry, 2000, note_gone, f);
	assert_int_equal(process_count(f->registry), 0);
}

static void a_process_that_only_lost_its_main_thread(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	uint32_t self = (uint32_t)getpid();
	struct process *p = registry_get(registry, self, clock_now_ns());
	uint64_t serial = p->serial, now = clock_now_ns();

	registry_exit(registry, now, self);
	p = registry_get(registry, self, now + 10 * NSEC_PER_SEC);
	assert_false(p->exited);
	assert_int_equal(p->serial, serial);
}

static void the_snapshot_holds_live_processes(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	pid_t child = fork();
	struct process *p;
	struct err err;

	if (child == 0) {
		pause();
		_exit(0);
	}
	assert_int_equal(registry_snapshot(registry, &err), 0);
	p = registry_find(registry, (uint32_t)child);
	assert_non_null(p);
	assert_int_equal(p->ppid, getpid());
	assert_true(p->mappings.len > 2);
	assert_non_null(registry_find(registry, (uint32_t)getpid()));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void snapshot(struct registry *registry)
{
	struct err err;

	assert_int_equal(registry_snapshot(registry, &err), 0);
	assert_string_equal(registry_find(registry, (uint32_t)getpid())->exe, "");
}

static void the_snapshot_is_completed_on_demand(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	uint32_t self = (uint32_t)getpid();
	struct process *p;

	snapshot(registry);
	p = registry_find_complete(registry, self);
	assert_ptr_equal(p, registry_find(registry, self));
	assert_non_null(strstr(p->exe, "/test_registry"));
	assert_int_equal(p->cgroup[0], '/');
	assert_null(registry_find_complete(registry, PID_A));
}

static void the_snapshot_is_completed_for_children(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;

	snapshot(registry);
	registry_fork(registry, clock_now_ns(), PID_A, (uint32_t)getpid());
	assert_non_null(strstr(registry_find(registry, PID_A)->exe, "/test_registry"));
}

static void the_snapshot_is_completed_bit_by_bit(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	struct process *p;
	size_t turns = 0;

	snapshot(registry);
	p = registry_find(registry, (uint32_t)getpid());
	registry_complete(registry, 0);
	assert_string_equal(p->exe, "");
	for (; p->exe[0] == '\0' && turns < process_count(registry); turns++)
		registry_complete(registry, 1);
	assert_non_null(strstr(p->exe, "/test_registry"));
	registry_complete(registry, SIZE_MAX);
	registry_complete(registry, 1); /* nothing is left */
}

/* A library loaded before anything else is known of the process. */
static void what_is_mapped_later_is_not_the_executable(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;

	snapshot(registry);
	map(registry, clock_now_ns(), (uint32_t)getpid(), 0x1000, 7, "/lib/late.so");
	assert_non_null(strstr(registry_find(registry, (uint32_t)getpid())->exe, "/test_registry"));
}

/* What /proc says now is another program's than the one that the pid had at the snapshot. */
static void an_exec_is_not_completed(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	uint32_t self = (uint32_t)getpid();

	snapshot(registry);
	registry_exec(registry, clock_now_ns(), self, "next");
	registry_complete(registry, SIZE_MAX);
	assert_string_equal(registry_find_complete(registry, self)->exe, "");
	map(registry, clock_now_ns(), self, 0x400000, 7, "/bin/next");
	assert_string_equal(registry_find_complete(registry, self)->exe, "/bin/next");
}

static void an_exit_is_not_completed(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	uint32_t self = (uint32_t)getpid();

	snapshot(registry);
	registry_exit(registry, clock_now_ns(), self);
	registry_complete(registry, SIZE_MAX);
	assert_string_equal(registry_find_complete(registry, self)->exe, "");
}

/* As after dlopen(), when its record was lost. */
static void a_mapping_whose_record_was_lost(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;
	_cleanup_close_ int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct process *p = registry_get(registry, (uint32_t)getpid(), 100);
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	assert_ptr_equal(registry_get(registry, (uint32_t)getpid(), 200), p);
	assert_null(process_find_mapping(p, (uintptr_t)at));
	registry_check(registry, 200);
	registry_get(registry, (uint32_t)getpid(), 200);
	assert_null(process_find_mapping(p, (uintptr_t)at));
	registry_note_loss(registry);
	registry_check(registry, 250);
	assert_ptr_equal(registry_get(registry, (uint32_t)getpid(), 300), p);
	assert_non_null(process_find_mapping(p, (uintptr_t)at));
	munmap(at, 4096);
}

static void a_check_finds_who_is_gone(void **state)
{
	struct fixture *f = *state;
	pid_t child = fork();

	if (child == 0) {
		pause();
		_exit(0);
	}
	registry_get(f->registry, (uint32_t)child, 100);
	registry_get(f->registry, (uint32_t)getpid(), 100);
	registry_get(f->registry, 0, 100);
	registry_note_loss(f->registry);
	registry_check(f->registry, 200);
	assert_false(registry_find(f->registry, (uint32_t)child)->exited);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	registry_note_loss(f->registry);
	registry_check(f->registry, 300);
	assert_true(registry_find(f->registry, (uint32_t)child)->exited);
	assert_false(registry_find(f->registry, (uint32_t)getpid())->exited);
	assert_false(registry_find(f->registry, 0)->exited);
	registry_expire(f->registry, 301, NULL, NULL);
	assert_null(registry_find(f->registry, (uint32_t)child));
}

static void a_walk_over_all(void **state)
{
	struct registry *registry = ((struct fixture *)*state)->registry;

	for (uint32_t i = 0; i < 100; i++)
		registry_exec(registry, i, PID_A + i, "x");
	assert_int_equal(process_count(registry), 100);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

/* Caches are kept by it: no two generations have the same, whatever began them. */
static void serials_are_unique(void **state)
{
	struct fixture *f = *state;
	uint64_t serials[4];

	for (int i = 0; i < 4; i++) {
		uint32_t pid = i < 2 ? PID_A : PID_B;

		registry_exec(f->registry, (uint64_t)i + 1, pid, "x");
		serials[i] = registry_find(f->registry, pid)->serial;
		for (int other = 0; other < i; other++)
			assert_int_not_equal(serials[i], serials[other]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(serials_are_unique, setup, teardown),
		TEST(fork_then_exec),
		TEST(only_the_main_thread_names_the_process),
		TEST(exit_marks_and_expire_removes),
		TEST(a_pid_that_is_used_again),
		TEST(an_exit_record_that_was_lost),
		TEST(threads_are_no_processes),
		TEST(an_unknown_process_is_read_from_proc),
		TEST(an_unknown_process_that_is_gone),
		TEST(a_process_that_only_lost_its_main_thread),
		TEST(the_snapshot_holds_live_processes),
		TEST(the_snapshot_is_completed_on_demand),
		TEST(the_snapshot_is_completed_for_children),
		TEST(the_snapshot_is_completed_bit_by_bit),
		TEST(what_is_mapped_later_is_not_the_executable),
		TEST(an_exec_is_not_completed),
		TEST(an_exit_is_not_completed),
		TEST(a_mapping_whose_record_was_lost),
		TEST(a_check_finds_who_is_gone),
		TEST(a_walk_over_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
