/* SPDX-License-Identifier: Apache-2.0 */
/* One host for the tests of views: a JVM, a shell whose stack is cut, allocations, what lives of them. */
#ifndef HOSTPROF_TESTS_VIEW_FIXTURE_H
#define HOSTPROF_TESTS_VIEW_FIXTURE_H

#include "output/view_options.h"
#include "profile_fixture.h"

enum { FIXTURE_CPU, FIXTURE_ALLOC, FIXTURE_LIVE };

static inline void view_fixture_samples(struct profile *p, uint32_t jvm_thread, uint32_t sh_thread)
{
	uint32_t libc = fixture_mapping(p, "/usr/lib/libc.so.6", "abcdef01", 0x26000, 0x17b000);
	uint32_t kernel =
		fixture_mapping(p, "[kernel]", "beef", 0xffffffff81000000, 0xffffffff82000000);
	uint32_t clone = fixture_code(p, FRAME_NATIVE, "clone3", libc, 0x30000);
	uint32_t unnamed = fixture_code(p, FRAME_NATIVE, "", libc, 0x31234);
	uint32_t rd = fixture_code(p, FRAME_KERNEL, "vfs_read", kernel, 0xffffffff81234567);
	uint32_t cut = fixture_code(p, FRAME_MARK, "[unwind: bad-frame-pointer]", PROFILE_NONE, 0);
	uint32_t class = fixture_code(p, FRAME_CLASS, "byte[]", PROFILE_NONE, 0);
	uint32_t run = fixture_java(p, FRAME_JAVA_INTERPRETED, "java.lang.Thread", "run", 833);
	uint32_t place = fixture_java(p, FRAME_JAVA_JIT, "com.acme.Order", "place", 10);
	uint32_t price = fixture_java(p, FRAME_JAVA_INLINED, "com.acme.Item", "price", 20);
	uint32_t get = fixture_java(p, FRAME_JAVA_INLINED, "java.util.HashMap", "get", 30);

	fixture_sample(p, FIXTURE_CPU, jvm_thread, 7, 70,
		       FIXTURE_FRAMES(clone, run, place, price, get));
	fixture_sample(p, FIXTURE_CPU, jvm_thread, 3, 30,
		       FIXTURE_FRAMES(clone, run, place, unnamed, rd));
	fixture_sample(p, FIXTURE_CPU, sh_thread, 2, 20, FIXTURE_FRAMES(cut, unnamed, rd));
	fixture_sample(p, FIXTURE_ALLOC, jvm_thread, 1, 4096, FIXTURE_FRAMES(clone, run, class));
	p->samples.items[p->samples.len - 1].objects = 12;
	fixture_sample(p, FIXTURE_LIVE, jvm_thread, 1, 1024, FIXTURE_FRAMES(clone, run, class));
	p->samples.items[p->samples.len - 1].objects = 3;
	p->samples.items[p->samples.len - 1].age = 2;
}

static inline void view_fixture_init(struct profile *p)
{
	struct profile_quality q = {
		.event = FIXTURE_CPU, .samples = 10, .complete = 10, .weight = 100
	};
	uint32_t jvm_thread, sh_thread, sh;
	struct profile_process jvm = { .pid = 4242 };

	profile_init(p);
	fixture_event(p, "cpu", "nanoseconds", 10);
	fixture_event(p, "alloc", "bytes", 0);
	fixture_event(p, "live", "bytes", 0);
	jvm.name = profile_string(p, "java");
	jvm.main_class = profile_string(p, "com.acme.Main");
	jvm.jvm_version = profile_string(p, "17.0.9");
	jvm.container_id = profile_string(p, "0123456789abcdef");
	q.process = profile_process(p, &jvm);
	jvm_thread = fixture_thread(p, q.process, "worker;1", 4243);
	sh = fixture_process(p, "sh", 99);
	sh_thread = fixture_thread(p, sh, "sh", 99);
	view_fixture_samples(p, jvm_thread, sh_thread);
	profile_add_quality(p, &q);
	q = (struct profile_quality){ .process = sh,
				      .event = FIXTURE_CPU,
				      .samples = 2,
				      .weight = 20,
				      .lost = 1,
				      .lost_weight = 10 };
	profile_add_quality(p, &q);
	profile_add_counter(p, "unwind.bad-frame-pointer", NULL, 2);
	profile_add_counter(p, "symbols.file-not-read", "/tmp/gone: removed", 2);
	p->host = profile_string(p, "build7");
	p->command = profile_string(p, "hostprof record");
	p->start_wall_ns = 1790000000000000000;
	p->duration_ns = 10000000000;
}

typedef int (*view_write_fn)(const struct profile *p, const struct view_options *options, FILE *out,
			     struct err *err);

/* The bytes that WRITE makes; caller frees. */
static inline char *view_fixture_render(const struct profile *p, const struct view_options *options,
					view_write_fn write, size_t *ret_len)
{
	struct err err = { 0 };
	char *data = NULL;
	FILE *out = open_memstream(&data, ret_len);

	assert_non_null(out);
	assert_int_equal(write(p, options, out, &err), 0);
	assert_int_equal(fclose(out), 0);
	return data;
}

#endif
