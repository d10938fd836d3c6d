/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent has published, read with hostprof's own reader and kept, so that a test can ask. */
#ifndef HOSTPROF_TESTS_AGENT_RECORDS_H
#define HOSTPROF_TESTS_AGENT_RECORDS_H

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_jvmti.h"
#include "jvm/codemap/codemap_reader.h"

#define RECORDS_MAX 20000

/* A record with its bytes, which the reader gives back. */
struct kept_record {
	struct codemap_event event;
	char text[64];	/* of a name */
	char class[64]; /* of a method */
	char source[64];
	char descriptor[64];
	struct codemap_line lines[FAKE_LINES];

	struct {
		uint32_t offset, depth;
		struct codemap_frame frames[4]; /* innermost first */
	} pcs[4];
};

struct records {
	struct codemap_reader reader;
	struct kept_record *all;
	unsigned int count;
};

static void keep_text(char *to, const struct codemap_text *text)
{
	memcpy(to, text->data, text->len < 63 ? text->len : 63);
}

static void keep_load(struct kept_record *kept, const struct codemap_event *event)
{
	const struct codemap_pc *pc = event->load.pcs;

	for (uint32_t i = 0; i < event->load.pc_count && i < 4; i++, pc = codemap_next_pc(pc)) {
		uint32_t depth = pc->depth < 4 ? pc->depth : 4;

		for (uint32_t k = 0; k < pc->depth; k++)
			assert_int_equal(codemap_pc_frames(pc)[k].pad, 0);
		kept->pcs[i].offset = pc->offset;
		kept->pcs[i].depth = pc->depth;
		memcpy(kept->pcs[i].frames, codemap_pc_frames(pc),
		       depth * sizeof(struct codemap_frame));
	}
}

static void keep_record(const struct codemap_event *event, void *data)
{
	struct records *r = data;
	struct kept_record *kept = &r->all[r->count++];

	assert_true(r->count <= RECORDS_MAX);
	memset(kept, 0, sizeof(*kept));
	kept->event = *event;
	if (event->kind == CODEMAP_METHOD) {
		keep_text(kept->text, &event->method.name);
		keep_text(kept->class, &event->method.class_name);
		keep_text(kept->source, &event->method.source);
		keep_text(kept->descriptor, &event->method.descriptor);
		if (event->method.line_count <= FAKE_LINES)
			memcpy(kept->lines, event->method.lines,
			       event->method.line_count * sizeof(kept->lines[0]));
	} else if (event->kind == CODEMAP_DYNAMIC) {
		keep_text(kept->text, &event->dynamic.name);
	} else if (event->kind == CODEMAP_LOAD) {
		keep_load(kept, event);
	} else if (event->kind == CODEMAP_THREAD || event->kind == CODEMAP_THREAD_END ||
		   event->kind == CODEMAP_THREAD_SEEN) {
		keep_text(kept->text, &event->thread.name);
	}
}

/* The reader takes the lease, so that the agent may publish. */
static void records_open(struct records *r, const struct agent *a)
{
	struct err err = { 0 };

	r->all = calloc(RECORDS_MAX, sizeof(*r->all));
	r->count = 0;
	assert_int_equal(codemap_reader_open_fd(dup(a->ring.fd), &r->reader, &err), 0);
	assert_int_equal(codemap_reader_take_lease(&r->reader, clock_now_ns(), &err), 0);
}

/* What is new since the last call: their number; they begin at all[0]. */
static unsigned int records_read(struct records *r)
{
	static _Alignas(8) char buffer[CODEMAP_READ_BYTES];

	r->count = 0;
	assert_int_equal(codemap_reader_drain(&r->reader, buffer, NULL, keep_record, r), 0);
	return r->count;
}

/* The only new record of its kind. */
static const struct kept_record *records_one(const struct records *r, uint16_t kind)
{
	const struct kept_record *found = NULL;

	for (unsigned int i = 0; i < r->count; i++) {
		if (r->all[i].event.kind != kind)
			continue;
		assert_null(found);
		found = &r->all[i];
	}
	assert_non_null(found);
	return found;
}

static unsigned int records_of_kind(const struct records *r, uint16_t kind)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->count; i++)
		n += r->all[i].event.kind == kind;
	return n;
}

static void records_close(struct records *r)
{
	codemap_reader_close(&r->reader);
	free(r->all);
}

#endif
