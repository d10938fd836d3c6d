// SPDX-License-Identifier: Apache-2.0
/* What is refused before a JVM is signalled, and in which words. */
#include "jailed_child.h"

#include <sched.h>

#include "fake_vm.h"
#include "jvm/attach/attach_check.h"

#define FLAG_BYTES 24UL

struct fixture {
	struct jail *jail;
	struct fake_vm vm;
};

/* A JVM with these flags; -1: it does not know that one. */
static void open_vm(struct fixture *f, int disabled, int loading, int reduced)
{
	const struct {
		const char *name;
		int value;
	} flags[] = { { "DisableAttachMechanism", disabled },
		      { "EnableDynamicAgentLoading", loading },
		      { "ReduceSignalUsage", reduced } };
	struct fake_memory *fake = &f->vm.fake;
	const struct fake_type types[] = { { "JVMFlag", FLAG_BYTES } };
	uint64_t array, count, start;

	fake_init(fake);
	array = fake_alloc(fake, ARRAY_SIZE(flags) * FLAG_BYTES);
	for (size_t i = 0; i < ARRAY_SIZE(flags); i++) {
		uint8_t value = flags[i].value == 1;

		fake_put_u64(fake, array + i * FLAG_BYTES, fake_add(fake, &value, 1));
		fake_put_u64(fake, array + i * FLAG_BYTES + 8,
			     fake_string(fake, flags[i].value < 0 ? "Another" : flags[i].name));
	}
	start = fake_alloc(fake, 8);
	count = fake_alloc(fake, 8);
	fake_put_u64(fake, start, array);
	fake_put_u64(fake, count, ARRAY_SIZE(flags));
	const struct fake_field fields[] = {
		{ "JVMFlag", "_addr", 0, 0 },
		{ "JVMFlag", "_name", 8, 0 },
		{ "JVMFlag", "flags", start, 1 },
		{ "JVMFlag", "numFlags", count, 1 },
	};

	fake_vm_open(&f->vm, fields, ARRAY_SIZE(fields), types, ARRAY_SIZE(types));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	void *jail;

	*state = f;
	if (jail_setup(&jail) < 0)
		return -1;
	f->jail = jail;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	void *jail = f->jail;

	fake_vm_release(&f->vm);
	free(f);
	return jail_teardown(&jail);
}

static int check(struct fixture *f, struct err *err)
{
	struct attach_target target = ATTACH_TARGET_INIT;
	int r = attach_check_open((uint32_t)f->jail->child, f->vm.vs, &target, err);

	if (r < 0) {
		assert_int_equal(target.pidfd, -1);
	} else {
		assert_int_equal(target.pid, f->jail->child);
		/* Of its files nothing was opened but where its socket may be. */
		assert_true(!target.catches_quit || target.tmp_fd == -1);
	}
	attach_target_close(&target);
	return r;
}

static void expect_refused(struct fixture *f, const char *why)
{
	struct err err;

	assert_int_equal(check(f, &err), -EOPNOTSUPP);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

/* A thread more than the one that a copy has: it shares all, and waits. */
static int wait_forever(void *data)
{
	(void)data;
	return pause();
}

static void start(struct fixture *f, enum on_quit what)
{
	static char stack[65536];

	/* jail_run() does not return; so its threads come first. */
	f->jail->child = fork();
	if (f->jail->child == 0) {
		if (clone(wait_forever, stack + sizeof(stack),
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD,
			  NULL) < 0)
			_exit(3);
		jail_run(f->jail, what, 0);
	}
	for (int i = 0; i < 5000 && !__atomic_load_n(&f->jail->shared->ready, __ATOMIC_SEQ_CST);
	     i++)
		usleep(1000);
	assert_true(__atomic_load_n(&f->jail->shared->ready, __ATOMIC_SEQ_CST));
}

static void a_jvm_that_can_be_attached_to(void **state)
{
	struct fixture *f = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	start(f, QUIT_IS_IGNORED);
	for (int flag = -1; flag <= 1; flag++) {
		open_vm(f, flag == 1 ? 0 : -1, flag ? flag : 1, flag);
		if (check(f, &err) < 0)
			fail_msg("%s", err.text);
		fake_vm_release(&f->vm);
	}
}

static void flags_that_forbid_it(void **state)
{
	struct fixture *f = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	start(f, QUIT_IS_IGNORED);
	open_vm(f, 1, 1, 0);
	expect_refused(f, "-XX:+DisableAttachMechanism");
	fake_vm_release(&f->vm);
	open_vm(f, 0, 0, 0);
	expect_refused(f, "-XX:-EnableDynamicAgentLoading");
	check(f, &err);
	assert_int_equal(strncmp(err.hint, "start it with -agentpath:", 25), 0);
}

/* Without a handler SIGQUIT would kill; with -Xrs the listener runs from the start. */
static void a_jvm_without_handler(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct err err;
	int fd;

	if (geteuid() != 0)
		skip();
	start(f, QUIT_KILLS);
	open_vm(f, 0, 1, 0);
	/* It may come yet: a JVM that starts has its interpreter long before. */
	assert_int_equal(check(f, &err), -EAGAIN);
	assert_non_null(strstr(err.text, "does not handle SIGQUIT, which would kill it"));
	fake_vm_release(&f->vm);
	open_vm(f, 0, 1, 1);
	expect_refused(f, "runs with -Xrs and its attach socket is gone");
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/tmp/.java_pid%d", f->jail->dir,
		 f->jail->child);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	if (check(f, &err) < 0)
		fail_msg("%s", err.text);
	close(fd);
}

static void a_copy_of_a_jvm(void **state)
{
	struct fixture *f = *state;

	if (geteuid() != 0)
		skip();
	jail_start(f->jail, QUIT_IS_IGNORED, 0);
	open_vm(f, 0, 1, 0);
	expect_refused(f, "is a copy that a JVM forked");
}

static void what_is_no_jvm(void **state)
{
	struct fixture *f = *state;
	struct err err;

	if (geteuid() != 0)
		skip();
	start(f, QUIT_IS_IGNORED);
	expect_refused(f, "is no HotSpot JVM");
	open_vm(f, 0, 1, 0);
	kill(f->jail->child, SIGKILL);
	waitpid(f->jail->child, NULL, 0);
	assert_int_equal(check(f, &err), -ESRCH);
	f->jail->child = 0;
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_jvm_that_can_be_attached_to),
		TEST(flags_that_forbid_it),
		TEST(a_jvm_without_handler),
		TEST(a_copy_of_a_jvm),
		TEST(what_is_no_jvm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
