/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinder, symbolizer, files, JVMs and agents of a pipeline that only note what they are asked (pipeline_notes.h), in
 * place of the library's; and a pipeline over them. Included once per test.
 */
#ifndef HOSTPROF_TESTS_PIPELINE_PARTS_H
#define HOSTPROF_TESTS_PIPELINE_PARTS_H

#include "pipeline_agents.h"
#include "pipeline_files.h"
#include "pipeline_jvms.h"
#include "pipeline_notes.h"
#include "pipeline_probes.h"
#include "pipeline_symbolizer.h"
#include "pipeline_unwinder.h"

static inline int setup_parts(void **state)
{
	struct fixture *f;

	memset(&parts, 0, sizeof(parts));
	if (setup(state) < 0)
		return -1;
	f = *state;
	parts.start_ns = f->start_ns;
	return 0;
}

static inline int teardown_parts(void **state)
{
	parts.quiet = true;
	strbuf_release(&parts.log);
	return teardown(state);
}

/* Noted from here on. */
static inline void begin(struct fixture *f)
{
	open_pipeline(f);
	noted();
}

/* More than this is held back nowhere. */
static inline void queue_holds(struct fixture *f, uint64_t bytes)
{
	f->pipeline.plan.queue_bytes = bytes;
	f->pipeline.queue_room_bytes = 0;
	f->pipeline.guard.next_ns = UINT64_MAX;
	f->pipeline.guard.looked_ns = 0;
}

/* Without the notes of every turn. */
static inline void apply_until(struct fixture *f, uint64_t ms)
{
	parts.quiet = true;
	run_until(f, ms - 1);
	parts.quiet = false;
	assert_true(pipeline_apply_until(&f->pipeline, at_ms(f, ms)));
}

static inline void snapshot(struct fixture *f)
{
	struct err err;

	assert_int_equal(registry_snapshot(f->pipeline.registry, &err), 0);
	pipeline_meet(&f->pipeline);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_parts, teardown_parts)

#endif
