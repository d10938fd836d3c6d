/* SPDX-License-Identifier: Apache-2.0 */
/* The row of a JVM: whose it is, and what it, its agent and the way to attach to it say. */
#include "test.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "codemap.h"
#include "fake_clock.h"
#include "jvm/attach/attach.h"
#include "jvm/attach/attach_check.h"
#include "jvm/attach/attach_reach.h"
#include "jvm/codemap/codemap_find.h"
#include "jvm/java_command.h"
#include "jvm/jvm_info.h"
#include "jvm/jvm_kind.h"
#include "jvm/layout/vm_flags.h"
#include "jvm/layout/vmstructs.h"

struct world {
	int open;			  /* answer of vmstructs_open() */
	enum jvm_kind kind, executable;	  /* of the process */
	int check;			  /* answer of attach_check_open() */
	int find, look;			  /* of attach_find_agent(), attach_reach_check() */
	const char *why, *hint, *version; /* NULL: it cannot be read */
	struct codemap_header header;	  /* of its code map, */
	size_t header_bytes;		  /* 0: it has none */
	int64_t ahead_ns;		  /* of its clock */
	bool targets, tables;		  /* what is open */
	unsigned int with_tables, opened, caches;
};

static struct world *now;

/* --- in place of the other files of jvm/ --- */

struct vmstructs_cache {
	int unused;
};

static struct vmstructs_cache the_cache;

struct vmstructs_cache *vmstructs_cache_new(void)
{
	now->caches++;
	return &the_cache;
}

void vmstructs_cache_free(struct vmstructs_cache *cache)
{
	assert_ptr_equal(cache, &the_cache);
	now->caches--;
}

static char the_tables;

int vmstructs_open(struct vmstructs_cache *cache, uint32_t pid, const struct mapping *libjvm,
		   struct vmstructs **ret_vs, struct err *err)
{
	assert_true(!cache == !now->caches);
	assert_null(libjvm);
	(void)pid;
	if (now->open)
		return err_set(err, now->open, "answer %d", -now->open);
	now->tables = true;
	now->opened++;
	*ret_vs = (struct vmstructs *)(void *)&the_tables;
	return 0;
}

void vmstructs_close(struct vmstructs *vs)
{
	if (vs)
		now->tables = false;
}

int vm_version_read(const struct vmstructs *vs, char *ret_version, size_t size)
{
	assert_ptr_equal(vs, &the_tables);
	snprintf(ret_version, size, "%s", now->version ? now->version : "half read");
	return now->version ? 0 : -EFAULT;
}

void java_command_main_class(uint32_t pid, const struct vmstructs *vs, char *ret_main, size_t size)
{
	assert_int_equal(pid, getpid());
	snprintf(ret_main, size, vs ? "pkg.Main" : "outside.Main");
	now->with_tables += vs != NULL;
}

int attach_check_open(uint32_t pid, const struct vmstructs *vs, struct attach_target *ret_target,
		      struct err *err)
{
	assert_int_equal(pid, getpid());
	assert_ptr_equal(vs, &the_tables);
	if (now->check) {
		err_set(err, now->check, "%s", now->why);
		return now->hint ? err_hint(err, "%s", now->hint) : now->check;
	}
	ret_target->pid = pid;
	now->targets = true;
	return 0;
}

int attach_find_agent(char *ret_path, unsigned long size, struct err *err)
{
	snprintf(ret_path, size, "the agent");
	return now->find ? err_set(err, now->find, "no agent here") : 0;
}

int attach_reach_check(struct attach_target *target, const char *agent_path, uint64_t deadline_ns,
		       struct err *err)
{
	assert_int_equal(target->pid, getpid());
	assert_string_equal(agent_path, now->find ? "" : "the agent");
	assert_true(deadline_ns > clock_now_ns());
	return now->look ? err_set(err, now->look, "no room there") : 0;
}

void attach_target_close(struct attach_target *target)
{
	if (target->pid)
		now->targets = false;
}

int codemap_find_fd(uint32_t pid, struct err *err)
{
	int fd;

	assert_int_equal(pid, getpid());
	if (!now->header_bytes)
		return err_set(err, -ENODATA, "no agent");
	fd = memfd_create("hostprof-test", MFD_CLOEXEC);
	assert_int_equal(write(fd, &now->header, now->header_bytes), now->header_bytes);
	return fd;
}

int64_t codemap_clock_offset_ns(uint32_t pid)
{
	(void)pid;
	return now->ahead_ns;
}

enum jvm_kind jvm_kind_of_process(uint32_t pid)
{
	return pid == (uint32_t)getpid() ? now->kind : JVM_KIND_NONE;
}

enum jvm_kind jvm_kind_of_executable(uint32_t pid)
{
	(void)pid;
	return now->executable;
}

void jvm_lacks_read(const struct vmstructs *vs, struct jvm_lacks *ret_lacks)
{
	assert_ptr_equal(vs, &the_tables);
	*ret_lacks = (struct jvm_lacks){ 1, { "something" } };
}

void jvm_lacks_all(const struct err *why, struct jvm_lacks *ret_lacks)
{
	*ret_lacks = (struct jvm_lacks){ .count = 1 };
	snprintf(ret_lacks->text[0], sizeof(ret_lacks->text[0]), "all: %.100s", why->text);
}

/* --- */

static int setup(void **state)
{
	struct world *w = now = calloc(1, sizeof(*w));

	fake_begin();
	w->kind = JVM_KIND_HOTSPOT;
	w->version = "17.0.15+6";
	w->header.magic = CODEMAP_MAGIC;
	w->header.agent_bytes = 12345;
	w->header.dropped = 67;
	w->header.lease_pid = 89;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	assert_false(w->targets || w->tables || w->caches);
	free(w);
	return 0;
}

static struct jvm_info read_info(void)
{
	struct jvm_info info;
	struct err err = { 0 };

	memset(&info, 0xff, sizeof(info));
	if (jvm_info_read((uint32_t)getpid(), &info, &err))
		fail_msg("%s", err.text);
	return info;
}

static void expect_failure(int code, const char *why)
{
	struct jvm_info info, before;
	struct err err = { 0 };

	memset(&info, 0xff, sizeof(info));
	before = info;
	assert_int_equal(jvm_info_read((uint32_t)getpid(), &info, &err), code);
	assert_string_equal(err.text, why);
	assert_memory_equal(&info, &before, sizeof(info));
}

static void what_is_told(void **state)
{
	struct jvm_info info = read_info();

	(void)state;
	assert_int_equal(info.pid, getpid());
	assert_int_equal(info.ns_pid, getpid());
	assert_int_equal(info.lacks.count, 1);
	assert_string_equal(info.lacks.text[0], "something");
	assert_int_equal(info.uid, geteuid());
	assert_string_equal(info.version, "17.0.15+6");
	assert_string_equal(info.main_class, "pkg.Main");
	assert_true(info.can_attach);
	assert_string_equal(info.why_not, "");
	assert_int_equal(info.agent, JVM_AGENT_NONE);
	assert_int_equal(info.agent_bytes, 0);
	assert_int_equal(info.agent_lease_pid, 0);
	assert_int_equal(now->opened, 1);
}

static void a_version_that_cannot_be_read(void **state)
{
	struct world *w = *state;

	w->version = NULL;
	assert_string_equal(read_info().version, "");
}

/* A user of a container need not exist here: a number has to do. */
static struct passwd *the_user;
static int user_result;

int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size, struct passwd **ret)
{
	assert_int_equal(uid, geteuid());
	(void)buffer, (void)size;
	if (the_user)
		*entry = *the_user;
	*ret = the_user ? entry : NULL;
	return user_result;
}

static void whose_it_is(void **state)
{
	struct passwd user = { .pw_name = (char *)(uintptr_t) "somebody" };
	char number[16];

	(void)state;
	snprintf(number, sizeof(number), "%u", geteuid());
	assert_string_equal(read_info().user, number);
	the_user = &user;
	assert_string_equal(read_info().user, "somebody");
	user_result = EIO;
	assert_string_equal(read_info().user, number);
	the_user = NULL;
	user_result = 0;
}

/* --- its agent --- */

static void expect_agent(enum jvm_agent_state agent)
{
	struct jvm_info info = read_info();
	bool is_one = agent != JVM_AGENT_NONE;

	assert_int_equal(info.agent, agent);
	assert_int_equal(info.agent_bytes, is_one ? 12345 : 0);
	assert_int_equal(info.agent_dropped, is_one ? 67 : 0);
	assert_int_equal(info.agent_lease_pid, agent == JVM_AGENT_ACTIVE ? 89 : 0);
}

static void an_agent_that_is_idle(void **state)
{
	struct world *w = *state;

	w->header_bytes = sizeof(w->header);
	expect_agent(JVM_AGENT_IDLE);
	w->header_bytes--;
	expect_agent(JVM_AGENT_NONE);
	w->header_bytes++;
	w->header.closed_ns = 1;
	expect_agent(JVM_AGENT_NONE);
	w->header.closed_ns = 0;
	w->header.magic++;
	expect_agent(JVM_AGENT_NONE);
}

/* A lease counts by the JVM's clock, until its end, and if a hostprof can have written it. */
static void an_agent_that_is_read(void **state)
{
	const uint64_t longest = 10 * CODEMAP_LEASE_NS, t = clock_now_ns();
	struct world *w = *state;

	w->header_bytes = sizeof(w->header);
	w->header.lease_until_ns = t + 1;
	expect_agent(JVM_AGENT_ACTIVE);
	w->header.lease_until_ns = t;
	expect_agent(JVM_AGENT_IDLE);
	w->header.lease_until_ns = t + longest;
	expect_agent(JVM_AGENT_ACTIVE);
	w->header.lease_until_ns = t + longest + 1;
	expect_agent(JVM_AGENT_IDLE);
	w->ahead_ns = 1;
	expect_agent(JVM_AGENT_ACTIVE);
	w->ahead_ns = -1000000000;
	w->header.lease_until_ns = t - 1000000000 + 1;
	expect_agent(JVM_AGENT_ACTIVE);
	w->header.lease_until_ns = t - 1000000000;
	expect_agent(JVM_AGENT_IDLE);
}

/* --- why it cannot be attached to --- */

static void expect_why_not(const char *why_not)
{
	struct jvm_info info = read_info();

	assert_false(info.can_attach);
	assert_string_equal(info.why_not, why_not);
}

static void why_it_cannot_be_attached_to(void **state)
{
	static char why[sizeof(((struct err *)NULL)->text)], expected[256];
	struct world *w = *state;

	w->check = -EOPNOTSUPP;
	w->why = "it forbids it";
	expect_why_not("it forbids it");
	w->hint = "start it otherwise";
	expect_why_not("it forbids it; start it otherwise");
	/* The hint goes first when both do not fit; what fits exactly stays. */
	memset(why, 'x', sizeof(why) - 1);
	w->why = why;
	why[255 - 3] = '\0';
	w->hint = "y";
	snprintf(expected, sizeof(expected), "%.252s; y", why);
	expect_why_not(expected);
	w->hint = "yz";
	expect_why_not(why);
	w->check = 0;
	w->look = -EACCES;
	expect_why_not("no room there");
	w->find = -ENOENT;
	expect_why_not("no room there");
}

/* --- what is no HotSpot, or cannot be read --- */

static void a_jvm_that_cannot_be_read(void **state)
{
	struct world *w = *state;
	struct jvm_info info;

	w->open = -EAGAIN;
	w->header_bytes = sizeof(w->header);
	info = read_info();
	assert_string_equal(info.main_class, "outside.Main");
	assert_string_equal(info.version, "");
	assert_false(info.can_attach);
	assert_string_equal(info.why_not, "answer 11");
	assert_string_equal(info.lacks.text[0], "all: answer 11");
	assert_int_equal(info.agent, JVM_AGENT_IDLE);
	assert_int_equal(w->with_tables, 0);
	w->open = -EPERM;
	assert_string_equal(read_info().why_not, "answer 1");
}

static void what_is_another_jvm(void **state)
{
	struct world *w = *state;
	struct jvm_info info;

	w->open = -ENODATA;
	w->kind = JVM_KIND_OPENJ9;
	info = read_info();
	assert_string_equal(info.version, "OpenJ9");
	assert_string_equal(info.why_not, "OpenJ9: only native frames can be shown");
	assert_string_equal(info.lacks.text[0], "all: OpenJ9: only native frames can be shown");
	assert_string_equal(info.main_class, "outside.Main");
	assert_false(info.can_attach);
	/* Not one whose library is no HotSpot's. */
	w->kind = JVM_KIND_HOTSPOT;
	expect_failure(-ENODATA, "answer 61");
	w->kind = JVM_KIND_NONE;
	w->executable = JVM_KIND_NATIVE_IMAGE;
	w->open = -EAGAIN;
	expect_failure(-EAGAIN, "answer 11");
	w->kind = JVM_KIND_HOTSPOT;
	w->open = -ESRCH;
	expect_failure(-ESRCH, "answer 3");
}

static void a_native_image(void **state)
{
	struct world *w = *state;
	char expected[80];

	w->open = -ENODATA;
	w->kind = JVM_KIND_NONE;
	expect_failure(-ENODATA, "answer 61");
	w->executable = JVM_KIND_NATIVE_IMAGE;
	snprintf(expected, sizeof(expected), "process %d is a GraalVM native image, no JVM",
		 getpid());
	expect_failure(-ENODATA, expected);
}

static void no_process(void **state)
{
	struct jvm_info info;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(jvm_info_read(0x7fffffff, &info, &err), -ESRCH);
	assert_string_equal(err.text, "there is no process 2147483647");
	assert_int_equal(now->opened, 0);
}

/* --- all of them --- */

static void a_list(void **state)
{
	struct world *w = *state;
	struct jvm_info *infos = NULL;
	unsigned int count = 99;
	struct err err = { 0 };

	assert_int_equal(jvm_info_list(&infos, &count, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(infos[0].pid, getpid());
	assert_string_equal(infos[0].main_class, "pkg.Main");
	assert_int_equal(w->opened, 1); /* of others only the kind is asked for */
	free(infos);
	w->open = -ENODATA;
	assert_int_equal(jvm_info_list(&infos, &count, &err), 0);
	assert_int_equal(count, 0);
	free(infos);
	w->kind = JVM_KIND_NONE;
	w->open = 0;
	assert_int_equal(jvm_info_list(&infos, &count, &err), 0);
	assert_int_equal(count, 0);
	assert_int_equal(w->opened, 1);
	free(infos);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_told),
		TEST(a_version_that_cannot_be_read),
		TEST(whose_it_is),
		TEST(an_agent_that_is_idle),
		TEST(an_agent_that_is_read),
		TEST(why_it_cannot_be_attached_to),
		TEST(a_jvm_that_cannot_be_read),
		TEST(what_is_another_jvm),
		TEST(a_native_image),
		TEST(no_process),
		TEST(a_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
