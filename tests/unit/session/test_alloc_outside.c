// SPDX-License-Identifier: Apache-2.0
/* What is opened for a JVM that is seen at AllocTracer, alone or beside its agent; the JVM's parts are this test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "jvm/layout/alloc_tracer.h"
#include "jvm/layout/libjvm.h"
#include "session/alloc/alloc_outside.h"
#include "wall/wall.h"

static struct world {
	uint32_t feature;
	int tracer, place, file; /* what these answer */
	char log[512];
	struct wire_tlab tlab;
} world;

static const struct mapping libjvm = { .start = 0x1000, .end = 0x2000 };

static void note(const char *what, uint64_t number)
{
	size_t len = strlen(world.log);

	snprintf(world.log + len, sizeof(world.log) - len, "%s %llu\n", what,
		 (unsigned long long)number);
}

const struct mapping *libjvm_find_mapping(const struct process *process)
{
	(void)process;
	return &libjvm;
}

int libjvm_open(uint32_t pid, const struct mapping *mapping, struct libjvm *ret_lib,
		struct err *err)
{
	(void)pid, (void)mapping, (void)ret_lib, (void)err;
	return 0;
}

void libjvm_close(struct libjvm *lib)
{
	(void)lib;
}

/* The kernel reads the page that a probe comes into: the file is opened, and looked at, before. */
int wall_open(uint32_t pid, const char *path)
{
	assert_int_equal(pid, 7);
	assert_string_equal(path, "/proc/7/map_files/1000-2000");
	return world.file ? world.file : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

int alloc_tracer_find(const struct libjvm *lib, uint32_t pid, const char *path, uint32_t feature,
		      struct alloc_tracer *ret_tracer, struct err *err)
{
	(void)lib, (void)pid, (void)path;
	assert_int_equal(feature, world.feature);
	*ret_tracer = (struct alloc_tracer){ 100, 200 };
	return world.tracer ? err_set(err, world.tracer, "no symbols") : 0;
}

int jvm_get_tlab(struct jvm *jvm, struct wire_tlab *ret_tlab, struct err *err)
{
	(void)jvm, (void)err;
	memset(ret_tlab, 0, sizeof(*ret_tlab));
	return 0;
}

uint32_t jvm_feature_release(struct jvm *jvm)
{
	(void)jvm;
	return world.feature;
}

static int add_place(enum wire_trigger trigger, const struct process *process, const char *path,
		     uint64_t offset, struct err *err, void *data)
{
	(void)process, (void)data;
	assert_memory_equal(path, "/proc/self/fd/", strlen("/proc/self/fd/"));
	note(trigger == WIRE_TRIGGER_ALLOC_NEW_TLAB ? "new" : "outside", offset);
	return trigger == WIRE_TRIGGER_ALLOC_OUTSIDE && world.place
		       ? err_set(err, world.place, "no probe")
		       : 0;
}

static int set_tlab(uint32_t tgid, const struct wire_tlab *tlab, void *data)
{
	(void)data;
	note(tlab ? "set" : "unset", tgid);
	if (tlab)
		world.tlab = *tlab;
	return 0;
}

static int open_it(uint32_t feature, bool beside)
{
	static const struct alloc_outside_ops ops = { add_place, set_tlab, NULL };
	static const struct process process = { .pid = 7 };
	struct err err = { 0 };

	world.feature = feature;
	world.log[0] = '\0';
	return alloc_outside_open(&ops, &process, (struct jvm *)&world, 4096, beside, &err);
}

static void test_alone(void **state)
{
	(void)state;
	assert_int_equal(open_it(17, false), 0);
	assert_string_equal(world.log, "set 7\nnew 100\noutside 200\n");
	assert_int_equal(world.tlab.interval, 4096);
	assert_int_equal(world.tlab.agent, 0);
}

static void test_beside_an_agent(void **state)
{
	(void)state;
	assert_int_equal(open_it(11, true), 0);
	assert_int_equal(world.tlab.agent, 1);
	assert_int_equal(world.tlab.reaches, 1);
	assert_int_equal(open_it(17, true), 0);
	assert_int_equal(world.tlab.agent, 1);
	assert_int_equal(world.tlab.reaches, 0);
}

/* Nothing is left of what could not be opened whole. */
static void test_failures(void **state)
{
	(void)state;
	world.tracer = -ENODATA;
	assert_int_equal(open_it(17, false), -ENODATA);
	assert_string_equal(world.log, "");
	world.tracer = 0;
	world.file = -EINVAL;
	assert_int_equal(open_it(17, false), -EINVAL);
	assert_string_equal(world.log, "");
	world.file = 0;
	world.place = -EPERM;
	assert_int_equal(open_it(17, true), -EPERM);
	assert_string_equal(world.log, "set 7\nnew 100\noutside 200\nunset 7\n");
	world.place = 0;
}

static void test_which_are_mended(void **state)
{
	static const struct {
		uint32_t feature;
		bool mends;
	} rows[] = { { 0, false }, { 11, true }, { 21, true }, { 24, true }, { 25, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		world.feature = rows[i].feature;
		assert_int_equal(alloc_outside_mends((struct jvm *)&world), rows[i].mends);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_beside_an_agent),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_which_are_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
