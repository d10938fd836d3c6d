/* SPDX-License-Identifier: Apache-2.0 */
/* What unwinder.c and the other unwinder_*.c share; nobody else includes it. */
#ifndef HOSTPROF_UNWIND_UNWINDER_PRIVATE_H
#define HOSTPROF_UNWIND_UNWINDER_PRIVATE_H

#include "base/clock.h"
#include "process/live_processes.h"
#include "unwind/tables/row_store.h"
#include "unwind/unwind_ranges.h"
#include "unwind/unwind_spaces.h"
#include "unwind/unwind_stack.h"
#include "unwind/unwinder.h"
#include "unwind/walk.h"

/*
 * So long go walks and the rows that they want on, three times in a turn. A full ring at 20,000 Hz
 * is a quarter of a second away; a page of rows takes 0.1 ms.
 */
#define BUDGET_NS (25 * NSEC_PER_MSEC)

struct unwinder {
	struct table_memory *memory;  /* borrowed */
	struct unwind_files *files;   /* all owned from here on */
	struct live_processes live;   /* what spaces and JVMs are attached to */
	struct unwind_spaces *spaces; /* its processes */
	struct unwind_jvms *jvms;
	struct row_store *rows;
	struct cfi_rows page;	   /* being made */
	struct unwind_ranges late; /* of the process that unwinder_finish() last had */
	uint64_t late_serial, late_mappings_serial;
	int64_t late_credit_ns; /* for lists of processes with very many mappings */
	uint64_t late_credited_ns;
	struct wire_jvm late_jvm;   /* of a walk there; serial 0: none */
	uint64_t late_jvm_ns;	    /* when it was read */
	struct unwind_pages *pages; /* of the process that is being walked */
	struct stack_rest *rest;    /* of its stack */
	struct code_exits *exits;   /* of all processes' */
	bool wants_again;
	struct walk walk;
	struct walk_result result;
	uint64_t spent_ns; /* since unwinder_grant() */
	uint64_t at_once, late_count, unfinished, pages_made, rows_made, make_ns;
	/* What walks here did, by wire_counters.def. */
	uint64_t row_frames, inferred_frames, hot_frames, fp_frames, jit_frames, read_frames,
		java_frames, java_hot_frames;
	uint64_t anchors, frozen, frozen_frames;
	uint64_t receivers, receivers_unknown, compiling, compiling_unknown;
};

/* One walk. */
struct job {
	const struct wire_miss *miss;	  /* borrowed, as is the sample */
	const struct wire_sample *sample; /* with what was walked so far */
	uint32_t max_frames;
	uint64_t begin_ns;
	bool live;  /* with the published ranges, which can be read anew */
	bool read;  /* they were, for this walk */
	bool waits; /* for a JVM that is starting */
	bool looked_again;
	struct unwind_tables tables;
	struct unwind_stack stack;
	struct unwind_memory memory;
	uint64_t failed_at;
	struct wire_page_key made; /* the last page that was put */
};

/* Get what the walk that stands there wants; false: it cannot be had (now). */
bool unwinder_supply(struct unwinder *unwinder, struct job *job);

#endif
