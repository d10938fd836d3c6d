/* SPDX-License-Identifier: Apache-2.0 */
/* An unwinder whose walks are the test's: what it asks of them, and what it may read. Included once per test. */
#ifndef HOSTPROF_TESTS_UNWINDER_WALKS_H
#define HOSTPROF_TESTS_UNWINDER_WALKS_H

#include "test.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "fake_clock.h"
#include "heap_tables.h"
#include "process/mappings.h"
#include "process/proc.h"
#include "unwind/unwinder_private.h"

#define PID	     5000001U /* PID_MAX_LIMIT of include/linux/threads.h is 4 * 1024 * 1024 */
#define MAPPED	     0x10000000ULL
#define MISSING	     0x666000ULL /* mapped by nobody */
#define SAMPLE_WORDS 8
#define METHOD_SLOT  (-3)

/* --- in place of unwind/walk.c --- */

static struct {
	struct walk_request request;
	uint32_t words_before, frames_before;
	uint64_t first_word;
	unsigned int stops; /* so often something is missing */
	unsigned int begun;
	/* What it may read. */
	bool alive;
	uint32_t range_count, range_serial;
	/* What it comes upon. */
	enum unwind_reason reason;
	uint64_t failed_at, far_blob;
	uint64_t fp, method; /* of an interpreted frame; 0: none */
	uint64_t *there,
		*changes; /* what it reads, and what the process changes then; NULL: nothing */
} walker;

void walk_begin(struct walk *walk, const struct walk_request *request, struct unwind_memory *memory,
		struct walk_result *result)
{
	memset(walk, 0, sizeof(*walk));
	walk->memory = memory;
	walk->result = result;
	walker.begun++;
	walker.request = *request;
	walker.words_before = result->word_count;
	walker.frames_before = result->frames;
	walker.first_word = result->words[0];
	walker.alive = ((const struct unwind_stack *)memory->data)->alive;
	walker.range_count = memory->tables->range_count;
	walker.range_serial = walker.range_count ? memory->tables->ranges[0].serial : 0;
}

static inline void put_interpreted(struct walk_result *result)
{
	uint64_t *words = result->words + result->word_count;

	memset(words, 0, WIRE_INTERPRETED_WORDS * sizeof(*words));
	words[0] = (uint64_t)WIRE_FRAME_INTERPRETED << WIRE_FRAME_KIND_SHIFT | MAPPED;
	words[1] = walker.method;
	result->interpreted[0] = (struct walk_interpreted){ walker.fp, result->word_count };
	result->interpreted_count = 1;
	result->word_count += WIRE_INTERPRETED_WORDS;
}

bool walk_go_on(struct walk *walk)
{
	struct unwind_cursor *c = &walk->cursor;

	if (walker.stops) {
		walker.stops--;
		return true;
	}
	c->row_frames = 1;
	c->hot_frames = 2;
	c->fp_frames = 3;
	c->jit_frames = 4;
	c->java_frames = 5;
	c->java_hot_frames = 6;
	c->anchors = 7;
	c->frozen = 8;
	c->frozen_frames = 9;
	if (walker.fp)
		put_interpreted(walk->result);
	if (walker.there) {
		uint64_t word;

		assert_int_equal(memory_read(walk->memory, &word, 8, (uintptr_t)walker.there), 0);
		++*walker.changes;
	}
	walk->result->words[walk->result->word_count++] = 0xabc;
	walk->result->frames++;
	walk->result->reason = walker.reason;
	*((const struct unwind_stack *)walk->memory->data)->failed_at = walker.failed_at;
	c->jvm = (struct wire_jvm){ .serial = 9, .log2_segment = 7, .method_slot = METHOD_SLOT };
	c->far_blob = walker.far_blob;
	c->far_pc = 0x10000ff;
	return false;
}

uint64_t walk_missing(const struct walk *walk)
{
	(void)walk;
	return MISSING;
}

/* --- */

struct fixture {
	struct table_memory *memory;
	struct image_cache *images;
	struct unwinder *unwinder;
	struct process process;
	struct wire_miss miss;
	int jvm_answer;
	unsigned int jvm_asked;

	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + SAMPLE_WORDS * sizeof(uint64_t)];
	};
};

static inline int read_jvm(uint32_t pid, const struct mapping *libjvm, bool urgent,
			   struct wire_jvm *ret_wire, void *data)
{
	struct fixture *f = data;

	(void)pid, (void)libjvm, (void)urgent;
	f->jvm_asked++;
	ret_wire->serial = 9;
	return f->jvm_answer;
}

static inline void make_miss(struct fixture *f)
{
	struct wire_miss *miss = &f->miss;

	*miss = (struct wire_miss){ .size = sizeof(*miss),
				    .kind = WIRE_MISS,
				    .tgid = PID,
				    .tid = PID,
				    .time_ns = clock_now_ns(),
				    .pc = 0x123456,
				    .thread = 0x777000,
				    .stack_top = 0x7ffd12340,
				    .anchor = { 11, 12, 13 } };
	for (uint64_t i = 0; i < 16; i++)
		miss->regs[i] = 1000 + i;
}

/* A kernel frame, and two words of a frame that BPF walked. */
static inline void make_sample(struct fixture *f)
{
	f->sample = (struct wire_sample){ .size = sizeof(f->sample) + 3 * 8,
					  .kind = WIRE_SAMPLE,
					  .flags = WIRE_SAMPLE_RESUMED | WIRE_SAMPLE_STALE,
					  .reason = UNWIND_NO_ROWS,
					  .tgid = PID,
					  .tid = PID,
					  .time_ns = f->miss.time_ns,
					  .weight = 4242,
					  .kernel_frames = 1,
					  .user_words = 2,
					  .user_frames = 1 };
	f->sample.words[0] = 0xffffffff81000000ULL;
	f->sample.words[1] = 0x111;
	f->sample.words[2] = 0x222;
}

static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct unwind_jvm_source jvms = { read_jvm, f };

	*state = f;
	memset(&walker, 0, sizeof(walker));
	walker.reason = UNWIND_DONE;
	fake_begin();
	f->jvm_answer = -ENODATA;
	f->memory = table_memory_new_heap(256, 256, 1024);
	f->process = (struct process){ .pid = PID, .serial = 1 };
	make_miss(f);
	make_sample(f);
	f->images = image_cache_new(NULL);
	f->unwinder = unwinder_new(f->memory, f->images, &jvms, 1 << 20);
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	unwinder_free(f->unwinder);
	image_cache_free(f->images);
	table_memory_free_heap(f->memory);
	mappings_clear(&f->process);
	free(f);
	return 0;
}

static inline void finish(struct fixture *f)
{
	free(unwinder_finish(f->unwinder, &f->miss, &f->sample, &f->process, 77, false));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

#endif
